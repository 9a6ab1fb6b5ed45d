// SPDX-License-Identifier: Apache-2.0

package pcal

import "github.com/ashlar-dev/ashlar/internal/tla/core"

// choice merges the yields in the last statement of a read part into one, if
// that statement only chooses among their values: an IF, or any element of a
// set. The rest of the step then needs to be written only once.
func choice(body []Stmt) []Stmt {
	last := len(body) - 1
	if last < 0 || yieldCount(body[last:]) < 2 {
		return body
	}
	value, in, ok := oneValue(body[last])
	if !ok {
		return body
	}
	at := At{body[last].Span()}
	out := append([]Stmt(nil), body[:last]...)
	if !in {
		return append(out, &Yield{At: at, X: value})
	}
	v := &core.Local{Name: "choice", Span: at.Place}
	ref := &core.LocalRef{At: core.At{Place: at.Place}, Local: v}
	return append(out, &With{At: at, Var: v, In: true, X: value, Body: []Stmt{&Yield{At: at, X: ref}}})
}

// yieldCount counts the yields of a list.
func yieldCount(list []Stmt) int {
	n := 0
	InspectStmts(list, func(s Stmt) {
		if _, ok := s.(*Yield); ok {
			n++
		}
	}, nil)
	return n
}

// oneValue converts a statement that only chooses a value to an expression. If
// in is set, the value is any element of the expression.
func oneValue(s Stmt) (value core.Expr, in, ok bool) {
	at := core.At{Place: s.Span()}
	switch s := s.(type) {
	case *Yield:
		return s.X, false, true
	case *If:
		if len(s.Then) != 1 || len(s.Else) != 1 {
			return nil, false, false
		}
		a, aIn, aOk := oneValue(s.Then[0])
		b, bIn, bOk := oneValue(s.Else[0])
		if !aOk || !bOk {
			return nil, false, false
		}
		if aIn != bIn {
			a, b = element(a, aIn), element(b, bIn)
		}
		return &core.If{At: at, Cond: s.Cond, Then: a, Else: b}, aIn || bIn, true
	case *Either:
		var values []core.Expr
		for _, b := range s.Branches {
			if len(b) != 1 {
				return nil, false, false
			}
			v, vIn, vOk := oneValue(b[0])
			if !vOk || vIn {
				return nil, false, false
			}
			values = append(values, v)
		}
		return &core.SetEnum{At: at, Elems: values}, true, true
	}
	return nil, false, false
}

// element makes a singleton set of a value.
func element(x core.Expr, in bool) core.Expr {
	if in {
		return x
	}
	return &core.SetEnum{At: core.At{Place: x.Span()}, Elems: []core.Expr{x}}
}
