// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// Paths that meet again.
//
// A name is bound for the statements that follow. If each path of a choice
// bound its own names, those statements would have to be copied into each path.
// Instead the paths are written one after the other: the choice becomes a
// value, the conditions of a path are required only if it was chosen, and
// afterwards each variable has the value from the chosen path.
//
//	either { await c; x := 1 } or { skip }; x := x + y
//
//	with (path \in {1, 2}) {
//	  await path = 1 => c;
//	  with (x0 = IF path = 1 THEN 1 ELSE x) { x := x0 + y }
//	}
//
// Both have the same executions. An if that only assigns becomes an IF
// directly, and a few simple statements may be duplicated.

// copiedMax is the number of simple statements that may be duplicated instead.
const copiedMax = 3

// joined flattens a statement and what follows it if both assign the same
// variable.
func (f *flattener) joined(s pcal.Stmt, rest []pcal.Stmt, env versions, need varSet) []pcal.Stmt {
	if w, ok := s.(*pcal.With); ok {
		return []pcal.Stmt{f.branches(w, env, func(list []pcal.Stmt) []pcal.Stmt {
			return f.seq(append(append([]pcal.Stmt(nil), list...), rest...), env, need)
		})}
	}
	if cond, ok := s.(*pcal.If); ok {
		if merged := f.merge(cond, rest, env, need); merged != nil {
			return merged
		}
	}
	if copied(s, rest) <= copiedMax {
		first := true
		return []pcal.Stmt{f.branches(s, env, func(list []pcal.Stmt) []pcal.Stmt {
			tail := rest
			if !first {
				// The second copy of the rest binds its own names.
				c := &pcal.Rewriter{Fresh: true}
				tail = c.Stmts(rest)
			}
			first = false
			return f.seq(append(append([]pcal.Stmt(nil), list...), tail...), env, need)
		})}
	}
	c := &chain{}
	next := f.chosen([]pcal.Stmt{s}, nil, env, c)
	return c.around(f.seq(rest, next, need))
}

// copied is the number of statements that are duplicated if rest moves into the
// branches of s. It is a large number if rest itself branches.
func copied(s pcal.Stmt, rest []pcal.Stmt) int {
	paths, weight := 0, 0
	switch s := s.(type) {
	case *pcal.If:
		paths = 2
	case *pcal.Either:
		paths = len(s.Branches)
	}
	pcal.InspectStmts(append([]pcal.Stmt{s}, rest...), func(t pcal.Stmt) {
		switch t := t.(type) {
		case *pcal.If, *pcal.Either:
			if t != s {
				weight += copiedMax + 1
			}
		}
	}, nil)
	pcal.InspectStmts(rest, func(pcal.Stmt) { weight++ }, nil)
	return (paths - 1) * weight
}

// chain is a sequence of statements in which a With encloses everything after
// it.
type chain struct{ list []pcal.Stmt }

func (c *chain) add(s pcal.Stmt) { c.list = append(c.list, s) }

func (c *chain) bind(withs []*pcal.With) {
	for _, w := range withs {
		c.add(w)
	}
}

// around puts the chain before inner and nests inner in its Withs.
func (c *chain) around(inner []pcal.Stmt) []pcal.Stmt {
	for i := len(c.list) - 1; i >= 0; i-- {
		if w, ok := c.list[i].(*pcal.With); ok && w.Body == nil {
			w.Body = inner
			inner = []pcal.Stmt{w}
			continue
		}
		inner = append([]pcal.Stmt{c.list[i]}, inner...)
	}
	return inner
}

// both is a conjunction; a nil guard is TRUE.
func both(guard, e core.Expr) core.Expr {
	if guard == nil {
		return e
	}
	list := []core.Expr{guard}
	if and, ok := guard.(*core.And); ok {
		list = and.List
	}
	return &core.And{At: core.At{Place: e.Span()}, List: append(append([]core.Expr(nil), list...), e)}
}

