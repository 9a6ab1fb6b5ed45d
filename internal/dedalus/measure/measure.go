// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/host"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/deploy"
	"github.com/ashlar-dev/ashlar/internal/dedalus/loadgen"
	"github.com/ashlar-dev/ashlar/sim"
)

// Machines are what nodes and links cost.
type Machines struct {
	// Hop is the time of a message from one machine to another, without its bytes.
	Hop time.Duration `json:"hop"`
	// Bandwidth is what a machine sends, in bits a second.
	Bandwidth int64 `json:"bandwidth"`
	// Sync is the time in which a disk makes something durable.
	Sync time.Duration `json:"sync"`
	// Write and Read are system calls on a connection, and PerKB what 1,024 bytes add.
	Write time.Duration `json:"write"`
	Read  time.Duration `json:"read"`
	PerKB time.Duration `json:"perKB"`
}

// Paper is the network of the paper's measurements, with a ping of 0.22 ms and 10 Gb/s, and
// the disk of cost.DefaultCalibration. System calls are not in it.
func Paper() Machines {
	return Machines{Hop: 110 * time.Microsecond, Bandwidth: 10e9, Sync: 450 * time.Microsecond}
}

// Task is a program and what is asked of it.
type Task struct {
	Deployment *deploy.Description
	Sends      []loadgen.Send
	Waits      []loadgen.Wait
	// Settle is how long the program has before the first command.
	Settle time.Duration
	// UnderWay are numbers of commands under way at once, a Point for each; Commands is
	// how many count, and five for each client at least, after half as many that do not.
	UnderWay []int
	Commands int
	// Outside are components whose work takes no time, as that of clients.
	Outside  []string
	Machines Machines
}

