// SPDX-License-Identifier: Apache-2.0

package table

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func testUUID() [16]byte { return [16]byte([]byte("store-for-tests!")) }

// body is n bytes that differ from those of other numbers.
func body(n int, salt uint64) []byte {
	b := make([]byte, n)
	x := salt*0x9e3779b97f4a7c15 + 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	return b
}

func sortedValues(m map[uint64]Object) []Object {
	return slices.SortedFunc(maps.Values(m), func(a, b Object) int { return cmp.Compare(a.ID, b.ID) })
}

// equalObjects compares and does not distinguish nil from empty bodies.
func equalObjects(a, b []Object) bool {
	return slices.EqualFunc(a, b, func(a, b Object) bool {
		return a.ID == b.ID && a.Kind == b.Kind && a.Epoch == b.Epoch && bytes.Equal(a.Body, b.Body)
	})
}

// TestAgainstAMap drives a table, writes chunks, and reads them into other
// tables: at each chunk the objects are those of a plain map.
func TestAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			table   = New(testUUID())
			read    = New(testUUID())
			model   = map[uint64]Object{}
			seq     uint64
			written [][]byte
		)
		put := func(t *rapid.T) {
			size := rapid.OneOf(rapid.IntRange(0, 200), rapid.IntRange(0, 70_000)).Draw(t, "size")
			o := Object{
				ID:    rapid.Uint64Range(1, 12).Draw(t, "id"),
				Kind:  Kind(rapid.IntRange(1, 3).Draw(t, "kind")),
				Epoch: rapid.Uint64().Draw(t, "epoch"),
				Body:  body(size, rapid.Uint64().Draw(t, "salt")),
			}
			given := o
			given.Body = slices.Clone(o.Body)
			table.Put(given)
			clear(given.Body) // the table has its own copy
			model[o.ID] = o
		}
		drop := func(t *rapid.T) {
			if len(model) == 0 {
				t.Skip("empty")
			}
			id := rapid.SampledFrom(slices.Sorted(maps.Keys(model))).Draw(t, "id")
			table.Drop(id)
			delete(model, id)
		}
		full := func(t *rapid.T) {
			seq += rapid.Uint64Range(1, 3).Draw(t, "step")
			size := table.Size()
			chunk := table.Full(nil, seq)
			if len(chunk) != size {
				t.Fatalf("Size() = %d, Full has %d bytes", size, len(chunk))
			}
			written = [][]byte{chunk}
			read = New(testUUID())
			if err := read.Apply(chunk, seq); err != nil {
				t.Fatal(err)
			}
		}
		delta := func(t *rapid.T) {
			if seq == 0 {
				t.Skip("nothing to follow")
			}
			seq += rapid.Uint64Range(1, 3).Draw(t, "step")
			size := table.DeltaSize()
			front := []byte("front")
			out := table.Delta(front, seq)
			chunk := out[len(front):]
			if len(chunk) != size || string(out[:len(front)]) != "front" {
				t.Fatalf("DeltaSize() = %d, Delta appended %d bytes", size, len(chunk))
			}
			written = append(written, chunk)
			if err := read.Apply(chunk, seq); err != nil {
				t.Fatal(err)
			}
			clear(out) // what was applied is not kept
		}
		check := func(t *rapid.T) {
			want := sortedValues(model)
			if got := table.Objects(); !equalObjects(got, want) {
				t.Fatalf("objects: %v, want %v", got, want)
			}
			if table.Len() != len(want) {
				t.Fatalf("Len() = %d, want %d", table.Len(), len(want))
			}
			for id := range uint64(14) {
				got, ok := table.Get(id)
				want, wantOK := model[id]
				if ok != wantOK || !equalObjects([]Object{got}, []Object{want}) {
					t.Fatalf("Get(%d) = %v, %v, want %v, %v", id, got, ok, want, wantOK)
				}
			}
			if table.Changed() {
				return
			}
			if got := read.Objects(); !equalObjects(got, want) {
				t.Fatalf("read back: %v, want %v", got, want)
			}
			if read.Size() != table.Size() || read.DeltaSize() != pageSize || table.DeltaSize() != pageSize {
				t.Fatalf("sizes %d, %d, want %d, %d", read.Size(), read.DeltaSize(), table.Size(), pageSize)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": put, "putAgain": put, "drop": drop, "full": full, "delta": delta, "": check,
		})
		// One state has one encoding, whatever led to it.
		again := New(testUUID())
		for _, o := range slices.Backward(sortedValues(model)) {
			again.Put(o)
		}
		if !bytes.Equal(again.Full(nil, seq+1), table.Full(nil, seq+1)) {
			t.Fatal("the same objects have two encodings")
		}
	})
}

