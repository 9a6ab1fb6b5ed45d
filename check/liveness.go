package check

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/check/live"
)

// Properties of whole behaviours are decided on the graph of all states, which
// is built after the search has found nothing wrong: the successors of every
// state are computed once more, now with the values of the atoms of which the
// properties are made. That costs a second evaluation and keeps the search,
// which most runs consist of, free of everything that only liveness needs.

// LiveModel is a Model that asks for properties of whole behaviours. Its
// workers are LiveWorkers.
type LiveModel interface {
	Model
	// Live is what is asked for, or nil.
	Live() *Live
}

// Live are properties of behaviours.
type Live struct {
	// Atoms are what the formulas are made of.
	Atoms []live.AtomKind
	// Assume is what the behaviours that count satisfy: fairness.
	Assume     *live.Formula
	Properties []LiveProperty
	// Skip are atoms that need not be evaluated.
	Skip []int
}

// LiveProperty is a formula that every behaviour should satisfy. A property that
// the model names once may be here in several parts.
type LiveProperty struct {
	Name    string
	Formula *live.Formula
}

// AtomError says that an atom has no value in some state or step. The
// properties that are made of it are then left undecided.
type AtomError struct {
	Atom int // its index in Live.Atoms
	Err  *EvalError
}

func (e *AtomError) Error() string { return e.Err.Error() }

// LiveWorker is a Worker that evaluates atoms. Both methods set bits of words
// that are zero, in the order of live.Layout. Where an atom has no value, the
// error is an *AtomError.
type LiveWorker interface {
	Worker
	// StateAtoms evaluates the predicates of states in s.
	StateAtoms(s State, words []uint64) error
	// StepAtoms evaluates the others on the step to the candidate that is being
	// visited, and may be called only within a visit of Next.
	StepAtoms(words []uint64) error
	// SkipAtoms names atoms that are not to be evaluated from now on.
	SkipAtoms(atoms []int)
}

