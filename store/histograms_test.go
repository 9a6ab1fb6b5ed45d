// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// TestHistograms counts by itself what the store was asked for. Of frequent operations a
// sixteenth must be in the histograms, whatever the pattern of calls is.
func TestHistograms(t *testing.T) {
	for _, batch := range []int{1, 16} {
		db := open(t, sim.NewDisk(), tiny())
		const n = 16_000
		for i := 0; i < n; i += batch {
			if batch == 1 {
				must(t, db.Put(fmt.Appendf(nil, "key%05d", i), make([]byte, 92)))
				continue
			}
			b := db.NewBatch()
			for k := range batch {
				b.Put(fmt.Appendf(nil, "key%05d", i+k), make([]byte, 92))
			}
			must(t, db.Commit(b, store.NoSync))
		}
		for i := range n {
			if _, err := db.Get(fmt.Appendf(nil, "key%05d", i), nil); err != nil {
				t.Fatal(err)
			}
		}
		it, err := db.Iter(nil, nil)
		must(t, err)
		for i := range 4000 {
			it.SeekGE(fmt.Appendf(nil, "key%05d", i))
			it.Next()
		}
		must(t, it.Close())
		for range 3 {
			must(t, db.Put([]byte("s"), []byte("v")))
			must(t, db.Sync())
		}
		h := db.Histograms()
		for _, c := range []struct {
			name  string
			h     store.Operation
			calls int
			size  int64
		}{
			{"get", h.Get, n, 92}, {"change", h.Change, n / batch, int64(batch) * 100}, {"seek", h.Seek, 4000, 0},
		} {
			got, want := c.h.Latency.Count(), int64(c.calls/store.SampleEvery)
			if got < want*2/3 || got > want*3/2 {
				t.Errorf("batches of %d: %d samples of %s for %d calls, want about %d", batch, got, c.name, c.calls, want)
			}
			if q := c.h.Size.Quantile(0.5); c.size > 0 && (q < c.size || q > c.size*9/8) {
				t.Errorf("batches of %d: half of %s have at most %d bytes, want %d", batch, c.name, q, c.size)
			}
			if c.h.Latency.Quantile(0.99) <= 0 || c.h.Latency.Sum() < c.h.Latency.Quantile(0.5) {
				t.Errorf("%s takes %d ns", c.name, c.h.Latency.Quantile(0.99))
			}
		}
		if h.Sync.Latency.Count() != 3 || h.Sync.Size.Count() != 3 || h.Sync.Size.Sum() < 3*4096 {
			t.Errorf("3 syncs: %d of %d bytes", h.Sync.Latency.Count(), h.Sync.Size.Sum())
		}
		if h.Seek.Size.Count() != 1 || h.Seek.Size.Sum() != 8000 {
			t.Errorf("one iterator that was at 8000 keys: %d, %d", h.Seek.Size.Count(), h.Seek.Size.Sum())
		}
		must(t, db.Close())
		db.Histograms()
		db.Metrics() // of a store that is closed, as a scraper may ask
	}
}

// TestEstimateSize compares with what was written, uncompressed.
func TestEstimateSize(t *testing.T) {
	o := tiny()
	o.Compression = store.None
	db := open(t, sim.NewDisk(), o)
	const n, size = 8000, 250
	for i := range n {
		must(t, db.Put(fmt.Appendf(nil, "key%05d", i), make([]byte, size)))
		if i%100 == 0 {
			must(t, db.Put(fmt.Appendf(nil, "key%05dlarge", i), make([]byte, 32768)))
		}
	}
	k, err := db.Keyspace("other")
	must(t, err)
	for i := range 1000 {
		must(t, k.Put(fmt.Appendf(nil, "key%05d", i), make([]byte, size)))
	}
	must(t, db.Flush())
	must(t, db.Wait())
	estimate := func(from func(lo, hi []byte) (int64, error), lo, hi []byte, want int) {
		t.Helper()
		got, err := from(lo, hi)
		must(t, err)
		if got < int64(want)*3/4 || got > int64(want)*3/2+16384 {
			t.Errorf("[%s, %s) has about %d bytes, by the estimate %d", lo, hi, want, got)
		}
	}
	const each = size + 8 + 328 // a hundredth of a large value
	estimate(db.EstimateSize, nil, nil, n*each)
	estimate(db.EstimateSize, []byte("key02000"), []byte("key04000"), 2000*each)
	estimate(db.EstimateSize, []byte("key06000"), nil, 2000*each)
	estimate(db.EstimateSize, []byte("key00100"), []byte("key00200"), 100*each)
	estimate(db.EstimateSize, []byte("l"), nil, 0)
	estimate(k.EstimateSize, nil, nil, 1000*(size+8))
	estimate(k.EstimateSize, []byte("key00500"), nil, 500*(size+8))
	if _, err := db.EstimateSize([]byte("b"), []byte("a")); err == nil {
		t.Error("bounds in the wrong order")
	}
	must(t, db.Close())
	if _, err := db.EstimateSize(nil, nil); err == nil {
		t.Error("the size of a closed store")
	}
}
