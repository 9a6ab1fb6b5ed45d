// SPDX-License-Identifier: Apache-2.0

package pcal

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// Reads of resources.
//
// A resource is read when its name is evaluated, and reading may block, branch
// and change what is behind the resource. So an expression with reads in
// it has an order, which hoisting makes plain: every read becomes a Read
// statement before the statement it stood in, from left to right, the reads
// inside an index first, once for every place in the text.
//
// What is not evaluated is not read: a read in a branch of IF or CASE, or to
// the right of /\, \/ or =>, is performed only where the branch is taken or
// the left side leaves the answer open. Such an expression becomes a Read
// without a resource whose Body chooses:
//
//	x := IF c THEN net[1] ELSE 0
//
//	Read t { if c { Read u of net[1]; yield u } else { yield 0 } }
//	x := t
//
// Inside a quantifier, a set comprehension, a function or another expression
// that binds names, a read that does not depend on the bound names is
// performed once, before; one that does stays where it is, and Expand accepts
// it only where reading has no effect.

// Hoist returns copies of the blocks in which reads and assignments of the ref
// parameters among params are Read and Write statements.
func Hoist(params []*Param, blocks []*Block) []*Block {
	h := &hoister{refs: map[*core.Variable]*Param{}}
	for _, p := range params {
		if p.Ref {
			h.refs[p.Var] = p
		}
	}
	out := make([]*Block, len(blocks))
	for i, b := range blocks {
		c := *b
		c.Body = h.stmts(b.Body)
		out[i] = &c
	}
	return out
}

// hoister has the resources and the names bound around the current expression,
// with the LET definitions that may depend on those names.
type hoister struct {
	refs  map[*core.Variable]*Param
	bound map[any]bool // *core.Local and *core.Def
}

// around nests inner in steps; each step sees those before it.
func around(steps []*Read, inner []Stmt) []Stmt {
	for i := len(steps) - 1; i >= 0; i-- {
		steps[i].Rest = inner
		inner = []Stmt{steps[i]}
	}
	return inner
}

func (h *hoister) stmts(list []Stmt) []Stmt {
	var out []Stmt
	for _, s := range list {
		out = append(out, h.stmt(s)...)
	}
	return out
}

func (h *hoister) stmt(s Stmt) []Stmt {
	switch s := s.(type) {
	case *Assign:
		return h.assign(s)
	case *If:
		steps, cond := h.x(s.Cond)
		return around(steps, []Stmt{&If{At: s.At, Cond: cond, Then: h.stmts(s.Then), Else: h.stmts(s.Else)}})
	case *Either:
		branches := make([][]Stmt, len(s.Branches))
		for i, b := range s.Branches {
			branches[i] = h.stmts(b)
		}
		return []Stmt{&Either{At: s.At, Branches: branches}}
	case *With:
		steps, x := h.x(s.X)
		return around(steps, []Stmt{&With{At: s.At, Var: s.Var, In: s.In, X: x, Body: h.stmts(s.Body)}})
	case *Await:
		// A conjunction waits for its conjuncts one at a time, so a read goes
		// directly before the conjunct that needs it.
		if and, ok := s.Cond.(*core.And); ok && h.reads(and) {
			var out []Stmt
			for _, c := range and.List {
				out = append(out, h.stmt(&Await{At: At{c.Span()}, Cond: c})...)
			}
			return out
		}
		steps, cond := h.x(s.Cond)
		return around(steps, []Stmt{&Await{At: s.At, Cond: cond}})
	case *Assert:
		steps, cond := h.x(s.Cond)
		return around(steps, []Stmt{&Assert{At: s.At, Cond: cond}})
	case *Print:
		steps, x := h.x(s.X)
		return around(steps, []Stmt{&Print{At: s.At, X: x}})
	case *Call:
		var all []*Read
		c := *s
		c.Args = append([]Arg(nil), s.Args...)
		for i, a := range c.Args {
			if a.X != nil {
				steps, x := h.x(a.X)
				all, c.Args[i].X = append(all, steps...), x
			}
		}
		return around(all, []Stmt{&c})
	}
	return []Stmt{s}
}

