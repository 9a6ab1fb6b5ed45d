// SPDX-License-Identifier: Apache-2.0

package durable

import (
	"encoding/binary"
	"maps"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// A sequence that grows, such as a log, is not written again when something is
// appended to it, nor compared with what it was: the section says how many elements
// it has kept, and those that follow. The state for the next checkpoint has such a
// sequence by its elements.

// tail is a distsys.Tail with its elements in the encoding of values.
//
//	tail = keep, count, { element }
type tail struct {
	name  string
	keep  int
	elems [][]byte
}

func newTail(t distsys.Tail) tail {
	out := tail{name: t.Name, keep: t.Keep}
	for _, e := range t.Elems {
		out.elems = append(out.elems, value.AppendWire(nil, e))
	}
	return out
}

func (t tail) encode() []byte {
	b := binary.AppendUvarint([]byte{isTail}, uint64(t.keep))
	b = binary.AppendUvarint(b, uint64(len(t.elems)))
	for _, e := range t.elems {
		b = appendText(b, e)
	}
	return b
}

// takeTails moves the tails from the variables of a change that was read.
func (c *change) takeTails() error {
	var own variables
	for i, b := range c.own.values {
		if len(b) == 0 || b[0] != isTail {
			own.add(c.own.names[i], b)
			continue
		}
		r := reader{b: b[1:]}
		t := tail{name: c.own.names[i]}
		keep := r.number()
		for n := r.number(); n > 0 && !r.bad; n-- {
			t.elems = append(t.elems, r.text())
		}
		if r.bad || len(r.b) > 0 || keep > maxKeep {
			return errDelta
		}
		t.keep = int(keep)
		c.tails = append(c.tails, t)
	}
	c.own = own
	return nil
}

// maxKeep bounds what a tail keeps: a sequence is no longer.
const maxKeep = 1<<31 - 1

// change gives a sequence another tail.
func (e *entry) change(t tail) error {
	elems, ok := e.seqs[t.name]
	if !ok {
		v, rest, err := value.ParseWire(e.vars[t.name])
		if err != nil || len(rest) > 0 || v.Kind() != value.KindTuple {
			return errDelta
		}
		for _, x := range v.Elements() {
			elems = append(elems, value.AppendWire(nil, x))
		}
		delete(e.vars, t.name)
	}
	if t.keep > len(elems) {
		return errDelta
	}
	clear(elems[t.keep:])
	e.seqs[t.name] = append(elems[:t.keep], t.elems...)
	return nil
}

// whole returns all variables in the encoding of values.
func (e *entry) whole() map[string][]byte {
	out := maps.Clone(e.vars)
	for name, elems := range e.seqs {
		b := value.AppendWire(nil, value.Tuple())[:1] // what a sequence begins with, before its length
		b = binary.AppendUvarint(b, uint64(len(elems)))
		for _, x := range elems {
			b = append(b, x...)
		}
		out[name] = b
	}
	return out
}
