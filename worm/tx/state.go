// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"container/list"
	"slices"
)

// bucketCount is the number of buckets into which a partition's keys are
// divided. A snapshot is written bucket by bucket.
const bucketCount = 256

// entry is the value of a key. Version is the Order of the vote of the
// transaction that wrote it; a value must not be changed in place.
type entry struct {
	value   []byte
	version uint64
}

// write is the image of a key after a transaction.
type write struct {
	key     string
	deleted bool
	value   []byte
}

// redo is the effect in a YES vote. It holds images, so redoing it again
// changes nothing.
type redo struct {
	client, seq, low uint64
	writes           []write
}

func (r *redo) encode() []byte {
	var e encoder
	e.u64(r.client)
	e.uint(r.seq)
	e.uint(r.low)
	e.uint(uint64(len(r.writes)))
	for i := range r.writes {
		w := &r.writes[i]
		e.string(w.key)
		e.bool(w.deleted)
		e.bytes(w.value)
	}
	return e.b
}

func (r *redo) decode(b []byte) bool {
	d := &decoder{b: b}
	r.client = d.u64()
	r.seq = d.uint()
	r.low = d.uint()
	for range d.count(3, OpsMax) {
		r.writes = append(r.writes, write{d.string(), d.bool(), d.bytes()})
	}
	return d.done()
}

// state is a partition's state: its keys, and the answers to its clients.
type state struct {
	buckets [bucketCount]map[string]entry
	keys    int
	bytes   int64
	// deleted is the Order of the last transaction that removed a key. It is
	// the version of all absent keys.
	deleted  uint64
	sessions sessions
}

func newState() *state {
	s := &state{}
	s.sessions.init()
	return s
}

func bucketOf(key string) int {
	h := uint32(2166136261)
	for i := range len(key) {
		h = (h ^ uint32(key[i])) * 16777619
	}
	return int((h ^ h>>16) % bucketCount)
}

func (s *state) get(key string) (entry, bool) {
	e, ok := s.buckets[bucketOf(key)][key]
	return e, ok
}

// version returns what a read compares. It changes with every write of the key.
// The version of an absent key also changes when any key is removed.
func (s *state) version(key string) uint64 {
	if e, ok := s.get(key); ok {
		return e.version
	}
	return s.deleted
}

// entryOverhead is about the memory of a key besides its own bytes.
const entryOverhead = 96

func (s *state) set(key string, e entry) {
	b := &s.buckets[bucketOf(key)]
	if *b == nil {
		*b = map[string]entry{}
	}
	if old, ok := (*b)[key]; ok {
		s.bytes += int64(len(e.value)) - int64(len(old.value))
	} else {
		s.keys++
		s.bytes += int64(len(key)+len(e.value)) + entryOverhead
	}
	(*b)[key] = e
}

func (s *state) remove(key string, order uint64) {
	b := s.buckets[bucketOf(key)]
	if old, ok := b[key]; ok {
		delete(b, key)
		s.keys--
		s.bytes -= int64(len(key)+len(old.value)) + entryOverhead
	}
	s.deleted = max(s.deleted, order)
}

// apply applies the effect of this partition's YES vote after the transaction
// was committed. Held reports whether the conditions held in all partitions.
func (s *state) apply(r *redo, order uint64, held bool, brief []byte) {
	if held {
		for i := range r.writes {
			w := &r.writes[i]
			if w.deleted {
				s.remove(w.key, order)
			} else {
				s.set(w.key, entry{slices.Clone(w.value), order})
			}
		}
	}
	if r.seq != 0 {
		s.sessions.record(r.client, r.seq, r.low, answered{held, brief})
	}
}

// answered is a partition's answer to a request.
type answered struct {
	held  bool
	brief []byte
}

// session is what a partition remembers of a client.
type session struct {
	client, low uint64
	answers     map[uint64]answered
}

// sessions has the clients in the order of their last requests.
type sessions struct {
	byClient map[uint64]*list.Element
	order    *list.List
}

func (s *sessions) init() { s.byClient, s.order = map[uint64]*list.Element{}, list.New() }

func (s *sessions) find(client uint64) *session {
	if el := s.byClient[client]; el != nil {
		return el.Value.(*session)
	}
	return nil
}

// record stores an answer, and drops the answers that the client has received.
func (s *sessions) record(client, seq, low uint64, a answered) {
	el := s.byClient[client]
	if el == nil {
		el = s.order.PushBack(&session{client: client, answers: map[uint64]answered{}})
		s.byClient[client] = el
	} else {
		s.order.MoveToBack(el)
	}
	x := el.Value.(*session)
	if low > x.low {
		if low-x.low < uint64(len(x.answers)) {
			for q := x.low; q < low; q++ {
				delete(x.answers, q)
			}
		} else {
			for _, q := range x.seqs() {
				if q < low {
					delete(x.answers, q)
				}
			}
		}
		x.low = low
	}
	if seq >= x.low {
		x.answers[seq] = a
	}
	for s.order.Len() > SessionsMax {
		first := s.order.Front()
		delete(s.byClient, first.Value.(*session).client)
		s.order.Remove(first)
	}
}

// seqs are the numbers of the answers, in order.
func (x *session) seqs() []uint64 {
	out := make([]uint64, 0, len(x.answers))
	for q := range x.answers {
		out = append(out, q)
	}
	slices.Sort(out)
	return out
}

// The records of a saved state.
const (
	recordEntry = iota + 1
	recordSession
	recordAnswer
	recordDeleted
)

// saveBucket appends the records of a bucket and calls full when a piece is
// complete.
func (s *state) saveBucket(i int, e *encoder, full func()) {
	b := s.buckets[i]
	keys := make([]string, 0, len(b))
	for k := range b {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		v := b[k]
		e.u8(recordEntry)
		e.string(k)
		e.bytes(v.value)
		e.uint(v.version)
		full()
	}
}

// saveRest appends the records of everything outside the buckets.
func (s *state) saveRest(e *encoder, full func()) {
	e.u8(recordDeleted)
	e.uint(s.deleted)
	for el := s.sessions.order.Front(); el != nil; el = el.Next() {
		x := el.Value.(*session)
		e.u8(recordSession)
		e.u64(x.client)
		e.uint(x.low)
		for _, q := range x.seqs() {
			a := x.answers[q]
			e.u8(recordAnswer)
			e.u64(x.client)
			e.uint(q)
			e.uint(x.low)
			e.bool(a.held)
			e.bytes(a.brief)
			full()
		}
		full()
	}
}

// load reads records.
func (s *state) load(b []byte) bool {
	d := &decoder{b: b}
	for len(d.b) > 0 {
		switch d.u8() {
		case recordEntry:
			k := d.string()
			e := entry{d.bytes(), d.uint()}
			if !d.bad {
				s.set(k, e)
			}
		case recordSession:
			client, low := d.u64(), d.uint()
			if !d.bad && low > 0 {
				s.sessions.record(client, low-1, low, answered{})
			}
		case recordAnswer:
			client, seq, low := d.u64(), d.uint(), d.uint()
			a := answered{d.bool(), d.bytes()}
			if !d.bad {
				s.sessions.record(client, seq, low, a)
			}
		case recordDeleted:
			s.deleted = max(s.deleted, d.uint())
		default:
			return false
		}
	}
	return !d.bad
}
