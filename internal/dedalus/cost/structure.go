// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// taken is a step with its certificate.
type taken struct {
	step rewrite.Step
	cert *rewrite.Certificate
}

// apply applies a step and checks its certificate. It returns the reason if the step is
// refused, or else "".
func apply(p *logic.Program, s rewrite.Step) (*logic.Program, *rewrite.Certificate, string) {
	q, cert, err := rewrite.Apply(p, s)
	if err != nil {
		return nil, nil, reason(err)
	}
	if err := certificate.Check(p, q, cert.Claim(p)); err != nil {
		return nil, nil, "the certificate is refused: " + err.Error()
	}
	return q, cert, ""
}

// reason returns the first reason why a step is refused.
func reason(err error) string {
	var r *rewrite.Refusal
	if errors.As(err, &r) && len(r.Verdict.Because) > 0 {
		return r.Verdict.Because[0].String()
	}
	return err.Error()
}

// structure is a program after decouplings, with the effect of dividing its components.
type structure struct {
	steps   []taken
	program *logic.Program
	// whole is the profile of the undivided program, and plain its estimate.
	whole *Profile
	plain *Estimate
	// best is the best estimate within the budget, with the components divided as divisions
	// states.
	best      *Estimate
	divisions []division
	// refused has the components that cannot be divided, with the reason.
	refused map[string]string
	// points are the estimates on the way to best.
	points []Point
	// note states why the dividing ended.
	note string
}

// division is a component that is divided.
type division struct {
	step    rewrite.Step
	hottest float64
	tied    bool
	count   int
}

// evaluator profiles structures.
type evaluator struct {
	ctx      context.Context
	load     *Load
	costs    *Calibration
	machines int
	programs int
}

// profile runs a program and counts the run.
func (v *evaluator) profile(p *logic.Program) (*Profile, error) {
	v.programs++
	return Run(v.ctx, p, v.load)
}

// evaluate profiles a structure and divides its components, the busiest first, as long as
// there are machines and it helps.
func (v *evaluator) evaluate(s *structure) error {
	var err error
	if s.whole, err = v.profile(s.program); err != nil {
		return err
	}
	s.plain = v.costs.measure(s.program, v.load, s.whole)
	s.plain.sum(v.costs)
	s.best, s.refused = s.plain, map[string]string{}
	if s.plain.Machines > v.machines {
		s.note = fmt.Sprintf("the program needs %d machines", s.plain.Machines)
		return nil
	}
	s.point(s.plain)
	current, grows := s.plain.clone(), map[string]Parts{}
	for {
		load := current.component(current.Bottleneck)
		if load == nil {
			return nil
		}
		i := slices.IndexFunc(s.divisions, func(d division) bool { return d.step.Component == load.Name })
		if i < 0 {
			ok, err := v.activate(s, current, load.Name)
			if err != nil {
				return err
			}
			if !ok {
				s.note = fmt.Sprintf("%s is the bottleneck and cannot be divided: %s", load.Name, s.refused[load.Name])
				return nil
			}
			if current, grows, err = v.divided(s); err != nil {
				return err
			}
		} else if !s.more(current, i, grows) {
			s.note = fmt.Sprintf("dividing %s further does not help: its most frequent key has %.0f%% of its messages", load.Name, 100*load.Hottest)
			return nil
		}
		current.sum(v.costs)
		if current.Machines > v.machines {
			s.note = fmt.Sprintf("dividing %s further needs more than %d machines", load.Name, v.machines)
			return nil
		}
		s.point(current)
		if current.better(s.best) < 0 {
			s.best = current.clone()
		}
	}
}

// PartitionsMax is the maximum number of partitions of a component.
const PartitionsMax = 256

// more adds a partition to the bottleneck, and reports whether that helps.
func (s *structure) more(e *Estimate, i int, grows map[string]Parts) bool {
	d := &s.divisions[i]
	load := e.component(d.step.Component)
	if d.count >= PartitionsMax || float64(d.count)*load.Hottest >= 1 {
		return false
	}
	before := load.Busiest.Total()
	d.count++
	// Add the work that grows with the number of parts, in the component itself and in
	// components that send to all its parts.
	for k := range e.Components {
		c := &e.Components[k]
		all := c.instance()
		if d.tied {
			all.add(grows[c.Name], 1)
		}
		c.Busiest = all
		n := c.Partitions
		if c == load {
			n = d.count
		}
		c.divide(n)
	}
	return load.Busiest.Total() < before
}

// activate finds a way to divide a component.
func (v *evaluator) activate(s *structure, e *Estimate, name string) (bool, error) {
	if why, ok := s.refused[name]; ok {
		return false, errors.New(why)
	}
	p, err := s.build()
	if err != nil {
		return false, err
	}
	c := p.Component(name)
	if c == nil {
		s.refused[name] = "the division of another component created it"
		return false, nil
	}
	best, why := v.divide(p, c, s.whole)
	if best == nil {
		s.refused[name] = why
		return false, nil
	}
	s.divisions = append(s.divisions, *best)
	return true, nil
}

