// SPDX-License-Identifier: Apache-2.0

package core

import (
	"strings"

	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// junction writes a conjunction or a disjunction. If it does not fit on the
// line, it becomes a bulleted list.
func (p *printer) junction(op string, list []Expr) {
	line := func() {
		b := infixBindings[op]
		for i, x := range list {
			if i > 0 {
				p.emit(" " + op + " ")
			}
			p.operand(x, b, false)
		}
	}
	if p.flat || p.fits(line) {
		line()
		return
	}
	column := p.col
	for i, x := range list {
		if i > 0 {
			p.newline(column)
		}
		p.emit(op + " ")
		p.expr(x)
	}
}

// bindTexts writes "x, y \in S, <<a, b>> \in T". The names must already be
// bound. Sets cannot mention them, so it is safe to write the sets then.
func (p *printer) bindTexts(binds []Bind) {
	for i, b := range binds {
		if i > 0 {
			p.emit(", ")
		}
		names := make([]string, len(b.Vars))
		for j, l := range b.Vars {
			names[j] = p.local(l)
		}
		text := strings.Join(names, ", ")
		if b.Tuple {
			text = "<<" + text + ">>"
		}
		p.emit(text)
		last := i == len(binds)-1
		if !last && !b.Tuple && !binds[i+1].Tuple && binds[i+1].Set == b.Set {
			continue // x, y \in S
		}
		if b.Set != nil {
			p.emit(` \in `)
			p.operand(b.Set, binding{high: openLow}, false)
		}
	}
}

// quantified writes "head bounds : body".
func (p *printer) quantified(head string, binds []Bind, body Expr) {
	column := p.col
	p.bind(boundBy(binds), func() {
		p.emit(head)
		p.bindTexts(binds)
		p.emit(" :")
		p.body(body, column+2)
	})
}

func (p *printer) binder(e Expr) {
	switch e := e.(type) {
	case *Lambda:
		p.bind(e.Params, func() {
			p.emit("LAMBDA ")
			for i, l := range e.Params {
				if i > 0 {
					p.emit(", ")
				}
				p.emit(p.local(l))
			}
			p.emit(" : ")
			p.expr(e.Body)
		})
	case *If:
		p.ifExpr(e)
	case *Case:
		p.caseExpr(e)
	case *Let:
		p.let(e)
	case *Quant:
		head := `\A `
		if e.Exists {
			head = `\E `
		}
		p.quantified(head, e.Binds, e.Body)
	case *TemporalQuant:
		head := `\AA `
		if e.Exists {
			head = `\EE `
		}
		for i, v := range e.Vars {
			if i > 0 {
				head += ", "
			}
			head += v.Name
		}
		p.emit(head + " : ")
		p.expr(e.Body)
	case *Choose:
		p.quantified("CHOOSE ", []Bind{e.Bind}, e.Body)
	case *SetFilter:
		p.emit("{")
		p.quantified("", []Bind{e.Bind}, e.Pred)
		p.emit("}")
	case *SetMap:
		p.emit("{")
		p.bind(boundBy(e.Binds), func() {
			op, isOp := e.Body.(*Op)
			if isOp && op.Op == OpIn || p.bindingOf(e.Body).low == openLow {
				p.parens(e.Body)
			} else {
				p.expr(e.Body)
			}
			p.emit(" : ")
			p.bindTexts(e.Binds)
		})
		p.emit("}")
	case *Fn:
		p.fn(e)
	default:
		invariant.Unreachable(e)
	}
}

func (p *printer) fn(e *Fn) {
	column := p.col
	names := boundBy(e.Binds)
	if e.Self == nil {
		p.bind(names, func() {
			p.emit("[")
			p.bindTexts(e.Binds)
			p.emit(" |->")
			p.body(e.Body, column+2)
			p.emit("]")
		})
		return
	}
	// A recursive function can only be written as a definition.
	p.bind(append(names, e.Self), func() {
		self := p.local(e.Self)
		p.emit("LET " + self + "[")
		p.bindTexts(e.Binds)
		p.emit("] ==")
		p.body(e.Body, column+6)
		if p.flat {
			p.emit(" ")
		} else {
			p.newline(column)
		}
		p.emit("IN " + self)
	})
}

func (p *printer) ifExpr(e *If) {
	column := p.col
	line := func() {
		p.emit("IF ")
		p.expr(e.Cond)
		p.emit(" THEN ")
		p.expr(e.Then)
		p.emit(" ELSE ")
		p.expr(e.Else)
	}
	if p.flat || p.fits(line) {
		line()
		return
	}
	p.emit("IF ")
	p.expr(e.Cond)
	p.newline(column + 2)
	p.emit("THEN ")
	p.expr(e.Then)
	p.newline(column + 2)
	p.emit("ELSE ")
	p.expr(e.Else)
}

func (p *printer) caseExpr(e *Case) {
	column := p.col
	arms := func(next func()) {
		p.emit("CASE ")
		for i, a := range e.Arms {
			if i > 0 {
				next()
			}
			p.operand(a.Cond, binding{high: openLow}, false)
			p.emit(" -> ")
			p.operand(a.Body, binding{high: openLow}, false)
		}
		if e.Other != nil {
			next()
			p.emit("OTHER -> ")
			p.operand(e.Other, binding{high: openLow}, false)
		}
	}
	line := func() { arms(func() { p.emit(" [] ") }) }
	if p.flat || p.fits(line) {
		line()
		return
	}
	arms(func() {
		p.newline(column + 2)
		p.emit("[] ")
	})
}

func (p *printer) let(e *Let) {
	column := p.col
	for _, d := range e.Defs {
		p.own(d)
		p.taken[p.defName(d)]++
	}
	line := func() {
		p.emit("LET ")
		for _, d := range e.Defs {
			if d.Recursive {
				p.over = true
			}
			p.def(d)
			p.emit(" ")
		}
		p.emit("IN ")
		p.expr(e.Body)
	}
	switch {
	case p.flat || len(e.Defs) == 1 && p.fits(line):
		line()
	default:
		p.emit("LET ")
		for i, d := range e.Defs {
			if i > 0 {
				p.newline(column + 4)
			}
			p.def(d)
		}
		p.newline(column)
		p.emit("IN  ")
		p.expr(e.Body)
	}
	for _, d := range e.Defs {
		p.taken[p.defName(d)]--
	}
}

func (p *printer) except(e *Except) {
	p.emit("[")
	p.expr(e.Fn)
	p.emit(" EXCEPT ")
	p.list(len(e.Updates), func(i int) {
		u := e.Updates[i]
		p.emit("!")
		for _, x := range u.Path {
			if x.X == nil {
				p.emit("." + x.Field)
				continue
			}
			p.emit("[")
			if t, ok := x.X.(*Tuple); ok && len(t.Elems) > 1 {
				p.exprs(t.Elems)
			} else {
				p.expr(x.X)
			}
			p.emit("]")
		}
		p.emit(" = ")
		if u.At != nil {
			p.names[u.At] = "@"
		}
		p.expr(u.Value)
	})
	p.emit("]")
}
