// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/internal/store/cache"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// newCache returns a cache in a pool of its own; the pool checks at the end that
// all memory was freed.
func newCache(t testing.TB, limit, bytes int64) (*cache.Cache, *slab.Pool) {
	t.Helper()
	pool := slab.New(limit)
	c := cache.New(pool, bytes)
	t.Cleanup(func() {
		c.Close()
		pool.Close()
	})
	return c, pool
}

func key(i int) []byte { return fmt.Appendf(nil, "user%020d", i) }

func value(i, n int) []byte {
	b := make([]byte, n)
	for k := range b {
		b[k] = byte(i*31 + k)
	}
	return b
}

// TestWhatWasPutIsThere: in an order of its own for each tenant, and gone when
// removed, dropped or cleared.
func TestWhatWasPutIsThere(t *testing.T) {
	c, _ := newCache(t, 8<<20, 4<<20)
	if !c.Empty() {
		t.Error("a new cache has records")
	}
	for i := range 500 {
		c.PutRecord(key(i), value(i, i%300), c.Version())
		c.PutBlock(uint64(i%3), uint32(i), value(i, 4096))
	}
	dst := make([]byte, 8192)
	for i := range 500 {
		if got, ok := c.GetRecord(key(i), []byte("x")); !ok || !bytes.Equal(got, append([]byte("x"), value(i, i%300)...)) {
			t.Fatalf("record %d: %d bytes, %v", i, len(got), ok)
		}
		if n, ok := c.GetBlock(uint64(i%3), uint32(i), dst); !ok || !bytes.Equal(dst[:n], value(i, 4096)) {
			t.Fatalf("block %d: %d bytes, %v", i, n, ok)
		}
		part := dst[:64]
		if !c.GetPart(uint64(i%3), uint32(i), 1000, part) || !bytes.Equal(part, value(i, 4096)[1000:1064]) {
			t.Fatalf("a part of block %d: %x", i, part)
		}
		if c.GetPart(uint64(i%3), uint32(i), 4096-63, part) || c.GetPart(uint64(i%3), uint32(i), 5000, part) || c.GetPart(9, uint32(i), 0, part) {
			t.Fatalf("bytes behind block %d, or of none, are there", i)
		}
		if _, ok := c.GetBlock(uint64(i%3)+1, uint32(i), dst); ok {
			t.Fatalf("block %d is of another branch", i)
		}
	}
	if _, ok := c.GetBlock(0, 0, dst[:4095]); ok {
		t.Error("a block fits in what is too short")
	}
	c.Remove(key(7))
	c.Remove(key(1000))
	c.PutRecord(key(8), value(1, 9), c.Version())
	c.DropBranch(1)
	c.DropBranch(77)
	for i := range 500 {
		_, ok := c.GetRecord(key(i), nil)
		if want := i != 7; ok != want {
			t.Errorf("record %d: %v, want %v", i, ok, want)
		}
		_, ok = c.GetBlock(uint64(i%3), uint32(i), dst)
		if want := i%3 != 1; ok != want {
			t.Errorf("block %d: %v, want %v", i, ok, want)
		}
	}
	if got, _ := c.GetRecord(key(8), nil); !bytes.Equal(got, value(1, 9)) {
		t.Errorf("record 8 is what it was before: %d bytes", len(got))
	}
	m := c.Metrics()
	if m.Records.Entries != 499 || m.Blocks.Entries != 333 || m.Records.Hits != 1000 || m.Records.Misses != 1 ||
		m.Blocks.Puts != 500 || m.Records.Evictions != 0 || m.Taken > 4<<20 || m.Budget != 4<<20 {
		t.Errorf("metrics %+v", m)
	}
	c.Clear()
	if !c.Empty() || c.Metrics().Records.Bytes != 0 {
		t.Error("records after Clear")
	}
	if _, ok := c.GetBlock(0, 0, dst); !ok {
		t.Error("Clear took blocks")
	}
}

// TestOldVersionsAreRefused: a put with a version from before an Advance does
// nothing, also to an existing record.
func TestOldVersionsAreRefused(t *testing.T) {
	c, _ := newCache(t, 1<<20, 256<<10)
	old := c.Version()
	c.PutRecord(key(1), []byte("a"), old)
	if now := c.Advance(); now == old || now != c.Version() {
		t.Fatalf("version %d after %d", now, old)
	}
	c.PutRecord(key(1), []byte("b"), old)
	c.PutRecord(key(2), []byte("b"), old)
	if got, ok := c.GetRecord(key(1), nil); !ok || string(got) != "a" {
		t.Errorf("record 1: %q, %v", got, ok)
	}
	if _, ok := c.GetRecord(key(2), nil); ok {
		t.Error("an old put was taken")
	}
	c.Remove(key(1))
	if !c.Empty() {
		t.Error("not empty after the only record was removed")
	}
}