// Point is what was measured with a number of commands under way.
type Point struct {
	UnderWay  int     `json:"underWay"`
	Commands  int64   `json:"commands"`
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"perSecond"`
	// Latency is in microseconds. Resent are commands that were asked for once more.
	Latency loadgen.Quantiles `json:"latencyMicros"`
	Resent  int64             `json:"resent,omitempty"`
	// Busiest is the node that had least time to spare.
	Busiest string `json:"busiest"`
	Nodes   []Node `json:"nodes"`
}

// Node is what a node did, in microseconds for a command.
type Node struct {
	Node      string `json:"node"`
	Component string `json:"component"`
	// CPU is processor time: of its code, and of system calls on connections.
	CPU   float64 `json:"cpu"`
	Calls float64 `json:"calls"`
	// Disk is the time in which it waited for its disk.
	Disk float64 `json:"disk"`
	// Busy is the share of the time in which it computed or waited for its disk.
	Busy float64 `json:"busy"`
	// Reads, Writes and Ticks are how often it did that for a command.
	Reads  float64 `json:"reads"`
	Writes float64 `json:"writes"`
	Ticks  float64 `json:"ticks"`
}

// Node returns the node of that name, or nil.
func (p *Point) Node(name string) *Node {
	i := slices.IndexFunc(p.Nodes, func(n Node) bool { return n.Node == name })
	if i < 0 {
		return nil
	}
	return &p.Nodes[i]
}

// Limits of a measurement.
const (
	// within is how long commands may take until all that count are answered.
	within = 10 * time.Minute
	// retry is after how long clients ask again.
	retry = 2 * time.Second
	// rounds is how many commands each client has at least that count.
	rounds = 5
)

// clients is the name of the node that all clients are.
const clients = "client"

// Measure runs the program until enough commands are answered. Spent is the processor
// time that the thread has used, and look what a call of it adds to that. The error says
// what was not answered, or that a node has ended.
func Measure(p *rt.Program, t *Task, underWay int, spent func() time.Duration, look time.Duration) (*Point, error) {
	m := &t.Machines
	w, err := sim.New(sim.Options{Seed: 1, LatencyMin: m.Hop, LatencyMax: m.Hop, StepMax: 1, DiskCapacity: math.MaxInt64, EventsMax: math.MaxUint64,
		Hardware: &sim.Hardware{Spent: spent, Look: look, Write: m.Write, Read: m.Read, KB: m.PerKB, Bandwidth: m.Bandwidth / 8, Sync: m.Sync, Ideal: t.ideal()}})
	if err != nil {
		return nil, err
	}
	r := &run{w: w, program: p, task: t, addrs: map[string]env.Addr{}, hosts: map[string]*host.Host{}, nodes: map[string]*sim.Node{}}
	r.start()
	if err := w.Run(t.Settle); err != nil {
		return nil, err
	}
	w.Node(clients, func(l *sim.Life) error { return r.clients(l, underWay) })
	return r.count(underWay)
}

// ideal is the machines whose work takes no time.
func (t *Task) ideal() []string {
	out := []string{clients}
	for i := range t.Deployment.Processes {
		if q := &t.Deployment.Processes[i]; slices.Contains(t.Outside, t.Deployment.Component(q.Component).Of) {
			out = append(out, machine(q.Node))
		}
	}
	return out
}

// machine is the name of a node's machine.
func machine(node string) string { return strings.ReplaceAll(node, "/", "-") }

// run is a measurement under way.
type run struct {
	w       *sim.World
	program *rt.Program
	task    *Task
	addrs   map[string]env.Addr
	hosts   map[string]*host.Host
	nodes   map[string]*sim.Node
	load    *loadgen.Generator
	answers int // outputs that were waited for
	over    bool
}

// start starts a machine for each instance.
func (r *run) start() {
	d := r.task.Deployment
	for i := range d.Processes {
		r.addrs[d.Processes[i].Node] = env.Addr(machine(d.Processes[i].Node) + ":1")
	}
	for i := range d.Processes {
		q := &d.Processes[i]
		r.nodes[q.Node] = r.w.Node(machine(q.Node), func(l *sim.Life) error { return r.boot(l, q) })
	}
}

// boot starts an instance, as package cmd/dedalusd does.
func (r *run) boot(l *sim.Life, q *deploy.Process) error {
	d := r.task.Deployment
	component := slices.IndexFunc(r.program.Components, func(c rt.ComponentType) bool { return c.Name == q.Component })
	if component < 0 {
		return fmt.Errorf("the program has no component %s", q.Component)
	}
	o := host.Options{Env: l.Env, Tasks: l, Program: r.program, Component: component, Who: rt.Identity{Node: q.Node, Self: q.Self},
		Listen: r.addrs[q.Node], Peers: r.addrs, Pieces: d.Pieces(q), Key: []byte("a key of the deployment"),
		Fatal: func(err error) { r.w.Fail("host", err) }}
	if d.Component(q.Component).Carries && len(o.Pieces) > 0 {
		o.Incarnation = 1
	}
	if r.program.Components[component].Durable {
		o.Dir = "log"
		if err := host.Format(l.Env, o.Dir, r.program, q.Node); err != nil {
			return err
		}
	}
	h, err := host.Open(o)
	r.hosts[q.Node] = h
	return err
}

// clients connects the clients, which begin at once.
func (r *run) clients(l *sim.Life, underWay int) error {
	o := loadgen.Options{Env: l.Env, Program: r.program, Name: clients, Nodes: map[string]env.Addr{}, Sends: r.task.Sends, Waits: r.task.Waits,
		Clients: underWay, Retry: retry,
		Answer: func(uint64, int, []rt.Value) error { r.answers++; return nil },
		Idle:   func() { r.over = true }}
	d := r.task.Deployment
	for i := range d.Processes {
		if c := d.Component(d.Processes[i].Component); len(c.Inputs) > 0 || len(c.Outputs) > 0 {
			o.Nodes[d.Processes[i].Node] = r.addrs[d.Processes[i].Node]
		}
	}
	var err error
	r.load, err = loadgen.Open(o)
	if err == nil {
		l.Env.Clock.After(time.Millisecond, env.WakeFunc(r.load.Begin))
	}
	return err
}

// until runs until as many commands are answered.
func (r *run) until(commands int) error {
	err := r.w.RunUntil(within, func() bool { return r.over || r.answers >= commands*len(r.task.Waits) })
	if r.load == nil {
		return err
	}
	if _, wrong := r.load.Outcome(); wrong != nil && !errors.Is(wrong, loadgen.ErrUnanswered) {
		return fmt.Errorf("%w: %w", ErrWrong, wrong)
	}
	return err
}

// ErrWrong reports an answer that the load does not ask for.
var ErrWrong = errors.New("a wrong answer")

// count goes through the phases: commands that do not count, those that do, and the
// answers of those that are left.
func (r *run) count(underWay int) (*Point, error) {
	warm, counted := max(r.task.Commands/2, underWay), max(r.task.Commands, rounds*underWay)
	if err := r.until(warm); err != nil {
		return nil, err
	}
	usage, ticks, begun := map[string]sim.Usage{}, map[string]uint64{}, r.w.Now()
	for name, n := range r.nodes {
		usage[name], ticks[name] = n.Usage(), r.hosts[name].Status().Counts.Ticks
	}
	r.load.Count(true)
	if err := r.until(warm + counted); err != nil {
		return nil, err
	}
	r.load.Count(false)
	span := r.w.Now().Sub(begun)
	pt := &Point{UnderWay: underWay, Seconds: span.Seconds()}
	for i := range r.task.Deployment.Processes {
		q := &r.task.Deployment.Processes[i]
		u := r.nodes[q.Node].Usage().Minus(usage[q.Node])
		pt.Nodes = append(pt.Nodes, Node{Node: q.Node, Component: q.Component, CPU: micros(u.CPU()), Calls: micros(u.Calls), Disk: micros(u.Disk),
			Busy: float64(u.CPU()+u.Disk) / float64(max(span, 1)), Reads: float64(u.Reads), Writes: float64(u.Writes),
			Ticks: float64(r.hosts[q.Node].Status().Counts.Ticks - ticks[q.Node])})
	}
	r.load.Stop()
	if err := r.w.RunUntil(within, func() bool { return r.over }); err != nil {
		return nil, err
	}
	out, err := r.load.Outcome()
	if err != nil {
		return nil, err
	}
	if out.Commands == 0 {
		return nil, fmt.Errorf("no command was answered in %v", span)
	}
	pt.Commands, pt.Resent, pt.Latency = out.Commands, out.Resent, out.Quantiles
	pt.PerSecond = float64(out.Commands) / span.Seconds()
	pt.each(float64(out.Commands))
	return pt, nil
}

// each divides what nodes did by the number of commands, and finds the busiest.
func (p *Point) each(commands float64) {
	for i := range p.Nodes {
		n := &p.Nodes[i]
		for _, x := range []*float64{&n.CPU, &n.Calls, &n.Disk, &n.Reads, &n.Writes, &n.Ticks} {
			*x /= commands
		}
	}
	p.Busiest = slices.MaxFunc(p.Nodes, func(a, b Node) int { return cmp.Compare(a.Busy, b.Busy) }).Node
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
