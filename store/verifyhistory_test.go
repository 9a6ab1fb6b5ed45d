// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store/repair"
)

// Damage to a history is no damage to the data: a repair does not write the store anew for it, which
// would cost the rest of the history.
func TestRepairLeavesAHistory(t *testing.T) {
	disk, o := sim.NewDisk(), historic(1<<30)
	c := &historian{t: t, r: rand.New(rand.NewSource(4)), db: open(t, disk, o)}
	for range 100 {
		c.commit()
	}
	must(t, c.db.Close())
	names, err := disk.List("db")
	must(t, err)
	damaged := 0
	for _, name := range names {
		if strings.HasPrefix(name, "HISTORY-") {
			edit(t, disk, name, 100, 1, func(b []byte) { b[0] ^= 1 })
			damaged++
		}
	}
	report, err := repair.Store(world(disk, 5), "db", o)
	must(t, err)
	if damaged == 0 || report.Repaired || len(report.Damage) > 0 {
		t.Errorf("with %d damaged files of a history: %+v", damaged, report)
	}
	after, err := disk.List("db")
	must(t, err)
	if strings.Join(after, " ") != strings.Join(names, " ") {
		t.Errorf("the repair leaves %v of %v", after, names)
	}
}
