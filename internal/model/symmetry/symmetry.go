// SPDX-License-Identifier: Apache-2.0

// Package symmetry names the orbits of states under permutations of model values.
//
// In: a set of permutations, and states as vectors with their encodings. Out: the
// group that the set generates, and for each state a name of its orbit.
//
// Promised: two states have the same name exactly when one is an image of the other,
// for all Keys of one model, and whichever state of an orbit is met first. Refused: a
// set that is not one of permutations of model values, or that generates more than
// GroupMax of them; Group says which.
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
package symmetry

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Orbits has the sets of model values that a model's symmetries permute: all
// permutations of one set, or of each of several sets independently.
type Orbits struct {
	sets    [][]value.Value
	of      map[string]element // by name of the model value
	numbers *vector.Codec      // skeletons and columns
	mark    value.Value        // stands in a column for its element
}

// element is the set of an element, and the element's number in it.
type element struct{ set, at int }

// The indices of the tables of Orbits.numbers.
const (
	skeletonTable = iota
	columnTable
	orbitTables
)

// NewOrbits finds the sets that a group permutes. It returns nil if the group is
// not of this form.
func NewOrbits(group []Permutation) *Orbits {
	// No configuration can give a model value this name.
	o := &Orbits{of: map[string]element{}, mark: value.Model("*")}
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
	// If a group of permutations of these sets has as many elements as there
	// are such permutations, it has all of them.
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

// Numbers returns the codec whose numbers occur in the names of a Keys, for a
// checkpoint.
func (o *Orbits) Numbers() *vector.Codec { return o.numbers }

// none stands for a value that mentions no element, several for one that
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

// each calls visit for every element that occurs in v, until visit returns
// false.
func (o *Orbits) each(v value.Value, visit func(element) bool) bool {
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

// mentions returns the element that occurs in v.
func (o *Orbits) mentions(v value.Value) element {
	p := none
	o.each(v, func(q element) bool {
		p = p.join(q)
		return p != several
	})
	return p
}

// setOf returns the set of the first element that v mentions, or -1.
func (o *Orbits) setOf(v value.Value) int {
	set := -1
	o.each(v, func(q element) bool {
		set = q.set
		return false
	})
	return set
}

// split decomposes a value with respect to a set of elements: it appends to
// each element's column and returns the skeleton. It returns false for a value
// that has no columns, or that mentions an element of another set.
func (o *Orbits) split(v value.Value, set int, columns [][]value.Value) (skeleton value.Value, ok bool) {
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

// splitSet decomposes a set. Members that mention no element belong to the
// skeleton. A member that mentions an element belongs to its column, with a mark
// in place of the element.
func (o *Orbits) splitSet(elems []value.Value, set int, add func(func(at int) value.Value)) (skeleton value.Value, ok bool) {
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
			mark := Permutation{from: []value.Value{o.sets[set][p.at]}, to: []value.Value{o.mark}}
			columns[p.at] = append(columns[p.at], mark.Apply(x))
		}
	}
	add(func(at int) value.Value { return value.SetOf(columns[at]) })
	return value.SetOf(plain), true
}
