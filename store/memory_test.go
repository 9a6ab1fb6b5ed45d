// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"math/rand"
	"runtime"
	"testing"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store"
)

// TestMemoryIsBounded fills a store with several times its memory, reads and scans,
// and measures its memory: it is within the bound, and little of it is on the Go
// heap, however large the cache.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MiB: not in -short")
	}
	const heapMax = 64 << 20
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for _, memory := range []int64{store.MemoryMin, 256 << 20} {
		before := heap()
		disk, err := osenv.OpenDisk(t.TempDir())
		must(t, err)
		db, err := store.Open(world(disk, 1), "db", store.Options{Memory: memory})
		must(t, err)
		key, value := make([]byte, 24), make([]byte, 512)
		const records = 200_000
		var peak int64
		look := func() {
			m := db.Metrics()
			peak = max(peak, m.MemoryBytes)
			if m.MemoryBytes > m.MemoryLimit || m.MemoryLimit > memory {
				t.Fatalf("%d bytes in use, the bound is %d of %d", m.MemoryBytes, m.MemoryLimit, memory)
			}
		}
		for i := range uint64(records) {
			record(i, key, value)
			must(t, db.Put(key, value))
			if i%5000 == 0 {
				look()
			}
		}
		must(t, db.Wait())
		r := rand.New(rand.NewSource(1))
		for i := range 20_000 {
			record(uint64(r.Intn(records)), key, nil)
			if _, err := db.Get(key, nil); err != nil {
				t.Fatal(err)
			}
			if i%5000 == 0 {
				look()
			}
		}
		it, err := db.Iter(nil, nil)
		must(t, err)
		n := 0
		for ok := it.First(); ok; ok = it.Next() {
			n++
		}
		must(t, it.Close())
		if n != records {
			t.Errorf("a scan finds %d records, want %d", n, records)
		}
		look()
		if after := heap(); after > before+heapMax {
			t.Errorf("the heap grew by %d bytes, want %d at most", after-before, heapMax)
		} else {
			t.Logf("memory %d: at most %d outside of the heap, heap grew by %d", memory, peak, int64(after)-int64(before))
		}
		must(t, db.Close())
		must(t, disk.Close())
	}
}
