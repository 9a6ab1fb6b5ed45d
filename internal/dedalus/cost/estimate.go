// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"cmp"
	"math"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Estimate is the predicted performance of a program. All numbers come from the model.
type Estimate struct {
	// Throughput is in commands per second. Bottleneck is the component whose busiest machine
	// limits it.
	Throughput float64 `json:"throughput"`
	Bottleneck string  `json:"bottleneck"`
	Machines   int     `json:"machines"`
	// Hops is the number of messages in sequence from a command to its answer, Syncs the number
	// of waits for a disk among them, and Latency the time of both, in microseconds, without
	// queues.
	Hops    int      `json:"hops"`
	Path    []string `json:"path"`
	Syncs   int      `json:"syncs"`
	Latency float64  `json:"latency"`
	// Up is the share of time in which all machines that a command needs are up: those of one
	// piece of each component, and all pieces that a partial partitioning ties together. The
	// model does not use copies of a component as spares.
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
	// Busiest is the time of the busiest machine, and Total that of all machines.
	Busiest Parts   `json:"busiest"`
	Total   float64 `json:"total"`
	// Hottest is the share of messages that have the most frequent key, at least.
	Hottest float64 `json:"hottest"`
	// Tied reports that a command needs all partitions of an instance.
	Tied bool `json:"tied"`
	// Outside reports that the component belongs to the clients.
	Outside bool `json:"outside"`
}

// Machines returns the number of machines of the component.
func (c *ComponentLoad) Machines() int {
	if c.Outside {
		return 0
	}
	return c.Instances * c.Partitions
}

// measure makes an estimate from a profile. It assumes that the partitions of an instance have
// even shares, as far as the most frequent key allows.
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

// divide sets the number of partitions. It computes the work of the busiest partition from the
// work of the whole instance, which is in Busiest.
func (c *ComponentLoad) divide(partitions int) {
	all := c.Busiest
	c.Partitions, c.Busiest = partitions, Parts{}
	share := 1 / float64(partitions)
	if partitions > 1 {
		share = max(share, c.Hottest)
	}
	c.Busiest.add(all, share)
}

// instance returns the work of all partitions of the busiest instance.
func (c *ComponentLoad) instance() Parts {
	share := 1 / float64(c.Partitions)
	if c.Partitions > 1 {
		share = max(share, c.Hottest)
	}
	var out Parts
	out.add(c.Busiest, 1/share)
	return out
}

// sum computes the totals from the components.
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

// Measure estimates a program from its profile. It also returns the functions whose cost
// neither the load nor the calibration states.
func Measure(p *logic.Program, l *Load, c *Calibration, pr *Profile) (e *Estimate, unknown []string) {
	e = c.measure(p, l, pr)
	e.sum(c)
	e.Flows = flows(p, pr)
	return e, c.unknownFunctions(p, l)
}

// component returns the load of a component, or nil.
func (e *Estimate) component(name string) *ComponentLoad {
	i := slices.IndexFunc(e.Components, func(c ComponentLoad) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &e.Components[i]
}

// clone copies the parts of the estimate that sum and divide change.
func (e *Estimate) clone() *Estimate {
	f := *e
	f.Components = slices.Clone(e.Components)
	return &f
}

// better orders estimates by throughput times the share of time in which the machines are up,
// then by fewer machines, then by fewer hops. It is negative if e is better.
func (e *Estimate) better(f *Estimate) int {
	if a, b := e.Throughput*e.Up, f.Throughput*f.Up; math.Abs(a-b) > 1e-3*max(a, b) {
		return cmp.Compare(b, a)
	}
	if c := cmp.Compare(e.Machines, f.Machines); c != 0 {
		return c
	}
	return cmp.Compare(e.Hops, f.Hops)
}
