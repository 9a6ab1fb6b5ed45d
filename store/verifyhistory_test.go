// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
	"github.com/ashlar-dev/ashlar/store/repair"
)

// Damage to a history is not damage to the data: a repair does not rewrite the store for it, which
// would lose the rest of the history.
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

// What a history lacks is reported: between its files and after them, and a file that is
// gone while the store is open.
func TestVerifyFindsGapsInAHistory(t *testing.T) {
	disk, o := sim.NewDisk(), historic(1<<30)
	c := &historian{t: t, r: rand.New(rand.NewSource(4)), db: open(t, disk, o)}
	var lasts []uint64
	for range 4 {
		for range 5 {
			c.commit()
		}
		must(t, c.db.Flush())
		lasts = append(lasts, c.db.LastChange())
	}
	must(t, c.db.Close())
	var files []string // in order
	names, err := disk.List("db")
	must(t, err)
	for _, last := range lasts {
		for _, name := range names {
			if _, _, to, ok := datafile.ParseHistoryName(name); ok && uint64(to) == last {
				files = append(files, name)
			}
		}
	}
	if len(files) != len(lasts) {
		t.Fatalf("the files are %v, want one up to each of %v", names, lasts)
	}
	gap := func(i int) store.Gap { return store.Gap{First: lasts[i-1] + 1, Last: lasts[i]} }
	for removed, want := range map[int][]store.Gap{-1: nil, 0: nil, 2: {gap(2)}, 3: {gap(3)}} {
		disk := disk.Clone()
		if removed >= 0 {
			must(t, disk.Remove("db/"+files[removed]))
		}
		o := o
		o.ReadOnly = true
		db := open(t, disk, o)
		report, err := db.Verify(t.Context())
		if err != nil || report.Err() != nil || !slices.Equal(report.Gaps, want) {
			t.Errorf("without file %d: gaps %v, %v, %v; want %v", removed, report.Gaps, report.Err(), err, want)
		}
		if removed < 0 {
			must(t, disk.Remove("db/"+files[1]))
			if report, err = db.Verify(t.Context()); err != nil || !errors.Is(report.Err(), store.ErrCorrupt) || !strings.Contains(report.Err().Error(), files[1]) {
				t.Errorf("a file that is gone while the store is open: %v, %v", report.Err(), err)
			}
		}
		must(t, db.Close())
	}
}
