package check

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/check/fpset"
	"github.com/ashlar-dev/ashlar/check/spill"
)

// The search goes level by level, and a level in segments. A segment of the
// frontier, the states of the level, is cut into chunks, which workers take in
// order. Every distinct state has a number; in a segment, a state that is new
// belongs to the lowest chunk that finds it, and in a chunk to the state from
// which it is found first. When the workers are done, what each chunk found and
// still owns is joined in the order of chunks. So a state belongs to the parent
// that one worker alone would have found it from, and numbers, parents, actions
// and counts are those of a search by one worker.
//
// A violation ends the search where one worker would have ended it: chunks
// after the violation's are dropped, those before it are finished (one of them
// may hold an earlier violation), and the violation's own was left at the
// violation. A search that goes on after violations keeps, in the same order,
// the first of every property.
//
// Where memory is short, the states of both levels, the lineage and most
// fingerprints lie on disk (store.go). A state whose fingerprint is not in
// memory is then taken for new until the end of the segment, when what the
// disk knows is left out.

// search is the state of a run. Fields are owned by the goroutine of run,
// except where they say otherwise; while a segment is being explored workers
// read its chunks.
type search struct {
	m    Model
	info Info
	o    Options

	set     *fpset.Seen
	lineage lineage
	store   *store     // nil where everything stays in memory
	early   *early     // nil where only the end tells of behaviours
	tracing sync.Mutex // who reads the lineage during a segment
	workers []*worker

	// The level that is being expanded, and the next one: states behind their
	// lengths.
	current, next *spill.Tape
	at            position // in current: the first state that is not expanded
	number        uint32   // its number
	left, ahead   int64    // states of current that are not expanded, and of next
	level         int      // states on the shortest path to those of current
	depth         int      // to the deepest state that was found

	// The segment that is being explored.
	chunks    []chunk
	direct    bool         // one worker explores, so that what it finds is its own at once
	kept      bool         // workers keep what they take from others (settle.go)
	top       fpset.Mark   // the highest mark of what was found before the segment
	unsettled int64        // how many fingerprints have a mark above Old, between segments
	taken     atomic.Int64 // chunks given out
	stopAfter atomic.Int64 // no chunk after this one is needed
	full      atomic.Bool  // the segment ends with the chunks that are taken
	share     int64        // how many bytes a worker may find before it is full

	stopped atomic.Pointer[stop] // set from any goroutine
	ending  atomic.Pointer[stop] // the search ends with the segment, and is kept
	lasting atomic.Bool          // that is possible: there are segments, and it is wanted
	seen    atomic.Int64         // stats.Distinct for progress, with the segment's additions in workers
	deep    atomic.Int64
	waiting atomic.Int64
	roots   atomic.Int64 // distinct initial states
	onDisk  atomic.Int64 // bytes
	before  atomic.Int64 // states computed before the search was resumed

	stats     Stats
	coverage  []Coverage // [0] is the initial predicate's
	levels    []int64
	broken    []string
	violation *violation
	// Where the search goes on after violations: the first of every property,
	// and which have one. known changes only between segments.
	violations []*violation
	known      []bool
	err        error
}

// position is a place on a tape.
type position struct{ block, offset int }

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

