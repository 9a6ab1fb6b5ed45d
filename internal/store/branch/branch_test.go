// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/filter"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
	"github.com/ashlar-dev/ashlar/sim"
)

// place is a data file and the allocator of its pages.
type place struct {
	t     testing.TB
	file  *countingFile
	pages *extent.Allocator
	pool  *slab.Pool
	fail  error  // of Alloc
	top   uint32 // runs go down from here, with gaps, and are not given back; 0: they go up
}

func newPlace(t testing.TB) *place { return newPlaceOf(t, 256<<20) }

func newPlaceOf(t testing.TB, memory int64) *place {
	t.Helper()
	f, err := sim.NewDisk().Open("DATA", true)
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, file: &countingFile{File: f}, pages: extent.New(16, 16), pool: slab.New(memory)}
	t.Cleanup(p.pool.Close) // which complains of what was not freed
	return p
}

func (p *place) Alloc(pages uint32) (r extent.Run, err error) {
	if p.fail != nil {
		return extent.Run{}, p.fail
	}
	if p.top > 0 {
		p.top -= pages + 1
		return extent.Run{Page: p.top, Pages: pages}, nil
	}
	r, ok := p.pages.Alloc(pages)
	if !ok {
		p.pages.Grow(p.pages.End() + pages)
		r, ok = p.pages.Alloc(pages)
	}
	if !ok {
		return r, errors.New("no pages")
	}
	return r, nil
}

func (p *place) Free(r extent.Run) { p.pages.Free(r) }

func (p *place) options() Options {
	return Options{File: p.file, Alloc: p, Pool: p.pool, WriteBytes: 64 << 10}
}

// countingFile counts and checks reads and writes as a direct file would.
type countingFile struct {
	env.File
	reads, writes  int
	read, written  int64
	failRead       error
	failWriteAfter int // writes until failure; 0: never
}

func (f *countingFile) ReadAt(b []byte, off int64) (int, error) {
	if len(b)%env.DirectUnit != 0 || off%env.DirectUnit != 0 {
		return 0, fmt.Errorf("read of %d bytes at %d is not direct", len(b), off)
	}
	f.reads++
	f.read += int64(len(b))
	if f.failRead != nil {
		return 0, f.failRead
	}
	return f.File.ReadAt(b, off)
}

func (f *countingFile) WriteAt(b []byte, off int64) (int, error) {
	if len(b)%env.DirectUnit != 0 || off%env.DirectUnit != 0 || len(b) > writeBytes {
		return 0, fmt.Errorf("write of %d bytes at %d is not direct", len(b), off)
	}
	if f.failWriteAfter > 0 {
		if f.failWriteAfter--; f.failWriteAfter == 0 {
			return 0, errDisk
		}
	}
	f.writes++
	f.written += int64(len(b))
	return f.File.WriteAt(b, off)
}

var errDisk = errors.New("the disk says no")

// mapCache is a Cache without bound.
type mapCache struct {
	blocks     map[[2]uint64][]byte
	gets, hits int
	puts       int
}

func newMapCache() *mapCache { return &mapCache{blocks: map[[2]uint64][]byte{}} }

func (c *mapCache) GetPart(branch uint64, block uint32, from int, dst []byte) bool {
	buf := make([]byte, 1<<20)
	n, ok := c.GetBlock(branch, block, buf)
	return ok && from <= n && copy(dst, buf[from:n]) == len(dst)
}

func (c *mapCache) GetBlock(branch uint64, block uint32, dst []byte) (int, bool) {
	c.gets++
	b, ok := c.blocks[[2]uint64{branch, uint64(block)}]
	if !ok || len(b) > len(dst) {
		return 0, false
	}
	c.hits++
	return copy(dst, b), true
}

func (c *mapCache) PutBlock(branch uint64, block uint32, b []byte) {
	c.puts++
	c.blocks[[2]uint64{branch, uint64(block)}] = bytes.Clone(b)
}

func write(t testing.TB, p *place, o Options, id uint64, messages []message.Message, tombs ...message.RangeTombstone) (Meta, *Index) {
	t.Helper()
	w, err := NewWriter(o, id, 7, len(messages))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if err := w.Add(m); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range tombs {
		if err := w.AddTombstone(s); err != nil {
			t.Fatal(err)
		}
	}
	meta, x, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return meta, x
}

func random(n int, seed uint64) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(b)
	return b
}

// records are n puts of keys of 24 bytes with values of that length.
func records(n, value int) []message.Message {
	all := random(n*value, 1)
	out := make([]message.Message, n)
	for i := range out {
		out[i] = message.Message{
			Key: fmt.Appendf(nil, "user%020d", i*3), Value: all[i*value : (i+1)*value], Seq: message.Seq(i + 1), Kind: message.Put,
		}
	}
	return out
}

