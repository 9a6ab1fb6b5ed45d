// SPDX-License-Identifier: Apache-2.0

package table

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// super is a superblock with a value in every field.
func super() Superblock {
	return Superblock{
		UUID:    testUUID(),
		Seq:     41,
		Cut:     1<<55 + 9,
		Segment: 17,
		Chain:   Chain{Prev: 0xdeadbeef, Session: 0x1122334455667788},
		NextID:  1000,
		Pages:   70_000,
		Merger:  "counter.v1",
		Clean:   true,
		Chunks: []Chunk{
			{Loc{FirstPage * pageSize, 128 << 10, 0x01020304}, true, 30},
			{Loc{(FirstPage + 50) * pageSize, 4096, 0x05060708}, false, 31},
			{Loc{(70_000 - 2) * pageSize, 8192, 0x090a0b0c}, false, 41},
		},
		Epoch: 6,
		Life:  0x21436587a9cbed,
	}
}

// TestLivesDoNotMix: of two superblocks that differ in nothing but the life, no
// mixture of their sectors is valid.
func TestLivesDoNotMix(t *testing.T) {
	a, b := super(), super()
	b.Life++
	old, now := encoded(a), encoded(b)
	for mask := 1; mask < 255; mask++ {
		mixed := slices.Clone(old)
		for s := range 8 {
			if mask>>s&1 == 1 {
				copy(mixed[s*512:(s+1)*512], now[s*512:])
			}
		}
		if s, err := DecodeSuper(mixed); err == nil {
			t.Fatalf("sectors %08b of another life make %+v", mask, s)
		}
		putCRC(mixed, superCRC)
		if _, err := DecodeSuper(mixed); err == nil {
			t.Fatalf("sectors %08b of another life pass with the right checksum", mask)
		}
	}
}

func encoded(s Superblock) []byte {
	b := make([]byte, SuperSize)
	EncodeSuper(b, s)
	return b
}

// putCRC makes the checksum at off right.
func putCRC(b []byte, off int) { binary.LittleEndian.PutUint32(b[off:], checksumBut4(b, off)) }

func TestSuperblockComesBack(t *testing.T) {
	most := super()
	most.Chunks = nil
	for i := range uint64(ChunkCount) {
		most.Chunks = append(most.Chunks, Chunk{Loc{FirstPage * pageSize, chunkMax &^ 4095 >> 8, uint32(i)}, i == 0, i + 1})
	}
	most.Seq = ChunkCount
	most.Pages = 1<<32 - 1
	most.Merger = strings.Repeat("m", MergerMax)
	least := Superblock{Seq: 1, Pages: FirstPage}
	for name, want := range map[string]Superblock{"some": super(), "most": most, "least": least} {
		// What was in the buffer before does not shine through.
		b := slices.Repeat([]byte{0xff}, SuperSize)
		EncodeSuper(b, want)
		got, err := DecodeSuper(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s: want, got:\n%s", name, diff)
		}
	}
}

func TestEveryByteOfASuperblockCounts(t *testing.T) {
	good := encoded(super())
	for i := range good {
		for _, flip := range []byte{1, 0x80, 0xff} {
			bad := slices.Clone(good)
			bad[i] ^= flip
			var corrupt *Corrupt
			if _, err := DecodeSuper(bad); !errors.As(err, &corrupt) {
				t.Fatalf("byte %d changed by 0x%02x: %v", i, flip, err)
			}
		}
	}
}

