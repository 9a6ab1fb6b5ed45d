package pack

import "math"

// The evaluator asks for every part of a value where it compares or looks into
// it, and fails where one has no value. Code that can tell the result from some of
// the parts must ask for the others all the same: those that may stop.

// asked is n, after all parts of the values that may make the code stop.
func (l *lowerer) asked(n *node, vs ...*val) *node {
	if n.op == oStop {
		return n
	}
	var parts []*node
	for _, v := range vs {
		parts = l.unsure(parts, v)
	}
	for i := len(parts) - 1; i >= 0; i-- {
		// No number is below the least one; the comparison is there for its operand.
		never := l.b.less(parts[i], l.b.k(math.MinInt64))
		n = l.b.cond(never, l.b.k(n.lo), n)
	}
	return n
}

// unsure appends the nodes of v that may make the code stop.
func (l *lowerer) unsure(parts []*node, v *val) []*node {
	add := func(ns ...*node) {
		for _, n := range ns {
			if n != nil && !n.pure {
				parts = append(parts, n)
			}
		}
	}
	switch {
	case v.known:
	case v.stop:
		add(l.b.stop())
	case v.t == nil:
		add(v.lo, v.hi)
	case v.is(kFn):
		for i := range v.t.keys {
			parts = l.unsure(parts, v.at(i))
		}
	case v.is(kSeq):
		add(v.s)
		for i := range v.t.most {
			parts = l.unsure(parts, v.at(i))
		}
	default:
		add(v.s)
		add(v.ws...)
	}
	return parts
}
