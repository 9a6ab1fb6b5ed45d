// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"encoding/binary"
	"testing"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store"
)

// However many ranges are deleted, the memory of their tombstones stays within its bound plus the
// part that unwritten memtables may add, even while a snapshot needs all deleted keys.
func TestRangeDeletesAreBounded(t *testing.T) {
	const (
		memory, memtable = 2 << 20, 64 << 10
		keys, deletes    = 2_000, 20_000
		perMemtable      = 256        // range deletes
		tombstone        = 64 + 9 + 9 // bytes
		underWay         = 1 + 2      // memtables: the active one, and those that wait to be written
		most             = memory/32 + underWay*perMemtable*tombstone
	)
	for name, withSnapshot := range map[string]bool{"alone": false, "below a snapshot": true} {
		t.Run(name, func(t *testing.T) {
			disk, err := osenv.OpenDisk(t.TempDir())
			must(t, err)
			defer disk.Close()
			db := open(t, disk, store.Options{Memory: memory, Tuning: store.Tuning{MemtableBytes: memtable}})
			key := func(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)*0x9E3779B97F4A7C15) }
			for i := range keys {
				must(t, db.Put(key(i), make([]byte, 50)))
			}
			must(t, db.Flush())
			snapshot, seen := db.Snapshot(), 0
			defer snapshot.Close()
			if !withSnapshot {
				snapshot.Close()
			}
			var peak int64
			for i := range deletes {
				if i%keys != 0 { // the key 0 stays
					k := key(i)
					must(t, db.DeleteRange(k, append(k[:8:8], 0)))
				}
				if i%64 == 0 {
					peak = max(peak, db.Metrics().TombstoneBytes)
				}
			}
			if peak > most {
				t.Errorf("the tombstones took %d bytes, want at most %d", peak, most)
			}
			// Changes do not wait for merges that are paused, but for those that run.
			must(t, db.SetLimits(store.Limits{Paused: true}))
			for i := range deletes {
				if db.Metrics().TombstoneBytes > 2*most {
					break
				}
				k := key(1 + i%(keys-1))
				must(t, db.DeleteRange(k, append(k[:8:8], 0)))
			}
			if db.Metrics().TombstoneBytes <= 2*most {
				t.Errorf("the tombstones take %d bytes while merges are paused, want more than %d", db.Metrics().TombstoneBytes, 2*most)
			}
			must(t, db.SetLimits(store.Limits{}))
			for range perMemtable {
				k := key(1)
				must(t, db.DeleteRange(k, append(k[:8:8], 0)))
			}
			if got := db.Metrics().TombstoneBytes; got > most {
				t.Errorf("the tombstones take %d bytes after a change that waited, want at most %d", got, most)
			}
			must(t, db.Flush())
			check(t, db, map[string]string{string(key(0)): string(make([]byte, 50))})
			if withSnapshot {
				it, err := snapshot.Iter(nil, nil)
				must(t, err)
				for ok := it.First(); ok; ok = it.Next() {
					seen++
				}
				must(t, it.Close())
				if seen != keys {
					t.Errorf("the snapshot has %d keys, want %d", seen, keys)
				}
			}
			must(t, db.Close())
		})
	}
}
