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

// The search is a beam over sequences of decouplings. A state is a program that was
// taken apart so far; its worth is what it does when its components are divided within
// the budget. From each state the component in the way of more is taken apart in every
// way that a cut and a rewrite allow; those that are likely to take most from it are
// profiled, and the best go on. Programs that were reached before are not profiled
// again.

// Options of a search. The zero value is the default.
type Options struct {
	// Machines is the budget; default 20.
	Machines int
	// Width is how many states go on at each depth (default 4), Profiled how many ways
	// to take one of them apart are profiled (default 10), Depth how many decouplings
	// there are at most (default 10).
	Width, Profiled, Depth int
	// Programs is how many programs are profiled at most; default 2000.
	Programs int
	// Exhaustive tries every set of rules of every component, and profiles all that is
	// allowed. It is for programs of a few rules, to compare with.
	Exhaustive bool
	// Progress is called for each state that is expanded.
	Progress func(Progress)
}

// ExhaustiveRulesMax is how many rules a component may have in an exhaustive search.
const ExhaustiveRulesMax = 10

// Progress is where a search is.
type Progress struct {
	Depth, Programs, Refused int
	// Best is the greatest throughput so far.
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

// Candidate is a way to go on that a search looked at.
type Candidate struct {
	Step string `json:"step"`
	// Allowed reports that a rewrite and its certificate allow it; if not, Reason says
	// what is in the way.
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason,omitempty"`
	// Throughput is what it allows within the budget, 0 if that was not profiled.
	Throughput float64 `json:"throughput,omitempty"`
}

// idleMax is for how many depths a search goes on without finding anything better.
const idleMax = 3

// state is a structure with what was tried on it.
type state struct {
	structure
	parent *state
	// attacked is the component that its children take apart, and tried what was.
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

// order compares states by their worth, then by how much their program does as it is,
// so that of two that are worth the same the one with less in the way goes on.
func (st *state) order(o *state) int {
	if c := st.best.better(o.best); c != 0 {
		return c
	}
	if c := st.plain.better(o.plain); c != 0 {
		return c
	}
	return cmp.Compare(len(st.steps), len(o.steps))
}

// errPrograms ends a search that has profiled all that it may.
var errPrograms = errors.New("the limit on profiled programs is reached")

// ends reports whether an error ends the search, which has a result all the same.
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

// option is an allowed way to take a component apart.
type option struct {
	taken
	program *logic.Program
	// left is what is left of the component's work, and larger that of its larger
	// piece, by a guess from what each rule did.
	left, larger float64
	at           int // its place among what was tried
}

// expand takes the busiest component of a state apart in all ways.
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

// take profiles a way to go on. It is nil if the program that results cannot be.
func (s *search) take(st *state, o option) (*state, error) {
	if s.programs >= s.options.Programs {
		return nil, errPrograms
	}
	child := &state{structure: structure{program: o.program, steps: append(slices.Clone(st.steps), o.taken)}, parent: st}
	if err := s.evaluate(&child.structure); err != nil {
		if s.ctx.Err() != nil {
			return nil, s.ctx.Err()
		}
		// What a rewrite made must do what the program did.
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

// allowed are the ways to take a component apart that rewrites and certificates
// allow, each set of rules by the first kind that does.
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

// wholes are the ways to move a component as it is, by which more of it can be divided.
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

// pick are those that are likely to be best: that leave least, and whose larger piece
// is smallest.
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
	for i := range options { // two of the first order, one of the second
		add(left[i])
		if i%2 == 1 {
			add(larger[i/2])
		}
	}
	return out
}

// passing reports whether a set has only rules that rewrites have made: passing
// on again what a rewrite already passes on is useless.
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
