// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
)

// The search visits pairs of a specification state and a position in every log,
// depth first. From a pair, a log may advance if its next section has seen (by
// its clock) no section that is still ahead. Four things keep it short:
//
//   - A section that accesses no parameter commutes with everything that other
//     instances do: when one is next, it alone is tried.
//   - The logs are tried in the order in which their sections were due: a
//     send is due when its message was received, not when it was sent. With
//     that order the first attempt is right in all but contrived logs.
//   - A step is computed when it is tried, and not before.
//   - Pairs from which every order has failed are not entered again.
//
// To accept the logs, one order is enough. Therefore the search forgets the
// alternatives that are further back than WindowMax sections, and with them the
// states and sections there. If it then fails, levels.go tries every order.

// StepsMax is the default bound on the steps of a search, beside stepsFree for
// each section that it explained.
const StepsMax = 5_000_000

const stepsFree = 8

// WindowMax is the number of sections that the search goes back when it fails.
const WindowMax = 1 << 14

// hiddenDepthMax bounds the number of consecutive unlogged steps that the first
// search tries between two logged ones. levels.go tries any number.
const hiddenDepthMax = 64

// search is the part that both kinds of search share.
type search struct {
	spec   Spec
	stream *stream
	actors []int // of each process
	limits limits
	hidden bool // there are processes without a log
	wide   bool // there were more pairs at one point than the width allows

	entered int
	done    int // the sections that the furthest pair has explained
	best    *stuck
	broken  *Violation // on the way to the end, when that is reached
}

// limits bound a search.
type limits struct {
	steps  int // 0: StepsMax and stepsFree for each section
	window int
	width  int
}

// exhausted reports whether the search has taken as many steps as it may.
func (s *search) exhausted() bool {
	if s.limits.steps > 0 {
		return s.entered > s.limits.steps
	}
	return s.entered > StepsMax+stepsFree*s.done
}

// gaveUp names the limit at which a search without a verdict stopped.
func (s *search) gaveUp(ctx context.Context) string {
	switch {
	case ctx.Err() != nil:
		return "it was interrupted"
	case s.exhausted():
		return "it took as many steps as it may; --max-steps allows more"
	case s.hidden:
		return fmt.Sprintf("between two sections, the processes without a trace can reach more than %d states; it needs their traces", s.limits.width)
	}
	return fmt.Sprintf("the clocks allow more than %d combinations of states and sections at one point", s.limits.width)
}

// judge evaluates the invariants in the state of a pair, which a candidate led to
// from another; the candidate has no event if it was no section.
func (s *search) judge(p, from *pair, c candidate) error {
	if p.broken != nil {
		return nil
	}
	broken, err := s.spec.Broken(p.state)
	switch {
	case err != nil && c.event != nil:
		return &StepError{Log: c.event.File, Line: c.event.Line, Section: c.event.Section, Err: err}
	case err != nil:
		return err
	case broken == nil:
		return nil
	}
	p.broken = &Violation{Invariant: *broken, State: s.spec.Show(p.state)}
	if c.event != nil {
		p.broken.By = s.name(from, c)
	}
	return nil
}

// end is the verdict when pairs explain all logs: an invariant is violated if it is
// on the way to any of them.
func (s *search) end(found []pair) Verdict {
	for _, p := range found {
		if s.broken = p.broken; p.broken != nil {
			return Violated
		}
	}
	return Accepted
}

// stuck is the furthest point that the search reached.
type stuck struct {
	state   State
	done    int
	blocked []Blocked
}

// pair is a state of the specification and the number of sections of each log
// that led to it.
type pair struct {
	state State
	at    []int
	done  int // sum of at
	idle  int // hidden steps since the last logged one

	broken *Violation // the first on the way to it
}

// key identifies the pair exactly; it is not a hash.
func (s *search) key(p *pair) string {
	key := make([]byte, 0, 128)
	for _, n := range p.at {
		key = binary.AppendUvarint(key, uint64(n))
	}
	if s.hidden {
		key = binary.AppendUvarint(key, uint64(p.idle))
	}
	return string(s.spec.Key(key, p.state))
}

// after returns the pair after the next section of log i.
func (p *pair) after(i int, state State) pair {
	at := slices.Clone(p.at)
	at[i]++
	return pair{state: state, at: at, done: p.done + 1, broken: p.broken}
}

// beside returns the pair after a step that is in no log.
func (p *pair) beside(state State) pair {
	return pair{state: state, at: p.at, done: p.done, idle: p.idle + 1, broken: p.broken}
}

// candidate is a section that may come next.
type candidate struct {
	log   int
	event *Event
}

