// SPDX-License-Identifier: Apache-2.0

package core

import "github.com/ashlar-dev/ashlar/internal/invariant"

// Rewrite returns e with parts replaced. It calls replace for every node from
// the outside in; where replace returns an expression, that stands in the
// node's place and is not looked at again; where it returns nil, the parts of
// the node are rewritten. What does not change is shared with e. Definitions
// of a LET in e that change become new ones, and the calls of them follow.
func Rewrite(e Expr, replace func(Expr) Expr) Expr {
	return Transform(e, func(x Expr, _ func(Expr) Expr) Expr { return replace(x) })
}

// Transform is Rewrite with a replace that keeps parts of the node in what it
// returns: it passes those to again, so that they are rewritten too.
func Transform(e Expr, replace func(x Expr, again func(Expr) Expr) Expr) Expr {
	r := &rewriter{replace: replace}
	return r.expr(e)
}

// Rename gives every name bound in e a fresh Local, and every definition of a
// LET in e a fresh Def, so that the result can stand inside a copy of itself.
func Rename(e Expr) Expr {
	r := &rewriter{replace: keep, locals: map[*Local]*Local{}}
	return r.expr(e)
}

// Substitute returns e with names replaced by expressions. An operator
// parameter is replaced by an OpRef, a Lambda, or a LocalRef or ConstRef that
// stands for an operator; its applications become calls, and a Lambda is
// applied on the spot.
func Substitute(e Expr, values map[*Local]Expr) Expr {
	if len(values) == 0 {
		return e
	}
	return Transform(e, func(x Expr, again func(Expr) Expr) Expr {
		ref, ok := x.(*LocalRef)
		if !ok {
			return nil
		}
		v, ok := values[ref.Local]
		if !ok {
			return nil
		}
		if len(ref.Args) == 0 {
			return v
		}
		args := make([]Expr, len(ref.Args))
		for i, a := range ref.Args {
			args[i] = again(a)
		}
		return ApplyOperator(v, args, ref.At)
	})
}

func keep(Expr, func(Expr) Expr) Expr { return nil }

// ApplyOperator applies op, an expression that stands for an operator, to arguments.
func ApplyOperator(op Expr, args []Expr, at At) Expr {
	switch op := op.(type) {
	case *OpRef:
		return &Call{At: at, Def: op.Def, Args: args}
	case *LocalRef:
		return &LocalRef{At: at, Local: op.Local, Args: args}
	case *ConstRef:
		return &ConstRef{At: at, Const: op.Const, Args: args}
	case *Lambda:
		r := &rewriter{replace: keep, locals: map[*Local]*Local{}}
		values := map[*Local]Expr{}
		for i, p := range op.Params {
			values[r.fresh(p)] = args[i]
		}
		return Substitute(r.expr(op.Body), values)
	case *Bad:
		return op
	}
	invariant.Unreachable(op)
	return nil
}

type rewriter struct {
	replace func(Expr, func(Expr) Expr) Expr
	// locals, when not nil, asks for fresh names.
	locals map[*Local]*Local
	defs   map[*Def]*Def
	// changes counts replacements, and led what was led to copies of
	// definitions, so that a LET knows whether it has any.
	changes int
	led     map[*Def]int
}

// lead is the copy of a LET's definition, if d is one.
func (r *rewriter) lead(d *Def) (*Def, bool) {
	to, ok := r.defs[d]
	if ok {
		r.led[d]++
	}
	return to, ok
}

// ledElsewhere counts what was led to copies of definitions other than these.
func (r *rewriter) ledElsewhere(defs []*Def) int {
	n := 0
	for _, k := range r.led {
		n += k
	}
	for _, d := range defs {
		n -= r.led[d]
	}
	return n
}

func (r *rewriter) fresh(l *Local) *Local {
	if r.locals == nil {
		return l
	}
	n := &Local{Name: l.Name, Arity: l.Arity, Span: l.Span}
	r.locals[l] = n
	r.changes++
	return n
}

func (r *rewriter) freshAll(ls []*Local) []*Local {
	if r.locals == nil {
		return ls
	}
	out := make([]*Local, len(ls))
	for i, l := range ls {
		out[i] = r.fresh(l)
	}
	return out
}

func (r *rewriter) expr(e Expr) Expr {
	if x := r.replace(e, r.expr); x != nil {
		r.changes++
		return x
	}
	if let, ok := e.(*Let); ok {
		return r.let(let)
	}
	return r.reference(r.parts(e))
}

// reference leads a node that refers to a copied name or definition to the copy.
func (r *rewriter) reference(e Expr) Expr {
	switch e := e.(type) {
	case *LocalRef:
		if l, ok := r.locals[e.Local]; ok {
			return &LocalRef{e.At, l, e.Args}
		}
	case *OpRef:
		if d, ok := r.lead(e.Def); ok {
			return &OpRef{e.At, d}
		}
	case *Call:
		if d, ok := r.lead(e.Def); ok {
			return &Call{e.At, d, e.Args}
		}
	}
	return e
}

// parts rewrites what is in e, and returns e itself when nothing changed. What
// is in its parts is evaluated, and renamed, before the names that e binds in
// them are: a set does not see the name that stands for its elements.
func (r *rewriter) parts(e Expr) Expr {
	type change struct {
		part  int
		to    Expr
		names []*Local
	}
	var changes []change
	part := 0
	form(e, EvaluationOrder, func(p place) bool {
		c := change{part: part}
		if r.locals != nil {
			c.names = r.freshAll(p.bound())
		}
		if c.to = r.expr(*p.at); c.to != *p.at || len(c.names) > 0 {
			changes = append(changes, c)
		}
		part++
		return true
	})
	if len(changes) == 0 {
		return e
	}
	e = separate(e)
	part = 0
	form(e, EvaluationOrder, func(p place) bool {
		if len(changes) > 0 && changes[0].part == part {
			*p.at = changes[0].to
			for i := range p.shared {
				p.shared[i].Set = changes[0].to
			}
			for i, l := range changes[0].names {
				*p.names[i] = l
			}
			changes = changes[1:]
		}
		part++
		return true
	})
	return e
}

// let copies the definitions, rewrites them with calls led to the copies, and
// keeps the result only when something else changed than that.
func (r *rewriter) let(e *Let) Expr {
	if r.defs == nil {
		r.defs, r.led = map[*Def]*Def{}, map[*Def]int{}
	}
	changes, led := r.changes, r.ledElsewhere(e.Defs)
	out := &Let{At: e.At, Defs: make([]*Def, len(e.Defs))}
	for i, d := range e.Defs {
		c := *d
		out.Defs[i] = &c
		r.defs[d] = &c
	}
	for _, d := range out.Defs {
		d.Params = r.freshAll(d.Params)
		if d.Body != nil {
			d.Body = r.expr(d.Body)
		}
	}
	out.Body = r.expr(e.Body)
	kept := r.changes == changes && r.locals == nil && r.ledElsewhere(e.Defs) == led
	for _, d := range e.Defs {
		delete(r.defs, d)
		delete(r.led, d)
	}
	if kept {
		return e
	}
	return out
}
