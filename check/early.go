package check

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/ashlar-dev/ashlar/check/live"
)

// Properties of behaviours can be looked at during a search too, on the part of
// the graph that it has explored: its levels up to the one that is next. A state
// that is not expanded has no step there but that to itself, which every behaviour
// may take, and atoms, ENABLED among them, are values of states and steps and not of
// the part. So a behaviour of the part is one of the whole: what is violated there is
// violated. That nothing is says nothing, and the properties are decided at the end
// all the same.
//
// When that is done depends on the counts at the ends of levels only: neither
// on the workers nor on a clock, so that a violation is found at the same place in
// every run. The graph is kept and grows, so that together with the last one
// all looks build one graph; and since they are made when the number of states has
// doubled, what is searched in it is about twice what the last look searches.

// PeriodicStatesMin is how many distinct states there are at the first look; each
// further one comes at the end of the level in which twice as many are reached.
const PeriodicStatesMin = 1 << 10

// Bounds of a look, for each state that the search has computed so far. Beyond them
// it is given up.
const (
	periodicEvaluations = 8   // values of atoms that are computed
	periodicQuestions   = 256 // values and steps that are asked for, most of them known
)

// periodicMemory is which part of the memory the graph has during the search.
const periodicMemory = 4

// early looks at properties of behaviours during a search.
type early struct {
	m     LiveModel
	ctx   context.Context
	o     Options
	g     *liveGraph // nil before the first look, and after the last
	off   bool       // nothing is looked at any more
	looks int
	found []earlyViolation
	notes []string
}

// earlyViolation is a violation, and how many others were known when it was found.
type earlyViolation struct {
	Violation
	after int
	stats LiveStats
}

// newEarly is nil where nothing is to be looked at.
func newEarly(ctx context.Context, m Model, o Options) *early {
	l, ok := m.(LiveModel)
	if !o.Periodic || o.SafetyOnly || !ok || l.Live() == nil {
		return nil
	}
	return &early{m: l, ctx: ctx, o: o}
}

// searchOptions are those of the search beside it.
func (e *early) searchOptions(o Options) Options {
	if e != nil {
		o.MemoryBytes -= o.MemoryBytes / periodicMemory
	}
	return o
}

// doublings is how often the least number of states has doubled to n, and 1.
func doublings(n int64) int { return bits.Len64(uint64(n / PeriodicStatesMin)) }

// look is called when the search begins a level, and looks if it is time.
func (e *early) look(s *search) {
	if e == nil || e.off || s.over() || doublings(s.stats.Distinct) == doublings(s.stats.Distinct-s.left) {
		return
	}
	err := e.grow(s.level)
	if err == nil {
		e.looks++
		err = e.find(s)
	}
	var limit *live.LimitError
	var short *live.MemoryError
	var wrong *EvalError
	switch {
	case err == nil || e.ctx.Err() != nil:
	case errors.Is(err, errSpent):
		e.note(fmt.Sprintf("a look at properties of behaviours, with %d states, took too long and was given up", s.stats.Distinct))
	case errors.As(err, &limit), errors.As(err, &short), errors.As(err, &wrong), errors.Is(err, live.ErrTooLarge):
		e.note(fmt.Sprintf("properties of behaviours are not looked at from %d states on, until the end: %v", s.stats.Distinct, err))
		s.fail(e.close())
	default:
		s.fail(err)
	}
}

// note adds a remark for the result.
func (e *early) note(text string) { e.notes = append(e.notes, text) }

// grow has the graph be that of the states of which the shortest path has less than
// so many states, and of where they lead.
func (e *early) grow(level int) error {
	if e.g == nil {
		o := e.o
		o.MemoryBytes /= periodicMemory
		g, err := newLiveGraph(e.ctx, e.m, o)
		if err != nil {
			return err
		}
		e.g = g
	}
	e.g.b.levelsMax = level
	return e.g.build()
}

// find looks for violations of the properties that are not known to be violated.
func (e *early) find(s *search) error {
	e.g.bound(periodicEvaluations*s.stats.Generated, periodicQuestions*s.stats.Generated)
	defer e.g.bound(0, 0)
	asked := e.m.Live()
	for _, p := range asked.Properties {
		if e.accused(p.Name) {
			continue
		}
		lasso, err := e.g.find(e.ctx, asked, p)
		var failed *AtomError
		switch {
		case errors.As(err, &failed), err == nil && lasso == nil:
			continue
		case err != nil:
			return err
		}
		v := Violation{Verdict: LivenessViolated, Property: p.Name, Index: -1}
		if err := e.g.show(lasso, &v); err != nil {
			return err
		}
		e.found = append(e.found, earlyViolation{v, len(s.violations), e.g.stats()})
		if !e.o.Continue {
			s.interrupt(LivenessViolated, endsAtFirst)
			return nil
		}
	}
	return nil
}

func (e *early) accused(property string) bool {
	for _, v := range e.found {
		if v.Property == property {
			return true
		}
	}
	return false
}

// report adds to the result of the search what was found. Violations are in the
// order in which they were found.
func (e *early) report(r *Result) {
	if e == nil {
		return
	}
	r.Live.Looks = e.looks
	r.Warnings = append(r.Warnings, e.notes...)
	if len(e.found) == 0 {
		return
	}
	all := make([]Violation, 0, len(r.Violations)+len(e.found))
	next := 0
	for i := range len(r.Violations) + 1 {
		for ; next < len(e.found) && (e.found[next].after == i || i == len(r.Violations)); next++ {
			all = append(all, e.found[next].Violation)
			r.Live = e.found[next].stats
			r.Live.Looks = e.looks
		}
		if i < len(r.Violations) {
			all = append(all, r.Violations[i])
		}
	}
	r.Violations = all
}

// graph is the graph that was begun, if there is one, which from then on belongs to
// the caller: now it may have all of the memory.
func (e *early) graph() *liveGraph {
	if e == nil || e.g == nil {
		return nil
	}
	g := e.g
	e.g, g.budget, g.b.levelsMax = nil, e.o.MemoryBytes, 0
	return g
}

// close removes the graph. Nothing is looked at any more.
func (e *early) close() error {
	if e == nil {
		return nil
	}
	e.off = true
	if e.g == nil {
		return nil
	}
	g := e.g
	e.g = nil
	return g.close()
}
