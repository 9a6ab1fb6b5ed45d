// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"math/rand"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/inspect"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/sim"
)

// An inspection without opening the store shows the witness and the files of the history,
// including those that a crash or another store has left.
func TestLookSeesWitnessAndHistory(t *testing.T) {
	disk, o := sim.NewDisk(), historic(1<<30)
	c := &historian{t: t, r: rand.New(rand.NewSource(6)), db: open(t, disk, o)}
	for range 60 {
		c.commit()
	}
	last := message.Seq(len(c.all))
	must(t, c.db.Close())
	a, err := inspect.Look(disk, "db")
	must(t, err)
	if a.Durable != last {
		t.Errorf("the witness says that everything was durable up to %d, want %d", a.Durable, last)
	}
	next := message.Seq(1)
	for _, h := range a.History {
		if h.First != next || h.Foreign || h.Stale || h.Bytes == 0 {
			t.Errorf("history file %+v, want changes from %d on", h, next)
		}
		next = h.Last + 1
	}
	if next <= 1 || next > last+1 {
		t.Errorf("the history ends with change %d of %d", next-1, last)
	}
	id := datafile.StoreID(a.Slots[a.Used].Super.UUID)
	for _, name := range []string{datafile.HistoryName(id, last+1, last+2), datafile.HistoryName(id+1, 1, 2), "HISTORY-1-2"} {
		f, err := disk.Open("db/"+name, true)
		must(t, err)
		must(t, f.Close())
	}
	a, err = inspect.Look(disk, "db")
	must(t, err)
	stale, foreign := 0, 0
	for _, h := range a.History {
		if h.Stale {
			stale++
		}
		if h.Foreign {
			foreign++
		}
	}
	if stale != 1 || foreign != 1 {
		t.Errorf("%d files that a crash has left and %d of other stores, want one of each", stale, foreign)
	}
}
