// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// A branch with a damaged block cannot be merged. All other ranges are still
// merged, waiting callers get the error, and an idle store does not repeat the
// same attempt.
func TestMergesGoOnBesideADamagedBlock(t *testing.T) {
	for _, inline := range []bool{true, false} {
		t.Run(fmt.Sprintf("inline=%v", inline), func(t *testing.T) {
			disk := sim.NewDisk()
			o := tiny()
			o.Compression = store.None
			db := open(t, disk, o)
			key := func(i int) []byte { return fmt.Appendf(nil, "key%04d", i) }
			const keys = 1500
			for i := range keys {
				must(t, db.Put(key(i), fmt.Appendf(nil, "%0200d", i)))
			}
			must(t, db.Compact(nil, nil))
			must(t, db.Close())
			p := dissect(t, disk)
			m := p.metas[len(p.metas)/2]
			edit(t, disk, "DATA", p.blocks[m.ID][1], 4096, flip)

			o.Tuning.Inline = inline
			real, err := osenv.OpenDisk(t.TempDir())
			must(t, err)
			must(t, real.MakeDir("db"))
			f, err := real.Open("db/DATA", true)
			must(t, err)
			_, err = f.WriteAt(content(t, disk, "DATA"), 0)
			must(t, err)
			must(t, f.Close())
			db, err = store.Open(world(real, 1), "db", o)
			must(t, err)
			for round := range 12 {
				for i := range keys {
					if i%3 == 0 {
						must(t, db.Put(key(i), fmt.Appendf(nil, "%d %0200d", round, i)))
					}
				}
			}
			within(t, 20*time.Second, func() {
				for db.Wait() != nil {
				}
			})
			before := db.Metrics()
			if before.Compactions < 20 {
				t.Errorf("%d compactions", before.Compactions)
			}
			// Except for the damaged branch everything is merged.
			if before.Branches > 60 {
				t.Errorf("%d branches are left", before.Branches)
			}
			time.Sleep(700 * time.Millisecond)
			if after := db.Metrics(); after.Compactions > before.Compactions+3 {
				t.Errorf("%d compactions in a store that is left alone", after.Compactions-before.Compactions)
			}
			t.Logf("%d compactions, %d branches, %d runs", before.Compactions, before.Branches, before.Runs)
			if err := db.Compact(nil, nil); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("compact: %v", err)
			}
			must(t, db.Flush())
			must(t, db.Close())
		})
	}
}
