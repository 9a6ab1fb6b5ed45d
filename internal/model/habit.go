package model

import (
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// What beginners do, and what they are told beyond that it is wrong.

// wrongLevel reports that the configuration names d as what it cannot be.
func (b *builder) wrongLevel(n config.Name, d *core.Def, l, most core.Level, what string) {
	repair := ""
	switch {
	case most == core.StateLevel && l == core.ActionLevel && what == "an invariant":
		repair = "remove the primes; what holds of every step is a property: PROPERTY P, where P == [][" + n.Text + "]_vars"
	case most == core.StateLevel && l == core.ActionLevel:
		repair = "remove the primes"
	case l == core.TemporalLevel && what == "an invariant":
		repair = "PROPERTY " + n.Text
	case l == core.TemporalLevel && what == "a next-state relation":
		repair = "SPECIFICATION " + n.Text + ", without INIT and NEXT"
	}
	diag := source.Diagnostic{Code: WrongLevel, Span: n.Span, Repair: repair,
		Message: n.Text + " is " + levelNames[l] + "; " + what + " must not go beyond " + levelNames[most]}
	if d.Span.IsValid() {
		diag.Related = []source.Note{{Span: d.Span, Message: "defined here"}}
	}
	b.diags.Add(diag)
}

// primeless warns of a next-state relation that says nothing of the next state:
// a prime was forgotten.
func (b *builder) primeless(f *formula) {
	if len(b.p.Spec.Variables) > 0 && b.p.Facts(f.expr).Level == core.StateLevel {
		b.m.info.Warnings = append(b.m.info.Warnings,
			"the next-state relation "+f.name+" mentions no primed variable, so it determines no next state: write x' = ... for the next value of x")
	}
}

// partAssigned is what to add to the message of an error where the evaluator is at f[i]' = e or
// f'[i] = e while f has no next value: a part of a variable cannot be given one.
// It is "" elsewhere.
func (r *reference) partAssigned(message string) string {
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
