// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// crowd is a store with workers of its own and several concurrent callers. The order of
// its events must be a possible one.
type crowd struct {
	t    *testing.T
	disk whole
	rec  *Recorder
	o    store.Options
}

func newCrowd(t *testing.T, disk whole, d store.Durability) *crowd {
	return &crowd{t: t, disk: disk, rec: &Recorder{}, o: store.Options{
		Memory: 32 << 20, Durability: d,
		Tuning: store.Tuning{MemtableBytes: 64 << 10, LeafBytes: 32 << 10, Fanout: 4, Runs: 2, BlobBytes: 2 << 10, CacheBytes: 256 << 10},
	}}
}

// life opens the store, makes writers and a maintainer use it, and ends it: by a close,
// or on a dead disk. Afterwards the disk must be certain: no caller uses it.
func (c *crowd) life(seed uint64, dies int, closes bool) {
	c.t.Helper()
	mortal := &fallible{disk: c.disk, r: rand.New(rand.NewPCG(seed, 5)), dies: dies}
	world := env.Env{Clock: osenv.NewClock(), Random: env.Seeded(seed), Disk: mortal, Tracer: c.rec}
	db, err := store.Open(world, "db", c.o)
	if err != nil {
		if mine, _ := mortal.trouble(err); !mine {
			c.t.Fatalf("open: %v", err)
		}
		return
	}
	var all sync.WaitGroup
	use := func(number uint64, n int, op func(r *rand.Rand) error) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, 10+number))
			for range n {
				if err := op(r); err != nil && !errors.Is(err, store.ErrNotFound) {
					if mine, _ := mortal.trouble(err); !mine {
						c.t.Errorf("%v", err)
					}
					return
				}
			}
		})
	}
	for w := range uint64(4) {
		use(w, 60, func(r *rand.Rand) error { return write(db, r) })
	}
	use(4, 12, func(r *rand.Rand) error { return maintain(db, r) })
	all.Wait()
	if !closes {
		mortal.end()
	}
	if err := db.Close(); err != nil {
		if mine, _ := mortal.trouble(err); !mine {
			c.t.Errorf("close: %v", err)
		}
	}
}

func write(db *store.DB, r *rand.Rand) error {
	key := fmt.Appendf(nil, "key%03d", r.IntN(200))
	switch p := r.IntN(20); {
	case p < 10:
		return db.Put(key, make([]byte, r.IntN(900)))
	case p < 11:
		return db.Put(key, make([]byte, 3000))
	case p < 12:
		return db.Delete(key)
	case p < 17:
		b := db.NewBatch()
		for i := range 1 + r.IntN(5) {
			b.Put(append(key, byte(i)), make([]byte, r.IntN(400)))
		}
		return db.Commit(b, store.Write(r.IntN(2)))
	}
	return db.Sync()
}

func maintain(db *store.DB, r *rand.Rand) error {
	switch r.IntN(4) {
	case 0:
		return db.Flush()
	case 1:
		return db.Compact(nil, nil)
	case 2:
		return db.Sync()
	}
	_, err := db.Get([]byte("absent"), nil)
	return err
}

// hold runs the checker on the trace.
func (c *crowd) hold(s *Spec, what string, sum *tally) {
	c.t.Helper()
	events := c.rec.Events()
	r := verdict(c.t, s, events, Options{})
	if r.Refused != nil {
		refuse(c.t, what, r, events)
	}
	sum.count(events)
	sum.Steps += r.Steps
}

// TestTheConcurrentEngineConforms loses power and programs while many callers are within
// the store.
func TestTheConcurrentEngineConforms(t *testing.T) {
	s := spec(t)
	runs, seed := number(t, runsVar, 60)/5, number(t, seedVar, 1)
	var sum tally
	for n := seed; n < seed+runs; n++ {
		disk := sim.NewDisk()
		c := newCrowd(t, disk, store.Durability(n%3))
		r := rand.New(rand.NewPCG(n, 6))
		for life := range uint64(4) {
			c.disk = disk
			c.life(n<<8+life, 1+r.IntN(1<<(5+r.IntN(7))), r.IntN(4) == 0)
			if r.IntN(2) == 0 {
				disk.Crash(fate(r, disk))
				c.rec.End(Crash)
			} else {
				disk = disk.Clone()
				c.rec.End(Kill)
			}
		}
		c.hold(s, fmt.Sprintf("run %d", n), &sum)
	}
	t.Logf("%+v", sum)
	if sum.Together == 0 || sum.Checkpoints == 0 || sum.Answers == 0 || sum.Lost == 0 {
		t.Errorf("the runs are lopsided: %+v", sum)
	}
}

// TestTheEngineOnTheMachineConforms uses the file system of the machine, whose
// power does not fail.
func TestTheEngineOnTheMachineConforms(t *testing.T) {
	s := spec(t)
	var sum tally
	for d := store.SyncOnDemand; d <= store.EveryCommit; d++ {
		disk, err := osenv.OpenDisk(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		c := newCrowd(t, disk, d)
		for life := range uint64(3) {
			dies := 0
			if life == 1 {
				dies = 150
			}
			c.life(uint64(d)<<8+life, dies, life == 2)
			c.rec.End(Kill)
		}
		c.hold(s, fmt.Sprintf("durability %d", d), &sum)
		if err := disk.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%+v", sum)
	if sum.Together == 0 || sum.Checkpoints == 0 || sum.Answers == 0 {
		t.Errorf("the runs are lopsided: %+v", sum)
	}
}