// assign turns assignments of resources into Writes. In a simultaneous
// assignment every index and every value is computed before the first target
// changes.
func (h *hoister) assign(s *Assign) []Stmt {
	var steps []*Read
	ref := false
	pairs := append([]Assignment(nil), s.Pairs...)
	for i, p := range pairs {
		ref = ref || h.refs[p.Target] != nil
		pairs[i].Path = append([]core.Index(nil), p.Path...)
		for k, ix := range p.Path {
			if ix.X != nil {
				more, x := h.x(ix.X)
				steps, pairs[i].Path[k].X = append(steps, more...), x
			}
		}
		more, x := h.x(p.Value)
		steps, pairs[i].Value = append(steps, more...), x
	}
	if !ref {
		return around(steps, []Stmt{&Assign{At: s.At, Pairs: pairs}})
	}
	if len(pairs) > 1 {
		for i := range pairs {
			for k, ix := range pairs[i].Path {
				pairs[i].Path[k].X, steps = hold(ix.X, "index", steps)
			}
			pairs[i].Value, steps = hold(pairs[i].Value, "value", steps)
		}
	}
	var out []Stmt
	for _, p := range pairs {
		param := h.refs[p.Target]
		if param == nil {
			out = append(out, &Assign{At: s.At, Pairs: []Assignment{p}})
			continue
		}
		w := &Write{At: At{p.Span}, Access: &Access{Param: param}, X: p.Value}
		for _, ix := range p.Path {
			w.Access.Index = append(w.Access.Index, ix.X)
		}
		out = append(out, w)
	}
	return around(steps, out)
}

// hold computes x before the following statements and returns a name for the
// value. If x cannot change, hold returns x itself.
func hold(x core.Expr, name string, steps []*Read) (core.Expr, []*Read) {
	switch x := x.(type) {
	case nil, *core.Int, *core.Str, *core.Bool:
		return x, steps
	case *core.LocalRef:
		return x, steps
	}
	at := At{x.Span()}
	dst := &core.Local{Name: name, Span: at.Place}
	step := &Read{At: at, Dst: dst, Body: []Stmt{&Yield{At: at, X: x}}}
	return &core.LocalRef{At: core.At{Place: at.Place}, Local: dst}, append(steps, step)
}

// reads reports whether e mentions a resource.
func (h *hoister) reads(e core.Expr) bool {
	found := false
	core.Walk(e, func(x core.Expr) bool {
		if v, ok := x.(*core.VarRef); ok && h.refs[v.Var] != nil {
			found = true
		}
		return !found
	})
	return found
}

// dependent reports whether e mentions a bound name.
func (h *hoister) dependent(e core.Expr) bool {
	if len(h.bound) == 0 {
		return false
	}
	found := false
	core.Walk(e, func(x core.Expr) bool {
		switch x := x.(type) {
		case *core.LocalRef:
			found = found || h.bound[x.Local]
		case *core.Call:
			found = found || h.bound[x.Def]
		case *core.OpRef:
			found = found || h.bound[x.Def]
		}
		return !found
	})
	return found
}

// access recognises param[i]...[k] with exactly the parameter's indices.
func (h *hoister) access(e core.Expr) *Access {
	var index []core.Expr
	for {
		switch x := e.(type) {
		case *core.Apply:
			index = append([]core.Expr{x.Arg}, index...)
			e = x.Fn
			continue
		case *core.VarRef:
			if p := h.refs[x.Var]; p != nil && len(index) == p.Mapping {
				return &Access{Param: p, Index: index}
			}
		}
		return nil
	}
}

// x returns the reads that must precede e, and e with the reads replaced by
// their results.
func (h *hoister) x(e core.Expr) ([]*Read, core.Expr) {
	if e == nil || !h.reads(e) {
		return nil, e
	}
	if len(h.bound) > 0 && !h.dependent(e) {
		bound := h.bound
		h.bound = nil
		defer func() { h.bound = bound }()
	}
	if a := h.access(e); a != nil {
		return h.read(e, a)
	}
	switch e := e.(type) {
	case *core.If:
		steps, cond := h.x(e.Cond)
		return h.choose(e, steps, &core.If{At: e.At, Cond: cond, Then: e.Then, Else: e.Else}, e.Then, e.Else)
	case *core.And:
		return h.junction(e, e.List, func(l []core.Expr) core.Expr { return &core.And{At: e.At, List: l} }, false)
	case *core.Or:
		return h.junction(e, e.List, func(l []core.Expr) core.Expr { return &core.Or{At: e.At, List: l} }, true)
	case *core.Op:
		if e.Op == core.OpImplies && h.reads(e.Args[1]) {
			return h.x(&core.If{At: e.At, Cond: e.Args[0], Then: e.Args[1], Else: &core.Bool{At: e.At, Val: true}})
		}
	case *core.Case:
		return h.cases(e)
	case *core.Let:
		return h.let(e)
	case *core.Quant:
		return h.binder(e, e.Binds, nil, []core.Expr{e.Body}, func(b []core.Bind, x []core.Expr) core.Expr {
			return &core.Quant{At: e.At, Exists: e.Exists, Binds: b, Body: x[0]}
		})
	case *core.Choose:
		return h.binder(e, []core.Bind{e.Bind}, nil, []core.Expr{e.Body}, func(b []core.Bind, x []core.Expr) core.Expr {
			return &core.Choose{At: e.At, Bind: b[0], Body: x[0]}
		})
	case *core.SetFilter:
		return h.binder(e, []core.Bind{e.Bind}, nil, []core.Expr{e.Pred}, func(b []core.Bind, x []core.Expr) core.Expr {
			return &core.SetFilter{At: e.At, Bind: b[0], Pred: x[0]}
		})
	case *core.SetMap:
		return h.binder(e, e.Binds, nil, []core.Expr{e.Body}, func(b []core.Bind, x []core.Expr) core.Expr {
			return &core.SetMap{At: e.At, Binds: b, Body: x[0]}
		})
	case *core.Fn:
		return h.binder(e, e.Binds, []*core.Local{e.Self}, []core.Expr{e.Body}, func(b []core.Bind, x []core.Expr) core.Expr {
			return &core.Fn{At: e.At, Self: e.Self, Binds: b, Body: x[0]}
		})
	case *core.Lambda:
		return h.binder(e, nil, e.Params, []core.Expr{e.Body}, func(_ []core.Bind, x []core.Expr) core.Expr {
			return &core.Lambda{At: e.At, Params: e.Params, Body: x[0]}
		})
	}
	return h.parts(e)
}