// liveness decides the properties of behaviours and notes in r what it finds.
func liveness(ctx context.Context, m LiveModel, o Options, r *Result) error {
	problem := *m.Live()
	b, err := liveGraph(ctx, m, o.Workers)
	for {
		var failed *AtomError
		if !errors.As(err, &failed) {
			break
		}
		// What is made of this atom cannot be decided; the rest can.
		if problem.leaveOut(failed, r) == 0 {
			o.incomplete(r)
			return nil
		}
		b, err = liveGraph(ctx, without{m, &problem}, o.Workers)
	}
	var wrong *EvalError
	switch {
	case errors.As(err, &wrong):
		r.Verdict, r.Err, r.Complete = EvalFailed, wrong, false
		r.Reason = "the successors of a state cannot be computed a second time"
		return nil
	case err != nil:
		return undecided(ctx, r, err)
	}
	r.Live = LiveStats{States: int64(len(b.at)), Steps: int64(len(b.graph.To))}
	for _, p := range problem.Properties {
		lasso, err := live.Find(ctx, &b.graph, live.Problem{Atoms: problem.Atoms, Assume: problem.Assume, Property: p.Formula})
		if err != nil {
			return undecided(ctx, r, fmt.Errorf("the property %s: %w", p.Name, err))
		}
		if lasso != nil {
			v := Violation{Verdict: LivenessViolated, Property: p.Name, Index: -1}
			if err := b.show(lasso, &v); err != nil {
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
	}
	o.incomplete(r)
	return nil
}

// accused says whether a behaviour is known that breaks the property, of which
// there may be several parts.
func (r *Result) accused(property string) bool {
	return slices.ContainsFunc(r.Violations, func(v Violation) bool {
		return v.Verdict == LivenessViolated && v.Property == property
	})
}

// leaveOut drops the properties that are made of an atom without a value, and
// returns how many are left. Where fairness is made of it, none is.
func (l *Live) leaveOut(failed *AtomError, r *Result) int {
	fair := l.Assume.Mentions(failed.Atom)
	var left []LiveProperty
	for _, p := range l.Properties {
		if !fair && !p.Formula.Mentions(failed.Atom) {
			left = append(left, p)
			continue
		}
		reason := failed.Err.Error()
		if fair {
			reason = "the fairness of the specification: " + reason
		}
		unchecked := Unchecked{Property: p.Name, Reason: reason}
		if !slices.Contains(r.Info.Unchecked, unchecked) {
			r.Info.Unchecked = append(slices.Clone(r.Info.Unchecked), unchecked)
		}
	}
	l.Properties = left
	// An atom that nobody asks for is not evaluated.
	l.Skip = append(slices.Clone(l.Skip), failed.Atom)
	return len(left)
}

// Unasked notes in r that the properties were not to be checked.
func (l *Live) Unasked(r *Result) {
	for _, p := range l.Properties {
		unchecked := Unchecked{Property: p.Name, Reason: "only safety was to be checked"}
		if !slices.Contains(r.Info.Unchecked, unchecked) {
			r.Info.Unchecked = append(slices.Clone(r.Info.Unchecked), unchecked)
		}
	}
	Options{SafetyOnly: true}.incomplete(r)
}

// incomplete makes of r the result of a search that has left properties out, if
// it has.
func (o Options) incomplete(r *Result) {
	if len(r.Info.Unchecked) == 0 {
		return
	}
	r.Complete = false
	r.Reason = fmt.Sprintf("%d of the properties asked for cannot be checked", len(r.Info.Unchecked))
	if !o.SafetyOnly {
		r.Verdict = Incomplete
	}
}

// without is a model with fewer properties of behaviours.
type without struct {
	LiveModel
	live *Live
}

func (w without) Live() *Live { return w.live }

// NewWorker passes on what is to be skipped.
func (w without) NewWorker() Worker {
	ev := w.LiveModel.NewWorker()
	if l, ok := ev.(LiveWorker); ok {
		l.SkipAtoms(w.live.Skip)
	}
	return ev
}

// undecided notes that properties of behaviours have not been decided.
func undecided(ctx context.Context, r *Result, err error) error {
	var limit *live.LimitError
	switch {
	case ctx.Err() != nil:
		r.Complete, r.Verdict, r.Reason = false, Interrupted, "properties of behaviours were being checked when the search was interrupted"
		var l Limit
		if errors.As(context.Cause(ctx), &l) {
			r.Verdict, r.Reason = Incomplete, string(l)
		}
	case errors.As(err, &limit), errors.Is(err, live.ErrTooLarge):
		r.Complete, r.Verdict, r.Reason = false, Incomplete, "properties of behaviours were not checked: "+err.Error()
	default:
		return err
	}
	return nil
}

// show makes the trace of a lasso: its path, then its loop.
func (b *graphBuilder) show(l *live.Lasso, v *Violation) error {
	states := append(slices.Clone(l.Path), l.Loop...)
	v.Loop = len(l.Path)
	for i, n := range states {
		action := rootAction
		if i > 0 {
			var err error
			if action, err = b.action(states[i-1], n); err != nil {
				return err
			}
		}
		v.Trace = append(v.Trace, Step{Action: action, State: slices.Clone(b.state(n))})
	}
	v.LoopAction = rootAction
	if len(l.Loop) > 1 {
		var err error
		if v.LoopAction, err = b.action(states[len(states)-1], l.Loop[0]); err != nil {
			return err
		}
	}
	showSteps(b.m, v.Trace)
	return nil
}

// action is the first action that leads from one state to another.
func (b *graphBuilder) action(from, to uint32) (int, error) {
	found, w, target := rootAction, b.workers[0], b.state(to)
	err := w.ev.Next(b.state(from), func(a int, s State) error {
		if slices.Equal(s, target) {
			found = a
			return errFound
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFound) {
		return found, err
	}
	return found, nil
}
