// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"math"

	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// reader decodes a payload. After the first error it returns zeros, and flaw
// describes the error.
type reader struct {
	b    []byte
	flaw string
}

const flawShort = "it ends too early"

func (r *reader) fail(flaw string) {
	if r.flaw == "" {
		r.flaw = flaw
	}
	r.b = nil
}

func (r *reader) u8() uint8 {
	if len(r.b) == 0 {
		r.fail(flawShort)
		return 0
	}
	x := r.b[0]
	r.b = r.b[1:]
	return x
}

func (r *reader) u16() uint16 {
	if len(r.b) < 2 {
		r.fail(flawShort)
		return 0
	}
	x := binary.LittleEndian.Uint16(r.b)
	r.b = r.b[2:]
	return x
}

func (r *reader) u64() uint64 {
	if len(r.b) < 8 {
		r.fail(flawShort)
		return 0
	}
	x := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return x
}

// uvarint reads an unsigned LEB128 number, which must have its shortest form.
func (r *reader) uvarint() uint64 {
	if len(r.b) > 0 && r.b[0] < 0x80 {
		x := r.b[0]
		r.b = r.b[1:]
		return uint64(x)
	}
	x, n := binary.Uvarint(r.b)
	switch {
	case n == 0:
		r.fail(flawShort)
		return 0
	case n < 0:
		r.fail("a number of more than 64 bits")
		return 0
	case r.b[n-1] == 0:
		r.fail("a number that is not in its shortest form")
		return 0
	}
	r.b = r.b[n:]
	return x
}

func (r *reader) uvarint32() uint32 {
	x := r.uvarint()
	if x > math.MaxUint32 {
		r.fail("a number of more than 32 bits")
		return 0
	}
	return uint32(x)
}

// bytes reads a length and that many bytes. The length must be at least one:
// empty fields are not written at all. The result refers to the payload.
func (r *reader) bytes() []byte {
	n := r.uvarint()
	switch {
	case r.flaw != "":
		return nil
	case n == 0:
		r.fail("an empty field of bytes is encoded")
		return nil
	case n > uint64(len(r.b)):
		r.fail(flawShort)
		return nil
	}
	return r.some(int(n))
}

// some reads n bytes. The result refers to the payload.
func (r *reader) some(n int) []byte {
	if len(r.b) < n {
		r.fail(flawShort)
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

// tail returns the rest of the payload, or nil if there is none.
func (r *reader) tail() []byte {
	b := r.b
	r.b = nil
	if len(b) == 0 {
		return nil
	}
	return b[:len(b):len(b)]
}

func (r *reader) ballot() wor.Ballot {
	return wor.Ballot{Round: r.uvarint(), Nonce: r.u64()}
}

// given rejects a field that is written although it is zero: each message must
// have one encoding.
func (r *reader) given(zero bool) {
	if zero {
		r.fail("a zero field is encoded")
	}
}

// end returns the error, if there was one or if bytes are left.
func (r *reader) end(t Type) error {
	if len(r.b) > 0 {
		r.fail("trailing bytes")
	}
	if r.flaw != "" {
		return link.Malformed(t.String(), "%s", r.flaw)
	}
	return nil
}

func appendUvarint(b []byte, x uint64) []byte {
	if x < 0x80 {
		return append(b, byte(x))
	}
	return binary.AppendUvarint(b, x)
}

func appendBallot(b []byte, x wor.Ballot) []byte {
	return binary.LittleEndian.AppendUint64(appendUvarint(b, x.Round), x.Nonce)
}

func appendBytes(b, x []byte) []byte { return append(appendUvarint(b, uint64(len(x))), x...) }
