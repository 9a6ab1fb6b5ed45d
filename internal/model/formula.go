// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// A formula about behaviours is taken apart into what can be decided on a
// state, on a step, and what needs whole behaviours:
//
//	Init /\ [][Next]_v /\ []P /\ WF_v(A)
//	init    steps          inv   rest
//
// Definitions are opened where that is needed, with their arguments put in.
// "\A x \in S : F", where S is constant, is taken apart inside.

// parts has the conjuncts of a formula, sorted by what can decide them. None
// has free names.
type parts struct {
	init  []core.Expr // state predicates about the first state
	inv   []core.Expr // P of []P
	steps []core.Expr // [A]_v of [][A]_v
	fair  []core.Expr // WF_v(A) and SF_v(A), possibly quantified
	rest  []core.Expr // everything else
}

// partsOf splits e into parts.
func partsOf(p *program.Program, e core.Expr) parts {
	var ps parts
	split(p, e, &ps, 0)
	return ps
}

// splitDepthMax bounds the depth to which definitions are expanded.
const splitDepthMax = 200

func split(p *program.Program, e core.Expr, ps *parts, depth int) {
	if p.Facts(e).Level <= core.StateLevel {
		ps.init = append(ps.init, e)
		return
	}
	if depth > splitDepthMax {
		ps.rest = append(ps.rest, e)
		return
	}
	switch e := e.(type) {
	case *core.And:
		for _, x := range e.List {
			split(p, x, ps, depth+1)
		}
		return
	case *core.Call:
		if body := p.Open(e); body != nil {
			split(p, body, ps, depth+1)
			return
		}
	case *core.Quant:
		if splitForAll(p, e, ps, depth) {
			return
		}
	case *core.Let:
		if splitLet(p, e, ps, depth) {
			return
		}
	case *core.Fair:
		ps.fair = append(ps.fair, e)
		return
	case *core.Op:
		if e.Op == core.OpAlways && splitAlways(p, e.Args[0], ps, depth) {
			return
		}
	}
	ps.rest = append(ps.rest, e)
}

// splitAlways splits []e.
func splitAlways(p *program.Program, e core.Expr, ps *parts, depth int) bool {
	if depth > splitDepthMax {
		return false
	}
	if p.Facts(e).Level <= core.StateLevel {
		ps.inv = append(ps.inv, e)
		return true
	}
	switch e := e.(type) {
	case *core.Box:
		ps.steps = append(ps.steps, e)
		return true
	case *core.And: // [](F /\ G) is []F /\ []G
		var inner parts
		for _, x := range e.List {
			if !splitAlways(p, x, &inner, depth+1) {
				return false
			}
		}
		ps.inv = append(ps.inv, inner.inv...)
		ps.steps = append(ps.steps, inner.steps...)
		return true
	case *core.Call:
		if body := p.Open(e); body != nil {
			return splitAlways(p, body, ps, depth+1)
		}
	}
	return false
}

// splitForAll splits \A x \in S : F with a constant S: it quantifies each part
// of F separately.
func splitForAll(p *program.Program, e *core.Quant, ps *parts, depth int) bool {
	if e.Exists {
		return false
	}
	for _, b := range e.Binds {
		if b.Set == nil || p.Facts(b.Set).Level != core.ConstantLevel {
			return false
		}
	}
	return wrapped(func(inner *parts) { split(p, e.Body, inner, depth+1) }, ps, func(x core.Expr) core.Expr {
		return &core.Quant{At: e.At, Binds: e.Binds, Body: x}
	})
}

// splitLet splits LET D IN F: each part of F keeps the definitions.
func splitLet(p *program.Program, e *core.Let, ps *parts, depth int) bool {
	return wrapped(func(inner *parts) { split(p, e.Body, inner, depth+1) }, ps, func(x core.Expr) core.Expr {
		return &core.Let{At: e.At, Defs: e.Defs, Body: x}
	})
}

// wrapped splits a formula with split and applies wrap to each part.
func wrapped(split func(*parts), ps *parts, wrap func(core.Expr) core.Expr) bool {
	var inner parts
	split(&inner)
	add := func(to *[]core.Expr, from []core.Expr) {
		for _, x := range from {
			*to = append(*to, wrap(x))
		}
	}
	add(&ps.init, inner.init)
	add(&ps.inv, inner.inv)
	add(&ps.steps, inner.steps)
	add(&ps.fair, inner.fair)
	add(&ps.rest, inner.rest)
	return true
}

// conjunction joins conjuncts into one formula; nil for none.
func conjunction(es []core.Expr) core.Expr {
	switch len(es) {
	case 0:
		return nil
	case 1:
		return es[0]
	}
	return &core.And{At: core.At{Place: es[0].Span()}, List: es}
}

// behaviour is the meaning of a specification formula: the initial predicate,
// the next-state relation, and further assumptions.
type behaviour struct {
	init, next core.Expr
	fair       []core.Expr
	rest       []core.Expr
}

// behaviourOf splits a specification formula. If own is not nil, the next-state
// relation is own, and behaviourOf warns of another one.
func behaviourOf(p *program.Program, d *core.Def, span source.Span, own *core.Def, diags *source.List) behaviour {
	ps := partsOf(p, d.Body)
	b := behaviour{init: conjunction(ps.init), fair: ps.fair, rest: append(ps.rest, boxed(ps.inv)...)}
	switch {
	case len(ps.steps) == 0:
		diags.Add(source.Diagnostic{Code: BadSpecification, Span: span,
			Message: "the formula " + d.Name + " has no part [][Next]_v, so it does not say how states follow each other",
			Repair:  "write it as Init /\\ [][Next]_vars, or use INIT and NEXT"})
		return b
	case own != nil && b.init != nil:
		b.next = &core.Call{At: core.At{Place: span}, Def: own}
		for _, e := range ps.steps {
			if box, ok := e.(*core.Box); ok {
				if call, ok := box.Action.(*core.Call); ok {
					if of, _ := p.Resolve(call.Def); of == own {
						continue
					}
				}
			}
			diags.Add(source.Diagnostic{Severity: source.Warning, Code: OtherNext, Span: span,
				Message: "this part of " + d.Name + " is not the algorithm's own " + own.Name + "; the steps in the traces are compared with " + own.Name + ", and not with this part",
				Related: []source.Note{{Span: e.Span(), Message: "the part"}}})
		}
		return b
	case len(ps.steps) > 1:
		diags.Add(source.Diagnostic{Code: BadSpecification, Span: span,
			Message: "the formula " + d.Name + " has more than one part [][Next]_v; it must have one",
			Related: []source.Note{{Span: ps.steps[1].Span(), Message: "another one here"}}})
		return b
	case b.init == nil:
		diags.Add(source.Diagnostic{Code: BadSpecification, Span: span,
			Message: "the formula " + d.Name + " has no initial predicate", Repair: "write it as Init /\\ [][Next]_vars, or use INIT and NEXT"})
		return b
	}
	box, ok := ps.steps[0].(*core.Box)
	if !ok {
		diags.Add(source.Diagnostic{Code: BadSpecification, Span: span,
			Message: "the part [][Next]_v of " + d.Name + " must not stand inside a quantifier or a LET"})
		return b
	}
	b.next = box.Action
	return b
}

// boxed puts [] before each predicate again.
func boxed(es []core.Expr) []core.Expr {
	out := make([]core.Expr, len(es))
	for i, e := range es {
		out[i] = &core.Op{At: core.At{Place: e.Span()}, Op: core.OpAlways, Args: []core.Expr{e}}
	}
	return out
}