// candidates lists the sections that may come next, by their clocks: a private
// one alone, or all. unfinished reports that there are sections left to explain.
func (s *search) candidates(at []int) (out []candidate, unfinished bool, err error) {
	for again := true; again; {
		out, unfinished, again = out[:0], false, false
		for i := range s.stream.processes {
			ended := s.stream.ended
			e, err := s.stream.event(i, at[i])
			if err != nil {
				return nil, false, err
			}
			again = again || s.stream.ended != ended // which may end others
			if e == nil {
				p := s.stream.processes[i]
				unfinished = unfinished || !p.ended
				continue
			}
			unfinished = true
			if !s.causesMet(i, e, at) {
				continue
			}
			if e.private() {
				return append(out[:0], candidate{i, e}), true, nil
			}
			out = append(out, candidate{i, e})
		}
	}
	return out, unfinished, nil
}

// causesMet reports whether the search has passed everything that a section of
// log i has observed.
func (s *search) causesMet(i int, e *Event, at []int) bool {
	for j, need := range e.needs {
		if j != i && !s.stream.processes[j].met(need, at[j]) {
			return false
		}
	}
	return true
}

// step executes a candidate. If it cannot be executed, it returns why.
func (s *search) step(p *pair, c candidate) (next []State, blocked *Blocked, err error) {
	obstacle, err := s.spec.Step(p.state, s.actors[c.log], &c.event.Section, func(t State) error {
		next = append(next, t)
		return nil
	})
	if err != nil {
		return nil, nil, &StepError{Log: c.event.File, Line: c.event.Line, Section: c.event.Section, Err: err}
	}
	if len(next) == 0 {
		blocked = s.name(p, c)
		if obstacle != nil {
			blocked.Obstacle = *obstacle
		}
	}
	return next, blocked, nil
}

// name identifies the section of a candidate.
func (s *search) name(p *pair, c candidate) *Blocked {
	return &Blocked{Process: s.stream.processes[c.log].name, Step: p.at[c.log] + 1, File: c.event.File, Line: c.event.Line, Section: c.event.Section}
}

// unlogged executes the steps of processes without a log.
func (s *search) unlogged(p *pair) (next []State, err error) {
	err = s.spec.Hidden(p.state, s.actors, func(t State) error {
		next = append(next, t)
		return nil
	})
	return next, err
}

// note records the pair if it is the furthest at which the search got stuck.
func (s *search) note(p *pair, blocked []Blocked) {
	if len(blocked) == 0 {
		return
	}
	matched := func(b []Blocked) int {
		n := 0
		for _, x := range b {
			n = max(n, x.Obstacle.Matched)
		}
		return n
	}
	if s.best == nil || p.done > s.best.done || p.done == s.best.done && matched(blocked) > matched(s.best.blocked) {
		s.best = &stuck{state: p.state, done: p.done, blocked: slices.Clone(blocked)}
	}
}

// node is a pair on the path of a depth-first search, with the candidates still
// to try from it.
type node struct {
	pair
	todo    []candidate // in reverse
	next    []State     // of what was tried last
	last    candidate   // which that was; without an event: no section
	hidden  bool        // the steps without a log are still to be tried
	blocked []Blocked
	since   int64 // the time of the latest of those
}

// open reports whether there is something left to try.
func (n *node) open() bool { return len(n.next) > 0 || len(n.todo) > 0 || n.hidden }

// depthFirst is a search that goes back a bounded number of sections.
type depthFirst struct {
	search
	stack  []*node
	told   int64          // when progress was reported
	failed map[string]int // pairs from which nothing leads on, with their number of sections
	sweep  int            // the size of failed at which to forget some of it
	lost   bool           // there were alternatives that it forgot
}

// run searches from every initial state until all logs are explained, every
// order in the window has been tried, or the steps are exhausted.
func (s *depthFirst) run(ctx context.Context) (Verdict, error) {
	s.failed, s.sweep = map[string]int{}, 1024
	inits, err := s.spec.Init()
	if err != nil {
		return Undecided, err
	}
	slices.Reverse(inits)
	root := &node{pair: pair{at: make([]int, len(s.actors))}, next: inits}
	s.stack = []*node{root}
	for len(s.stack) > 0 {
		if err := ctx.Err(); err != nil {
			return Undecided, err
		}
		top := s.stack[len(s.stack)-1]
		child, err := s.advance(top)
		if err != nil {
			return Undecided, err
		}
		if s.stream.live != nil && (child == nil || s.entered%256 == 0) {
			s.progress(top)
		}
		if child == nil && s.mayGoOn(top) {
			if err := s.stream.live.wait(ctx); err != nil {
				return Undecided, err
			}
			if finished, err := s.enter(ctx, top); err != nil || finished {
				return s.end([]pair{top.pair}), err
			}
			continue
		}
		if child == nil {
			s.pop(top)
			continue
		}
		if top == root {
			child.idle = 0
		} else if s.entered++; s.exhausted() {
			return Undecided, nil
		}
		if err := s.judge(&child.pair, &top.pair, top.last); err != nil {
			return Undecided, err
		}
		finished, err := s.enter(ctx, child)
		if err != nil {
			return Undecided, err
		}
		if finished {
			return s.end([]pair{child.pair}), nil
		}
		s.push(top, child)
	}
	return Rejected, nil
}

