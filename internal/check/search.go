// SPDX-License-Identifier: Apache-2.0

package check

import (
	"github.com/ashlar-dev/ashlar/internal/check/fpset"
	"github.com/ashlar-dev/ashlar/internal/check/spill"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// The search proceeds level by level, and through a level in segments. A
// segment of the frontier, the states of the level, is divided into chunks,
// which workers take in order. Every distinct state has a number; in a segment,
// a state that is new belongs to the lowest chunk that finds it, and in a chunk
// to the state from which it is found first. When the workers are done, the
// states that each chunk found and still owns are joined in the order of
// chunks. So a state belongs to the parent that one worker alone would have
// found it from, and numbers, parents, actions and counts are those of a search
// by one worker.
//
// A violation ends the search where one worker would have ended it: chunks
// after the violation's are dropped, those before it are finished (one of them
// may have an earlier violation), and the violation's own chunk stopped at the
// violation. A search that continues after violations keeps, in the same order,
// the first of every property.
//
// If memory is short, the states of both levels, the lineage and most
// fingerprints are on disk (store.go). A state whose fingerprint is not in
// memory then counts as new until the end of the segment, when the states known
// on disk are dropped.
//
// Which goroutine may use which part, and when:
//
//	level, report, marks, store, periodic   the goroutine of run, while the segment is closed
//	lineage                                 the same; its paths also a worker, one at a time
//	segment                                 its chunks: the worker that took one; its counters: any goroutine
//	ending, progress                        any goroutine
//	set                                     any worker, through an adder of its own
//
// There are two kinds of locks: that of the lineage's readers, and those of the
// set's tables. A goroutine holds at most one lock at a time. The engine asserts that
// the segment is closed where run changes what workers read, and that the lineage has
// no reader while it grows.

// search is a run: its parts, each with its own file and methods.
type search struct {
	m    Model
	info Info
	o    Options

	workers  []*worker
	set      *fpset.Seen
	lineage  *lineage
	store    *store    // nil if everything stays in memory
	periodic *periodic // nil if properties of behaviours are checked only at the end

	level    level
	segment  segment
	marks    marks
	report   report
	ending   ending
	progress progress
}

func newSearch(m Model, o Options) *search {
	s := &search{m: m, info: m.Info(), o: o, set: fpset.NewSeen(), marks: newMarks()}
	s.report = newReport(s.info)
	s.store = newStore(s)
	s.lineage = newLineage(spill.NewTape(o.Disk, lineageName), len(s.info.Actions))
	s.level = newLevel(o.Disk)
	s.segment.allow(max(1, s.segmentBytes()/int64(o.Workers)))
	for i := range o.Workers {
		s.workers = append(s.workers, &worker{s: s, id: i, adder: s.set.Adder()})
	}
	return s
}

// quiet asserts that no worker is exploring: the caller is about to change what
// workers read.
func (s *search) quiet() {
	invariant.Check(s.segment.closed(), "the search changes while a segment is explored")
}

// over reports whether the search is finished.
func (s *search) over() bool { return s.report.over() || s.ending.stopped() }

// fail ends the search because the world or a worker failed.
func (s *search) fail(err error) {
	if s.report.fail(err) {
		s.ending.interrupt(Interrupted, "the search failed")
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
		if s.level.waiting() > 0 {
			s.fail(s.store.poll())
		}
	}
	if s.o.Checkpoint != nil && s.o.Checkpoint.Last {
		s.ending.keepSegments()
	}
	for !s.over() && s.level.waiting() > 0 {
		if s.level.inLevel() == 0 {
			s.deeper()
			if s.periodic.check(s); s.over() {
				break
			}
		}
		s.explore()
		s.fail(s.store.balance())
		s.ended()
		s.fail(s.store.poll())
	}
}

// assume evaluates the assumptions and reports whether to continue.
func (s *search) assume() bool {
	w := s.workers[0]
	broken, err := w.ev.Assumptions()
	if err != nil {
		s.report.accuse(w.failed(err))
		s.fail(w.fatal)
		return false
	}
	s.report.assume(broken)
	return len(broken) == 0
}

// initial finds the initial states. They are one chunk, which is joined
// whenever it has grown large.
func (s *search) initial() {
	s.segment.clear()
	c := s.segment.add()
	s.begin(true)
	c.violation = s.workers[0].initial()
	s.join()
	s.progress.began(s.report.roots())
}

// flush joins what the enumeration of initial states has found so far.
func (s *search) flush() error {
	s.join()
	s.fail(s.store.balance())
	s.segment.chunk(0).reset()
	s.begin(true)
	return s.report.failure()
}

// deeper makes the next level the current one.
func (s *search) deeper() {
	s.quiet()
	s.fail(s.level.deeper(s.store.reset))
}

// levelParallelMin is the smallest segment for which more goroutines are worthwhile.
const levelParallelMin = 32

// explore explores a segment of the level and joins the results.
func (s *search) explore() {
	n, err := s.level.cut(&s.segment, chunksMax(len(s.workers)), s.chunkSize())
	if err != nil {
		s.fail(err)
		return
	}
	parallel := s.workers
	if n < levelParallelMin {
		parallel = s.workers[:1]
	}
	s.begin(len(parallel) == 1)
	s.segment.explore(parallel, (*worker).explore)
	s.join()
}

// chunkSize is the number of states in a chunk of the next segment: small
// enough that all workers stay busy to the end, and that their results fit into
// their shares of the memory.
func (s *search) chunkSize() int {
	size := min(int64(chunkStatesMax), s.level.inLevel()/int64(8*len(s.workers)))
	if generated, expanded := s.report.generated(), s.level.expanded(); generated > 0 && expanded > 0 {
		perState := generated/expanded + 1
		size = min(size, s.segment.allowed()/(perState*candidateBytes*2))
	}
	return int(max(1, size))
}

// begin prepares for the chunks.
func (s *search) begin(alone bool) {
	s.mark(alone)
	s.segment.begin()
	for _, w := range s.workers {
		w.begin()
	}
}

// join adds the states that the chunks found to the next level. After an
// interruption it counts the work done, in any order.
func (s *search) join() {
	s.quiet()
	for _, w := range s.workers {
		s.fail(w.fatal)
	}
	if s.report.failure() != nil {
		return
	}
	if err := s.store.recall(); err != nil {
		s.fail(err)
		return
	}
	s.settle()
	for k := range s.segment.size() {
		c := s.segment.chunk(int64(k))
		if !c.done {
			continue
		}
		s.joinChunk(c)
		if s.report.judge(c) {
			break
		}
	}
	s.level.release()
	if s.report.distinct() > s.o.StatesMax {
		s.ending.finish(Incomplete, limitReached)
	}
	s.progress.joined(s.report.figures(s.level.waiting()))
	for _, w := range s.workers {
		w.added.Store(0)
		w.expanded.Store(0)
	}
}

// joinChunk adds the counts of a chunk and takes over its states.
func (s *search) joinChunk(c *chunk) {
	s.report.count(c, s.level.opens())
	s.marks.joined(c.found)
	if c.found > 0 {
		w := s.workers[c.worker]
		first := &w.candidates[c.first]
		s.lineage.add(c.found, first.parent, int(first.action), w.records[c.records[0]:c.records[1]], c.lastParent)
		s.level.add(c.found, w.states[c.states[0]:c.states[1]])
	}
	s.level.pass(c.expanded, c.end)
}

// ended ends the search between two segments if it was waiting for the end of
// the segment.
func (s *search) ended() {
	e := s.ending.due()
	if e == nil || s.over() || s.level.waiting() == 0 {
		return // in the last case the search is at its end
	}
	s.fail(s.store.last())
	s.ending.interrupt(e.verdict, e.reason)
}

// late is closed when the search must not wait for the end of the segment any
// longer.
func (s *search) late() <-chan struct{} {
	if s.o.Checkpoint == nil {
		return nil
	}
	return s.o.Checkpoint.Late
}

// evaluators are those that workers have made.
func (s *search) evaluators() []Worker {
	var all []Worker
	for _, w := range s.workers {
		if w.ev != nil {
			all = append(all, w.ev)
		}
	}
	return all
}

// memory is approximately the memory that the search holds.
func (s *search) memory() int64 {
	n := s.set.Bytes() + s.lineage.size() + s.level.held() + s.store.held()
	for _, w := range s.workers {
		n += w.arena.size() + int64(cap(w.candidates))*candidateBytes + int64(cap(w.records)+cap(w.states))
	}
	return n
}

// tapes are all of the search, with their places in a checkpoint.
func (s *search) tapes(m *manifest) []taped {
	return append([]taped{s.lineage.taped(m)}, s.level.tapes(m)...)
}

// drop frees the memory that only the search needs.
func (s *search) drop() {
	s.set, s.lineage, s.level = nil, nil, level{}
	for _, w := range s.workers {
		w.arena, w.candidates, w.records, w.states = arena{}, nil, nil, nil
	}
}

// remark records the model's remarks about its states.
func (s *search) remark(r *Result) {
	if remarks := s.m.Capabilities().Remarks; remarks != nil && s.report.remarkable() && !s.ending.stopped() {
		r.Warnings = append(r.Warnings, remarks(s.evaluators())...)
	}
}

// result makes the Result of the finished search.
func (s *search) result() (*Result, error) {
	r, err := s.report.result(s.o, s.ending.why(), s.describe)
	if err != nil {
		return nil, err
	}
	r.Before, r.Bytes, r.DiskBytes = s.progress.computedBefore(), s.memory(), s.store.bytes()
	if r.Distinct > 0 {
		r.StateBytes = float64(s.set.Bytes()+s.lineage.size()+s.lineage.stored()+s.store.runBytes()) / float64(r.Distinct)
	}
	return r, nil
}

// describe converts a violation to its public form.
func (s *search) describe(v *violation) (Violation, error) {
	out := Violation{Verdict: v.verdict, Index: v.index, Err: v.err, Property: v.property(s.info)}
	var err error
	out.Trace, err = s.trace(v)
	return out, err
}

// trace is the path to the violation with its values.
func (s *search) trace(v *violation) ([]Step, error) {
	var steps []Step
	if v.fromState {
		var err error
		if steps, err = s.lineage.path(v.parent); err != nil {
			return nil, err
		}
	}
	if v.last != nil {
		steps = append(steps, Step{Action: v.action, State: v.last})
	}
	showSteps(s.m, steps)
	return steps, nil
}
