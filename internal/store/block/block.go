// SPDX-License-Identifier: Apache-2.0

// Package block is the leaf of a branch on disk: a sorted run of messages in
// whole pages of 4 KiB that identifies itself.
//
// In: messages in order. Out: bytes, and from bytes messages. Promised: Open
// accepts only the bytes that Finish made for that branch, block and epoch; a
// message is found by binary search and read without copying its value or
// decoding others; Open never panics and never trusts a length. Refused: where
// blocks are, which the fences of the branch know, together with the checksum
// that is compared first.
//
// # Format
//
// All numbers are little endian. A block is a header, the payload, and zeros
// up to a whole number of pages:
//
//	 0  u32  CRC32C of everything behind it, the zeros at the end too
//	 4  u16  magic, 0xB10C
//	 6  u8   version, 1
//	 7  u8   compression in the low four bits, content in the high four
//	 8  u16  messages
//	10  u16  length of the key prefix that all messages share
//	12  u32  length of the payload
//	16  u32  length of the payload as it is stored, compressed
//	20  u32  number of the block in its branch
//	24  u64  branch
//	32  u64  epoch of the branch
//
// The payload of n messages:
//
//	values, one after another
//	the shared prefix
//	the rest of each key, one after another
//	n × u64  sequence number << 8 | kind
//	n × u16  where the value begins, among the values
//	n × u16  where the rest of the key ends, among these
//
// Everything that a search needs is together behind the values. Offsets have
// 16 bits, since a block of more than one message has at most 32 KiB; a longer
// message is alone in its block, and its offsets are zero.
package block

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

const (
	// PageSize is the unit of a block's length, in bytes.
	PageSize = 4096
	// HeaderSize is the length of the header, in bytes.
	HeaderSize = 40
	// MaxBytes is the longest block of more than one message, header and
	// padding included.
	MaxBytes = 32 << 10
	// ValueMax is the longest value that a block holds.
	ValueMax = 1 << 20
	// LargestBytes is the longest block: of one message with the longest key
	// and value.
	LargestBytes = (HeaderSize + message.KeyMax + ValueMax + entrySize + PageSize - 1) / PageSize * PageSize

	magic     = 0xB10C
	version   = 1
	entrySize = 12 // of one message in the tables
)

// Content is the kind of a block's messages. The numbers are stored on disk.
type Content uint8

const (
	// Messages are the branch's messages, in order.
	Messages Content = 0
	// Tombstones are the branch's RangeDeletes, which readers have from the
	// index: only a repair reads these blocks.
	Tombstones Content = 1
)

// ID is whose block it is.
type ID struct {
	Branch, Epoch uint64
	Block         uint32
	Content       Content
}

func (id ID) String() string {
	what := "block"
	if id.Content == Tombstones {
		what = "tombstone block"
	}
	return fmt.Sprintf("%s %d of branch %d, epoch %d", what, id.Block, id.Branch, id.Epoch)
}

// Want is what a block must be: CRC comes from the reference to the block, never
// from the block.
type Want struct {
	ID
	CRC uint32
}

// Mismatch is the error for bytes that are not the wanted block.
type Mismatch struct {
	Want, Found string
}

func (m *Mismatch) Error() string { return "want " + m.Want + ", found " + m.Found }

// Header is a block's header, checked for sense but not by checksum.
type Header struct {
	Want
	Compression Compression
	Count       int // messages
	Prefix      int // length of the shared key prefix
	Raw, Stored int // length of the payload, uncompressed and as stored
}

// Bytes is the length of the whole block: header, payload and padding.
func (h Header) Bytes() int { return pages(HeaderSize+h.Stored) * PageSize }

func pages(n int) int { return (n + PageSize - 1) / PageSize }

// ReadHeader reads the header at the start of b. A repair, which has no
// reference to the block, opens it with the Want in its header, and must
// therefore expect any valid block of any age.
func ReadHeader(b []byte) (Header, error) {
	if len(b) < HeaderSize {
		return Header{}, &Mismatch{Want: "a block", Found: fmt.Sprintf("%d bytes", len(b))}
	}
	le := binary.LittleEndian
	if m, v := le.Uint16(b[4:]), b[6]; m != magic || v != version {
		return Header{}, &Mismatch{
			Want:  fmt.Sprintf("a block of version %d", version),
			Found: fmt.Sprintf("magic %#04x, version %d", m, v),
		}
	}
	h := Header{
		Want: Want{
			ID: ID{
				Branch: le.Uint64(b[24:]), Epoch: le.Uint64(b[32:]), Block: le.Uint32(b[20:]),
				Content: Content(b[7] >> 4),
			},
			CRC: le.Uint32(b),
		},
		Compression: Compression(b[7] & 15),
		Count:       int(le.Uint16(b[8:])),
		Prefix:      int(le.Uint16(b[10:])),
	}
	raw, stored := le.Uint32(b[12:]), le.Uint32(b[16:])
	if raw > LargestBytes-HeaderSize || stored > raw || h.Compression > Zstd || h.Content > Tombstones ||
		h.Compression == None && stored != raw || h.Compression != None && raw > MaxBytes-HeaderSize ||
		h.Count == 0 || h.Count > 1 && raw > MaxBytes-HeaderSize || h.Count*entrySize+h.Prefix > int(raw) {
		return Header{}, &Mismatch{
			Want: "a valid header",
			Found: fmt.Sprintf("%d messages with a prefix of %d bytes in %d bytes, %d stored, compression %d, content %d",
				h.Count, h.Prefix, raw, stored, h.Compression, h.Content),
		}
	}
	h.Raw, h.Stored = int(raw), int(stored)
	return h, nil
}

