// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// TestVersion1 holds the bytes of version 1.
func TestVersion1(t *testing.T) {
	page := bytes.Repeat([]byte{0xee}, SegmentHeader)
	PutSegmentHeader(page, SegmentInfo{Store: 0x0123456789abcdef, Number: 7, Size: 3 * PageSize, First: 0x1122, Prev: 0xcafe0001, Session: 0x5e55})
	const wantPage = "41534a5301000000" + "0700000000000000" + "2211000000000000" + "555e000000000000" + "00300000" + "0100feca" + "d0ecb08a"
	if got := hex.EncodeToString(page[:segmentUsed]); got != wantPage || !bytes.Equal(page[segmentUsed:], make([]byte, SegmentHeader-segmentUsed)) {
		t.Errorf("a first page is\n%s, want\n%s and zeros", got, wantPage)
	}
	frame := make([]byte, PageSize)
	copy(frame[HeaderSize:], "messages")
	crc := Seal(frame, Header{Store: 0x0123456789abcdef, Segment: 7, Offset: PageSize, First: 0x1122, Count: 3, Len: HeaderSize + 8,
		Session: 0x5e55, Prev: 0xcafe0001, Durable: 0x1121, Start: true})
	const wantFrame = "41534a4601000100" + "4800000000100000" + "2211000000000000" + "555e000000000000" + "2111000000000000" + "0700000000000000" +
		"03000000" + "0100feca" + "d1965c6c" + "fb712b84"
	if got := hex.EncodeToString(frame[:HeaderSize]); got != wantFrame {
		t.Errorf("a header is\n%s, want\n%s", got, wantFrame)
	}
	if want := uint32(0x842b71fb); crc != want {
		t.Errorf("the checksum is %08x, want %08x", crc, want)
	}
	if got := string(frame[HeaderSize : bytes.IndexByte(frame[HeaderSize:], 0)+HeaderSize]); got != "messages" {
		t.Errorf("the messages are %q", got)
	}
}

var (
	sampleInfo  = SegmentInfo{Store: testStore, Number: 7, First: 100, Prev: 0xabcd, Session: 42}
	sampleChain = ChainState{Segment: 7, Prev: 0xabcd, Session: 41, Next: 100}
)

// steps returns the steps of a Scanner through a whole segment.
func steps(t *testing.T, chain ChainState, image []byte) (frames []Step, stop Step) {
	t.Helper()
	info, flaw := readSegmentHeader(image, testStore)
	s := NewScanner(testStore, chain)
	if flaw.OK() {
		flaw = s.Enter(info, len(image))
	}
	if !flaw.OK() {
		return nil, Step{Kind: Stop, Flaw: flaw}
	}
	for {
		step := s.Step(image)
		switch step.Kind {
		case Next:
			frames = append(frames, step)
		case Stop:
			return frames, step
		case More:
			t.Fatalf("%d bytes are wanted of %d", step.End, len(image))
		}
	}
}

// TestWhatIsSealedIsRead: headers are read as they were sealed.
func TestWhatIsSealedIsRead(t *testing.T) {
	image, end := segmentImage(7*PageSize, sampleInfo, 65, PageSize, PageSize+1, 2*PageSize-1)
	frames, stop := steps(t, sampleChain, image)
	if len(frames) != 4 || stop.Off != 7*PageSize || stop.Flaw.what != wrongSpace {
		t.Fatalf("%d frames, %+v; want 4 and the end at %d", len(frames), stop, 7*PageSize)
	}
	off, prev := PageSize, sampleInfo.Prev
	for i, n := range []uint32{65, PageSize, PageSize + 1, 2*PageSize - 1} {
		first := message.Seq(100 + 3*i)
		want := Header{Store: testStore, Segment: 7, Offset: uint32(off), First: first, Count: 3, Len: n, Session: 42, Prev: prev, Durable: first - 1, Start: i == 0}
		f := frames[i]
		if f.Header != want || f.Off != off || f.End != off+padded(int(n)) {
			t.Errorf("frame %d is %+v, want %+v at %d", i, f, want, off)
		}
		prev = frameChecksum(image[f.Off:f.End])
		off = f.End
	}
	if want := (ChainState{Segment: 8, Prev: prev, Session: 42, Next: 112}); end != want {
		t.Errorf("the chain ends with %+v, want %+v", end, want)
	}
}

