// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func (l *lowerer) local(e *core.LocalRef, x ctx, hint *typ) *val {
	b := x.env.of(e.Local)
	switch {
	case b == nil:
		giveUp("a name has no value")
	case e.Local.Arity > 0:
		return l.operator(b, e.Args, x, hint)
	case b.val != nil:
		return b.val
	}
	if !x.primed && b.cache != nil {
		return b.cache
	}
	if b.expr == nil {
		giveUp("%s", e.Local.Name)
	}
	reads := l.reads
	v := l.expr(b.expr, x.in(b.env), nil)
	if !x.primed && l.reads == reads || v.known {
		b.cache = v
	}
	return v
}

// operator applies an operator that was passed as an argument.
func (l *lowerer) operator(b *binding, args []core.Expr, x ctx, hint *typ) *val {
	switch op := b.expr.(type) {
	case *core.OpRef:
		if at, ok := b.env.ofDef(op.Def); ok {
			return l.applyDef(op.Def, args, x, at, hint)
		}
		return l.call(op.Def, args, x, hint)
	case *core.Lambda:
		return l.expr(op.Body, x.in(l.arguments(op.Params, args, x, b.env)), hint)
	case *core.LocalRef:
		if inner := b.env.of(op.Local); inner != nil {
			return l.operator(inner, args, x, hint)
		}
	}
	giveUp("an operator argument")
	return nil
}

// arguments binds parameters in the scope at.
func (l *lowerer) arguments(params []*core.Local, args []core.Expr, x ctx, at *env) *env {
	out := at
	for i, p := range params {
		b := &binding{expr: args[i], env: x.env}
		if p.Arity == 0 {
			if ref, ok := args[i].(*core.LocalRef); ok && len(ref.Args) == 0 {
				if known := x.env.of(ref.Local); known != nil {
					b = known
				}
			}
		}
		out = out.bind(p, b)
	}
	return out
}

func (l *lowerer) enter() {
	if l.calls++; l.calls > callsMax {
		giveUp("operators call each other too deep")
	}
}

// call lowers the application of a definition.
func (l *lowerer) call(d *core.Def, args []core.Expr, x ctx, hint *typ) *val {
	if at, ok := x.env.ofDef(d); ok {
		return l.applyDef(d, args, x, at, hint)
	}
	to, v := l.p.Definition(d)
	if to == nil {
		if v.IsUndefined() || len(args) > 0 {
			giveUp("a definition that the configuration replaces")
		}
		return knownVal(v)
	}
	if len(args) == 0 {
		if known := l.once[defKey{to, false}]; known != nil && (known.known || !x.primed) {
			return known
		}
		if known := l.once[defKey{to, true}]; known != nil && x.primed && x.path == nil {
			return known
		}
	}
	if v, once := l.p.Once(to); once && !v.IsUndefined() && len(args) == 0 {
		return knownVal(v)
	}
	if compute, native, pure := l.p.Native(to); native {
		return l.native(to, compute, pure, args, x, hint)
	}
	if to.Body == nil {
		giveUp("a definition without a body")
	}
	var out *val
	reads := l.reads
	open := func() { out = l.expr(to.Body, x.in(l.arguments(to.Params, args, x, nil)), hint) }
	calls, spread := l.calls, l.spread
	l.enter()
	if len(args) == 0 {
		open()
	} else if !l.try(open) {
		l.calls, l.spread = calls, spread
		out = l.callTable(to, args, x)
	}
	l.calls = calls
	if len(args) == 0 && (out.known || !x.primed && l.reads == reads || x.primed && x.path == nil) {
		l.once[defKey{to, x.primed && !out.known}] = out
	}
	return out
}

// defKey identifies a definition without parameters in the current state or in
// the next.
type defKey struct {
	def    *core.Def
	primed bool
}

// callTableMax bounds the size of an operator's table.
const callTableMax = 256

// callTable makes a table of the results of an operator for all values that its
// arguments may have.
func (l *lowerer) callTable(d *core.Def, args []core.Expr, x ctx) *val {
	rows, place := [][]value.Value{nil}, l.b.k(0)
	for i, p := range d.Params {
		if p.Arity > 0 {
			giveUp("%s is not packed", d.Name)
		}
		a := l.settle(l.expr(args[i], x, nil))
		vals, index := []value.Value{a.v}, l.b.k(0)
		if !a.known {
			vals, index = l.domainOf(a)
		}
		if len(rows)*len(vals) > callTableMax {
			giveUp("%s is not packed", d.Name)
		}
		var next [][]value.Value
		for _, r := range rows {
			for _, v := range vals {
				next = append(next, append(r[:len(r):len(r)], v))
			}
		}
		place = l.b.arith(oAdd, l.b.arith(oMul, place, l.b.k(int64(len(vals)))), index)
		rows = next
	}
	results := make([]value.Value, len(rows))
	for i, r := range rows {
		var in *env
		for j, p := range d.Params {
			in = in.bind(p, &binding{val: knownVal(r[j])})
		}
		l.enter()
		v := l.settle(l.expr(d.Body, x.in(in), nil))
		l.calls--
		if !v.known {
			giveUp("%s is not packed", d.Name)
		}
		results[i] = v.v
	}
	return l.tabled(results, place)
}

// applyDef applies a definition of a LET.
func (l *lowerer) applyDef(d *core.Def, args []core.Expr, x ctx, at *env, hint *typ) *val {
	if len(d.Params) == 0 {
		if !x.primed && at.b.cache != nil {
			return at.b.cache
		}
		l.enter()
		reads := l.reads
		v := l.expr(d.Body, x.in(at.b.env), hint)
		l.calls--
		if !x.primed && l.reads == reads || v.known {
			at.b.cache = v
		}
		return v
	}
	l.enter()
	v := l.expr(d.Body, x.in(l.arguments(d.Params, args, x, at.b.env)), hint)
	l.calls--
	return v
}

// let binds the definitions of a LET.
func (l *lowerer) let(e *core.Let, x ctx) *env {
	out := x.env
	recursive := false
	for _, d := range e.Defs {
		recursive = recursive || d.Recursive
	}
	var made []*binding
	for _, d := range e.Defs {
		b := &binding{env: out}
		made = append(made, b)
		out = &env{up: out, def: d, b: b}
	}
	if recursive {
		for _, b := range made {
			b.env = out
		}
	}
	return out
}

func (l *lowerer) caseExpr(e *core.Case, x ctx, hint *typ) *val {
	out := &val{stop: true}
	if e.Other != nil {
		out = l.branch(e.Other, x, hint)
	}
	conds := make([]*node, 0, len(e.Arms))
	for _, a := range e.Arms {
		c := l.pred(a.Cond, x)
		conds = append(conds, c)
		if c.is(1) {
			break
		}
	}
	for i := len(conds) - 1; i >= 0; i-- {
		if conds[i].is(0) {
			continue
		}
		out = l.merge(conds[i], l.branch(e.Arms[i].Body, x, hint), out)
	}
	return out
}
