// SPDX-License-Identifier: Apache-2.0

package message

import "encoding/binary"

// BlobRef says where a large value is: Len bytes from the byte Addr of the data
// file on, with that CRC32C.
type BlobRef struct {
	Addr int64
	Len  uint32
	CRC  uint32
}

// BlobRefSize is the length of an encoded BlobRef, in bytes.
const BlobRefSize = 16

// Append appends the encoding: three little-endian numbers.
func (r BlobRef) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.Addr))
	dst = binary.LittleEndian.AppendUint32(dst, r.Len)
	return binary.LittleEndian.AppendUint32(dst, r.CRC)
}

// DecodeBlobRef decodes a reference; ok is false if b does not encode one.
func DecodeBlobRef(b []byte) (r BlobRef, ok bool) {
	if len(b) != BlobRefSize {
		return BlobRef{}, false
	}
	r = BlobRef{
		Addr: int64(binary.LittleEndian.Uint64(b)),
		Len:  binary.LittleEndian.Uint32(b[8:]),
		CRC:  binary.LittleEndian.Uint32(b[12:]),
	}
	return r, r.Addr >= 0 && r.Len <= ValueMax
}
