package model

import (
	"encoding/binary"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Symmetry by sorting.
//
// Where the symmetries are all permutations of a set, a state's orbit can be
// named without trying them one by one, as long as every part of the state says
// something of one element at a time: a function on elements, a set of elements
// or of messages with one element each, an element at a place of a tuple. Such
// a value is a skeleton, the same for all images, and for every element a
// column: what the value says of it. A permutation permutes columns. So the
// skeletons of the variables, with the columns of each element in one row and
// the rows sorted, are the same for two states exactly when one is an image of
// the other. It takes a look at each row in place of one at each permutation.
//
// A value that relates two elements, such as a function from elements to
// elements, has no columns; states with one are named by the least of their
// images. An orbit has either only such states or none.

// orbits is what the symmetries of a model permute, where they are all
// permutations of one set or of each of several, independently.
type orbits struct {
	sets    [][]value.Value
	of      map[string]element // by name of the model value
	numbers *vector.Codec      // skeletons and columns
	mark    value.Value        // stands in a column for its element
}

// element is an element's set and its number in it.
type element struct{ set, at int }

// The tables of orbits.numbers.
const (
	skeletonTable = iota
	columnTable
	orbitTables
)

// newOrbits returns nil where the group is another one.
func newOrbits(group []permutation) *orbits {
	// No configuration can name a model value so.
	o := &orbits{of: map[string]element{}, mark: value.Model("*")}
	set := map[string]int{} // by name
	var elems []value.Value
	for _, p := range group {
		for _, v := range p.from {
			if _, ok := set[v.String()]; !ok {
				set[v.String()] = len(elems)
				elems = append(elems, v)
			}
		}
	}
	for _, p := range group {
		for i := range p.from {
			a, b := set[p.from[i].String()], set[p.to[i].String()]
			for name, n := range set {
				if n == max(a, b) {
					set[name] = min(a, b)
				}
			}
		}
	}
	slices.SortFunc(elems, value.Compare)
	numbers := map[int]int{}
	for _, v := range elems {
		n, ok := numbers[set[v.String()]]
		if !ok {
			n = len(o.sets)
			numbers[set[v.String()]] = n
			o.sets = append(o.sets, nil)
		}
		o.of[v.String()] = element{n, len(o.sets[n])}
		o.sets[n] = append(o.sets[n], v)
	}
	// A group of permutations of these sets that has as many elements as there
	// are permutations has all of them.
	all := 1
	for _, s := range o.sets {
		for n := 2; n <= len(s); n++ {
			if all *= n; all > len(group)+1 {
				return nil
			}
		}
	}
	if all != len(group)+1 || all == 1 {
		return nil
	}
	o.numbers = vector.NewCodec(orbitTables)
	return o
}

// none is the place of a value that mentions no element, several of one that
// mentions more than one.
var (
	none    = element{-1, -1}
	several = element{-2, -2}
)

func (p element) join(q element) element {
	switch {
	case p == none:
		return q
	case q == none || p == q:
		return p
	}
	return several
}

// each calls visit for every element that occurs in v, until it is false.
func (o *orbits) each(v value.Value, visit func(element) bool) bool {
	v = v.Normal()
	all := func(vs []value.Value) bool {
		for _, x := range vs {
			if !o.each(x, visit) {
				return false
			}
		}
		return true
	}
	switch v.Kind() {
	case value.KindModel:
		if p, ok := o.of[v.String()]; ok {
			return visit(p)
		}
	case value.KindTuple:
		return all(v.Elements())
	case value.KindRecord:
		return all(v.Values())
	case value.KindFn:
		return all(v.Domain().Elems()) && all(v.Values())
	case value.KindSet:
		if value.IsFinite(v) {
			return all(v.Elems())
		}
	}
	return true
}

// mentions is the element that occurs in v.
func (o *orbits) mentions(v value.Value) element {
	p := none
	o.each(v, func(q element) bool {
		p = p.join(q)
		return p != several
	})
	return p
}

// setOf is the set of the first element that v mentions, or -1.
func (o *orbits) setOf(v value.Value) int {
	set := -1
	o.each(v, func(q element) bool {
		set = q.set
		return false
	})
	return set
}

// split takes a value apart with respect to a set of elements: it appends to
// each element's column and returns the skeleton. It is false for a value that
// has no columns, and for one that mentions an element of another set.
func (o *orbits) split(v value.Value, set int, columns [][]value.Value) (skeleton value.Value, ok bool) {
	v = v.Normal()
	if o.mentions(v) == none {
		return value.Tuple(value.Int(0), v), true
	}
	add := func(column func(at int) value.Value) {
		for i := range columns {
			columns[i] = append(columns[i], column(i))
		}
	}
	parts := func(vs []value.Value) (value.Value, bool) {
		out := make([]value.Value, len(vs))
		for i, x := range vs {
			if out[i], ok = o.split(x, set, columns); !ok {
				return value.Value{}, false
			}
		}
		return value.TupleOf(out), true
	}
	switch v.Kind() {
	case value.KindModel:
		p := o.of[v.String()]
		add(func(at int) value.Value { return value.Bool(at == p.at) })
		return value.Tuple(value.Int(1)), p.set == set
	case value.KindTuple:
		return parts(v.Elements())
	case value.KindRecord:
		skeleton, ok = parts(v.Values())
		return value.Tuple(value.Int(2), v.Domain(), skeleton), ok
	case value.KindFn:
		if o.mentions(v.Domain()) == none {
			skeleton, ok = parts(v.Values())
			return value.Tuple(value.Int(2), v.Domain(), skeleton), ok
		}
		keys, vals := v.Domain().Elems(), v.Values()
		pairs := make([]value.Value, len(keys))
		for i := range keys {
			pairs[i] = value.Tuple(keys[i], vals[i])
		}
		skeleton, ok = o.splitSet(pairs, set, add)
		return value.Tuple(value.Int(3), skeleton), ok
	case value.KindSet:
		skeleton, ok = o.splitSet(v.Elems(), set, add)
		return value.Tuple(value.Int(4), skeleton), ok
	}
	return value.Value{}, false
}

// splitSet takes a set apart: what mentions no element is the skeleton, and what
// mentions one is in its column, with a mark in the element's place.
func (o *orbits) splitSet(elems []value.Value, set int, add func(func(at int) value.Value)) (skeleton value.Value, ok bool) {
	var plain []value.Value
	columns := make([][]value.Value, len(o.sets[set]))
	for _, x := range elems {
		p := o.mentions(x)
		switch {
		case p == none:
			plain = append(plain, x)
		case p.set != set:
			return value.Value{}, false
		default:
			mark := permutation{from: []value.Value{o.sets[set][p.at]}, to: []value.Value{o.mark}}
			columns[p.at] = append(columns[p.at], mark.apply(x))
		}
	}
	add(func(at int) value.Value { return value.SetOf(columns[at]) })
	return value.SetOf(plain), true
}

// parted is a value of a variable taken apart: the set whose elements it
// mentions, or -1, and the numbers of its skeleton and its columns.
type parted struct {
	known   bool
	ok      bool
	set     int
	numbers []uint32
}

// part takes a value apart. Where something has no number, it is not ok.
func (o *orbits) part(v value.Value) (p parted) {
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
	o     *orbits
	known [][]parted // by variable and number of its value
	parts []*parted  // of the state
	order []int
	key   []byte
}

func newSorter(o *orbits, variables int) *sorter {
	return &sorter{o: o, known: make([][]parted, variables), parts: make([]*parted, variables)}
}

// partOf is a value of a variable taken apart; number is that of the value plus
// one, or 0.
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

// name is the name of a state's orbit, unless some value has no columns. It is
// the sorter's.
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
