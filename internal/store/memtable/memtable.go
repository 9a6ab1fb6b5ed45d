// SPDX-License-Identifier: Apache-2.0

// Package memtable holds the messages of a store before they are written as a
// branch: an append-only arena, an index for point reads, and sorted views for
// scans and for the branch.
//
// In: messages, with rising numbers, or the image of a journal segment at
// recovery. Out: the messages of a key up to a number, the deleted ranges, and
// a message.Iter over everything at a moment. Promised: the arena is byte for
// byte what the journal writes; nothing in it moves or changes until the arena
// is freed; readers need no lock. Refused: removal, and more than fits; its
// owner replaces a full table.
//
// A Table has one writer. Find, At, Older, Covering, Tombstones and all uses of
// a View may run concurrently with it. Everything else, including taking a
// View, is for the writer or a holder of the writer's lock; after the last
// write it is safe for concurrent use as well. What makes this work is
// publication in one direction: an entry is complete before its place is stored
// in the index, in the list of tombstones or in a View, each by one atomic
// store, and an entry that is published is never written again.
package memtable

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// Pos is the place of a message in the arena of its table.
type Pos uint32

// None is where no message is.
const None Pos = 0

// An entry of the arena, little endian, at a multiple of 8:
//
//	 0  u32  the entry of the same key before it, or the range delete before
//	         it, 0: none; only in memory
//	 4  u32  length of the value
//	 8  u64  number<<8 | kind
//	16  u16  length of the key
//	18  u16  magic
//	20  u32  1: the next message is of the same batch; else 0
//	24       key, value, zeros up to a multiple of 8
//
// Of a range delete the key is the range's lower end and the value its upper.
const (
	entryHeader = 24
	entryMagic  = 0xA51A
	entryAlign  = 8
	// ArenaMax is the longest arena, in bytes.
	ArenaMax = 1<<31 - 1
)

// arena is the memory of the entries.
type arena []byte

func (a arena) key(p Pos) []byte {
	n := int(binary.LittleEndian.Uint16(a[p+16:]))
	lo := int(p) + entryHeader
	return a[lo : lo+n : lo+n]
}

func (a arena) seq(p Pos) message.Seq {
	return message.Seq(binary.LittleEndian.Uint64(a[p+8:]) >> 8)
}

func (a arena) older(p Pos) Pos { return Pos(binary.LittleEndian.Uint32(a[p:])) }

func (a arena) setOlder(p, older Pos) { binary.LittleEndian.PutUint32(a[p:], uint32(older)) }

func (a arena) message(p Pos) message.Message {
	h := a[p : int(p)+entryHeader]
	sk := binary.LittleEndian.Uint64(h[8:])
	lo := int(p) + entryHeader
	mid := lo + int(binary.LittleEndian.Uint16(h[16:]))
	hi := mid + int(binary.LittleEndian.Uint32(h[4:]))
	return message.Message{Key: a[lo:mid:mid], Value: a[mid:hi:hi], Seq: message.Seq(sk >> 8), Kind: message.Kind(sk)}
}

// size returns the length of an entry, padding and all.
func (a arena) size(p Pos) int {
	return EntrySize(int(binary.LittleEndian.Uint16(a[p+16:])), int(binary.LittleEndian.Uint32(a[p+4:])))
}

func (a arena) put(p, size int, older Pos, m message.Message, more bool) {
	b := a[p : p+size]
	binary.LittleEndian.PutUint64(b[size-entryAlign:], 0) // the padding; the rest goes over it
	binary.LittleEndian.PutUint32(b, uint32(older))
	binary.LittleEndian.PutUint32(b[4:], uint32(len(m.Value)))
	binary.LittleEndian.PutUint64(b[8:], uint64(m.Seq)<<8|uint64(m.Kind))
	binary.LittleEndian.PutUint16(b[16:], uint16(len(m.Key)))
	binary.LittleEndian.PutUint16(b[18:], entryMagic)
	var follow uint32
	if more {
		follow = 1
	}
	binary.LittleEndian.PutUint32(b[20:], follow)
	n := copy(b[entryHeader:], m.Key)
	copy(b[entryHeader+n:], m.Value)
}

