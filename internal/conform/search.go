// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"sort"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// The search goes over pairs of a specification state and a position in every
// log, depth first. From a pair, any log may advance whose next section has
// seen (by its clock) nothing that is still ahead. Three things keep the
// number of pairs small:
//
//   - A section that accesses no parameter commutes with everything that other
//     instances do: when one is next, it alone is tried.
//   - The logs are tried in the order in which their sections were needed: a
//     send is due when its message was received, not when it was sent. With
//     that order the first attempt is right in all but contrived logs.
//   - Pairs that were met before are not entered again.

// StepsMax is the default bound on the pairs that a search enters.
const StepsMax = 5_000_000

// hiddenDepthMax bounds the number of consecutive unlogged steps that the
// search tries between two logged ones.
const hiddenDepthMax = 64

// search is one run of the algorithm.
type search struct {
	spec   Spec
	logs   []*Log
	actors []int // of each log
	due    [][]int64
	budget int
	hidden bool // there are processes without a log

	seen    map[string]struct{}
	entered int
	best    *stuck
	witness []Step
}

// stuck is the furthest point that the search reached.
type stuck struct {
	state   check.State
	at      []int
	done    int
	blocked []Blocked
}

// frame is an entered pair with the steps from it that are still to be tried.
type frame struct {
	state check.State
	at    []int
	// next are the pairs reachable from this one that have not been entered
	// yet, in reverse.
	next []successor
	step Step // that led here
	idle int  // hidden steps since the last logged one
}

type successor struct {
	state check.State
	log   int // -1: hidden
}

// run searches until all logs are explained, every order has been tried, or the
// budget is exhausted.
func (s *search) run(ctx context.Context) (Verdict, error) {
	inits, err := s.spec.Init()
	if err != nil {
		return Undecided, err
	}
	for _, init := range inits {
		verdict, err := s.from(ctx, init)
		if err != nil || verdict != Rejected {
			return verdict, err
		}
	}
	return Rejected, nil
}

// from searches the behaviours that start in init.
func (s *search) from(ctx context.Context, init check.State) (Verdict, error) {
	root, err := s.enter(frame{state: slices.Clone(init), at: make([]int, len(s.logs))})
	if err != nil {
		return Undecided, err
	}
	stack := []frame{root}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if s.finished(top.at) {
			s.keepWitness(stack)
			return Accepted, nil
		}
		if len(top.next) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		if err := ctx.Err(); err != nil {
			return Undecided, err
		}
		succ := top.next[len(top.next)-1]
		top.next = top.next[:len(top.next)-1]
		child := frame{state: succ.state, at: slices.Clone(top.at), step: Step{Log: succ.log}}
		if succ.log >= 0 {
			child.step.Event = child.at[succ.log]
			child.at[succ.log]++
		} else {
			child.idle = top.idle + 1
		}
		if !s.isNew(child) {
			continue
		}
		if s.entered++; s.entered > s.budget {
			return Undecided, nil
		}
		if child, err = s.enter(child); err != nil {
			return Undecided, err
		}
		stack = append(stack, child)
	}
	return Rejected, nil
}

func (s *search) finished(at []int) bool {
	for i, l := range s.logs {
		if at[i] < len(l.Events) {
			return false
		}
	}
	return true
}

func (s *search) keepWitness(stack []frame) {
	for _, f := range stack[1:] {
		s.witness = append(s.witness, f.step)
	}
}

// isNew records the pair of the frame and reports whether it is new. The key is
// the exact state, not a hash.
func (s *search) isNew(f frame) bool {
	key := make([]byte, 0, len(f.state)+3*len(f.at)+1)
	for _, n := range f.at {
		key = binary.AppendUvarint(key, uint64(n))
	}
	if s.hidden {
		key = binary.AppendUvarint(key, uint64(f.idle))
	}
	key = append(key, f.state...)
	if _, met := s.seen[string(key)]; met {
		return false
	}
	s.seen[string(key)] = struct{}{}
	return true
}

