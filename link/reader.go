// SPDX-License-Identifier: Apache-2.0

package link

import "encoding/binary"

// Reader reads fields from a payload. After the first invalid field, Err is set
// and all later reads return zero values.
type Reader struct {
	Err  error
	what string
	b    []byte
}

// NewReader reads b, the payload of the frame named what.
func NewReader(what string, b []byte) *Reader { return &Reader{what: what, b: b} }

// Rest returns the bytes not read yet.
func (r *Reader) Rest() []byte { return r.b }

// Skip continues reading at rest, which must be a suffix of the bytes that Rest
// returned.
func (r *Reader) Skip(rest []byte) { r.b = rest }

// Fail records that a field is invalid, unless an earlier one was.
func (r *Reader) Fail(format string, args ...any) {
	if r.Err == nil {
		r.Err = Malformed(r.what, format, args...)
	}
	r.b = nil
}

// Uvarint reads an unsigned LEB128.
func (r *Reader) Uvarint(field string) uint64 {
	x, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.Fail("%s is truncated or out of range", field)
		return 0
	}
	r.b = r.b[n:]
	return x
}

// Count reads an unsigned LEB128 that is at most limit.
func (r *Reader) Count(field string, limit int) int {
	x := r.Uvarint(field)
	if x > uint64(limit) {
		r.Fail("%s is %d, limit is %d", field, x, limit)
		return 0
	}
	return int(x)
}

// Bytes reads n bytes. The result is a slice of the payload.
func (r *Reader) Bytes(field string, n int) []byte {
	if n < 0 || len(r.b) < n {
		r.Fail("%s is truncated", field)
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

// U8 reads a byte.
func (r *Reader) U8(field string) uint8 {
	if b := r.Bytes(field, 1); b != nil {
		return b[0]
	}
	return 0
}

// U16 reads two bytes, little endian.
func (r *Reader) U16(field string) uint16 {
	if b := r.Bytes(field, 2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// U32 reads four bytes, little endian.
func (r *Reader) U32(field string) uint32 {
	if b := r.Bytes(field, 4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// U64 reads eight bytes, little endian.
func (r *Reader) U64(field string) uint64 {
	if b := r.Bytes(field, 8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// String reads a length of at most limit and that many bytes.
func (r *Reader) String(field string, limit int) string {
	return string(r.Bytes(field, r.Count(field, limit)))
}

// End fails if bytes are left, and returns Err.
func (r *Reader) End() error {
	if r.Err == nil && len(r.b) > 0 {
		r.Fail("%d extra bytes", len(r.b))
	}
	return r.Err
}

// AppendString appends a string in the form that Reader.String reads.
func AppendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
