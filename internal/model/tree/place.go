// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"strings"

	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// Places returns the position of the evaluator: the innermost expression that
// has a source position, then the use of each enclosing definition.
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

// placesMax is the maximum number of positions in an evaluation error.
const placesMax = 30

// Advice returns an addition to the message of an error. It is not "" if the evaluator is
// at f[i]' = e or f'[i] = e and f has no next value: an action cannot assign a part of a
// variable.
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

// partAssignedDepth bounds how far above the innermost expression Advice looks
// for an equality, and how deep in the equality for the variable.
const partAssignedDepth = 8

// partOf returns the variable of which e is a part in the next state; nil if e
// is something else.
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
