// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

func open(t *testing.T, disk env.Disk, o store.Options) *store.DB {
	t.Helper()
	db, err := store.Open(world(disk, 7), "db", o)
	must(t, err)
	return db
}

// sum adds numbers of eight bytes.
type sum struct{}

func (sum) Name() string { return "sum" }

func (sum) Combine(dst, _, older, newer []byte) []byte {
	return binary.LittleEndian.AppendUint64(dst, number(older)+number(newer))
}

func (sum) Apply(dst, _, value []byte, exists bool, operand []byte) []byte {
	if !exists {
		value = nil
	}
	return binary.LittleEndian.AppendUint64(dst, number(value)+number(operand))
}

func number(b []byte) uint64 {
	if len(b) != 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

func TestMerge(t *testing.T) {
	disk := sim.NewDisk()
	o := tiny()
	o.Merger = sum{}
	db := open(t, disk, o)
	one := binary.LittleEndian.AppendUint64(nil, 1)
	const keys, rounds = 50, 200
	for i := range rounds {
		for k := range keys {
			must(t, db.Merge(fmt.Appendf(nil, "counter%02d", k), one))
		}
		if i == rounds/2 {
			must(t, db.Flush())
			must(t, db.Compact(nil, nil))
		}
	}
	for k := range keys {
		v, err := db.Get(fmt.Appendf(nil, "counter%02d", k), nil)
		if err != nil || number(v) != rounds {
			t.Fatalf("counter %d is %d, %v; want %d", k, number(v), err, rounds)
		}
	}
	must(t, db.Close())
	if _, err := store.Open(world(disk, 1), "db", tiny()); !errors.Is(err, store.ErrMerger) {
		t.Errorf("opened without the merger: %v", err)
	}
	db = open(t, disk, o)
	v, err := db.Get([]byte("counter07"), nil)
	if err != nil || number(v) != rounds {
		t.Fatalf("counter is %d, %v", number(v), err)
	}
	must(t, db.Close())
}

func TestMergeNeedsAMerger(t *testing.T) {
	db := open(t, sim.NewDisk(), tiny())
	if err := db.Merge([]byte("k"), []byte("v")); !errors.Is(err, store.ErrMerger) {
		t.Errorf("merge: %v", err)
	}
	must(t, db.Close())
}

func TestSnapshotStays(t *testing.T) {
	db := open(t, sim.NewDisk(), tiny())
	want := map[string]string{}
	for i := range 500 {
		k, v := fmt.Sprintf("k%03d", i), fmt.Sprintf("first %d", i)
		must(t, db.Put([]byte(k), []byte(v)))
		want[k] = v
	}
	s := db.Snapshot()
	it, err := s.Iter([]byte("k100"), []byte("k200"))
	must(t, err)
	for round := range 20 {
		for i := range 500 {
			k := fmt.Appendf(nil, "k%03d", i)
			if i%3 == 0 {
				must(t, db.Delete(k))
			} else {
				must(t, db.Put(k, bytes.Repeat([]byte{byte(round)}, 100)))
			}
		}
	}
	must(t, db.DeleteRange([]byte("k000"), []byte("k400")))
	must(t, db.Compact(nil, nil))
	for k, v := range want {
		got, err := s.Get([]byte(k), nil)
		if err != nil || string(got) != v {
			t.Fatalf("snapshot has %q at %s, %v; want %q", got, k, err, v)
		}
	}
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if string(it.Value()) != want[string(it.Key())] {
			t.Fatalf("snapshot iterates to %q at %s", it.Value(), it.Key())
		}
		n++
	}
	if n != 100 {
		t.Errorf("%d keys in [k100, k200)", n)
	}
	must(t, it.Close())
	s.Close()
	must(t, db.Compact(nil, nil))
	if _, err := db.Get([]byte("k100"), nil); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a deleted key: %v", err)
	}
	must(t, db.Close())
}

func TestCheckpointIsACopy(t *testing.T) {
	disk := sim.NewDisk()
	db := open(t, disk, tiny())
	want := map[string]string{}
	for i := range 2000 {
		k, v := fmt.Sprintf("k%04d", i*7%2000), fmt.Sprintf("value %d", i)
		if i%100 == 0 {
			v = string(bytes.Repeat([]byte(v), 500))
		}
		must(t, db.Put([]byte(k), []byte(v)))
		want[k] = v
	}
	must(t, db.Checkpoint("copy"))
	must(t, db.Put([]byte("k0000"), []byte("later")))
	if err := db.Checkpoint("copy"); err == nil {
		t.Error("a second checkpoint to the same directory")
	}
	must(t, db.Close())
	disk.Crash(sim.KeepUpTo(0))
	copied, err := store.Open(world(disk, 8), "copy", tiny())
	must(t, err)
	check(t, copied, want)
	report, err := copied.Verify(t.Context())
	must(t, err)
	must(t, report.Err())
	// A branch still has what was merged out of parts of it.
	if report.Blobs < 20 {
		t.Errorf("%d large values, want 20 at least", report.Blobs)
	}
	must(t, copied.Close())
	db = open(t, disk, tiny())
	if v, err := db.Get([]byte("k0000"), nil); err != nil || string(v) != "later" {
		t.Errorf("the original has %q, %v", v, err)
	}
	must(t, db.Close())
}

