// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// bytes reads what is in the file, and put writes it.
func (p *place) bytes(addr int64, n int) []byte {
	b := make([]byte, n)
	if _, err := p.file.File.ReadAt(b, addr); err != nil {
		p.t.Fatal(err)
	}
	return b
}

func (p *place) put(addr int64, b []byte) {
	if _, err := p.file.File.WriteAt(b, addr); err != nil {
		p.t.Fatal(err)
	}
}

// detected fails unless a get, a scan and a check all report that block b of x is
// corrupt, and nothing else.
func detected(t *testing.T, what string, x *Index, b int, all []message.Message) {
	t.Helper()
	var s Scratch
	defer s.Close()
	isIt := func(by string, err error) {
		var c *Corrupt
		if !errors.As(err, &c) {
			t.Fatalf("%s: %s says %v", what, by, err)
		}
		if c.Block != b || c.Branch != x.ID() || c.Addr != x.run(b).Addr() || c.Want == "" || c.Found == "" ||
			!strings.Contains(err.Error(), c.Found) {
			t.Fatalf("%s: %s says %+v", what, by, *c)
		}
		for i, m := range all {
			if home := x.at(m.Key); home == b && (bytes.Compare(m.Key, c.Lo) < 0 || bytes.Compare(m.Key, c.Hi) > 0) {
				t.Fatalf("%s: message %d is outside of %q to %q", what, i, c.Lo, c.Hi)
			}
		}
	}
	_, err := x.Check(b, nil, &s)
	isIt("Check", err)
	for _, m := range all {
		got, err := get(x, m.Key, message.MaxSeq, nil, &s)
		if x.at(m.Key) == b {
			isIt("Get", err)
		} else if err != nil || len(got) != 1 || !same(got[0], m) {
			t.Fatalf("%s: another block's message is not read: %v", what, err)
		}
	}
	for _, prefetch := range []int{0, 1 << 20} {
		it := x.Iter(IterOptions{Prefetch: prefetch})
		n := 0
		for ok := it.First(); ok; ok = it.Next() {
			if !same(it.Message(), all[n]) {
				t.Fatalf("%s: the scan gives a wrong message", what)
			}
			n++
		}
		isIt("a scan", it.Err())
		if n < len(all) && x.at(all[n].Key) != b {
			t.Fatalf("%s: the scan ends before the block", what)
		}
		if it.Next() || it.First() || it.SeekGE(all[0].Key) || it.Err() == nil {
			t.Fatalf("%s: the iterator goes on after an error", what)
		}
		it.Close()
	}
}

func TestCorruptBlocks(t *testing.T) {
	p := newPlace(t)
	all := records(60, 512) // nine blocks
	o := p.options()
	_, x := write(t, p, o, 1, all)
	defer x.Close()
	// The same keys once more under another id, and at another epoch, as a lost or
	// misdirected write leaves them behind.
	otherValues := slices.Clone(all)
	for i := range otherValues {
		otherValues[i].Value = otherValues[i].Value[1:]
	}
	_, other := write(t, p, o, 2, otherValues)
	defer other.Close()
	const b = 4
	addr := x.run(b).Addr()
	sound := p.bytes(addr, 4096)
	for name, bad := range map[string][]byte{
		"zeros":                 make([]byte, 4096),
		"a sibling":             p.bytes(x.run(b+1).Addr(), 4096),
		"another branch's":      p.bytes(other.run(b).Addr(), 4096),
		"the index":             p.bytes(other.addr, 4096),
		"second half torn":      append(slices.Clone(sound[:2048]), make([]byte, 2048)...),
		"first sector torn":     append(make([]byte, 512), sound[512:]...),
		"a sector of a sibling": append(slices.Clone(sound[:512]), p.bytes(x.run(b+1).Addr(), 4096)[512:]...),
		"noise":                 random(4096, 9),
		"stale":                 stale(sound),
	} {
		p.put(addr, bad)
		detected(t, name, x, b, all)
		p.put(addr, sound)
	}
	// Every byte matters: header, values, keys, tables, padding.
	var s Scratch
	defer s.Close()
	for i := range sound {
		sound[i] ^= 1 << (i % 8)
		p.put(addr, sound)
		var c *Corrupt
		if _, err := get(x, all[7*b].Key, message.MaxSeq, nil, &s); !errors.As(err, &c) || c.Block != b {
			t.Fatalf("byte %d of a block is not checked: %v", i, err)
		}
		sound[i] ^= 1 << (i % 8)
	}
	p.put(addr, sound)
	if err := p.file.Truncate(x.run(x.n - 1).Addr()); err != nil {
		t.Fatal(err)
	}
	detected(t, "short file", x, x.n-1, all)
}