func TestDecodeSuperRefusesWhatChecksumsDoNot(t *testing.T) {
	const first, second = superTable, superTable + superChunkSize
	for _, c := range []struct {
		name   string
		change func(b []byte)
		want   string
	}{
		{"magic", func(b []byte) { b[0] = 'B' }, `byte 0: want "ASHSUPER", found "BSHSUPER"`},
		{"version 0", func(b []byte) { b[superVersion] = 0 }, "byte 12: want version 1, found 0"},
		{"page size", func(b []byte) { b[superPageSize+1] = 0x20 }, "byte 92: want page size 4096, found 8192"},
		{"clean", func(b []byte) { b[superClean] = 2 }, "byte 88: want 0 or 1, found 2"},
		{"merger", func(b []byte) { b[superMergerLen] = 65 }, "byte 89: want at most 64, found 65"},
		{"merger's rest", func(b []byte) { b[superMerger+63] = 1 }, "byte 159: want zero, found 0x01"},
		{"chunks", func(b []byte) { b[superChunks] = 97 }, "byte 90: want at most 96, found 97"},
		{"unused chunk", func(b []byte) { b[superTable+3*superChunkSize] = 1 }, "byte 256: want zero, found 0x01"},
		{"rest", func(b []byte) { b[superRest] = 1 }, "byte 3236: want zero, found 0x01"},
		{"life", func(b []byte) { b[SuperSize-1] = 1 }, "byte 4089: want edcba987654321, as in the first sector, found edcba987654301"},
		{"seq", func(b []byte) { b[superSeq] = 0 }, "byte 32: want a positive number, found 0"},
		{"cut", func(b []byte) { b[superCut+7] = 1 }, "byte 40: want a message number below 2^56, found 108086391056891913"},
		{"pages", func(b []byte) { clear(b[superPages : superPages+4]) }, "byte 68: want at least 512 pages, found 0"},
		{"chunk kind", func(b []byte) { b[first+24] = 0 }, "byte 184: want chunk kind 1 or 2, found 0"},
		{"chunk reserved", func(b []byte) { b[first+31] = 5 }, "byte 191: want zero, found 0x05"},
		{"whole second", func(b []byte) { b[second+24] = 1 }, "byte 216: want the whole table first, then changes, found whole: true, as number 1"},
		{"chunk order", func(b []byte) { b[second+8] = 30 }, "byte 200: want a number above 30 and at most 41, found 30"},
		{"chunk of the future", func(b []byte) { b[second+8] = 42 }, "byte 200: want a number above 30 and at most 41, found 42"},
		{"chunk in a superblock", func(b []byte) { b[second+2] = 0x1f }, "byte 192: want the start of a page after the superblocks, found 2039808"},
		{"chunk within a page", func(b []byte) { b[second] = 1 }, "byte 192: want the start of a page after the superblocks, found 2301953"},
		{"chunk before the file", func(b []byte) { b[second+7] = 0x80 }, "byte 192: want the start of a page after the superblocks, found -9223372036852473856"},
		{"chunk length", func(b []byte) { b[second+16] = 1 }, "byte 208: want whole pages, at most 1073741824 bytes, found 4097"},
		{"no length", func(b []byte) { b[second+17] = 0 }, "byte 208: want whole pages, at most 1073741824 bytes, found 0"},
		{"chunk behind the file", func(b []byte) { b[second+6] = 0x70 }, "byte 192: want at least 4096 bytes before the end of the file at 286720000, found 31525197393895424"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := encoded(super())
			c.change(b)
			putCRC(b, superCRC)
			_, err := DecodeSuper(b)
			if want := "superblock, " + c.want; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
	_, err := DecodeSuper(make([]byte, 100))
	if want := "superblock, byte 0: want 4096 bytes, found 100"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// newer is a superblock as a later version might write it.
func newer() []byte {
	b := encoded(super())
	b[superVersion] = 3
	b[SuperSize-1] = 0xaa
	putCRC(b, superCRC)
	return b
}

func TestChoose(t *testing.T) {
	with := func(change func(s *Superblock)) []byte {
		s := super()
		change(&s)
		return encoded(s)
	}
	a41 := encoded(super())
	b42 := with(func(s *Superblock) {
		s.Seq = 42
		s.Chunks = s.Chunks[:1]
		for i := range uint64(12) { // more than fit into the first sector
			s.Chunks = append(s.Chunks, Chunk{s.Chunks[0].Loc, false, 31 + i})
		}
	})
	otherEnd := with(func(s *Superblock) { s.Cut++ })
	stranger := with(func(s *Superblock) { s.UUID[0]++; s.Seq = 50 })
	zeros := make([]byte, SuperSize)
	torn := slices.Concat(b42[:512], a41[512:])
	for _, c := range []struct {
		name  string
		a, b  []byte
		seq   uint64
		which int
		err   string
	}{
		{"larger in B", a41, b42, 42, 1, ""},
		{"larger in A", b42, a41, 42, 0, ""},
		{"only A", a41, zeros, 41, 0, ""},
		{"only B, A missing", nil, a41, 41, 1, ""},
		{"newer one torn", a41, torn, 41, 0, ""},
		{"twice the same", a41, a41, 41, 0, ""},
		{"same number, not the same", a41, otherEnd, 0, 0, "superblock in slot B, byte 8: want 0x"},
		{"two stores", a41, stranger, 0, 0, "superblock in slot B, byte 16: want store 73746f72652d666f722d746573747321, as in slot A, found 74746f72652d666f722d746573747321"},
		{"both bad", torn, zeros[:7], 0, 0, "no superblock is valid: slot A: superblock, byte 8: want checksum 0x"},
		{"both blank", zeros, zeros, 0, 0, "both superblocks are blank: there is no store"},
		{"no file", nil, nil, 0, 0, "both superblocks are blank: there is no store"},
		{"newer version in B", a41, newer(), 0, 1, "slot B: superblock: written in format version 3; this program reads versions up to 2: use a newer program"},
		{"newer version in A", newer(), b42, 0, 0, "slot A: superblock: written in format version 3; this program reads versions up to 2: use a newer program"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, which, err := Choose(c.a, c.b)
			if c.err == "" && (err != nil || s.Seq != c.seq || which != c.which) {
				t.Errorf("got %d in %d, %v, want %d in %d", s.Seq, which, err, c.seq, c.which)
			}
			if c.err != "" && (err == nil || !strings.HasPrefix(err.Error(), c.err) || which != c.which) {
				t.Errorf("got  %d, %v\nwant %d, %s", which, err, c.which, c.err)
			}
		})
	}
	_, _, err := Choose(torn, zeros[:7])
	if want := `slot B: superblock, byte 0: want 4096 bytes, found 7`; !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want the end %s", err, want)
	}
	if _, _, err := Choose(zeros, nil); !errors.Is(err, ErrBlank) {
		t.Errorf("blank: %v", err)
	}
}

func TestEncodeSuperRefusesOurBugs(t *testing.T) {
	for name, change := range map[string]func(s *Superblock){
		"merger": func(s *Superblock) { s.Merger = strings.Repeat("x", 65) },
		"chunks": func(s *Superblock) { s.Chunks = make([]Chunk, 97) },
		"seq":    func(s *Superblock) { s.Seq = 0 },
	} {
		s := super()
		change(&s)
		t.Run(name, func(t *testing.T) { mustPanic(t, "invariant: superblock", func() { encoded(s) }) })
	}
}