// TestTheChainKnowsHeaders: a frame's checksum depends on every field of its
// header, else frames of another session could follow one of ours.
func TestTheChainKnowsHeaders(t *testing.T) {
	h := Header{Store: testStore, Segment: 1, Offset: PageSize, First: 5, Count: 1, Len: 100, Durable: 3}
	seen := map[uint32]string{}
	for name, change := range map[string]func(h *Header){
		"unchanged": func(*Header) {}, "segment": func(h *Header) { h.Segment++ }, "first": func(h *Header) { h.First++ },
		"count": func(h *Header) { h.Count++ }, "length": func(h *Header) { h.Len++ }, "session": func(h *Header) { h.Session++ },
		"prev": func(h *Header) { h.Prev++ }, "durable": func(h *Header) { h.Durable++ }, "start": func(h *Header) { h.Start = true },
	} {
		changed := h
		change(&changed)
		crc := Seal(make([]byte, PageSize), changed)
		if other, ok := seen[crc]; ok {
			t.Errorf("%s and %s have the same checksum", name, other)
		}
		seen[crc] = name
	}
}

// TestEveryBitCounts: a frame with one bit changed, anywhere, is not accepted.
func TestEveryBitCounts(t *testing.T) {
	image, _ := segmentImage(3*PageSize, sampleInfo, 1000, 500)
	for i := PageSize; i < 2*PageSize; i++ {
		for bit := range 8 {
			image[i] ^= 1 << bit
			if frames, stop := steps(t, sampleChain, image); len(frames) != 0 || stop.Flaw.OK() {
				t.Errorf("bit %d of byte %d: %d frames", bit, i, len(frames))
			}
			image[i] ^= 1 << bit
		}
	}
	for i := range segmentUsed {
		for bit := range 8 {
			if bit == 0 && (i == 6 || i == 7) {
				continue
			}
			image[i] ^= 1 << bit
			if _, flaw := readSegmentHeader(image, testStore); flaw.OK() {
				t.Errorf("bit %d of byte %d of the first page", bit, i)
			}
			image[i] ^= 1 << bit
		}
	}
	if frames, _ := steps(t, sampleChain, image); len(frames) != 2 {
		t.Errorf("%d frames unharmed", len(frames))
	}
}

