// SPDX-License-Identifier: Apache-2.0

package block

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

var id = ID{Branch: 5, Epoch: 9, Block: 2}

// build makes a block of as many of the messages as it takes.
func build(t testing.TB, how Compression, c *Coder, messages []message.Message) (stored []byte, h Header, n int) {
	t.Helper()
	dst := bytes.Repeat([]byte{0xee}, max(MaxBytes, Size(messages[0])))
	var b Builder
	b.Reset(dst, how != None)
	for n < len(messages) && b.Add(messages[n]) {
		n++
	}
	if b.Len() != n || !bytes.Equal(b.LastKey(), messages[n-1].Key) || b.LastSeq() != messages[n-1].Seq {
		t.Fatalf("builder: %d messages, last %q", b.Len(), b.LastKey())
	}
	plain := b.Bytes()
	h = b.Finish(id, how, c, make([]byte, ScratchBytes))
	if how == None && plain != h.Bytes() {
		t.Fatalf("Bytes said %d, Finish %d", plain, h.Bytes())
	}
	return dst[:h.Bytes()], h, n
}

func check(t testing.TB, b *Block, want []message.Message) {
	t.Helper()
	if b.Len() != len(want) {
		t.Fatalf("%d messages, want %d", b.Len(), len(want))
	}
	if err := b.Validate(); err != nil {
		t.Fatal(err)
	}
	var buf []byte
	for i, w := range want {
		m := b.Message(i, buf)
		if message.Compare(m, w) != 0 || !bytes.Equal(m.Value, w.Value) || m.Kind != w.Kind || !b.HasKey(i, w.Key) {
			t.Fatalf("message %d: %q at %d, want %q at %d", i, m.Key, m.Seq, w.Key, w.Seq)
		}
		buf = m.Key
	}
}

func checkSeek(t testing.TB, b *Block, want []message.Message, key []byte) {
	t.Helper()
	at := 0
	for at < len(want) && bytes.Compare(want[at].Key, key) < 0 {
		at++
	}
	if got := b.Seek(key); got != at {
		t.Fatalf("Seek(%q) = %d, want %d", key, got, at)
	}
	if at < len(want) && b.HasKey(at, key) != bytes.Equal(want[at].Key, key) {
		t.Fatalf("HasKey(%d, %q) is wrong", at, key)
	}
}

func drawMessages(t *rapid.T) []message.Message {
	letters := rapid.SampledFrom([]byte("aab\x00\xff"))
	prefix := rapid.SliceOfN(letters, 0, 20).Draw(t, "prefix")
	drawn := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) message.Message {
		return message.Message{
			Key:   append(slices.Clone(prefix), rapid.SliceOfN(letters, 0, 12).Draw(t, "key")...),
			Value: bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, rapid.IntRange(0, 3000).Draw(t, "value")),
			Seq:   message.Seq(rapid.Uint64Range(1, uint64(message.MaxSeq)).Draw(t, "seq")),
			Kind:  message.Kind(rapid.IntRange(1, 5).Draw(t, "kind")),
		}
	}), 1, 60).Draw(t, "messages")
	slices.SortFunc(drawn, message.Compare)
	return slices.CompactFunc(drawn, func(a, b message.Message) bool { return message.Compare(a, b) == 0 })
}

func TestBuildAndOpen(t *testing.T) {
	var c Coder
	rapid.Check(t, func(rt *rapid.T) {
		messages := drawMessages(rt)
		how := rapid.SampledFrom([]Compression{None, S2, Zstd}).Draw(rt, "how")
		stored, h, n := build(t, how, &c, messages)
		b, err := Open(stored, h.Want, make([]byte, MaxBytes), &c)
		if err != nil {
			rt.Fatal(err)
		}
		check(t, &b, messages[:n])
		again, ok := Reopen(b.Image())
		if !ok {
			rt.Fatal("the image does not open again")
		}
		check(t, &again, messages[:n])
		for _, m := range messages {
			checkSeek(t, &again, messages[:n], m.Key)
			checkSeek(t, &again, messages[:n], append(slices.Clone(m.Key), 0))
			checkSeek(t, &again, messages[:n], m.Key[:len(m.Key)/2])
		}
		checkSeek(t, &b, messages[:n], nil)
		checkSeek(t, &b, messages[:n], []byte{0xff, 0xff, 0xff})
	})
}

