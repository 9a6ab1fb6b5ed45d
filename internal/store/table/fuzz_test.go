// SPDX-License-Identifier: Apache-2.0

package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// known fails unless err is nil or of a kind that decoders promise.
func known(t *testing.T, err error) {
	t.Helper()
	var corrupt *Corrupt
	var version *VersionError
	if err != nil && !errors.As(err, &corrupt) && !errors.As(err, &version) {
		t.Fatalf("an error of another kind: %v", err)
	}
}

// trimmed takes the zeros off the end, padded fills up a page: the fuzzer does
// better with short inputs.
func trimmed(b []byte) []byte { return bytes.TrimRight(b, "\x00") }

func padded(b []byte) []byte {
	out := make([]byte, max(1, (len(b)+pageSize-1)/pageSize)*pageSize)
	copy(out, b)
	return out
}

// FuzzDecodeSuper: bytes are refused, or are what the decoded superblock
// encodes to. A second look gives them a right beginning and checksum.
func FuzzDecodeSuper(f *testing.F) {
	f.Add(trimmed(encoded(super())))
	f.Add(trimmed(encoded(Superblock{Seq: 1, Pages: FirstPage})))
	f.Add(newer())
	f.Add([]byte{})
	f.Add([]byte(superMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		look := func(b []byte) {
			s, err := DecodeSuper(b)
			known(t, err)
			if err == nil && !bytes.Equal(encoded(s), b) {
				t.Fatalf("decoded to %+v, which has another encoding", s)
			}
		}
		look(b)
		sealed := padded(b[:min(len(b), SuperSize)])
		look(sealed)
		copy(sealed, superMagic)
		putCRC(sealed, superCRC)
		look(sealed)
	})
}

// FuzzChoose flips a byte of none, one or both of two superblocks.
func FuzzChoose(f *testing.F) {
	f.Add(uint64(41), uint64(42), uint16(0), uint16(0), byte(0), byte(0))
	f.Add(uint64(43), uint64(42), uint16(33), uint16(0), byte(1), byte(0))
	f.Add(uint64(44), uint64(44), uint16(8), uint16(4095), byte(3), byte(7))
	f.Add(uint64(44), uint64(44), uint16(100), uint16(200), byte(0), byte(0))
	f.Fuzz(func(t *testing.T, seqA, seqB uint64, atA, atB uint16, flipA, flipB byte) {
		slot := func(seq uint64, at uint16, flip byte) []byte {
			s := super()
			s.Seq = max(seq, s.Seq)
			b := encoded(s)
			b[int(at)%len(b)] ^= flip
			return b
		}
		s, which, err := Choose(slot(seqA, atA, flipA), slot(seqB, atB, flipB))
		seqA, seqB = max(seqA, super().Seq), max(seqB, super().Seq)
		want, wantSeq := -1, uint64(0)
		if flipA == 0 {
			want, wantSeq = 0, seqA
		}
		if flipB == 0 && (want < 0 || seqB > wantSeq) {
			want, wantSeq = 1, seqB
		}
		if (err == nil) != (want >= 0) || err == nil && (which != want || s.Seq != wantSeq) {
			t.Fatalf("chose %d of slot %d, %v, want %d of slot %d", s.Seq, which, err, wantSeq, want)
		}
	})
}

// applied returns a table after the chunk, when it takes it, and fails the test
// unless the same changes, made by calls, give the same chunk.
func applied(t *testing.T, base func() *Table, chunk []byte, seq uint64) {
	table := base()
	before := table.Objects()
	err := table.Apply(chunk, seq)
	known(t, err)
	if err != nil {
		if !equalObjects(before, table.Objects()) || table.Changed() {
			t.Fatal("a refused chunk changed the table")
		}
		return
	}
	head, stream, err := readChunk(chunk, "chunk")
	if err != nil {
		t.Fatal(err)
	}
	changes, err := readChanges(stream, head, "chunk")
	if err != nil {
		t.Fatal(err)
	}
	again := base()
	for _, ch := range changes {
		if ch.drop {
			again.Drop(ch.object.ID)
		} else {
			again.Put(ch.object)
		}
	}
	var want []byte
	if head.kind == chunkFull {
		want = again.Full(nil, seq)
	} else {
		want = again.Delta(nil, seq)
	}
	if !bytes.Equal(want, chunk) || !equalObjects(again.Objects(), table.Objects()) || again.Size() != table.Size() {
		t.Fatal("the same changes have two encodings or two effects")
	}
}

// bases are the tables that a whole table and changes can be applied to.
func bases() []func() *Table {
	_, full, _, _, _ := goldenTable()
	return []func() *Table{
		func() *Table { return New(testUUID()) },
		func() *Table {
			t := New(testUUID())
			if err := t.Apply(full, 30); err != nil {
				panic(err)
			}
			return t
		},
	}
}

// seal gives the pages of a chunk right beginnings and checksums.
func seal(chunk []byte) []byte {
	for off := 0; off < len(chunk); off += pageMax {
		page := chunk[off:min(off+pageMax, len(chunk))]
		copy(page, chunkMagic)
		putCRC(page, pageCRC)
	}
	return chunk
}

