// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"math"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// The kinds of work that rules do, in the order of Calibration.rules.
const (
	firingWork = iota
	keepWork
	groupWork
	joinWork
	tickWork
	works
)

// work returns how much work of each kind a node did.
func work(p *logic.Program, n *Node) [works]float64 {
	var out [works]float64
	out[tickWork] = float64(n.Ticks)
	c := p.Component(n.Component)
	kept := map[*logic.Relation]bool{}
	for _, r := range c.Rules {
		if _, ok := r.Persistence(); ok && r.Kind == logic.Next {
			kept[r.Head.Relation] = true
		}
	}
	for i, r := range c.Rules {
		k := float64(n.Firings[i])
		out[firingWork] += k
		if local(r) && kept[r.Head.Relation] {
			out[keepWork] += k
		}
		if r.Head.Aggregates() {
			out[groupWork] += k
		}
		literals := 0
		for _, l := range r.Body {
			if l.Positive() && l.Atom.Relation.Kind != logic.Static {
				literals++
			}
		}
		if literals > 1 {
			out[joinWork] += k
		}
	}
	return out
}

// rules returns the cost of each kind of work.
func (c *Calibration) rules() [works]float64 {
	return [works]float64{c.Firing, c.Keep, c.Group, c.Join, c.Tick}
}

// Compiled is the measured time of a program's compiled components, without connections.
type Compiled struct {
	Program *logic.Program
	// Profile is a profile with as many commands in progress as in the measurement. Micros is
	// the time of each node for a command.
	Profile *Profile
	Micros  map[string]float64
}

// RuleError compares a prediction from the costs of rules with the measured time of a node.
type RuleError struct {
	Program, Node       string
	Measured, Predicted float64
}

// ruleSample is a node's work and time for a command.
type ruleSample struct {
	RuleError
	work  [works]float64
	calls float64
}

func (c *Calibration) sample(r Compiled) []ruleSample {
	var out []ruleSample
	for i := range r.Profile.Nodes {
		n := &r.Profile.Nodes[i]
		s := ruleSample{RuleError: RuleError{Program: r.Program.Name, Node: n.Node, Measured: r.Micros[n.Node]}, work: work(r.Program, n)}
		for k := range s.work {
			s.work[k] /= float64(r.Profile.Commands)
		}
		for name, k := range n.Calls {
			f := r.Program.Function(name)
			s.calls += c.Functions[f.Import+"."+f.Symbol] * float64(k) / float64(r.Profile.Commands)
		}
		if s.work[firingWork] > 0 && s.Measured > 0 {
			out = append(out, s)
		}
	}
	return out
}

// FitRules finds the costs of the kinds of work that minimize the relative errors. Where the
// runs leave a choice, the costs are close to the calibration, which must have the costs of
// functions already. It returns the remaining errors.
func (c *Calibration) FitRules(runs []Compiled) (*Calibration, []RuleError) {
	var all []ruleSample
	for _, r := range runs {
		all = append(all, c.sample(r)...)
	}
	d, start := *c, c.rules()
	x := start
	for range 5000 {
		for k := range x {
			num, den := 0.0, 0.0
			for _, s := range all {
				rest := s.Measured - s.calls
				for j := range x {
					if j != k {
						rest -= x[j] * s.work[j]
					}
				}
				w := s.work[k] / s.Measured
				num += w * rest / s.Measured
				den += w * w
			}
			if den > 0 { // the pull is relative: equally strong for each cost
				x[k] = max(0, (num+fitPull*den*start[k])/(den+fitPull*den))
			}
		}
	}
	d.Firing, d.Keep, d.Group, d.Join, d.Tick = x[firingWork], x[keepWork], x[groupWork], x[joinWork], x[tickWork]
	var errs []RuleError
	for _, s := range all {
		s.Predicted = s.calls
		for k := range x {
			s.Predicted += x[k] * s.work[k]
		}
		errs = append(errs, s.RuleError)
	}
	slices.SortStableFunc(errs, func(a, b RuleError) int { return int(math.Copysign(1, b.off()-a.off())) })
	return &d, errs
}

// off returns the size of the error, as a share of the measurement.
func (e RuleError) off() float64 { return math.Abs(e.Predicted-e.Measured) / e.Measured }