// stale is the block as another epoch wrote it: sound in itself.
func stale(b []byte) []byte {
	b = slices.Clone(b)
	binary.LittleEndian.PutUint64(b[32:], 6)
	binary.LittleEndian.PutUint32(b, block.Checksum(b))
	return b
}

// TestSameChecksumOfAnother has a fence whose checksum fits another block: only the
// identity in the header shows that.
func TestSameChecksumOfAnother(t *testing.T) {
	p := newPlace(t)
	all := records(60, 512)
	_, x := write(t, p, p.options(), 1, all)
	defer x.Close()
	copy(x.sums[4*4:4*4+4], x.sums[4*5:4*5+4])
	copy(x.pages[4*4:4*4+4], x.pages[4*5:4*5+4])
	detected(t, "the sibling under the right checksum", x, 4, all)
}

func TestCorruptIndex(t *testing.T) {
	p := newPlace(t)
	all := records(60, 512)
	o := p.options()
	meta, x := write(t, p, o, 1, all, message.RangeTombstone{Lo: []byte("a"), Hi: []byte("b"), Seq: 9})
	x.Close()
	_, y := write(t, p, o, 2, all)
	otherIndex := p.bytes(y.addr, int(meta.Index.Len))
	y.Close()
	sound := p.bytes(meta.Index.Addr, int(meta.Index.Len))
	corrupt := func(what string, meta *Meta) {
		t.Helper()
		x, err := OpenIndex(o, meta)
		var c *Corrupt
		if !errors.As(err, &c) || c.Block != -1 || c.Branch != 1 || !bytes.Equal(c.Lo, meta.Lo) || c.Found == "" {
			t.Fatalf("%s: %v, %v", what, x, err)
		}
	}
	for i := range sound {
		sound[i] ^= 0x40
		p.put(meta.Index.Addr, sound)
		corrupt("a flipped bit", &meta)
		sound[i] ^= 0x40
	}
	p.put(meta.Index.Addr, sound)
	for _, change := range []func(m *Meta){
		func(m *Meta) { m.Epoch++ }, func(m *Meta) { m.Index.CRC++ }, func(m *Meta) { m.Index.Addr -= 4096 },
		func(m *Meta) { m.Index.Len += 4096 }, func(m *Meta) { m.Index.Len = 0 }, func(m *Meta) { m.Index.Len = 100 },
		func(m *Meta) { m.Index.Addr = 100 }, func(m *Meta) { m.Index.Len = 1<<32 - 4096 },
	} {
		m := meta
		change(&m)
		corrupt("another Meta", &m)
	}
	p.put(meta.Index.Addr, otherIndex)
	corrupt("another branch's index", &meta)
	// Sound by its own checksum, and by the Meta's: then by its id.
	meta.Index.CRC = block.Checksum(otherIndex)
	corrupt("another branch's index under the right checksum", &meta)
}

func TestReadErrorsAreNoCorruption(t *testing.T) {
	p := newPlace(t)
	all := records(60, 512)
	meta, x := write(t, p, p.options(), 1, all)
	defer x.Close()
	p.file.failRead = errDisk
	var s Scratch
	defer s.Close()
	if _, err := get(x, all[0].Key, message.MaxSeq, nil, &s); !errors.Is(err, errDisk) {
		t.Error(err)
	}
	if _, err := OpenIndex(p.options(), &meta); !errors.Is(err, errDisk) {
		t.Error(err)
	}
	for _, prefetch := range []int{0, 1 << 20} {
		it := x.Iter(IterOptions{Prefetch: prefetch})
		if it.First() || !errors.Is(it.Err(), errDisk) {
			t.Error(it.Err())
		}
		it.Close()
	}
}