// TestWhatDoesNotContinue tests each rule of the chain, and how its violation is
// reported.
func TestWhatDoesNotContinue(t *testing.T) {
	image, _ := segmentImage(4*PageSize, sampleInfo, 1000, 1000)
	second := func(change func(h *Header)) func() []byte {
		return func() []byte {
			b := append([]byte(nil), image...)
			h, flaw := readHeader(b[2*PageSize:], testStore, 2*PageSize)
			if !flaw.OK() {
				t.Fatal(flaw)
			}
			change(&h)
			Seal(b[2*PageSize:2*PageSize+h.Padded()], h)
			return b
		}
	}
	first := func(change func(h *Header)) func() []byte {
		return func() []byte {
			b := append([]byte(nil), image...)
			h, _ := readHeader(b[PageSize:], testStore, PageSize)
			change(&h)
			Seal(b[PageSize:2*PageSize], h)
			return b
		}
	}
	segment := func(change func(s *SegmentInfo)) func() []byte {
		return func() []byte {
			b := append([]byte(nil), image...)
			s, _ := readSegmentHeader(b, testStore)
			change(&s)
			PutSegmentHeader(b[:PageSize], s)
			return b
		}
	}
	same := func() []byte { return image }
	for _, c := range []struct {
		name   string
		image  func() []byte
		chain  func(c *ChainState)
		frames int
		want   string
	}{
		{"nothing wrong", same, nil, 2, "want magic 0x464a5341, found 0x00000000"},
		{"segment of another store", segment(func(s *SegmentInfo) { s.Store++ }), nil, 0, "want header checksum"},
		{"segment given up before", same, func(c *ChainState) { c.Segment = 8 }, 0, "want segment 8, found 7"},
		{"segment after a gap in the numbers", same, func(c *ChainState) { c.Segment = 5 }, 2, "want magic"},
		{"segment with another first message", same, func(c *ChainState) { c.Next = 99 }, 0, "want message 99, found 100"},
		{"segment after another frame", same, func(c *ChainState) { c.Prev = 1 }, 0, "want a frame after checksum 0x00000001, found 0x0000abcd"},
		{"first frame after another frame", first(func(h *Header) { h.Prev = 2 }), nil, 0, "want a frame after checksum 0x0000abcd, found 0x00000002"},
		{"first frame no start", first(func(h *Header) { h.Start = false }), nil, 0, "want session 0x0000000000000029, found 0x000000000000002a"},
		{"first frame no start, same session", first(func(h *Header) { h.Start = false }), func(c *ChainState) { c.Session = 42 }, 1, "want a frame after"},
		{"first frame of another segment", first(func(h *Header) { h.Segment = 6 }), nil, 0, "want segment 7, found 6"},
		{"first frame of another session", first(func(h *Header) { h.Session = 43 }), nil, 0, "want session 0x000000000000002a, found 0x000000000000002b"},
		{"first frame with another first message", first(func(h *Header) { h.First = 101 }), nil, 0, "want message 100, found 101"},
		{"frame of another store", second(func(h *Header) { h.Store++ }), nil, 1, "want header checksum"},
		{"frame of another place", second(func(h *Header) { h.Offset += PageSize }), nil, 1, "want header checksum"},
		{"frame of another segment", second(func(h *Header) { h.Segment++ }), nil, 1, "want segment 7, found 8"},
		{"frame of another session", second(func(h *Header) { h.Session++ }), nil, 1, "want session 0x000000000000002a, found 0x000000000000002b"},
		{"frame after another", second(func(h *Header) { h.Prev = 3 }), nil, 1, "found 0x00000003"},
		{"frame after a gap", second(func(h *Header) { h.First++ }), nil, 1, "want message 103, found 104"},
		{"start in the middle", second(func(h *Header) { h.Start = true }), nil, 1, "want a frame that continues the session, found a start"},
		{"messages changed", func() []byte {
			b := append([]byte(nil), image...)
			b[2*PageSize+100]++
			return b
		}, nil, 1, "want frame checksum"},
		{"frame beyond the segment", func() []byte {
			b := second(func(h *Header) { h.Len = PageSize + 1 })()
			s, _ := readSegmentHeader(b, testStore)
			s.Size = 3 * PageSize
			PutSegmentHeader(b[:PageSize], s)
			return b
		}, nil, 1, "want a segment of at least 16384 bytes, found 12288"},
		{"file too short", func() []byte { return image[:2*PageSize] }, nil, 1, "want a segment of at least 12288 bytes, found 8192"},
		{"no first page", func() []byte { return image[:20] }, nil, 0, "want at least 44 bytes, found 20"},
	} {
		chain := sampleChain
		if c.chain != nil {
			c.chain(&chain)
		}
		frames, stop := steps(t, chain, c.image())
		got := "want " + stop.Flaw.Want() + ", found " + stop.Flaw.Found()
		if len(frames) != c.frames || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d frames, %s; want %d, %s", c.name, len(frames), got, c.frames, c.want)
		}
	}
}

// TestEnterRefuses segments that do not continue the chain, before anything is read.
func TestEnterRefuses(t *testing.T) {
	info := sampleInfo
	info.Size = 2 * PageSize
	for name, change := range map[string]func(c *ChainState){
		"the first message": func(c *ChainState) { c.Next++ }, "the frame before": func(c *ChainState) { c.Prev++ },
		"the number": func(c *ChainState) { c.Segment++ },
	} {
		chain := sampleChain
		change(&chain)
		if s := NewScanner(testStore, chain); s.Enter(info, 2*PageSize).OK() {
			t.Errorf("%s is another one", name)
		}
	}
	if s := NewScanner(testStore, sampleChain); !s.Enter(info, 2*PageSize).OK() {
		t.Errorf("a segment that continues the chain")
	}
}

