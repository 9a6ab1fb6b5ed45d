// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/check/live"
)

// Properties of behaviours can also be checked during a search, on the part of the
// graph that it has explored: its levels up to the next one. A state that is not
// expanded has only the step to itself there, which every behaviour may take. Atoms,
// including ENABLED, are values of states and steps and do not depend on the part. So
// a behaviour of the part is a behaviour of the whole, and a violation in the part is
// a violation. Finding none means nothing, and the properties are still decided at
// the end.
//
// The times of the checks depend only on the counts at the ends of levels, not on
// the workers or a clock, so a violation is found at the same place in every run.
// The graph is kept and grows, so all checks, including the last, build one graph.
// Since a check is made when the number of states has doubled, all checks together
// search about twice as much as the last one.

// PeriodicStatesMin is the number of distinct states at the first check; each
// further check is at the end of the level in which that number has doubled.
const PeriodicStatesMin = 1 << 10

// Bounds of a check, for each state that the search has computed so far. A check
// that exceeds them is abandoned.
const (
	periodicEvaluations = 8   // values of atoms that are computed
	periodicQuestions   = 256 // values and steps that are looked up, most of them known
)

// periodicMemory is the share of the memory that the graph has during the search.
const periodicMemory = 4

// periodic checks properties of behaviours during a search.
type periodic struct {
	m   Model
	ctx context.Context
	o   Options
	g   *liveGraph                                  // nil before the first check, and after the last
	ask func(PeriodicQuery) (PeriodicAnswer, error) // nil if this process makes the checks
	keptPeriodic
}

// keptPeriodic is what the checks have found so far. A checkpoint holds it, because
// a resumed search rebuilds the graph but does not repeat the checks.
type keptPeriodic struct {
	Level  int             `json:"level"` // that was checked last
	Checks int             `json:"looks"`
	Found  []keptViolation `json:"found"`
	Notes  []string        `json:"notes"`
	Off    bool            `json:"off"` // nothing is checked any more
}

// keptViolation is a violation, and the number of violations known when it was found.
type keptViolation struct {
	Property string     `json:"property"`
	Trace    []keptStep `json:"trace"`
	// Loop and LoopAction are those of Violation.
	Loop       int       `json:"loop"`
	LoopAction int       `json:"loopAction"`
	After      int       `json:"after"`
	Stats      LiveStats `json:"stats"`
}

// keptStep is a Step without the parts that can be computed again.
type keptStep struct {
	Action int    `json:"action"`
	State  []byte `json:"state"`
}

// newKeptViolation records a violation and the number of violations known when it was
// found.
func newKeptViolation(v Violation, after int, stats LiveStats) keptViolation {
	e := keptViolation{Property: v.Property, Loop: v.Loop, LoopAction: v.LoopAction, After: after, Stats: stats}
	for _, s := range v.Trace {
		e.Trace = append(e.Trace, keptStep{s.Action, s.State})
	}
	return e
}

// violation is the recorded violation. Its states do not have their values yet.
func (e keptViolation) violation() Violation {
	v := Violation{Verdict: LivenessViolated, Property: e.Property, Index: -1, Loop: e.Loop, LoopAction: e.LoopAction}
	for _, s := range e.Trace {
		v.Trace = append(v.Trace, Step{Action: s.Action, State: s.State})
	}
	return v
}

// kept is the contents for a checkpoint, or nil if nothing was checked.
func (c *periodic) kept() *keptPeriodic {
	if c == nil || c.Level == 0 {
		return nil
	}
	k := c.keptPeriodic
	return &k
}

// resume continues from the contents of a checkpoint, which may be nil.
func (c *periodic) resume(k *keptPeriodic) {
	if c != nil && k != nil && k.Level > c.Level {
		c.keptPeriodic = *k
	}
}

