// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// The level of an expression inside a definition depends on what the parameters
// of the definition will stand for. A term expresses this: it is the highest of
// a fixed level and of atoms. An atom is the level of one parameter, of one
// CONSTANT or VARIABLE that an INSTANCE may replace, or a level by itself. It
// counts only if every operator in its guard has the level of the argument that
// the guard names. With
//
//	Ap(Op(_), A) == Op(A)
//
// the level of Ap(Op, A) is that of Op itself or, if Op has the level of its
// first argument, the higher of that and the level of A. For Op <- LAMBDA a :
// ENABLED a the second does not count, so that Ap(LAMBDA a : ENABLED a, Next)
// is a state predicate.
//
// No operator parameter takes an operator itself, so guards do not nest: an
// operator's replacement has a summary without guards of its own, or with
// guards about the enclosing operators.

// Limits of terms. Whatever exceeds them counts as a constant, so that no
// correct specification is refused.
const (
	atomsMax = 4096 // atoms of one term
	guardMax = 16   // places in one guard
)

// place is argument i of the operator that stands for the operator parameter
// op.
type place struct {
	op *Symbol
	i  int
}

// atom is one part of a term. From is nil for a level by itself.
type atom struct {
	from  *Symbol
	level Level
	when  string // the guard: numbers of places, sorted, four bytes each
}

// algebra assigns numbers to atoms and places, so that terms are sorted lists
// of numbers.
type algebra struct {
	atoms   []atom
	numbers map[atom]int32
	places  []place
	placed  map[place]uint32
	// operands are the parameters that stand for the arguments of built-in
	// operators.
	operands []*Symbol
}

func newAlgebra() *algebra {
	return &algebra{numbers: map[atom]int32{}, placed: map[place]uint32{}}
}

// term is the level of an expression.
type term struct {
	fixed Level
	atoms []int32 // sorted
	// closed returns the level in which every parameter is a constant and every
	// operator parameter has the levels of all its arguments. A definition is
	// checked with this level; its applications are checked with their actual
	// arguments.
	closed Level
	// params returns the parameters that occur in the term, whether or not the
	// level depends on theirs.
	params []*Symbol
}

func fixed(l Level) term { return term{fixed: l, closed: l} }

func (g *algebra) number(a atom) int32 {
	n, ok := g.numbers[a]
	if !ok {
		n = int32(len(g.atoms))
		g.atoms = append(g.atoms, a)
		g.numbers[a] = n
	}
	return n
}

// partsOf returns the atoms of t, including one for its fixed level.
func (g *algebra) partsOf(t term) []int32 {
	if t.fixed == ConstantLevel {
		return t.atoms
	}
	return append([]int32{g.number(atom{level: t.fixed})}, t.atoms...)
}

func (g *algebra) closedOf(n int32) Level {
	a := g.atoms[n]
	switch {
	case a.from == nil:
		return a.level
	case a.from.Kind == Variable:
		return StateLevel
	}
	return ConstantLevel
}

// of returns the term of one atom.
func (g *algebra) of(a atom) term {
	n := g.number(a)
	return term{atoms: []int32{n}, closed: g.closedOf(n)}
}

func (g *algebra) join(a, b term) term {
	return term{max(a.fixed, b.fixed), merge(a.atoms, b.atoms), max(a.closed, b.closed), plus(a.params, b.params)}
}

// merge joins two sorted lists. If a contains all of b, it returns a itself.
func merge(a, b []int32) []int32 {
	if len(b) == 0 || len(a) >= atomsMax {
		return a
	}
	if len(a) == 0 {
		return b
	}
	i := 0
	for _, n := range b {
		for i < len(a) && a[i] < n {
			i++
		}
		if i == len(a) || a[i] != n {
			out := make([]int32, 0, len(a)+len(b))
			out = append(append(out, a...), b...)
			slices.Sort(out)
			return slices.Compact(out)
		}
	}
	return a
}

// plus adds to a the elements of b that it lacks.
func plus(a, b []*Symbol) []*Symbol {
	if len(a) == 0 {
		return b
	}
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(slices.Clip(a), s)
		}
	}
	return a
}

// guard returns the guard of p alone.
func (g *algebra) guard(p place) string {
	n, ok := g.placed[p]
	if !ok {
		n = uint32(len(g.places))
		g.places = append(g.places, p)
		g.placed[p] = n
	}
	return string(binary.BigEndian.AppendUint32(nil, n))
}

// placesOf lists the places in a guard.
func (g *algebra) placesOf(when string) []place {
	out := make([]place, 0, len(when)/4)
	for ; when != ""; when = when[4:] {
		out = append(out, g.places[binary.BigEndian.Uint32([]byte(when))])
	}
	return out
}

// both returns the guard that requires what a and b require.
func both(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	}
	var list []string
	for _, s := range []string{a, b} {
		for ; s != ""; s = s[4:] {
			list = append(list, s[:4])
		}
	}
	slices.Sort(list)
	out := ""
	for _, s := range slices.Compact(list) {
		out += s
	}
	return out
}

// when puts every part of t under the guard.
func (g *algebra) when(t term, guard string) term {
	if guard == "" {
		return t
	}
	out := term{params: t.params}
	add := func(a atom) {
		if a.when = both(a.when, guard); len(a.when) <= 4*guardMax {
			out = g.join(out, g.of(a))
		}
	}
	if t.fixed > ConstantLevel {
		add(atom{level: t.fixed})
	}
	for _, n := range t.atoms {
		add(g.atoms[n])
	}
	return out
}

