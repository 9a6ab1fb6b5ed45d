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

// Result is what an optimization found.
type Result struct {
	// Before is the program as it was written, After what the steps make of it.
	Before  *Estimate  `json:"before"`
	After   *Estimate  `json:"after"`
	Steps   []Decision `json:"steps"`
	Points  []Point    `json:"pareto"`
	Unknown []string   `json:"unmeasuredFunctions"`
	// Programs is how many were profiled, Refused how many sets of rules no rewrite
	// allowed to move.
	Programs int `json:"programs"`
	Refused  int `json:"refused"`
	// Why is why there is no more: what is in the way in the end. Stopped is why
	// the search ended before it was through, and empty if it was.
	Why     string `json:"why"`
	Stopped string `json:"stopped,omitempty"`
	// Ties are what holds the component together that is in the way in the end, where
	// there is a Why and it is not divided.
	Ties []Tie `json:"ties,omitempty"`
	// Left is what was tried on the final program.
	Left []Candidate `json:"left"`
	// Original and Program are the programs before and after.
	Original *logic.Program `json:"-"`
	Program  *logic.Program `json:"-"`
}

// Decision is a step that was taken.
type Decision struct {
	Step string `json:"step"`
	// Attacked is the component that was in the way when the step was chosen, with
	// what its busiest machine does for a command.
	Attacked     string  `json:"attacked"`
	AttackedLoad float64 `json:"attackedLoad"`
	// Before and After are commands in a second, of the programs with the steps up to
	// this one; Machines is what the one after needs.
	Before   float64 `json:"before"`
	After    float64 `json:"after"`
	Machines int     `json:"machines"`
	// Moved, Copied, Keys and Assuming are what the certificate says, which package
	// certificate has found to hold.
	Moved    []string          `json:"moved,omitempty"`
	Copied   []string          `json:"copied,omitempty"`
	Keys     map[string]string `json:"keys,omitempty"`
	Assuming []string          `json:"assuming,omitempty"`
	// Rejected are other ways that the search looked at in the same place.
	Rejected []Candidate `json:"rejected"`
}

// Point is a program that no other one is better than in throughput, machines and
// hops together.
type Point struct {
	Throughput float64  `json:"throughput"`
	Machines   int      `json:"machines"`
	Hops       int      `json:"hops"`
	Latency    float64  `json:"latency"`
	Up         float64  `json:"up"`
	Bottleneck string   `json:"bottleneck"`
	Steps      []string `json:"steps"`
}

// Optimize finds steps that let a program do the most on a number of machines. When
// the context ends, the result is what was found so far; the error is of the program
// and its load.
func Optimize(ctx context.Context, p *logic.Program, l *Load, c *Calibration, o Options) (*Result, error) {
	s := &search{options: o.complete(), seen: map[string]bool{}}
	s.evaluator = evaluator{ctx: ctx, load: l, costs: c, machines: s.options.Machines}
	if err := s.find(p); err != nil {
		return nil, err
	}
	// The end of ctx must not cut the report of the result short.
	s.ctx = context.WithoutCancel(ctx)
	return s.result(p)
}

func (s *search) result(p *logic.Program) (*Result, error) {
	best := s.best
	r := &Result{Original: p, Program: p, Why: best.note, Stopped: s.stopped, Left: best.tried, Points: pareto(s.points)}
	steps := slices.Clone(best.steps)
	for _, d := range best.divisions {
		// Divisions that were made after the best one are none of it.
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

// exact is the estimate of a program from its own profile.
func (s *search) exact(p *logic.Program) (*Estimate, error) {
	pr, err := s.profile(p)
	if err != nil {
		return nil, err
	}
	e, _ := Measure(p, s.load, s.costs, pr)
	return e, nil
}

// decide returns the verdict of the certificate checker.
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

// PointsMax is how many points a result lists.
const PointsMax = 100

// pareto keeps the points that no other is at least as good as in everything, by
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
