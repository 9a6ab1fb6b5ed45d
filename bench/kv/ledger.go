// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// ledger knows what a store must hold: the version of every record. Versions
// count from 1, and each put or merge of a record is one more. It outlives the
// process of a phase in a file.
//
// With one client the version that a read finds is known exactly. When two
// clients write the same record at once, either may win; what a later read may
// find is then an interval, from the first of the versions that were in flight
// together to the last that was given out.
type ledger struct {
	version  []uint32      // last given out, by record; guarded by its shard
	records  atomic.Uint64 // those that were begun to be inserted
	clients  int
	shards   [64]ledgerShard
	distinct []atomic.Uint64 // a bit for each record that was read
}

type ledgerShard struct {
	modify sync.Mutex // held from the read to the write of a merge by hand
	mu     sync.Mutex // guards what follows
	flight map[uint64]flight
	loose  map[uint64]uint32 // lowest version that can be there; absent: the last
}

// flight is a set of writes of one record that overlap.
type flight struct {
	floor uint32 // lowest version that could be there before
	first uint32
	n     int
}

// newLedger makes room for at most so many records.
func newLedger(room uint64, clients int) *ledger {
	l := &ledger{version: make([]uint32, room), clients: clients, distinct: make([]atomic.Uint64, (room+63)/64)}
	for i := range l.shards {
		l.shards[i].flight, l.shards[i].loose = map[uint64]flight{}, map[uint64]uint32{}
	}
	return l
}

func (l *ledger) shard(record uint64) *ledgerShard { return &l.shards[record%uint64(len(l.shards))] }

// insert begins the insertion of the next record; ok is false when there is
// room for no more.
func (l *ledger) insert() (record uint64, ok bool) {
	record = l.records.Add(1) - 1
	if record >= uint64(len(l.version)) {
		l.records.Add(^uint64(0))
		return 0, false
	}
	return record, true
}

// alone keeps others from reading and writing back the record, until the
// function that it returns is called.
func (l *ledger) alone(record uint64) func() {
	mu := &l.shard(record).modify
	mu.Lock()
	return mu.Unlock
}

// begin gives out the version that a write of the record is about to make.
func (l *ledger) begin(record uint64) uint32 {
	if l.clients == 1 {
		l.version[record]++
		return l.version[record]
	}
	s := l.shard(record)
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.flight[record]
	if !ok {
		f.floor, f.first = l.floor(s, record), l.version[record]+1
	}
	f.n++
	s.flight[record] = f
	l.version[record]++
	return l.version[record]
}

// end says that a write which was begun is done.
func (l *ledger) end(record uint64) {
	if l.clients == 1 {
		return
	}
	s := l.shard(record)
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.flight[record]
	if f.n--; f.n > 0 {
		s.flight[record] = f
		return
	}
	delete(s.flight, record)
	if f.first < l.version[record] {
		s.loose[record] = f.first
	} else {
		delete(s.loose, record)
	}
}

// floor is the lowest version that a read which begins now may find; the
// shard's lock is held.
func (l *ledger) floor(s *ledgerShard, record uint64) uint32 {
	if f, ok := s.flight[record]; ok {
		return f.floor
	}
	if v, ok := s.loose[record]; ok {
		return v
	}
	return l.version[record]
}

// low is what a read of the record must find at least, asked before the read.
func (l *ledger) low(record uint64) uint32 {
	if l.clients == 1 {
		return l.version[record]
	}
	s := l.shard(record)
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.floor(s, record)
}

// high is what it must find at most, asked after the read.
func (l *ledger) high(record uint64) uint32 {
	if l.clients == 1 {
		return l.version[record]
	}
	s := l.shard(record)
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.version[record]
}

// touch notes that the record was read.
func (l *ledger) touch(record uint64) {
	word, bit := &l.distinct[record/64], uint64(1)<<(record%64)
	if word.Load()&bit == 0 {
		word.Or(bit)
	}
}

// loose lists the records whose version is not known exactly; nothing is in
// flight any more.
func (l *ledger) loose() []uint64 {
	var records []uint64
	for i := range l.shards {
		for r := range l.shards[i].loose {
			records = append(records, r)
		}
	}
	return records
}

// found says which version a loose record has.
func (l *ledger) found(record uint64, version uint32) {
	delete(l.shard(record).loose, record)
	l.version[record] = version
}

// save writes how many records there are, and their versions.
func (l *ledger) save(name string) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	n := l.records.Load()
	word := binary.LittleEndian.AppendUint64(nil, n)
	w.Write(word) // bufio keeps the first error for Flush
	for _, v := range l.version[:n] {
		w.Write(binary.LittleEndian.AppendUint32(word[:0], v))
	}
	if err := w.Flush(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// loadLedger reads what save wrote, and makes room for more records on top.
func loadLedger(name string, more uint64, clients int) (*ledger, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	var word [8]byte
	if _, err := io.ReadFull(r, word[:]); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	n := binary.LittleEndian.Uint64(word[:])
	if info, err := f.Stat(); err != nil || uint64(info.Size()) != 8+4*n {
		return nil, fmt.Errorf("read %s: not a ledger of %d records", name, n)
	}
	l := newLedger(n+more, clients)
	for i := range n {
		if _, err := io.ReadFull(r, word[:4]); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		l.version[i] = binary.LittleEndian.Uint32(word[:])
	}
	l.records.Store(n)
	return l, nil
}