// three returns a table of some objects and the chunks that lead to it.
func three() (*Table, [][]byte) {
	table := New(testUUID())
	for id := uint64(1); id <= 5; id++ {
		table.Put(Object{ID: id, Kind: Branch, Epoch: id + 7, Body: body(int(id)*100, id)})
	}
	table.Put(Object{ID: 6, Kind: Root, Epoch: 1, Body: body(70_000, 6)})
	chunks := [][]byte{table.Full(nil, 10)}
	table.Drop(2)
	table.Put(Object{ID: 7, Kind: Node, Epoch: 2, Body: []byte("seven")})
	chunks = append(chunks, table.Delta(nil, 11))
	table.Drop(6)
	table.Put(Object{ID: 1, Kind: Branch, Epoch: 3})
	return table, append(chunks, table.Delta(nil, 14))
}

func TestChunksFollowEachOther(t *testing.T) {
	want, chunks := three()
	seqs := []uint64{10, 11, 14}
	got := New(testUUID())
	for i, c := range chunks {
		if err := got.Apply(c, seqs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if diff := gocmp.Diff(want.Objects(), got.Objects()); diff != "" {
		t.Fatalf("want, got:\n%s", diff)
	}

	other := New(testUUID())
	other.Put(Object{ID: 1, Kind: Branch, Body: []byte("other")})
	otherFull := other.Full(nil, 10)
	other.Put(Object{ID: 2, Kind: Branch})
	otherDelta := other.Delta(nil, 11)
	for _, c := range []struct {
		name   string
		before int // chunks applied before
		chunk  []byte
		seq    uint64
		want   string
	}{
		{"skipped", 1, chunks[2], 14, "table chunk 14, byte 56: want predecessor 10, found 11"},
		{"repeated", 2, chunks[1], 11, "table chunk 11, byte 32: want a number above 11, found 11"},
		{"of another life", 1, otherDelta, 11, "table chunk 11, byte 52: want a predecessor with checksum 0x"},
		{"another number", 1, chunks[1], 12, "table chunk 12, byte 32: want number 12, found 11"},
		{"changes of nothing", 0, chunks[1], 11, "table chunk 11, byte 10: want a whole table, found changes"},
		{"whole again", 1, otherFull, 10, "table chunk 10, byte 32: want a number above 10, found 10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := New(testUUID())
			for i, c := range chunks[:c.before] {
				if err := got.Apply(c, seqs[i]); err != nil {
					t.Fatal(err)
				}
			}
			before := got.Objects()
			var corrupt *Corrupt
			err := got.Apply(c.chunk, c.seq)
			if !errors.As(err, &corrupt) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("Apply = %v, want %s", err, c.want)
			}
			if diff := gocmp.Diff(before, got.Objects()); diff != "" {
				t.Errorf("a refused chunk changed the table:\n%s", diff)
			}
		})
	}

	stranger := New([16]byte{1})
	if err := stranger.Apply(chunks[0], 10); err == nil || !strings.Contains(err.Error(), "want store 01") {
		t.Errorf("another store's table: %v", err)
	}
}

