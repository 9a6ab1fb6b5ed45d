// SPDX-License-Identifier: Apache-2.0

package table

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// Kind is what an object is. The numbers are on disk.
type Kind uint8

const (
	// Branch is an immutable sorted run of messages; its body says where its
	// blocks are.
	Branch Kind = 1
	// Node is a node of the trunk below the root.
	Node Kind = 2
	// Root is the trunk's root.
	Root Kind = 3
)

func (k Kind) String() string {
	switch k {
	case Branch:
		return "branch"
	case Node:
		return "node"
	case Root:
		return "root"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Valid reports whether k is a kind.
func (k Kind) Valid() bool { return k >= Branch && k <= Root }

// BodyMax is the longest body of an object in bytes.
const BodyMax = 64 << 20

// Object is an entry of the table.
type Object struct {
	// ID is given once, from 1 on.
	ID   uint64
	Kind Kind
	// Epoch is the superblock's when the object was made.
	Epoch uint64
	// Body is the object in the encoding of its kind. What the Table returns
	// must not be changed, and never changes.
	Body []byte
}

// Table is the indirection table in memory: all objects, and which of them have
// changed since the last chunk was made. It is for one goroutine at a time.
type Table struct {
	uuid    [16]byte
	objects map[uint64]entry
	live    int
	// changed has the ids with changed entries and perhaps others, in the order
	// of the calls, perhaps more than once.
	changed []uint64
	// Lengths in bytes of the entries that Full and Delta would write.
	full, delta int
	// The last chunk that was made or applied: its number and checksum.
	seq  uint64
	link uint32
}

type entry struct {
	object  Object
	live    bool // not dropped
	written bool // some chunk has it
	changed bool // since the last chunk
}

// New returns an empty table for the store of that name.
func New(uuid [16]byte) *Table {
	return &Table{uuid: uuid, objects: map[uint64]entry{}}
}

// Load reads the table that the superblock refers to. Read returns the bytes at
// a place, which Load uses only until it reads again; their checksum is
// compared here.
func Load(s Superblock, read func(Loc) ([]byte, error)) (*Table, error) {
	t := New(s.UUID)
	for _, c := range s.Chunks {
		b, err := read(c.Loc)
		if err != nil {
			return nil, fmt.Errorf("table chunk %d: %w", c.Seq, err)
		}
		check := checker{part: fmt.Sprintf("table chunk %d at %d", c.Seq, c.Addr)}
		check.want(0, "length", uint64(c.Len), uint64(len(b)))
		if crc := Checksum(b); crc != c.CRC {
			check.fail(0, hex(crc), "checksum %s, as the superblock says", hex(c.CRC))
		}
		if check.err != nil {
			return nil, check.err
		}
		if err := t.Apply(b, c.Seq); err != nil {
			return nil, err
		}
	}
	var top uint64
	for id := range t.objects {
		top = max(top, id)
	}
	if top > s.NextID {
		check := checker{part: "superblock"}
		check.fail(superNextID, s.NextID, "at least %d, because an object has that id", top)
		return nil, check.err
	}
	return t, nil
}

// Put adds an object or replaces the one with its id. The body is copied.
func (t *Table) Put(o Object) {
	ok := o.ID > 0 && o.Kind.Valid() && len(o.Body) <= BodyMax
	invariant.Check(ok, "object %d of %v with %d bytes", o.ID, o.Kind, len(o.Body))
	o.Body = append([]byte(nil), o.Body...) // an empty one is nil
	e := t.objects[o.ID]
	t.uncount(e)
	if !e.changed {
		t.changed = append(t.changed, o.ID)
	}
	if !e.live {
		t.live++
	}
	e.object, e.live, e.changed = o, true, true
	t.count(e)
	t.objects[o.ID] = e
}

// Drop removes an object, which is in the table.
func (t *Table) Drop(id uint64) {
	e := t.objects[id]
	invariant.Check(e.live, "table: drop of object %d, which is not in the table", id)
	t.uncount(e)
	t.live--
	if !e.written {
		delete(t.objects, id)
		return
	}
	if !e.changed {
		t.changed = append(t.changed, id)
	}
	e = entry{object: Object{ID: id}, written: true, changed: true}
	t.count(e)
	t.objects[id] = e
}

// count adds what an entry takes in Full and in Delta.
func (t *Table) count(e entry) {
	size := entryHeader + len(e.object.Body)
	if e.live {
		t.full += size
	}
	if e.changed {
		t.delta += size
	}
}

func (t *Table) uncount(e entry) {
	size := entryHeader + len(e.object.Body)
	if e.live {
		t.full -= size
	}
	if e.changed {
		t.delta -= size
	}
}

// Get returns the object with the id.
func (t *Table) Get(id uint64) (Object, bool) {
	e := t.objects[id]
	if !e.live {
		return Object{}, false
	}
	return e.object, true
}

// Len is the number of objects.
func (t *Table) Len() int { return t.live }

// Objects returns all objects, by id.
func (t *Table) Objects() []Object {
	all := make([]Object, 0, t.live)
	for _, e := range t.objects {
		if e.live {
			all = append(all, e.object)
		}
	}
	slices.SortFunc(all, func(a, b Object) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Changed reports whether the table differs from what was written of it last.
func (t *Table) Changed() bool { return t.delta > 0 }

// Size is the length in bytes of what Full would append.
func (t *Table) Size() int { return chunkSize(t.full) }

// DeltaSize is the length in bytes of what Delta would append: a page even if
// nothing has changed.
func (t *Table) DeltaSize() int { return chunkSize(t.delta) }

// Full appends the whole table to dst, as a chunk of whole pages with the
// number seq, which is above that of the previous chunk. The caller writes the
// chunk to the place to which the next superblock refers as its only chunk.
func (t *Table) Full(dst []byte, seq uint64) []byte {
	objects := t.Objects()
	changes := make([]change, len(objects))
	for i, o := range objects {
		changes[i] = change{object: o}
	}
	return t.emit(dst, chunkHead{kind: chunkFull, seq: seq}, changes, t.full)
}

// Delta appends the changes since the last chunk to dst, as Full does. The
// chunk is of use only behind the one before.
func (t *Table) Delta(dst []byte, seq uint64) []byte {
	invariant.Check(t.seq > 0, "table: changes before the whole table was written")
	slices.Sort(t.changed)
	changes := make([]change, 0, len(t.changed))
	for i, id := range t.changed {
		e := t.objects[id]
		if i > 0 && t.changed[i-1] == id || !e.changed {
			continue
		}
		changes = append(changes, change{object: e.object, drop: !e.live})
	}
	head := chunkHead{kind: chunkDelta, seq: seq, prevSeq: t.seq, prevCRC: t.link}
	return t.emit(dst, head, changes, t.delta)
}

// emit appends a chunk and notes that everything is written.
func (t *Table) emit(dst []byte, head chunkHead, changes []change, stream int) []byte {
	invariant.Check(head.seq > t.seq, "table: chunk %d after chunk %d", head.seq, t.seq)
	head.uuid = t.uuid
	head.entries = uint32(len(changes))
	from := len(dst)
	dst = appendChunk(dst, head, changes, stream)
	for _, id := range t.changed {
		e, ok := t.objects[id]
		switch {
		case ok && e.live:
			e.written, e.changed = true, false
			t.objects[id] = e
		case ok:
			delete(t.objects, id)
		}
	}
	t.changed = t.changed[:0]
	t.delta = 0
	t.seq, t.link = head.seq, Checksum(dst[from:])
	return dst
}

// Apply does what a chunk says that was made with the number seq: the whole
// table only to an empty one, changes only to the state that they are changes
// of. Errors are *Corrupt and *VersionError, and then nothing has changed. The
// chunk is not kept. A table that has changes of its own takes none.
func (t *Table) Apply(chunk []byte, seq uint64) error {
	invariant.Check(len(t.changed) == 0, "table: Apply to a table with %d unwritten changes", len(t.changed))
	c := checker{part: fmt.Sprintf("table chunk %d", seq)}
	head, stream, err := readChunk(chunk, c.part)
	if err != nil {
		return err
	}
	if head.uuid != t.uuid {
		c.fail(pageUUID, fmt.Sprintf("%x", head.uuid), "store %x", t.uuid)
	}
	c.want(pageSeq, "number", seq, head.seq)
	if head.seq <= t.seq {
		c.fail(pageSeq, head.seq, "a number above %d", t.seq)
	}
	switch {
	case head.kind == chunkFull && t.seq > 0:
		c.fail(pageKind, "a whole table", "changes of chunk %d", t.seq)
	case head.kind == chunkDelta && t.seq == 0:
		c.fail(pageKind, "changes", "a whole table")
	}
	c.want(pagePrevSeq, "predecessor", t.seq, head.prevSeq)
	if head.prevCRC != t.link {
		c.fail(pagePrevCRC, hex(head.prevCRC), "a predecessor with checksum %s", hex(t.link))
	}
	if c.err != nil {
		return c.err
	}
	changes, err := readChanges(stream, head, c.part)
	if err != nil {
		return err
	}
	for _, ch := range changes {
		if ch.drop && !t.objects[ch.object.ID].live {
			c.fail(pageHeader, "none", "object %d in the table, because this chunk drops it", ch.object.ID)
			return c.err
		}
	}
	for _, ch := range changes {
		t.apply(ch)
	}
	t.seq, t.link = head.seq, Checksum(chunk)
	return nil
}

// apply does one change that was read.
func (t *Table) apply(ch change) {
	id := ch.object.ID
	old := t.objects[id]
	t.uncount(old)
	if old.live {
		t.live--
	}
	if ch.drop {
		delete(t.objects, id)
		return
	}
	e := entry{object: ch.object, live: true, written: true}
	e.object.Body = append([]byte(nil), ch.object.Body...)
	t.count(e)
	t.live++
	t.objects[id] = e
}