// EntrySize returns how many bytes of an arena a message takes.
func EntrySize(keyLen, valueLen int) int {
	return (entryHeader + keyLen + valueLen + entryAlign - 1) &^ (entryAlign - 1)
}

// gap is a part of the arena that holds no entries.
type gap struct{ lo, hi int }

// Table is a memtable. The package comment says what may be called when.
type Table struct {
	arena arena
	pool  *slab.Pool
	index keyIndex
	tombs tombList

	pos            int
	len            int
	minSeq, maxSeq message.Seq
	deletes        int
	// All keys begin with the first common bytes of first.
	first  []byte
	common int
	gaps   []gap

	// viewing lets several callers take views of a table that is no longer
	// written.
	viewing   sync.Mutex
	last      *View // the newest view; the table holds a reference
	viewedPos int   // what is before it is in last
	viewedLen int
	gapsSeen  int // the number of gaps before viewedPos
}

// New returns a table that writes into the arena from base on, which is a
// multiple of 8 above 0. The arena is the caller's: it gives it up after Close
// and after the last View is released. Memory for the index and for views comes
// from the pool; false: it has none.
func New(arena []byte, pool *slab.Pool, base int) (*Table, bool) {
	invariant.Check(base > 0 && base%entryAlign == 0 && base <= len(arena) && len(arena) <= ArenaMax,
		"memtable: base %d of %d bytes", base, len(arena))
	t := &Table{arena: arena, pool: pool, pos: base, viewedPos: base}
	if !t.index.init(t.arena, pool) {
		return nil, false
	}
	return t, true
}

// Close frees the index. No reader may be left, except Views.
func (t *Table) Close() {
	if t.last != nil {
		t.last.Release()
		t.last = nil
	}
	t.index.close(t.pool)
	t.tombs.close(t.pool)
}

// Pos returns the end of the used part of the arena, a multiple of 8.
func (t *Table) Pos() int { return t.pos }

// Bytes returns the bytes [lo, hi) of the arena itself.
func (t *Table) Bytes(lo, hi int) []byte { return t.arena[lo:hi:hi] }

// Len returns how many messages there are, range deletes included.
func (t *Table) Len() int { return t.len }

// MinSeq returns the lowest number, 0 when the table is empty.
func (t *Table) MinSeq() message.Seq { return t.minSeq }

// MaxSeq returns the highest number, 0 when the table is empty.
func (t *Table) MaxSeq() message.Seq { return t.maxSeq }

// Deletes returns how many messages are deletes of one key.
func (t *Table) Deletes() int { return t.deletes }

// RangeDeletes returns how many messages are range deletes.
func (t *Table) RangeDeletes() int { return t.tombs.len }

// Fits reports whether the arena has room for one more message.
func (t *Table) Fits(keyLen, valueLen int) bool {
	return EntrySize(keyLen, valueLen) <= len(t.arena)-t.pos
}

// Reserve makes room in the index for that many more messages of that many
// bytes by EntrySize: if it returns true, appending them will succeed. So a
// caller can append several messages as a whole.
func (t *Table) Reserve(messages, bytes int) bool {
	return bytes <= len(t.arena)-t.pos && t.index.room(messages)
}

// Append copies the message to the end and publishes it. Its number must be
// above all earlier ones. Append returns false and changes nothing if there is
// no room in the arena or no memory for the index.
func (t *Table) Append(m message.Message) bool { return t.AppendPart(m, false) }

// AppendPart is Append; more says that the next message is of the same batch,
// which Each reports.
func (t *Table) AppendPart(m message.Message, more bool) bool {
	if len(m.Key) > message.KeyMax || len(m.Value) > message.ValueMax || !m.Kind.Valid() || m.Seq <= t.maxSeq || m.Seq > message.MaxSeq {
		invariant.Check(false, "memtable: number %d after %d, a key of %d bytes, a value of %d, %v",
			m.Seq, t.maxSeq, len(m.Key), len(m.Value), m.Kind)
	}
	size := EntrySize(len(m.Key), len(m.Value))
	if size > len(t.arena)-t.pos {
		return false
	}
	// The place in the index is looked up before the entry is copied: the
	// processor waits for both at once.
	at, ok := t.locate(m)
	if !ok {
		return false
	}
	p := t.pos
	t.arena.put(p, size, at.head, m, more)
	t.pos += size
	t.publish(Pos(p), at, m)
	return true
}

