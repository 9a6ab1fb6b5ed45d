// SPDX-License-Identifier: Apache-2.0

package symmetry

import (
	"slices"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// Permutation maps model values to model values. Model values that are not in
// it remain unchanged.
type Permutation struct {
	from, to []value.Value // sorted by from
}

func (p Permutation) of(v value.Value) value.Value {
	for i, x := range p.from {
		if value.Same(x, v) || value.Equal(x, v) {
			return p.to[i]
		}
	}
	return v
}

// Apply replaces the model values inside v by their images.
func (p Permutation) Apply(v value.Value) value.Value {
	v = v.Normal()
	switch v.Kind() {
	case value.KindModel:
		return p.of(v)
	case value.KindTuple:
		if es, changed := p.applyAll(v.Elements()); changed {
			return value.TupleOf(es)
		}
	case value.KindRecord:
		if vals, changed := p.applyAll(v.Values()); changed {
			return value.FnOf(v.Domain(), vals)
		}
	case value.KindFn:
		keys, keysChanged := p.applyAll(v.Domain().Elems())
		vals, valsChanged := p.applyAll(v.Values())
		if !keysChanged && !valsChanged {
			return v
		}
		pairs := make([]value.Pair, len(keys))
		for i := range keys {
			pairs[i] = value.Pair{Key: keys[i], Val: vals[i]}
		}
		return value.Fn(pairs)
	case value.KindSet:
		if !value.IsFinite(v) {
			return v
		}
		if es, changed := p.applyAll(v.Elems()); changed {
			return value.SetOf(es)
		}
	}
	return v
}

func (p Permutation) applyAll(vs []value.Value) (out []value.Value, changed bool) {
	out = make([]value.Value, len(vs))
	for i, v := range vs {
		out[i] = p.Apply(v)
		changed = changed || !value.Same(out[i], v)
	}
	return out, changed
}

// then returns the composition: first p, then q.
func (p Permutation) then(q Permutation) Permutation {
	seen := append([]value.Value(nil), p.from...)
	for _, x := range q.from {
		if !slices.ContainsFunc(seen, func(y value.Value) bool { return value.Equal(x, y) }) {
			seen = append(seen, x)
		}
	}
	var r Permutation
	slices.SortFunc(seen, value.Compare)
	for _, x := range seen {
		if y := q.of(p.of(x)); !value.Equal(x, y) {
			r.from, r.to = append(r.from, x), append(r.to, y)
		}
	}
	return r
}

// text returns a text that identifies a permutation.
func (p Permutation) text() string {
	s := ""
	for i := range p.from {
		s += p.from[i].String() + ">" + p.to[i].String() + " "
	}
	return s
}

// permutationOf converts a function on model values to a permutation.
func permutationOf(f value.Value) (Permutation, bool) {
	var p Permutation
	f = f.Normal()
	if f.Kind() != value.KindFn {
		return p, f.Kind() == value.KindTuple && f.Len() == 0
	}
	keys, vals := f.Domain().Elems(), f.Values()
	for i := range keys {
		if keys[i].Kind() != value.KindModel || vals[i].Kind() != value.KindModel || !value.Contains(f.Domain(), vals[i]) {
			return p, false
		}
		if !value.Equal(keys[i], vals[i]) {
			p.from, p.to = append(p.from, keys[i]), append(p.to, vals[i])
		}
	}
	if len(value.SetOf(slices.Clone(vals)).Elems()) != len(vals) {
		return p, false
	}
	return p, true
}

// GroupMax bounds the group that SYMMETRY generates.
const GroupMax = 50_000

// Group returns the group that the permutations in a set generate, without the
// identity. wrong describes what is wrong with the set, or is "".
func Group(set value.Value) (group []Permutation, wrong string) {
	if set.Kind() != value.KindSet || !value.IsFinite(set) {
		return nil, "is not a finite set"
	}
	var generators []Permutation
	for _, f := range set.Elems() {
		p, ok := permutationOf(f)
		if !ok {
			return nil, "contains " + value.Brief(f)
		}
		if len(p.from) > 0 {
			generators = append(generators, p)
		}
	}
	group, ok := closure(generators)
	if !ok {
		return nil, "generates too many permutations"
	}
	return group, ""
}

// closure returns the group that the generators generate, without the identity.
func closure(generators []Permutation) ([]Permutation, bool) {
	seen := map[string]bool{"": true}
	group := []Permutation{{}}
	for i := 0; i < len(group); i++ {
		for _, g := range generators {
			p := group[i].then(g)
			if t := p.text(); !seen[t] {
				if len(group) >= GroupMax {
					return nil, false
				}
				seen[t] = true
				group = append(group, p)
			}
		}
	}
	return group[1:], true
}
