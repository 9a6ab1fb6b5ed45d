package store_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// A process ends, the machine goes on; the next one reads what the first has
// written but not synced, and is asked to sync. Then the power fails.
func TestSyncCoversWhatAnEarlierLifeWrote(t *testing.T) {
	disk := sim.NewDisk()
	o := tiny()
	o.Durability, o.Tuning.MemtableBytes = store.ProcessCrash, 1<<20
	db := open(t, disk, o)
	want := map[string]string{}
	for i := range 3000 {
		k, v := fmt.Sprintf("k%04d", i), fmt.Sprintf("%0100d", i)
		must(t, db.Put([]byte(k), []byte(v)))
		want[k] = v
	}
	disk = disk.Clone() // the files as they are, durable or not, and no process
	db = open(t, disk, o)
	for k := range want {
		if _, err := db.Get([]byte(k), nil); errors.Is(err, store.ErrNotFound) {
			delete(want, k)
		}
	}
	if len(want) == 0 || len(want) == 3000 {
		t.Fatalf("%d of 3000 changes were written, want some", len(want))
	}
	must(t, db.Sync())
	disk.Crash(sim.KeepUpTo(0))
	db = open(t, disk, o)
	check(t, db, want)
	must(t, db.Close())
}
