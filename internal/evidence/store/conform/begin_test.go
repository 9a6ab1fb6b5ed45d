// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// TestAStoreThatWasBegunBefore ends a program at each operation by which it makes a
// store. The next program completes or makes it, and makes a change durable, by the
// journal or by the tree; then the power fails. The change is still there, although the
// names of the files may be those of the first life.
func TestAStoreThatWasBegunBefore(t *testing.T) {
	s := spec(t)
	ways := map[string]func(*store.DB) error{"sync": (*store.DB).Sync, "flush": (*store.DB).Flush}
	for name, durable := range ways {
		for n, complete := 1, false; !complete; n++ {
			what := fmt.Sprintf("%s, the first program ends at operation %d", name, n)
			var rec Recorder
			disk := sim.NewDisk()
			open := func(d whole) (*store.DB, error) {
				r := rand.New(rand.NewPCG(1, 2))
				return store.Open(env.Env{Clock: still{}, Random: env.Seeded(uint64(n)), Disk: d, Tracer: &rec}, "db", options(r, store.SyncOnDemand))
			}
			mortal := &fallible{disk: disk, r: rand.New(rand.NewPCG(uint64(n), 3)), dies: n}
			db, err := open(mortal)
			if complete = err == nil; complete {
				mortal.end()
				_ = db.Close()
			}
			disk = disk.Clone()
			rec.End(Kill)
			mortal = &fallible{disk: disk}
			if db, err = open(mortal); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			for _, err := range []error{db.Put([]byte("key"), []byte("value")), durable(db)} {
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
			mortal.end()
			_ = db.Close()
			disk.Crash(sim.KeepUpTo(0))
			rec.End(Crash)
			if db, err = open(disk); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if v, err := db.Get([]byte("key"), nil); err != nil || string(v) != "value" {
				t.Errorf("%s: get: %q, %v", what, v, err)
			}
			if err := db.Close(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if r := verdict(t, s, rec.Events(), Options{Refine: true}); r.Refused != nil {
				t.Errorf("%s: %s", what, r)
			}
			if n > 100 {
				t.Fatalf("%s: it takes too many operations to make a store", what)
			}
		}
	}
}
