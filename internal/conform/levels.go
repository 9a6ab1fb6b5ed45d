// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"context"
	"maps"
	"slices"
)

// A search by levels visits all pairs that explain n sections before any that
// explains n+1, and keeps only one level. It forgets nothing that matters, so it
// can reject logs of any length with memory for the pairs of one level. Their
// number depends on how many sections are concurrent, and not on the length of the
// logs.

// WidthMax is the default bound on the pairs of a level.
const WidthMax = 1 << 16

type byLevels struct{ search }

// inOrder lists the pairs of a level in the order of their keys, so that every search
// finds the same.
func inOrder[T any](level map[string]T) (out []T) {
	for _, key := range slices.Sorted(maps.Keys(level)) {
		out = append(out, level[key])
	}
	return out
}

// run searches all orders.
func (s *byLevels) run(ctx context.Context) (Verdict, error) {
	inits, err := s.spec.Init()
	if err != nil {
		return Undecided, err
	}
	level := map[string]pair{}
	for _, t := range inits {
		p := pair{state: t, at: make([]int, len(s.actors))}
		if err := s.judge(&p, nil, candidate{}); err != nil {
			return Undecided, err
		}
		level[s.key(&p)] = p
	}
	for len(level) > 0 {
		next := map[string]pair{}
		oldest := make([]int, 0, len(s.actors))
		for _, p := range level {
			if oldest = append(oldest[:0], p.at...); len(oldest) > 0 {
				break
			}
		}
		for _, p := range level {
			for i, k := range p.at {
				oldest[i] = min(oldest[i], k)
			}
		}
		s.stream.forget(oldest)
		pairs := inOrder(level)
		for _, p := range pairs {
			finished, err := s.expand(ctx, p, next)
			switch {
			case err != nil:
				return Undecided, err
			case finished:
				return s.end(pairs), nil
			case s.wide || s.exhausted():
				return Undecided, nil
			}
		}
		level = next
	}
	return Rejected, nil
}

// expand adds the pairs of the next level that a pair leads to, also through any
// number of steps of processes without a log. It reports whether all logs are
// explained. It stops early at a limit.
func (s *byLevels) expand(ctx context.Context, p pair, next map[string]pair) (finished bool, err error) {
	met := map[string]bool{s.key(&p): true}
	todo := []pair{p}
	for len(todo) > 0 && !s.exhausted() && !s.wide {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		order, unfinished, err := s.candidates(p.at)
		if err != nil || !unfinished {
			return err == nil, err
		}
		s.done = max(s.done, p.done)
		var blocked []Blocked
		for _, c := range order {
			states, b, err := s.step(&p, c)
			if err != nil {
				return false, err
			}
			if b != nil {
				blocked = append(blocked, *b)
			}
			for _, t := range states {
				q := p.after(c.log, t)
				if err := s.judge(&q, &p, c); err != nil {
					return false, err
				}
				if key := s.key(&q); q.broken != nil || next[key].state == nil {
					next[key] = q
				}
				s.entered++
			}
		}
		s.note(&p, blocked)
		s.wide = s.wide || len(next) > s.limits.width
		alone := len(order) == 1 && order[0].event.private()
		if !s.hidden || alone {
			continue
		}
		states, err := s.unlogged(&p)
		if err != nil {
			return false, err
		}
		for _, t := range states {
			q := p.beside(t)
			q.idle = 0 // the key is that of the state and the position
			if err := s.judge(&q, &p, candidate{}); err != nil {
				return false, err
			}
			s.entered++
			if key := s.key(&q); !met[key] {
				met[key] = true
				todo = append(todo, q)
			}
		}
		s.wide = s.wide || len(met) > s.limits.width
	}
	return false, nil
}
