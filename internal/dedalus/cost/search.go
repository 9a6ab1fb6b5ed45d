// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// The search is a beam search over sequences of decouplings. A state is a program after some
// decouplings; its value is the estimate when its components are divided within the budget.
// In each state the search decouples the bottleneck in every way that a cut and a rewrite
// allow. It profiles those that are likely to relieve it most, and continues from the best.
// It does not profile a program twice.

// Options of a search. The zero value is the default.
type Options struct {
	// Machines is the budget; default 20.
	Machines int
	// Width is the number of states that the search keeps at each depth (default 4), Profiled the
	// number of decouplings of a state that it profiles (default 10), and Depth the maximum
	// number of decouplings in sequence (default 10).
	Width, Profiled, Depth int
	// Programs is the maximum number of profiled programs; default 2000.
	Programs int
	// Exhaustive tries every set of rules of every component, and profiles all that are
	// allowed. It is for programs of a few rules, as a reference for the search.
	Exhaustive bool
	// Progress is called after each depth.
	Progress func(Progress)
}

// ExhaustiveRulesMax is the maximum number of rules of a component in an exhaustive search.
const ExhaustiveRulesMax = 10

// Progress is the progress of a search.
type Progress struct {
	Depth, Programs, Refused int
	// Best is the highest throughput so far.
	Best float64
}

func (o Options) complete() Options {
	o.Machines = cmp.Or(o.Machines, 20)
	o.Width = cmp.Or(o.Width, 4)
	o.Profiled = cmp.Or(o.Profiled, 10)
	o.Depth = cmp.Or(o.Depth, 10)
	o.Programs = cmp.Or(o.Programs, 2000)
	return o
}

// Candidate is a step that a search considered.
type Candidate struct {
	Step string `json:"step"`
	// Allowed reports that a rewrite and its certificate allow the step. If not, Reason states
	// why.
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason,omitempty"`
	// Throughput is the throughput within the budget, or 0 if the step was not profiled.
	Throughput float64 `json:"throughput,omitempty"`
}

// idleMax is the number of depths without improvement after which a search ends.
const idleMax = 3

// state is a structure, with the steps that were tried on it.
type state struct {
	structure
	parent *state
	// attacked is the component that the children decouple; tried lists all attempts.
	attacked string
	tried    []Candidate
}

// search is a search in progress.
type search struct {
	evaluator
	options Options
	seen    map[string]bool
	best    *state
	points  []Point
	refused int
	stopped string
}

// find runs the search from a program.
func (s *search) find(p *logic.Program) error {
	root := &state{structure: structure{program: p}}
	if err := s.evaluate(&root.structure); err != nil {
		return err
	}
	if root.plain.Machines > s.machines {
		return fmt.Errorf("the program needs %d machines before any step, but only %d are allowed", root.plain.Machines, s.machines)
	}
	s.seen[canonical(p)] = true
	s.best = root
	s.points = append(s.points, root.points...)
	beam, idle := []*state{root}, 0
	for depth := 1; depth <= s.options.Depth && len(beam) > 0 && s.stopped == ""; depth++ {
		var next []*state
		for _, st := range beam {
			children, err := s.expand(st)
			next = append(next, children...)
			if err != nil {
				if !s.ends(err) {
					return err
				}
				break
			}
		}
		slices.SortStableFunc(next, func(a, b *state) int { return a.order(b) })
		beam = next[:min(len(next), s.options.Width)]
		if s.options.Exhaustive {
			beam = next
		}
		if idle++; len(next) > 0 && next[0].order(s.best) < 0 {
			s.best, idle = next[0], 0
		}
		if idle == idleMax && !s.options.Exhaustive {
			break
		}
		if s.options.Progress != nil {
			s.options.Progress(Progress{depth, s.programs, s.refused, s.best.best.Throughput})
		}
	}
	return nil
}

// order compares states by their value, then by the estimate of the undivided program, so that
// of two states with the same value the search continues from the less loaded one.
func (st *state) order(o *state) int {
	if c := st.best.better(o.best); c != 0 {
		return c
	}
	if c := st.plain.better(o.plain); c != 0 {
		return c
	}
	return cmp.Compare(len(st.steps), len(o.steps))
}

// errPrograms ends a search that has profiled the maximum number of programs.
var errPrograms = errors.New("the limit on profiled programs is reached")

// ends reports whether an error ends the search but leaves its result valid.
func (s *search) ends(err error) bool {
	switch {
	case errors.Is(err, errPrograms):
		s.stopped = fmt.Sprintf("%d programs were profiled", s.programs)
	case errors.Is(err, context.DeadlineExceeded):
		s.stopped = "the time limit was reached"
	case errors.Is(err, context.Canceled):
		s.stopped = "interrupted"
	default:
		return false
	}
	return true
}

// option is an allowed decoupling of a component.
type option struct {
	taken
	program *logic.Program
	// left is the work that remains in the component, and larger the work of its larger piece,
	// both as guess predicts them.
	left, larger float64
	at           int // its index in tried
}

