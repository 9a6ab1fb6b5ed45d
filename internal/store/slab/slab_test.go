// SPDX-License-Identifier: Apache-2.0

package slab_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

func alloc(t testing.TB, p *slab.Pool, n int) []byte {
	t.Helper()
	b, ok := p.Alloc(n)
	if !ok {
		t.Fatalf("no piece of %d bytes; %d of %d in use", n, p.Used(), p.Limit())
	}
	return b
}

// rounded is what a piece of n bytes costs when it shares its page with none.
func rounded(n int) int64 {
	switch {
	case n == 0:
		return 0
	case n > 1<<20:
		return int64(n+4095) &^ 4095
	}
	c := int64(4096)
	for c < int64(n) {
		c *= 2
	}
	return c
}

func TestPieces(t *testing.T) {
	for _, c := range []struct {
		n, align int
		used     int64
	}{
		{0, 1, 0},
		{1, 64, 4096},
		{64, 64, 4096},
		{65, 128, 4096},
		{2048, 2048, 4096},
		{2049, 4096, 4096},
		{4096, 4096, 4096},
		{4097, 4096, 8192},
		{100 << 10, 4096, 128 << 10},
		{1 << 20, 4096, 1 << 20},
		{1<<20 + 1, 4096, 1<<20 + 4096},
		{5<<20 - 7, 4096, 5 << 20},
		{9 << 20, 4096, 9 << 20},
	} {
		t.Run(fmt.Sprint(c.n), func(t *testing.T) {
			p := slab.New(16 << 20)
			for range 3 { // a piece that was used is as good as a new one
				b := alloc(t, p, c.n)
				if len(b) != c.n || cap(b) != c.n {
					t.Fatalf("length %d, capacity %d, want %d", len(b), cap(b), c.n)
				}
				if at := uintptr(unsafe.Pointer(unsafe.SliceData(b))); at%uintptr(c.align) != 0 {
					t.Errorf("at %#x, want a multiple of %d", at, c.align)
				}
				if got := p.Used(); got != c.used {
					t.Errorf("used %d, want %d", got, c.used)
				}
				if i := bytes.IndexFunc(b, func(r rune) bool { return r != 0 }); i >= 0 {
					t.Fatalf("byte %d is not zero", i)
				}
				for i := range b {
					b[i] = 0xff
				}
				p.Free(b)
				if got := p.Used(); got != 0 {
					t.Errorf("used %d after free, want 0", got)
				}
			}
			p.Close()
		})
	}
}

func TestSmallPiecesShareAPage(t *testing.T) {
	p := slab.New(4096)
	var pieces [][]byte
	for range 64 {
		pieces = append(pieces, alloc(t, p, 64))
	}
	if p.Used() != 4096 {
		t.Errorf("used %d, want one page", p.Used())
	}
	if _, ok := p.Alloc(1); ok {
		t.Error("a piece beyond the limit")
	}
	p.Free(pieces[17])
	if _, ok := p.Alloc(65); ok {
		t.Error("a piece of another size in a page in use")
	}
	pieces[17] = alloc(t, p, 33)
	for _, b := range pieces {
		p.Free(b)
	}
	p.Free(alloc(t, p, 4096)) // the page serves any size once it is empty
	p.Free(alloc(t, p, 1000))
	p.Close()
}

// TestFreedMemoryServesEverySize fills the pool with pieces of one size after
// the other: whatever was freed must be there for the next.
func TestFreedMemoryServesEverySize(t *testing.T) {
	const limit = 6 << 20
	p := slab.New(limit)
	for round := range 3 {
		for _, n := range []int{4096, 1 << 20, 64, 3 << 20, 16 << 10, 700, 256 << 10, limit, 8192} {
			var pieces [][]byte
			want := limit / int(rounded(n))
			if n < 4096 {
				class := 64
				for class < n {
					class *= 2
				}
				want = limit / class
			}
			for {
				b, ok := p.Alloc(n)
				if !ok {
					break
				}
				b[0], b[n-1] = 1, 1
				pieces = append(pieces, b)
			}
			if len(pieces) != want {
				t.Fatalf("round %d: %d pieces of %d bytes, want %d", round, len(pieces), n, want)
			}
			for _, b := range pieces {
				p.Free(b)
			}
		}
	}
	p.Close()
}