// TestEveryWriteFails fails the n-th write, for each n: an abort gives back all
// memory and all pages.
func TestEveryWriteFails(t *testing.T) {
	all := records(1000, 512)
	for n := 1; ; n++ {
		p := newPlace(t)
		p.file.failWriteAfter = n
		w, err := NewWriter(p.options(), 1, 7, 10)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(all) && err == nil; i++ {
			err = w.Add(all[i])
		}
		var x *Index
		if err == nil {
			_, x, err = w.Finish()
		}
		if err == nil {
			x.Close()
			if n < 9 {
				t.Errorf("%d writes", n-1)
			}
			return
		}
		if !errors.Is(err, errDisk) {
			t.Fatal(err)
		}
		w.Abort()
		if p.pool.Used() != 0 || p.pages.FreePages() != uint64(p.pages.End()-16) {
			t.Fatalf("write %d: %d bytes and %d pages of %d are left", n, p.pool.Used(), p.pages.FreePages(), p.pages.End()-16)
		}
	}
}

func TestNoPages(t *testing.T) {
	p := newPlace(t)
	w, err := NewWriter(p.options(), 1, 7, 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(records(1, 10)[0]); err != nil {
		t.Fatal(err)
	}
	p.fail = errDisk
	if _, _, err := w.Finish(); !errors.Is(err, errDisk) {
		t.Error(err)
	}
	w.Abort()
}

// TestLittleMemory runs everything under every limit: it works, or returns
// ErrMemory, and frees everything; from some limit on it works.
func TestLittleMemory(t *testing.T) {
	all := records(2000, 512)
	full := newPlace(t)
	meta, built := write(t, full, full.options(), 1, all)
	built.Close()
	written, scanned := 0, 0
	for kib := int64(0); kib <= 1024; kib += 4 {
		p := newPlaceOf(t, kib<<10)
		w, err := NewWriter(p.options(), 1, 7, 10)
		if err == nil {
			for i := 0; i < len(all) && err == nil; i++ {
				err = w.Add(all[i])
			}
			var x *Index
			if err == nil {
				_, x, err = w.Finish()
			}
			if err == nil {
				written++
				x.Close()
			} else {
				w.Abort()
			}
		}
		if err != nil && !errors.Is(err, ErrMemory) {
			t.Fatal(err)
		}
		if scanLimited(t, full, &meta, slab.New(kib<<10), all) {
			scanned++
		} else if scanned > 0 {
			t.Fatalf("a scan works with less than %d KiB, and not with them", kib)
		}
	}
	// 60 KiB of index and one block of a page must do for a scan.
	if scanned < (1024-80)/4 || written < (1024-400)/4 {
		t.Errorf("%d scans and %d writers of 257 had memory enough", scanned, written)
	}
}

func scanLimited(t *testing.T, p *place, meta *Meta, pool *slab.Pool, all []message.Message) bool {
	t.Helper()
	defer pool.Close()
	o := p.options()
	o.Pool = pool
	x, err := OpenIndex(o, meta)
	if err != nil {
		if err != ErrMemory {
			t.Fatal(err)
		}
		return false
	}
	defer x.Close()
	it := x.Iter(IterOptions{Prefetch: 1 << 20})
	defer it.Close()
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if !same(it.Message(), all[n]) {
			t.Fatalf("message %d is another", n)
		}
		n++
	}
	if it.Err() != nil && it.Err() != ErrMemory || it.Err() == nil && n != len(all) {
		t.Fatal(n, it.Err())
	}
	return it.Err() == nil
}

func TestTooLarge(t *testing.T) {
	p := newPlace(t)
	for _, add := range []func(w *Writer) error{
		func(w *Writer) error {
			return w.Add(message.Message{Value: make([]byte, block.ValueMax+1), Seq: 1, Kind: message.Put})
		},
		func(w *Writer) error {
			return w.Add(message.Message{Key: make([]byte, message.KeyMax+1), Seq: 1, Kind: message.Put})
		},
		func(w *Writer) error {
			return w.AddTombstone(message.RangeTombstone{Hi: make([]byte, message.KeyMax+1), Seq: 1})
		},
	} {
		w, err := NewWriter(p.options(), 1, 7, 10)
		if err != nil {
			t.Fatal(err)
		}
		if err := add(w); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
		w.Abort()
	}
}