// expand decouples the busiest component of a state in all ways.
func (s *search) expand(st *state) ([]*state, error) {
	st.attacked = st.best.Bottleneck
	targets := []string{st.attacked}
	if s.options.Exhaustive {
		targets = nil
		for _, c := range st.program.Components {
			if !slices.Contains(s.load.Outside, c.Of) {
				targets = append(targets, c.Name)
			}
		}
	}
	var out []*state
	for _, name := range targets {
		c := st.program.Component(name)
		if c == nil || slices.Contains(s.load.Outside, c.Of) {
			continue
		}
		for _, o := range append(s.pick(s.allowed(st, c)), s.wholes(st, c)...) {
			child, err := s.take(st, o)
			if err != nil {
				return out, err
			}
			if child != nil {
				out = append(out, child)
			}
		}
	}
	return out, nil
}

// take profiles an option. It returns nil if the resulting program fails or needs too many
// machines.
func (s *search) take(st *state, o option) (*state, error) {
	if s.programs >= s.options.Programs {
		return nil, errPrograms
	}
	child := &state{structure: structure{program: o.program, steps: append(slices.Clone(st.steps), o.taken)}, parent: st}
	if err := s.evaluate(&child.structure); err != nil {
		if s.ctx.Err() != nil {
			return nil, s.ctx.Err()
		}
		// The rewritten program must answer as the original does.
		st.tried[o.at].Allowed, st.tried[o.at].Reason = false, err.Error()
		return nil, nil
	}
	if child.plain.Machines > s.machines {
		st.tried[o.at].Reason = child.note
		return nil, nil
	}
	st.tried[o.at].Throughput = child.best.Throughput
	s.points = append(s.points, child.points...)
	return child, nil
}

// allowed returns the decouplings of a component that rewrites and certificates allow, each
// set of rules by the first kind that allows it.
func (s *search) allowed(st *state, c *logic.Component) []option {
	var out []option
	sets := cuts(st.program, c)
	if s.options.Exhaustive {
		sets = subsets(len(c.Rules))
	}
	for _, set := range sets {
		if passing(c, set) {
			continue
		}
		step := rewrite.Step{Component: c.Name, Rules: set.rules(), Name: pieceName(st.program, c, set)}
		var why []string
		for _, k := range rewrite.Kinds() {
			if k.Divides() || k.Whole() {
				continue
			}
			step.Kind = k
			q, cert, refused := apply(st.program, step)
			if refused != "" {
				why = append(why, fmt.Sprintf("%v: %s", k, refused))
				continue
			}
			why = nil
			if key := canonical(q); !s.seen[key] {
				s.seen[key] = true
				o := option{taken: taken{step, cert}, program: q, at: len(st.tried)}
				o.left, o.larger = s.guess(st, c, set)
				out = append(out, o)
				st.tried = append(st.tried, Candidate{Step: step.String(), Allowed: true})
			}
			break
		}
		if why != nil {
			s.refused++
			st.tried = append(st.tried, Candidate{Step: fmt.Sprintf("%s rules %s", c.Name, strings.Trim(fmt.Sprint(step.Rules), "[]")), Reason: strings.Join(why, "; ")})
		}
	}
	return out
}

// wholes returns the steps that move a whole component, after which more of it can be divided.
func (s *search) wholes(st *state, c *logic.Component) []option {
	var out []option
	for _, k := range rewrite.Kinds() {
		if !k.Whole() {
			continue
		}
		step := rewrite.Step{Kind: k, Component: c.Name, Name: unusedName(st.program, c.Name+"_work")}
		q, cert, refused := apply(st.program, step)
		if refused != "" {
			continue
		}
		if key := canonical(q); !s.seen[key] {
			s.seen[key] = true
			out = append(out, option{taken: taken{step, cert}, program: q, at: len(st.tried)})
			st.tried = append(st.tried, Candidate{Step: step.String(), Allowed: true})
		}
	}
	return out
}

// pick returns the most promising options: those that leave the least work, and those whose
// larger piece is smallest.
func (s *search) pick(options []option) []option {
	if s.options.Exhaustive || len(options) <= s.options.Profiled {
		return options
	}
	by := func(f func(o option) float64) []option {
		list := slices.Clone(options)
		slices.SortStableFunc(list, func(a, b option) int { return cmp.Compare(f(a), f(b)) })
		return list
	}
	left, larger := by(func(o option) float64 { return o.left }), by(func(o option) float64 { return o.larger })
	var out []option
	add := func(o option) {
		if len(out) < s.options.Profiled && !slices.ContainsFunc(out, func(p option) bool { return p.at == o.at }) {
			out = append(out, o)
		}
	}
	for i := range options { // two by left, one by larger
		add(left[i])
		if i%2 == 1 {
			add(larger[i/2])
		}
	}
	return out
}

// passing reports whether a set has only rules that rewrites added: it is useless to move
// rules that only forward facts.
func passing(c *logic.Component, set cut) bool {
	for i, r := range c.Rules {
		if set[i] && r.Origin == "" {
			return false
		}
	}
	return true
}

func subsets(n int) []cut {
	var out []cut
	if n > ExhaustiveRulesMax {
		return nil
	}
	for bits := 1; bits < 1<<n-1; bits++ {
		c := make(cut, n)
		for i := range c {
			c[i] = bits>>i&1 == 1
		}
		out = append(out, c)
	}
	return out
}