// read makes the Read of an access, with the reads in its indices first. An
// access under a binder that it depends on stays unchanged.
func (h *hoister) read(e core.Expr, a *Access) ([]*Read, core.Expr) {
	if len(h.bound) > 0 {
		return nil, e
	}
	var steps []*Read
	for i, ix := range a.Index {
		more, x := h.x(ix)
		steps, a.Index[i] = append(steps, more...), x
	}
	at := At{e.Span()}
	dst := &core.Local{Name: "yielded_" + a.Param.Var.Name, Span: at.Place}
	steps = append(steps, &Read{At: at, Dst: dst, Access: a})
	return steps, &core.LocalRef{At: core.At{Place: at.Place}, Local: dst}
}

// parts hoists reads out of the parts of an expression that evaluates all of
// its parts.
func (h *hoister) parts(e core.Expr) ([]*Read, core.Expr) {
	var steps []*Read
	r := &Rewriter{Expr: func(x core.Expr) core.Expr {
		more, y := h.x(x)
		steps = append(steps, more...)
		return y
	}}
	out := r.Parts(e)
	return steps, out
}

// choose completes an expression of which only one part is evaluated. with is
// the expression after its condition was hoisted.
func (h *hoister) choose(e core.Expr, steps []*Read, with *core.If, parts ...core.Expr) ([]*Read, core.Expr) {
	some := false
	for _, p := range parts {
		some = some || h.reads(p)
	}
	if !some || len(h.bound) > 0 {
		return steps, with
	}
	at := At{e.Span()}
	dst := &core.Local{Name: "chosen", Span: at.Place}
	body := []Stmt{&If{At: at, Cond: with.Cond, Then: h.yield(with.Then), Else: h.yield(with.Else)}}
	steps = append(steps, &Read{At: at, Dst: dst, Body: body})
	return steps, &core.LocalRef{At: core.At{Place: at.Place}, Local: dst}
}

// yield computes e as the body of a Read.
func (h *hoister) yield(e core.Expr) []Stmt {
	steps, x := h.x(e)
	return around(steps, []Stmt{&Yield{At: At{e.Span()}, X: x}})
}

// junction keeps the items before the first with a read as they are, and makes
// a choice of the rest. until is the value that ends the evaluation.
func (h *hoister) junction(e core.Expr, list []core.Expr, build func([]core.Expr) core.Expr, until bool) ([]*Read, core.Expr) {
	if len(h.bound) > 0 {
		return nil, e
	}
	group := func(items []core.Expr) core.Expr {
		if len(items) == 1 {
			return items[0]
		}
		return build(items)
	}
	k := 0
	for !h.reads(list[k]) {
		k++
	}
	stop := &core.Bool{At: core.At{Place: e.Span()}, Val: until}
	branch := func(cond, rest core.Expr) *core.If {
		if until {
			return &core.If{At: core.At{Place: e.Span()}, Cond: cond, Then: stop, Else: rest}
		}
		return &core.If{At: core.At{Place: e.Span()}, Cond: cond, Then: rest, Else: stop}
	}
	if k > 0 {
		return h.x(branch(group(list[:k]), group(list[k:])))
	}
	steps, first := h.x(list[0])
	rest := group(list[1:])
	if !h.reads(rest) {
		return steps, build(append([]core.Expr{first}, list[1:]...))
	}
	return h.choose(e, steps, branch(first, rest), rest)
}