// TestHeadersThatLie have right checksums and make no sense; Seal refuses to
// make them.
func TestHeadersThatLie(t *testing.T) {
	image, _ := segmentImage(2*PageSize, sampleInfo, 1000)
	for _, c := range []struct {
		name   string
		change func(h []byte)
		want   what
	}{
		{"another magic", func(h []byte) { h[0]++ }, wrongMagic},
		{"a later version", func(h []byte) { h[4]++ }, wrongVersion},
		{"unknown flags", func(h []byte) { h[6] = 2 }, wrongFlags},
		{"shorter than a header", func(h []byte) { h[8], h[9] = 64, 0 }, wrongLength},
		{"longer than its padding", func(h []byte) { h[9] = 0x20 }, wrongLength},
		{"longest", func(h []byte) { copy(h[8:], []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}) }, wrongLength},
		{"message 0", func(h []byte) { clear(h[16:24]); clear(h[32:40]) }, wrongCount},
		{"no messages", func(h []byte) { clear(h[48:52]) }, wrongCount},
		{"more messages than there are numbers", func(h []byte) { copy(h[16:], []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0}) }, wrongCount},
		{"numbers that run over", func(h []byte) { copy(h[16:], bytes.Repeat([]byte{0xff}, 8)) }, wrongCount},
		{"durable before it was written", func(h []byte) { h[32] = 100 }, wrongDurable},
	} {
		b := append([]byte(nil), image[PageSize:]...)
		c.change(b)
		crc := checksum(seed(testStore, 1), b[:56])
		b[56], b[57], b[58], b[59] = byte(crc), byte(crc>>8), byte(crc>>16), byte(crc>>24)
		if _, flaw := readHeader(b, testStore, PageSize); flaw.what != c.want || flaw.Want() == "" || flaw.Found() == "" {
			t.Errorf("%s: %d, want %s, found %s; expected %d", c.name, flaw.what, flaw.Want(), flaw.Found(), c.want)
		}
	}
	good := Header{Store: testStore, Segment: 1, Offset: PageSize, First: 5, Count: 1, Len: 100, Durable: 4}
	for name, change := range map[string]func(h *Header){
		"length":        func(h *Header) { h.Len = PageSize + 1 },
		"header only":   func(h *Header) { h.Len = HeaderSize },
		"first page":    func(h *Header) { h.Offset = 0 },
		"offset":        func(h *Header) { h.Offset++ },
		"message 0":     func(h *Header) { h.First, h.Durable = 0, 0 },
		"count":         func(h *Header) { h.Count = 0 },
		"durable":       func(h *Header) { h.Durable = 5 },
		"numbers' end":  func(h *Header) { h.First, h.Count = message.MaxSeq, 2 },
		"nothing wrong": nil,
	} {
		h := good
		if change != nil {
			change(&h)
		}
		if got, want := panics(func() { Seal(make([]byte, PageSize), h) }), change != nil; got != want {
			t.Errorf("%s: panics %v, want %v", name, got, want)
		}
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// TestMoreIsAskedFor: a Scanner that gets only a part requests what it needs, and
// finds the same frames.
func TestMoreIsAskedFor(t *testing.T) {
	image, _ := segmentImage(8*PageSize, sampleInfo, 1000, 3*PageSize+5, 70)
	info, _ := readSegmentHeader(image, testStore)
	s := NewScanner(testStore, sampleChain)
	if flaw := s.Enter(info, len(image)); !flaw.OK() {
		t.Fatal(flaw)
	}
	have := 0
	var asked []int
	frames := 0
	for step := s.Step(nil); step.Kind != Stop; step = s.Step(image[:have]) {
		if step.Kind == Next {
			frames++
			continue
		}
		asked = append(asked, step.End/PageSize)
		have = step.End
	}
	want := []int{2, 3, 6, 7, 8}
	if frames != 3 || len(asked) != len(want) {
		t.Fatalf("%d frames, asked for %v; want 3 and %v", frames, asked, want)
	}
	for i := range want {
		if asked[i] != want[i] {
			t.Errorf("asked for %v, want %v", asked, want)
		}
	}
}

// FuzzSegment shows a Scanner a segment over which something was written: it
// finds the frames before it, and no others.
func FuzzSegment(f *testing.F) {
	image, _ := segmentImage(8*PageSize, sampleInfo, 1000, 3*PageSize+5, 70)
	f.Add([]byte("x"), uint32(0))
	f.Add([]byte{1, 2, 3}, uint32(PageSize+60))
	f.Add(make([]byte, 5000), uint32(3*PageSize))
	f.Add(image[PageSize:2*PageSize], uint32(2*PageSize))
	f.Add(image[2*PageSize:6*PageSize], uint32(PageSize))
	f.Add(image, uint32(1))
	want, _ := steps(&testing.T{}, sampleChain, image)
	f.Fuzz(func(t *testing.T, patch []byte, at uint32) {
		b := append([]byte(nil), image...)
		if int(at) < len(b) {
			copy(b[at:], patch)
		}
		frames, stop := steps(t, sampleChain, b)
		for i, got := range frames {
			if i >= len(want) || got != want[i] || !bytes.Equal(b[got.Off:got.End], image[got.Off:got.End]) {
				t.Fatalf("frame %d is %+v", i, got)
			}
		}
		if stop.Flaw.OK() || stop.Flaw.Want() == "" || stop.Flaw.Found() == "" {
			t.Fatalf("the end is %+v", stop)
		}
		if intact := bytes.Equal(b, image); intact && len(frames) != len(want) {
			t.Fatalf("%d frames of an intact segment", len(frames))
		}
		if h, off, found := Witness(testStore, b[PageSize:], PageSize, 1); found && (h.Durable < 1 || off%PageSize != 0) {
			t.Fatalf("%+v at %d is a witness", h, off)
		}
	})
}

// FuzzBytes shows it anything, with checksums made right, so that the other
// tests are reached.
func FuzzBytes(f *testing.F) {
	image, _ := segmentImage(4*PageSize, sampleInfo, 1000, PageSize+1)
	f.Add(image[:segmentUsed], image[PageSize:PageSize+56], uint64(testStore), uint64(100))
	f.Add(make([]byte, 44), make([]byte, 56), uint64(0), uint64(1))
	f.Add(bytes.Repeat([]byte{0xff}, 44), bytes.Repeat([]byte{0xff}, 56), uint64(1), ^uint64(0))
	f.Fuzz(func(t *testing.T, page, header []byte, store, next uint64) {
		b := make([]byte, 4*PageSize)
		copy(b, page[:min(len(page), 40)])
		put32(b[40:], checksum(seed(store, 0), b[:40]))
		copy(b[PageSize:], header[:min(len(header), 56)])
		put32(b[PageSize+56:], checksum(seed(store, 1), b[PageSize:PageSize+56]))
		for _, end := range []int{2, 3, 4} {
			put32(b[PageSize+60:], frameChecksum(b[PageSize:end*PageSize]))
			info, flaw := readSegmentHeader(b, store)
			if !flaw.OK() {
				return
			}
			s := NewScanner(store, ChainState{Prev: info.Prev, Next: info.First, Session: next})
			if flaw := s.Enter(info, len(b)); !flaw.OK() {
				t.Fatalf("%+v does not continue its own chain: %s", info, flaw.Want())
			}
			before := s.Chain()
			step := s.Step(b)
			if step.Kind != Next {
				if s.Chain() != before {
					t.Fatalf("the chain has moved without a frame")
				}
				continue
			}
			h := step.Header
			if step.End != end*PageSize || s.Chain().Next != h.Last()+1 || h.Last() > message.MaxSeq || h.Durable >= h.First || h.First != info.First {
				t.Fatalf("%+v is a frame", step)
			}
			// What is read is what Seal makes of it.
			again := append([]byte(nil), b[step.Off:step.End]...)
			Seal(again, h)
			if !bytes.Equal(again, b[step.Off:step.End]) {
				t.Fatalf("%+v is sealed otherwise", h)
			}
		}
	})
}

func put32(b []byte, v uint32) {
	b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
}
