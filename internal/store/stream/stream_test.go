// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

type section struct {
	kind    byte
	payload string
}

var sections = []section{{1, "begin"}, {2, ""}, {2, "some bytes"}, {9, "end"}}

func written(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out)
	for _, s := range sections {
		half := len(s.payload) / 2
		if err := w.Section(s.kind, []byte(s.payload[:half]), []byte(s.payload[half:])); err != nil {
			t.Fatal(err)
		}
	}
	if w.Bytes() != int64(out.Len()) {
		t.Fatalf("%d bytes, want %d", w.Bytes(), out.Len())
	}
	return out.Bytes()
}

// read returns the sections of a stream, and what ended it.
func read(r *Reader) (out []section, err error) {
	for {
		kind, payload, err := r.Next()
		if err != nil {
			return out, err
		}
		out = append(out, section{kind, string(payload)})
	}
}

func TestRoundTrip(t *testing.T) {
	b := written(t)
	out, err := read(NewReader(bytes.NewReader(b)))
	if err != io.EOF || len(out) != len(sections) {
		t.Fatalf("%v, %v", out, err)
	}
	for i := range out {
		if out[i] != sections[i] {
			t.Errorf("section %d is %v, want %v", i, out[i], sections[i])
		}
	}
	if err := NewWriter(io.Discard).Section(1, make([]byte, PayloadMax), []byte{0}); err == nil {
		t.Error("a section that is too long")
	}
}

// A flipped bit ends the stream at its section, and so does a section that is
// missing, twice there, or of another stream. Sections before it are as written.
func TestDamage(t *testing.T) {
	b := written(t)
	starts := []int{0}
	for _, s := range sections {
		starts = append(starts, starts[len(starts)-1]+HeaderSize+len(s.payload))
	}
	ends := func(damaged []byte, whole int, what string) {
		t.Helper()
		out, err := read(NewReader(bytes.NewReader(damaged)))
		var bad *Corrupt
		if !errors.As(err, &bad) || len(out) != whole || bad.Offset != int64(starts[whole]) {
			t.Errorf("%s: %d sections, %v; want %d", what, len(out), err, whole)
		}
	}
	for i, s := range sections {
		for at := starts[i]; at < starts[i+1]; at++ {
			for bit := range 8 {
				damaged := bytes.Clone(b)
				damaged[at] ^= 1 << bit
				ends(damaged, i, "bit")
			}
			if at > starts[i] {
				ends(b[:at], i, "cut")
			}
		}
		if i+1 < len(sections) && s.payload != "" {
			ends(append(bytes.Clone(b[:starts[i]]), b[starts[i+1]:]...), i, "left out")
		}
		ends(append(bytes.Clone(b[:starts[i+1]]), b[starts[i]:]...), i+1, "twice")
	}
}

// A false length allocates no memory for bytes that do not arrive.
func TestLengthsAreNotBelieved(t *testing.T) {
	var out bytes.Buffer
	if err := NewWriter(&out).Section(1, make([]byte, PayloadMax)); err != nil {
		t.Fatal(err)
	}
	r := NewReader(bytes.NewReader(out.Bytes()[:HeaderSize+10]))
	if _, _, err := r.Next(); err == nil || cap(r.buf) > fillUnit {
		t.Errorf("%v, with a buffer of %d bytes", err, cap(r.buf))
	}
}
