// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// liar is a store in memory that can be told to lie. Its zero value is honest.
type liar struct {
	mu   sync.Mutex
	data map[string][]byte
	old  map[string][]byte // the value before the last put

	dropPut, dropMerge  bool // every tenth is forgotten
	changeByte          bool // in the middle of what get answers
	stale               bool // get answers the value before the last put
	another             bool // get answers another record's value
	invent              bool // get answers something for an absent key
	forget              bool // get does not find one of ten keys
	scanSkips           bool // every tenth record is left out
	scanTwice           bool // every tenth record comes twice
	scanSwaps           bool // the second record comes before the first
	scanEnds, scanLate  bool // ends early; begins at the second record
	scanStale, putFails bool
	n                   int
}

func (l *liar) tenth() bool { l.n++; return l.n%10 == 9 }

func (l *liar) put(key, value []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.putFails {
		return errors.New("the disk is full")
	}
	if l.dropPut && l.tenth() {
		return nil
	}
	l.old[string(key)] = l.data[string(key)]
	l.data[string(key)] = slices.Clone(value)
	return nil
}

func (l *liar) merge(key, operand []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dropMerge && l.tenth() {
		return nil
	}
	v := slices.Clone(l.data[string(key)])
	l.old[string(key)] = l.data[string(key)]
	applyOperand(v, operand)
	l.data[string(key)] = v
	return nil
}

func (l *liar) get(key, dst []byte) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, ok := l.data[string(key)]
	if l.stale && l.old[string(key)] != nil {
		v = l.old[string(key)]
	}
	if !ok && l.invent || l.another && l.tenth() {
		for _, v = range l.data {
			ok = true
			break
		}
	}
	if !ok || l.forget && l.tenth() {
		return dst, errAbsent
	}
	dst = append(dst[:0], v...)
	if l.changeByte && l.tenth() {
		dst[len(dst)/2] ^= 4
	}
	return dst, nil
}

func (l *liar) scan(from []byte, _ int, visit func(key, value []byte) bool) error {
	l.mu.Lock()
	var keys []string
	for k := range l.data {
		if k >= string(from) {
			keys = append(keys, k)
		}
	}
	l.mu.Unlock()
	slices.Sort(keys)
	switch {
	case l.scanSwaps && len(keys) > 2:
		keys[1], keys[2] = keys[2], keys[1]
	case l.scanLate && len(keys) > 1:
		keys = keys[1:]
	case l.scanEnds:
		keys = keys[:(len(keys)+1)/2]
	}
	for _, k := range keys {
		l.mu.Lock()
		v := l.data[k]
		if l.scanStale && l.old[k] != nil {
			v = l.old[k]
		}
		l.mu.Unlock()
		if l.scanSkips && l.tenth() {
			continue
		}
		if !visit([]byte(k), v) || l.scanTwice && l.tenth() && !visit([]byte(k), v) {
			return nil
		}
	}
	return nil
}

func (l *liar) sync() error              { return nil }
func (l *liar) settle(func() bool) error { return nil }
func (l *liar) close() error             { return nil }

// byHand is a store that cannot merge.
type byHand struct{ store }

// runLiar loads 300 records honestly and runs a workload over them, by a
// store that lies from then on.
func runLiar(t *testing.T, load string, clients int, lie func(*liar), hide bool) error {
	t.Helper()
	l := &liar{data: map[string][]byte{}, old: map[string][]byte{}}
	e := engine{Name: "liar", Open: func(string, settings) (store, error) {
		if hide {
			return byHand{l}, nil
		}
		return l, nil
	}}
	s := spec{Workload: "load", Dir: filepath.Join(t.TempDir(), "liar"), Format: format{ValueSize: 64},
		Settings: settings{Clients: clients}, Records: 300, Ops: 300, Limit: time.Minute, Left: time.Minute, Seed: 1}
	if load != "load" {
		if _, err := measurePhase(s, e, func(line) {}); err != nil {
			t.Fatalf("honest load: %v", err)
		}
	}
	lie(l)
	s.Workload, s.Ops = load, 2000
	if load == "load" {
		s.Ops = s.Records
	}
	_, err := measurePhase(s, e, func(line) {})
	return err
}

func TestHonestStoresPass(t *testing.T) {
	for _, w := range workloads() {
		if w.Recover {
			continue // it needs a process that can be killed
		}
		for _, clients := range []int{1, 8} {
			for _, hide := range []bool{false, true} {
				if err := runLiar(t, w.Name, clients, func(*liar) {}, hide); err != nil {
					t.Errorf("%s with %d clients, merges by hand %v: %v", w.Name, clients, hide, err)
				}
			}
		}
	}
}

