// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/token"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// Go orders only the calls of an expression, from left to right; it does not
// specify whether a variable is read before or after another operand's call. So
// if there are several calls, they are bound to names in their order, and an
// expression is refused if a call may write memory that another operand reads
// at an unspecified time.

// operand is a lowered expression and what its evaluation does.
type operand struct {
	x  Expr
	at ast.Node
	// pending: x has a call in it, whose order among the other calls matters.
	pending bool
	// writes: evaluating it may change memory that others see.
	writes bool
	// reads: it reads memory that a call may change, before which calls is said
	// nowhere; readsFree: nor is it said after which.
	reads, readsFree bool
}

// value is an operand of which nothing depends and that depends on nothing.
func value(x Expr) operand { return operand{x: x} }

// join is the effect of evaluating several operands, without their terms.
func join(x Expr, ops ...operand) operand {
	o := operand{x: x}
	for _, p := range ops {
		o.pending = o.pending || p.pending
		o.writes = o.writes || p.writes
		o.reads = o.reads || p.reads
		o.readsFree = o.readsFree || p.readsFree
	}
	return o
}

// reading adds to o that it reads memory.
func (o operand) reading() operand {
	o.reads, o.readsFree = true, true
	return o
}

// calling adds to o that it calls: after it has read its arguments.
func (o operand) calling(writes bool) operand {
	o.pending = true
	o.writes = o.writes || writes
	o.readsFree = false
	return o
}

// list lowers operands in order. What the i-th emits comes after all calls of
// those before it.
func (f *fn) list(items ...func() operand) []operand {
	var ops []operand
	for _, item := range items {
		var o operand
		before := f.collect(func() { o = item() })
		if len(before) > 0 || o.pending {
			for i := range ops {
				if ops[i].pending {
					ops[i].x = f.hoist(ops[i].x)
					ops[i].pending = false
				}
			}
		}
		f.emit(before...)
		ops = append(ops, o)
	}
	f.checkOrder(ops)
	return ops
}

// exprs lowers expressions as operands of one another.
func (f *fn) exprs(list ...ast.Expr) []operand {
	var items []func() operand
	for _, e := range list {
		items = append(items, func() operand { return f.expr(e) })
	}
	return f.list(items...)
}

// checkOrder refuses operands of which one may change what another one reads.
func (f *fn) checkOrder(ops []operand) {
	for i, a := range ops {
		for j, b := range ops {
			if i == j || !b.writes || a.at == nil || b.at == nil {
				continue
			}
			// A read within the arguments of a call comes before later calls.
			if a.readsFree || a.reads && j < i {
				f.refuse(a.at, EvaluationOrder, "an operand that the call beside it may change: Go does not say which comes first",
					"call first and keep the result in a variable", f.note(b.at.Pos(), "the call"))
				return
			}
		}
	}
}

func (f *fn) note(p token.Pos, message string) source.Note {
	return source.Note{Span: f.unit.spanOf(p, p+1), Message: message}
}

// hoist binds a value to a name before what comes.
func (f *fn) hoist(x Expr) Expr {
	if atomic(x) {
		return x
	}
	name := f.names.fresh()
	f.emit(Let{Name: name, X: x})
	return Local{Name: name}
}

// atomic reports whether x is the same wherever it is evaluated.
func atomic(x Expr) bool {
	switch x.(type) {
	case Local, Lit, Nil, Func, Zero:
		return true
	}
	return false
}

// steady reports whether x is a location that is the same wherever it is
// evaluated, so that it may be written twice.
func steady(x Expr) bool {
	if a, ok := x.(FieldAddr); ok {
		return steady(a.X)
	}
	return atomic(x)
}
