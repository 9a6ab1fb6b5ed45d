// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
)

// TestStaleRecordsAreNeverServed has readers that put what they find in a tree
// beside a writer that changes it, in the order that Cache requires. A reader never
// gets an older record than every reader could see when it began.
func TestStaleRecordsAreNeverServed(t *testing.T) {
	const keys, rounds, readers, readsMin = 64, 3000, 4, 100_000
	c, _ := newCache(t, 4<<20, 64<<10)
	var tree [keys]atomic.Uint64   // what the root says
	var hidden [keys]atomic.Uint64 // what is in the memtable, 0: nothing
	var seen [keys]atomic.Uint64   // what a read that begins now must find at least
	var stop atomic.Bool
	var reads atomic.Int64
	var wg sync.WaitGroup
	for n := range readers {
		wg.Go(func() {
			r := env.Seeded(uint64(n))
			dst := make([]byte, 0, 500)
			for !stop.Load() {
				i := env.IntN(r, keys)
				k := key(i)
				least := seen[i].Load()
				version := c.Version()
				// The memtable, as it was when the read began, is searched before
				// the cache and the tree.
				got := hidden[i].Load()
				if got == 0 && !c.Empty() {
					if b, ok := c.GetRecord(k, dst[:0]); ok {
						got = binary.LittleEndian.Uint64(b)
					}
				}
				if got == 0 {
					got = tree[i].Load()
					if i%4 == 0 {
						runtime.Gosched() // the put comes late
					}
					c.PutRecord(k, append(binary.LittleEndian.AppendUint64(dst[:0], got), make([]byte, got%300)...), version)
				}
				reads.Add(1)
				if got < least {
					t.Errorf("key %d: %d, which is older than %d", i, got, least)
					return
				}
			}
		})
	}
	r := env.Seeded(99)
	for round := uint64(1); round <= rounds || reads.Load() < readsMin && !t.Failed(); round++ {
		if round%8 == 0 {
			runtime.Gosched()
		}
		first := env.IntN(r, keys)
		n := 1 + env.IntN(r, 8)
		each := func(f func(i int)) {
			for i := first; i < first+n; i++ {
				f(i % keys)
			}
		}
		each(func(i int) { hidden[i].Store(round); seen[i].Store(round) })
		each(func(i int) { tree[i].Store(round) }) // the new root
		c.Advance()
		if round%50 == 0 {
			c.Clear()
		} else {
			each(func(i int) { c.Remove(key(i)) })
		}
		each(func(i int) { hidden[i].Store(0) })
		if round%500 == 0 {
			c.Resize(int64(env.IntN(r, 1<<20)))
		}
	}
	stop.Store(true)
	wg.Wait()
	if err := c.Check(); err != nil {
		t.Error(err)
	}
}

// TestAllAtOnce: everything that there is to call, from several sides.
func TestAllAtOnce(t *testing.T) {
	c, pool := newCache(t, 8<<20, 4<<20)
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			r := env.Seeded(uint64(n))
			record, block, dst := value(n, 300), value(n, 4096), make([]byte, 4096)
			for range 4000 {
				i := env.IntN(r, 5000)
				switch env.IntN(r, 12) {
				case 0:
					c.Remove(key(i))
				case 1:
					if i < 100 {
						c.Resize(int64(i+1) << 17)
						c.DropBranch(uint64(i % 3))
					}
					if m := c.Metrics(); m.Taken > 14<<20 || m.Records.Entries < 0 {
						t.Errorf("metrics %+v", m)
					}
				case 2, 3, 4:
					c.GetBlock(uint64(i%3), uint32(i), dst)
				case 5, 6:
					c.PutBlock(uint64(i%3), uint32(i), block)
				case 7, 8:
					c.PutRecord(key(i), record, c.Version())
				default:
					c.GetRecord(key(i), dst[:0])
				}
				if i == 0 {
					c.Advance()
					c.Clear()
				}
			}
		})
	}
	wg.Wait()
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	c.Resize(0)
	if n := pool.Used(); n != 0 {
		t.Errorf("%d bytes are left in a cache of none", n)
	}
}
