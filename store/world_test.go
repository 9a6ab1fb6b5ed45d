// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/store/inspect"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
	"github.com/ashlar-dev/ashlar/store/repair"
)

// If a part of the world is missing, the error names it, and what to do.
func TestAWorldThatLacksSomething(t *testing.T) {
	noDisk, noClock, noRandom := osenv.New(), world(sim.NewDisk(), 1), world(sim.NewDisk(), 1)
	noClock.Clock, noRandom.Random = nil, nil
	for remedy, w := range map[string]env.Env{"osenv.OpenDisk": noDisk, "osenv.NewClock": noClock, "osenv.NewRandom": noRandom} {
		for name, call := range map[string]func() error{
			"open": func() error {
				_, err := store.Open(w, "db", tiny())
				return err
			},
			"repair": func() error {
				_, err := repair.Store(w, "db", tiny())
				return err
			},
		} {
			if err := call(); err == nil || !strings.Contains(err.Error(), remedy) {
				t.Errorf("%s: %v, want an error that names %s", name, err, remedy)
			}
		}
	}
	for name, call := range map[string]func() error{
		"look": func() error {
			_, err := inspect.Look(nil, "db")
			return err
		},
		"inspect": func() error {
			_, err := inspect.Superblock(nil, "db")
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "osenv.OpenDisk") {
			t.Errorf("%s: %v, want an error that names osenv.OpenDisk", name, err)
		}
	}
	o := tiny()
	db := open(t, noRandom.Disk, o)
	must(t, db.Put([]byte("k"), []byte("v")))
	must(t, db.Close())
	o.ReadOnly = true
	db, err := store.Open(noRandom, "db", o)
	must(t, err)
	check(t, db, map[string]string{"k": "v"})
	must(t, db.Close())
}
