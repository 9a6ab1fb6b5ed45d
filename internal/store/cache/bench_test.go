// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"sync/atomic"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/cache"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

const (
	benchBudget  = 384 << 20
	benchRecords = 600_000
)

func benchKeys(n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = key(i)
	}
	return keys
}

// full is a cache with as many records as it takes, in an order that leaves
// them all over its memory.
func full(b *testing.B, keys [][]byte) *cache.Cache {
	b.Helper()
	pool := slab.New(2 * benchBudget)
	c := cache.New(pool, benchBudget)
	b.Cleanup(func() { c.Close(); pool.Close() })
	v := value(1, 512)
	for i := range keys {
		c.PutRecord(keys[i*7919%len(keys)], v, c.Version())
	}
	return c
}

func BenchmarkRecords(b *testing.B) {
	keys := benchKeys(benchRecords)
	v, dst := value(1, 512), make([]byte, 0, 600)
	b.Run("hit", func(b *testing.B) {
		c := full(b, keys)
		r := env.Seeded(1)
		b.ReportAllocs()
		miss := 0
		for b.Loop() {
			if _, ok := c.GetRecord(keys[env.IntN(r, len(keys))], dst); !ok {
				miss++
			}
		}
		if miss > b.N/100 {
			b.Errorf("%d of %d miss", miss, b.N)
		}
	})
	b.Run("hit of a few", func(b *testing.B) {
		c := full(b, keys)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			c.GetRecord(keys[i&1023], dst)
		}
	})
	b.Run("put into a full cache", func(b *testing.B) {
		c := full(b, keys)
		b.ReportAllocs()
		k := key(0)
		for i := 0; b.Loop(); i++ {
			for j, n := len(k)-1, 10_000_000+i; n > 0; j, n = j-1, n/10 {
				k[j] = byte('0' + n%10)
			}
			c.PutRecord(k, v, c.Version())
		}
	})
	b.Run("remove of what is not there", func(b *testing.B) {
		c := full(b, keys)
		b.ReportAllocs()
		absent := make([][]byte, 4096)
		for i := range absent {
			absent[i] = key(20_000_000 + i)
		}
		for i := 0; b.Loop(); i++ {
			c.Remove(absent[i&4095])
		}
	})
	b.Run("remove when empty", func(b *testing.B) {
		c, _ := newCache(b, benchBudget, benchBudget)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			c.Remove(keys[i&1023])
		}
	})
}

func BenchmarkBlocks(b *testing.B) {
	c, _ := newCache(b, 2*benchBudget, benchBudget)
	v, dst := value(1, 4096), make([]byte, 4096)
	const n = 80_000
	for i := range n {
		c.PutBlock(uint64(i%50), uint32(i), v)
	}
	b.Run("hit", func(b *testing.B) {
		r := env.Seeded(1)
		b.ReportAllocs()
		for b.Loop() {
			i := env.IntN(r, n)
			c.GetBlock(uint64(i%50), uint32(i), dst)
		}
	})
	b.Run("put into a full cache", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			c.PutBlock(100, uint32(i), v)
		}
	})
	b.Run("drop a branch", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			c.PutBlock(uint64(1000+i), 1, v)
			c.DropBranch(uint64(1000 + i))
		}
	})
}

// BenchmarkMixed is Zipf reads, of which misses put, from all processors.
func BenchmarkMixed(b *testing.B) {
	keys := benchKeys(2_500_000)
	c, _ := newCache(b, 2*benchBudget, benchBudget)
	v := value(1, 512)
	var seeds atomic.Uint64
	z := newZipf(len(keys), 0.99)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		r := env.Seeded(seeds.Add(1))
		dst := make([]byte, 0, 600)
		for pb.Next() {
			k := keys[z.draw(r)]
			if _, ok := c.GetRecord(k, dst); !ok {
				c.PutRecord(k, v, c.Version())
			}
		}
	})
	m := c.Metrics()
	b.ReportMetric(float64(m.Records.Hits)/float64(m.Records.Hits+m.Records.Misses), "hits/op")
	if err := c.Check(); err != nil {
		b.Error(err)
	}
	b.Logf("%+v", m)
}
