// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"strings"

	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// Places is where the evaluator is: the innermost expression that has a place,
// then the use of each definition that it is inside of.
func (r *Evaluator) Places() []string {
	var out []string
	add := func(s string) {
		if len(out) < placesMax && (len(out) == 0 || out[len(out)-1] != s) {
			out = append(out, s)
		}
	}
	name := ""
	wanted := true // the next expression is listed
	for p := r.at; p != nil; p = p.up {
		switch {
		case p.def != nil:
			name, wanted = p.def.Name, true
		case wanted && p.expr.Span().IsValid():
			s := p.expr.Span().String()
			if name != "" {
				s += " (use of " + name + ")"
			}
			add(s)
			wanted = false
		}
	}
	return out
}

// placesMax is how many places an evaluation error lists.
const placesMax = 30

// Advice is what to add to the message of an error where the evaluator is at f[i]' = e or
// f'[i] = e while f has no next value: a part of a variable cannot be given one.
// It is "" elsewhere.
func (r *Evaluator) Advice(message string) string {
	for p, n := r.at, 0; p != nil && p.def == nil && n < partAssignedDepth; p, n = p.up, n+1 {
		eq, ok := p.expr.(*core.Op)
		if !ok || eq.Op != core.OpEq {
			continue
		}
		v := partOf(eq.Args[0], false, 0)
		if v == nil || !strings.HasPrefix(message, "the variable "+v.Name+" is used before it has a value") {
			return ""
		}
		return "; a step gives a value to a whole variable: write " + v.Name + "' = [" + v.Name + " EXCEPT ![...] = ...]"
	}
	return ""
}

// partAssignedDepth is how far above the innermost expression an equality is
// looked for, and how deep in it the variable.
const partAssignedDepth = 8

// partOf is the variable of which e is a part in the next state, nil where it is
// something else.
func partOf(e core.Expr, primed bool, depth int) *core.Variable {
	if depth > partAssignedDepth {
		return nil
	}
	switch e := e.(type) {
	case *core.Op:
		if e.Op == core.OpPrime && !primed {
			return partOf(e.Args[0], true, depth)
		}
	case *core.Apply:
		return partOf(e.Fn, primed, depth+1)
	case *core.Select:
		return partOf(e.X, primed, depth+1)
	case *core.VarRef:
		if primed && depth > 0 {
			return e.Var
		}
	}
	return nil
}