// valid reports whether the contents of a checkpoint are possible; found is the number
// of violations that the search has found.
func (k *keptPeriodic) valid(m Model, info Info, found int) bool {
	asked := map[string]bool{}
	for _, p := range m.Capabilities().Live.Properties {
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
	return k.Level > 0 && k.Checks >= 0
}

// accepts reports whether the contents of a checkpoint can come from this search; found
// is the number of violations that it has found. If another process makes the checks,
// that process judges them.
func (c *periodic) accepts(k *keptPeriodic, info Info, found int) bool {
	return c == nil || c.ask != nil || k == nil || k.valid(c.m, info, found)
}

// newPeriodic returns nil if nothing is to be checked during the search.
func newPeriodic(ctx context.Context, m Model, o Options) *periodic {
	switch {
	case o.Checker != nil:
		return &o.Checker.periodic
	case o.Ask != nil:
		return &periodic{ctx: ctx, o: o, ask: o.Ask}
	}
	if !o.Periodic || o.SafetyOnly || m.Capabilities().Live == nil {
		return nil
	}
	return &periodic{m: m, ctx: ctx, o: o}
}

// searchOptions are the options of the search.
func (c *periodic) searchOptions(o Options) Options {
	if c != nil {
		o.MemoryBytes -= o.MemoryBytes / periodicMemory
	}
	return o
}

// doublings is one more than the number of times that the minimum number of states has
// doubled to reach n.
func doublings(n int64) int { return bits.Len64(uint64(n / PeriodicStatesMin)) }

// check is called when the search begins a level, and checks if it is time.
func (c *periodic) check(s *search) {
	distinct := s.report.distinct()
	if c == nil || c.Off || s.over() || s.level.depth() <= c.Level || doublings(distinct) == doublings(distinct-s.level.inLevel()) {
		return
	}
	q, decide := PeriodicQuery{s.level.depth(), distinct, s.report.generated(), s.report.noted()}, c.decide
	if c.ask != nil {
		decide = c.askOther
	}
	end, err := decide(q)
	s.fail(err)
	if end {
		s.ending.interrupt(LivenessViolated, endsAtFirst)
	}
}

// decide checks the properties and reports whether the search must end.
func (c *periodic) decide(q PeriodicQuery) (end bool, err error) {
	c.Level = q.Level
	if err = c.grow(q.Level); err == nil {
		c.Checks++
		end, err = c.find(q)
	}
	var limit *live.LimitError
	var short *live.MemoryError
	var wrong *EvalError
	switch {
	case err == nil || c.ctx.Err() != nil:
		return end, nil
	case errors.Is(err, errSpent):
		c.note(fmt.Sprintf("a periodic check of properties of behaviours, at %d states, took too long and was given up", q.Distinct))
	case errors.As(err, &limit), errors.As(err, &short), errors.As(err, &wrong), errors.Is(err, live.ErrTooLarge):
		c.note(fmt.Sprintf("properties of behaviours are not checked from %d states on, until the end: %v", q.Distinct, err))
		return false, c.close()
	default:
		return false, err
	}
	return false, nil
}

// has reports whether a file may belong to the graph, which another process may have
// made.
func (c *periodic) has(name string) bool {
	return c != nil && (c.ask != nil || c.g != nil) && strings.HasPrefix(name, graphName)
}

// note adds a remark for the result.
func (c *periodic) note(text string) { c.Notes = append(c.Notes, text) }

// grow extends the graph to the states whose shortest path has less than the
// given number of states, and to their successors.
func (c *periodic) grow(level int) error {
	if c.g == nil {
		o := c.o
		o.MemoryBytes /= periodicMemory
		g, err := newLiveGraph(c.ctx, c.m, o)
		if err != nil {
			return err
		}
		c.g = g
	}
	c.g.b.levelsMax = level
	return c.g.build()
}

// find looks for violations of the properties that are not known to be violated, and
// reports whether the search must end.
func (c *periodic) find(q PeriodicQuery) (end bool, err error) {
	c.g.bound(periodicEvaluations*q.Generated, periodicQuestions*q.Generated)
	defer c.g.bound(0, 0)
	asked := c.m.Capabilities().Live
	for _, p := range asked.Properties {
		if c.accused(p.Name) {
			continue
		}
		lasso, err := c.g.find(c.ctx, asked, p)
		var failed *AtomError
		switch {
		case errors.As(err, &failed), err == nil && lasso == nil:
			continue
		case err != nil:
			return false, err
		}
		v := Violation{Verdict: LivenessViolated, Property: p.Name, Index: -1}
		if err := c.g.show(lasso, &v); err != nil {
			return false, err
		}
		c.Found = append(c.Found, newKeptViolation(v, q.Violations, c.g.stats()))
		if !c.o.Continue {
			return true, nil
		}
	}
	return false, nil
}

func (c *periodic) accused(property string) bool {
	for _, v := range c.Found {
		if v.Property == property {
			return true
		}
	}
	return false
}

// report adds the violations to the result of the search, in the order in which
// they were found.
func (c *periodic) report(r *Result) {
	if c == nil {
		return
	}
	r.Live.Checks = c.Checks
	r.Warnings = append(r.Warnings, c.Notes...)
	if len(c.Found) == 0 {
		return
	}
	all := make([]Violation, 0, len(r.Violations)+len(c.Found))
	next := 0
	for i := range len(r.Violations) + 1 {
		for ; next < len(c.Found) && (c.Found[next].After == i || i == len(r.Violations)); next++ {
			all = append(all, c.Found[next].violation())
			r.Live = c.Found[next].Stats
			r.Live.Checks = c.Checks
		}
		if i < len(r.Violations) {
			all = append(all, r.Violations[i])
		}
	}
	r.Violations = all
}

// graph returns the graph built so far, if there is one. It then belongs to the
// caller and may use all of the memory.
func (c *periodic) graph() *liveGraph {
	if c == nil || c.g == nil {
		return nil
	}
	g := c.g
	c.g, g.budget, g.b.levelsMax = nil, c.o.MemoryBytes, 0
	return g
}

// close removes the graph. Nothing is checked any more.
func (c *periodic) close() error {
	if c == nil {
		return nil
	}
	c.Off = true
	return c.forget()
}

// forget removes the graph; the next check builds it again.
func (c *periodic) forget() error {
	if c.g == nil {
		return nil
	}
	g := c.g
	c.g = nil
	return g.close()
}