// Checksum is the checksum of a whole block: of all but the field that holds
// it.
func Checksum(stored []byte) uint32 {
	return crc32.Update(0, crc32.MakeTable(crc32.Castagnoli), stored[4:])
}

// Block is an opened block. It aliases the slices that it was opened from. Any
// number of readers may use it.
type Block struct {
	image    []byte // header and payload, uncompressed
	n        int
	values   []byte
	prefix   []byte
	suffixes []byte
	tags     []byte
	starts   []byte
	ends     []byte
}

// Open checks a block and opens it. Stored is the whole block, in whole pages.
// An uncompressed block stays in stored; a compressed one is unpacked into
// scratch, which must then have MaxBytes. The error is a *Mismatch.
func Open(stored []byte, w Want, scratch []byte, c *Coder) (Block, error) {
	if len(stored) == 0 || len(stored)%PageSize != 0 {
		return Block{}, &Mismatch{Want: w.String(), Found: fmt.Sprintf("%d bytes, not whole pages", len(stored))}
	}
	if sum := Checksum(stored); sum != w.CRC {
		return Block{}, wrongSum(stored, sum, w)
	}
	h, err := ReadHeader(stored)
	if err != nil {
		return Block{}, err
	}
	if h.Want != w {
		return Block{}, &Mismatch{
			Want:  fmt.Sprintf("%v, checksum %08x", w.ID, w.CRC),
			Found: fmt.Sprintf("%v, checksum %08x", h.ID, h.CRC),
		}
	}
	if h.Bytes() != len(stored) {
		return Block{}, &Mismatch{
			Want:  fmt.Sprintf("%v of %d bytes", w.ID, len(stored)),
			Found: fmt.Sprintf("a header that says %d bytes", h.Bytes()),
		}
	}
	image := stored[:HeaderSize+h.Stored]
	if h.Compression != None {
		if image, err = unpack(stored, h, scratch, c); err != nil {
			return Block{}, err
		}
	}
	b, ok := layout(image, h.Count, h.Prefix)
	if !ok || !b.sound() {
		return Block{}, &Mismatch{Want: w.String(), Found: "tables that point outside the block"}
	}
	return b, nil
}

// wrongSum distinguishes the ways in which a block can be another than wanted.
func wrongSum(stored []byte, sum uint32, w Want) error {
	m := &Mismatch{
		Want:  fmt.Sprintf("%v, checksum %08x", w.ID, w.CRC),
		Found: fmt.Sprintf("bytes with checksum %08x", sum),
	}
	h, err := ReadHeader(stored)
	switch {
	case err != nil:
		m.Found += ", which are not a block"
	case h.Bytes() <= len(stored) && Checksum(stored[:h.Bytes()]) == h.CRC:
		m.Found = fmt.Sprintf("another valid block: %v, checksum %08x", h.ID, h.CRC)
	case h.ID == w.ID:
		m.Found += " after the right header"
	default:
		m.Found += fmt.Sprintf(" after a header of %v", h.ID)
	}
	return m
}

// unpack makes the image of a compressed block.
func unpack(stored []byte, h Header, scratch []byte, c *Coder) ([]byte, error) {
	if len(scratch) < HeaderSize+h.Raw {
		return nil, &Mismatch{
			Want:  fmt.Sprintf("%v in at most %d bytes", h.ID, len(scratch)),
			Found: fmt.Sprintf("one of %d", HeaderSize+h.Raw),
		}
	}
	image := scratch[:HeaderSize+h.Raw]
	if err := c.decode(h.Compression, image[HeaderSize:], stored[HeaderSize:HeaderSize+h.Stored]); err != nil {
		return nil, &Mismatch{
			Want:  fmt.Sprintf("%v with %d bytes of %v that become %d", h.ID, h.Stored, h.Compression, h.Raw),
			Found: err.Error(),
		}
	}
	copy(image, stored[:HeaderSize])
	image[7] &^= 15
	binary.LittleEndian.PutUint32(image[16:], uint32(h.Raw))
	return image, nil
}

// Image returns the header and the uncompressed payload, for Reopen. It aliases
// the slice that the block was opened from.
func (b *Block) Image() []byte { return b.image }