// under is e, required only if the guard holds.
func under(guard, e core.Expr) core.Expr {
	if guard == nil {
		return e
	}
	return &core.Op{At: core.At{Place: e.Span()}, Op: core.OpImplies, Args: []core.Expr{guard, e}}
}

// chosen adds the statements of a path that is taken under the guard to the
// chain. It returns the versions after the path.
func (f *flattener) chosen(list []pcal.Stmt, guard core.Expr, env versions, c *chain) versions {
	for _, s := range list {
		switch s := s.(type) {
		case *pcal.Await:
			c.add(&pcal.Await{At: s.At, Cond: under(guard, env.read(s.Cond))})
		case *pcal.Assert:
			c.add(&pcal.Assert{At: s.At, Cond: under(guard, env.read(s.Cond))})
		case *pcal.Print:
			var print pcal.Stmt = &pcal.Print{At: s.At, X: env.read(s.X)}
			if guard != nil {
				print = &pcal.If{At: s.At, Cond: guard, Then: []pcal.Stmt{print}}
			}
			c.add(print)
		case *pcal.Assign:
			env = f.leave(s, env, c)
		case *pcal.With:
			w := &pcal.With{At: s.At, Var: s.Var, In: s.In, X: env.read(s.X)}
			if s.In && guard != nil {
				at := core.At{Place: s.Span()}
				one := &core.SetEnum{At: at, Elems: []core.Expr{&core.Int{At: at}}}
				w.X = &core.If{At: at, Cond: guard, Then: w.X, Else: one}
			}
			c.add(w)
			env = f.chosen(s.Body, guard, env, c)
		case *pcal.If:
			cond := f.name("taken", env.read(s.Cond), s.At, c)
			no := &core.Op{At: core.At{Place: s.Span()}, Op: core.OpNot, Args: []core.Expr{cond}}
			then := f.chosen(s.Then, both(guard, cond), env, c)
			other := f.chosen(s.Else, both(guard, no), env, c)
			env = f.select2(cond, then, other, s.At, c)
		case *pcal.Either:
			env = f.path(s, guard, env, c)
		}
	}
	return env
}

// leave is an assignment on one of several paths.
func (f *flattener) leave(s *pcal.Assign, env versions, c *chain) versions {
	var order []*core.Variable
	groups := map[*core.Variable][]pcal.Assignment{}
	for _, p := range s.Pairs {
		if groups[p.Target] == nil {
			order = append(order, p.Target)
		}
		groups[p.Target] = append(groups[p.Target], p)
	}
	next := env
	for _, x := range order {
		var withs []*pcal.With
		next, withs = next.bind(x, newValue(x, groups[x], env, core.At{Place: s.Span()}), s.At)
		c.bind(withs)
	}
	return next
}

// name gives an expression a name, unless it is a name already.
func (f *flattener) name(name string, e core.Expr, at pcal.At, c *chain) core.Expr {
	switch e.(type) {
	case *core.LocalRef, *core.Bool:
		return e
	}
	l := &core.Local{Name: name, Span: at.Place}
	c.add(&pcal.With{At: at, Var: l, X: e})
	return &core.LocalRef{At: core.At{Place: at.Place}, Local: l}
}

// select2 gives every variable that differs between two paths the value from
// the path that was taken.
func (f *flattener) select2(cond core.Expr, then, other versions, at pcal.At, c *chain) versions {
	vars := versions{}
	for x, v := range then {
		if other[x] != v {
			vars[x] = v
		}
	}
	for x, v := range other {
		if then[x] != v {
			vars[x] = v
		}
	}
	next := other
	for _, x := range vars.pending() {
		var withs []*pcal.With
		next, withs = next.bind(x, f.either(cond, then.value(x, at), other.value(x, at), at), at)
		c.bind(withs)
	}
	return next
}

func (f *flattener) either(cond, then, other core.Expr, at pcal.At) core.Expr {
	return &core.If{At: core.At{Place: at.Place}, Cond: cond, Then: then, Else: other}
}

