// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// Table numbers values. Lookups take no lock: slots only ever change
// from empty to a number, entries are written before their number is
// published, and a table that grows is replaced as a whole.
type Table struct {
	slots  atomic.Pointer[index]
	chunks [ValuesMax / chunkSize]atomic.Pointer[[chunkSize]entry]

	mu    sync.Mutex
	count int
	bytes int
	// refused: some value has no number.
	refused bool
}

// OnlyOne reports whether only one value was met.
func (t *Table) OnlyOne() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count == 1 && !t.refused
}

// At returns the value with a number.
func (t *Table) At(id uint32) value.Value {
	return t.chunks[id/chunkSize].Load()[id%chunkSize].val
}

// Find returns the number of v, whose hash is h, if v has one.
func (t *Table) Find(v value.Value, h uint64) (uint32, bool) {
	s := t.slots.Load()
	tag := h &^ 0xffffffff
	for i := h & s.mask; ; i = (i + 1) & s.mask {
		e := s.slots[i].Load()
		if e == 0 {
			return 0, false
		}
		if e&^0xffffffff == tag {
			id := uint32(e) - 1
			x := &t.chunks[id/chunkSize].Load()[id%chunkSize]
			if x.hash == h && (value.Same(x.val, v) || x.val.Kind() == v.Kind() && value.Equal(x.val, v)) {
				return id, true
			}
		}
	}
}

// insert numbers v, if there is room.
func (t *Table) insert(v value.Value, h uint64, size int) (uint32, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, ok := t.Find(v, h); ok {
		return id, true
	}
	if t.count >= ValuesMax || t.bytes+size > BytesMax {
		t.refused = true
		return 0, false
	}
	id := uint32(t.count)
	chunk := &t.chunks[id/chunkSize]
	if chunk.Load() == nil {
		chunk.Store(new([chunkSize]entry))
	}
	chunk.Load()[id%chunkSize] = entry{v, h}
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

func (s *index) put(id uint32, h uint64) {
	for i := h & s.mask; ; i = (i + 1) & s.mask {
		if s.slots[i].Load() == 0 {
			s.slots[i].Store(h&^0xffffffff | uint64(id+1))
			return
		}
	}
}

// grown returns a table of twice the size with the same contents.
func (t *Table) grown(old *index) *index {
	s := newIndex(len(old.slots) * 2)
	for i := range old.slots {
		if e := old.slots[i].Load(); e != 0 {
			id := uint32(e) - 1
			s.put(id, t.chunks[id/chunkSize].Load()[id%chunkSize].hash)
		}
	}
	return s
}

// All returns the numbered values in the order of their numbers.
func (t *Table) All() []value.Value {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]value.Value, t.count)
	for i := range out {
		out[i] = t.At(uint32(i))
	}
	return out
}

// Save appends the values of a table in the order of their numbers.
func (t *Table) Save(c *Codec, buf []byte) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	refused := byte(0)
	if t.refused {
		refused = 1
	}
	buf = binary.AppendUvarint(append(buf, refused), uint64(t.count))
	var one []byte
	for i := range t.count {
		one = c.Values.AppendTo(one[:0], t.At(uint32(i)))
		buf = append(binary.AppendUvarint(buf, uint64(len(one))), one...)
	}
	return buf
}

// Restore fills a table with the output of Save. The values that the table
// already has must be the first of these.
func (t *Table) Restore(c *Codec, b []byte) error {
	if len(b) == 0 {
		return ErrKept
	}
	refused := b[0] == 1
	count, w := binary.Uvarint(b[1:])
	if w <= 0 || count > ValuesMax || count < uint64(t.count) {
		return ErrKept
	}
	b = b[1+w:]
	for i := range int(count) {
		n, w := binary.Uvarint(b)
		if w <= 0 || n > uint64(len(b)-w) {
			return ErrKept
		}
		v, rest, err := c.Values.Decode(b[w : w+int(n)])
		if err != nil || len(rest) > 0 {
			return errors.Join(ErrKept, err)
		}
		b = b[w+int(n):]
		if id, ok := t.insert(v, value.Hash(v), int(n)); !ok || id != uint32(i) {
			return ErrKept
		}
	}
	if len(b) > 0 {
		return ErrKept
	}
	t.refused = refused
	return nil
}

// ErrKept reports that a saved table is not of this model.
var ErrKept = errors.New("the saved values belong to another specification")

// The limits of numbering.
const (
	// ValuesMax is the maximum number of numbered values of one variable;
	// further values are encoded in full.
	ValuesMax = 1 << 18
	// BytesMax bounds the encoded size of the numbered values of one variable.
	BytesMax = 32 << 20
)

const chunkSize = 1 << 10

type entry struct {
	val  value.Value
	hash uint64
}

// index is an open hash table of numbers plus one, with the high bits of
// the hash before them.
type index struct {
	mask  uint64
	slots []atomic.Uint64
}

const indexMin = 1 << 6

func newIndex(n int) *index {
	return &index{mask: uint64(n - 1), slots: make([]atomic.Uint64, n)}
}

func newTable() *Table {
	t := &Table{}
	t.slots.Store(newIndex(indexMin))
	return t
}