// TestEveryByteOfAChunkCounts flips each byte of chunks in turn.
func TestEveryByteOfAChunkCounts(t *testing.T) {
	_, chunks := three()
	base := New(testUUID())
	if err := base.Apply(chunks[0], 10); err != nil {
		t.Fatal(err)
	}
	for i := range chunks[1] {
		bad := slices.Clone(chunks[1])
		bad[i] ^= 0x10
		var corrupt *Corrupt
		if err := base.Apply(bad, 11); !errors.As(err, &corrupt) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
	for i := 0; i < len(chunks[0]); i += 97 {
		bad := slices.Clone(chunks[0])
		bad[i] ^= 1
		if New(testUUID()).Apply(bad, 10) == nil {
			t.Fatalf("byte %d changed and not noticed", i)
		}
	}
	for n := 0; n < len(chunks[0]); n += 512 {
		if New(testUUID()).Apply(chunks[0][:n], 10) == nil {
			t.Fatalf("cut to %d bytes and not noticed", n)
		}
	}
}

// reseal changes a chunk of one page and makes its checksum right again.
func reseal(chunk []byte, change func(page []byte)) []byte {
	page := slices.Clone(chunk)
	change(page)
	putCRC(page, pageCRC)
	return page
}

func TestApplyRefusesWhatChecksumsDoNot(t *testing.T) {
	_, chunks := three()
	base := New(testUUID())
	if err := base.Apply(chunks[0], 10); err != nil {
		t.Fatal(err)
	}
	delta := chunks[1] // drop 2, put 7
	const second = pageHeader + entryHeader
	for _, c := range []struct {
		name   string
		change func(p []byte)
		want   string
	}{
		{"magic", func(p []byte) { p[0] = 'B' }, `byte 0: want "ASHT", found "BSHT"`},
		{"version 0", func(p []byte) { p[pageVersion] = 0 }, "byte 8: want version 1, found 0"},
		{"kind", func(p []byte) { p[pageKind] = 3 }, "byte 10: want chunk kind 1 or 2, found 3"},
		{"no number", func(p []byte) { p[pageSeq] = 0 }, "byte 32: want a positive number, found 0"},
		{"its own predecessor", func(p []byte) { p[pagePrevSeq] = 11 }, "byte 56: want a predecessor of at least 1 and below 11, found 11"},
		{"no predecessor", func(p []byte) { p[pagePrevSeq] = 0 }, "byte 56: want a predecessor of at least 1 and below 11, found 0"},
		{"whole with predecessor", func(p []byte) { p[pageKind] = 1 }, "byte 56: want predecessor 0, found 10"},
		{"reserved", func(p []byte) { p[11] = 1 }, "byte 11: want zero, found 0x01"},
		{"used", func(p []byte) { p[pageUsed+1] = 0xff }, "byte 12: want a count of used bytes that needs a page of 4096, found 65333"},
		{"page", func(p []byte) { p[pageNumber] = 1 }, "byte 40: want page 0, found 1"},
		{"pages", func(p []byte) { p[pageCount] = 2 }, "byte 44: want pages 1, found 2"},
		{"padding", func(p []byte) { p[4095] = 1 }, "byte 4095: want zero, found 0x01"},
		{"fewer entries", func(p []byte) { p[pageEntries] = 1 }, "byte 48: want entries 2, found 1"},
		{"too many entries", func(p []byte) { p[pageEntries+3] = 0xff }, "byte 48: want entries that fit into 53 bytes, found 4278190082"},
		{"order", func(p []byte) { p[second] = 2 }, "byte 88: want an id above 2, found 2"},
		{"no id", func(p []byte) { p[pageHeader] = 0 }, "byte 64: want an id above 0, found 0"},
		{"unknown drop", func(p []byte) { p[pageHeader] = 0; p[pageHeader+1] = 1; p[second+2] = 1 }, "byte 64: want object 256 in the table, because this chunk drops it, found none"},
		{"dropped epoch", func(p []byte) { p[pageHeader+entryEpoch] = 9 }, "byte 72: want epoch 0, found 9"},
		{"dropped length", func(p []byte) { p[pageHeader+entryLen] = 1 }, "byte 80: want length 0, found 1"},
		{"object kind", func(p []byte) { p[second+entryKind] = 9 }, "byte 108: want a known kind of object, found 9"},
		{"entry reserved", func(p []byte) { p[second+entryKind+2] = 9 }, "byte 110: want zero, found 0x09"},
		{"length", func(p []byte) { p[second+entryLen+3] = 0x7f }, "byte 104: want a length of at most 5, found 2130706437"},
		{"shorter", func(p []byte) { p[second+entryLen] = 4 }, "byte 116: want an entry of at least 24 bytes, found 1"},
		{"whole with drops", func(p []byte) { p[pageKind] = 1; clear(p[pagePrevCRC:pageHeader]) }, "byte 10: want changes of chunk 10, found a whole table"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := base.Apply(reseal(delta, c.change), 11)
			want := "table chunk 11, " + c.want
			if err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
	whole := reseal(delta, func(p []byte) { p[pageKind] = 1; clear(p[pagePrevCRC:pageHeader]) })
	err := New(testUUID()).Apply(whole, 11)
	if want := "table chunk 11, byte 84: want an object, because this is a whole table, found a dropped object"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	newer := reseal(delta, func(p []byte) { p[pageVersion] = 2; p[pageKind] = 77 })
	err = base.Apply(newer, 11)
	var version *VersionError
	if !errors.As(err, &version) || *version != (VersionError{Part: "table chunk 11", Found: 2, Known: 1}) {
		t.Errorf("a newer version: %v", err)
	}
	if err := base.Apply(delta, 11); err != nil {
		t.Errorf("after all refusals: %v", err)
	}
}

// A chunk of one store's pages in the order of another one's is noticed.
func TestPagesOfTwoChunks(t *testing.T) {
	make3 := func(seq uint64) []byte {
		table := New(testUUID())
		table.Put(Object{ID: 1, Kind: Branch, Body: body(3*pageMax, seq)})
		return table.Full(nil, seq)
	}
	a, b := make3(5), make3(6)
	if len(a) <= 3*pageMax {
		t.Fatalf("a chunk of %d bytes, want more than three pages", len(a))
	}
	mixed := slices.Concat(a[:pageMax], b[pageMax:])
	err := New(testUUID()).Apply(mixed, 5)
	if want := "table chunk 5, byte 65536: want the same header as the previous page, found another one"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	swapped := slices.Concat(a[:pageMax], a[2*pageMax:3*pageMax], a[pageMax:2*pageMax], a[3*pageMax:])
	err = New(testUUID()).Apply(swapped, 5)
	if want := "table chunk 5, byte 65576: want page 1, found 2"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err := New(testUUID()).Apply(a, 5); err != nil {
		t.Error(err)
	}
}

// The checksum of a chunk, by which the next one names it, runs over pages that
// have their own: it must differ all the same where their contents do.
func TestChecksumsOfChunksDiffer(t *testing.T) {
	seen := map[uint32]int{}
	const n = 2000
	for i := range n {
		table := New(testUUID())
		table.Put(Object{ID: 1, Kind: Branch, Body: body(100+i%2*pageSize, uint64(i))})
		sum := Checksum(table.Full(nil, 1))
		if other, twice := seen[sum]; twice {
			t.Fatalf("chunks %d and %d have the same checksum 0x%08x", other, i, sum)
		}
		seen[sum] = i
	}
}

// Lengths around the ends of pages: an entry's header in two pages, a stream
// that fills its pages.
func TestPageBorders(t *testing.T) {
	for _, size := range []int{
		0, 1, pageSize - pageHeader - 2*entryHeader - 1, pageSize - pageHeader - 2*entryHeader, pageSize - pageHeader - 2*entryHeader + 1,
		payload - entryHeader - 1, payload - entryHeader, payload - entryHeader - 12, payload - 2*entryHeader,
		payload - 2*entryHeader + 1, 2*payload - 2*entryHeader, 2*payload - entryHeader - 7,
	} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			table := New(testUUID())
			table.Put(Object{ID: 1, Kind: Branch, Body: body(size, 1)})
			table.Put(Object{ID: 2, Kind: Node, Body: nil})
			size := table.Size()
			chunk := table.Full(make([]byte, 0, 10), 1)
			if len(chunk) != size {
				t.Errorf("Size() = %d, Full has %d", size, len(chunk))
			}
			got := New(testUUID())
			if err := got.Apply(chunk, 1); err != nil {
				t.Fatal(err)
			}
			if !equalObjects(got.Objects(), table.Objects()) {
				t.Error("other objects came back")
			}
		})
	}
}

