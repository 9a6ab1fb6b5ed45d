// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/check/live"
)

// Properties of whole behaviours are decided on the graph of all states, which is
// built after the search has found no violation: the successors of every state are
// computed once more. That costs a second evaluation, but keeps the search, which
// is all that most runs do, free of everything that only liveness needs.

// Live are properties of behaviours.
type Live struct {
	// Atoms are what the formulas are made of.
	Atoms []live.AtomKind
	// Assume is the condition on the behaviours to consider: fairness.
	Assume     *live.Formula
	Properties []LiveProperty
	// Premises are the conditions under which Properties promise something.
	Premises []Premise
	// Cut reports that behaviours may end at a constraint of the model, so that nothing
	// can be concluded about fairness itself.
	Cut bool
}

// LiveProperty is a formula that every behaviour should satisfy. A property that
// the model names once may be here in several parts.
type LiveProperty struct {
	Name    string
	Formula *live.Formula
}

// Premise is a predicate P of states for which a property promises something, as
// P ~> Q does: if no state satisfies any of the atoms, the property says
// nothing.
type Premise struct {
	Property    string
	Text, Place string // of P
	Atoms       []int
}

// AtomError reports that an atom has no value in some state or step. The property
// that needs it is then undecided.
type AtomError struct {
	Atom int // its index in Live.Atoms
	Err  *EvalError
}

func (e *AtomError) Error() string { return e.Err.Error() }

// liveness decides the properties of behaviours and records the results in r. g is the
// graph, as far as it was built, or nil.
func liveness(ctx context.Context, m Model, o Options, g *liveGraph, r *Result) (err error) {
	if g == nil {
		if g, err = newLiveGraph(ctx, m, o); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, g.close()) }()
	defer o.Monitor.decides(nil)
	o.Monitor.decides(&Deciding{Of: r.Distinct})
	if o.Deciding != nil {
		o.Deciding(r.Distinct)
	}
	g.b.expandedTo = func(n int) { o.Monitor.decides(&Deciding{States: int64(n), Of: r.Distinct}) }
	var wrong *EvalError
	switch err := g.build(); {
	case errors.As(err, &wrong):
		r.Verdict, r.Err, r.Complete = EvalFailed, wrong, false
		r.Reason = "the successors of a state cannot be computed a second time"
		return nil
	case err != nil:
		return undecided(ctx, r, err)
	}
	checks := r.Live.Checks
	r.Live = g.stats()
	r.Live.Checks = checks
	asked := m.Capabilities().Live
	for _, p := range asked.Properties {
		o.Monitor.decides(&Deciding{States: r.Live.States, Of: r.Live.States, Property: p.Name})
		lasso, err := g.find(ctx, asked, p)
		var failed *AtomError
		switch {
		case errors.As(err, &failed):
			asked.unsure(p, failed, r)
			continue
		case err != nil:
			return undecided(ctx, r, fmt.Errorf("the property %s: %w", p.Name, err))
		case lasso == nil:
			continue
		}
		v := Violation{Verdict: LivenessViolated, Property: p.Name, Index: -1}
		if err := g.show(lasso, &v); err != nil {
			return err
		}
		if !r.accused(p.Name) {
			r.Violations = append(r.Violations, v)
		}
		if !o.Continue {
			r.Complete, r.Reason = false, endsAtFirst
			return nil
		}
	}
	if err := g.remark(ctx, asked, r); err != nil {
		return err
	}
	o.incomplete(r)
	return nil
}

// remark warns of properties that hold for a trivial reason. It says nothing if the
// reason cannot be determined.
func (g *liveGraph) remark(ctx context.Context, asked *Live, r *Result) error {
	if len(r.Violations) > 0 || len(r.Info.Unchecked) > 0 {
		return nil
	}
	for _, p := range asked.Premises {
		met, err := g.meets(ctx, p)
		if err != nil {
			return err
		}
		if !met {
			r.Warnings = append(r.Warnings, fmt.Sprintf("the property %s has a part that says nothing: its left side, %s at %s, is true in no state", p.Property, p.Text, p.Place))
		}
	}
	return g.remarkFairness(ctx, asked, r)
}

