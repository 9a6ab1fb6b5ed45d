// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"math/bits"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// The types of variables are guessed from their values in a sample of states.
// The guess generalizes each kind of value: a model value stands for the
// constant set that contains it, numbers for all numbers of as many bits,
// records with one type field for all combinations of the values of their
// fields.

// The limits of guesses.
const (
	setElementsMax = 512 // of a universe of which a variable is a subset
	keysMax        = 256 // arguments of a function
	depthMax       = 12
	intBitsMin     = 7 // of a number, without its sign
	intBitsMore    = 4 // than the largest number seen has
	intBitsMax     = 31
	lengthMin      = 16 // that a sequence may have
	lengthMax      = 64
	widenedMax     = 500 // of numbers that stand beside other values
)

// guesser guesses types.
type guesser struct {
	us universes
	// sets has the constant sets of model values, the smallest first.
	sets []*universe
	// strings has the strings of the specification.
	strings *universe
}

// of returns a type that contains vals, or nil. element: vals are elements of
// a set or functions, so numbers are not widened.
func (g *guesser) of(vals []value.Value, element bool, depth int) *typ {
	if len(vals) == 0 || depth > depthMax {
		return nil
	}
	k := vals[0].Kind()
	for _, v := range vals {
		if v.Kind() != k {
			if functional(v.Kind()) && functional(k) {
				k = value.KindFn
				continue
			}
			if !element {
				vals = widened(vals)
			}
			return g.atoms(vals)
		}
	}
	switch {
	case k == value.KindBool:
		return boolType
	case k == value.KindInt:
		return g.ints(vals, element)
	case k == value.KindString || k == value.KindModel:
		return g.scalars(vals, element)
	case k == value.KindSet:
		return g.sets0(vals, depth)
	case functional(k):
		return g.functions(vals, element, depth)
	}
	return nil
}

// widened adds further numbers to values that include numbers.
func widened(vals []value.Value) []value.Value {
	most, some := int64(0), false
	for _, v := range vals {
		if v.Kind() == value.KindInt {
			most, some = max(most, int64(v.AsInt())), true
		}
	}
	if !some || most > widenedMax {
		return vals
	}
	out := append([]value.Value(nil), vals...)
	for i := range 2*most + 8 {
		out = append(out, value.Int(int32(i)))
	}
	return out
}

func functional(k value.Kind) bool {
	return k == value.KindTuple || k == value.KindRecord || k == value.KindFn
}

// atoms returns the type of exactly these values.
func (g *guesser) atoms(vals []value.Value) *typ {
	u := g.us.ofAll(vals)
	if u == nil {
		return nil
	}
	return &typ{kind: kAtom, u: u}
}

func (g *guesser) ints(vals []value.Value, element bool) *typ {
	lo, hi := int64(intMax), int64(intMin)
	for _, v := range vals {
		lo, hi = min(lo, int64(v.AsInt())), max(hi, int64(v.AsInt()))
	}
	if element {
		return intType(lo, hi)
	}
	n := min(max(bits.Len64(uint64(max(hi, -lo)))+intBitsMore, intBitsMin), intBitsMax)
	if lo >= 0 {
		return intType(0, 1<<n-1)
	}
	return intType(-1<<n, 1<<n-1)
}

// scalars returns a type of strings or of model values.
func (g *guesser) scalars(vals []value.Value, element bool) *typ {
	if vals[0].Kind() == value.KindModel {
		for _, u := range g.sets {
			if all(vals, func(v value.Value) bool { return u.find(v) >= 0 }) {
				return &typ{kind: kAtom, u: u}
			}
		}
	} else if !element && g.strings != nil && all(vals, func(v value.Value) bool { return g.strings.find(v) >= 0 }) {
		return &typ{kind: kAtom, u: g.strings}
	}
	return g.atoms(vals)
}

func all(vals []value.Value, ok func(value.Value) bool) bool {
	for _, v := range vals {
		if !ok(v) {
			return false
		}
	}
	return true
}

