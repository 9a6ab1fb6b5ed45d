package check

import (
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/check/fpset"
)

// The search goes level by level. The states of a level, the frontier, are cut
// into chunks, which workers take in order. Every distinct state has a number,
// and it claims the successors that nobody with a lower number claims; so a
// state belongs to the parent that one worker alone would have found it from,
// and at the end of a level what each chunk found is joined in the order of
// chunks, without what has been claimed by a lower parent since. Thus numbers,
// parents, actions and counts are those of a search by one worker.
//
// A violation ends the search where one worker would have ended it: chunks
// after the violation's are dropped, those before it are finished (one of them
// may hold an earlier violation), and the violation's own was left at the
// violation. A search that goes on after violations keeps, in the same order,
// the first of every property.

// search is the state of a run. Fields are owned by the goroutine of run,
// except where they say otherwise; while a level is being explored workers
// read the frontier.
type search struct {
	m    Model
	info Info
	o    Options

	set     *fpset.Set
	lineage lineage
	workers []*worker

	// The frontier: where the state with number first+i is.
	frontier []place
	first    uint32
	next     []place
	depth    int

	// The level that is being explored.
	chunks     []chunk
	chunkSize  int
	generation int          // which of a worker's two arenas is being filled
	taken      atomic.Int64 // chunks given out
	stopAfter  atomic.Int64 // no chunk after this one is needed
	lowered    atomic.Bool  // some claim was lowered

	stopped atomic.Pointer[stop] // set from any goroutine
	seen    atomic.Int64         // stats.Distinct for progress, with the level's additions in workers
	deep    atomic.Int64
	waiting atomic.Int64
	roots   atomic.Int64 // distinct initial states

	stats     Stats
	coverage  []Coverage // [0] is the initial predicate's
	levels    []int64
	broken    []string
	violation *violation
	// Where the search goes on after violations: the first of every property,
	// and which have one. known changes only between levels.
	violations []*violation
	known      []bool
	err        error
}

// place is where a state of the frontier lies: in whose arena, and where.
type place struct {
	at     ref
	worker int32
}

// stop is why the search ends early without a violation.
type stop struct {
	verdict Verdict
	reason  string
}

// violation is what is wrong and where. Within a run the one with the lowest
// chunk is kept.
type violation struct {
	verdict   Verdict
	asked     Verdict // InvariantViolated or StepViolated where a property was evaluated, or Deadlock
	index     int     // of the invariant or action property, or -1
	err       *EvalError
	fromState bool   // parent is set
	parent    uint32 // the state that was being expanded
	action    int
	last      State // the candidate, nil where the parent itself is at fault
}

// chunk is what the exploration of a part of the frontier found.
type chunk struct {
	done      bool
	worker    int
	from, to  int // in the worker's candidates
	counts    []int64
	expanded  int
	violation *violation
	notes     []*violation
}

func newSearch(m Model, o Options) *search {
	s := &search{m: m, info: m.Info(), o: o, set: fpset.New()}
	s.coverage = make([]Coverage, len(s.info.Actions)+1)
	for i := range o.Workers {
		s.workers = append(s.workers, &worker{s: s, id: i})
	}
	s.known = make([]bool, s.properties())
	return s
}

// properties is how many properties a search can find violated, and property
// numbers the one that a violation is of.
func (s *search) properties() int { return len(s.info.Invariants) + len(s.info.Steps) + 1 }

func (s *search) property(v *violation) int {
	switch v.asked {
	case InvariantViolated:
		return v.index
	case StepViolated:
		return len(s.info.Invariants) + v.index
	}
	return s.properties() - 1
}

// interrupt ends the search; the first reason counts.
func (s *search) interrupt(v Verdict, reason string) {
	s.stopped.CompareAndSwap(nil, &stop{v, reason})
}

// run searches to the end.
func (s *search) run() {
	if !s.assume() {
		return
	}
	s.begin(1)
	s.chunks[0].violation = s.workers[0].initial()
	s.join()
	for len(s.frontier) > 0 && s.violation == nil && s.stopped.Load() == nil && s.err == nil {
		s.explore()
		s.join()
	}
	s.stats.Depth = s.depth
}

// assume evaluates the assumptions and says whether to go on.
func (s *search) assume() bool {
	w := s.workers[0]
	broken, err := w.ev.Assumptions()
	if err != nil {
		s.violation = w.failed(err)
		s.err = w.fatal
		return false
	}
	s.broken = broken
	return len(broken) == 0
}

