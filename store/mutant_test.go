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
