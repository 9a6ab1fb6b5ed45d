// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/filter"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// memory is a file without a disk: benchmarks measure only this package.
type memory struct {
	env.File
	b       []byte
	discard bool
}

func (f *memory) ReadAt(b []byte, off int64) (int, error) {
	if off >= int64(len(f.b)) {
		return 0, io.EOF
	}
	return copy(b, f.b[off:]), nil
}

func (f *memory) WriteAt(b []byte, off int64) (int, error) {
	if f.discard {
		return len(b), nil
	}
	for int64(len(f.b)) < off+int64(len(b)) {
		f.b = append(f.b, make([]byte, 16<<20)...)
	}
	return copy(f.b[off:], b), nil
}

type bump struct{ next uint32 }

func (a *bump) Alloc(pages uint32) (extent.Run, error) {
	r := extent.Run{Page: a.next, Pages: pages}
	a.next += pages
	return r, nil
}

func (a *bump) Free(extent.Run) {}

func benchOptions(discard bool) (Options, *slab.Pool) {
	pool := slab.New(1 << 30)
	return Options{File: &memory{discard: discard}, Alloc: &bump{}, Pool: pool}, pool
}

// slotCache is a Cache of one copy for each block, without a bound.
type slotCache struct{ blocks [][]byte }

func (c *slotCache) GetPart(branch uint64, b uint32, from int, dst []byte) bool {
	buf := make([]byte, 32<<10)
	n, ok := c.GetBlock(branch, b, buf)
	return ok && copy(dst, buf[from:n]) == len(dst)
}

func (c *slotCache) GetBlock(_ uint64, b uint32, dst []byte) (int, bool) {
	if int(b) >= len(c.blocks) || c.blocks[b] == nil {
		return 0, false
	}
	return copy(dst, c.blocks[b]), true
}

func (c *slotCache) PutBlock(_ uint64, b uint32, image []byte) {
	for int(b) >= len(c.blocks) {
		c.blocks = append(c.blocks, nil)
	}
	c.blocks[b] = append([]byte(nil), image...)
}

const benchRecords = 60_000 // 32 MB of 536 bytes

func benchIndex(b *testing.B) (*Index, []message.Message) {
	o, pool := benchOptions(false)
	want := records(benchRecords, 512)
	_, x := write(b, &place{}, o, 1, want)
	b.Cleanup(func() { x.Close(); pool.Close() })
	return x, want
}

// BenchmarkAdd is one record through a writer: blocks, checksums, fences,
// filter and index.
func BenchmarkAdd(b *testing.B) {
	for _, value := range []int{16, 512} {
		b.Run(fmt.Sprint(value), func(b *testing.B) {
			o, pool := benchOptions(true)
			defer pool.Close()
			want := records(20_000, value)
			b.ReportAllocs()
			b.SetBytes(int64(value + 24))
			b.ResetTimer()
			for n := 0; n < b.N; {
				w, err := NewWriter(o, 1, 1, len(want))
				if err != nil {
					b.Fatal(err)
				}
				for i := 0; i < len(want) && n < b.N; i++ {
					if err := w.Add(want[i]); err != nil {
						b.Fatal(err)
					}
					n++
				}
				_, x, err := w.Finish()
				if err != nil {
					b.Fatal(err)
				}
				x.Close()
			}
		})
	}
}

func BenchmarkNext(b *testing.B) {
	x, _ := benchIndex(b)
	for _, prefetch := range []int{0, 256 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("prefetch %d", prefetch), func(b *testing.B) {
			it := x.Iter(IterOptions{Prefetch: prefetch})
			defer it.Close()
			b.ReportAllocs()
			b.SetBytes(536)
			b.ResetTimer()
			sum := 0
			for range b.N {
				if !it.Next() && !it.First() {
					b.Fatal(it.Err())
				}
				sum += len(it.Message().Value)
			}
		})
	}
}

// BenchmarkCopy reads a branch and writes it again: a merge of one.
func BenchmarkCopy(b *testing.B) {
	x, _ := benchIndex(b)
	o, pool := benchOptions(true)
	defer pool.Close()
	it := x.Iter(IterOptions{Prefetch: 1 << 20})
	defer it.Close()
	b.ReportAllocs()
	b.SetBytes(536)
	b.ResetTimer()
	for n := 0; n < b.N; {
		w, err := NewWriter(o, 1, 1, benchRecords)
		if err != nil {
			b.Fatal(err)
		}
		for ok := it.First(); ok && n < b.N; ok = it.Next() {
			if err := w.Add(it.Message()); err != nil {
				b.Fatal(err)
			}
			n++
		}
		_, y, err := w.Finish()
		if err != nil {
			b.Fatal(err)
		}
		y.Close()
	}
}

func BenchmarkGet(b *testing.B) {
	x, want := benchIndex(b)
	r := rand.New(rand.NewPCG(1, 2))
	order := r.Perm(len(want))
	for _, c := range []struct {
		name  string
		cache Cache
	}{{"warm", &slotCache{}}, {"cold", nil}} {
		b.Run(c.name, func(b *testing.B) {
			var s Scratch
			defer s.Close()
			found := 0
			emit := func(m message.Message) bool { found += len(m.Value); return false }
			for _, i := range order {
				if err := x.Get(want[i].Key, message.MaxSeq, c.cache, &s, emit); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			b.ResetTimer()
			found = 0
			for n := range b.N {
				if err := x.Get(want[order[n%len(order)]].Key, message.MaxSeq, c.cache, &s, emit); err != nil {
					b.Fatal(err)
				}
			}
			if found != b.N*512 {
				b.Fatal("not found")
			}
		})
	}
}

func BenchmarkMay(b *testing.B) {
	x, want := benchIndex(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if ok, err := x.May(filter.Hash(want[i%len(want)].Key), nil, nil); !ok || err != nil {
			b.Fatal("lost")
		}
	}
}

func BenchmarkFence(b *testing.B) {
	x, want := benchIndex(b)
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(want))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x.at(want[order[i%len(order)]].Key)
	}
}

// BenchmarkShortScan is a seek and fifty records with a warm cache.
func BenchmarkShortScan(b *testing.B) {
	x, want := benchIndex(b)
	cache := &slotCache{}
	var it Iterator
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		it.Reset(x, IterOptions{Cache: cache, Prefetch: 256 << 10})
		ok := it.SeekGE(want[i*7919%(len(want)-50)].Key)
		for n := 0; ok && n < 50; n++ {
			ok = it.Next()
		}
		if it.Err() != nil {
			b.Fatal(it.Err())
		}
		it.Close()
	}
}

func BenchmarkOpenIndex(b *testing.B) {
	o, pool := benchOptions(false)
	meta, x := write(b, &place{}, o, 1, records(20, 512))
	x.Close()
	defer pool.Close()
	b.ReportAllocs()
	for b.Loop() {
		x, err := OpenIndex(o, &meta)
		if err != nil {
			b.Fatal(err)
		}
		x.Close()
	}
}
