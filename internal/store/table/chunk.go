// SPDX-License-Identifier: Apache-2.0

package table

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// A chunk is a stream of entries, by id, divided into pages of 64 KiB; the last one
// is as many pages of the data file as it needs, padded with zeros. Every
// page has a header, with a checksum of the page, that identifies its chunk
// and its place in the chunk, so that a page found alone can be
// identified. What a chunk of changes follows is named by number and checksum:
// chunks are a chain up to the whole table. The checksum of a page is at its
// beginning: a CRC that runs over bytes and then over their CRC forgets the
// bytes, and that of the chunk would.

const chunkMagic = "ASHT"

// Kinds of chunks.
const (
	chunkFull  = 1
	chunkDelta = 2
)

// Places in the header of a page, and lengths. docs/format/store.md has them as
// a table.
const (
	pageCRC     = 4
	pageVersion = 8
	pageKind    = 10
	pageUsed    = 12
	pageUUID    = 16
	pageSeq     = 32
	pageNumber  = 40
	pageCount   = 44
	pageEntries = 48
	pagePrevCRC = 52
	pagePrevSeq = 56
	pageHeader  = 64

	pageMax = 64 << 10
	payload = pageMax - pageHeader
	// chunkMax is the longest chunk.
	chunkMax = 1 << 30
)

// Places in the header of an entry.
const (
	entryEpoch  = 8
	entryLen    = 16
	entryKind   = 20 // 0: the object is dropped
	entryHeader = 24
)

// chunkHead is the part of the header that all pages of a chunk share.
type chunkHead struct {
	kind    uint8
	uuid    [16]byte
	seq     uint64
	entries uint32
	prevSeq uint64
	prevCRC uint32
}

// change is an entry: the current state of an object, or its removal.
type change struct {
	object Object
	drop   bool
}

// chunkSize is the length of a chunk whose entries have that many bytes.
func chunkSize(stream int) int {
	full := max(stream-1, 0) / payload
	rest := pageHeader + stream - full*payload
	return full*pageMax + (rest+pageSize-1)/pageSize*pageSize
}

// appendChunk appends the chunk with these entries, which have that many bytes.
func appendChunk(dst []byte, head chunkHead, changes []change, stream int) []byte {
	size := chunkSize(stream)
	invariant.Check(size <= chunkMax, "a table of %d bytes does not fit into a chunk", size)
	from := len(dst)
	dst = slices.Grow(dst, size)[:from+size]
	chunk := dst[from:]
	clear(chunk)
	off := 0
	for _, ch := range changes {
		var h [entryHeader]byte
		le := binary.LittleEndian
		le.PutUint64(h[:], ch.object.ID)
		if !ch.drop {
			le.PutUint64(h[entryEpoch:], ch.object.Epoch)
			le.PutUint32(h[entryLen:], uint32(len(ch.object.Body)))
			h[entryKind] = byte(ch.object.Kind)
		}
		off = scatter(chunk, off, h[:])
		off = scatter(chunk, off, ch.object.Body)
	}
	invariant.Check(off == stream, "table: the entries have %d bytes, counted %d", off, stream)
	pages := (size + pageMax - 1) / pageMax
	for i := range pages {
		page := chunk[i*pageMax : min((i+1)*pageMax, size)]
		sealPage(page, head, i, pages, min(payload, stream-i*payload))
	}
	return dst
}

// scatter puts b at place off of the stream into the pages of a chunk, and
// returns the place after it.
func scatter(chunk []byte, off int, b []byte) int {
	for len(b) > 0 {
		page, at := off/payload, off%payload
		n := copy(chunk[page*pageMax+pageHeader+at:min((page+1)*pageMax, len(chunk))], b)
		off += n
		b = b[n:]
	}
	return off
}

