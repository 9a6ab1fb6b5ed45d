// SPDX-License-Identifier: Apache-2.0

// Package profile counts evaluations.
//
// In: the source positions of the expressions to count and, from each evaluator through its
// own Counter, the expression that it is evaluating. Out: a Cost for every expression.
// Promised: counters share no memory that is written during a search, and Sample may be
// called at any time. Refused: more than sitesMax expressions; further ones are not
// counted.
//
// A profile has, for every expression, the number of its evaluations, the number of times
// that it was true or let an action continue, and the number of samples that found an
// evaluator in it. Counting is compiled into the code; code that is compiled without a
// Profile has no counting and no cost for it. A cached or folded expression is not
// evaluated again, so nothing inside it is counted.
package profile

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// Cost is the cost of one expression so far.
type Cost struct {
	Span source.Span
	// Evaluated is the number of evaluations.
	Evaluated int64
	// Passed is, for a predicate, how often it was true; for a part of an
	// action, how often the action continued after it; and -1 for other
	// expressions.
	Passed int64
	// Samples is the number of samples that found an evaluator in this
	// expression, but not in a counted part of it.
	Samples int64
}

// sitesMax bounds the expressions that are counted.
const sitesMax = 1 << 14

// Profile has the expressions to count, and the counters.
type Profile struct {
	sites []site
	index map[source.Span]int32

	mu       sync.Mutex
	machines []*Counter
	samples  []int64 // by site + 1; the first are those outside all
}

type site struct {
	span      source.Span
	predicate bool
}

// Counter has the counts of one machine. Other goroutines read only at before
// the search is over.
type Counter struct {
	at        atomic.Int32 // the site that is being evaluated + 1
	evaluated []int64
	passed    []int64
}

// New returns a profile without sites.
func New() *Profile { return &Profile{index: map[source.Span]int32{}} }

// Join gives a machine its Counter.
func (p *Profile) Join() *Counter {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := &Counter{evaluated: make([]int64, len(p.sites)), passed: make([]int64, len(p.sites))}
	p.machines = append(p.machines, n)
	return n
}

// Site returns the number of an expression. An expression that is compiled
// several times has one site, given by its source position. Site returns -1 for
// an expression that the user did not write, and when there are too many.
func (p *Profile) Site(e core.Expr, predicate bool) int32 {
	span := e.Span()
	if !span.IsValid() || span.Start >= span.End {
		return -1
	}
	n, ok := p.index[span]
	if !ok {
		if len(p.sites) == sitesMax {
			return -1
		}
		n = int32(len(p.sites))
		p.index[span] = n
		p.sites = append(p.sites, site{span: span})
	}
	p.sites[n].predicate = p.sites[n].predicate || predicate
	return n
}

// Set records the site that is being evaluated: its number plus one, or 0 for
// none.
func (p *Counter) Set(at int32) { p.at.Store(at) }

// Pass counts that a predicate was true, or that an action continued.
func (p *Counter) Pass(n int32) { p.passed[n]++ }

// Enter counts an evaluation and returns the site in which the machine was
// before.
func (p *Counter) Enter(n int32) (before int32) {
	before = p.at.Load()
	p.at.Store(n + 1)
	p.evaluated[n]++
	return before
}

// Sample records the expressions that the evaluators are evaluating at this moment. It
// may be called from any goroutine.
func (p *Profile) Sample() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.samples == nil {
		p.samples = make([]int64, len(p.sites)+1)
	}
	for _, w := range p.machines {
		p.samples[w.at.Load()]++
	}
}

// Costs lists the expressions by source position, and the number of samples that
// found no expression being evaluated. It omits an expression that was computed
// before the search and never evaluated again, because nothing is known of its cost.
// No evaluator may be counting.
func (p *Profile) Costs(computed func(source.Span) bool) (costs []Cost, outside int64) {
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
		if c.Evaluated == 0 && computed(s.span) {
			continue
		}
		costs = append(costs, c)
	}
	slices.SortFunc(costs, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(a.Span.File.Name, b.Span.File.Name), cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(b.Span.End, a.Span.End))
	})
	return costs, outside
}
