// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/sim"
)

// Verify finds damage that happens to the index of a branch while the store is
// open, wherever the index is read from.
func TestVerifyReadsTheIndexes(t *testing.T) {
	db := shortStore(t, sim.NewDisk())
	defer db.Close()
	for id, b := range db.tree.all() {
		buf, ok := db.pool.Alloc(extent.PageSize)
		if !ok {
			t.Fatal("no buffer")
		}
		defer db.pool.Free(buf)
		at := b.Meta.Index.Addr
		if _, err := db.files.data.ReadAt(buf, at); err != nil {
			t.Fatal(err)
		}
		for _, flip := range []byte{0x10, 0} {
			sound := buf[2000]
			buf[2000] ^= flip
			if _, err := db.files.data.WriteAt(buf, at); err != nil {
				t.Fatal(err)
			}
			report, err := db.Verify(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			var c *CorruptError
			if err := report.Err(); flip == 0 && err != nil || flip != 0 && (!errors.As(err, &c) || c.Branch != id || c.Offset != at) {
				t.Errorf("branch %d, byte changed by %#x: %v", id, flip, err)
			}
			buf[2000] = sound
		}
	}
}
