// SPDX-License-Identifier: Apache-2.0

package shape

import (
	"fmt"
	"sort"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// node is a place whose shape is being inferred: an element of a union-find
// forest. Only the data of the root is valid.
type node struct {
	parent *node
	rank   uint8
	kind   Kind
	model  bool
	// counting marks a function written on 1..n, which may become a sequence.
	counting bool
	// endless marks an infinite set, which no Go value of the shape can
	// represent.
	endless bool
	// outside marks a constant. Comparisons with it do not determine its shape,
	// because a configuration will give its value.
	outside bool

	elem, key *node
	elems     []*node
	fields    map[string]*member
	alts      map[Kind]*node // of a sum

	wide   bool // numbers: not bounded
	lo, hi int64
	open   bool            // strings and model values: not listed
	names  map[string]bool // the spellings

	hint  hint
	where source.Span // what gave the node its kind
	why   *Reason     // why it is Any
	waits []wait

	color  uint8
	shape  *Shape
	domain *Domain
}

// hint is a name for values of the node's shape.
type hint struct {
	name string
	rank int8
}

// The ranks of hints: the name of a variable is the best hint.
const (
	hintResource = iota + 1
	hintOperator
	hintField
	hintBound
	hintVariable
)

// member is a field of a record node.
type member struct {
	node     *node
	optional bool
}

// wait is a constraint that runs again whenever more becomes known of its node.
// It must be idempotent.
type wait func(in *inference, n *node)

// Reason says why a place has no shape of its own.
type Reason struct {
	// Text is the sentence's predicate: "holds a number at a.tla:1:2 and a
	// string at a.tla:3:4".
	Text string
	Span source.Span
}

func (n *node) root() *node {
	for n.parent != nil {
		if n.parent.parent != nil {
			n.parent = n.parent.parent
		}
		n = n.parent
	}
	return n
}

// children calls f for every node directly below n.
func (n *node) children(f func(*node)) {
	if n.key != nil {
		f(n.key)
	}
	if n.elem != nil {
		f(n.elem)
	}
	for _, e := range n.elems {
		f(e)
	}
	if n.fields != nil {
		for _, name := range n.fieldNames() {
			f(n.fields[name].node)
		}
	}
	n.eachAlt(f)
}

// eachAlt calls f for the alternatives of a sum, in the order of their kinds.
func (n *node) eachAlt(f func(*node)) {
	for k := Kind(0); k < Sum && len(n.alts) > 0; k++ {
		if a := n.alts[k]; a != nil {
			f(a)
		}
	}
}

func (n *node) fieldNames() []string {
	names := make([]string, 0, len(n.fields))
	for name := range n.fields {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func (in *inference) fresh(at source.Span) *node {
	n := &node{where: at}
	in.nodes = append(in.nodes, n)
	return n
}

func (in *inference) of(kind Kind, at source.Span) *node {
	n := in.fresh(at)
	n.kind = kind
	switch kind {
	case Int:
		n.wide = true
	case Str:
		n.open = true
	}
	return n
}

func (in *inference) number(v int64, at source.Span) *node {
	n := in.fresh(at)
	n.kind, n.lo, n.hi = Int, v, v
	return n
}

func (in *inference) str(s string, at source.Span) *node {
	n := in.fresh(at)
	n.kind, n.names = Str, map[string]bool{s: true}
	return n
}

func (in *inference) modelValue(name string, at source.Span) *node {
	n := in.fresh(at)
	n.model, n.names = true, map[string]bool{name: true}
	return n
}

func (in *inference) setOf(elem *node, at source.Span) *node {
	n := in.fresh(at)
	n.kind, n.elem = Set, elem
	return n
}

func (in *inference) seqOf(elem *node, at source.Span) *node {
	n := in.fresh(at)
	n.kind, n.elem = Seq, elem
	return n
}

func (in *inference) fnOf(key, elem *node, at source.Span) *node {
	n := in.fresh(at)
	n.kind, n.key, n.elem = Fn, key, elem
	return n
}

func (in *inference) tupleOf(elems []*node, at source.Span) *node {
	n := in.fresh(at)
	n.kind, n.elems = Tuple, elems
	return n
}

func (in *inference) anyBecause(at source.Span, format string, args ...any) *node {
	n := in.fresh(at)
	n.kind = Any
	n.why = &Reason{Text: fmt.Sprintf(format, args...), Span: at}
	return n
}

// task is a pair of nodes to unify. If b is nil, it is a node whose constraints
// must run again, or that becomes Any for the given reason.
type task struct {
	a, b *node
	at   source.Span
	why  *Reason
}

// unify makes a and b the same node.
func (in *inference) unify(a, b *node, at source.Span) { in.push(task{a: a, b: b, at: at}) }

func (in *inference) makeAny(n *node, why *Reason) { in.push(task{a: n, why: why}) }

// when registers w with n and runs it.
func (in *inference) when(n *node, w wait) {
	n = n.root()
	n.waits = append(n.waits, w)
	w(in, n)
}

// each runs w for n and, if n is a sum, for each of its alternatives: now and
// whenever more becomes known of them.
func (in *inference) each(n *node, w wait) {
	seen := map[*node]bool{}
	var visit wait
	visit = func(in *inference, n *node) {
		if n.kind != Sum {
			w(in, n)
			return
		}
		n.eachAlt(func(alt *node) {
			if alt = alt.root(); !seen[alt] {
				seen[alt] = true
				in.when(alt, visit)
			}
		})
	}
	in.when(n, visit)
}

func (in *inference) push(t task) {
	in.work = append(in.work, t)
	if in.draining {
		return
	}
	in.draining = true
	for len(in.work) > 0 {
		t := in.work[len(in.work)-1]
		in.work = in.work[:len(in.work)-1]
		if t.b == nil {
			in.spoil(t.a.root(), t.why)
		} else {
			in.merge(t.a.root(), t.b.root(), t.at)
		}
	}
	in.draining = false
}

// changed runs the constraints of n again.
func (in *inference) changed(n *node) {
	for _, w := range n.root().waits {
		w(in, n.root())
	}
}

// spoil makes n and everything below it Any. Values that flow into a place of
// unknown shape are not tracked further.
func (in *inference) spoil(n *node, why *Reason) {
	if n.kind == Any {
		return
	}
	n.children(func(c *node) { in.makeAny(c, why) })
	n.kind, n.why = Any, why
	n.key, n.elem, n.elems, n.fields, n.alts = nil, nil, nil, nil, nil
	in.changed(n)
}

// merge unifies two roots.
func (in *inference) merge(a, b *node, at source.Span) {
	if a == b {
		return
	}
	if a.rank < b.rank {
		a, b = b, a
	}
	if a.rank == b.rank {
		a.rank++
	}
	left, right := *a, *b // as they were, for the structure below
	b.parent = a
	a.waits = append(a.waits, b.waits...)
	b.waits = nil
	a.model = left.model || right.model
	a.endless = left.endless || right.endless
	a.outside = left.outside || right.outside
	if right.hint.rank > a.hint.rank {
		a.hint = right.hint
	}
	a.joinLists(&left, &right)
	in.combine(a, &left, &right, at)
	in.changed(a)
}

// joinLists merges ranges and spellings.
func (n *node) joinLists(a, b *node) {
	switch {
	case b.kind == Int && a.kind == Int:
		n.lo, n.hi, n.wide = min(a.lo, b.lo), max(a.hi, b.hi), a.wide || b.wide
	case b.kind == Int:
		n.lo, n.hi, n.wide = b.lo, b.hi, b.wide
	}
	n.open = a.open || b.open
	if len(b.names) > 0 {
		if n.names == nil {
			n.names = map[string]bool{}
		}
		for s := range b.names {
			n.names[s] = true
		}
	}
}

// combine gives n, the union of a and b, its kind and children.
func (in *inference) combine(n, a, b *node, at source.Span) {
	if b.kind == None {
		return
	}
	if a.kind == None {
		n.kind, n.where, n.why, n.counting = b.kind, b.where, b.why, b.counting
		n.key, n.elem, n.elems, n.fields, n.alts = b.key, b.elem, b.elems, b.fields, b.alts
		return
	}
	switch {
	case a.kind == Any || b.kind == Any:
		why := a.why
		if why == nil || a.kind != Any {
			why = b.why
		}
		n.kind, n.why = Any, why
		n.key, n.elem, n.elems, n.fields, n.alts = nil, nil, nil, nil, nil
		spoil := func(c *node) { in.makeAny(c, why) }
		a.children(spoil)
		b.children(spoil)
	case a.kind == Sum || b.kind == Sum:
		in.combineSums(n, a, b, at)
	case a.kind == b.kind && !(a.kind == Tuple && len(a.elems) != len(b.elems)):
		in.combineAlike(n, a, b, at)
	case isList(a) && isList(b):
		in.combineLists(n, a, b, at)
	default:
		in.combineSums(n, a, b, at)
	}
}

// combineSums gives n the alternatives of both a and b, kind by kind.
func (in *inference) combineSums(n, a, b *node, at source.Span) {
	why := a.why
	if a.kind != Sum {
		why = b.why
	}
	if why == nil {
		why = &Reason{Span: b.where, Text: fmt.Sprintf("holds %s at %s and %s at %s", a.kind, a.where, b.kind, b.where)}
	}
	alts := map[Kind]*node{}
	add := func(k Kind, x *node) {
		if old := alts[k]; old != nil {
			in.unify(old, x, at)
		} else {
			alts[k] = x
		}
	}
	for _, x := range []*node{a, b} {
		if x.kind == Sum {
			for k := Kind(0); k < Sum; k++ {
				if alt := x.alts[k]; alt != nil {
					add(k, alt)
				}
			}
			continue
		}
		alt := in.fresh(x.where)
		alt.kind, alt.counting, alt.endless, alt.hint = x.kind, x.counting, x.endless, x.hint
		alt.key, alt.elem, alt.elems, alt.fields = x.key, x.elem, x.elems, x.fields
		alt.lo, alt.hi, alt.wide, alt.open, alt.names = x.lo, x.hi, x.wide, x.open, x.names
		k := x.kind
		if k == Tuple {
			k = Seq // a tuple may yet become one
		}
		add(k, alt)
	}
	n.kind, n.why, n.counting, n.endless = Sum, why, false, false
	n.key, n.elem, n.elems, n.fields, n.alts = nil, nil, nil, nil, alts
}

func (in *inference) combineAlike(n, a, b *node, at source.Span) {
	switch a.kind {
	case Set, Seq:
		in.unify(a.elem, b.elem, at)
	case Fn:
		n.counting = a.counting && b.counting
		in.unify(a.key, b.key, at)
		in.unify(a.elem, b.elem, at)
	case Tuple:
		for i := range a.elems {
			in.unify(a.elems[i], b.elems[i], at)
		}
	case Record:
		n.fields = map[string]*member{}
		for _, name := range a.fieldNames() {
			f, g := a.fields[name], b.fields[name]
			if g == nil {
				n.fields[name] = &member{node: f.node, optional: true}
				continue
			}
			n.fields[name] = &member{node: f.node, optional: f.optional || g.optional}
			in.unify(f.node, g.node, at)
		}
		for _, name := range b.fieldNames() {
			if a.fields[name] == nil {
				n.fields[name] = &member{node: b.fields[name].node, optional: true}
			}
		}
	}
}

// isList reports whether the node is, or may become, a sequence.
func isList(n *node) bool { return n.kind == Seq || n.kind == Tuple || n.kind == Fn && n.counting }

// combineLists merges two nodes that are tuples, sequences or functions on
// 1..n. The result is a sequence.
func (in *inference) combineLists(n, a, b *node, at source.Span) {
	elem := in.fresh(at)
	for _, x := range []*node{a, b} {
		switch x.kind {
		case Seq, Fn:
			in.unify(elem, x.elem, at)
		case Tuple:
			for _, e := range x.elems {
				in.unify(elem, e, at)
			}
		}
	}
	n.kind, n.counting = Seq, false
	n.key, n.elems, n.fields, n.elem = nil, nil, nil, elem
}

// agree reports whether unifying a and b would cause no conflict and would not
// let model values into a place that has none.
func (in *inference) agree(a, b *node, depth int) bool {
	a, b = a.root(), b.root()
	if depth == 0 {
		in.compared = 0
	}
	if in.compared++; in.compared > comparedMax {
		return false
	}
	if a == b {
		return true
	}
	if a.blank() || b.blank() {
		return !(a.blank() && a.outside) && !(b.blank() && b.outside)
	}
	if depth > depthMax || a.model != b.model || a.endless != b.endless {
		return false
	}
	switch {
	case a.kind >= Sum || b.kind >= Sum:
		return a.kind == Any && b.kind == Any
	case isList(a) && isList(b) && (a.kind != b.kind || a.kind == Tuple && len(a.elems) != len(b.elems)):
		return in.agreeLists(a, b, depth)
	case a.kind != b.kind:
		return false
	}
	switch a.kind {
	case Set, Seq:
		return in.agree(a.elem, b.elem, depth+1)
	case Fn:
		return in.agree(a.key, b.key, depth+1) && in.agree(a.elem, b.elem, depth+1)
	case Tuple:
		for i := range a.elems {
			if !in.agree(a.elems[i], b.elems[i], depth+1) {
				return false
			}
		}
	case Record:
		for name, f := range a.fields {
			g := b.fields[name]
			if g == nil && !f.optional || g != nil && !in.agree(f.node, g.node, depth+1) {
				return false
			}
		}
		for name, g := range b.fields {
			if a.fields[name] == nil && !g.optional {
				return false
			}
		}
	}
	return true
}

func (in *inference) agreeLists(a, b *node, depth int) bool {
	var parts []*node
	for _, x := range []*node{a, b} {
		if x.kind == Tuple {
			parts = append(parts, x.elems...)
		} else {
			parts = append(parts, x.elem)
		}
	}
	for i := 1; i < len(parts); i++ {
		for j := 0; j < i; j++ {
			if !in.agree(parts[j], parts[i], depth+1) {
				return false
			}
		}
	}
	return true
}

// blank reports whether nothing is known of the node yet.
func (n *node) blank() bool { return n.kind == None && !n.model }