func text(n int) []byte {
	r := rand.New(rand.NewPCG(1, 1))
	words := strings.Fields("stone wall mortar ashlar cut course bond joint quoin dressed rubble lime sand")
	var b []byte
	for len(b) < n {
		b = append(append(b, words[r.IntN(len(words))]...), ' ')
	}
	return b[:n]
}

func noise(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// puts returns n messages whose values are pieces of the output of fill.
func puts(n, value int, fill func(n int) []byte) []message.Message {
	all := fill(n * value)
	out := make([]message.Message, n)
	for i := range out {
		out[i] = message.Message{
			Key: fmt.Appendf(nil, "user%020d", i), Value: all[i*value : (i+1)*value], Seq: message.Seq(i + 1), Kind: message.Put,
		}
	}
	return out
}

// TestShapes holds the rule of growth to exact lengths.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		value, messages, bytes int
	}{
		{512, 7, 4096}, {1500, 5, 8192}, {16, 130, 4096}, {4000, 1, 4096}, {4020, 1, 4096}, {4021, 2, 8192}, {5000, 3, 16384},
		{9000, 3, 28672}, {30000, 1, 32768}, {32650, 1, 32768}, {40000, 1, 40960}, {1 << 20, 1, 1<<20 + 4096},
	} {
		_, h, n := build(t, None, nil, puts(2+64000/max(c.value, 480), c.value, noise))
		if n != c.messages || h.Bytes() != c.bytes {
			t.Errorf("values of %d bytes: %d messages in %d bytes, want %d in %d", c.value, n, h.Bytes(), c.messages, c.bytes)
		}
	}
}