// levelParallelMin is the least frontier for which further goroutines pay.
const levelParallelMin = 32

// chunkStatesMax bounds how many states a worker takes at once.
const chunkStatesMax = 256

// begin prepares for a level of n chunks.
func (s *search) begin(n int) {
	if cap(s.chunks) < n {
		s.chunks = make([]chunk, n)
	}
	s.chunks = s.chunks[:n]
	clear(s.chunks)
	s.taken.Store(0)
	s.stopAfter.Store(int64(n))
	s.lowered.Store(false)
	s.generation = 1 - s.generation
	for _, w := range s.workers {
		w.begin(s.generation)
	}
}

// explore expands the frontier.
func (s *search) explore() {
	n := len(s.frontier)
	s.chunkSize = max(1, min(chunkStatesMax, n/(8*len(s.workers))))
	s.begin((n + s.chunkSize - 1) / s.chunkSize)
	if len(s.workers) == 1 || n < levelParallelMin {
		s.workers[0].explore()
		return
	}
	var wg sync.WaitGroup
	for _, w := range s.workers[1:] {
		wg.Go(w.explore)
	}
	s.workers[0].explore()
	wg.Wait()
}

// join makes what the level's chunks found the next frontier. After an
// interruption it counts what was done, in whatever order.
func (s *search) join() {
	for _, w := range s.workers {
		if w.fatal != nil && s.err == nil {
			s.err = w.fatal
		}
	}
	filter := s.lowered.Load()
	s.next = s.next[:0]
	expanded := 0
	number := s.first + uint32(len(s.frontier))
	for i := range s.chunks {
		c := &s.chunks[i]
		if !c.done {
			continue
		}
		s.joinChunk(c, filter)
		expanded += c.expanded
		for _, v := range c.notes {
			if n := s.property(v); !s.known[n] {
				s.known[n] = true
				s.violations = append(s.violations, v)
			}
		}
		if c.violation != nil {
			s.violation = c.violation
			break
		}
	}
	s.stats.Queue = int64(len(s.frontier) - expanded + len(s.next))
	s.first = number
	s.frontier, s.next = s.next, s.frontier
	if len(s.frontier) > 0 {
		s.depth++
		s.levels = append(s.levels, int64(len(s.frontier)))
		s.roots.Store(s.levels[0])
	}
	s.seen.Store(s.stats.Distinct)
	s.waiting.Store(s.stats.Queue)
	s.deep.Store(int64(s.depth))
	for _, w := range s.workers {
		w.added.Store(0)
		w.expanded.Store(0)
	}
}

// joinChunk adds up what a chunk counted and takes over its new states.
func (s *search) joinChunk(c *chunk, filter bool) {
	for a, n := range c.counts {
		s.coverage[a].Generated += n
		s.stats.Generated += n
	}
	w := s.workers[c.worker]
	for i := c.from; i < c.to; i++ {
		cand := &w.candidates[i]
		if filter {
			if claim, _ := s.set.Claim(cand.fp); claim != cand.claim {
				continue
			}
		}
		_, rest := w.arenas[s.generation].get(cand.at)
		diff, _ := cut(rest)
		parent := uint32(0)
		if cand.action != rootAction {
			parent = cand.claim - 1
		}
		s.lineage.add(parent, int(cand.action), diff)
		s.coverage[cand.action+1].Distinct++
		s.stats.Distinct++
		s.next = append(s.next, place{at: cand.at, worker: int32(c.worker)})
	}
}

// state returns the bytes of a state of the frontier. They lie in the arenas
// of the generation before the one that is being filled.
func (s *search) state(p place) State {
	b, _ := s.workers[p.worker].arenas[1-s.generation].get(p.at)
	return b
}

// progress is a moment's view of the search, for another goroutine.
func (s *search) progress() Stats {
	p := Stats{Distinct: s.seen.Load(), Queue: s.waiting.Load(), Depth: int(s.deep.Load())}
	for _, w := range s.workers {
		p.Generated += w.generated.Load()
		added := w.added.Load()
		p.Distinct += added
		p.Queue += added - w.expanded.Load()
	}
	return p
}

// memory is what the search holds on to, roughly.
func (s *search) memory() int64 {
	n := s.set.Bytes() + s.lineage.size() + int64(cap(s.frontier)+cap(s.next))*16
	for _, w := range s.workers {
		n += w.arenas[0].size() + w.arenas[1].size() + int64(cap(w.candidates))*24
	}
	return n
}