func TestLiarsAreFoundOut(t *testing.T) {
	for _, c := range []struct {
		name, load string
		lie        func(*liar)
		want       string
	}{
		{"a dropped insert", "load", func(l *liar) { l.dropPut = true }, "no such key"},
		{"a dropped update", "W", func(l *liar) { l.dropPut = true }, "expected version"},
		{"a dropped update, read at once", "A", func(l *liar) { l.dropPut = true }, "expected version"},
		{"a dropped merge", "M", func(l *liar) { l.dropMerge = true }, "expected version"},
		{"a changed byte", "C", func(l *liar) { l.changeByte = true }, "expected byte"},
		{"a stale value", "F", func(l *liar) { l.stale = true }, "expected version"},
		{"another record's value", "U", func(l *liar) { l.another = true }, "its own number"},
		{"a value that nobody put", "N", func(l *liar) { l.invent = true }, "expected that it is absent"},
		{"a record that is not found", "B", func(l *liar) { l.forget = true }, "no such key"},
		{"the latest is not found", "D", func(l *liar) { l.dropPut = true }, "no such key"},
		{"a full scan that skips", "S", func(l *liar) { l.scanSkips = true }, "expected 300 records, found 2"},
		{"a full scan that ends early", "S", func(l *liar) { l.scanEnds = true }, "expected 300 records, found 150"},
		{"a full scan with a record twice", "S", func(l *liar) { l.scanTwice = true }, "expected a key above"},
		{"a full scan out of order", "S", func(l *liar) { l.scanSwaps = true }, "expected a key above"},
		{"a scan out of order", "E", func(l *liar) { l.scanSwaps = true }, "expected a key above"},
		{"a scan that begins late", "E", func(l *liar) { l.scanLate = true }, "expected that key first"},
		{"a scan that ends early", "E", func(l *liar) { l.scanEnds = true }, "is not the last"},
		{"a write that fails", "A", func(l *liar) { l.putFails = true }, "the disk is full"},
	} {
		err := runLiar(t, c.load, 1, c.lie, false)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in %s: error %v, want one with %q", c.name, c.load, err, c.want)
		}
	}
}

// TestStaleScan reads old versions in a scan after honest updates.
func TestStaleScan(t *testing.T) {
	l := &liar{data: map[string][]byte{}, old: map[string][]byte{}}
	e := engine{Name: "liar", Open: func(string, settings) (store, error) { return l, nil }}
	s := spec{Dir: filepath.Join(t.TempDir(), "liar"), Format: format{ValueSize: 64},
		Settings: settings{Clients: 1}, Records: 100, Ops: 100, Limit: time.Minute, Left: time.Minute}
	for _, load := range []string{"load", "W", "S"} {
		s.Workload = load
		if _, err := measurePhase(s, e, func(line) {}); err != nil {
			t.Fatalf("honest %s: %v", load, err)
		}
	}
	l.scanStale = true
	if _, err := measurePhase(s, e, func(line) {}); err == nil || !strings.Contains(err.Error(), "expected version") {
		t.Errorf("error %v, want one about a version", err)
	}
}

// TestLedgerOfOverlappingWrites walks through what two clients can do.
func TestLedgerOfOverlappingWrites(t *testing.T) {
	l := newLedger(10, 2)
	record, ok := l.insert()
	if !ok || record != 0 {
		t.Fatalf("inserted record %d, %v", record, ok)
	}
	between := func(when string, low, high uint32) {
		t.Helper()
		if l.low(0) != low || l.high(0) != high {
			t.Errorf("%s: versions %d to %d, want %d to %d", when, l.low(0), l.high(0), low, high)
		}
	}
	between("before the first write", 0, 0)
	l.begin(0)
	between("while it is inserted", 0, 1)
	l.end(0)
	between("inserted", 1, 1)
	l.begin(0)
	l.begin(0)
	between("two writes in flight", 1, 3)
	l.end(0)
	between("one of them done", 1, 3)
	l.end(0)
	between("both done: either may have won", 2, 3)
	if got := l.loose(); !slices.Equal(got, []uint64{0}) {
		t.Errorf("loose: %v", got)
	}
	l.begin(0)
	between("a third in flight", 2, 4)
	l.end(0)
	between("the third came after both", 4, 4)
	if got := l.loose(); len(got) != 0 {
		t.Errorf("loose: %v", got)
	}
}

func TestLedgerIsKept(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ledger")
	l := newLedger(3, 1)
	for range 3 {
		r, _ := l.insert()
		l.begin(r)
	}
	l.begin(1)
	if _, ok := l.insert(); ok {
		t.Error("inserted more than there is room for")
	}
	if err := l.save(name); err != nil {
		t.Fatal(err)
	}
	got, err := loadLedger(name, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := got.records.Load(); n != 3 || !slices.Equal(got.version, []uint32{1, 2, 1, 0, 0}) {
		t.Errorf("%d records, versions %v", n, got.version)
	}
}