// advance returns the next pair from a node that has not failed before, or nil.
func (s *depthFirst) advance(n *node) (*node, error) {
	for {
		for len(n.next) > 0 {
			last := len(n.next) - 1
			t := n.next[last]
			n.next[last] = nil
			n.next = n.next[:last]
			child := &node{}
			if n.last.event != nil {
				child.pair = n.after(n.last.log, t)
			} else {
				child.pair = n.beside(t)
			}
			if len(s.failed) > 0 {
				if _, failed := s.failed[s.key(&child.pair)]; failed {
					continue
				}
			}
			return child, nil
		}
		switch {
		case len(n.todo) > 0:
			c := n.todo[len(n.todo)-1]
			n.todo = n.todo[:len(n.todo)-1]
			next, blocked, err := s.step(&n.pair, c)
			if err != nil {
				return nil, err
			}
			if blocked != nil {
				n.blocked, n.since = append(n.blocked, *blocked), max(n.since, c.event.end)
			}
			slices.Reverse(next)
			n.next, n.last = next, c
		case n.hidden:
			n.hidden = false
			next, err := s.unlogged(&n.pair)
			if err != nil {
				return nil, err
			}
			slices.Reverse(next)
			n.next, n.last = next, candidate{}
		default:
			return nil, nil
		}
	}
}

// enter determines what to try from a new node. It reports whether all logs are
// explained.
func (s *depthFirst) enter(ctx context.Context, n *node) (finished bool, err error) {
	order, unfinished, err := s.candidates(n.at)
	if err != nil || !unfinished {
		return err == nil, err
	}
	s.done = max(s.done, n.done)
	alone := len(order) == 1 && order[0].event.private()
	if !alone && len(order) > 0 {
		if err := s.await(ctx, order); err != nil {
			return false, err
		}
		slices.SortStableFunc(order, func(a, b candidate) int { return cmp.Compare(b.event.due, a.event.due) })
	}
	n.todo, n.blocked = order, nil
	if n.hidden = s.hidden && !alone; n.hidden && n.idle == hiddenDepthMax {
		n.hidden, s.lost = false, true
	}
	return false, nil
}

// await reads on until it is known which of the candidates is due first.
func (s *depthFirst) await(ctx context.Context, order []candidate) error {
	for {
		first := int64(never)
		for _, c := range order {
			first = min(first, c.event.due)
		}
		horizon, oldest := s.stream.horizon()
		if first <= horizon || oldest < 0 {
			return nil
		}
		if s.stream.buffered >= BufferedMax {
			// A section that no process observes for that long is due when it
			// ended.
			for _, c := range order {
				c.event.due = min(c.event.due, c.event.end)
			}
			return nil
		}
		if s.stream.live != nil && horizon < never {
			for _, c := range order { // no process observes it for a while
				if c.event.end < horizon-int64(patience) {
					c.event.due = min(c.event.due, c.event.end)
				}
			}
		}
		before := s.stream.sections
		if err := s.stream.load(oldest); err != nil {
			return err
		}
		if s.stream.live != nil && s.stream.sections == before {
			if err := s.stream.live.wait(ctx); err != nil {
				return err
			}
		}
	}
}

// mayGoOn reports whether sections that are not written yet may lead on from a
// node from which nothing else does.
func (s *depthFirst) mayGoOn(n *node) bool {
	if s.stream.live == nil || n.at == nil || n.state == nil {
		return false
	}
	horizon, _ := s.stream.horizon()
	for i, p := range s.stream.processes {
		if !p.ended && n.at[i] >= p.base+len(p.buf) {
			return len(n.blocked) == 0 || horizon < n.since+int64(patience)
		}
	}
	return false
}

// push adds a node to the path. It drops the node before it if there is nothing
// left to try from it, and nodes that are too far back.
func (s *depthFirst) push(top, child *node) {
	if !top.open() {
		s.note(&top.pair, top.blocked)
		s.stack = s.stack[:len(s.stack)-1]
	}
	s.stack = append(s.stack, child)
	for len(s.stack) > 1 && s.stack[0].done < child.done-s.limits.window {
		s.lost = true
		s.stack[0] = nil
		s.stack = s.stack[1:]
	}
	s.stream.forget(s.stack[0].at)
	if len(s.failed) > s.sweep {
		for key, done := range s.failed {
			if done < s.stack[0].done {
				delete(s.failed, key) // out of reach
			}
		}
		s.sweep = 1024 + 2*len(s.failed)
	}
}

// pop removes a node from which nothing led to the end.
func (s *depthFirst) pop(top *node) {
	s.note(&top.pair, top.blocked)
	s.stack = s.stack[:len(s.stack)-1]
	if top.state != nil {
		s.failed[s.key(&top.pair)] = top.done
	}
}
