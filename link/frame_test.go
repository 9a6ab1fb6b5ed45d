// SPDX-License-Identifier: Apache-2.0

package link_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/link"
)

// scan gives a Scanner the stream in pieces of at most n bytes.
func scan(t testing.TB, limit int, stream []byte, n int) (frames []rawFrame, rest int, err error) {
	t.Helper()
	s := link.Scanner{Max: limit}
	for len(stream) > 0 {
		k := min(n, len(stream))
		// The buffer is used again, as the network's is.
		piece := bytes.Clone(stream[:k])
		s.Feed(piece)
		stream = stream[k:]
		for {
			f, ok, err := s.Next()
			if err != nil {
				if _, _, again := s.Next(); again != err {
					t.Fatalf("after %v: %v", err, again)
				}
				return frames, 0, err
			}
			if !ok {
				break
			}
			frames = append(frames, rawFrame{byte(f.Type), bytes.Clone(f.Payload)})
		}
		clear(piece)
		if p := s.Partial(); p > limit {
			t.Fatalf("%d bytes are kept, limit is %d", p, limit)
		}
	}
	return frames, s.Partial(), nil
}

func sample(n int) (stream []byte, want []rawFrame) {
	for i := range n {
		f := rawFrame{byte(i % 40), []byte(strings.Repeat(fmt.Sprint(i), i*i%1000))}
		stream = append(stream, f.bytes()...)
		want = append(want, f)
	}
	return stream, want
}

func same(a, b []rawFrame) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].kind != b[i].kind || !bytes.Equal(a[i].payload, b[i].payload) {
			return false
		}
	}
	return true
}

// TestScannerTakesAnyPieces: a stream by the format's page, in pieces of every
// kind, is the frames that it was made of.
func TestScannerTakesAnyPieces(t *testing.T) {
	stream, want := sample(60)
	for _, piece := range []int{1, 2, 3, 5, 6, 7, 100, 1001, len(stream)} {
		if got, rest, err := scan(t, 1<<16, stream, piece); err != nil || rest != 0 || !same(got, want) {
			t.Errorf("in pieces of %d: %d frames, %v", piece, len(got), err)
		}
	}
}

// TestBeginAndSeal: what is written is what the format's page says.
func TestBeginAndSeal(t *testing.T) {
	b := []byte("before")
	for i, payload := range []string{"", "x", strings.Repeat("long", 5000)} {
		start := len(b)
		b = link.Seal(append(link.Begin(b, link.Service+link.Type(i)), payload...), start)
		if want := (rawFrame{byte(16 + i), []byte(payload)}).bytes(); !bytes.Equal(b[start:], want) || len(want) != len(payload)+link.Overhead {
			t.Errorf("frame %d: %x, want %x", i, b[start:], want)
		}
	}
}

// TestEveryFlippedBitIsFound: no frame with one bit changed is accepted.
func TestEveryFlippedBitIsFound(t *testing.T) {
	frame := rawFrame{17, []byte("a short payload")}.bytes()
	for bit := range len(frame) * 8 {
		b := bytes.Clone(frame)
		b[bit/8] ^= 1 << (bit % 8)
		got, rest, err := scan(t, 1<<10, b, len(b))
		// A length that has become larger waits for more, within the limit.
		if len(got) > 0 || err == nil && rest != len(b) {
			t.Errorf("bit %d: %d frames, %v", bit, len(got), err)
		}
	}
}

func TestScannerRefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		limit      int
		stream     []byte
	}{
		{"too short", "9 bytes are too short for a frame", 100, []byte{5, 0, 0, 0, 1, 16}},
		{"long", "101 bytes, limit is 100", 100, []byte{97, 0, 0, 0, 1, 16}},
		{"the longest length", "limit is 100", 100, []byte{255, 255, 255, 255, 1, 16}},
		{"another version", "version 2; this program speaks version 1", 100, []byte{10, 0, 0, 0, 2, 16}},
		{"long before the handshake", "limit is 2048", 0, []byte{0, 8, 0, 0, 1, 1}},
		{"damaged", "wrong checksum", 100, append(rawFrame{16, nil}.bytes()[:9], 0)},
	} {
		for _, piece := range []int{1, len(c.stream)} {
			s := link.Scanner{Max: c.limit}
			var err error
			for b := c.stream; len(b) > 0 && err == nil; b = b[min(piece, len(b)):] {
				s.Feed(b[:min(piece, len(b))])
				_, _, err = s.Next()
			}
			var f *link.FrameError
			if !errors.As(err, &f) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, by %d: %v, want %q", c.name, piece, err, c.want)
			}
		}
	}
}

// FuzzScanner: whatever comes, in whatever pieces, a Scanner finds the frames
// that a reader finds that knows the format's page alone.
func FuzzScanner(f *testing.F) {
	stream, _ := sample(5)
	f.Add(stream, 3, false)
	f.Add(stream[:len(stream)-1], 1, false)
	f.Add([]byte{1, 1, 1, 1, 1, 16, 7, 7, 7, 7, 7, 7}, 5, true)
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0}, 1, false)
	f.Fuzz(func(t *testing.T, stream []byte, piece int, mend bool) {
		const limit = 1 << 10
		if mend && len(stream) >= 10 { // so that some get past the checksum
			stream = bytes.Clone(stream)
			binary.LittleEndian.PutUint32(stream, uint32(len(stream)-4))
			stream[4] = 1
			binary.LittleEndian.PutUint32(stream[len(stream)-4:], crc32.Checksum(stream[:len(stream)-4], crc32.MakeTable(crc32.Castagnoli)))
		}
		want, wantRest, broken := rawFrames(stream, limit)
		got, rest, err := scan(t, limit, stream, max(1, min(piece, 1<<20)))
		if !same(got, want) || broken != (err != nil) || !broken && rest != wantRest {
			t.Errorf("%x: %d frames, %d bytes left, %v; want %d, %d, broken: %v", stream, len(got), rest, err, len(want), wantRest, broken)
		}
	})
}

// BenchmarkFrame writes and reads a frame of 100 bytes.
func BenchmarkFrame(b *testing.B) {
	payload := make([]byte, 100)
	s := link.Scanner{Max: 1 << 20}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = link.Seal(append(link.Begin(buf[:0], link.Service), payload...), 0)
		s.Feed(buf)
		if _, ok, err := s.Next(); !ok {
			b.Fatal(err)
		}
		s.Next()
	}
	b.SetBytes(int64(len(buf)))
}
