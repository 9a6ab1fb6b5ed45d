// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/check/fpset"
)

// Depth-first search with iterative deepening (Korf, 1985) works in rounds.
// Round L follows the paths of up to L states, each to its end before the next,
// in the order in which the model enumerates. So it holds one path with its
// waiting successors, and never a level of the graph.
//
// A table of bounded size remembers at what depth a state was met first. A state
// in the table is expanded once a round, at that depth only. A state that was
// forgotten counts as new, which costs time and causes no wrong result. States of
// one depth are expanded in the order of a breadth-first search, by the first of
// the shortest paths to them, and a violation at a depth is found in the round of
// that depth. So the first violation is that of Run, with the same trace.
//
// If no longest path of a round ends in a new state, the round has visited
// everything.

// Limits of a deepening. An entry of the table takes 16 bytes.
const (
	DeepenDepthMax     = 1 << 20
	DeepenTableDefault = 1 << 22
	DeepenTableMax     = 1 << 31
)

// DeepenOptions are the options of Deepen.
type DeepenOptions struct {
	// Depth is the largest number of states on a path: 1 to DeepenDepthMax.
	Depth int
	// TableStates is the number of states that the table remembers, rounded up
	// to a power of two; 0 means DeepenTableDefault.
	TableStates int
	// SafetyOnly and IgnoreDeadlock are as in Options.
	SafetyOnly, IgnoreDeadlock bool
	// Monitor, if not nil, reports the progress to other goroutines.
	Monitor *DeepenMonitor
}

// DeepenMonitor watches one deepening. The zero DeepenMonitor is ready.
type DeepenMonitor struct{ computed, distinct, initial, round atomic.Int64 }

// Stats returns a momentary view: the states computed in all rounds, the states
// of the round, and as the depth the number of the round.
func (m *DeepenMonitor) Stats() Stats {
	return Stats{Generated: m.computed.Load(), Distinct: m.distinct.Load(), Depth: int(m.round.Load())}
}

// Initial is the number of distinct initial states, 0 until they are known.
func (m *DeepenMonitor) Initial() int64 { return m.initial.Load() }

// Deepening is the result of a deepening.
//
// The verdict OK, and Complete, mean that every reachable state was visited. If
// it is Incomplete because of the depth, invariants hold of all states reached
// by a path of Depth states, and every step between the states before the last
// of such a path, and to the last, was checked; the Queue is the number of
// states at that depth that have not been expanded, and nothing is known of
// their successors. The figures of the Result are those of the last round. As
// long as nothing was forgotten and the verdict is OK, they are those of Run;
// otherwise Distinct counts a state as often as it was taken for a new one.
type Deepening struct {
	Result
	Rounds    int
	Computed  int64 // states computed in all rounds
	Forgotten int64 // times that the table had no room
}

// Deepen searches depth first, round by round, with one goroutine. Its memory
// is the table, the initial states, and for every state of one path those
// successors that remain to be visited; the Result's Bytes has the amount. If
// models distinguish states by keys and something was forgotten, further states
// with the key of a known one may be explored. Properties of behaviours are not
// checked. When ctx ends, Deepen returns soon, with the results so far.
func Deepen(ctx context.Context, m Model, o DeepenOptions) (*Deepening, error) {
	if o.Depth < 1 || o.Depth > DeepenDepthMax {
		return nil, fmt.Errorf("check: a depth of %d states, want 1 to %d", o.Depth, DeepenDepthMax)
	}
	if o.TableStates < 0 || o.TableStates > DeepenTableMax {
		return nil, fmt.Errorf("check: a table of %d states, want 1 to %d", o.TableStates, DeepenTableMax)
	}
	if o.TableStates == 0 {
		o.TableStates = DeepenTableDefault
	}
	if o.Monitor == nil {
		o.Monitor = &DeepenMonitor{}
	}
	d := &deepening{ctx: ctx, m: m, o: o, info: m.Info(), ev: m.NewWorker(), table: newDepths(o.TableStates)}
	if d.can = d.ev.Capabilities(); d.can.EndWhen != nil {
		d.can.EndWhen(func() bool { return ctx.Err() != nil })
	}
	d.out = &Deepening{Result: Result{Info: d.info, Actions: make([]Coverage, len(d.info.Actions)),
		Violation: Violation{Index: -1}, Warnings: slices.Clone(d.info.Warnings)}}
	if err := d.run(); err != nil {
		return nil, err
	}
	return d.out, nil
}

// deepening is the state of a run.
type deepening struct {
	ctx   context.Context
	m     Model
	o     DeepenOptions
	info  Info
	ev    Worker
	can   Capabilities // of ev
	table *depths
	out   *Deepening

	limit   int // of this round
	path    []Step
	frames  []deepFrame
	pending []byte // the states of the frames, those of the initial one first
	highest int    // maximum bytes of the path and of the waiting states
	held    int    // bytes of the path
	fresh   int64  // new states at the depth of the round
	level   int    // the last argument of AtLevel
	visited int64  // successors of the state that is being expanded
	found   *violation
}