func TestLongKeys(t *testing.T) {
	long := bytes.Repeat([]byte{'k'}, message.KeyMax-2)
	var messages []message.Message
	for i := range 100 {
		messages = append(messages, message.Message{
			Key: binary.BigEndian.AppendUint16(slices.Clone(long), uint16(i)), Seq: 1, Kind: message.Delete,
		})
	}
	for len(messages) > 0 {
		stored, h, n := build(t, None, nil, messages)
		b, err := Open(stored, h.Want, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		check(t, &b, messages[:n])
		messages = messages[n:]
	}
	// The largest message of all.
	stored, h, _ := build(t, S2, nil, []message.Message{{Key: append(long, 1, 1), Value: noise(ValueMax), Seq: message.MaxSeq, Kind: message.Put}})
	if _, err := Open(stored, h.Want, nil, nil); err != nil || len(stored) > LargestBytes || h.Compression != None {
		t.Errorf("%d bytes of %d, %v: %v", len(stored), LargestBytes, h.Compression, err)
	}
}

func TestCompression(t *testing.T) {
	var c Coder
	scratch := make([]byte, ScratchBytes)
	hex := []byte(fmt.Sprintf("%x", noise(2000))) // entropy coding halves it, S2 does nothing
	for _, s := range []struct {
		name   string
		sample []byte
		last   bool
		want   Compression
	}{
		{"noise", noise(4000), true, None},
		{"zeros", make([]byte, 4000), false, S2},
		{"zeros, last", make([]byte, 4000), true, S2},
		{"text", text(4000), false, S2},
		{"text, last", text(4000), true, Zstd},
		{"hexadecimal", hex, false, None},
		{"hexadecimal, last", hex, true, Zstd},
	} {
		if got := c.Choose(s.sample, s.last, scratch); got != s.want {
			t.Errorf("%s: %v, want %v", s.name, got, s.want)
		}
	}
	for _, how := range []Compression{S2, Zstd} {
		messages := puts(100, 1000, text)
		stored, h, n := build(t, how, &c, messages)
		if h.Compression != how || len(stored) > MaxBytes/2 || n != 32 {
			t.Errorf("%v: %v, %d messages in %d bytes", how, h.Compression, n, len(stored))
		}
		if _, err := Open(stored, h.Want, make([]byte, 100), &c); err == nil {
			t.Errorf("%v: opened with a short scratch", how)
		}
		// Data that cannot be compressed are stored as they are.
		if _, h, _ := build(t, how, &c, puts(100, 1000, noise)); h.Compression != None {
			t.Errorf("%v of noise", h.Compression)
		}
	}
}

// TestEveryBitIsChecked flips each bit of blocks, one at a time: all of them
// are detected, and so is a block under the identity of another.
func TestEveryBitIsChecked(t *testing.T) {
	var c Coder
	scratch := make([]byte, MaxBytes)
	for _, how := range []Compression{None, S2, Zstd} {
		stored, h, _ := build(t, how, &c, puts(20, 200, text))
		for i := range len(stored) * 8 {
			if i > 8*400 && i%31 != 0 {
				continue
			}
			stored[i/8] ^= 1 << (i % 8)
			if _, err := Open(stored, h.Want, scratch, &c); err == nil {
				t.Fatalf("%v: bit %d of byte %d does not matter", how, i%8, i/8)
			}
			stored[i/8] ^= 1 << (i % 8)
		}
		for _, change := range []func(w *Want){
			func(w *Want) { w.Branch++ }, func(w *Want) { w.Epoch-- }, func(w *Want) { w.Block = 0 },
			func(w *Want) { w.Content = Tombstones }, func(w *Want) { w.CRC++ },
		} {
			w := h.Want
			change(&w)
			_, err := Open(stored, w, scratch, &c)
			var m *Mismatch
			if !errors.As(err, &m) || m.Want == "" || m.Found == "" {
				t.Errorf("want %v, found %v: %v", w, h.Want, err)
			}
		}
		for _, n := range []int{0, 1, HeaderSize, PageSize - 1, len(stored) - PageSize, len(stored) + 1} {
			if n >= 0 && n < len(stored) {
				if _, err := Open(stored[:n], h.Want, scratch, &c); err == nil {
					t.Errorf("%d bytes of %d are a block", n, len(stored))
				}
			}
		}
	}
}

func TestErrorsSayWhatIsThere(t *testing.T) {
	stored, h, _ := build(t, None, nil, puts(3, 0, noise))
	other := slices.Clone(stored)
	binary.LittleEndian.PutUint32(other[20:], 77)
	binary.LittleEndian.PutUint32(other, Checksum(other))
	torn := slices.Clone(stored)
	clear(torn[512:])
	torn[300]++
	for _, c := range []struct {
		name   string
		stored []byte
		want   string
	}{
		{"another block", other, "another valid block: block 77 of branch 5, epoch 9"},
		{"rot", torn, "after the right header"},
		{"zeros", make([]byte, PageSize), "which are not a block"},
	} {
		_, err := Open(c.stored, h.Want, nil, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "want block 2 of branch 5, epoch 9") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestARepairNeedsNoPointer opens a block with only its own header.
func TestARepairNeedsNoPointer(t *testing.T) {
	messages := puts(7, 100, noise)
	stored, _, n := build(t, None, nil, messages)
	h, err := ReadHeader(append(slices.Clone(stored), noise(5000)...))
	if err != nil || h.ID != id || h.Bytes() != len(stored) {
		t.Fatal(h, err)
	}
	b, err := Open(stored[:h.Bytes()], h.Want, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	check(t, &b, messages[:n])
}

func TestValidateFindsDisorder(t *testing.T) {
	for _, messages := range [][]message.Message{
		{{Key: []byte("b"), Seq: 1, Kind: message.Put}, {Key: []byte("a"), Seq: 2, Kind: message.Put}},
		{{Key: []byte("a"), Seq: 1, Kind: message.Put}, {Key: []byte("a"), Seq: 1, Kind: message.Put}},
		{{Key: []byte("a"), Seq: 1, Kind: message.Put}, {Key: []byte("a"), Seq: 2, Kind: message.Put}},
	} {
		stored, h, _ := build(t, None, nil, messages)
		b, err := Open(stored, h.Want, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if b.Validate() == nil {
			t.Errorf("%v pass for ordered", messages)
		}
	}
}

func TestCommon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]byte("ab"))
		a, b := rapid.SliceOfN(letters, 0, 40).Draw(t, "a"), rapid.SliceOfN(letters, 0, 40).Draw(t, "b")
		b = append(slices.Clone(a[:rapid.IntRange(0, len(a)).Draw(t, "same")]), b...)
		want := 0
		for want < min(len(a), len(b)) && a[want] == b[want] {
			want++
		}
		if got := Common(a, b); got != want {
			t.Fatalf("Common(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
}

// FuzzOpen repairs the checksum of its input, so that everything after it is
// reached, and reads every block that opens.
func FuzzOpen(f *testing.F) {
	var c Coder
	for _, how := range []Compression{None, S2, Zstd} {
		for _, messages := range [][]message.Message{puts(1, 0, noise), puts(9, 100, text), puts(3, 2000, text)} {
			stored, h, _ := build(f, how, &c, messages)
			f.Add(stored[:min(len(stored), HeaderSize+h.Stored)])
		}
	}
	scratch := make([]byte, MaxBytes)
	f.Fuzz(func(t *testing.T, data []byte) {
		stored := make([]byte, max(1, pages(len(data)))*PageSize)
		copy(stored, data)
		binary.LittleEndian.PutUint32(stored, Checksum(stored))
		h, err := ReadHeader(stored)
		if err != nil {
			if _, err := Open(stored, Want{CRC: Checksum(stored)}, scratch, &c); err == nil {
				t.Fatal("a block without a header")
			}
			return
		}
		b, err := Open(stored, h.Want, scratch, &c)
		if err != nil {
			return
		}
		read(t, &b, stored)
		again, ok := Reopen(b.Image())
		if !ok {
			t.Fatal("what was opened does not open again")
		}
		read(t, &again, stored)
	})
}

func read(t *testing.T, b *Block, seeks []byte) {
	var key []byte
	for i := range b.Len() {
		m := b.Message(i, key)
		key = m.Key
		if !m.Kind.Valid() || len(m.Key) > message.KeyMax || m.Seq > message.MaxSeq || !b.HasKey(i, key) {
			t.Fatalf("message %d: %+v", i, m)
		}
	}
	for n := range min(20, len(seeks)) {
		b.Seek(seeks[n : n+min(n, len(seeks)-n)])
	}
	_ = b.Validate()
}

// FuzzReopen: a cache returns what was put, but nothing may panic if it does not.
func FuzzReopen(f *testing.F) {
	stored, h, _ := build(f, None, nil, puts(9, 40, text))
	f.Add(stored[:HeaderSize+h.Raw])
	f.Fuzz(func(t *testing.T, image []byte) {
		if b, ok := Reopen(image); ok && b.sound() {
			read(t, &b, image)
		}
	})
}

func benchBlock(b *testing.B, how Compression, c *Coder, value int, fill func(int) []byte) ([]byte, Header, []message.Message) {
	messages := puts(3000, value, fill)
	stored, h, n := build(b, how, c, messages)
	return stored, h, messages[:n]
}

func BenchmarkOpen(b *testing.B) {
	var c Coder
	scratch := make([]byte, MaxBytes)
	for _, bc := range []struct {
		name  string
		how   Compression
		value int
		fill  func(int) []byte
	}{{"4 KiB of 536", None, 512, noise}, {"4 KiB of 40", None, 16, noise}, {"S2", S2, 512, text}, {"zstd", Zstd, 512, text}} {
		b.Run(bc.name, func(b *testing.B) {
			stored, h, _ := benchBlock(b, bc.how, &c, bc.value, bc.fill)
			b.SetBytes(int64(h.Raw))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Open(stored, h.Want, scratch, &c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSeek(b *testing.B) {
	for _, value := range []int{16, 512} {
		b.Run(fmt.Sprint(value), func(b *testing.B) {
			stored, h, messages := benchBlock(b, None, nil, value, noise)
			blk, err := Open(stored, h.Want, nil, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if n := i * 7919 % len(messages); blk.Seek(messages[n].Key) != n {
					b.Fatal("not found")
				}
			}
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	var c Coder
	scratch, dst := make([]byte, ScratchBytes), make([]byte, MaxBytes)
	for _, bc := range []struct {
		name  string
		how   Compression
		value int
		fill  func(int) []byte
	}{{"536", None, 512, noise}, {"40", None, 16, noise}, {"S2", S2, 512, text}, {"zstd", Zstd, 512, text}} {
		b.Run(bc.name, func(b *testing.B) {
			_, _, messages := benchBlock(b, bc.how, &c, bc.value, bc.fill)
			var w Builder
			b.ReportAllocs()
			b.SetBytes(int64(len(messages) * (24 + bc.value)))
			for b.Loop() {
				w.Reset(dst, bc.how != None)
				for _, m := range messages {
					w.Add(m)
				}
				w.Finish(id, bc.how, &c, scratch)
			}
		})
	}
}

// TestNonsenseUnderARightChecksum changes a block and makes its checksum right
// again, as a wrong program would: Open still finds it out.
func TestNonsenseUnderARightChecksum(t *testing.T) {
	le := binary.LittleEndian
	messages := puts(7, 100, noise)
	plain, h, _ := build(t, None, nil, messages)
	tables := HeaderSize + h.Raw - 7*entrySize
	starts, ends := tables+8*7, tables+10*7
	for name, change := range map[string]func(b []byte){
		"no messages":              func(b []byte) { le.PutUint16(b[8:], 0) },
		"one message more":         func(b []byte) { le.PutUint16(b[8:], 8) },
		"more messages than bytes": func(b []byte) { le.PutUint16(b[8:], 1<<16-1) },
		"a longer prefix":          func(b []byte) { le.PutUint16(b[10:], 1<<16-1) },
		"a longer payload":         func(b []byte) { le.PutUint32(b[12:], 1<<31) },
		"another length":           func(b []byte) { le.PutUint32(b[12:], uint32(h.Raw+1)) },
		"more pages": func(b []byte) {
			le.PutUint32(b[12:], 5000)
			le.PutUint32(b[16:], 5000)
		},
		"stored longer":           func(b []byte) { le.PutUint32(b[16:], uint32(h.Raw+1)) },
		"a version to come":       func(b []byte) { b[6] = 2 },
		"no magic":                func(b []byte) { b[5] = 0 },
		"unknown compression":     func(b []byte) { b[7] = 3 },
		"S2 that is none":         func(b []byte) { b[7] = byte(S2) },
		"zstd that is none":       func(b []byte) { b[7] = byte(Zstd) },
		"unknown content":         func(b []byte) { b[7] = 2 << 4 },
		"no kind":                 func(b []byte) { b[tables+8*3] = 9 },
		"a value that begins":     func(b []byte) { le.PutUint16(b[starts:], 1) },
		"a value before the last": func(b []byte) { le.PutUint16(b[starts+2*4:], 0) },
		"a value outside":         func(b []byte) { le.PutUint16(b[starts+2*6:], 4000) },
		"a key before the last":   func(b []byte) { le.PutUint16(b[ends+2*4:], 0) },
		"keys outside":            func(b []byte) { le.PutUint16(b[ends+2*6:], 1<<16-1) },
	} {
		b := slices.Clone(plain)
		change(b)
		w := h.Want
		w.CRC = Checksum(b)
		if b[7]>>4 == 2 {
			w.Content = 2
		}
		le.PutUint32(b, w.CRC)
		if _, err := Open(b, w, make([]byte, MaxBytes), new(Coder)); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
	// Compressed parts of another length than the header says.
	var c Coder
	for _, how := range []Compression{S2, Zstd} {
		packed, h, _ := build(t, how, &c, puts(100, 500, text))
		for _, raw := range []int{h.Raw - 1, h.Raw + 1} {
			b := slices.Clone(packed)
			le.PutUint32(b[12:], uint32(raw))
			w := h.Want
			w.CRC = Checksum(b)
			le.PutUint32(b, w.CRC)
			if _, err := Open(b, w, make([]byte, MaxBytes), &c); err == nil || !strings.Contains(err.Error(), how.String()) {
				t.Errorf("%v that becomes %d bytes instead of %d: %v", how, h.Raw, raw, err)
			}
		}
	}
}