// locate returns where the next entry of the message's key goes in the index,
// and what is there. A range delete follows the one before it. False: no room.
func (t *Table) locate(m message.Message) (place, bool) {
	if m.Kind == message.RangeDelete {
		return place{head: Pos(t.tombs.newest.Load())}, true
	}
	if !t.index.room(1) {
		return place{}, false
	}
	return t.index.locate(m.Key), true
}

// publish counts the message whose entry at p is complete, and lets readers
// see it. at is its place in the index, if it has one.
func (t *Table) publish(p Pos, at place, m message.Message) {
	if t.len == 0 {
		t.first = t.arena.key(p)
		t.minSeq, t.common = m.Seq, len(t.first)
	} else if c := t.common; len(m.Key) < c || string(m.Key[:c]) != string(t.first[:c]) {
		t.common = commonPrefix(t.first[:c], m.Key)
	}
	t.len++
	t.maxSeq = m.Seq
	switch m.Kind {
	case message.RangeDelete:
		t.tombs.add(t.arena, p, t.pool)
		return
	case message.Delete:
		t.deletes++
	}
	t.index.publish(at, p)
}

// Each calls visit with the messages in the bytes [lo, hi) of the arena, which
// has nothing else there, in the order in which they were appended, until visit
// returns false. more reports that the next message is of the same batch, end is
// where that begins.
func (t *Table) Each(lo, hi int, visit func(m message.Message, more bool, end int) bool) {
	for p := lo; p < hi; {
		end := p + t.arena.size(Pos(p))
		if !visit(t.arena.message(Pos(p)), binary.LittleEndian.Uint32(t.arena[p+20:]) != 0, end) {
			return
		}
		p = end
	}
}

// Skip moves the end of the used part forward to a multiple of 8; the skipped
// bytes become zero and hold no message. It returns false if the arena is too
// short.
func (t *Table) Skip(to int) bool {
	if to < t.pos || to%entryAlign != 0 {
		invariant.Check(false, "memtable: skip from %d to %d", t.pos, to)
	}
	if to > len(t.arena) {
		return false
	}
	clear(t.arena[t.pos:to])
	t.leave(to)
	return true
}

// leave moves the end of what is used over bytes that hold no message.
func (t *Table) leave(to int) {
	if to == t.pos {
		return
	}
	if n := len(t.gaps); n > t.gapsSeen && t.gaps[n-1].hi == t.pos {
		t.gaps[n-1].hi = to
	} else {
		t.gaps = append(t.gaps, gap{t.pos, to})
	}
	t.pos = to
}

// Find returns the newest message of the key with a number up to at, or None if
// there is none. It ignores range deletes.
func (t *Table) Find(key []byte, at message.Seq) Pos {
	p := t.index.find(key)
	for p != None && t.arena.seq(p) > at {
		p = t.arena.older(p)
	}
	return p
}

// At returns the message at p, which is not None. Its slices are the arena's
// and stay as they are as long as that.
func (t *Table) At(p Pos) message.Message { return t.arena.message(p) }

// Older returns the next older message of the same key, or None.
func (t *Table) Older(p Pos) Pos { return t.arena.older(p) }

// Covering returns the number of the newest range delete up to at whose range
// includes the key, or 0 if there is none.
func (t *Table) Covering(key []byte, at message.Seq) message.Seq {
	return t.tombs.covering(t.arena, key, at)
}

// Tombstones returns the range deletes up to at, the oldest first. The slices
// in them are the arena's.
func (t *Table) Tombstones(at message.Seq) []message.RangeTombstone {
	return t.tombs.upTo(t.arena, at)
}

// commonPrefix returns how many bytes at the start of a and b are the same.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// counter is a number of references; the one that takes it to 0 frees.
type counter struct{ n atomic.Int32 }

func (c *counter) retain() { c.n.Add(1) }

func (c *counter) release() bool {
	n := c.n.Add(-1)
	invariant.Check(n >= 0, "memtable: released more often than acquired")
	return n == 0
}