func panics(f func()) (what string) {
	defer func() {
		if r := recover(); r != nil {
			what = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

func TestMisuseIsOurBug(t *testing.T) {
	for _, c := range []struct {
		name, want string
		do         func(p *slab.Pool)
	}{
		{"leak", "invariant: slab: closed with 2 pieces in use, 12288 bytes", func(p *slab.Pool) {
			p.Alloc(10)
			p.Alloc(8000)
			p.Close()
		}},
		{"large leak", "invariant: slab: closed with 1 pieces in use, 2097152 bytes", func(p *slab.Pool) {
			p.Alloc(2 << 20)
			p.Close()
		}},
		{"freed twice", "invariant: slab: piece freed twice", func(p *slab.Pool) {
			b, _ := p.Alloc(5000)
			p.Free(b)
			p.Free(b)
		}},
		{"small freed twice", "invariant: slab: piece freed twice", func(p *slab.Pool) {
			p.Alloc(100)
			b, _ := p.Alloc(100)
			p.Free(b)
			p.Free(b)
		}},
		{"large freed twice", "invariant: slab: free of 2097152 bytes that were not allocated with that size", func(p *slab.Pool) {
			b, _ := p.Alloc(2 << 20)
			p.Free(b)
			p.Free(b)
		}},
		{"a part", "invariant: slab: free of 4096 bytes that were not allocated with that size", func(p *slab.Pool) {
			b, _ := p.Alloc(8192)
			p.Free(b[:4096])
		}},
		{"a middle", "invariant: slab: free of 8192 bytes that were not allocated with that size", func(p *slab.Pool) {
			b, _ := p.Alloc(16384)
			p.Free(b[4096:12288])
		}},
		{"a stranger", "invariant: slab: free of memory from outside the pool", func(p *slab.Pool) {
			p.Alloc(1)
			p.Free(make([]byte, 100))
		}},
		{"closed twice", "invariant: slab: closed twice", func(p *slab.Pool) {
			p.Close()
			p.Close()
		}},
		{"after close", "invariant: slab: alloc after close", func(p *slab.Pool) {
			p.Close()
			p.Alloc(1)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := slab.New(4 << 20)
			if got := panics(func() { c.do(p) }); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	p := slab.New(1 << 20)
	b := alloc(t, p, 64)
	w, d := slab.Uint32s(b), slab.Uint64s(b[8:])
	if len(w) != 16 || len(d) != 7 {
		t.Fatalf("%d and %d numbers", len(w), len(d))
	}
	w[2], w[3] = 0x01010101, 0x01010101
	if d[0] != 0x0101010101010101 || b[8] != 1 || b[16] != 0 {
		t.Errorf("the numbers are not the bytes: %x %x", d[0], b[:24])
	}
	if got := panics(func() { slab.Uint64s(b[4:]) }); got != "invariant: slab: unaligned numbers" {
		t.Errorf("got %q", got)
	}
	p.Free(b)
	p.Close()
}

// TestAgainstAModel allocates and frees at random. Pieces must not overlap, and
// the pool must say no exactly when the limit would be exceeded.
func TestAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int64{0, 4096, 64 << 10, 1 << 20, 5 << 20}).Draw(t, "limit")
		p := slab.New(limit)
		type piece struct {
			b    []byte
			mark byte
		}
		var live []piece
		mark := byte(0)
		size := rapid.OneOf(rapid.IntRange(0, 200), rapid.IntRange(200, 9000), rapid.IntRange(9000, 1<<20), rapid.IntRange(1<<20, 3<<20))
		check := func(x piece) {
			if n := bytes.Count(x.b, []byte{x.mark}); n != len(x.b) {
				t.Fatalf("%d of %d bytes were overwritten", len(x.b)-n, len(x.b))
			}
		}
		drop := func(i int) {
			check(live[i])
			p.Free(live[i].b)
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
		}
		t.Repeat(map[string]func(*rapid.T){
			"alloc": func(t *rapid.T) {
				n := size.Draw(t, "n")
				used := p.Used()
				b, ok := p.Alloc(n)
				fits := used+rounded(n) <= limit
				if fits && !ok || ok && !fits && n >= 2048 {
					t.Fatalf("alloc of %d with %d of %d in use: %v", n, used, limit, ok)
				}
				if p.Used() > limit {
					t.Fatalf("used %d of %d", p.Used(), limit)
				}
				if !ok {
					if p.Used() != used {
						t.Fatalf("a refusal took %d bytes", p.Used()-used)
					}
					return
				}
				if n := bytes.Count(b, []byte{0}); n != len(b) {
					t.Fatalf("%d of %d bytes are not zero", len(b)-n, len(b))
				}
				mark = mark%255 + 1
				for i := range b {
					b[i] = mark
				}
				live = append(live, piece{b, mark})
			},
			"free": func(t *rapid.T) {
				if len(live) > 0 {
					drop(rapid.IntRange(0, len(live)-1).Draw(t, "which"))
				}
			},
			"free all": func(t *rapid.T) {
				for len(live) > 0 {
					drop(len(live) - 1)
				}
				if p.Used() != 0 {
					t.Fatalf("used %d, want 0", p.Used())
				}
			},
		})
		for len(live) > 0 {
			drop(0)
		}
		p.Close()
	})
}

func TestConcurrentUse(t *testing.T) {
	p := slab.New(8 << 20)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			var mine [][]byte
			seed := uint32(w + 1)
			for range 3000 {
				seed = seed*1664525 + 1013904223
				if len(mine) > 20 || len(mine) > 0 && seed>>31 == 0 {
					b := mine[len(mine)-1]
					mine = mine[:len(mine)-1]
					if n := bytes.Count(b, []byte{byte(w + 1)}); n != len(b) {
						t.Errorf("%d bytes of mine were overwritten", len(b)-n)
					}
					p.Free(b)
					continue
				}
				n := 1 + int(seed>>8)%(1<<(6+seed>>4%12))
				if b, ok := p.Alloc(n); ok {
					for i := range b {
						b[i] = byte(w + 1)
					}
					mine = append(mine, b)
				}
			}
			for _, b := range mine {
				p.Free(b)
			}
		})
	}
	wg.Wait()
	p.Close()
}

func BenchmarkAllocFree(b *testing.B) {
	for _, n := range []int{64, 1024, 4096, 32 << 10, 1 << 20, 4 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := slab.New(64 << 20)
			b.ReportAllocs()
			for b.Loop() {
				p.Free(alloc(b, p, n))
			}
			p.Close()
		})
	}
}

// BenchmarkTinyPool is what a crash state costs: a pool, a few pieces that are
// written to, and its end.
func BenchmarkTinyPool(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		p := slab.New(1 << 20)
		var pieces [6][]byte
		for i, n := range []int{16 << 10, 256, 4096, 800, 4096, 8192} {
			pieces[i] = alloc(b, p, n)
			pieces[i][0] = 1
		}
		for _, x := range pieces {
			p.Free(x)
		}
		p.Close()
	}
}

// BenchmarkLarge is what the arena of a memtable costs, written from end to
// end.
func BenchmarkLarge(b *testing.B) {
	p := slab.New(64 << 20)
	b.SetBytes(64 << 20)
	for b.Loop() {
		x := alloc(b, p, 64<<20)
		for i := 0; i < len(x); i += 4096 {
			x[i] = 1
		}
		p.Free(x)
	}
	p.Close()
}
