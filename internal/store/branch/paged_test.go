// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/filter"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// pagedBranch is a branch of many blocks, whose index is opened to stay in the
// file.
func pagedBranch(t *testing.T, n int, tombs ...message.RangeTombstone) (*place, Meta, *Index, []message.Message) {
	t.Helper()
	p := newPlace(t)
	o := p.options()
	o.Compression = None
	all := records(n, 500)
	meta, x := write(t, p, o, 1, all, tombs...)
	x.Close()
	o.Resident = 1
	x, err := OpenIndex(o, &meta)
	if err != nil {
		t.Fatal(err)
	}
	if !x.Paged() {
		t.Fatal("the index is in memory")
	}
	t.Cleanup(x.Close)
	return p, meta, x, all
}

// A paged index takes a small part of the memory, and frequent keys cost one read
// of the block, or none.
func TestPagedIndexIsSmall(t *testing.T) {
	const n = 40_000
	p, meta, x, all := pagedBranch(t, n)
	if x.Memory()*20 > int(meta.Index.Len) {
		t.Errorf("%d bytes are kept of an index of %d", x.Memory(), meta.Index.Len)
	}
	cache := newMapCache()
	var s Scratch
	defer s.Close()
	used := p.pool.Used()
	reads := func(f func()) int {
		before := p.file.reads
		f()
		return p.file.reads - before
	}
	ask := func(i int) {
		if got, err := get(x, all[i].Key, message.MaxSeq, cache, &s); err != nil || len(got) != 1 || !same(got[0], all[i]) {
			t.Fatalf("get %q: %v, %v", all[i].Key, got, err)
		}
	}
	if cold := reads(func() { ask(n / 2) }); cold < 2 || cold > 8 {
		t.Errorf("a cold read takes %d", cold)
	}
	if again := reads(func() { ask(n / 2) }); again != 0 {
		t.Errorf("the same read takes %d reads of the file", again)
	}
	if near := reads(func() { ask(n/2 + 9) }); near > 1 {
		t.Errorf("a neighbour takes %d reads", near)
	}
	line := filter.Hash([]byte("absent"))
	if cold := reads(func() { may(t, x, line, cache) }); cold != 1 {
		t.Errorf("a page of the filter takes %d reads", cold)
	}
	if again := reads(func() { may(t, x, line, cache) }); again != 0 {
		t.Errorf("a page of the filter that is cached takes %d reads", again)
	}
	if grown := p.pool.Used() - used; grown > 64<<10 {
		t.Errorf("reads keep %d bytes", grown)
	}
}

// Whatever is damaged in the file after the index was opened: a read of it returns
// the written data, or an error with the place, and CheckIndex reports it too.
func TestRotInAPagedIndex(t *testing.T) {
	p, meta, x, all := pagedBranch(t, 5000, message.RangeTombstone{Lo: []byte("a"), Hi: []byte("b"), Seq: 9})
	pages := int(meta.Index.Len / extent.PageSize)
	said := make([]bool, pages)
	notice := func(page int, err error) {
		t.Helper()
		if err == nil {
			return
		}
		var c *Corrupt
		if !errors.As(err, &c) || c.Block != -1 {
			t.Fatalf("page %d: %v", page, err)
		}
		if at := int((c.Addr - meta.Index.Addr) / extent.PageSize); at == page {
			said[page] = true
		} else {
			t.Fatalf("damage of page %d is said to be in page %d", page, at)
		}
	}
	for page := range pages {
		for _, off := range []int64{0, 1234, extent.PageSize - 1} {
			addr := meta.Index.Addr + int64(page)*extent.PageSize
			sound := p.bytes(addr, extent.PageSize)
			bad := p.bytes(addr, extent.PageSize)
			bad[off] ^= 0x10
			p.put(addr, bad)
			if _, err := x.CheckIndex(); err == nil && (page > 0 || off >= 4) {
				t.Errorf("byte %d of page %d: CheckIndex finds nothing", off, page)
			}
			cache := newMapCache()
			var s Scratch
			for i := page % 7; i < len(all); i += 7 {
				ok, err := x.May(filter.Hash(all[i].Key), cache, &s)
				if notice(page, err); err == nil && !ok {
					t.Fatalf("page %d: the filter has lost %q", page, all[i].Key)
				}
				got, err := get(x, all[i].Key, message.MaxSeq, cache, &s)
				if notice(page, err); err == nil && (len(got) != 1 || !same(got[0], all[i])) {
					t.Fatalf("page %d: get %q: %v", page, all[i].Key, got)
				}
			}
			s.Close()
			it := x.Iter(IterOptions{Lo: all[9].Key, Hi: all[4000].Key})
			n := 9
			for ok := it.First(); ok; ok = it.Next() {
				if !same(it.Message(), all[n]) {
					t.Fatalf("page %d: a scan gives %q, want %q", page, it.Message().Key, all[n].Key)
				}
				n++
			}
			if notice(page, it.Err()); it.Err() == nil && n != 4000 {
				t.Fatalf("page %d: a scan ends at %d", page, n)
			}
			it.Close()
			p.put(addr, sound)
		}
	}
	for page, said := range said {
		if !said {
			t.Errorf("no read notices what rots in page %d of %d", page, pages)
		}
	}
	checkAll(t, x)
}

