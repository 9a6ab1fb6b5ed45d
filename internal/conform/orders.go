// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// A search of all orders requires more than a search of one: every order of the
// sections that the clocks allow must be a behaviour. It proceeds level by level
// over positions, each with all states in which the specification can be after
// some order of the sections before it. If none of these states allows a section
// that may come next, then some order is not a behaviour.
//
// Sections that touch no common variable commute: after them the states are the
// same, and each is allowed before the other if it is allowed after it. So a
// section that commutes with all that other processes do before they observe it
// is tried alone (a persistent set, as in Godefroid's thesis).

// lookAheadMax is the number of sections of another process that are compared
// with a section. A process that has not observed it by then may touch anything.
const lookAheadMax = 64

// Cell is what a section accesses outside of its process: a variable, or the
// part of it at the indices.
type Cell struct {
	Variable string
	Indices  []value.Value
}

// overlaps reports whether two cells have a common part.
func (c Cell) overlaps(d Cell) bool {
	n := min(len(c.Indices), len(d.Indices))
	return c.Variable == d.Variable && sameAll(c.Indices[:n], d.Indices[:n])
}

// errHidden is the error of a search of all orders that would have to guess.
var errHidden = errors.New("cannot check all orders: some processes have no trace")

type allOrders struct{ search }

// choices are the pairs of a position with the states that are possible there, in
// the order of their keys.
type choices []pair

// run searches all orders.
func (s *allOrders) run(ctx context.Context) (Verdict, error) {
	if s.hidden {
		return Undecided, errHidden
	}
	inits, err := s.spec.Init()
	if err != nil {
		return Undecided, err
	}
	var first choices
	for _, t := range inits {
		p := pair{state: t, at: make([]int, len(s.actors))}
		if err := s.judge(&p, nil, candidate{}); err != nil {
			return Undecided, err
		}
		first = append(first, p)
	}
	if len(first) == 0 {
		return Rejected, nil // nothing is a behaviour
	}
	level := map[string]choices{"": first}
	for {
		next := map[string]choices{}
		all := inOrder(level)
		for _, c := range all {
			if err := ctx.Err(); err != nil {
				return Undecided, err
			}
			verdict, err := s.expand(c, next)
			switch {
			case err != nil || verdict == Rejected:
				return verdict, err
			case verdict == Accepted:
				return s.end(slices.Concat(all...)), nil
			case s.exhausted():
				return Undecided, nil
			}
			if s.wide = len(next) > s.limits.width; s.wide {
				return Undecided, nil
			}
		}
		level = next
		s.stream.forget(oldest(level))
	}
}

// oldest is the position before which no choices of a level are.
func oldest(level map[string]choices) (at []int) {
	for _, c := range level {
		if at == nil {
			at = slices.Clone(c[0].at)
		}
		for i, k := range c[0].at {
			at[i] = min(at[i], k)
		}
	}
	return at
}

// expand adds what comes next. Undecided means that the search continues, Accepted
// that it is at its end.
func (s *allOrders) expand(c choices, next map[string]choices) (Verdict, error) {
	order, unfinished, err := s.candidates(c[0].at)
	if err != nil {
		return Undecided, err
	}
	if !unfinished {
		return Accepted, nil
	}
	s.done = max(s.done, c[0].done)
	if order, err = s.persistent(c[0].at, order); err != nil {
		return Undecided, err
	}
	for _, o := range order {
		after, key, blocked, err := s.take(c, o)
		if err != nil {
			return Undecided, err
		}
		if len(after) == 0 {
			s.best = &stuck{state: c[0].state, done: c[0].done, blocked: []Blocked{*blocked}}
			return Rejected, nil
		}
		for i, p := range next[key] {
			if p.broken != nil { // in another order
				after[i].broken = p.broken
			}
		}
		next[key] = after
	}
	if len(order) == 0 {
		return Rejected, nil // the clocks contradict each other
	}
	return Undecided, nil
}

// take executes a section from all states. The key identifies the position after it
// and the states there. If there is no state, it returns what blocked the section.
func (s *allOrders) take(c choices, o candidate) (out choices, key string, blocked *Blocked, err error) {
	seen := map[string]pair{}
	for i := range c {
		states, b, err := s.step(&c[i], o)
		if err != nil {
			return nil, "", nil, err
		}
		if b != nil && (blocked == nil || b.Obstacle.Matched > blocked.Obstacle.Matched) {
			blocked = b
		}
		for _, t := range states {
			s.entered++
			p := c[i].after(o.log, t)
			if err := s.judge(&p, &c[i], o); err != nil {
				return nil, "", nil, err
			}
			if key := s.key(&p); p.broken != nil || seen[key].state == nil {
				seen[key] = p
			}
		}
	}
	var all strings.Builder
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		out = append(out, seen[key])
		all.Write(binary.AppendUvarint(nil, uint64(len(key))))
		all.WriteString(key)
	}
	return out, all.String(), blocked, nil
}

// persistent returns one section that commutes with all that can happen before
// it, or all sections.
func (s *allOrders) persistent(at []int, order []candidate) ([]candidate, error) {
	for _, c := range order {
		alone, err := s.commutes(at, c)
		if err != nil {
			return nil, err
		}
		if alone {
			return []candidate{c}, nil
		}
	}
	return order, nil
}

// commutes reports whether a section commutes with what other processes do before
// they have observed it.
func (s *allOrders) commutes(at []int, c candidate) (bool, error) {
	if c.event.private() {
		return true, nil
	}
	cells, known := s.spec.Footprint(s.actors[c.log], &c.event.Section)
	if !known {
		return false, nil
	}
	for j := range s.stream.processes {
		if j == c.log {
			continue
		}
		for k := at[j]; ; k++ {
			e, err := s.stream.event(j, k)
			if err != nil {
				return false, err
			}
			if e == nil || !s.stream.processes[c.log].met(e.needs[c.log], at[c.log]) {
				break
			}
			if k == at[j]+lookAheadMax || !s.apart(cells, j, e) {
				return false, nil
			}
		}
	}
	return true, nil
}

// apart reports whether a section of process j touches none of the cells.
func (s *allOrders) apart(cells []Cell, j int, e *Event) bool {
	if e.private() {
		return true
	}
	others, known := s.spec.Footprint(s.actors[j], &e.Section)
	return known && !slices.ContainsFunc(others, func(d Cell) bool {
		return slices.ContainsFunc(cells, d.overlaps)
	})
}