func TestOneOpener(t *testing.T) {
	disk := sim.NewDisk()
	db := open(t, disk, tiny())
	if _, err := store.Open(world(disk, 1), "db", tiny()); !errors.Is(err, env.ErrLocked) {
		t.Errorf("a second opener: %v", err)
	}
	must(t, db.Put([]byte("k"), []byte("v")))
	must(t, db.Sync())
	o := tiny()
	o.ReadOnly = true
	reader := open(t, disk, o)
	if v, err := reader.Get([]byte("k"), nil); err != nil || string(v) != "v" {
		t.Errorf("a reader: %q, %v", v, err)
	}
	for name, err := range map[string]error{
		"put": reader.Put(nil, nil), "sync": reader.Sync(), "flush": reader.Flush(), "range": reader.DeleteRange([]byte("a"), []byte("b")),
	} {
		if !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%s by a reader: %v", name, err)
		}
	}
	must(t, reader.Close())
	must(t, db.Close())
}

func TestLimits(t *testing.T) {
	db := open(t, sim.NewDisk(), tiny())
	if err := db.Put(make([]byte, 1<<16), nil); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("a key of 64 KiB: %v", err)
	}
	must(t, db.Put(nil, []byte("the empty key")))
	v, err := db.Get(nil, []byte("> "))
	if err != nil || string(v) != "> the empty key" {
		t.Errorf("the empty key: %q, %v", v, err)
	}
	must(t, db.Put([]byte("empty"), nil))
	if v, err := db.Get([]byte("empty"), nil); err != nil || len(v) != 0 {
		t.Errorf("an empty value: %q, %v", v, err)
	}
	b := db.NewBatch()
	for range 100 {
		b.Put([]byte("k"), make([]byte, 512))
	}
	if err := db.Commit(b, store.NoSync); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("a batch larger than a memtable: %v", err)
	}
	if err := db.DeleteRange([]byte("b"), []byte("a")); !errors.Is(err, store.ErrBounds) {
		t.Errorf("bounds the wrong way round: %v", err)
	}
	if _, err := db.Iter([]byte("b"), []byte("a")); !errors.Is(err, store.ErrBounds) {
		t.Errorf("bounds the wrong way round: %v", err)
	}
	it, err := db.Iter(nil, nil)
	must(t, err)
	if !it.First() || string(it.Value()) != "the empty key" {
		t.Errorf("an iterator: %v", it.Err())
	}
	must(t, db.Close())
	if string(it.Value()) != "the empty key" {
		t.Errorf("an open iterator of a closed store stands on %q", it.Value())
	}
	if it.Next() || !errors.Is(it.Err(), store.ErrClosed) || !errors.Is(it.Close(), store.ErrClosed) {
		t.Errorf("an open iterator of a closed store goes on: %v", it.Err())
	}
	if err := db.Put([]byte("k"), nil); !errors.Is(err, store.ErrClosed) {
		t.Errorf("put after close: %v", err)
	}
	if _, err := db.Get([]byte("k"), nil); !errors.Is(err, store.ErrClosed) {
		t.Errorf("get after close: %v", err)
	}
	if err := db.Close(); !errors.Is(err, store.ErrClosed) {
		t.Errorf("close after close: %v", err)
	}
}

// The first merger of a store is its merger, whatever happens next.
func TestAMergerThatCameLater(t *testing.T) {
	disk := sim.NewDisk()
	db := open(t, disk, tiny())
	must(t, db.Put([]byte("k"), []byte("a")))
	must(t, db.Close())
	o := tiny()
	o.Merger = list{}
	db = open(t, disk, o)
	must(t, db.Merge([]byte("k"), []byte("b")))
	must(t, db.Sync())
	disk.Crash(sim.KeepUpTo(0)) // the merge is in the journal only
	for _, other := range []message.Merger{nil, sum{}} {
		o.Merger = other
		if _, err := store.Open(world(disk, 2), "db", o); !errors.Is(err, store.ErrMerger) {
			t.Errorf("with merger %v: %v", other, err)
		}
	}
	o.Merger = list{}
	db = open(t, disk, o)
	check(t, db, map[string]string{"k": "ab"})
	must(t, db.Close())
}
