// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"fmt"
	"slices"
)

// printed identifies a node as it was printed. A node that reads a next state
// which may change caches nothing, so it is printed separately.
type printed struct {
	n     *node
	still bool
}

func (w *printer) printed(n *node) printed { return printed{n, w.still && n.reads} }

// sharedNodes returns the nodes that may be evaluated several times in one
// state: those that the next-state relation, or one predicate, uses more than
// once. Each predicate starts with an empty cache.
func sharedNodes(l *Lowered) map[*node]bool {
	shared := make(map[*node]bool)
	count := func(visit func(u *useCounter)) {
		u := &useCounter{nodes: make(map[*node]int), stmts: make(map[*stmt]bool)}
		visit(u)
		for n, uses := range u.nodes {
			if uses > 1 {
				shared[n] = true
			}
		}
	}
	count(func(u *useCounter) { u.stmt(l.next) })
	for _, p := range l.preds {
		count(func(u *useCounter) { u.node(p) })
	}
	count(func(u *useCounter) { u.view(l.view) })
	return shared
}

// remembers reports whether the value of n is cached: see compiler.remembers.
func (w *printer) remembers(n *node) bool {
	return w.shared[n] && n.size >= memoSizeMin && len(n.free) <= 2 && (w.still || !n.reads)
}

// define prints a function with this body, which computes n, and returns its
// name.
func (w *printer) define(prefix, typ, body string, n *node) string {
	name := w.name(prefix)
	if !w.remembers(n) {
		fmt.Fprintf(&w.funcs, "func %s(x *st) %s {\n%s\n}\n\n", name, typ, body)
		return name
	}
	memo := fmt.Sprintf("x.m[%d]", w.memos)
	w.memos++
	value, store := "s.v", "v"
	if typ == "bool" {
		value, store = "s.v != 0", "one(v)"
	}
	known, keep := "s.now == x.now", "s.now, s.v = x.now, "+store
	if key := registersText(n.free); key != "" {
		known, keep = known+" && s.regs == "+key, "*s = memo{x.now, "+key+", "+store+"}"
	}
	fmt.Fprintf(&w.funcs, "func %s(x *st) %s {\ns := &%s\nif %s {\nreturn %s\n}\nv := %sx(x)\n%s\nreturn v\n}\n\n", name, typ, memo, known, value, name, keep)
	fmt.Fprintf(&w.funcs, "func %sx(x *st) %s {\n%s\n}\n\n", name, typ, body)
	return name
}

// registersText prints the expression that registers computes.
func registersText(free []int64) string {
	switch len(free) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("x.r[%d]", free[0])
	}
	return fmt.Sprintf("x.r[%d]<<32 | x.r[%d]", free[0], free[1])
}

// loops reports whether evaluating n may run a loop.
func (w *printer) loops(n *node) bool {
	if n == nil || n.size < 2 {
		return false
	}
	if does, known := w.looping[n]; known {
		return does
	}
	does := false
	switch n.op {
	case oAny, oAll, oFilter, oFirst, oEnabled:
		does = true
	default:
		does = w.loops(n.a) || w.loops(n.b) || w.loops(n.c) || slices.ContainsFunc(n.list, w.loops)
	}
	w.looping[n] = does
	return does
}