// cases turns a CASE into nested choices. Without OTHER it is an error if no
// arm applies, and the nested choices preserve that error.
func (h *hoister) cases(e *core.Case) ([]*Read, core.Expr) {
	if len(h.bound) > 0 {
		return nil, e
	}
	x := e.Other
	if x == nil {
		no := &core.Bool{At: e.At}
		x = &core.Case{At: e.At, Arms: []core.Arm{{Cond: no, Body: no}}}
	}
	for i := len(e.Arms) - 1; i >= 0; i-- {
		x = &core.If{At: e.At, Cond: e.Arms[i].Cond, Then: e.Arms[i].Body, Else: x}
	}
	return h.x(x)
}

// binder hoists the reads in the sets of the bounds, and those reads in the
// bodies that do not depend on the bound names.
func (h *hoister) binder(e core.Expr, binds []core.Bind, names []*core.Local, bodies []core.Expr,
	build func([]core.Bind, []core.Expr) core.Expr) ([]*Read, core.Expr) {
	var steps []*Read
	outer := h.bound
	inner := map[any]bool{}
	for k := range outer {
		inner[k] = true
	}
	for _, n := range names {
		inner[n] = true
	}
	out := make([]core.Bind, len(binds))
	for i, b := range binds {
		out[i] = b
		if i > 0 && b.Set == binds[i-1].Set {
			out[i].Set = out[i-1].Set
		} else {
			more, set := h.x(b.Set)
			steps, out[i].Set = append(steps, more...), set
		}
		for _, v := range b.Vars {
			inner[v] = true
		}
	}
	h.bound = inner
	defer func() { h.bound = outer }()
	xs := make([]core.Expr, len(bodies))
	for i, b := range bodies {
		more, x := h.x(b)
		steps, xs[i] = append(steps, more...), x
	}
	return steps, build(out, xs)
}

// let computes a definition without parameters that reads once, before the
// body. The other definitions stay around the body and around every hoisted
// part that mentions them. A definition with parameters is treated as a binder.
func (h *hoister) let(e *core.Let) ([]*Read, core.Expr) {
	if len(h.bound) > 0 {
		return nil, e
	}
	var steps []*Read
	var kept []*core.Def
	wrap := &Rewriter{}
	wrap.Expr = func(x core.Expr) core.Expr { return letAround(kept, x) }
	values := map[*core.Def]*core.Local{}
	defs := map[*core.Def]*core.Def{}
	replace := &Rewriter{}
	replace.Expr = func(x core.Expr) core.Expr {
		switch x := x.(type) {
		case *core.Call:
			if l := values[x.Def]; l != nil {
				return &core.LocalRef{At: x.At, Local: l}
			}
			if d := defs[x.Def]; d != nil {
				return &core.Call{At: x.At, Def: d, Args: replace.Xs(x.Args)}
			}
		case *core.OpRef:
			if d := defs[x.Def]; d != nil {
				return &core.OpRef{At: x.At, Def: d}
			}
		}
		return nil
	}
	for _, d := range e.Defs {
		c := *d
		var more []*Read
		if len(d.Params) > 0 || d.Recursive || !h.reads(replace.X(d.Body)) {
			// The reads that do not depend on the parameters are hoisted.
			defs[d] = &c
			h.bound = map[any]bool{&c: true}
			for _, p := range d.Params {
				h.bound[p] = true
			}
			more, c.Body = h.x(replace.X(d.Body))
			h.bound = nil
			kept = append(kept, &c)
		} else {
			var x core.Expr
			more, x = h.x(replace.X(d.Body))
			at := At{d.Span}
			dst := &core.Local{Name: d.Name, Span: d.Span}
			values[d] = dst
			more = append(more, &Read{At: at, Dst: dst, Body: []Stmt{&Yield{At: at, X: x}}})
		}
		for _, m := range more {
			steps = append(steps, wrap.StmtParts(m).(*Read))
		}
	}
	more, body := h.x(replace.X(e.Body))
	for _, m := range more {
		steps = append(steps, wrap.StmtParts(m).(*Read))
	}
	return steps, letAround(kept, body)
}

// letAround puts the definitions around x where x mentions one.
func letAround(defs []*core.Def, x core.Expr) core.Expr {
	used := false
	core.Walk(x, func(y core.Expr) bool {
		switch y := y.(type) {
		case *core.Call:
			for _, d := range defs {
				used = used || y.Def == d
			}
		case *core.OpRef:
			for _, d := range defs {
				used = used || y.Def == d
			}
		}
		return !used
	})
	if !used {
		return x
	}
	return &core.Let{At: core.At{Place: x.Span()}, Defs: append([]*core.Def(nil), defs...), Body: x}
}
