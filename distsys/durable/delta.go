// SPDX-License-Identifier: Apache-2.0

package durable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// A section that appends to a long sequence changes little of its encoding: the
// count at the front, and the end. The journal stores only the difference:
//
//	delta = checksum of the new value, { copy, skip, text }
//
// Each step copies bytes of the old value, skips some, and adds a text. Together
// the steps consume the whole old value, in order. The checksum is a CRC-32C in
// four bytes, little-endian. It makes a delta that is applied to the wrong old
// value an error instead of a wrong value.

const (
	// deltaMin is the length from which a value may be written as a delta.
	deltaMin = 128
	// After a difference, shiftMax is the number of bytes to search for a
	// position from which sameMin bytes are equal again.
	shiftMax, sameMin = 16, 16
	// countMax is at least the length of a count, in front of the elements.
	countMax = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// delta returns the delta that turns was into is, or nil if the delta would be
// longer than half of is.
func delta(was, is []byte) []byte {
	most := len(is) / 2
	if len(is) < deltaMin || len(was) < deltaMin {
		return nil
	}
	d := binary.LittleEndian.AppendUint32(nil, crc32.Checksum(is, castagnoli))
	for len(was)+len(is) > 0 {
		same := prefix(was, is)
		was, is = was[same:], is[same:]
		skip, add := difference(was, is)
		d = binary.AppendUvarint(binary.AppendUvarint(d, uint64(same)), uint64(skip))
		if d = appendText(d, is[:add]); len(d) > most {
			return nil
		}
		was, is = was[skip:], is[add:]
	}
	return d
}

// prefix returns the length of the common prefix of two texts.
func prefix(a, b []byte) int {
	const step = 256
	n, most := 0, min(len(a), len(b))
	for n+step <= most && bytes.Equal(a[n:n+step], b[n:n+step]) {
		n += step
	}
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}

// difference returns how many bytes of each of two texts differ; their first bytes
// are different. It searches for the next position at which the texts are equal
// again. If there is none nearby, it takes what keeps more: the common suffix, or
// what b has behind a count, found further on in a: that is so where elements were
// taken off the front and others appended.
func difference(a, b []byte) (inA, inB int) {
	for both := 1; both <= 2*shiftMax; both++ {
		for i := max(0, both-shiftMax); i <= min(both, shiftMax); i++ {
			j := both - i
			if i+sameMin <= len(a) && j+sameMin <= len(b) && bytes.Equal(a[i:i+sameMin], b[j:j+sameMin]) {
				return i, j
			}
		}
	}
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	// What it searches is used up by the step, or this is the last one: all steps
	// together take time in proportion to the value.
	if j := countMax; j+sameMin <= len(b) {
		if i := bytes.Index(a, b[j:j+sameMin]); i >= 0 && prefix(a[i:], b[j:]) > n {
			for i > 0 && j > 0 && a[i-1] == b[j-1] {
				i, j = i-1, j-1
			}
			return i, j
		}
	}
	return len(a) - n, len(b) - n
}

var errDelta = errors.New("a change to a value other than the stored one")

// patch applies the delta d to the old value and returns the new one. It
// changes neither argument.
func patch(was, d []byte) ([]byte, error) {
	if len(d) < 4 {
		return nil, errDelta
	}
	sum, r := binary.LittleEndian.Uint32(d), reader{b: d[4:]}
	var is []byte
	for len(r.b) > 0 {
		same, skip, text := r.number(), r.number(), r.text()
		if r.bad || same > uint64(len(was)) || skip > uint64(len(was))-same {
			return nil, errDelta
		}
		is = append(append(is, was[:same]...), text...)
		was = was[same+skip:]
	}
	if r.bad || len(was) > 0 || crc32.Checksum(is, castagnoli) != sum {
		return nil, errDelta
	}
	return is, nil
}

// The first byte of a value in a change that contains deltas.
const (
	isWhole = iota
	isDelta
	isTail
)

// shorten encodes each value as a delta to the previous value in e where that is
// shorter. It also reports whether any value became a delta.
func (v variables) shorten(e *entry) (variables, bool) {
	short, any := variables{names: v.names}, false
	for i, name := range v.names {
		form, b := byte(isDelta), []byte(nil)
		if e != nil {
			b = delta(e.vars[name], v.values[i])
		}
		if b == nil {
			form, b = isWhole, v.values[i]
		}
		any = any || form == isDelta
		short.values = append(short.values, append([]byte{form}, b...))
	}
	return short, any
}

// lengthen is the reverse of shorten.
func (v variables) lengthen(e *entry) error {
	for i, b := range v.values {
		switch {
		case len(b) > 0 && b[0] == isWhole:
			v.values[i] = b[1:]
		case len(b) > 0 && b[0] == isDelta:
			is, err := patch(e.vars[v.names[i]], b[1:])
			if err != nil {
				return err
			}
			v.values[i] = is
		default:
			return errDelta
		}
	}
	return nil
}

// shorten encodes the change relative to the changes that were appended before
// it.
func (l *Log) shorten(c change) change {
	own, some := c.own.shorten(l.now[c.instance])
	shared, more := c.shared.shorten(l.now[""])
	if some || more || len(c.tails) > 0 {
		c.own, c.shared, c.deltas = own, shared, true
	}
	return c
}

// redo applies a change that was read from the log to the state.
func (l *Log) redo(c change) error {
	if c.deltas {
		if err := c.takeTails(); err != nil {
			return err
		}
		err := c.own.lengthen(l.entry(c.instance))
		if len(c.shared.names) > 0 {
			err = errors.Join(err, c.shared.lengthen(l.entry("")))
		}
		if err != nil {
			return err
		}
		c.deltas = false
	}
	return l.apply(c)
}
