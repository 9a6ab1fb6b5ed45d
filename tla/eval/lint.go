package eval

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/check"
	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Some models pass because they say less than was meant. What can be told of
// that at no price is told: an invariant without variables, a variable with one
// value in all states (the values of each are numbered anyway), and an invariant
// "P => Q" whose P is true in no state. P is evaluated only until it was true
// once.

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
		facts := b.p.factsOf(f.expr, nil, nil)
		if facts.level == core.ConstantLevel && !facts.volatile {
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
		if body := b.p.open(e); body != nil {
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
		if facts := b.p.factsOf(left, nil, nil); facts.level != core.StateLevel || facts.volatile || facts.locals {
			return
		}
		span := e.Args[0].Span()
		text := []rune(span.Text())
		if len(text) > antecedentTextMax {
			text = append(text[:antecedentTextMax-1], '…')
		}
		b.m.antecedents = append(b.m.antecedents, antecedent{invariant: f.name, place: span.String(), text: string(text),
			f: b.formula(f.name, left)})
	}
}

// isAntecedent says whether a formula is there for a remark only.
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
		if err := value.Catch(func() { holds = w.ev.holds(f, w.seen, vector{}) }); err == nil && !holds {
			left = append(left, i)
		}
	}
	w.unmet = left
}

// Remarks tell what is odd about the states that were visited, all of them by
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
	for i, v := range m.program.spec.Variables {
		// A translation has a pc and a stack whether they are needed or not.
		if m.codec.vars[i].onlyOne() && !changed(i) && v.Name != "pc" && v.Name != "stack" {
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

var _ check.Remarker = (*Model)(nil)
