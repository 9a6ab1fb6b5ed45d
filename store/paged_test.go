// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store"
)

// smallRecord writes the i-th record of 16 bytes, in no order; a store
// that has the even numbers lacks the odd ones.
func smallRecord(i uint64, key, value []byte) {
	h := i * 0x9e3779b97f4a7c15
	binary.BigEndian.PutUint64(key, h)
	binary.LittleEndian.PutUint64(value, h^i)
}

// The fences and filters of a store with far more records than fit into its memory
// stay in the file: the memory of indexes is bounded while the store is filled,
// read, scanned, verified and opened again, and every answer is right.
func TestIndexesStayInTheFile(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 400,000 records: not in -short")
	}
	const records = 400_000 // whose fences and filters are longer than half of the memory
	disk, err := osenv.OpenDisk(t.TempDir())
	must(t, err)
	defer disk.Close()
	o := store.Options{Memory: 1 << 20, Compression: store.None, Tuning: store.Tuning{MemtableBytes: 64 << 10, LeafBytes: 256 << 10}}
	db, err := store.Open(world(disk, 1), "db", o)
	must(t, err)
	key, value := make([]byte, 8), make([]byte, 8)
	for i := range uint64(records) {
		smallRecord(2*i, key, value)
		must(t, db.Put(key, value))
	}
	look := func(when string) {
		t.Helper()
		m := db.Metrics()
		if m.IndexBytes > m.MemoryLimit*2/5 {
			t.Errorf("%s: indexes take %d bytes of %d", when, m.IndexBytes, m.MemoryLimit)
		}
	}
	use := func(when string) {
		t.Helper()
		for i := uint64(0); i < records; i += 331 {
			smallRecord(2*i, key, value)
			if got, err := db.Get(key, nil); err != nil || !bytes.Equal(got, value) {
				t.Fatalf("%s: record %d: %x, %v", when, i, got, err)
			}
			smallRecord(2*i+1, key, value)
			if got, err := db.Get(key, nil); !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("%s: absent record %d: %x, %v", when, i, got, err)
			}
		}
		it, err := db.Iter(nil, nil)
		must(t, err)
		n, last := 0, []byte(nil)
		for ok := it.First(); ok; ok = it.Next() {
			if bytes.Compare(it.Key(), last) <= 0 && n > 0 {
				t.Fatalf("%s: the scan gives %x after %x", when, it.Key(), last)
			}
			last = append(last[:0], it.Key()...)
			n++
		}
		must(t, it.Err())
		must(t, it.Close())
		if n != records {
			t.Errorf("%s: a scan finds %d records, want %d", when, n, records)
		}
		look(when)
	}
	must(t, db.Wait())
	look("filled")
	use("filled")
	must(t, db.Close())
	db, err = store.Open(world(disk, 1), "db", o)
	must(t, err)
	look("opened")
	use("opened")
	report, err := db.Verify(context.Background())
	must(t, err)
	must(t, report.Err())
	look("verified")
	must(t, db.Close())
}