// sealPage writes the header of page i of so many.
func sealPage(page []byte, head chunkHead, i, pages, used int) {
	le := binary.LittleEndian
	copy(page, chunkMagic)
	le.PutUint16(page[pageVersion:], Version)
	page[pageKind] = head.kind
	le.PutUint32(page[pageUsed:], uint32(used))
	copy(page[pageUUID:], head.uuid[:])
	le.PutUint64(page[pageSeq:], head.seq)
	le.PutUint32(page[pageNumber:], uint32(i))
	le.PutUint32(page[pageCount:], uint32(pages))
	le.PutUint32(page[pageEntries:], head.entries)
	le.PutUint32(page[pagePrevCRC:], head.prevCRC)
	le.PutUint64(page[pagePrevSeq:], head.prevSeq)
	le.PutUint32(page[pageCRC:], checksumBut4(page, pageCRC))
}

// place is where place off of the stream is in the chunk.
func place(off int) int { return off/payload*pageMax + pageHeader + off%payload }

// readChunk checks the pages of a chunk and joins its stream, which aliases the
// chunk when it is of one page.
func readChunk(chunk []byte, part string) (chunkHead, []byte, error) {
	c := checker{part: part}
	size := len(chunk)
	if size == 0 || size%pageSize != 0 || size > chunkMax {
		c.fail(0, size, "a multiple of %d bytes, at most %d", pageSize, chunkMax)
		return chunkHead{}, nil, c.err
	}
	pages := (size + pageMax - 1) / pageMax
	head, used, err := readPage(chunk[:min(pageMax, size)], part, 0, pages)
	if err != nil {
		return chunkHead{}, nil, err
	}
	if pages == 1 {
		return head, chunk[pageHeader : pageHeader+used], nil
	}
	stream := make([]byte, 0, size)
	stream = append(stream, chunk[pageHeader:pageMax]...)
	for i := 1; i < pages; i++ {
		page := chunk[i*pageMax : min((i+1)*pageMax, size)]
		h, used, err := readPage(page, part, i, pages)
		if err != nil {
			return chunkHead{}, nil, err
		}
		if h != head {
			c.fail(i*pageMax, "another one", "the same header as the previous page")
			return chunkHead{}, nil, c.err
		}
		stream = append(stream, page[pageHeader:pageHeader+used]...)
	}
	return head, stream, nil
}

// readPage checks page i of so many; used is how many bytes of the stream it
// has.
func readPage(page []byte, part string, i, pages int) (head chunkHead, used int, err error) {
	c := checker{part: part}
	le := binary.LittleEndian
	off := i * pageMax
	// Magic number, checksum and version are at these places in every version
	// there will be.
	if string(page[:len(chunkMagic)]) != chunkMagic {
		c.fail(off, fmt.Sprintf("%q", page[:len(chunkMagic)]), "%q", chunkMagic)
		return head, 0, c.err
	}
	if want, found := checksumBut4(page, pageCRC), le.Uint32(page[pageCRC:]); want != found {
		c.fail(off+pageCRC, hex(found), "checksum %s", hex(want))
		return head, 0, c.err
	}
	if v := le.Uint16(page[pageVersion:]); v > Version {
		return head, 0, &VersionError{Part: part, Found: uint32(v), Known: Version}
	}
	c.want(off+pageVersion, "version", Version, uint64(le.Uint16(page[pageVersion:])))
	head = readHead(page, off, &c)
	c.want(off+pageNumber, "page", uint64(i), uint64(le.Uint32(page[pageNumber:])))
	c.want(off+pageCount, "pages", uint64(pages), uint64(le.Uint32(page[pageCount:])))
	got := le.Uint32(page[pageUsed:])
	if i < pages-1 {
		c.want(off+pageUsed, "used bytes", payload, uint64(got))
	}
	// A page is never longer than its used bytes need.
	if got > payload || chunkSize(int(got)) != len(page) || got == 0 && i > 0 {
		c.fail(off+pageUsed, got, "a count of used bytes that needs a page of %d", len(page))
	}
	if c.err != nil {
		return head, 0, c.err
	}
	c.zero(off+pageHeader+int(got), page[pageHeader+int(got):])
	return head, int(got), c.result()
}

