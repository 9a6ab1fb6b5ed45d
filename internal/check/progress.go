// SPDX-License-Identifier: Apache-2.0

package check

import "sync/atomic"

// progress is the part of a search that other goroutines see. The goroutine of run
// writes it between segments; the work done since then is in the workers' own
// counters. It may be read from any goroutine.
type progress struct {
	distinct atomic.Int64
	queue    atomic.Int64
	depth    atomic.Int64
	roots    atomic.Int64 // distinct initial states
	disk     atomic.Int64 // bytes
	before   atomic.Int64 // states computed before the search was resumed
}

// joined publishes the progress after a segment.
func (p *progress) joined(s Stats) {
	p.distinct.Store(s.Distinct)
	p.queue.Store(s.Queue)
	p.depth.Store(int64(s.Depth))
}

// resumed publishes the progress that the resumed search had made.
func (p *progress) resumed(s Stats) {
	p.before.Store(s.Generated)
	p.joined(s)
}

// began publishes the number of distinct initial states.
func (p *progress) began(roots int64) { p.roots.Store(roots) }

// onDisk publishes the number of bytes on disk.
func (p *progress) onDisk(bytes int64) { p.disk.Store(bytes) }

// known is the number of distinct states after the last segment.
func (p *progress) known() int64 { return p.distinct.Load() }

// computedBefore is the number of states computed before the search was resumed.
func (p *progress) computedBefore() int64 { return p.before.Load() }

// found is the number of distinct states, including those that workers have found.
func (p *progress) found(workers []*worker) int64 {
	n := p.distinct.Load()
	for _, w := range workers {
		n += w.added.Load()
	}
	return n
}

// figures is a moment's view of the search.
func (p *progress) figures(workers []*worker) Figures {
	s := Stats{Generated: p.before.Load(), Distinct: p.distinct.Load(), Queue: p.queue.Load(), Depth: int(p.depth.Load())}
	for _, w := range workers {
		s.Generated += w.generated.Load()
		added := w.added.Load()
		s.Distinct += added
		s.Queue += added - w.expanded.Load()
	}
	return Figures{s, p.roots.Load(), p.disk.Load(), p.before.Load()}
}