func TestDisorderIsOurs(t *testing.T) {
	p := newPlace(t)
	m := func(key string, seq message.Seq) message.Message {
		return message.Message{Key: []byte(key), Seq: seq, Kind: message.Put}
	}
	for _, pair := range [][2]message.Message{
		{m("b", 1), m("a", 1)}, {m("a", 1), m("a", 2)}, {m("a", 1), m("a", 1)}, {m("a", 1), {Key: []byte("b"), Kind: message.RangeDelete, Seq: 1}},
	} {
		func() {
			w, err := NewWriter(p.options(), 1, 7, 10)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Abort()
			defer func() {
				if recover() == nil {
					t.Errorf("%v is in order", pair)
				}
			}()
			_ = w.Add(pair[0])
			_ = w.Add(pair[1])
		}()
	}
}

func TestBlobs(t *testing.T) {
	p := newPlace(t)
	ref := func(page int64, n uint32) []byte {
		return message.BlobRef{Addr: page * 4096, Len: n, CRC: 1}.Append(nil)
	}
	var all []message.Message
	for i, v := range [][]byte{ref(900, 20_000), ref(800, 4096), ref(900, 20_000), ref(100, 1)} {
		all = append(all, message.Message{Key: []byte{byte(i)}, Value: v, Seq: 5, Kind: message.Blob})
	}
	meta, x := write(t, p, p.options(), 1, all)
	defer x.Close()
	if want := []extent.Run{{Page: 100, Pages: 1}, {Page: 800, Pages: 1}, {Page: 900, Pages: 5}}; !slices.Equal(meta.Blobs, want) || meta.Puts != 4 {
		t.Errorf("blobs: %v, want %v; %d puts", meta.Blobs, want, meta.Puts)
	}
}

// TestMetaRoundTrip also cuts and lengthens the encoding: no part of it passes.
func TestMetaRoundTrip(t *testing.T) {
	p := newPlace(t)
	meta, x := write(t, p, p.options(), 1<<40, records(100, 512), message.RangeTombstone{Lo: []byte("a"), Hi: []byte("zz"), Seq: 1 << 50})
	defer x.Close()
	if x.Stats() != meta.Stats || x.ID() != meta.ID {
		t.Errorf("stats of the index: %+v, want %+v", x.Stats(), meta.Stats)
	}
	meta.Blobs = []extent.Run{{Page: 7, Pages: 2}}
	b := meta.Append([]byte("before"))[6:]
	got, err := DecodeMeta(b)
	if err != nil || !bytes.Equal(got.Append(nil), b) || got.ID != 1<<40 || string(got.Hi) != "zz" || got.MaxSeq != 1<<50 {
		t.Fatal(got, err)
	}
	for i := range b {
		if _, err := DecodeMeta(b[:i]); err == nil {
			t.Errorf("%d bytes of %d are a branch", i, len(b))
		}
	}
	if _, err := DecodeMeta(append(slices.Clone(b), 0)); err == nil {
		t.Error("a byte too many is a branch")
	}
}

