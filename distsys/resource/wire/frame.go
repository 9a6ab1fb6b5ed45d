package wire

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// A frame is
//
//	length  u32, little endian: of type and payload
//	crc     u32, little endian: CRC-32C of length, type and payload
//	type    u8
//	payload
const headerLen = 8

// Type is the type of a frame.
type Type uint8

// Types below Service belong to this package; the others to the service that
// the link is for.
const (
	typeHello Type = iota + 1
	typeProof
	typeReject
	typePing
	Service Type = 16
)

// castagnoli returns the table of CRC-32C, which the library computes once.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// Begin starts a frame at the end of buf. What is appended until Finish, which
// needs the length that buf had before, is its payload.
func Begin(buf []byte, t Type) []byte {
	return append(buf, 0, 0, 0, 0, 0, 0, 0, 0, byte(t))
}

// Finish completes the frame that began when buf had the length start.
func Finish(buf []byte, start int) []byte {
	f := buf[start:]
	binary.LittleEndian.PutUint32(f, uint32(len(f)-headerLen))
	binary.LittleEndian.PutUint32(f[4:], checksum(f))
	return buf
}

func checksum(f []byte) uint32 {
	table := castagnoli()
	return crc32.Update(crc32.Checksum(f[:4], table), table, f[headerLen:])
}

// FrameError states what is wrong with bytes that should be frames. The
// connection they came on is of no more use.
type FrameError struct{ Reason string }

func (e *FrameError) Error() string { return "bad frame: " + e.Reason }

// Malformed returns a *FrameError.
func Malformed(format string, args ...any) error {
	return &FrameError{fmt.Sprintf(format, args...)}
}

// Decoder cuts a stream of bytes into frames. It keeps no more than one
// incomplete frame, and of that only what has come.
type Decoder struct {
	// Max bounds the length of type and payload.
	Max  int
	rest []byte
	err  error
}

// Feed takes the next bytes and calls f for each frame that they complete. The
// payload is f's until it returns. An error, its own or f's, is final.
func (d *Decoder) Feed(b []byte, f func(t Type, payload []byte) error) error {
	if d.err != nil {
		return d.err
	}
	kept := len(d.rest) > 0
	if kept {
		d.rest = append(d.rest, b...)
		b = d.rest
	}
	for d.err == nil {
		n, err := d.frame(b)
		if err != nil {
			d.err = err
			break
		}
		if n == 0 {
			break
		}
		d.err = f(Type(b[headerLen]), b[headerLen+1:n])
		b = b[n:]
	}
	if d.err != nil {
		d.rest = nil
		return d.err
	}
	switch {
	case len(b) == 0:
		d.rest = d.rest[:0]
		if cap(d.rest) > keepMax {
			d.rest = nil
		}
	case kept:
		d.rest = d.rest[:copy(d.rest, b)]
	default:
		d.rest = append(d.rest[:0], b...)
	}
	return nil
}

// Partial is the number of bytes of the unfinished frame.
func (d *Decoder) Partial() int { return len(d.rest) }

// Drop forgets the unfinished frame.
func (d *Decoder) Drop() { d.rest = nil }

// keepMax is the largest buffer that a Decoder keeps while it is empty.
const keepMax = 64 << 10

// frame returns the length of the whole frame at the start of b, or 0 where it
// is not all there.
func (d *Decoder) frame(b []byte) (int, error) {
	if len(b) < headerLen {
		return 0, nil
	}
	n := binary.LittleEndian.Uint32(b)
	switch {
	case n == 0:
		return 0, Malformed("no type")
	case uint64(n) > uint64(d.Max):
		return 0, Malformed("length %d is over the limit of %d", n, d.Max)
	case len(b)-headerLen < int(n):
		return 0, nil
	}
	end := headerLen + int(n)
	if want, got := binary.LittleEndian.Uint32(b[4:]), checksum(b[:end]); got != want {
		return 0, Malformed("checksum %08x, want %08x", got, want)
	}
	return end, nil
}

// Reader takes fields from a payload. After the first that does not fit, Err
// says so and all that follow are zero.
type Reader struct {
	b   []byte
	Err error
}

// NewReader reads b.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// Rest is what has not been read.
func (r *Reader) Rest() []byte { return r.b }

// Skip goes on at rest, which is the end of what Rest returned.
func (r *Reader) Skip(rest []byte) { r.b = rest }

func (r *Reader) fail(what string) {
	if r.Err == nil {
		r.Err = Malformed("%s is cut off or out of range", what)
	}
	r.b = nil
}

// Uvarint reads a variable-length number.
func (r *Reader) Uvarint(what string) uint64 {
	x, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail(what)
		return 0
	}
	r.b = r.b[n:]
	return x
}

// Count reads a number that is at most limit.
func (r *Reader) Count(what string, limit int) int {
	x := r.Uvarint(what)
	if x > uint64(limit) {
		r.fail(what)
		return 0
	}
	return int(x)
}

// Bytes reads n bytes; they are part of the payload.
func (r *Reader) Bytes(what string, n int) []byte {
	if n < 0 || len(r.b) < n {
		r.fail(what)
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

// String reads a length, at most limit, and so many bytes.
func (r *Reader) String(what string, limit int) string {
	return string(r.Bytes(what, r.Count(what, limit)))
}

// End checks that nothing is left and returns Err.
func (r *Reader) End() error {
	if r.Err == nil && len(r.b) > 0 {
		r.Err = Malformed("%d bytes too many", len(r.b))
	}
	return r.Err
}

// AppendString appends what String reads.
func AppendString(buf []byte, s string) []byte {
	return append(binary.AppendUvarint(buf, uint64(len(s))), s...)
}
