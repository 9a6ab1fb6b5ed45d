// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// TestMergesBesideAFlush has a writer that counts with merges, and readers: while a
// memtable is being added to the tree, and is in both, its operands count once.
func TestMergesBesideAFlush(t *testing.T) {
	defer goleak.VerifyNone(t)
	o := small(store.SyncOnDemand)
	o.Merger = sum{}
	o.Tuning.MemtableBytes = 512 << 10
	db := open(t, &sharedDisk{disk: sim.NewDisk()}, o)
	const counters, rounds, others = 40, 120, 400
	name := func(i int) []byte { return fmt.Appendf(nil, "counter%02d", i) }
	one := binary.LittleEndian.AppendUint64(nil, 1)
	var begun, ended [counters]atomic.Uint64
	done := make(chan struct{})
	var readers sync.WaitGroup
	within := func(how string, i int, low uint64, value []byte) {
		if n, high := number(value), begun[i].Load(); n < low || n > high {
			t.Errorf("%s: counter %d is %d, was increased %d to %d times", how, i, n, low, high)
		}
	}
	read := func(how string, once func(r *rand.Rand) error) {
		readers.Go(func() {
			for r := rand.New(rand.NewSource(1)); !t.Failed(); {
				select {
				case <-done:
					return
				default:
				}
				if err := once(r); err != nil {
					t.Errorf("%s: %v", how, err)
				}
			}
		})
	}
	warm := []byte("warm")
	must(t, db.Put(warm, warm))
	must(t, db.Flush())
	read("Get", func(r *rand.Rand) error {
		if _, err := db.Get(warm, nil); err != nil {
			return err
		}
		i := r.Intn(counters)
		low := ended[i].Load()
		value, err := db.Get(name(i), nil)
		if err != nil && low == 0 {
			return nil
		}
		within("Get", i, low, value)
		return err
	})
	read("Iter", func(r *rand.Rand) error {
		i := r.Intn(counters)
		low := ended[i].Load()
		it, err := db.Iter(name(i), append(name(i), 0))
		if err != nil {
			return err
		}
		for how, move := range map[string]func() bool{"First": it.First, "Last": it.Last} {
			if move() {
				within(how, i, low, it.Value())
			} else if low > 0 {
				t.Errorf("%s: counter %d is not there", how, i)
			}
		}
		return it.Close()
	})
	for round := range rounds {
		for i := range counters {
			begun[i].Add(1)
			must(t, db.Merge(name(i), one))
			ended[i].Add(1)
		}
		// Many keys, and a cache with many records, make the change from memtable
		// to branch slow.
		for i := range others {
			must(t, db.Put(fmt.Appendf(nil, "other%d", round*others+i), one))
		}
		if t.Failed() {
			break
		}
	}
	close(done)
	readers.Wait()
	must(t, db.Close())
}

// during calls a function when operands are first combined.
type during struct {
	sum
	do func()
}

func (d *during) Combine(dst, key, older, newer []byte) []byte {
	if do := d.do; do != nil {
		d.do = nil
		do()
	}
	return d.sum.Combine(dst, key, older, newer)
}

// TestATreeThatOvertakesAReader: a reader has found operands in a memtable; before
// it continues, they reach the tree, and the record cache has the value that
// includes them.
func TestATreeThatOvertakesAReader(t *testing.T) {
	merger := &during{}
	o := tiny()
	o.Merger = merger
	db := open(t, sim.NewDisk(), o)
	key, hundred := []byte("counter"), binary.LittleEndian.AppendUint64(nil, 100)
	one := binary.LittleEndian.AppendUint64(nil, 1)
	must(t, db.Put(key, hundred))
	must(t, db.Flush())
	must(t, db.Merge(key, one))
	must(t, db.Merge(key, one))
	read := func() {
		t.Helper()
		if v, err := db.Get(key, nil); err != nil || number(v) != 102 {
			t.Errorf("the counter is %d, %v; want 102", number(v), err)
		}
	}
	merger.do = func() {
		must(t, db.Flush())
		must(t, db.Compact(nil, nil))
		read()
		hits := db.Metrics().RecordHits
		read()
		if db.Metrics().RecordHits == hits {
			t.Error("the record cache has not the counter")
		}
	}
	read()
	if merger.do != nil {
		t.Error("no operands were combined")
	}
	must(t, db.Close())
}

// TestDeletesStayAboveTheBottom: merges of branches without the one below them keep
// their deletes.
func TestDeletesStayAboveTheBottom(t *testing.T) {
	o := tiny()
	o.Tuning.LeafBytes = 1 << 20
	db := open(t, sim.NewDisk(), o)
	key := func(i int) []byte { return fmt.Appendf(nil, "key%03d", i) }
	want := map[string]string{}
	for i := range 200 {
		v := fmt.Sprintf("%0900d", i)
		must(t, db.Put(key(i), []byte(v)))
		want[string(key(i))] = v
	}
	must(t, db.Compact(nil, nil))
	before := db.Metrics().Compactions
	for i := range 20 {
		must(t, db.Delete(key(3*i)))
		delete(want, string(key(3*i)))
		must(t, db.Put(key(3*i+1), []byte("new")))
		want[string(key(3*i+1))] = "new"
		must(t, db.Flush())
	}
	if db.Metrics().Compactions == before {
		t.Error("nothing was merged")
	}
	check(t, db, want)
	must(t, db.Close())
}

// TestRangeDeletesReachTheRecordCache: a record in the cache is not found after a
// range delete has reached the tree.
func TestRangeDeletesReachTheRecordCache(t *testing.T) {
	db := open(t, sim.NewDisk(), tiny())
	must(t, db.Put([]byte("key"), []byte("value")))
	must(t, db.Flush())
	for range 2 {
		if _, err := db.Get([]byte("key"), nil); err != nil {
			t.Fatal(err)
		}
	}
	if db.Metrics().RecordHits == 0 {
		t.Error("the record is not in the cache")
	}
	must(t, db.DeleteRange([]byte("k"), []byte("l")))
	must(t, db.Flush())
	if v, err := db.Get([]byte("key"), nil); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("found %q, %v", v, err)
	}
	must(t, db.Close())
}

// TestSnapshotsDoNotAskTheRecordCache, which has the newest values.
func TestSnapshotsDoNotAskTheRecordCache(t *testing.T) {
	db := open(t, sim.NewDisk(), tiny())
	key := []byte("key")
	must(t, db.Put(key, []byte("old")))
	must(t, db.Flush())
	s := db.Snapshot()
	must(t, db.Put(key, []byte("new")))
	must(t, db.Flush())
	for range 2 {
		if v, err := db.Get(key, nil); err != nil || string(v) != "new" {
			t.Fatalf("now it is %q, %v", v, err)
		}
	}
	if v, err := s.Get(key, nil); err != nil || string(v) != "old" {
		t.Errorf("in the snapshot it is %q, %v", v, err)
	}
	if db.Metrics().RecordHits == 0 {
		t.Error("the record is not in the cache")
	}
	s.Close()
	must(t, db.Close())
}
