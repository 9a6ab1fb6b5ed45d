// SPDX-License-Identifier: Apache-2.0

package core

// Walk calls visit for e and, if visit returns true, for every expression
// inside it. It does not follow calls out of the expression.
func Walk(e Expr, visit func(Expr) bool) {
	if !visit(e) {
		return
	}
	for x := range Children(e, TextOrder) {
		Walk(x, visit)
	}
}

// Calls calls visit for every reference to a definition in e, references to
// definitions of a LET in e included. It calls visit once per reference.
func Calls(e Expr, visit func(*Def)) {
	Walk(e, func(x Expr) bool {
		switch x := x.(type) {
		case *Call:
			visit(x.Def)
		case *OpRef:
			visit(x.Def)
		}
		return true
	})
}

// Free lists the names that e uses without binding them, in order of first use.
// It ignores names that are free in a definition that e calls: only definitions
// of an enclosing LET have such names.
func Free(e Expr) []*Local {
	bound := map[*Local]int{}
	seen := map[*Local]bool{}
	var out []*Local
	Scoped(e, func(ls []*Local, by int) {
		for _, l := range ls {
			bound[l] += by
		}
	}, func(x Expr) {
		if r, ok := x.(*LocalRef); ok && bound[r.Local] == 0 && !seen[r.Local] {
			seen[r.Local] = true
			out = append(out, r.Local)
		}
	})
	return out
}

// Scoped walks e in evaluation order. Around the parts that see them, it calls
// bind for the names that come into scope (by is 1) and that go out of scope
// (by is -1).
func Scoped(e Expr, bind func(names []*Local, by int), visit func(Expr)) {
	visit(e)
	for p := range Parts(e, EvaluationOrder) {
		if len(p.Names) == 0 {
			Scoped(p.Expr, bind, visit)
			continue
		}
		bind(p.Names, 1)
		Scoped(p.Expr, bind, visit)
		bind(p.Names, -1)
	}
}

// boundBy lists the names that binds bind, in order.
func boundBy(binds []Bind) []*Local {
	var out []*Local
	for _, b := range binds {
		out = append(out, b.Vars...)
	}
	return out
}
