package model

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// A state is encoded variable by variable. The values that a variable takes
// are numbered as they are met, and the state holds the numbers: most states
// are a few bytes long, a state is decoded without building values, and what a
// step leaves unchanged is copied. A variable that takes very many values is
// no use to number; past a limit its further values are written in full:
//
//	number+1                      a value with a number
//	0 length bytes                a value in full
//
// all but the bytes as varints. A value that has a number keeps it, and one
// that is written in full never gets one, so equal states have equal bytes.

// vectorCodec encodes and decodes states. It is safe for concurrent use.
type vectorCodec struct {
	values *value.Codec
	vars   []*internTable
}

func newVectorCodec(vars int) *vectorCodec {
	c := &vectorCodec{values: value.NewCodec(), vars: make([]*internTable, vars)}
	for i := range c.vars {
		c.vars[i] = newInternTable()
	}
	return c
}

// appendValue appends the encoding of the value v of variable i and returns its
// number plus one, or 0. full is scratch memory for values without a number; it
// is returned for reuse.
func (c *vectorCodec) appendValue(buf []byte, i int, v value.Value, full []byte) (out []byte, number uint32, scratch []byte) {
	t := c.vars[i]
	h := value.Hash(v)
	id, ok := t.find(v, h)
	if !ok {
		full = c.values.AppendTo(full[:0], v)
		id, ok = t.insert(v, h, len(full))
		if !ok {
			buf = append(buf, 0)
			buf = binary.AppendUvarint(buf, uint64(len(full)))
			return append(buf, full...), 0, full
		}
	}
	return binary.AppendUvarint(buf, uint64(id)+1), id + 1, full
}

// decode fills v with the values of a state and ends with the place in s where
// the encoding of each variable ends.
func (c *vectorCodec) decode(s []byte, v vector, ends []int32) {
	at := 0
	for i := range v.vals {
		n := uint64(s[at])
		if n < 0x80 {
			at++
		} else {
			var width int
			n, width = binary.Uvarint(s[at:])
			invariant.Check(width > 0, "state is cut off in variable %d", i)
			at += width
		}
		v.ids[i] = uint32(n)
		if n > 0 {
			v.vals[i] = c.vars[i].at(uint32(n - 1))
		} else {
			length, width := binary.Uvarint(s[at:])
			invariant.Check(width > 0 && int(length) <= len(s)-at-width, "state is cut off in variable %d", i)
			at += width
			x, _, err := c.values.Decode(s[at : at+int(length)])
			invariant.Check(err == nil, "state does not decode in variable %d: %v", i, err)
			v.vals[i] = x
			at += int(length)
		}
		ends[i] = int32(at)
	}
	invariant.Check(at == len(s), "state has %d bytes too many", len(s)-at)
}

// internTable numbers values. Lookups take no lock: slots only ever change
// from empty to a number, entries are written before their number is
// published, and a table that grows is replaced as a whole.
type internTable struct {
	slots  atomic.Pointer[internSlots]
	chunks [InternedMax / internChunk]atomic.Pointer[[internChunk]internEntry]

	mu    sync.Mutex
	count int
	bytes int
	// refused reports that some value has no number.
	refused bool
}

const internChunk = 1 << 10

type internEntry struct {
	val  value.Value
	hash uint64
}

// internSlots is an open hash table of numbers plus one, with the high bits of
// the hash before them.
type internSlots struct {
	mask  uint64
	slots []atomic.Uint64
}

const internSlotsMin = 1 << 6

func newInternSlots(n int) *internSlots {
	return &internSlots{mask: uint64(n - 1), slots: make([]atomic.Uint64, n)}
}

func newInternTable() *internTable {
	t := &internTable{}
	t.slots.Store(newInternSlots(internSlotsMin))
	return t
}

// onlyOne reports whether just one value was met.
func (t *internTable) onlyOne() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count == 1 && !t.refused
}

func (t *internTable) at(id uint32) value.Value {
	return t.chunks[id/internChunk].Load()[id%internChunk].val
}

// find is the number of v.
func (t *internTable) find(v value.Value, h uint64) (uint32, bool) {
	s := t.slots.Load()
	tag := h &^ 0xffffffff
	for i := h & s.mask; ; i = (i + 1) & s.mask {
		e := s.slots[i].Load()
		if e == 0 {
			return 0, false
		}
		if e&^0xffffffff == tag {
			id := uint32(e) - 1
			x := &t.chunks[id/internChunk].Load()[id%internChunk]
			if x.hash == h && (value.Same(x.val, v) || x.val.Kind() == v.Kind() && value.Equal(x.val, v)) {
				return id, true
			}
		}
	}
}

// insert gives v a number, if there is room.
func (t *internTable) insert(v value.Value, h uint64, size int) (uint32, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, ok := t.find(v, h); ok {
		return id, true
	}
	if t.count >= InternedMax || t.bytes+size > InternedBytesMax {
		t.refused = true
		return 0, false
	}
	id := uint32(t.count)
	chunk := &t.chunks[id/internChunk]
	if chunk.Load() == nil {
		chunk.Store(new([internChunk]internEntry))
	}
	chunk.Load()[id%internChunk] = internEntry{v, h}
	t.count++
	t.bytes += size
	s := t.slots.Load()
	if uint64(t.count)*2 > s.mask {
		s = t.grown(s)
	}
	s.put(id, h)
	t.slots.Store(s)
	return id, true
}

func (s *internSlots) put(id uint32, h uint64) {
	for i := h & s.mask; ; i = (i + 1) & s.mask {
		if s.slots[i].Load() == 0 {
			s.slots[i].Store(h&^0xffffffff | uint64(id+1))
			return
		}
	}
}

// grown is a table of twice the size with the same contents.
func (t *internTable) grown(old *internSlots) *internSlots {
	s := newInternSlots(len(old.slots) * 2)
	for i := range old.slots {
		if e := old.slots[i].Load(); e != 0 {
			id := uint32(e) - 1
			s.put(id, t.chunks[id/internChunk].Load()[id%internChunk].hash)
		}
	}
	return s
}
