// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// encoder appends numbers as varints, and byte strings with their length.
type encoder struct{ b []byte }

func (e *encoder) u8(v uint8)      { e.b = append(e.b, v) }
func (e *encoder) uint(v uint64)   { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)     { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) u64(v uint64)    { e.b = binary.LittleEndian.AppendUint64(e.b, v) }
func (e *encoder) bytes(v []byte)  { e.uint(uint64(len(v))); e.b = append(e.b, v...) }
func (e *encoder) string(v string) { e.uint(uint64(len(v))); e.b = append(e.b, v...) }
func (e *encoder) bool(v bool) {
	if v {
		e.u8(1)
	} else {
		e.u8(0)
	}
}

func (e *encoder) id(id ID) { e.u64(id.Nonce); e.uint(id.Seq) }

func (e *encoder) member(m wor.Member) {
	e.u64(uint64(m.ID))
	e.string(m.Name)
	e.string(m.Addr)
}

func (e *encoder) slots(s []Slot) {
	e.uint(uint64(len(s)))
	for _, s := range s {
		e.uint(uint64(s.RM))
		e.uint(uint64(s.Addr.Segment))
		e.uint(uint64(s.Addr.Offset))
	}
}

// decoder decodes the output of an encoder. Invalid input sets bad, and all
// further values are zero. Results share the memory of the input.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) fail() { d.bad, d.b = true, nil }

func (d *decoder) u8() uint8 {
	if len(d.b) == 0 {
		d.fail()
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *decoder) bool() bool {
	v := d.u8()
	if v > 1 {
		d.fail()
	}
	return v == 1
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) u64() uint64 {
	if len(d.b) < 8 {
		d.fail()
		return 0
	}
	v := binary.LittleEndian.Uint64(d.b)
	d.b = d.b[8:]
	return v
}

func (d *decoder) u32() uint32 {
	v := d.uint()
	if v > 1<<32-1 {
		d.fail()
		return 0
	}
	return uint32(v)
}

func (d *decoder) bytes() []byte {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail()
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) string() string { return string(d.bytes()) }

// count decodes a number of elements. It rejects a number that the rest of the
// input, at size bytes or more per element, cannot hold.
func (d *decoder) count(size, limit int) int {
	n := d.uint()
	if n > uint64(limit) || n*uint64(size) > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	return int(n)
}

// done reports whether the input was valid and is used up.
func (d *decoder) done() bool { return !d.bad && len(d.b) == 0 }

func (d *decoder) id() ID { return ID{d.u64(), d.uint()} }

func (d *decoder) member() wor.Member {
	return wor.Member{ID: wor.ServerID(d.u64()), Name: d.string(), Addr: d.string()}
}

func (d *decoder) slots() []Slot {
	n := d.count(3, SlotsMax)
	s := make([]Slot, 0, n)
	for range n {
		s = append(s, Slot{RM(d.u32()), wor.Addr{Segment: wor.Segment(d.uint()), Offset: d.u32()}})
	}
	return s
}
