// SPDX-License-Identifier: Apache-2.0

package durable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/store/wal"
)

// change holds the changes of one section, or, in a checkpoint, the whole state of
// an instance.
//
//	change    = instance, life, n, flags, variables, variables that are shared
//	variables = count, { name, value }
//
// With the flag for deltas, each value is a byte followed by the value, by a delta
// to the previous value, or by the end of a sequence: see delta.go and tail.go.
//
// All numbers are unsigned LEB128; texts and values are preceded by their length. A
// change may be longer than a record, so it is split into several. Each record
// begins with a byte that says whether it is the first or the last of its change.
type change struct {
	instance string
	life, n  uint64
	done     bool
	deltas   bool
	own      variables
	tails    []tail // of variables that are sequences, behind own
	shared   variables
}

// variables are names and values, in the encoding of package value.
type variables struct {
	names  []string
	values [][]byte
}

func (v *variables) add(name string, encoded []byte) {
	v.names = append(v.names, name)
	v.values = append(v.values, encoded)
}

const (
	first = 1 << iota
	last
)

const (
	flagDone = 1 << iota
	flagDeltas
)

// pieceMax is the maximum length of a record, in bytes.
const pieceMax = wal.RecordMax

// pieces are the records of a change.
type pieces [][]byte

// Len implements wal.Records.
func (p pieces) Len() int { return len(p) }

// Record implements wal.Records.
func (p pieces) Record(i int) []byte { return p[i] }

func appendText[T string | []byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// records are the change as records.
func (c change) records() pieces {
	b := appendText(nil, c.instance)
	b = binary.AppendUvarint(b, c.life)
	b = binary.AppendUvarint(b, c.n)
	flags := uint64(0)
	if c.done {
		flags |= flagDone
	}
	if c.deltas {
		flags |= flagDeltas
	}
	b = binary.AppendUvarint(b, flags)
	own := c.own
	for _, t := range c.tails {
		own.add(t.name, t.encode())
	}
	for _, v := range []variables{own, c.shared} {
		b = binary.AppendUvarint(b, uint64(len(v.names)))
		for i, name := range v.names {
			b = appendText(appendText(b, name), v.values[i])
		}
	}
	return divide(b, pieceMax-1)
}

// divide splits a change into records, each with at most size bytes of the
// change.
func divide(b []byte, size int) pieces {
	var out pieces
	for piece := range slices.Chunk(b, size) {
		out = append(out, append([]byte{0}, piece...))
	}
	out[0][0] |= first
	out[len(out)-1][0] |= last
	return out
}

// group collects the records of a change. A change whose last record is missing
// was not durable, so group discards it.
type group struct {
	buf   []byte
	begun bool
}

func (g *group) redo(record []byte, apply func(change) error) error {
	if len(record) == 0 || record[0] > first|last {
		return errors.New("a record without the flags of its change")
	}
	if record[0]&first != 0 {
		g.buf, g.begun = nil, true
	}
	if !g.begun {
		return errors.New("a record that continues a change that has not begun")
	}
	g.buf = append(g.buf, record[1:]...)
	if record[0]&last == 0 {
		return nil
	}
	g.begun = false
	c, err := parse(g.buf)
	if err != nil {
		return err
	}
	return apply(c)
}

// parse reads a change. The result refers to the memory of its input.
func parse(b []byte) (c change, err error) {
	r := reader{b: b}
	c.instance = string(r.text())
	c.life, c.n = r.number(), r.number()
	flags := r.number()
	if flags > flagDone|flagDeltas {
		return c, fmt.Errorf("a change with the flags %d", flags)
	}
	c.done, c.deltas = flags&flagDone != 0, flags&flagDeltas != 0
	for _, v := range []*variables{&c.own, &c.shared} {
		for n := r.number(); n > 0 && !r.bad; n-- {
			name := string(r.text())
			v.add(name, r.text())
		}
	}
	if r.bad || len(r.b) > 0 {
		return c, errors.New("a truncated change, or one that is too long")
	}
	return c, nil
}

type reader struct {
	b   []byte
	bad bool
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) text() []byte {
	n := r.number()
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	s := r.b[:n:n]
	r.b = r.b[n:]
	return s
}
