package model

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// A profile says of every expression how often it was evaluated, how often it
// was true or let an action go on, and how many samples found an evaluator in
// it. Code is made to count where it is compiled; without Options.Profile none
// of this is there, and costs nothing. What is remembered or folded is not
// evaluated again, and does not count inside.

// Cost is what one expression has cost so far.
type Cost struct {
	Span source.Span
	// Evaluated is how often it was asked for.
	Evaluated int64
	// Passed is, of a predicate, how often it was true, and of a part of an
	// action how often what stands behind it was come to; it is -1 for another
	// value.
	Passed int64
	// Samples is how many of the samples found it being evaluated, and nothing
	// inside it.
	Samples int64
}

// profileSitesMax bounds how many expressions are counted.
const profileSitesMax = 1 << 14

// profile is the sites that are counted, and who counts.
type profile struct {
	sites []profileSite
	index map[source.Span]int32

	mu       sync.Mutex
	machines []*profiled
	samples  []int64 // by site + 1; the first are those outside all
}

type profileSite struct {
	span      source.Span
	predicate bool
}

// profiled is what one machine has counted. Only at is read by others before
// the search is over.
type profiled struct {
	at        atomic.Int32 // the site that is being evaluated + 1
	evaluated []int64
	passed    []int64
}

// join makes a machine count.
func (p *profile) join() *profiled {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := &profiled{evaluated: make([]int64, len(p.sites)), passed: make([]int64, len(p.sites))}
	p.machines = append(p.machines, n)
	return n
}

// site numbers an expression, by its text: what is compiled several times is
// one. It is -1 for what was not written, and where there are too many.
func (p *profile) site(e core.Expr, predicate bool) int32 {
	span := e.Span()
	if !span.IsValid() || span.Start >= span.End {
		return -1
	}
	n, ok := p.index[span]
	if !ok {
		if len(p.sites) == profileSitesMax {
			return -1
		}
		n = int32(len(p.sites))
		p.index[span] = n
		p.sites = append(p.sites, profileSite{span: span})
	}
	p.sites[n].predicate = p.sites[n].predicate || predicate
	return n
}

// countPred compiles a predicate that is counted.
func (c *compiler) countPred(e core.Expr, x site) pred {
	n := c.counted(e, true)
	defer c.inside(e)()
	run := c.predicate(e, x)
	if n < 0 {
		return run
	}
	return func(m *machine) bool {
		if m.profiled == nil {
			return run(m)
		}
		before := m.profiled.enter(n)
		ok := run(m)
		m.profiled.at.Store(before)
		if ok {
			m.profiled.passed[n]++
		}
		return ok
	}
}

// countExpr has an expression be counted.
func (c *compiler) countExpr(e core.Expr, run expr) expr {
	n := c.counted(e, false)
	if n < 0 {
		return run
	}
	return func(m *machine) value.Value {
		if m.profiled == nil {
			return run(m)
		}
		before := m.profiled.enter(n)
		v := run(m)
		m.profiled.at.Store(before)
		return v
	}
}

// countAct compiles a part of an action that is counted.
func (c *compiler) countAct(e core.Expr, x site, k act) act {
	n := c.counted(e, true)
	if n < 0 {
		return c.plainAct(e, x, k)
	}
	defer c.inside(e)()
	run := c.plainAct(e, x, func(m *machine) bool {
		if m.profiled == nil {
			return k(m)
		}
		m.profiled.passed[n]++
		m.profiled.at.Store(0) // what follows is not a part of it
		ok := k(m)
		m.profiled.at.Store(n + 1)
		return ok
	})
	return func(m *machine) bool {
		if m.profiled == nil {
			return run(m)
		}
		before := m.profiled.enter(n)
		ok := run(m)
		m.profiled.at.Store(before)
		return ok
	}
}

// counted is the site of an expression, or -1 where nothing is counted.
func (c *compiler) counted(e core.Expr, predicate bool) int32 {
	if c.m.profile == nil || c.uncounted || e == c.counting {
		return -1
	}
	return c.m.profile.site(e, predicate)
}

// inside says that an expression is counted while it is compiled, so that it is
// not counted again in another form; the function that it returns ends that.
func (c *compiler) inside(e core.Expr) (end func()) {
	before := c.counting
	c.counting = e
	return func() { c.counting = before }
}

// enter counts an evaluation and returns where the machine was before.
func (p *profiled) enter(n int32) (before int32) {
	before = p.at.Load()
	p.at.Store(n + 1)
	p.evaluated[n]++
	return before
}

// Sample notes what the workers are evaluating at this moment. It may be called
// from any goroutine, and does nothing without Options.Profile.
func (m *Model) Sample() {
	p := m.profile
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.samples == nil {
		p.samples = make([]int64, len(p.sites)+1)
	}
	for _, w := range p.machines {
		p.samples[w.at.Load()]++
	}
}

// Profile lists the expressions by their places, and how many samples found no
// expression being evaluated. Constants that were computed before the search are not
// among them: nothing is known of them. It is nil without Options.Profile, and must not
// be called during a search.
func (m *Model) Profile() (costs []Cost, outside int64) {
	p := m.profile
	if p == nil {
		return nil, 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.samples != nil {
		outside = p.samples[0]
	}
	for i, s := range p.sites {
		c := Cost{Span: s.span, Passed: -1}
		if s.predicate {
			c.Passed = 0
		}
		for _, w := range p.machines {
			c.Evaluated += w.evaluated[i]
			if s.predicate {
				c.Passed += w.passed[i]
			}
		}
		if p.samples != nil {
			c.Samples = p.samples[i+1]
		}
		if c.Evaluated == 0 && m.program.Computed(s.span) {
			continue
		}
		costs = append(costs, c)
	}
	slices.SortFunc(costs, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(a.Span.File.Name, b.Span.File.Name), cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(b.Span.End, a.Span.End))
	})
	return costs, outside
}