// TestAgainstAModel: after any calls, with any budget, a get returns the last put
// that was not removed, or nothing; and the memory stays within its bound.
func TestAgainstAModel(t *testing.T) {
	type block struct {
		branch uint64
		block  uint32
	}
	rapid.Check(t, func(t *rapid.T) {
		pool := slab.New(int64(rapid.IntRange(64<<10, 1<<20).Draw(t, "pool")))
		c := cache.New(pool, int64(rapid.IntRange(0, 1<<20).Draw(t, "budget")))
		records, blocks := map[string]string{}, map[block]string{}
		keys := rapid.IntRange(0, 300)
		dst := make([]byte, 40<<10)
		serial := 0
		content := func(n int) []byte {
			serial++
			return bytes.Repeat(binary.LittleEndian.AppendUint64(nil, uint64(serial)), n/8+1)[:n]
		}
		t.Repeat(map[string]func(*rapid.T){
			"put records": func(t *rapid.T) {
				size := rapid.IntRange(0, 3000).Draw(t, "size")
				for range rapid.IntRange(1, 40).Draw(t, "n") {
					k, v := key(keys.Draw(t, "key")), content(size)
					c.PutRecord(k, v, c.Version())
					records[string(k)] = string(v)
				}
			},
			"put blocks": func(t *rapid.T) {
				size := rapid.SampledFrom([]int{100, 4096, 8192, 32768}).Draw(t, "size")
				for range rapid.IntRange(1, 20).Draw(t, "n") {
					k := block{rapid.Uint64Range(1, 4).Draw(t, "branch"), uint32(keys.Draw(t, "block"))}
					v := content(size)
					c.PutBlock(k.branch, k.block, v)
					blocks[k] = string(v)
				}
			},
			"get": func(t *rapid.T) {
				for range 20 {
					k := key(keys.Draw(t, "key"))
					if got, ok := c.GetRecord(k, nil); ok && string(got) != records[string(k)] {
						t.Fatalf("record %s: %d bytes that are not the last", k, len(got))
					}
					b := block{rapid.Uint64Range(1, 4).Draw(t, "branch"), uint32(keys.Draw(t, "block"))}
					if n, ok := c.GetBlock(b.branch, b.block, dst); ok && string(dst[:n]) != blocks[b] {
						t.Fatalf("block %v: %d bytes that are not the last", b, n)
					}
				}
			},
			"remove": func(t *rapid.T) {
				k := key(keys.Draw(t, "key"))
				c.Advance()
				c.Remove(k)
				delete(records, string(k))
				if _, ok := c.GetRecord(k, nil); ok {
					t.Fatalf("record %s is there after it was removed", k)
				}
			},
			"clear": func(t *rapid.T) {
				c.Clear()
				clear(records)
				if !c.Empty() {
					t.Fatal("records after Clear")
				}
			},
			"drop": func(t *rapid.T) {
				branch := rapid.Uint64Range(1, 4).Draw(t, "branch")
				c.DropBranch(branch)
				for b := range blocks {
					if b.branch == branch {
						delete(blocks, b)
					}
				}
			},
			"resize": func(t *rapid.T) {
				c.Resize(int64(rapid.IntRange(0, 1<<20).Draw(t, "budget")))
			},
			"": func(t *rapid.T) {
				if err := c.Check(); err != nil {
					t.Fatal(err)
				}
				if m := c.Metrics(); m.Taken > m.Budget || pool.Used() < m.Taken {
					t.Fatalf("takes %d of %d bytes, the pool has given %d", m.Taken, m.Budget, pool.Used())
				}
			},
		})
		c.Close()
		if n := pool.Used(); n != 0 {
			t.Fatalf("%d bytes are left after Close", n)
		}
		pool.Close()
	})
}

// TestThePoolHasLess: the cache uses the memory that it gets, takes more when there
// is more, and frees what it is asked for.
func TestThePoolHasLess(t *testing.T) {
	c, pool := newCache(t, 4<<20, 3<<20)
	fill := func(from int) {
		for i := from; i < from+20_000; i++ {
			c.PutRecord(key(i), value(i, 500), c.Version())
			c.PutBlock(1, uint32(i), value(i, 4000))
		}
	}
	other, ok := pool.Alloc(2 << 20)
	if !ok {
		t.Fatal("no memory")
	}
	fill(0)
	less := c.Metrics()
	if less.Taken < 1<<20 || less.Taken > 2<<20 || less.Records.Entries == 0 || less.Blocks.Entries == 0 {
		t.Errorf("with 2 MiB in the pool: %+v", less)
	}
	pool.Free(other)
	fill(20_000)
	if m := c.Metrics(); m.Taken < 5<<19 {
		t.Errorf("with more in the pool it takes %d bytes", m.Taken)
	}
	for _, budget := range []int64{2 << 20, 1 << 20, 700_000, 100_000, 5000, 0} {
		c.Resize(budget)
		if m := c.Metrics(); m.Taken > budget || pool.Used() > max(budget, m.Taken) {
			t.Errorf("of %d bytes it takes %d, the pool has given %d", budget, m.Taken, pool.Used())
		}
		if err := c.Check(); err != nil {
			t.Error(err)
		}
	}
	if !c.Empty() {
		t.Error("records in no memory")
	}
	c.Resize(3 << 20)
	fill(0)
	if m := c.Metrics(); m.Taken < 5<<19 {
		t.Errorf("after it was empty it takes %d bytes", m.Taken)
	}
}

// TestShrinkingKeepsWhatIsUsed: the records that are read again and again are
// there when half of the budget is gone.
func TestShrinkingKeepsWhatIsUsed(t *testing.T) {
	c, _ := newCache(t, 64<<20, 32<<20)
	const hot = 5_000
	for round := range 4 {
		for i := range 20_000 {
			if i%4 == 0 {
				if k := key(i / 4 % hot); true {
					if _, ok := c.GetRecord(k, nil); !ok {
						c.PutRecord(k, value(i, 500), c.Version())
					}
				}
			}
			c.PutRecord(key(1_000_000+round*20_000+i), value(i, 500), c.Version())
		}
	}
	c.Resize(16 << 20)
	there := 0
	for i := range hot {
		if _, ok := c.GetRecord(key(i), nil); ok {
			there++
		}
	}
	if there < hot*95/100 {
		t.Errorf("%d of %d are left", there, hot)
	}
}
