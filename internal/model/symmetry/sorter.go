// SPDX-License-Identifier: Apache-2.0

package symmetry

import (
	"encoding/binary"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// parted is a decomposed value of a variable: the number of the set whose
// elements it mentions, or -1, and the numbers of its skeleton and its columns.
type parted struct {
	known   bool
	ok      bool
	set     int
	numbers []uint32
}

// part decomposes a value. It is not ok if a part has no number.
func (o *Orbits) part(v value.Value) (p parted) {
	p = parted{known: true, set: -1}
	err := value.Catch(func() {
		columns := [][]value.Value(nil)
		if p.set = o.setOf(v); p.set >= 0 {
			columns = make([][]value.Value, len(o.sets[p.set]))
		}
		skeleton, ok := o.split(v, p.set, columns)
		if !ok {
			return
		}
		number := func(table int, v value.Value) {
			_, n, _ := o.numbers.Append(nil, table, v.Normal(), nil)
			p.numbers = append(p.numbers, n)
			ok = ok && n > 0
		}
		number(skeletonTable, skeleton)
		for _, c := range columns {
			number(columnTable, value.TupleOf(c))
		}
		p.ok = ok
	})
	p.ok = p.ok && err == nil
	return p
}

// sorter names the orbits of states for one worker.
type sorter struct {
	o     *Orbits
	known [][]parted // by variable and number of its value
	parts []*parted  // of the state
	order []int
	key   []byte
}

func newSorter(o *Orbits, variables int) *sorter {
	return &sorter{o: o, known: make([][]parted, variables), parts: make([]*parted, variables)}
}

// partOf returns the decomposition of a value of a variable. number is the
// value's number plus one, or 0.
func (s *sorter) partOf(variable int, v value.Value, number uint32) *parted {
	if number == 0 {
		p := s.o.part(v)
		return &p
	}
	table := s.known[variable]
	if int(number) >= len(table) {
		table = append(table, make([]parted, int(number)+1-len(table))...)
		s.known[variable] = table
	}
	p := &table[number]
	if !p.known {
		*p = s.o.part(v)
	}
	return p
}

// name returns the name of a state's orbit, unless a value has no columns. The
// name belongs to the sorter.
func (s *sorter) name(state vector.Vector) ([]byte, bool) {
	for i, v := range state.Vals {
		p := s.partOf(i, v, state.IDs[i])
		if !p.ok {
			return nil, false
		}
		s.parts[i] = p
	}
	s.key = s.key[:0]
	for _, p := range s.parts {
		s.key = binary.AppendUvarint(s.key, uint64(p.set+1))
		s.key = binary.AppendUvarint(s.key, uint64(p.numbers[0]))
	}
	for set, elems := range s.o.sets {
		s.order = s.order[:0]
		for at := range elems {
			s.order = append(s.order, at)
		}
		slices.SortFunc(s.order, func(a, b int) int { return s.compare(set, a, b) })
		for _, at := range s.order {
			for _, p := range s.parts {
				if p.set == set {
					s.key = binary.AppendUvarint(s.key, uint64(p.numbers[1+at]))
				}
			}
		}
	}
	return s.key, true
}

// compare compares the rows of two elements.
func (s *sorter) compare(set, a, b int) int {
	for _, p := range s.parts {
		if p.set == set {
			if c := int(p.numbers[1+a]) - int(p.numbers[1+b]); c != 0 {
				return c
			}
		}
	}
	return 0
}
