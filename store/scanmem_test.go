// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store"
)

// Iterators in the middle of their scans share the memory for buffers, and release
// memtables that a writer needs.
func TestScansShareTheirMemory(t *testing.T) {
	disk, err := osenv.OpenDisk(t.TempDir())
	must(t, err)
	defer disk.Close()
	db, err := store.Open(world(disk, 1), "db", store.Options{Memory: 40 << 20})
	must(t, err)
	r := rand.New(rand.NewSource(1))
	value := make([]byte, 500)
	put := func(n int) error {
		for range n {
			r.Read(value)
			if err := db.Put(fmt.Appendf(nil, "key%06d", r.Intn(100_000)), value); err != nil {
				return err
			}
		}
		return nil
	}
	must(t, put(40_000))
	must(t, db.Compact(nil, nil))
	must(t, put(5_000))
	must(t, db.Flush())
	before := db.Metrics()
	var its []*store.Iterator
	for range 24 {
		it, err := db.Iter(nil, nil)
		must(t, err)
		for n, ok := 0, it.First(); ok && n < 15_000; n, ok = n+1, it.Next() {
			_ = it.Value()
		}
		must(t, it.Err())
		its = append(its, it)
	}
	m := db.Metrics()
	took := m.MemoryBytes - before.MemoryBytes - (m.Cache.Taken - before.Cache.Taken)
	if share := m.MemoryLimit / 8; took > 4*share {
		t.Errorf("%d iterators took %d bytes, want at most four times %d", len(its), took, share)
	}
	must(t, put(60_000))
	for _, it := range its {
		must(t, it.Close())
	}
	must(t, put(30_000))
	must(t, db.Close())
}
