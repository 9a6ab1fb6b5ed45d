// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// Result is the result of an optimization.
type Result struct {
	// Before is the estimate of the original program, After that of the program after all steps.
	Before  *Estimate  `json:"before"`
	After   *Estimate  `json:"after"`
	Steps   []Decision `json:"steps"`
	Points  []Point    `json:"pareto"`
	Unknown []string   `json:"unmeasuredFunctions"`
	// Programs is the number of profiled programs. Refused is the number of sets of rules that
	// no rewrite allowed to move.
	Programs int `json:"programs"`
	Refused  int `json:"refused"`
	// Why states what prevents a higher throughput. Stopped states why the search ended early,
	// and is empty if it did not.
	Why     string `json:"why"`
	Stopped string `json:"stopped,omitempty"`
	// Ties are the relations that hold the final bottleneck together, if there is a Why and the
	// bottleneck is not divided.
	Ties []Tie `json:"ties,omitempty"`
	// Left lists what the search tried on the final program.
	Left []Candidate `json:"left"`
	// Original and Program are the programs before and after.
	Original *logic.Program `json:"-"`
	Program  *logic.Program `json:"-"`
}

// Decision is a step that was taken.
type Decision struct {
	Step string `json:"step"`
	// Attacked is the bottleneck when the step was chosen, and AttackedLoad the work of its
	// busiest machine for a command.
	Attacked     string  `json:"attacked"`
	AttackedLoad float64 `json:"attackedLoad"`
	// Before and After are commands per second, before and after this step. Machines is the
	// number of machines after it.
	Before   float64 `json:"before"`
	After    float64 `json:"after"`
	Machines int     `json:"machines"`
	// Moved, Copied, Keys and Assuming come from the certificate, which package certificate has
	// checked.
	Moved    []string          `json:"moved,omitempty"`
	Copied   []string          `json:"copied,omitempty"`
	Keys     map[string]string `json:"keys,omitempty"`
	Assuming []string          `json:"assuming,omitempty"`
	// Rejected are the other steps that the search considered instead.
	Rejected []Candidate `json:"rejected"`
}

// Point is a program such that no other is at least as good in throughput, machines and hops.
type Point struct {
	Throughput float64  `json:"throughput"`
	Machines   int      `json:"machines"`
	Hops       int      `json:"hops"`
	Latency    float64  `json:"latency"`
	Up         float64  `json:"up"`
	Bottleneck string   `json:"bottleneck"`
	Steps      []string `json:"steps"`
}

// Optimize finds the steps that give a program the highest throughput on a number of machines.
// If the context ends, the result is the best one so far. An error is about the program or
// its load.
func Optimize(ctx context.Context, p *logic.Program, l *Load, c *Calibration, o Options) (*Result, error) {
	s := &search{options: o.complete(), seen: map[string]bool{}}
	s.evaluator = evaluator{ctx: ctx, load: l, costs: c, machines: s.options.Machines}
	if err := s.find(p); err != nil {
		return nil, err
	}
	// The end of ctx must not truncate the result.
	s.ctx = context.WithoutCancel(ctx)
	return s.result(p)
}

func (s *search) result(p *logic.Program) (*Result, error) {
	best := s.best
	r := &Result{Original: p, Program: p, Why: best.note, Stopped: s.stopped, Left: best.tried, Points: pareto(s.points)}
	steps := slices.Clone(best.steps)
	for _, d := range best.divisions {
		// Omit divisions that were made after the best estimate.
		if c := best.best.component(d.step.Component); c != nil && c.Partitions > 1 {
			d.step.Partitions = c.Partitions
			steps = append(steps, taken{step: d.step})
		}
	}
	var path []*state
	for st := best; st != nil; st = st.parent {
		path = append(path, st)
	}
	slices.Reverse(path)
	before, err := s.exact(p)
	if err != nil {
		return nil, err
	}
	r.Before, r.After = before, before
	_, r.Unknown = Measure(p, s.load, s.costs, path[0].whole)
	for i, t := range steps {
		q, cert, refused := apply(r.Program, t.step)
		if refused != "" {
			return nil, fmt.Errorf("%v: %s", t.step, refused)
		}
		after, err := s.exact(q)
		if err != nil {
			return nil, err
		}
		d := decide(r.Program, cert)
		d.Attacked, d.AttackedLoad = r.After.Bottleneck, r.After.component(r.After.Bottleneck).Busiest.Total()
		d.Before, d.After, d.Machines = r.After.Throughput, after.Throughput, after.Machines
		if i < len(path)-1 {
			if at := path[i].best.component(path[i].attacked); at != nil {
				d.Attacked, d.AttackedLoad = at.Name, at.Busiest.Total()
			}
			d.Rejected = slices.DeleteFunc(slices.Clone(path[i].tried), func(c Candidate) bool { return c.Step == d.Step })
		}
		r.Steps = append(r.Steps, d)
		r.Program, r.After = q, after
	}
	for i := range r.After.Components {
		c := &r.After.Components[i]
		if b := best.best.component(c.Name); b != nil {
			c.Hottest, c.Tied = b.Hottest, b.Tied
		}
	}
	r.After.sum(s.costs)
	if r.Why != "" {
		r.Ties = ties(r.Program, r.After.Bottleneck)
	}
	r.Programs, r.Refused = s.programs, s.refused
	return r, nil
}

// exact estimates a program from its own profile.
func (s *search) exact(p *logic.Program) (*Estimate, error) {
	pr, err := s.profile(p)
	if err != nil {
		return nil, err
	}
	e, _ := Measure(p, s.load, s.costs, pr)
	return e, nil
}

// decide describes a step by its certificate.
func decide(p *logic.Program, cert *rewrite.Certificate) Decision {
	d := Decision{Step: cert.Step.String(), Moved: cert.Moved, Copied: cert.Copied}
	for name, k := range cert.Keys {
		rel := p.Find(name)
		if rel == nil {
			continue
		}
		if d.Keys == nil {
			d.Keys = map[string]string{}
		}
		d.Keys[name] = k.Name(rel)
	}
	for _, a := range cert.Assuming {
		d.Assuming = append(d.Assuming, a.String())
	}
	return d
}

// PointsMax is the maximum number of points of a result.
const PointsMax = 100

// pareto returns the points such that no other is at least as good in everything, ordered by
// machines.
func pareto(points []Point) []Point {
	slices.SortStableFunc(points, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.Machines, b.Machines), cmp.Compare(b.Throughput, a.Throughput), cmp.Compare(a.Hops, b.Hops),
			cmp.Compare(len(a.Steps), len(b.Steps)), strings.Compare(fmt.Sprint(a.Steps), fmt.Sprint(b.Steps)))
	})
	var out []Point
	for _, p := range points {
		worse := slices.ContainsFunc(out, func(q Point) bool {
			return q.Machines <= p.Machines && q.Throughput >= p.Throughput*(1-1e-9) && q.Hops <= p.Hops
		})
		if !worse && len(out) < PointsMax {
			out = append(out, p)
		}
	}
	return out
}