func TestLoad(t *testing.T) {
	want, chunks := three()
	at := map[int64][]byte{}
	s := super()
	s.Chunks = nil
	addr := int64(FirstPage * pageSize)
	for i, c := range chunks {
		s.Chunks = append(s.Chunks, Chunk{Loc{addr, uint32(len(c)), Checksum(c)}, i == 0, []uint64{10, 11, 14}[i]})
		at[addr] = c
		addr += int64(len(c))
	}
	s.NextID = 7
	read := func(l Loc) ([]byte, error) { return at[l.Addr], nil }
	got, err := Load(s, read)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want.Objects(), got.Objects()); diff != "" {
		t.Fatalf("want, got:\n%s", diff)
	}

	fail := func(name, want string, s Superblock, read func(Loc) ([]byte, error)) {
		t.Helper()
		if _, err := Load(s, read); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
	low := s
	low.NextID = 6
	fail("next id", "superblock, byte 72: want at least 7, because an object has that id, found 6", low, read)
	fail("read error", "table chunk 10: no luck", s, func(Loc) ([]byte, error) { return nil, errors.New("no luck") })
	fail("short", "table chunk 10 at 2097152, byte 0: want length 73728, found 5", s, func(Loc) ([]byte, error) { return make([]byte, 5), nil })
	late := s
	late.Chunks = slices.Clone(s.Chunks)
	late.Chunks[1].Seq = 12
	fail("another number", "table chunk 12, byte 32: want number 12, found 11", late, read)
	// A chunk as good as the right one, but one that the superblock does not
	// mean.
	other := New(testUUID())
	stale := other.Full(nil, 10)
	fail("stale", "table chunk 10 at 2097152, byte 0: want checksum 0x", func() Superblock {
		s := s
		s.Chunks = slices.Clone(s.Chunks)
		s.Chunks[0].Len = uint32(len(stale))
		return s
	}(), func(Loc) ([]byte, error) { return stale, nil })
}

func TestMisuse(t *testing.T) {
	mustPanic(t, "is not in the table", func() { New(testUUID()).Drop(3) })
	mustPanic(t, "object 0", func() { New(testUUID()).Put(Object{Kind: Branch}) })
	mustPanic(t, "kind 0", func() { New(testUUID()).Put(Object{ID: 1}) })
	mustPanic(t, "before the whole table was written", func() { New(testUUID()).Delta(nil, 1) })
	table, _ := three()
	mustPanic(t, "table: chunk 14 after chunk 14", func() { table.Full(nil, 14) })
	table.Drop(1)
	mustPanic(t, "unwritten changes", func() { table.Apply(nil, 15) })
}

func TestKinds(t *testing.T) {
	for k, want := range map[Kind]string{0: "kind 0", Branch: "branch", Node: "node", Root: "root", 4: "kind 4"} {
		if k.String() != want || k.Valid() == strings.HasPrefix(want, "kind") {
			t.Errorf("%v, valid %v, want %s", k, k.Valid(), want)
		}
	}
}

func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
			t.Errorf("panic %q, want one with %q", got, want)
		}
	}()
	f()
}
