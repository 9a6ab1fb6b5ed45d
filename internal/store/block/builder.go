// SPDX-License-Identifier: Apache-2.0

package block

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// The rule by which blocks are closed. A block grows page by page. When the next
// message does not fit into its pages, the block is closed if the space that would
// stay empty is at most a tenth, or if it has its maximum length; otherwise it gets
// the pages that it needs. So messages of 548 bytes are stored seven to a page, and
// messages of 1.5 KiB five to two pages instead of two to one. Blocks that are to
// be compressed are filled to the maximum at once.
const wasteMax = 10 // a block is closed at a waste of at most 1/wasteMax

// stagedMax bounds the keys that a Builder keeps in full, in bytes: long
// prefixes could make many of them fit into one block.
const stagedMax = 128 << 10

// Builder makes blocks, one after another. Values are copied once, to where
// they stay; keys are kept aside until the prefix that all share is known. The
// zero Builder is ready for Reset.
type Builder struct {
	dst    []byte
	room   int // bytes of dst that the block may fill without growing
	values int // bytes of values
	shared int // length of the prefix that all keys share
	last   int // where in keys the last one begins
	keys   []byte
	tags   []uint64
	starts []uint16
	ends   []uint32 // of keys
}

// Size is the length of a block of that one message: the least that dst must
// have for it.
func Size(m message.Message) int {
	return pages(HeaderSize+len(m.Key)+len(m.Value)+entrySize) * PageSize
}

// Reset begins a block at the start of dst, which is the builder's until
// Finish, and has MaxBytes or the Size of the block's only message. A block
// that is to be packed is filled up to MaxBytes whatever it wastes.
func (b *Builder) Reset(dst []byte, packed bool) {
	b.dst, b.values, b.shared, b.last = dst, 0, 0, 0
	b.room = PageSize
	if packed {
		b.room = MaxBytes
	}
	b.keys, b.tags, b.starts, b.ends = b.keys[:0], b.tags[:0], b.starts[:0], b.ends[:0]
}

// Bytes is the length that the block would have if it were finished now and
// not compressed.
func (b *Builder) Bytes() int {
	if len(b.tags) == 0 {
		return 0
	}
	return pages(b.used()) * PageSize
}

// Len is how many messages were added since Reset.
func (b *Builder) Len() int { return len(b.tags) }

// LastKey is the key that was added last, valid until the next Add or Reset.
func (b *Builder) LastKey() []byte { return b.keys[b.last:] }

// LastSeq is the number of the message that was added last.
func (b *Builder) LastSeq() message.Seq { return message.Seq(b.tags[len(b.tags)-1] >> 8) }

// size is the length of the block, without padding, with n messages of those
// sums.
func size(n, values, keys, shared int) int {
	return HeaderSize + values + keys - shared*(n-1) + n*entrySize
}

// Add adds a message, which must sort after all earlier ones. It returns false
// and changes nothing if the caller must finish the block first. The first
// message always fits.
func (b *Builder) Add(m message.Message) bool {
	n := len(b.tags)
	shared := len(m.Key)
	if n > 0 {
		shared = Common(b.keys[:b.shared], m.Key)
	}
	need := size(n+1, b.values+len(m.Value), len(b.keys)+len(m.Key), shared)
	if n > 0 && (need > MaxBytes || len(b.keys)+len(m.Key) > stagedMax) {
		return false
	}
	if need > b.room {
		if n > 0 && !b.wasteful() {
			return false
		}
		b.room = pages(need) * PageSize
	}
	b.shared = shared
	b.starts = append(b.starts, uint16(b.values))
	b.values += copy(b.dst[HeaderSize+b.values:], m.Value)
	b.last = len(b.keys)
	b.keys = append(b.keys, m.Key...)
	b.ends = append(b.ends, uint32(len(b.keys)))
	b.tags = append(b.tags, uint64(m.Seq)<<8|uint64(m.Kind))
	return true
}

// wasteful reports whether too much would stay empty if the block were closed.
func (b *Builder) wasteful() bool {
	waste := b.room - b.used()
	return waste*wasteMax > b.room
}

// used is the length of the block without padding.
func (b *Builder) used() int { return size(len(b.tags), b.values, len(b.keys), b.shared) }

// Finish completes the block, which must have at least one message, and returns
// its header. The block is the first Header.Bytes bytes of dst. With a
// Compression other than None, Finish compresses the block if that saves a
// page; scratch must then have ScratchBytes.
func (b *Builder) Finish(id ID, how Compression, c *Coder, scratch []byte) Header {
	raw := b.payload()
	h := Header{Want: Want{ID: id}, Count: len(b.tags), Prefix: b.shared, Raw: raw, Stored: raw}
	if how != None && HeaderSize+raw <= MaxBytes {
		packed := c.encode(how, scratch, b.dst[HeaderSize:HeaderSize+raw])
		if pages(HeaderSize+len(packed)) < pages(HeaderSize+raw) {
			h.Compression, h.Stored = how, copy(b.dst[HeaderSize:], packed)
		}
	}
	block := b.dst[:h.Bytes()]
	clear(block[HeaderSize+h.Stored:])
	h.put(block)
	h.CRC = Checksum(block)
	binary.LittleEndian.PutUint32(block, h.CRC)
	return h
}

// payload writes what follows the values, and returns the payload's length.
func (b *Builder) payload() int {
	at := HeaderSize + b.values
	at += copy(b.dst[at:], b.keys[:b.shared])
	from := 0
	for _, end := range b.ends {
		at += copy(b.dst[at:], b.keys[from+b.shared:end])
		from = int(end)
	}
	le, n := binary.LittleEndian, len(b.tags)
	tags, starts, ends := b.dst[at:at+8*n], b.dst[at+8*n:at+10*n], b.dst[at+10*n:at+entrySize*n]
	for i, tag := range b.tags {
		le.PutUint64(tags[8*i:], tag)
		le.PutUint16(starts[2*i:], b.starts[i])
		le.PutUint16(ends[2*i:], uint16(int(b.ends[i])-b.shared*(i+1)))
	}
	return at + entrySize*n - HeaderSize
}

// Payload is what compression would see of the block that was finished last
// without: to judge by.
func (b *Builder) Payload() []byte {
	return b.dst[HeaderSize:b.used()]
}

// put writes the header, but for the checksum.
func (h Header) put(b []byte) {
	le := binary.LittleEndian
	le.PutUint32(b, 0)
	le.PutUint16(b[4:], magic)
	b[6], b[7] = version, byte(h.Compression)|byte(h.Content)<<4
	le.PutUint16(b[8:], uint16(h.Count))
	le.PutUint16(b[10:], uint16(h.Prefix))
	le.PutUint32(b[12:], uint32(h.Raw))
	le.PutUint32(b[16:], uint32(h.Stored))
	le.PutUint32(b[20:], h.Block)
	le.PutUint64(b[24:], h.Branch)
	le.PutUint64(b[32:], h.Epoch)
}

// Common is the length of the longest prefix that a and b share.
func Common(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if binary.LittleEndian.Uint64(a[i:]) != binary.LittleEndian.Uint64(b[i:]) {
			break
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