// The estimates for neighbouring ranges add up to the whole branch.
func TestSpansOfAPagedIndex(t *testing.T) {
	_, _, x, all := pagedBranch(t, 20_000)
	whole, blocks := x.Span(nil, nil)
	if blocks != x.n {
		t.Fatalf("everything is %d blocks of %d", blocks, x.n)
	}
	for _, cuts := range []int{2, 8, 24} {
		var sum int64
		var lo []byte
		for i := 1; i <= cuts; i++ {
			var hi []byte
			if i < cuts {
				hi = all[len(all)*i/cuts].Key
			}
			size, _ := x.Span(lo, hi)
			if fair := whole / int64(cuts); size < fair/2 || size > 2*fair {
				t.Errorf("range %d of %d has %d bytes, want about %d", i, cuts, size, fair)
			}
			sum += size
			lo = hi
		}
		if sum < whole-whole/20 || sum > whole+whole/20 {
			t.Errorf("%d ranges have %d bytes of %d", cuts, sum, whole)
		}
	}
	if size, _ := x.Span([]byte("zzz"), nil); size > whole/100 {
		t.Errorf("a range behind all keys has %d bytes", size)
	}
}

// Without memory a paged index returns ErrMemory, and keeps no memory.
func TestPagedIndexWithoutMemory(t *testing.T) {
	p, _, x, all := pagedBranch(t, 5000)
	var held [][]byte
	for n := 1 << 20; n >= 64; n /= 2 {
		for {
			b, ok := p.pool.Try(n)
			if !ok {
				break
			}
			held = append(held, b)
		}
	}
	var s Scratch
	if _, err := get(x, all[9].Key, message.MaxSeq, nil, &s); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
	if _, err := x.May(1, nil, &s); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
	it := x.Iter(IterOptions{Lo: all[9].Key})
	if it.First() || !errors.Is(it.(*Iterator).Err(), ErrMemory) {
		t.Error(it.Err())
	}
	it.Close()
	s.Close()
	for _, b := range held {
		p.pool.Free(b)
	}
	if got, err := get(x, all[9].Key, message.MaxSeq, nil, &s); err != nil || len(got) != 1 {
		t.Error(got, err)
	}
	s.Close()
}

// Paged indexes of many small parts, in which keys go on over blocks, answer
// every question as a sorted list does.
func TestPagedAgainstASortedList(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	key := func() []byte {
		k := make([]byte, 1+r.IntN(4))
		for i := range k {
			k[i] = 'a' + byte(r.IntN(3))
		}
		return k
	}
	for round := range 12 {
		var all []message.Message
		for range 300 {
			all = append(all, message.Message{
				Key: key(), Value: random(r.IntN(3000), r.Uint64()), Seq: message.Seq(1 + r.IntN(60)), Kind: message.Put,
			})
		}
		slices.SortFunc(all, message.Compare)
		all = slices.CompactFunc(all, func(a, b message.Message) bool { return message.Compare(a, b) == 0 })
		p := newPlace(t)
		o := p.options()
		o.Compression, o.Resident, o.partBlocks = None, 1, 1+round%5
		_, x := write(t, p, o, 1, all, message.RangeTombstone{Lo: []byte("a"), Hi: []byte("b"), Seq: 9})
		if !x.Paged() || x.n < 20 {
			t.Fatalf("%d blocks, in memory: %v", x.n, !x.Paged())
		}
		checkAll(t, x)
		var cache Cache
		if round%2 == 0 {
			cache = newMapCache()
		}
		var s Scratch
		for range 200 {
			k, at := key(), message.Seq(r.IntN(70))
			if r.IntN(9) == 0 {
				k = append(k, 'z')
			}
			from := sort.Search(len(all), func(i int) bool { return bytes.Compare(all[i].Key, k) >= 0 })
			var want []message.Message
			for i := from; i < len(all) && bytes.Equal(all[i].Key, k); i++ {
				if all[i].Seq <= at {
					want = append(want, all[i])
				}
			}
			if ok, err := x.May(filter.Hash(k), cache, &s); err != nil || !ok && len(want) > 0 {
				t.Fatalf("round %d: the filter on %q: %v, %v", round, k, ok, err)
			}
			got, err := get(x, k, at, cache, &s)
			if err != nil || !slices.EqualFunc(got, want, same) {
				t.Fatalf("round %d: get %q at %d: %d messages, want %d, %v", round, k, at, len(got), len(want), err)
			}
			it := x.Iter(IterOptions{Cache: cache, Prefetch: r.IntN(2) << 16})
			if ok := it.SeekGE(k); ok != (from < len(all)) || ok && !same(it.Message(), all[from]) {
				t.Fatalf("round %d: at or above %q is %q, %v", round, k, it.Message().Key, it.Err())
			}
			if ok := it.SeekLT(k); ok != (from > 0) || ok && !same(it.Message(), all[from-1]) {
				t.Fatalf("round %d: below %q is %q, %v", round, k, it.Message().Key, it.Err())
			}
			it.Close()
		}
		s.Close()
		for range 10 {
			lo, hi := key(), key()
			from := sort.Search(len(all), func(i int) bool { return bytes.Compare(all[i].Key, lo) >= 0 })
			to := max(from, sort.Search(len(all), func(i int) bool { return bytes.Compare(all[i].Key, hi) >= 0 }))
			compare(t, x, IterOptions{Cache: cache, Lo: lo, Hi: hi, Prefetch: 1 << 17}, all[from:to])
		}
		compare(t, x, IterOptions{Cache: cache}, all)
		x.Close()
	}
}
