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

// Some models pass because they say less than was meant. This reports the cases
// that cost nothing to find: an invariant without variables, a variable with
// one value in all states (the values of each are numbered anyway), and an
// invariant "P => Q" whose P is true in no state. P is evaluated only until it
// was true once. The checker treats the P of "P ~> Q" likewise when it decides
// that property.

// antecedent is the left side of an implication that an invariant consists of,
// or "there is x with P" for "for all x, P => Q".
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

// antecedents finds left sides in e, which stands in the invariant f within
// quantifiers and definitions; around puts these around a left side.
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

// quote is an expression in a sentence, and where it stands.
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

// premises finds the state predicates P for which a property of behaviours
// promises something: P ~> Q, [](P => F), and []<>P => F and its like. Where no
// state satisfies P, it says nothing. Those of one place, which a quantifier has
// made several of, count as one.
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

// premise notes one.
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

// isAntecedent reports whether a formula is there for a remark only.
func (m *Model) isAntecedent(f *formula) bool {
	for i := range m.antecedents {
		if m.antecedents[i].f == f {
			return true
		}
	}
	return false
}

// meet drops the left sides that are true in the candidate from those that were
// true in no state yet; so it does with one that has no value.
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

// Remarks report what is unusual about all states that were visited, all of them by
// these workers.
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

// constantVariables are the variables with one value in all states. Those of an
// algorithm are left out where it is explored itself: parameters of processes
// are variables too.
func (m *Model) constantVariables(workers []check.Worker) []string {
	if m.direct != nil {
		return nil
	}
	changed := m.packedChanges(workers)
	var names []string
	for i, v := range m.program.Spec.Variables {
		// A translation has a pc and a stack whether they are needed or not.
		if m.codec.Vars[i].OnlyOne() && !changed(i) && v.Name != "pc" && v.Name != "stack" {
			names = append(names, v.Name)
		}
	}
	return names
}

// packedChanges says of a variable whether its bits were not the same in all
// packed states.
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