// sets0 returns a type of sets. Its universe has all values that the elements
// may have.
func (g *guesser) sets0(vals []value.Value, depth int) *typ {
	var elems []value.Value
	for _, v := range vals {
		if !value.IsFinite(v) || !value.AtMost(v, universeMax) {
			return nil
		}
		if lo, hi, ok := v.AsInterval(); ok && hi-lo > setElementsMax {
			return nil
		}
		elems = append(elems, v.Elems()...)
		if len(elems) > 64*universeMax {
			return nil
		}
	}
	seen := g.us.ofAll(elems)
	if seen == nil || len(seen.vals) > setElementsMax {
		return nil
	}
	// Elements of the same form are generalized together.
	groups := map[string][]value.Value{}
	var order []string
	for _, v := range seen.vals {
		key := form(v)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], v)
	}
	var whole []value.Value
	for _, key := range order {
		t := g.of(groups[key], true, depth+1)
		more := expand(t, setElementsMax)
		if more == nil {
			more = groups[key]
		}
		whole = append(whole, more...)
	}
	u := g.us.ofAll(whole)
	if u == nil || len(u.vals) > setElementsMax {
		u = seen
	}
	return &typ{kind: kSet, u: u}
}

// form distinguishes elements that are generalized separately: by their kind,
// the names of their fields, and the values of fields that hold strings.
func form(v value.Value) string {
	key := string(rune('0' + v.Kind()))
	if v.Kind() == value.KindTuple {
		return key + string(rune('0'+v.Len()))
	}
	if v.Kind() == value.KindRecord {
		for name, x := range v.Fields {
			key += "," + name
			if x.Kind() == value.KindString {
				key += "=" + x.AsString()
			}
		}
	}
	return key
}

// expand lists the values of a type. It returns nil if there are more than
// most.
func expand(t *typ, most int) []value.Value {
	if t == nil {
		return nil
	}
	switch t.kind {
	case kBool:
		return []value.Value{value.Bool(false), value.Bool(true)}
	case kInt:
		if t.hi-t.lo >= int64(most) {
			return nil
		}
		var out []value.Value
		for i := t.lo; i <= t.hi; i++ {
			out = append(out, value.Int(int32(i)))
		}
		return out
	case kAtom:
		if len(t.u.vals) > most {
			return nil
		}
		return t.u.vals
	case kSet:
		if len(t.u.vals) > 16 || 1<<len(t.u.vals) > most {
			return nil
		}
		return value.Subsets(t.u.set).Elems()
	case kFn:
		rows := [][]value.Value{nil}
		for _, e := range t.elems {
			vals := expand(e, most)
			if vals == nil || len(rows)*len(vals) > most {
				return nil
			}
			var next [][]value.Value
			for _, r := range rows {
				for _, v := range vals {
					next = append(next, append(r[:len(r):len(r)], v))
				}
			}
			rows = next
		}
		var out []value.Value
		for _, r := range rows {
			out = append(out, value.FnOf(t.dom, r))
		}
		return out
	}
	return nil
}

// functions returns a type of functions, records and tuples. If all have the
// same domain, the type has a field for each argument; tuples of several
// lengths are sequences.
func (g *guesser) functions(vals []value.Value, element bool, depth int) *typ {
	first := vals[0]
	same, tuples, most := true, true, 0
	for _, v := range vals {
		if v.Kind() == value.KindTuple {
			most = max(most, v.Len())
		} else {
			tuples = false
		}
		same = same && len(fnValues(v)) == len(fnValues(first)) && value.Equal(v.Domain(), first.Domain())
	}
	if !same || len(fnValues(first)) == 0 {
		if !tuples || element {
			return g.atoms(vals)
		}
		return g.sequence(vals, most, depth)
	}
	if len(fnValues(first)) > keysMax {
		return nil
	}
	t := &typ{kind: kFn, dom: first.Domain(), keys: first.Domain().Elems()}
	var joined []value.Value
	for i := range t.keys {
		column := make([]value.Value, len(vals))
		for j, v := range vals {
			column[j] = fnValues(v)[i]
		}
		joined = append(joined, column...)
		t.elems = append(t.elems, g.of(column, element, depth+1))
	}
	// A value that the function has at one argument may also occur at others.
	if first.Kind() != value.KindRecord {
		if e := g.of(joined, element, depth+1); e != nil && e.kind != kAtom || e != nil && first.Kind() == value.KindFn {
			for i := range t.elems {
				t.elems[i] = e
			}
		}
	}
	for _, e := range t.elems {
		if e == nil {
			return nil
		}
	}
	return t
}

// sequence returns a type of sequences of up to twice the longest length in the
// sample.
func (g *guesser) sequence(vals []value.Value, most, depth int) *typ {
	var elems []value.Value
	for _, v := range vals {
		elems = append(elems, v.Elements()...)
	}
	if most == 0 {
		return nil
	}
	e := g.of(elems, false, depth+1)
	if e == nil {
		return nil
	}
	most = min(max(2*most+2, lengthMin), lengthMax)
	return &typ{kind: kSeq, elem: e, most: most}
}
