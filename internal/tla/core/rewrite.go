// SPDX-License-Identifier: Apache-2.0

package core

import "github.com/ashlar-dev/ashlar/internal/invariant"

// Rewrite returns e with parts replaced. It calls replace for every node from
// the outside in. If replace returns an expression, that expression takes the
// node's place and is not visited. If replace returns nil, Rewrite rewrites the
// parts of the node. Unchanged parts are shared with e. A definition of a LET
// in e that changes becomes a new definition, and calls refer to the new one.
func Rewrite(e Expr, replace func(Expr) Expr) Expr {
	return Transform(e, func(x Expr, _ func(Expr) Expr) Expr { return replace(x) })
}

// Transform is Rewrite for a replace function that keeps parts of the node in
// its result. It must pass those parts to again, which rewrites them too.
func Transform(e Expr, replace func(x Expr, again func(Expr) Expr) Expr) Expr {
	r := &rewriter{replace: replace}
	return r.expr(e)
}

// Rename gives every name bound in e a fresh Local and every definition of a
// LET in e a fresh Def, so that the result can be placed inside a copy of e.
func Rename(e Expr) Expr {
	r := &rewriter{replace: keep, locals: map[*Local]*Local{}}
	return r.expr(e)
}

// Substitute returns e with names replaced by expressions. An operator
// parameter is replaced by an OpRef, a Lambda, or a LocalRef or ConstRef that
// denotes an operator. Applications of the parameter become calls; a Lambda is
// applied at once.
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

// ApplyOperator applies op, an expression that denotes an operator, to arguments.
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
	// locals, if not nil, asks for fresh names.
	locals map[*Local]*Local
	defs   map[*Def]*Def
	// changes counts replacements, and led counts references redirected to
	// copies of definitions. From the two a LET knows whether anything in it
	// changed.
	changes int
	led     map[*Def]int
}

// lead returns the copy of the LET definition d, if there is one.
func (r *rewriter) lead(d *Def) (*Def, bool) {
	to, ok := r.defs[d]
	if ok {
		r.led[d]++
	}
	return to, ok
}

// ledElsewhere counts the references redirected to copies of definitions other
// than these.
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

// reference redirects a node that refers to a copied name or definition to the
// copy.
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

// parts rewrites the parts of e and returns e itself if nothing changed. It
// visits them in evaluation order and renames the names that e binds only
// before the parts that see them: a set does not see the name that ranges over
// its elements.
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

// let copies the definitions, rewrites them with calls redirected to the
// copies, and keeps the result only if something else changed too.
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