// meets reports whether some state satisfies a premise or may satisfy it, because an
// atom has no value or the search was interrupted.
func (g *liveGraph) meets(ctx context.Context, p Premise) (bool, error) {
	for _, i := range p.Atoms {
		for s := range g.number {
			if s%graphRange == 0 && ctx.Err() != nil {
				return true, nil
			}
			holds, err := g.Atom(i, uint32(s), uint32(s))
			var failed *AtomError
			switch {
			case errors.As(err, &failed):
				return true, nil
			case err != nil || holds:
				return true, err
			}
		}
	}
	return false, nil
}

// remarkFairness warns if fairness is not machine closed: then it forbids steps that the
// specification allows, and properties may hold only because of that.
func (g *liveGraph) remarkFairness(ctx context.Context, asked *Live, r *Result) error {
	if asked.Cut {
		return nil
	}
	n, stuck, err := live.Stuck(ctx, g, live.Problem{Atoms: asked.Atoms, Assume: asked.Assume, MemoryBytes: g.room()})
	var failed *AtomError
	var short *live.MemoryError
	switch {
	case errors.As(err, &failed), errors.As(err, &short), errors.Is(err, live.ErrForm), ctx.Err() != nil:
		return nil
	case err != nil || !stuck:
		return err
	}
	s, err := g.state.get(int(n))
	if err != nil {
		return err
	}
	what := "fairness is not machine closed: no fair behaviour continues from a reachable state"
	if int(n) < g.initial {
		what = "no fair behaviour begins in an initial state, so every property holds there trivially"
	}
	r.Warnings = append(r.Warnings, what+": "+brief(g.m.Show(s)))
	return nil
}

// stateTextMax is the largest length of a state shown within a sentence, in
// bytes.
const stateTextMax = 300

// brief returns a state as text that fits into a sentence.
func brief(state []Binding) string {
	var b strings.Builder
	for i, v := range state {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len()+len(v.Name)+len(v.Value) > stateTextMax {
			b.WriteString("...")
			break
		}
		b.WriteString(v.Name + " = " + v.Value)
	}
	return b.String()
}

// unsure records that a property cannot be decided because an atom has no
// value.
func (l *Live) unsure(p LiveProperty, failed *AtomError, r *Result) {
	reason := failed.Error()
	if l.Assume.Mentions(failed.Atom) {
		reason = "the fairness of the specification: " + reason
	}
	unchecked := Unchecked{Property: p.Name, Reason: reason}
	if !slices.Contains(r.Info.Unchecked, unchecked) {
		r.Info.Unchecked = append(slices.Clone(r.Info.Unchecked), unchecked)
	}
}

// accused reports whether a behaviour is known that breaks the property, which
// may have several parts.
func (r *Result) accused(property string) bool {
	return slices.ContainsFunc(r.Violations, func(v Violation) bool {
		return v.Verdict == LivenessViolated && v.Property == property
	})
}

// Unasked records in r that the caller did not want the properties checked.
func (l *Live) Unasked(r *Result) {
	for _, p := range l.Properties {
		unchecked := Unchecked{Property: p.Name, Reason: "only safety was to be checked"}
		if !slices.Contains(r.Info.Unchecked, unchecked) {
			r.Info.Unchecked = append(slices.Clone(r.Info.Unchecked), unchecked)
		}
	}
	Options{SafetyOnly: true}.incomplete(r)
}

// incomplete makes r the result of a search that has omitted properties, if it
// has.
func (o Options) incomplete(r *Result) {
	if len(r.Info.Unchecked) == 0 {
		return
	}
	r.Complete = false
	r.Reason = fmt.Sprintf("%d of the requested properties cannot be checked", len(r.Info.Unchecked))
	if !o.SafetyOnly {
		r.Verdict = Incomplete
	}
}

// undecided records that properties of behaviours have not been decided.
func undecided(ctx context.Context, r *Result, err error) error {
	var limit *live.LimitError
	var short *live.MemoryError
	switch {
	case ctx.Err() != nil:
		r.Unfinished = true
		r.Complete, r.Verdict, r.Reason = false, Interrupted, "properties of behaviours were being checked when the search was interrupted"
		var l Limit
		if errors.As(context.Cause(ctx), &l) {
			r.Verdict, r.Reason = Incomplete, string(l)
		}
	case errors.As(err, &limit), errors.As(err, &short), errors.Is(err, live.ErrTooLarge):
		r.Unfinished = true // more memory may help
		r.Complete, r.Verdict, r.Reason = false, Incomplete, "properties of behaviours were not checked: "+err.Error()
	default:
		return err
	}
	return nil
}