func clone(m message.Message) message.Message {
	m.Key, m.Value = bytes.Clone(m.Key), bytes.Clone(m.Value)
	return m
}

func same(a, b message.Message) bool {
	return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value) && a.Seq == b.Seq && a.Kind == b.Kind
}

// get is the messages of one key.
func get(x *Index, key []byte, at message.Seq, c Cache, s *Scratch) ([]message.Message, error) {
	var out []message.Message
	err := x.Get(key, at, c, s, func(m message.Message) bool {
		out = append(out, clone(m))
		return true
	})
	return out, err
}

func may(t testing.TB, x *Index, hash uint64, c Cache) bool {
	t.Helper()
	var s Scratch
	defer s.Close()
	ok, err := x.May(hash, c, &s)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func checkAll(t testing.TB, x *Index) {
	t.Helper()
	var s Scratch
	defer s.Close()
	if n, err := x.CheckIndex(); err != nil || n != int64(x.loc.Len) {
		t.Fatalf("%d bytes of the index: %v", n, err)
	}
	for b := range x.Blocks() {
		if _, err := x.Check(b, nil, &s); err != nil {
			t.Fatalf("block %d: %v", b, err)
		}
	}
}

// compare walks the whole branch in both directions.
func compare(t testing.TB, x *Index, o IterOptions, want []message.Message) {
	t.Helper()
	it := x.Iter(o)
	defer it.Close()
	i := 0
	for ok := it.First(); ok; ok = it.Next() {
		if i >= len(want) || !same(it.Message(), want[i]) {
			t.Fatalf("forward, message %d: got %q at %d", i, it.Message().Key, it.Message().Seq)
		}
		i++
	}
	if it.Err() != nil || i != len(want) {
		t.Fatalf("forward: %d messages of %d, %v", i, len(want), it.Err())
	}
	for ok := it.Last(); ok; ok = it.Prev() {
		i--
		if i < 0 || !same(it.Message(), want[i]) {
			t.Fatalf("backward, message %d: got %q at %d", i, it.Message().Key, it.Message().Seq)
		}
	}
	if it.Err() != nil || i != 0 {
		t.Fatalf("backward: %d messages are left, %v", i, it.Err())
	}
}

func TestWriteAndRead(t *testing.T) {
	text := bytes.Repeat([]byte("a stone is cut to fit and needs no mortar. "), 20)
	for _, c := range []struct {
		name        string
		n, value    int
		text        bool
		compression Compression
		last        bool
	}{
		{name: "one", n: 1, value: 10},
		{name: "empty values", n: 3000, value: 0},
		{name: "small", n: 5000, value: 16},
		{name: "512 bytes", n: 3000, value: 512},
		{name: "1.5 KiB", n: 500, value: 1500},
		{name: "9 KiB", n: 60, value: 9000},
		{name: "16 KiB", n: 30, value: 16 << 10},
		{name: "40 KiB", n: 10, value: 40 << 10},
		{name: "1 MiB", n: 3, value: 1 << 20},
		{name: "text", n: 6000, value: 512, text: true},
		{name: "text, last level", n: 6000, value: 512, text: true, last: true},
		{name: "text, uncompressed", n: 1000, value: 512, text: true, compression: None},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			o := p.options()
			o.Compression, o.Last = c.compression, c.last
			want := records(c.n, c.value)
			if c.text {
				for i := range want {
					want[i].Value = text[i%len(text[:300]):][:c.value]
				}
			}
			meta, x := write(t, p, o, 3, want)
			defer x.Close()
			t.Logf("%d records of %d bytes: %d blocks in %d bytes, index %d bytes", c.n, c.value+24, meta.Blocks, meta.Bytes, x.Memory())
			if meta.Records != uint64(c.n) || meta.Puts != uint64(c.n) || meta.Keys != uint64(c.n) || meta.MinSeq != 1 ||
				meta.MaxSeq != message.Seq(c.n) || !bytes.Equal(meta.Lo, want[0].Key) || !bytes.Equal(meta.Hi, want[c.n-1].Key) {
				t.Errorf("meta: %+v", meta)
			}
			if packed := c.text && c.compression == Auto; packed != (meta.Bytes < uint64(c.n*c.value)*9/10) {
				t.Errorf("%d bytes in blocks of %d", c.n*(c.value+24), meta.Bytes)
			}
			checkAll(t, x)
			for _, resident := range []int64{0, 1} {
				o.Resident = resident
				reopened, err := OpenIndex(o, &meta)
				if err != nil {
					t.Fatal(err)
				}
				defer reopened.Close()
				checkReopened(t, reopened, want)
			}
		})
	}
}