// deepFrame is the part of pending that holds the waiting states of one depth.
type deepFrame struct{ start, next, end int }

// run runs the rounds.
func (d *deepening) run() error {
	broken, err := d.ev.Assumptions()
	if err == nil && len(broken) > 0 {
		d.out.Verdict, d.out.Broken, d.out.Reason = AssumptionFalse, broken, "an assumption is false, so nothing was explored"
		return nil
	}
	for round := 1; err == nil && round <= d.o.Depth; round++ {
		d.limit = round
		d.o.Monitor.round.Store(int64(round))
		if err = d.round(); err == nil && d.fresh == 0 {
			break
		}
	}
	d.out.Rounds = d.limit
	return d.conclude(err)
}

// round follows the paths of up to limit states.
func (d *deepening) round() error {
	r := &d.out.Result
	d.fresh = 0
	if d.limit == 1 {
		if err := d.ev.Init(d.candidate); err != nil {
			return err
		}
		d.o.Monitor.initial.Store(r.Init.Distinct)
	} else {
		clear(r.Actions)
		r.Generated, r.Distinct, r.Levels = r.Init.Generated, r.Init.Distinct, append(r.Levels[:0], r.Init.Distinct)
		d.frames = append(d.frames[:0], deepFrame{end: len(d.pending)})
	}
	for len(d.frames) > 0 {
		depth := len(d.frames)
		f := &d.frames[depth-1]
		if f.next == f.end {
			if depth > 1 {
				d.pending = d.pending[:f.start]
			}
			d.frames = d.frames[:depth-1]
			continue
		}
		f.next += d.enter(depth, d.pending[f.next:f.end])
		start := len(d.pending)
		if err := d.expand(depth); err != nil {
			return err
		}
		if len(d.pending) > start {
			d.frames = append(d.frames, deepFrame{start, start, len(d.pending)})
		}
	}
	return nil
}

// enter moves the first waiting state of this depth onto the path and returns
// how many bytes it took while it waited.
func (d *deepening) enter(depth int, waiting []byte) int {
	action, w := binary.Uvarint(waiting)
	state, rest := cut(waiting[w:])
	for len(d.path) > depth-1 {
		last := len(d.path) - 1
		d.held -= len(d.path[last].State)
		d.path = d.path[:last]
	}
	if cap(d.path) > depth-1 {
		d.path = d.path[:depth]
	} else {
		d.path = append(d.path, Step{})
	}
	p := &d.path[depth-1]
	p.Action, p.State = int(action)-1, append(p.State[:0], state...)
	d.held += len(state)
	return len(waiting) - len(rest)
}

// expand computes the successors of the last state of the path.
func (d *deepening) expand(depth int) error {
	if d.can.AtLevel != nil && d.level != depth {
		d.can.AtLevel(depth)
		d.level = depth
	}
	d.visited = 0
	if err := d.ev.Next(d.path[depth-1].State, d.candidate); err != nil {
		return err
	}
	if d.ctx.Err() != nil {
		return ErrStopped
	}
	d.highest = max(d.highest, d.held+cap(d.pending)+cap(d.frames)*24)
	if d.visited == 0 && d.info.Deadlock && !d.o.IgnoreDeadlock {
		d.found = &violation{verdict: Deadlock, index: -1}
		return errFound
	}
	return nil
}

// candidate is called for every state that the model computes. A state above the
// deepest level of this round was checked in an earlier round.
func (d *deepening) candidate(action int, state State) error {
	r := &d.out.Result
	count := &r.Init
	if action >= 0 {
		count = &r.Actions[action]
	}
	count.Generated++
	r.Generated++
	d.out.Computed++
	d.visited++
	if d.out.Computed%stopPollEvery == 0 {
		d.o.Monitor.computed.Store(d.out.Computed)
		d.o.Monitor.distinct.Store(r.Distinct)
		if d.ctx.Err() != nil {
			return ErrStopped
		}
	}
	depth := len(d.frames) + 1
	inside, err := d.ev.InModel()
	if err != nil {
		return d.broken(action, state, EvalFailed, -1, err)
	}
	fresh := true
	if inside {
		if fresh, err = d.meet(action, state, depth, count); err != nil {
			return err
		}
	}
	if depth < d.limit {
		return nil
	}
	if fresh && len(d.info.Invariants) > 0 {
		if i, err := d.ev.BrokenInvariant(); err != nil || i >= 0 {
			return d.broken(action, state, InvariantViolated, i, err)
		}
	}
	if len(d.info.Steps) > 0 {
		if i, err := d.ev.BrokenStep(); err != nil || i >= 0 {
			return d.broken(action, state, StepViolated, i, err)
		}
	}
	return nil
}