// Reopen opens the Image of a block that was opened before: from a cache in
// memory, so that neither the checksum nor the tables are checked again; ok is
// false when image can be none.
func Reopen(image []byte) (b Block, ok bool) {
	if len(image) < HeaderSize {
		return Block{}, false
	}
	n, prefix := int(binary.LittleEndian.Uint16(image[8:])), int(binary.LittleEndian.Uint16(image[10:]))
	if n == 0 {
		return Block{}, false
	}
	return layout(image, n, prefix)
}

// layout finds the parts of an image.
func layout(image []byte, n, prefix int) (Block, bool) {
	payload := image[HeaderSize:]
	at := len(payload) - n*entrySize
	if at < 0 {
		return Block{}, false
	}
	b := Block{
		image:  image,
		n:      n,
		tags:   payload[at : at+8*n : at+8*n],
		starts: payload[at+8*n : at+10*n : at+10*n],
		ends:   payload[at+10*n:],
	}
	rest := b.end(n - 1)
	if at < rest+prefix {
		return Block{}, false
	}
	b.suffixes = payload[at-rest : at : at]
	b.prefix = payload[at-rest-prefix : at-rest : at-rest]
	b.values = payload[: at-rest-prefix : at-rest-prefix]
	return b, true
}

// sound checks the tables, so that no message leads outside of the block.
func (b *Block) sound() bool {
	le, longest := binary.LittleEndian, message.KeyMax-len(b.prefix)
	start, end := 0, 0
	tags, starts, ends := b.tags, b.starts, b.ends
	if b.start(0) != 0 {
		return false
	}
	for len(tags) >= 8 && len(starts) >= 2 && len(ends) >= 2 {
		s, e := int(le.Uint16(starts)), int(le.Uint16(ends))
		if s < start || e < end || e-end > longest || !message.Kind(tags[0]).Valid() {
			return false
		}
		start, end = s, e
		tags, starts, ends = tags[8:], starts[2:], ends[2:]
	}
	return start <= len(b.values)
}

func (b *Block) start(i int) int { return int(binary.LittleEndian.Uint16(b.starts[2*i:])) }
func (b *Block) end(i int) int   { return int(binary.LittleEndian.Uint16(b.ends[2*i:])) }

// Len is the number of messages, at least 1.
func (b *Block) Len() int { return b.n }

// Prefix is what all keys begin with.
func (b *Block) Prefix() []byte { return b.prefix }

// Suffix is the part of the key of message i after the Prefix.
func (b *Block) Suffix(i int) []byte {
	from := 0
	if i > 0 {
		from = b.end(i - 1)
	}
	return b.suffixes[from:b.end(i)]
}

// Value is the value of message i.
func (b *Block) Value(i int) []byte {
	if i+1 < b.n {
		to := b.start(i + 1)
		return b.values[b.start(i):to:to]
	}
	return b.values[b.start(i):]
}

// Tag is the number and the kind of message i.
func (b *Block) Tag(i int) (message.Seq, message.Kind) {
	tag := binary.LittleEndian.Uint64(b.tags[8*i:])
	return message.Seq(tag >> 8), message.Kind(tag & 0xff)
}

// Message is message i; its key is put together in key, which is grown where
// it is too short, and its value is the block's.
func (b *Block) Message(i int, key []byte) message.Message {
	seq, kind := b.Tag(i)
	return message.Message{
		Key: append(append(key[:0], b.prefix...), b.Suffix(i)...), Value: b.Value(i), Seq: seq, Kind: kind,
	}
}

// Seek returns the index of the first message with a key at or above key, or
// Len if there is none.
func (b *Block) Seek(key []byte) int {
	head := key[:min(len(key), len(b.prefix))]
	switch bytes.Compare(head, b.prefix) {
	case -1:
		return 0
	case 1:
		return b.n
	}
	rest := key[len(b.prefix):]
	lo, hi := 0, b.n
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if bytes.Compare(b.Suffix(mid), rest) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// HasKey reports whether message i is of that key.
func (b *Block) HasKey(i int, key []byte) bool {
	p := len(b.prefix)
	return len(key) >= p && bytes.Equal(key[p:], b.Suffix(i)) && bytes.Equal(key[:p], b.prefix)
}

// Validate checks what Open takes on the word of the checksum: that the
// messages are in order.
func (b *Block) Validate() error {
	for i := 1; i < b.n; i++ {
		c := bytes.Compare(b.Suffix(i-1), b.Suffix(i))
		before, _ := b.Tag(i - 1)
		seq, _ := b.Tag(i)
		if c > 0 || c == 0 && before <= seq {
			return &Mismatch{
				Want:  "messages in order",
				Found: fmt.Sprintf("key %s at %d after key %s at %d", Masked(b.Suffix(i)), seq, Masked(b.Suffix(i-1)), before),
			}
		}
	}
	return nil
}