func checkReopened(t *testing.T, reopened *Index, want []message.Message) {
	t.Helper()
	for _, o := range []IterOptions{{}, {Prefetch: 1 << 20}, {Prefetch: 1 << 17, Cache: newMapCache()}} {
		compare(t, reopened, o, want)
	}
	var s Scratch
	defer s.Close()
	cache := newMapCache()
	for i := 0; i < len(want); i += max(1, len(want)/200) {
		for range 2 {
			got, err := get(reopened, want[i].Key, message.MaxSeq, cache, &s)
			if err != nil || len(got) != 1 || !same(got[0], want[i]) {
				t.Fatalf("get %q: %d messages, %v", want[i].Key, len(got), err)
			}
		}
		for _, absent := range [][]byte{append(bytes.Clone(want[i].Key), 0), want[i].Key[:20]} {
			if got, err := get(reopened, absent, message.MaxSeq, cache, &s); err != nil || len(got) != 0 {
				t.Fatalf("get %q: %d messages, %v", absent, len(got), err)
			}
		}
		if !may(t, reopened, filter.Hash(want[i].Key), cache) {
			t.Fatalf("the filter does not know %q", want[i].Key)
		}
	}
}

// TestDensity checks the density for which the rule of closing blocks exists.
func TestDensity(t *testing.T) {
	for _, c := range []struct {
		value    int
		pages    int     // of each block but the last
		wasteMax float64 // of everything
	}{
		{512, 1, 0.09}, {100, 1, 0.05}, {1500 - 24, 2, 0.09}, {3000, 0, 0.10}, {9000, 0, 0.11},
	} {
		p := newPlace(t)
		want := records(2000, c.value)
		meta, x := write(t, p, p.options(), 1, want)
		waste := 1 - float64(2000*(24+c.value))/float64(meta.Bytes)
		t.Logf("value of %d bytes: %d blocks, overhead %.1f %%", c.value, meta.Blocks, waste*100)
		if waste > c.wasteMax {
			t.Errorf("values of %d bytes: %.1f %% overhead, want at most %.1f %%", c.value, waste*100, c.wasteMax*100)
		}
		if got := int(x.run(0).Pages); c.pages != 0 && got != c.pages {
			t.Errorf("values of %d bytes: block of %d pages, want %d", c.value, got, c.pages)
		}
		x.Close()
	}
}

func TestAColdGetIsOneRead(t *testing.T) {
	p := newPlace(t)
	want := records(3000, 512)
	_, x := write(t, p, p.options(), 1, want)
	defer x.Close()
	var s Scratch
	defer s.Close()
	cache := newMapCache()
	for i := range want {
		p.file.reads, p.file.read = 0, 0
		hits := cache.hits
		if got, err := get(x, want[i].Key, message.MaxSeq, cache, &s); err != nil || len(got) != 1 {
			t.Fatal(len(got), err)
		}
		switch {
		case cache.hits > hits && p.file.reads == 0:
		case cache.hits == hits && p.file.reads == 1 && p.file.read == 4096:
		default:
			t.Fatalf("record %d: %d reads of %d bytes, %d hits", i, p.file.reads, p.file.read, cache.hits-hits)
		}
	}
	if cache.puts != 429 { // seven records to a block
		t.Errorf("%d blocks were read, want 429", cache.puts)
	}
}