// meet queues the state for a visit at this depth, unless this round visits it
// at this depth or a smaller one anyway, and reports whether this round meets
// it for the first time.
func (d *deepening) meet(action int, state State, depth int, count *Coverage) (bool, error) {
	id := state
	if d.can.Key != nil {
		k, err := d.can.Key()
		if err != nil {
			return false, d.broken(action, state, EvalFailed, -1, err)
		}
		id = k
	}
	if !d.table.meet(fpset.Hash(id), depth, d.limit) {
		return false, nil
	}
	if len(state) > StateBytesMax {
		return false, d.broken(action, state, EvalFailed, -1, &EvalError{
			Message: fmt.Sprintf("the state takes %d bytes, more than the %d that are allowed", len(state), StateBytesMax)})
	}
	r := &d.out.Result
	count.Distinct++
	r.Distinct++
	if len(r.Levels) < depth {
		r.Levels = append(r.Levels, 0)
	}
	r.Levels[depth-1]++
	if depth == d.limit {
		d.fresh++
	}
	if depth < d.limit || depth == 1 {
		d.pending = binary.AppendUvarint(d.pending, uint64(action+1))
		d.pending = binary.AppendUvarint(d.pending, uint64(len(state)))
		d.pending = append(d.pending, state...)
	}
	return true, nil
}

// broken records that the candidate violates a property, or that the property
// could not be evaluated.
func (d *deepening) broken(action int, state State, verdict Verdict, index int, err error) error {
	v := &violation{verdict: verdict, asked: verdict, index: index, action: action, last: slices.Clone(state)}
	if err != nil {
		var e *EvalError
		if !errors.As(err, &e) {
			return err
		}
		v.verdict, v.err = EvalFailed, e
	}
	d.found = v
	return errFound
}

// conclude turns the end of the last round into the result.
func (d *deepening) conclude(err error) error {
	r, e := &d.out.Result, (*EvalError)(nil)
	d.o.Monitor.computed.Store(d.out.Computed)
	d.o.Monitor.distinct.Store(r.Distinct)
	d.out.Forgotten = d.table.forgotten
	r.Depth, r.Queue, r.Collision = len(r.Levels), d.fresh, fpset.Collision(r.Distinct)
	r.Bytes = d.table.bytes() + int64(max(d.highest, cap(d.pending)))
	switch {
	case errors.As(err, &e):
		d.found = &violation{verdict: EvalFailed, index: -1, err: e}
		fallthrough
	case errors.Is(err, errFound):
		d.accuse()
		return nil
	case errors.Is(err, ErrStopped) && d.ctx.Err() != nil:
		var limit Limit
		r.Verdict, r.Reason = Interrupted, interrupted
		if errors.As(context.Cause(d.ctx), &limit) {
			r.Verdict, r.Reason = Incomplete, string(limit)
		}
		return nil
	case err != nil:
		return err
	case d.fresh > 0:
		r.Verdict = Incomplete
		r.Reason = fmt.Sprintf("states that can be reached only by paths of more than %d states were not visited", d.o.Depth)
		d.unasked()
		return nil
	}
	r.Complete = true
	if remarks := d.m.Capabilities().Remarks; remarks != nil && r.Distinct > 1 {
		r.Warnings = append(r.Warnings, remarks([]Worker{d.ev})...)
	}
	r.Warnings = append(r.Warnings, nothing(d.info, r.Stats)...)
	d.unasked()
	Options{SafetyOnly: d.o.SafetyOnly}.incomplete(r)
	return nil
}

// unasked lists the properties of behaviours, which deepening does not check.
func (d *deepening) unasked() {
	asked := d.m.Capabilities().Live
	if asked == nil {
		return
	}
	r := &d.out.Result
	r.Info.Unchecked = slices.Clone(r.Info.Unchecked)
	for _, p := range asked.Properties {
		r.Info.Unchecked = append(r.Info.Unchecked, Unchecked{Property: p.Name, Reason: "a depth-first search keeps no graph to decide it on"})
	}
}

// accuse builds the violation and the path to it.
func (d *deepening) accuse() {
	v, r := d.found, &d.out.Result
	out := Violation{Verdict: v.verdict, Index: v.index, Err: v.err, Property: v.property(d.info)}
	for _, s := range d.path[:len(d.frames)] {
		out.Trace = append(out.Trace, Step{Action: s.Action, State: slices.Clone(s.State)})
	}
	if v.last != nil {
		out.Trace = append(out.Trace, Step{Action: v.action, State: v.last})
	}
	showSteps(d.m, out.Trace)
	r.Violation, r.Violations, r.Reason = out, []Violation{out}, endsAtFirst
}
