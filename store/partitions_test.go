// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store"
)

// The memory of the descriptions of partitions is within the bound that follows from Memory, however many
// partitions of the initial size there would be, and whether the records are put in any order, in key order, or
// come by an ingest. The same holds when the store is opened again with less memory.
func TestPartitionsAreBounded(t *testing.T) {
	const records, size, memory = 3000, 2000, 2 << 20
	for name, load := range map[string]func(t *testing.T, db *store.DB, key func(i uint64) []byte, value []byte){
		"in any order": func(t *testing.T, db *store.DB, key func(i uint64) []byte, value []byte) {
			for i := range uint64(records) {
				must(t, db.Put(key(i*1009%records), value))
			}
		},
		"in order": func(t *testing.T, db *store.DB, key func(i uint64) []byte, value []byte) {
			for i := range uint64(records) {
				must(t, db.Put(key(i), value))
			}
		},
		"by an ingest": func(t *testing.T, db *store.DB, key func(i uint64) []byte, value []byte) {
			in, err := db.Ingest()
			must(t, err)
			for i := range uint64(records) {
				must(t, in.Put(key(i), value))
			}
			must(t, in.Commit())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk, err := osenv.OpenDisk(t.TempDir())
			must(t, err)
			defer disk.Close()
			o := store.Options{
				Memory: memory, Compression: store.None,
				Tuning: store.Tuning{MemtableBytes: 128 << 10, LeafBytes: 8 << 10, Inline: true},
			}
			db, err := store.Open(world(disk, 1), "db", o)
			must(t, err)
			key := func(i uint64) []byte { return binary.BigEndian.AppendUint64(nil, i) }
			load(t, db, key, make([]byte, size))
			must(t, db.Wait())
			before := db.Metrics()
			const most = memory / (48 << 10)
			if before.Branches > 4*most {
				t.Errorf("%d branches, want at most four for each of %d partitions", before.Branches, most)
			}
			must(t, db.Close())

			o.Memory = memory / 2
			db, err = store.Open(world(disk, 2), "db", o)
			must(t, err)
			must(t, db.Compact(nil, nil))
			must(t, db.Wait())
			after := db.Metrics()
			if after.Branches > 4*most/2 {
				t.Errorf("with half the memory: %d branches, want at most four for each of %d partitions", after.Branches, most/2)
			}
			t.Logf("%d branches, with half the memory %d", before.Branches, after.Branches)
			n := 0
			it, err := db.Iter(nil, nil)
			must(t, err)
			for ok := it.First(); ok; ok = it.Next() {
				if binary.BigEndian.Uint64(it.Key()) != uint64(n) || len(it.Value()) != size {
					t.Fatalf("key %x with %d bytes, want key %d", it.Key(), len(it.Value()), n)
				}
				n++
			}
			must(t, it.Close())
			if n != records {
				t.Errorf("%d records, want %d", n, records)
			}
			report, err := db.Verify(context.Background())
			must(t, err)
			must(t, report.Err())
			must(t, db.Close())
		})
	}
}
