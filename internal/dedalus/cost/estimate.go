// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"cmp"
	"math"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Estimate is the predicted performance of a program. All of it is modelled.
type Estimate struct {
	// Throughput is commands in a second; Bottleneck is the component of which the
	// busiest machine allows no more.
	Throughput float64 `json:"throughput"`
	Bottleneck string  `json:"bottleneck"`
	Machines   int     `json:"machines"`
	// Hops are the messages that a command and its answer need one after the other,
	// Syncs the waits for a disk among them, and Latency is the time of both, in
	// microseconds, without queues.
	Hops    int      `json:"hops"`
	Path    []string `json:"path"`
	Syncs   int      `json:"syncs"`
	Latency float64  `json:"latency"`
	// Up is the share of time in which the machines that a command needs work: those
	// of one piece of each component, and all that a partial partitioning has tied
	// together. Copies of a component do not count as spare ones.
	Up         float64         `json:"up"`
	Components []ComponentLoad `json:"components"`
	// Flows are the messages of a command; only Measure fills them in.
	Flows []Flow `json:"flows,omitempty"`
}

// ComponentLoad is the work of a component for one command.
type ComponentLoad struct {
	Name       string `json:"name"`
	Of         string `json:"of"`
	Instances  int    `json:"instances"`
	Partitions int    `json:"partitions"`
	// Busiest is the time of its busiest machine, and Total of all of them.
	Busiest Parts   `json:"busiest"`
	Total   float64 `json:"total"`
	// Hottest is the share of messages that one key has, at least.
	Hottest float64 `json:"hottest"`
	// Tied reports that a command needs all partitions of an instance.
	Tied bool `json:"tied"`
	// Outside components belong to the clients.
	Outside bool `json:"outside"`
}

// Machines is how many it runs on.
func (c *ComponentLoad) Machines() int {
	if c.Outside {
		return 0
	}
	return c.Instances * c.Partitions
}

// measure makes an estimate of a profile. The partitions of an instance are taken to
// have even shares, as far as the most frequent key allows.
func (c *Calibration) measure(p *logic.Program, l *Load, pr *Profile) *Estimate {
	e := &Estimate{Hops: len(pr.Path), Path: pr.Path, Syncs: pr.Syncs}
	at := 0
	for _, comp := range p.Components {
		load := ComponentLoad{Name: comp.Name, Of: comp.Of, Instances: comp.Instances, Partitions: comp.Partitions,
			Outside: slices.Contains(l.Outside, comp.Of)}
		for range comp.Instances {
			var instance Parts
			for range comp.Partitions {
				part := c.parts(p, l, pr, &pr.Nodes[at])
				instance.add(part, 1)
				load.Total += part.Total()
				at++
			}
			if instance.Total() > load.Busiest.Total() {
				load.Busiest = instance
			}
		}
		load.divide(comp.Partitions)
		e.Components = append(e.Components, load)
	}
	return e
}

// divide sets the number of partitions and what the busiest of them does, from what
// all of an instance do.
func (c *ComponentLoad) divide(partitions int) {
	all := c.Busiest
	c.Partitions, c.Busiest = partitions, Parts{}
	share := 1 / float64(partitions)
	if partitions > 1 {
		share = max(share, c.Hottest)
	}
	c.Busiest.add(all, share)
}

// instance is what all partitions of the busiest instance do.
func (c *ComponentLoad) instance() Parts {
	share := 1 / float64(c.Partitions)
	if c.Partitions > 1 {
		share = max(share, c.Hottest)
	}
	var out Parts
	out.add(c.Busiest, 1/share)
	return out
}

// sum fills in what follows from the components.
func (e *Estimate) sum(c *Calibration) {
	e.Machines, e.Bottleneck, e.Throughput, e.Up = 0, "", math.MaxFloat64, 1
	busiest := 0.0
	for i := range e.Components {
		load := &e.Components[i]
		e.Machines += load.Machines()
		if load.Outside || load.Total == 0 {
			continue
		}
		tied := 1
		if load.Tied {
			tied = load.Partitions
		}
		e.Up *= math.Pow(c.Up, float64(load.Instances*tied))
		if t := load.Busiest.Total(); t > busiest {
			busiest, e.Bottleneck = t, load.Name
		}
	}
	if busiest > 0 {
		e.Throughput = c.Cores * 1e6 / busiest
	}
	e.Latency = c.Hop*float64(e.Hops) + c.Sync*float64(e.Syncs)
}

// Measure is the estimate of a program as it is. Unknown are functions of which
// neither load nor calibration says what they cost.
func Measure(p *logic.Program, l *Load, c *Calibration, pr *Profile) (e *Estimate, unknown []string) {
	e = c.measure(p, l, pr)
	e.sum(c)
	e.Flows = flows(p, pr)
	return e, c.unknownFunctions(p, l)
}

// component finds a load by name.
func (e *Estimate) component(name string) *ComponentLoad {
	i := slices.IndexFunc(e.Components, func(c ComponentLoad) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &e.Components[i]
}

// clone copies what sum and divide change.
func (e *Estimate) clone() *Estimate {
	f := *e
	f.Components = slices.Clone(e.Components)
	return &f
}

// better orders estimates: more throughput, as far as machines are up, then less work
// on the busiest machines, then fewer machines and fewer hops. It is negative if e is
// better.
func (e *Estimate) better(f *Estimate) int {
	if a, b := e.Throughput*e.Up, f.Throughput*f.Up; math.Abs(a-b) > 1e-3*max(a, b) {
		return cmp.Compare(b, a)
	}
	if c := cmp.Compare(e.Machines, f.Machines); c != 0 {
		return c
	}
	return cmp.Compare(e.Hops, f.Hops)
}
