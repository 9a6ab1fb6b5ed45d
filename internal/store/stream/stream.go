// SPDX-License-Identifier: Apache-2.0

// Package stream frames what leaves a store: copies, and the history of its
// changes. A stream is a sequence of sections, each with a kind, a payload of at
// most PayloadMax bytes, and a checksum of everything in the stream up to its end.
//
// In and out: sections, over an io.Writer and an io.Reader. Promised: a section
// that a Reader returns is in the stream where it stood when it was written,
// after the same sections; anything else is a *Corrupt that says where. Memory
// for one section is taken as its bytes arrive, so that a damaged length costs
// nothing. Refused: what sections mean, and which one is the last: a stream that
// is cut between two sections is for its reader to notice.
//
// A section, little endian; offsets in bytes:
//
//	 0 u32 magic "ASST"
//	 4 u8  kind
//	 5 u24 zero
//	 8 u32 length of the payload
//	12 u32 CRC-32C of bytes 0 to 11 and of the payload, continued from that of
//	       the section before, from 0 for the first
//	16     payload
package stream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Sizes in bytes.
const (
	// HeaderSize is the length of a section without its payload.
	HeaderSize = 16
	// PayloadMax is the longest payload.
	PayloadMax = 1 << 20
)

const magic = 0x54535341

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Corrupt is the error of bytes that are not the next section of the stream.
type Corrupt struct {
	Offset      int64 // of the section, from the first byte that was read
	Want, Found string
}

func (c *Corrupt) Error() string {
	return fmt.Sprintf("byte %d of the stream: want %s, found %s", c.Offset, c.Want, c.Found)
}

// Writer writes the sections of one stream. It is for one goroutine.
type Writer struct {
	w   io.Writer
	crc uint32
	n   int64
}

// NewWriter returns a Writer at the beginning of a stream.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Section writes a section. The payload is all parts, one after the other.
func (w *Writer) Section(kind byte, parts ...[]byte) error {
	var head [HeaderSize]byte
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if n > PayloadMax {
		return fmt.Errorf("section of %d bytes, at most %d", n, PayloadMax)
	}
	binary.LittleEndian.PutUint32(head[0:], magic)
	head[4] = kind
	binary.LittleEndian.PutUint32(head[8:], uint32(n))
	w.crc = crc32.Update(w.crc, castagnoli, head[:12])
	for _, p := range parts {
		w.crc = crc32.Update(w.crc, castagnoli, p)
	}
	binary.LittleEndian.PutUint32(head[12:], w.crc)
	for _, p := range append([][]byte{head[:]}, parts...) {
		if m, err := w.w.Write(p); err != nil {
			return err
		} else if m < len(p) {
			return io.ErrShortWrite
		}
		w.n += int64(len(p))
	}
	return nil
}

// Bytes returns the number of bytes written.
func (w *Writer) Bytes() int64 { return w.n }

// Reader reads the sections of one stream. It is for one goroutine.
type Reader struct {
	r   io.Reader
	crc uint32
	at  int64
	buf []byte
}

// NewReader returns a Reader at the beginning of a stream.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Offset is how many bytes were read.
func (r *Reader) Offset() int64 { return r.at }

// Next reads a section. The payload is valid until the next call. The error is
// io.EOF where the input ends before the section, a *Corrupt, or of the input.
func (r *Reader) Next() (kind byte, payload []byte, err error) {
	var head [HeaderSize]byte
	start := r.at
	n, err := io.ReadFull(r.r, head[:])
	r.at += int64(n)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, nil, &Corrupt{start, fmt.Sprintf("a section header of %d bytes", HeaderSize), fmt.Sprintf("the end after %d bytes", n)}
	} else if err != nil {
		return 0, nil, err // io.EOF too
	}
	if got := binary.LittleEndian.Uint32(head[0:]); got != magic {
		return 0, nil, &Corrupt{start, fmt.Sprintf("a section, magic %#08x", magic), fmt.Sprintf("%#08x", got)}
	}
	if head[5]|head[6]|head[7] != 0 {
		return 0, nil, &Corrupt{start, "zeros after the kind", fmt.Sprintf("%x", head[5:8])}
	}
	size := binary.LittleEndian.Uint32(head[8:])
	if size > PayloadMax {
		return 0, nil, &Corrupt{start, fmt.Sprintf("a section of at most %d bytes", PayloadMax), fmt.Sprint(size)}
	}
	if err := r.fill(int(size), start); err != nil {
		return 0, nil, err
	}
	crc := crc32.Update(crc32.Update(r.crc, castagnoli, head[:12]), castagnoli, r.buf)
	if got := binary.LittleEndian.Uint32(head[12:]); got != crc {
		return 0, nil, &Corrupt{start, fmt.Sprintf("a section with checksum %08x", got), fmt.Sprintf("bytes with %08x", crc)}
	}
	r.crc = crc
	return head[4], r.buf, nil
}

// fillUnit is by how much the buffer runs ahead of the bytes that have arrived.
const fillUnit = 64 << 10

// fill reads size bytes into the buffer.
func (r *Reader) fill(size int, start int64) error {
	r.buf = r.buf[:0]
	for len(r.buf) < size {
		have := len(r.buf)
		next := min(size, max(have+fillUnit, cap(r.buf)))
		if next > cap(r.buf) {
			r.buf = append(make([]byte, 0, next), r.buf...)
		}
		r.buf = r.buf[:next]
		n, err := io.ReadFull(r.r, r.buf[have:])
		r.at += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return &Corrupt{start, fmt.Sprintf("a section of %d bytes", size), fmt.Sprintf("the end after %d bytes", have+n)}
		} else if err != nil {
			return err
		}
	}
	return nil
}
