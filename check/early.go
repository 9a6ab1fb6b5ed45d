package check

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strings"

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
	m   LiveModel
	ctx context.Context
	o   Options
	g   *liveGraph                 // nil before the first look, and after the last
	ask func(Look) (Looked, error) // nil where the looks are made here
	keptLooks
}

// keptLooks is what looks have come to: a checkpoint has it, since a search that is
// gone on with begins the graph anew, but not the looks.
type keptLooks struct {
	Level int              `json:"level"` // that was looked at last
	Looks int              `json:"looks"`
	Found []earlyViolation `json:"found"`
	Notes []string         `json:"notes"`
	Off   bool             `json:"off"` // nothing is looked at any more
}

// earlyViolation is a violation, and how many others were known when it was found.
type earlyViolation struct {
	Property string      `json:"property"`
	Trace    []earlyStep `json:"trace"`
	// Loop and LoopAction are those of Violation.
	Loop       int       `json:"loop"`
	LoopAction int       `json:"loopAction"`
	After      int       `json:"after"`
	Stats      LiveStats `json:"stats"`
}

// earlyStep is a Step without what can be shown again.
type earlyStep struct {
	Action int    `json:"action"`
	State  []byte `json:"state"`
}

// newEarlyViolation notes a violation that was found when so many others were known.
func newEarlyViolation(v Violation, after int, stats LiveStats) earlyViolation {
	e := earlyViolation{Property: v.Property, Loop: v.Loop, LoopAction: v.LoopAction, After: after, Stats: stats}
	for _, s := range v.Trace {
		e.Trace = append(e.Trace, earlyStep{s.Action, s.State})
	}
	return e
}

// violation is what was noted. Its states are not shown yet.
func (e earlyViolation) violation() Violation {
	v := Violation{Verdict: LivenessViolated, Property: e.Property, Index: -1, Loop: e.Loop, LoopAction: e.LoopAction}
	for _, s := range e.Trace {
		v.Trace = append(v.Trace, Step{Action: s.Action, State: s.State})
	}
	return v
}

// kept is for a checkpoint, nil where nothing was looked at.
func (e *early) kept() *keptLooks {
	if e == nil || e.Level == 0 {
		return nil
	}
	k := e.keptLooks
	return &k
}

// resume goes on after what a checkpoint has, which may be nil.
func (e *early) resume(k *keptLooks) {
	if e != nil && k != nil && k.Level > e.Level {
		e.keptLooks = *k
	}
}

// valid says whether what a checkpoint has can be: found is how many violations the
// search has found.
func (k *keptLooks) valid(m LiveModel, info Info, found int) bool {
	asked := map[string]bool{}
	for _, p := range m.Live().Properties {
		asked[p.Name] = true
	}
	action := func(a int) bool { return -1 <= a && a < len(info.Actions) }
	for i, v := range k.Found {
		before := 0
		if i > 0 {
			before = k.Found[i-1].After
		}
		if !asked[v.Property] || v.After < before || v.After > found || v.Loop < 0 || v.Loop >= len(v.Trace) || !action(v.LoopAction) {
			return false
		}
		for _, s := range v.Trace {
			if !action(s.Action) {
				return false
			}
		}
	}
	return k.Level > 0 && k.Looks >= 0
}

// newEarly is nil where nothing is to be looked at.
func newEarly(ctx context.Context, m Model, o Options) *early {
	switch {
	case o.Looks != nil:
		return &o.Looks.early
	case o.Ask != nil:
		return &early{ctx: ctx, o: o, ask: o.Ask}
	}
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
	if e == nil || e.Off || s.over() || s.level <= e.Level || doublings(s.stats.Distinct) == doublings(s.stats.Distinct-s.left) {
		return
	}
	at, look := Look{s.level, s.stats.Distinct, s.stats.Generated, len(s.violations)}, e.at
	if e.ask != nil {
		look = e.asked
	}
	end, err := look(at)
	s.fail(err)
	if end {
		s.interrupt(LivenessViolated, endsAtFirst)
	}
}

// at looks, and says whether the search is to end.
func (e *early) at(at Look) (end bool, err error) {
	e.Level = at.Level
	if err = e.grow(at.Level); err == nil {
		e.Looks++
		end, err = e.find(at)
	}
	var limit *live.LimitError
	var short *live.MemoryError
	var wrong *EvalError
	switch {
	case err == nil || e.ctx.Err() != nil:
		return end, nil
	case errors.Is(err, errSpent):
		e.note(fmt.Sprintf("a look at properties of behaviours, with %d states, took too long and was given up", at.Distinct))
	case errors.As(err, &limit), errors.As(err, &short), errors.As(err, &wrong), errors.Is(err, live.ErrTooLarge):
		e.note(fmt.Sprintf("properties of behaviours are not looked at from %d states on, until the end: %v", at.Distinct, err))
		return false, e.close()
	default:
		return false, err
	}
	return false, nil
}

// has says whether a file may be one of the graph, which somebody else made.
func (e *early) has(name string) bool {
	return e != nil && (e.ask != nil || e.g != nil) && strings.HasPrefix(name, graphName)
}

// note adds a remark for the result.
func (e *early) note(text string) { e.Notes = append(e.Notes, text) }

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

// find looks for violations of the properties that are not known to be violated, and
// says whether the search is to end.
func (e *early) find(at Look) (end bool, err error) {
	e.g.bound(periodicEvaluations*at.Generated, periodicQuestions*at.Generated)
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
			return false, err
		}
		v := Violation{Verdict: LivenessViolated, Property: p.Name, Index: -1}
		if err := e.g.show(lasso, &v); err != nil {
			return false, err
		}
		e.Found = append(e.Found, newEarlyViolation(v, at.Violations, e.g.stats()))
		if !e.o.Continue {
			return true, nil
		}
	}
	return false, nil
}

func (e *early) accused(property string) bool {
	for _, v := range e.Found {
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
	r.Live.Looks = e.Looks
	r.Warnings = append(r.Warnings, e.Notes...)
	if len(e.Found) == 0 {
		return
	}
	all := make([]Violation, 0, len(r.Violations)+len(e.Found))
	next := 0
	for i := range len(r.Violations) + 1 {
		for ; next < len(e.Found) && (e.Found[next].After == i || i == len(r.Violations)); next++ {
			all = append(all, e.Found[next].violation())
			r.Live = e.Found[next].Stats
			r.Live.Looks = e.Looks
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
	e.Off = true
	return e.forget()
}

// forget removes the graph; the next look begins it anew.
func (e *early) forget() error {
	if e.g == nil {
		return nil
	}
	g := e.g
	e.g = nil
	return g.close()
}