// enter computes the steps that are possible from a pair.
func (s *search) enter(f frame) (frame, error) {
	order := s.enabled(f.at)
	var blocked []Blocked
	alone := false
	for _, i := range order {
		e := &s.logs[i].Events[f.at[i]]
		n := len(f.next)
		obstacle, err := s.spec.Step(f.state, s.actors[i], e.Section, func(t check.State) error {
			f.next = append(f.next, successor{state: slices.Clone(t), log: i})
			return nil
		})
		if err != nil {
			return f, &StepError{Log: e.File, Line: e.Line, Section: e.Section, Err: err}
		}
		if len(f.next) == n && obstacle != nil {
			blocked = append(blocked, Blocked{Log: i, Event: f.at[i], Obstacle: *obstacle})
		}
		if e.private() {
			f.next = slices.Clone(f.next[n:])
			blocked = slices.DeleteFunc(blocked, func(b Blocked) bool { return b.Log != i })
			alone = true
			break
		}
	}
	if s.hidden && !alone && f.idle < hiddenDepthMax && !s.finished(f.at) {
		err := s.spec.Hidden(f.state, s.actors, func(t check.State) error {
			f.next = append(f.next, successor{state: slices.Clone(t), log: -1})
			return nil
		})
		if err != nil {
			return f, err
		}
	}
	slices.Reverse(f.next)
	s.note(f, blocked)
	return f, nil
}

// enabled lists the logs whose next section may come now: private sections
// first, the others by due time.
func (s *search) enabled(at []int) []int {
	var order []int
	for i, l := range s.logs {
		if at[i] < len(l.Events) && s.causesMet(i, at) {
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(a, b int) bool {
		i, j := order[a], order[b]
		p, q := s.logs[i].Events[at[i]].private(), s.logs[j].Events[at[j]].private()
		if p != q {
			return p
		}
		return s.due[i][at[i]] < s.due[j][at[j]]
	})
	return order
}

// causesMet reports whether the search has passed everything that the next
// section of log i has observed.
func (s *search) causesMet(i int, at []int) bool {
	for j, need := range s.logs[i].Events[at[i]].needs {
		if j != i && at[j] < need {
			return false
		}
	}
	return true
}

// note records the pair if it is the furthest at which the search got stuck.
func (s *search) note(f frame, blocked []Blocked) {
	if len(blocked) == 0 {
		return
	}
	done := 0
	for _, n := range f.at {
		done += n
	}
	matched := func(b []Blocked) int {
		n := 0
		for _, x := range b {
			n = max(n, x.Obstacle.Matched)
		}
		return n
	}
	if s.best == nil || done > s.best.done || done == s.best.done && matched(blocked) > matched(s.best.blocked) {
		s.best = &stuck{state: f.state, at: slices.Clone(f.at), done: done, blocked: blocked}
	}
}

// dueTimes computes when each section was needed. A section that only writes is
// needed when another log first observes it, and never if none does: its writes
// may have arrived long after its own end. A section that reads is needed at
// its own end, because the values that it read existed then. A section is due
// no later than the sections that follow it in its log.
func dueTimes(logs []*Log) [][]int64 {
	due := make([][]int64, len(logs))
	for i, l := range logs {
		due[i] = make([]int64, len(l.Events))
		for k := range due[i] {
			due[i][k] = math.MaxInt64
			if l.Events[k].reads() || l.Events[k].Crash {
				due[i][k] = l.Events[k].end
			}
		}
	}
	for j, l := range logs {
		known := make([]int, len(logs))
		for _, e := range l.Events {
			for i, n := range e.needs {
				if i != j && n > known[i] {
					known[i] = n
					due[i][n-1] = min(due[i][n-1], e.end)
				}
			}
		}
	}
	for i := range due {
		for k := len(due[i]) - 2; k >= 0; k-- {
			due[i][k] = min(due[i][k], due[i][k+1])
		}
	}
	return due
}
