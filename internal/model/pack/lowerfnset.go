// SPDX-License-Identifier: Apache-2.0

package pack

import "github.com/ashlar-dev/ashlar/internal/tla/core"

// An action \E f \in {g \in [S -> T] : P(g)} : A, where S or T depends on the
// state, is lowered to nested loops over T, one for each element of S; the
// register of a loop holds the value of f at that element. The possible elements
// of S are known, and the loop of an element that is not in S is skipped. So f is
// a function whose domain is not constant; only its application and its domain
// can be lowered.

// functions is a set [S -> T], restricted to the functions that satisfy some
// predicates.
type functions struct {
	dom, rng *val
	filters  []*core.SetFilter
}

// fnKeysMax is the maximum number of arguments of the functions of such a loop.
const fnKeysMax = 12

// functionsOf returns the set of functions that e denotes; nil if e is not such a
// set, or is a constant one.
func (l *lowerer) functionsOf(e core.Expr, x ctx) *functions {
	switch e := e.(type) {
	case *core.FnSet:
		out := &functions{dom: l.settle(l.expr(e.Dom, x, nil)), rng: l.settle(l.expr(e.Rng, x, nil))}
		if out.dom.known && out.rng.known {
			return nil
		}
		out.dom, out.rng = l.asSet(out.dom), l.asSet(out.rng)
		if len(out.dom.t.u.vals) > fnKeysMax || len(out.rng.t.u.vals) == 0 {
			giveUp("functions with too many arguments")
		}
		return out
	case *core.SetFilter:
		if out := l.functionsOf(e.Bind.Set, x); out != nil && !e.Bind.Tuple {
			out.filters = append(out.filters, e)
			return out
		}
	}
	return nil
}

// eachFunction runs the statements that body makes for each of the functions.
func (l *lowerer) eachFunction(fs *functions, x ctx, body func(f *val) *stmt) *stmt {
	keys, u := fs.dom.t.u.vals, fs.rng.t.u
	regs, parts := make([]int64, len(keys)), make([]*val, len(keys))
	for i := range keys {
		k, r := l.b.reg(0, int64(len(u.vals)-1))
		regs[i], parts[i] = k, l.numbered(u, r)
	}
	f := &val{t: &typ{kind: kPart, u: fs.dom.t.u}, over: fs.dom, parts: make(map[int]*val), part: func(i int) *val { return parts[i] }}
	var holds []*node
	for _, e := range fs.filters {
		holds = append(holds, l.pred(e.Pred, x.in(l.element(e.Bind, f, x.env))))
	}
	in := l.b.and(holds...)
	out := l.loops(fs, regs, l.guardStmt(in, func() *stmt { return body(f) }))
	if !in.pure {
		// The predicate is evaluated for all functions before the body runs for
		// any of them.
		out = l.either([]*stmt{l.loops(fs, regs, l.guardStmt(in, func() *stmt { return nothing })), out})
	}
	return l.guardStmt(l.asked(l.b.k(1), fs.dom, fs.rng), func() *stmt { return out })
}

// loops runs s for all values that the registers may have.
func (l *lowerer) loops(fs *functions, regs []int64, s *stmt) *stmt {
	words := l.b.whole(fs.rng.ws)
	for i := len(regs) - 1; i >= 0 && s != nothing; i-- {
		next, in := s, l.b.test(fs.dom.ws, l.b.k(int64(i)))
		s = l.either([]*stmt{
			l.guardStmt(in, func() *stmt { return l.stmt(stmt{op: sBits, words: words, k: regs[i], next: next}) }),
			l.guardStmt(l.b.not(in), func() *stmt { return next }),
		})
	}
	return s
}

// applyPart returns f[i] of a function whose domain is not constant.
func (l *lowerer) applyPart(f, i *val) *val {
	n := l.must(i, f.t.u)
	in := l.b.test(f.over.ws, n)
	if n.known() {
		return l.merge(in, f.at(int(n.k)), &val{stop: true})
	}
	if n.op == oStop || len(f.t.u.vals) == 0 {
		return &val{stop: true}
	}
	vals := make([]*val, len(f.t.u.vals))
	for k := range vals {
		vals[k] = f.at(k)
	}
	return l.pick(l.b.cond(in, n, l.b.stop()), vals)
}
