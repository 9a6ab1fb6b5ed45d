// SPDX-License-Identifier: Apache-2.0

// Package profile counts evaluations.
//
// In: the places of the expressions that are counted, and from each evaluator, through
// its own Counter, what it is evaluating. Out: a Cost for every expression. Promised:
// counters share nothing that is written during a search, and Sample may be called at
// any time. Refused: more than sitesMax expressions; further ones are not counted.
//
// A profile says of every expression how often it was evaluated, how often it
// was true or let an action go on, and how many samples found an evaluator in
// it. Code is made to count where it is compiled; code that is compiled without a Profile has
// none of this, and pays nothing. What is remembered or folded is not
// evaluated again, and does not count inside.
package profile

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

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

// sitesMax bounds how many expressions are counted.
const sitesMax = 1 << 14

// Profile is the expressions that are counted, and the counters.
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

// Counter is what one machine has counted. Only at is read by others before
// the search is over.
type Counter struct {
	at        atomic.Int32 // the site that is being evaluated + 1
	evaluated []int64
	passed    []int64
}

// New returns a profile without sites.
func New() *Profile { return &Profile{index: map[source.Span]int32{}} }

// Join makes a machine count.
func (p *Profile) Join() *Counter {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := &Counter{evaluated: make([]int64, len(p.sites)), passed: make([]int64, len(p.sites))}
	p.machines = append(p.machines, n)
	return n
}

// Site numbers an expression, by its text: what is compiled several times is
// one. It is -1 for what was not written, and where there are too many.
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

// Set says that a site is being evaluated, by its number plus one; 0 is none.
func (p *Counter) Set(at int32) { p.at.Store(at) }

// Pass counts that a predicate was true, or that an action went on.
func (p *Counter) Pass(n int32) { p.passed[n]++ }

// Enter counts an evaluation and returns where the machine was before.
func (p *Counter) Enter(n int32) (before int32) {
	before = p.at.Load()
	p.at.Store(n + 1)
	p.evaluated[n]++
	return before
}

// Sample notes what the evaluators are evaluating at this moment. It may be called from
// any goroutine.
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

// Costs lists the expressions by their places, and how many samples found no
// expression being evaluated. An expression that was never asked for and that was
// computed before the search is not among them: nothing is known of it. No evaluator
// may be counting.
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