// value returns the current value of x.
func (v versions) value(x *core.Variable, at pcal.At) core.Expr {
	if e := v[x]; e != nil {
		return e
	}
	return &core.VarRef{At: core.At{Place: at.Place}, Var: x}
}

// path represents the choice of an either by a number.
func (f *flattener) path(s *pcal.Either, guard core.Expr, env versions, c *chain) versions {
	at := core.At{Place: s.Span()}
	var numbers []core.Expr
	for i := range s.Branches {
		numbers = append(numbers, &core.Int{At: at, Val: int64(i + 1)})
	}
	var set core.Expr = &core.SetEnum{At: at, Elems: numbers}
	if guard != nil {
		set = &core.If{At: at, Cond: guard, Then: set, Else: &core.SetEnum{At: at, Elems: numbers[:1]}}
	}
	l := &core.Local{Name: "path", Span: at.Place}
	c.add(&pcal.With{At: s.At, Var: l, In: true, X: set})
	is := func(i int) core.Expr {
		return &core.Op{At: at, Op: core.OpEq, Args: []core.Expr{&core.LocalRef{At: at, Local: l}, numbers[i]}}
	}
	ends := make([]versions, len(s.Branches))
	for i, b := range s.Branches {
		ends[i] = f.chosen(b, both(guard, is(i)), env, c)
	}
	vars := versions{}
	for _, end := range ends {
		for x, v := range end {
			if env[x] != v {
				vars[x] = v
			}
		}
	}
	next := env
	for _, x := range vars.pending() {
		value := ends[len(ends)-1].value(x, s.At)
		for i := len(ends) - 2; i >= 0; i-- {
			value = f.either(is(i), ends[i].value(x, s.At), value, s.At)
		}
		var withs []*pcal.With
		next, withs = next.bind(x, value, s.At)
		c.bind(withs)
	}
	return next
}

// merge makes one value of each variable that an if assigns, if the if only
// assigns.
func (f *flattener) merge(s *pcal.If, rest []pcal.Stmt, env versions, need varSet) []pcal.Stmt {
	then, ok := f.values(s.Then, env)
	if !ok {
		return nil
	}
	other, ok := f.values(s.Else, env)
	if !ok {
		return nil
	}
	vars := versions{}
	for x, v := range then {
		vars[x] = v
	}
	for x, v := range other {
		vars[x] = v
	}
	at := core.At{Place: s.Span()}
	value := func(of map[*core.Variable]core.Expr, x *core.Variable) core.Expr {
		if v := of[x]; v != nil {
			return v
		}
		return env.read(&core.VarRef{At: at, Var: x})
	}
	var withs []*pcal.With
	next := env
	for _, x := range vars.pending() {
		e := &core.If{At: at, Cond: env.read(s.Cond), Then: value(then, x), Else: value(other, x)}
		var more []*pcal.With
		next, more = next.bind(x, e, s.At)
		withs = append(withs, more...)
	}
	return within(withs, f.seq(rest, next, need))
}

// values returns the final values of the variables of a branch that only
// assigns. The branch must assign each variable only once and must not read it
// afterwards.
func (f *flattener) values(list []pcal.Stmt, env versions) (map[*core.Variable]core.Expr, bool) {
	out := map[*core.Variable]core.Expr{}
	for _, s := range list {
		switch s := s.(type) {
		case *pcal.Skip:
		case *pcal.Assign:
			if len(s.Pairs) != 1 {
				return nil, false
			}
			x := s.Pairs[0].Target
			reads := out[x] != nil
			visit := func(e core.Expr) bool {
				if v, ok := e.(*core.VarRef); ok && out[v.Var] != nil {
					reads = true
				}
				return !reads
			}
			core.Walk(s.Pairs[0].Value, visit)
			for _, ix := range s.Pairs[0].Path {
				if ix.X != nil {
					core.Walk(ix.X, visit)
				}
			}
			if reads {
				return nil, false
			}
			out[x] = newValue(x, s.Pairs, env, core.At{Place: s.Span()})
		default:
			return nil, false
		}
	}
	return out, true
}
