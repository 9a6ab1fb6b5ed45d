// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/check/live"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Some models pass because they say less than their author meant. This file
// reports the cases that cost nothing to find: an invariant without variables,
// a variable with the same value in all states (the values of each variable are
// numbered anyway), and an invariant "P => Q" whose P is true in no state. P is
// evaluated only until it has been true once. The checker does the same for the
// P of "P ~> Q" when it decides that property.

// antecedent is the left side of an implication in an invariant. For "for all
// x, P => Q", it is "there is x with P".
type antecedent struct {
	invariant string
	place     string
	text      string
	f         *formula
}

// Limits of the search for left sides.
const (
	antecedentsMax     = 64
	antecedentTextMax  = 60
	antecedentDepthMax = 20
)

// lints prepares remarks about the invariants.
func (b *builder) lints() {
	for _, f := range b.m.invariants {
		facts := b.p.Facts(f.expr)
		if facts.Level == core.ConstantLevel && !facts.Volatile {
			b.m.info.Warnings = append(b.m.info.Warnings, "the invariant "+f.name+" mentions no variable, so it says the same of every state")
			continue
		}
		b.antecedents(f, f.expr, func(x core.Expr) core.Expr { return x }, 0)
	}
}

// antecedents finds antecedents in e, which is within quantifiers and
// definitions of the invariant f. around wraps an antecedent in these.
func (b *builder) antecedents(f *formula, e core.Expr, around func(core.Expr) core.Expr, depth int) {
	if depth > antecedentDepthMax || len(b.m.antecedents) >= antecedentsMax {
		return
	}
	switch e := e.(type) {
	case *core.Call:
		if body := b.p.Open(e); body != nil {
			b.antecedents(f, body, around, depth+1)
		}
	case *core.And:
		for _, x := range e.List {
			b.antecedents(f, x, around, depth+1)
		}
	case *core.Quant:
		if !e.Exists {
			b.antecedents(f, e.Body, func(x core.Expr) core.Expr {
				return around(&core.Quant{At: e.At, Exists: true, Binds: e.Binds, Body: x})
			}, depth+1)
		}
	case *core.Let:
		b.antecedents(f, e.Body, func(x core.Expr) core.Expr {
			return around(&core.Let{At: e.At, Defs: e.Defs, Body: x})
		}, depth+1)
	case *core.Op:
		if e.Op != core.OpImplies {
			return
		}
		left := around(e.Args[0])
		if facts := b.p.Facts(left); facts.Level != core.StateLevel || facts.Volatile || facts.Locals {
			return
		}
		text, place := quote(e.Args[0])
		b.m.antecedents = append(b.m.antecedents, antecedent{invariant: f.name, place: place, text: text,
			f: b.formula(f.name, left)})
	}
}

// quote returns an expression and its source position for use in a sentence.
func quote(e core.Expr) (text, place string) {
	for let, ok := e.(*core.Let); ok; let, ok = e.(*core.Let) {
		e = let.Body
	}
	span := e.Span()
	runes := []rune(span.Text())
	if len(runes) > antecedentTextMax {
		runes = append(runes[:antecedentTextMax-1], '…')
	}
	return string(runes), span.String()
}

// premises finds the state predicates P on which a property of behaviours
// depends: P ~> Q, [](P => F), []<>P => F and similar forms. If no state
// satisfies P, the property is trivially true. If a quantifier was expanded into
// several predicates with one source position, they count as one.
func (l *liveBuilder) premises(property string, f *live.Formula, always bool) {
	switch f.Op {
	case live.And:
		for _, x := range f.Args {
			l.premises(property, x, always)
		}
	case live.Always:
		l.premises(property, f.Args[0], true)
	case live.Or:
		for _, x := range f.Args {
			if x.Op != live.Not {
				continue
			}
			left, often := x.Args[0], always
			for left.Op == live.Always || left.Op == live.Eventually {
				often = often || left.Op == live.Eventually
				left = left.Args[0]
			}
			if often && left.Op == live.Atom && l.out.asked.Atoms[left.Atom] == live.StateAtom {
				l.premise(property, left.Atom)
			}
		}
	}
}

// premise records one predicate.
func (l *liveBuilder) premise(property string, atom int) {
	asked := &l.out.asked
	text, place := quote(l.out.atoms[atom].f.expr)
	for i, p := range asked.Premises {
		if p.Property == property && p.Place == place {
			asked.Premises[i].Atoms = append(p.Atoms, atom)
			return
		}
	}
	if len(asked.Premises) < antecedentsMax {
		asked.Premises = append(asked.Premises, check.Premise{Property: property, Text: text, Place: place, Atoms: []int{atom}})
	}
}

// isAntecedent reports whether a formula is evaluated only for a remark.
func (m *Model) isAntecedent(f *formula) bool {
	for i := range m.antecedents {
		if m.antecedents[i].f == f {
			return true
		}
	}
	return false
}

// meet evaluates the antecedents that were true in no state so far, and drops
// those that are true in the candidate or have no value in it.
func (w *worker) meet() {
	left := w.unmet[:0]
	for _, i := range w.unmet {
		f, holds := w.m.antecedents[i].f, false
		if err := value.Catch(func() { holds = w.ev.Holds(f.id, w.seen, vector.Vector{}) }); err == nil && !holds {
			left = append(left, i)
		}
	}
	w.unmet = left
}

// Remarks reports what is unusual about all visited states. The arguments must be
// all workers of the search.
func (m *Model) Remarks(workers []check.Worker) []string {
	var out []string
	if same := m.constantVariables(workers); len(same) > 0 {
		out = append(out, "never changed, the same in every state: "+strings.Join(same, ", "))
	}
	met := make([]bool, len(m.antecedents))
	for _, w := range workers {
		unmet := map[int]bool{}
		for _, i := range workerOf(w).unmet {
			unmet[i] = true
		}
		for i := range met {
			met[i] = met[i] || !unmet[i]
		}
	}
	for i, a := range m.antecedents {
		if !met[i] {
			out = append(out, fmt.Sprintf("the invariant %s has an implication that says nothing: its left side, %s at %s, is true in no state",
				a.invariant, a.text, a.place))
		}
	}
	return out
}

// constantVariables returns the variables with the same value in all states. If
// the algorithm is executed directly, its variables are excluded: some are
// parameters of processes.
func (m *Model) constantVariables(workers []check.Worker) []string {
	if m.direct != nil {
		return nil
	}
	changed := m.packedChanges(workers)
	var names []string
	for i, v := range m.program.Spec.Variables {
		// A translation always has pc, and may have a stack, whether the
		// algorithm needs them or not.
		if m.codec.Vars[i].OnlyOne() && !changed(i) && v.Name != "pc" && v.Name != "stack" {
			names = append(names, v.Name)
		}
	}
	return names
}

// packedChanges reports whether the bits of a variable differed between packed
// states.
func (m *Model) packedChanges(workers []check.Worker) func(i int) bool {
	if m.packed == nil {
		return func(int) bool { return false }
	}
	seen := m.joinBits(workers)
	return func(i int) bool {
		at := m.packed.vars[i]
		for j, mask := range at.masks {
			if seen.ors[at.low+j]&^seen.ands[at.low+j]&mask != 0 {
				return true
			}
		}
		return false
	}
}

func workerOf(w check.Worker) *worker {
	switch w := w.(type) {
	case *keyedWorker:
		return w.worker
	case *packedWorker:
		return w.worker
	case *packedKeyedWorker:
		return w.worker
	}
	return w.(*worker)
}
