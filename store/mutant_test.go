package store_test

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// TestMergesBesideAFlush has a writer that counts by merges, and readers: while
// a memtable is being made a part of the tree, and is in both, its operands
// count once.
func TestMergesBesideAFlush(t *testing.T) {
	defer goleak.VerifyNone(t)
	o := small(store.SyncOnDemand)
	o.Merger = sum{}
	o.Tuning.MemtableBytes = 64 << 10
	db := open(t, &sharedDisk{disk: sim.NewDisk()}, o)
	const counters, rounds = 40, 3000
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
	read("Get", func(r *rand.Rand) error {
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
	for range rounds {
		for i := range counters {
			begun[i].Add(1)
			must(t, db.Merge(name(i), one))
			ended[i].Add(1)
		}
		if t.Failed() {
			break
		}
	}
	close(done)
	readers.Wait()
	must(t, db.Close())
}

// during does something when operands are first combined.
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

// TestATreeThatOvertakesAReader: a reader has met operands in a memtable; before
// it goes on, they reach the tree, and the record cache has the value with
// them.
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