// readHead reads the part of the header that all pages of a chunk share.
func readHead(page []byte, off int, c *checker) chunkHead {
	le := binary.LittleEndian
	head := chunkHead{
		kind:    page[pageKind],
		uuid:    [16]byte(page[pageUUID:]),
		seq:     le.Uint64(page[pageSeq:]),
		entries: le.Uint32(page[pageEntries:]),
		prevSeq: le.Uint64(page[pagePrevSeq:]),
		prevCRC: le.Uint32(page[pagePrevCRC:]),
	}
	c.zero(off+pageKind+1, page[pageKind+1:pageUsed])
	if head.seq == 0 {
		c.fail(off+pageSeq, head.seq, "a positive number")
	}
	switch head.kind {
	case chunkFull:
		c.want(off+pagePrevSeq, "predecessor", 0, head.prevSeq)
		c.want(off+pagePrevCRC, "checksum of the predecessor", 0, uint64(head.prevCRC))
	case chunkDelta:
		if head.prevSeq == 0 || head.prevSeq >= head.seq {
			c.fail(off+pagePrevSeq, head.prevSeq, "a predecessor of at least 1 and below %d", head.seq)
		}
	default:
		c.fail(off+pageKind, head.kind, "chunk kind %d or %d", chunkFull, chunkDelta)
	}
	return head
}

// readChanges cuts a stream into its entries. Their bodies alias the stream.
func readChanges(stream []byte, head chunkHead, part string) ([]change, error) {
	c := checker{part: part}
	if int64(head.entries) > int64(len(stream)/entryHeader) {
		c.fail(pageEntries, head.entries, "entries that fit into %d bytes", len(stream))
		return nil, c.err
	}
	changes := make([]change, 0, head.entries)
	last := uint64(0)
	for off := 0; off < len(stream); {
		ch, size := readEntry(stream, off, head.kind, &c)
		if ch.object.ID <= last {
			c.fail(place(off), ch.object.ID, "an id above %d", last)
		}
		if c.err != nil {
			return nil, c.err
		}
		changes = append(changes, ch)
		last = ch.object.ID
		off += size
	}
	c.want(pageEntries, "entries", uint64(len(changes)), uint64(head.entries))
	return changes, c.result()
}

// readEntry reads the entry at off and says how many bytes it has.
func readEntry(stream []byte, off int, kind uint8, c *checker) (ch change, size int) {
	at := stream[off:]
	if len(at) < entryHeader {
		c.fail(place(off), len(at), "an entry of at least %d bytes", entryHeader)
		return change{}, 0
	}
	le := binary.LittleEndian
	o := Object{ID: le.Uint64(at), Epoch: le.Uint64(at[entryEpoch:]), Kind: Kind(at[entryKind])}
	length := le.Uint32(at[entryLen:])
	drop := o.Kind == 0
	switch {
	case drop && kind == chunkFull:
		c.fail(place(off+entryKind), "a dropped object", "an object, because this is a whole table")
	case drop:
		c.want(place(off+entryEpoch), "epoch", 0, o.Epoch)
		c.want(place(off+entryLen), "length", 0, uint64(length))
	case !o.Kind.Valid():
		c.fail(place(off+entryKind), uint8(o.Kind), "a known kind of object")
	}
	for i, x := range at[entryKind+1 : entryHeader] {
		if x != 0 {
			c.fail(place(off+entryKind+1+i), hexByte(x), "zero")
		}
	}
	room := min(BodyMax, len(at)-entryHeader)
	if int64(length) > int64(room) {
		c.fail(place(off+entryLen), length, "a length of at most %d", room)
		return change{}, 0
	}
	size = entryHeader + int(length)
	o.Body = at[entryHeader:size:size]
	return change{object: o, drop: drop}, size
}