// given is what replaces a parameter: a term for a value; for an operator, its
// summary or the parameter of the enclosing definition that is passed on.
type given struct {
	term term
	sum  *summary
	op   *Symbol
}

// summary is what is known of an operator: the level of its applications, and
// what it demands of its arguments.
type summary struct {
	formals []*Symbol
	term    term
	bounds  []bound
	uses    []use
	// opaque are the formals below a prime, an ENABLED or a temporal operator.
	// There, replacing an argument by an equal one may change the meaning.
	opaque []*Symbol
}

// bound demands that an atom is at most of a level.
type bound struct {
	atom int32
	most Level
}

// use records that the operator for an operator parameter is given an atom, at
// the place of the guard at.
type use struct {
	at   string
	atom int32
}

func (g *algebra) place(u use) place { return g.placesOf(u.at)[0] }

func (s *summary) sort() {
	slices.SortFunc(s.bounds, func(a, b bound) int {
		return cmp.Or(cmp.Compare(a.atom, b.atom), cmp.Compare(a.most, b.most))
	})
	slices.SortFunc(s.uses, func(a, b use) int {
		return cmp.Or(cmp.Compare(a.atom, b.atom), cmp.Compare(a.at, b.at))
	})
}

func (s *summary) same(t *summary) bool {
	return s.term.fixed == t.term.fixed && slices.Equal(s.term.atoms, t.term.atoms) && slices.Equal(s.term.params, t.term.params) &&
		slices.Equal(s.bounds, t.bounds) && slices.Equal(s.uses, t.uses) && slices.Equal(s.opaque, t.opaque)
}

// put replaces in t the parameters that are in env.
func (g *algebra) put(t term, env map[*Symbol]given) term {
	out := fixed(t.fixed)
	for _, n := range t.atoms {
		out = g.join(out, g.putAtom(n, env))
	}
	for _, s := range t.params {
		if to, ok := env[s]; ok {
			out.params = plus(out.params, to.params())
		} else {
			out.params = plus(out.params, []*Symbol{s})
		}
	}
	return out
}

func (to given) params() []*Symbol {
	switch {
	case to.op != nil:
		return []*Symbol{to.op}
	case to.sum != nil:
		return to.sum.term.params
	}
	return to.term.params
}

func (g *algebra) putAtom(n int32, env map[*Symbol]given) term {
	a := g.atoms[n]
	// The guard: for each place, what the operator that is given there
	// requires.
	guards := []string{""}
	for _, p := range g.placesOf(a.when) {
		var ask []string
		switch to, ok := env[p.op]; {
		case !ok:
			ask = []string{g.guard(p)}
		case to.op != nil:
			ask = []string{g.guard(place{to.op, p.i})}
		default:
			ask = g.passes(to.sum, p.i)
		}
		var next []string
		for _, have := range guards {
			for _, more := range ask {
				if w := both(have, more); len(w) <= 4*guardMax && !slices.Contains(next, w) {
					next = append(next, w)
				}
			}
		}
		if guards = next; len(guards) > atomsMax {
			guards = guards[:atomsMax]
		}
	}
	var t term
	switch to, ok := env[a.from]; {
	case a.from == nil:
		t = fixed(a.level)
	case !ok:
		t = g.of(atom{from: a.from})
	case to.op != nil:
		t = g.of(atom{from: to.op})
	case to.sum != nil:
		t = g.own(to.sum)
	default:
		t = to.term
	}
	var out term
	for _, w := range guards {
		out = g.join(out, g.when(t, w))
	}
	return out
}

// passes lists the guards under which s has the level of its argument i.
func (g *algebra) passes(s *summary, i int) []string {
	if s == nil || i >= len(s.formals) {
		return []string{""}
	}
	var out []string
	for _, n := range s.term.atoms {
		if a := g.atoms[n]; a.from == s.formals[i] {
			out = append(out, a.when)
		}
	}
	return out
}

// own returns the level of s without that of its arguments.
func (g *algebra) own(s *summary) term {
	out := fixed(s.term.fixed)
	for _, n := range s.term.atoms {
		if a := g.atoms[n]; !slices.Contains(s.formals, a.from) {
			out = g.join(out, g.of(a))
		}
	}
	return out
}

// applied returns the level of the operator parameter op applied to arguments.
func (g *algebra) applied(op *Symbol, args []given) term {
	out := g.of(atom{from: op})
	out.params = []*Symbol{op}
	for i, a := range args {
		out = g.join(out, g.when(a.term, g.guard(place{op, i})))
	}
	return out
}

// mentions reports whether an atom is about one of the symbols.
func (g *algebra) mentions(n int32, symbols []*Symbol) bool {
	a := g.atoms[n]
	if a.from != nil && slices.Contains(symbols, a.from) {
		return true
	}
	return slices.ContainsFunc(g.placesOf(a.when), func(p place) bool { return slices.Contains(symbols, p.op) })
}

// without returns an atom in which the operators among the symbols have the
// levels of all their arguments. ok is false if the atom belongs to one of the
// symbols.
func (g *algebra) without(n int32, symbols []*Symbol) (out int32, ok bool) {
	a := g.atoms[n]
	if a.from != nil && slices.Contains(symbols, a.from) {
		return 0, false
	}
	when := ""
	for _, p := range g.placesOf(a.when) {
		if !slices.Contains(symbols, p.op) {
			when = both(when, g.guard(p))
		}
	}
	a.when = when
	return g.number(a), true
}