// TestNonsenseInAnIndex changes an image whose checksum is no longer compared:
// newIndex still finds the error.
func TestNonsenseInAnIndex(t *testing.T) {
	p := newPlace(t)
	le := binary.LittleEndian
	tombs := []message.RangeTombstone{{Lo: []byte("a"), Hi: []byte("c"), Seq: 9}, {Lo: []byte("b"), Hi: []byte("c"), Seq: 9}}
	meta, x := write(t, p, p.options(), 1, records(60, 512), tombs...)
	defer x.Close()
	sound := slices.Clone(x.image)
	for name, change := range map[string]func(){
		"a head that is not its separator's": func() { x.heads[8*3]++ },
		"separators in another order": func() {
			copy(x.rest(3), x.rest(4))
			copy(x.heads[8*3:8*4], x.heads[8*4:])
		},
		"a separator outside":           func() { le.PutUint32(x.restAt[4*3:], 1<<30) },
		"separators that end elsewhere": func() { le.PutUint32(x.restAt[4*x.n:], 0) },
		"no pages":                      func() { le.PutUint16(x.spans, 0) },
		"a packed block of many pages":  func() { le.PutUint16(x.spans, spanPacked|9) },
		"a first block that continues":  func() { le.PutUint16(x.spans, spanContinues|1) },
		"a tombstone elsewhere":         func() { le.PutUint32(x.tombAt[4:], 0) },
		"a tombstone that is too long":  func() { le.PutUint16(x.tombs[8:], 1<<15) },
		"a furthest one that comes":     func() { le.PutUint32(x.tombFar, 1) },
		"tombstones in another order":   func() { x.tombs[tombstoneHeader] = 'z' },
		"more blocks":                   func() { le.PutUint32(x.image[12:], 1<<20) },
		"a filter of half a line":       func() { le.PutUint32(x.image[60:], uint32(len(x.bits)-32)) },
	} {
		change()
		y, err := newIndex(p.options(), &meta, x.image)
		var c *Corrupt
		if !errors.As(err, &c) {
			t.Errorf("%s: %v, %v", name, y, err)
		}
		copy(x.image, sound)
	}
}

// TestCheckComparesWithTheFences has a separator that hides keys of the block
// before, and a filter that knows nothing.
func TestCheckComparesWithTheFences(t *testing.T) {
	p := newPlace(t)
	_, x := write(t, p, p.options(), 1, records(60, 512))
	defer x.Close()
	var s Scratch
	defer s.Close()
	sound := slices.Clone(x.image)
	copy(x.rest(5), x.rest(4))
	copy(x.heads[8*5:8*6], x.heads[8*4:8*5])
	if _, err := x.Check(4, nil, &s); err == nil || !strings.Contains(err.Error(), "belongs to block") {
		t.Errorf("a wrong fence: %v", err)
	}
	copy(x.image, sound)
	clear(x.bits)
	if _, err := x.Check(4, nil, &s); err == nil || !strings.Contains(err.Error(), "filter") {
		t.Errorf("an empty filter: %v", err)
	}
	copy(x.image, sound)
	checkAll(t, x)
}

func FuzzDecodeMeta(f *testing.F) {
	p := newPlace(f)
	meta, x := write(f, p, p.options(), 300, records(30, 100))
	x.Close()
	f.Add(meta.Append(nil))
	f.Add((&Meta{}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeMeta(b)
		if err != nil {
			return
		}
		again, err := DecodeMeta(m.Append(nil))
		if err != nil || !bytes.Equal(again.Append(nil), m.Append(nil)) {
			t.Fatalf("%+v is not read back: %v", m, err)
		}
	})
}

// FuzzOpenIndex repairs the checksum of its input, so that everything after it is
// reached, and uses every index that opens.
func FuzzOpenIndex(f *testing.F) {
	p := newPlace(f)
	o := p.options()
	for _, n := range []int{0, 1, 20} {
		meta, x := write(f, p, o, 1, records(n, 300), message.RangeTombstone{Lo: []byte("a"), Hi: []byte("b"), Seq: 9})
		f.Add(bytes.TrimRight(slices.Clone(x.image[:meta.Index.Len]), "\x00"))
		x.Close()
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		image := make([]byte, max(1, (len(data)+4095)/4096)*4096)
		copy(image, data)
		meta := Meta{ID: 1, Epoch: 7}
		x, err := newIndex(o, &meta, image)
		if err != nil {
			var c *Corrupt
			if !errors.As(err, &c) {
				t.Fatal(err)
			}
			return
		}
		var s Scratch
		defer s.Close()
		key := data[:min(len(data), 30)]
		_, _ = get(x, key, message.MaxSeq, nil, &s)
		_ = may(t, x, binary.LittleEndian.Uint64(image[8:]), nil)
		x.Covering(key, message.MaxSeq)
		x.Tombstones()
		x.Overlaps(key, nil)
		x.Span(key, nil)
		it := x.Iter(IterOptions{Prefetch: 64 << 10})
		for ok := it.First(); ok; ok = it.Next() {
			_ = it.Message()
		}
		it.Close()
	})
}