func TestPrefetchReadsOnce(t *testing.T) {
	p := newPlace(t)
	want := records(20_000, 512)
	meta, x := write(t, p, Options{File: p.file, Alloc: p, Pool: p.pool}, 1, want)
	defer x.Close()
	// beside runs a task like a store; the counts of the file are read when the
	// iterator is closed, which waits for the task.
	beside := func(task func()) { go task() }
	for _, c := range []struct {
		o         IterOptions
		most, all int64
		lo, hi    int
	}{
		{IterOptions{Prefetch: 1 << 20}, 17, int64(meta.Bytes), 0, 20_000},
		{IterOptions{Prefetch: 1 << 20, Go: beside}, 17, int64(meta.Bytes), 0, 20_000},
		{IterOptions{Prefetch: 1 << 20, Cache: newMapCache()}, 18, int64(meta.Bytes), 0, 20_000},
		{IterOptions{Prefetch: 1 << 20, Cache: newMapCache(), Eager: true, Go: beside}, 17, int64(meta.Bytes), 0, 20_000},
		{IterOptions{Prefetch: 64 << 10}, 190, int64(meta.Bytes), 0, 20_000},
		{IterOptions{}, 2858, int64(meta.Bytes), 0, 20_000},
		// Bounds: nothing beyond them is read, but the block at whose separator
		// Hi lies, which is shorter than the block's first key.
		{IterOptions{Prefetch: 1 << 20, Lo: want[700].Key, Hi: want[1400].Key}, 5, 101 * 4096, 700, 1400},
		{IterOptions{Prefetch: 1 << 20, Lo: want[701].Key, Hi: want[703].Key, Cache: newMapCache()}, 1, 4096, 701, 703},
	} {
		p.file.reads, p.file.read = 0, 0
		it := x.Iter(c.o)
		n := c.lo
		for ok := it.First(); ok; ok = it.Next() {
			if !same(it.Message(), want[n]) {
				t.Fatalf("record %d is another", n)
			}
			n++
		}
		it.Close()
		if n != c.hi || it.Err() != nil {
			t.Errorf("%+v: up to %d, %v", c.o, n, it.Err())
		}
		if int64(p.file.reads) > c.most || p.file.read != c.all {
			t.Errorf("prefetch %d: %d reads of %d bytes, want at most %d of %d", c.o.Prefetch, p.file.reads, p.file.read, c.most, c.all)
		}
		// One block alone, unless the walk is eager, and the two first reads.
		puts := 1 + 2*prefetchLeast/4096
		if c.o.Eager {
			puts--
		}
		if c.hi-c.lo < 10 {
			puts = 1
		}
		if mc, ok := c.o.Cache.(*mapCache); ok && mc.puts != puts {
			t.Errorf("a scan put %d blocks into the cache, want %d", mc.puts, puts)
		}
	}
}

func TestVersionsOfAKeyOverBlocks(t *testing.T) {
	p := newPlace(t)
	var all []message.Message
	add := func(key string, versions, first int) {
		for v := range versions {
			all = append(all, message.Message{
				Key: []byte(key), Value: random(300, uint64(v)), Seq: message.Seq(first + versions - v), Kind: message.Kind(1 + v%3),
			})
		}
	}
	add("a", 5, 100)
	add("b", 60, 1000) // over several blocks
	add("bb", 1, 5)
	add("c", 13, 200)
	add("d", 100, 2000)
	meta, x := write(t, p, p.options(), 1, all)
	defer x.Close()
	if meta.Keys != 5 || meta.Records != uint64(len(all)) {
		t.Errorf("%d keys, %d records", meta.Keys, meta.Records)
	}
	compare(t, x, IterOptions{Prefetch: 1 << 16}, all)
	checkAll(t, x)
	var s Scratch
	defer s.Close()
	for _, key := range []string{"", "a", "aa", "b", "ba", "bb", "c", "d", "e"} {
		for _, at := range []message.Seq{0, 3, 5, 103, 210, 1001, 1030, 1060, 2050, message.MaxSeq} {
			var want []message.Message
			for _, m := range all {
				if string(m.Key) == key && m.Seq <= at {
					want = append(want, m)
				}
			}
			got, err := get(x, []byte(key), at, nil, &s)
			if err != nil || !slices.EqualFunc(got, want, same) {
				t.Errorf("get %q at %d: %d messages, want %d, %v", key, at, len(got), len(want), err)
			}
		}
	}
	emitted := 0
	if err := x.Get([]byte("d"), message.MaxSeq, nil, &s, func(message.Message) bool { emitted++; return emitted < 2 }); err != nil || emitted != 2 {
		t.Errorf("emitted %d after enough was said, %v", emitted, err)
	}
}

// TestCompressionFollowsTheData changes between noise and text: samples must
// notice both.
func TestCompressionFollowsTheData(t *testing.T) {
	p := newPlace(t)
	all := records(20_000, 512)
	for i := range all {
		if i/5000%2 == 1 {
			all[i].Value = bytes.Repeat(all[i].Value[:32], 16)
		}
	}
	meta, x := write(t, p, p.options(), 1, all)
	defer x.Close()
	packed := 0
	for b := range x.n {
		if x.span(b)&spanPacked != 0 {
			packed++
		}
	}
	// Half of 11.7 MB is noise, and a MiB at each border may go either way.
	if meta.Bytes > 8_500_000 || packed < 80 || packed > 200 {
		t.Errorf("%d bytes, %d compressed blocks of %d", meta.Bytes, packed, x.n)
	}
	compare(t, x, IterOptions{Prefetch: 1 << 20}, all)
}