// FuzzApply gives chunks as they are but for padding, and once more sealed.
func FuzzApply(f *testing.F) {
	_, _, delta, _, _ := goldenTable()
	small := New(testUUID())
	small.Put(Object{ID: 9, Kind: Node, Epoch: 4, Body: []byte("nine")})
	f.Add(trimmed(delta), uint64(31))
	f.Add(trimmed(small.Full(nil, 31)), uint64(31))
	f.Add(trimmed(New(testUUID()).Full(nil, 31)), uint64(31))
	f.Add([]byte{}, uint64(0))
	from := bases()
	f.Fuzz(func(t *testing.T, b []byte, seq uint64) {
		for _, base := range from {
			applied(t, base, padded(b), seq)
			applied(t, base, seal(padded(b)), seq)
		}
	})
}

// FuzzEdits changes single bytes of good chunks, one of them of two pages: of
// four bytes of edits, three are a place and one is what is flipped there.
func FuzzEdits(f *testing.F) {
	f.Add(byte(0), []byte{})
	f.Add(byte(1), []byte{})
	f.Add(byte(2), []byte{0, 0, 32, 1})
	f.Add(byte(3), []byte{pageUsed, 0, 0, 1, 70, 0, 0, 1})
	f.Add(byte(4), []byte{})
	_, whole, delta, _, _ := goldenTable()
	from := bases()
	f.Fuzz(func(t *testing.T, how byte, edits []byte) {
		chunk, seq, base := slices.Clone(whole), uint64(30), from[0]
		if how&1 != 0 {
			chunk, seq, base = slices.Clone(delta), 31, from[1]
		}
		for ; len(edits) >= 4; edits = edits[4:] {
			at := int(edits[0]) | int(edits[1])<<8 | int(edits[2])<<16
			chunk[at%len(chunk)] ^= edits[3]
		}
		if how&2 != 0 {
			seal(chunk)
		}
		if how&4 != 0 {
			chunk = chunk[:len(chunk)-pageSize]
		}
		applied(t, base, chunk, seq)
	})
}

// FuzzEntries puts any bytes as entries into pages that are as they must be.
func FuzzEntries(f *testing.F) {
	for _, n := range []int{1, 3} {
		table := New(testUUID())
		for i := range n {
			table.Put(Object{ID: uint64(i + 1), Kind: Branch, Epoch: 9, Body: body(i*20, 1)})
		}
		chunk := table.Full(nil, 1)
		f.Add(chunk[pageHeader:][:binary.LittleEndian.Uint32(chunk[pageUsed:])], uint32(n), true)
	}
	_, _, delta, _, _ := goldenTable()
	f.Add(delta[pageHeader:][:binary.LittleEndian.Uint32(delta[pageUsed:])], uint32(3), false)
	f.Add([]byte{}, uint32(0), false)
	f.Add(make([]byte, entryHeader), uint32(1), false)
	from := bases()
	f.Fuzz(func(t *testing.T, stream []byte, entries uint32, whole bool) {
		base, head := from[1], chunkHead{kind: chunkDelta, uuid: testUUID(), seq: 31, entries: entries}
		state := base()
		head.prevSeq, head.prevCRC = state.seq, state.link
		if whole {
			base, head.kind, head.prevSeq, head.prevCRC = from[0], chunkFull, 0, 0
		}
		chunk := make([]byte, chunkSize(len(stream)))
		scatter(chunk, 0, stream)
		pages := (len(chunk) + pageMax - 1) / pageMax
		for i := range pages {
			sealPage(chunk[i*pageMax:min((i+1)*pageMax, len(chunk))], head, i, pages, min(payload, len(stream)-i*payload))
		}
		applied(t, base, chunk, 31)
	})
}

func BenchmarkDecodeSuper(b *testing.B) {
	s := super()
	s.Chunks = s.Chunks[:1]
	for i := range uint64(10) {
		s.Chunks = append(s.Chunks, Chunk{s.Chunks[0].Loc, false, 31 + i})
	}
	block := encoded(s)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeSuper(block); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoad opens the table of a small store and of one of about a
// terabyte.
func BenchmarkLoad(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
	}{{"10", 10}, {"16000", 16_000}} {
		b.Run(c.name, func(b *testing.B) {
			table := New(testUUID())
			for i := range c.n {
				table.Put(Object{ID: uint64(i + 1), Kind: Branch, Epoch: 1, Body: body(250, uint64(i))})
			}
			chunk := table.Full(nil, 1)
			s := Superblock{UUID: testUUID(), Seq: 1, Pages: 1 << 20, NextID: uint64(c.n) + 1}
			s.Chunks = []Chunk{{Loc{FirstPage * pageSize, uint32(len(chunk)), Checksum(chunk)}, true, 1}}
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Load(s, func(Loc) ([]byte, error) { return chunk, nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDelta writes ten changes of a table of 16,000 objects.
func BenchmarkDelta(b *testing.B) {
	table := New(testUUID())
	for i := range 16_000 {
		table.Put(Object{ID: uint64(i + 1), Kind: Branch, Epoch: 1, Body: body(250, uint64(i))})
	}
	buf := table.Full(nil, 1)
	change := body(250, 7)
	b.ReportAllocs()
	for i := uint64(2); b.Loop(); i++ {
		for j := range uint64(10) {
			table.Put(Object{ID: 1 + (i*10+j)%16_000, Kind: Branch, Epoch: i, Body: change})
		}
		buf = table.Delta(buf[:0], i)
	}
}