// divide finds the division of a component in which the most frequent key has the smallest
// share. It takes the first kind of rewrite that allows one.
func (v *evaluator) divide(p *logic.Program, c *logic.Component, pr *Profile) (*division, string) {
	var why []string
	for _, k := range rewrite.Kinds() {
		if !k.Divides() {
			continue
		}
		var best *division
		tries := []map[string]string{nil}
		for _, rel := range p.In(c) {
			for _, col := range rel.Columns {
				tries = append(tries, map[string]string{rel.Name: col.Name})
			}
		}
		for i, by := range tries {
			step := rewrite.Step{Kind: k, Component: c.Name, By: by, Partitions: 2}
			_, cert, refused := apply(p, step)
			if refused != "" {
				if i == 0 {
					why = append(why, fmt.Sprintf("%v: %s", k, refused))
					break
				}
				continue
			}
			d := &division{step: step, hottest: hottest(pr, c.Name, cert), tied: k != rewrite.Partition, count: 2}
			if best == nil || d.hottest < best.hottest-1e-9 {
				best = d
			}
		}
		if best != nil && best.hottest < 1 {
			return best, ""
		}
		if best != nil {
			why = append(why, fmt.Sprintf("%v: all messages have one key", k))
		}
	}
	return nil, strings.Join(why, "; ")
}

// hottest returns the share of the most frequent key in the divided messages of a component.
func hottest(pr *Profile, component string, cert *rewrite.Certificate) float64 {
	sum, all := 0.0, 0.0
	for i := range pr.Nodes {
		if pr.Nodes[i].Component != component {
			continue
		}
		for rel, a := range pr.Nodes[i].arrived {
			if k, ok := cert.Keys[rel.Name]; ok && a.rows > 0 {
				sum += math.Round(a.hottest(k.Column) * float64(a.rows))
				all += float64(a.rows)
			}
		}
	}
	if all == 0 {
		return 1
	}
	return sum / all
}

// build applies the divisions to the program, with their numbers of parts.
func (s *structure) build() (*logic.Program, error) {
	p, _, err := s.divide(nil)
	return p, err
}

// divide applies the divisions, each with its own number of parts or all with the given one.
func (s *structure) divide(all *int) (*logic.Program, []taken, error) {
	p, steps := s.program, []taken(nil)
	for _, d := range s.divisions {
		step := d.step
		step.Partitions = d.count
		if all != nil {
			step.Partitions = *all
		}
		q, cert, refused := apply(p, step)
		if refused != "" {
			return nil, nil, fmt.Errorf("%v: %s", step, refused)
		}
		p, steps = q, append(steps, taken{step, cert})
	}
	return p, steps, nil
}

// divided returns the estimate with all divisions, and the work that each further part adds
// to the components.
func (v *evaluator) divided(s *structure) (*Estimate, map[string]Parts, error) {
	measure := func(n int) (*Estimate, error) {
		p, _, err := s.divide(&n)
		if err != nil {
			return nil, err
		}
		pr, err := v.profile(p)
		if err != nil {
			return nil, err
		}
		e := v.costs.measure(p, v.load, pr)
		for i := range e.Components {
			c := &e.Components[i]
			for _, d := range s.divisions {
				if d.step.Component == c.Name {
					all := c.instance()
					c.Hottest, c.Tied = d.hottest, d.tied
					c.Busiest = all
					c.divide(n)
				}
			}
		}
		return e, nil
	}
	two, err := measure(2)
	if err != nil {
		return nil, nil, err
	}
	grows := map[string]Parts{}
	if slices.ContainsFunc(s.divisions, func(d division) bool { return d.tied }) {
		three, err := measure(3)
		if err != nil {
			return nil, nil, err
		}
		for i := range two.Components {
			a, b := two.Components[i].instance(), three.Components[i].instance()
			b.add(a, -1)
			grows[two.Components[i].Name] = Parts{max(0, b.Receive), max(0, b.Send), max(0, b.Derive), max(0, b.Functions), max(0, b.Log)}
		}
	}
	// Restore the numbers of parts found so far.
	for _, d := range s.divisions {
		c := two.component(d.step.Component)
		if c == nil {
			return nil, nil, fmt.Errorf("%s is gone", d.step.Component)
		}
		all := c.instance()
		all.add(grows[c.Name], float64(d.count-2))
		c.Busiest = all
		c.divide(d.count)
	}
	return two, grows, nil
}

// point adds an estimate to the points.
func (s *structure) point(e *Estimate) {
	pt := Point{Throughput: e.Throughput, Machines: e.Machines, Hops: e.Hops, Latency: e.Latency, Up: e.Up, Bottleneck: e.Bottleneck}
	for _, t := range s.steps {
		pt.Steps = append(pt.Steps, t.step.String())
	}
	for _, d := range s.divisions {
		step := d.step
		step.Partitions = d.count
		pt.Steps = append(pt.Steps, step.String())
	}
	s.points = append(s.points, pt)
}