func newSearch(m Model, o Options) *search {
	s := &search{m: m, info: m.Info(), o: o, set: fpset.NewSeen()}
	s.coverage = make([]Coverage, len(s.info.Actions)+1)
	s.store = newStore(s)
	s.lineage = newLineage(spill.NewTape(o.Disk, lineageName), len(s.info.Actions))
	s.current, s.next = spill.NewTape(o.Disk, levelName(0)), spill.NewTape(o.Disk, levelName(1))
	s.share = max(1, s.segmentBytes()/int64(o.Workers))
	s.top = fpset.Old
	for i := range o.Workers {
		s.workers = append(s.workers, &worker{s: s, id: i, adder: s.set.Adder()})
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

// over says whether there is no more to be done.
func (s *search) over() bool { return s.violation != nil || s.err != nil || s.stopped.Load() != nil }

// fail ends the search because the world or a worker failed.
func (s *search) fail(err error) {
	if err != nil && s.err == nil {
		s.err = err
		s.interrupt(Interrupted, "the search failed")
	}
}

// run searches to the end.
func (s *search) run() {
	s.workers[0].start()
	if s.store.resumed() {
		if err := s.resume(); err != nil {
			s.fail(err)
			return
		}
	} else {
		if !s.assume() {
			return
		}
		s.initial()
		s.fail(s.store.balance())
		if s.left+s.ahead > 0 {
			s.fail(s.store.poll())
		}
	}
	s.lasting.Store(s.o.Checkpoint != nil && s.o.Checkpoint.Last)
	for !s.over() && s.left+s.ahead > 0 {
		if s.left == 0 {
			s.deeper()
			if s.early.look(s); s.over() {
				break
			}
		}
		s.segment()
		s.fail(s.store.balance())
		s.ended()
		s.fail(s.store.poll())
	}
	s.stats.Depth = s.depth
}

// assume evaluates the assumptions and says whether to go on.
func (s *search) assume() bool {
	w := s.workers[0]
	broken, err := w.ev.Assumptions()
	if err != nil {
		s.violation = w.failed(err)
		s.fail(w.fatal)
		return false
	}
	s.broken = broken
	return len(broken) == 0
}

// initial finds the initial states. They are one chunk, which is joined
// whenever it has grown large.
func (s *search) initial() {
	s.chunks = append(s.chunks[:0], chunk{})
	s.begin(true)
	s.chunks[0].violation = s.workers[0].initial()
	s.join()
	if len(s.levels) > 0 {
		s.roots.Store(s.levels[0])
	}
}

// flush joins what the enumeration of initial states has found so far.
func (s *search) flush() error {
	s.join()
	s.fail(s.store.balance())
	s.chunks[0].reset()
	s.begin(true)
	return s.err
}

// deeper makes the next level the current one.
func (s *search) deeper() {
	s.current, s.next = s.next, s.current
	s.fail(s.store.reset(s.next, levelName(s.level+2)))
	s.at = position{}
	s.left, s.ahead = s.ahead, 0
	s.level++
}

// lineageName and levelName are the names of the tapes' files.
const lineageName = "lineage"

func levelName(level int) string { return fmt.Sprintf("level-%d", level) }

// levelParallelMin is the least segment for which further goroutines pay.
const levelParallelMin = 32

// segment explores a part of the level and joins what was found.
func (s *search) segment() {
	n, err := s.cut()
	if err != nil {
		s.fail(err)
		return
	}
	parallel := s.workers
	if n < levelParallelMin {
		parallel = s.workers[:1]
	}
	s.begin(len(parallel) == 1)
	inParallel(parallel, (*worker).explore)
	s.join()
}

// inParallel has every worker do something, and returns when all are done.
func inParallel(workers []*worker, do func(*worker)) {
	var wg sync.WaitGroup
	for _, w := range workers[1:] {
		wg.Go(func() { do(w) })
	}
	do(workers[0])
	wg.Wait()
}

// begin prepares for the chunks.
func (s *search) begin(alone bool) {
	// What is on disk may turn out to be old at the end.
	s.direct = alone && !s.store.dropped()
	s.mark()
	s.taken.Store(0)
	s.stopAfter.Store(int64(len(s.chunks)))
	s.full.Store(false)
	for _, w := range s.workers {
		w.begin()
	}
}

// join makes what the chunks found a part of the next level. After an
// interruption it counts what was done, in whatever order.
func (s *search) join() {
	for _, w := range s.workers {
		s.fail(w.fatal)
	}
	if s.err != nil {
		return
	}
	if err := s.store.recall(); err != nil {
		s.fail(err)
		return
	}
	s.settle()
	for i := range s.chunks {
		c := &s.chunks[i]
		if !c.done {
			continue
		}
		s.joinChunk(c)
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
	s.current.Release(s.at.block)
	if s.stats.Distinct > s.o.StatesMax {
		s.endSoon(Incomplete, limitReached)
	}
	s.stats.Queue = s.left + s.ahead
	s.seen.Store(s.stats.Distinct)
	s.waiting.Store(s.stats.Queue)
	s.deep.Store(int64(s.depth))
	for _, w := range s.workers {
		w.added.Store(0)
		w.expanded.Store(0)
	}
}

// joinChunk adds up what a chunk counted and takes over its states.
func (s *search) joinChunk(c *chunk) {
	for a, n := range c.counts {
		s.coverage[a].Generated += n
		s.stats.Generated += n
	}
	for a, n := range c.kept {
		s.coverage[a].Distinct += n
	}
	if s.kept || s.direct && s.top > fpset.Old {
		s.unsettled += int64(c.found)
	}
	if c.found > 0 {
		w := s.workers[c.worker]
		first := &w.candidates[c.first]
		s.lineage.add(c.found, first.parent, int(first.action), w.records[c.records[0]:c.records[1]], c.lastParent)
		s.next.Append(c.found, w.states[c.states[0]:c.states[1]])
		if s.ahead == 0 {
			s.depth++
			s.levels = append(s.levels, 0)
		}
		s.levels[len(s.levels)-1] += int64(c.found)
		s.ahead += int64(c.found)
		s.stats.Distinct += int64(c.found)
	}
	s.left -= int64(c.expanded)
	s.number += uint32(c.expanded)
	if c.expanded > 0 {
		s.at = position{c.block, c.end}
	}
}

// progress is a moment's view of the search, for another goroutine.
func (s *search) progress() Stats {
	p := Stats{Generated: s.before.Load(), Distinct: s.seen.Load(), Queue: s.waiting.Load(), Depth: int(s.deep.Load())}
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
	n := s.set.Bytes() + s.lineage.size() + s.current.Held() + s.next.Held() + s.store.held()
	for _, w := range s.workers {
		n += w.arena.size() + int64(cap(w.candidates))*candidateBytes + int64(cap(w.records)+cap(w.states))
	}
	return n
}

// errNoLength says that a level is not what was written.
var errNoLength = errors.New("check: a level of the search is damaged")

// cut cuts the chunks of the next segment and returns how many states they
// have.
func (s *search) cut() (states int, err error) {
	size, most := s.chunkSize(), min(fpset.PiecesMax, max(chunksMin, chunksEach*len(s.workers)))
	s.chunks = s.chunks[:0]
	at, number, bytes := s.at, s.number, int64(0)
	for len(s.chunks) < most && int64(states) < s.left {
		data, err := s.current.Keep(at.block)
		if err != nil {
			return 0, err
		}
		if at.offset == len(data) {
			at = position{at.block + 1, 0}
			continue
		}
		if bytes > s.share {
			break // enough has been read
		}
		if len(s.chunks) < cap(s.chunks) {
			s.chunks = s.chunks[:len(s.chunks)+1]
		} else {
			s.chunks = append(s.chunks, chunk{})
		}
		c := &s.chunks[len(s.chunks)-1]
		c.reset()
		c.block, c.number = at.block, number
		from := at.offset
		for c.size < size && at.offset < len(data) {
			n, w := binary.Uvarint(data[at.offset:])
			if w <= 0 || n > uint64(len(data)-at.offset-w) {
				return 0, errNoLength
			}
			at.offset += w + int(n)
			c.size++
		}
		c.data, c.end = data[from:at.offset], at.offset
		bytes += int64(len(c.data))
		number += uint32(c.size)
		states += c.size
	}
	return states, nil
}

const (
	// chunkStatesMax bounds how many states a worker takes at once: those that
	// are near to one another have many successors in common, which one worker
	// finds in its cache.
	chunkStatesMax = 512
	// A segment has at most chunksMin chunks, so that the marks suffice for two of
	// them, or chunksEach for each worker, if that is more.
	chunksMin, chunksEach = fpset.PiecesMax / 2, 8
)

// chunkSize is how many states a chunk of the next segment has: few enough for
// all workers to have something to do to the end, and for what they find to
// stay below their shares.
func (s *search) chunkSize() int {
	size := min(int64(chunkStatesMax), s.left/int64(8*len(s.workers)))
	if s.stats.Generated > 0 && s.number > 0 {
		perState := s.stats.Generated/int64(s.number) + 1
		size = min(size, s.share/(perState*candidateBytes*2))
	}
	return int(max(1, size))
}
