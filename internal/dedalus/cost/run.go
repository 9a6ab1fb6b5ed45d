// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// A profile is taken from a simulated run without delays. A message takes one round, and up
// to two more, by the sender's number modulo three, so that the answers of several nodes do
// not always arrive together. In a round a node goes through ticks until nothing changes.
// Time advances by rounds, and jumps to the next timer if no message is in flight. A message
// or a row is counted when it first holds: while it continues to hold, it is neither derived
// nor sent again, as in compiled programs.

// Limits of a profile's run.
const (
	// RoundsMax is the maximum number of rounds.
	RoundsMax = 1 << 20
	// TicksMax is the maximum number of ticks in which a node must come to rest in a round.
	TicksMax = 256
	// MessagesMax is the maximum number of messages.
	MessagesMax = 1 << 22
	// RowsMax is the maximum number of derived rows.
	RowsMax = 1 << 28
)

// round is the duration of a round, for timers.
const round = 100 * time.Microsecond

// patience is how long, by the program's timers, a command may wait for its answer while no
// message is in flight.
const patience = 30 * time.Second

// Run profiles a program under a load. The error names the command that was not answered or
// the limit that was exceeded, or is the context's.
func Run(ctx context.Context, p *logic.Program, l *Load) (*Profile, error) {
	r := &run{ctx: ctx, program: p, load: l, nodes: map[string]*runNode{}, outputs: map[string]int64{}}
	if err := r.deploy(); err != nil {
		return nil, err
	}
	for _, n := range r.order {
		n.inbox = append(n.inbox, flying{}) // the first tick has no messages
	}
	if err := r.rest(func() bool { return false }, l.Warm); err != nil {
		return nil, err
	}
	for _, n := range r.order {
		n.forget()
	}
	clear(r.outputs)
	if err := r.commands(); err != nil {
		return nil, err
	}
	out := &Profile{Commands: l.Commands, Outputs: r.outputs}
	for _, n := range r.order {
		out.Nodes = append(out.Nodes, n.counts)
		n.forget()
	}
	// One more command alone shows the path to an answer.
	r.outputs, r.last = map[string]int64{}, nil
	if err := r.alone(); err != nil {
		return nil, err
	}
	for f := r.last; f != nil; f = f.before {
		out.Path = append(out.Path, f.relation)
		out.Syncs = max(out.Syncs, f.syncs)
	}
	slices.Reverse(out.Path)
	return out, nil
}

// flying is a message in flight, or one that has arrived.
type flying struct {
	fact interp.Fact
	to   string
	due  int // the round in which it arrives
	*step
}

// spread is the number of different delays of messages, in rounds.
const spread = 3

// step is a message on the way from a command to its answer.
type step struct {
	relation string
	before   *step
	syncs    int
}

// run is a profile in progress.
type run struct {
	ctx     context.Context
	program *logic.Program
	load    *Load
	nodes   map[string]*runNode
	order   []*runNode
	sent    []flying
	now     time.Duration
	rounds  int
	total   int64 // messages
	rows    int64
	outputs map[string]int64
	open    []*command
	last    *step
}

// command is a command in progress.
type command struct {
	number uint64
	client string
	waits  []Wait
}

// runNode is an instance with its counts.
type runNode struct {
	*interp.Instance
	run       *run
	component *logic.Component
	counts    Node
	inbox     []flying
	came      *step // the last message that arrived
	timers    []runTimer
	// before and now have the rows that each rule derived in the last tick and in this one, by
	// the rule's position.
	before, now []map[string]bool
	called      []map[string]bool // rows of this tick, regardless of their destination
	sentBefore  map[string]bool
	places      map[*logic.Rule]int
	calls       [][]string
	fresh       bool // something was new in this tick
	durable     bool
	held        map[string]bool
	key         []byte
}

type runTimer struct {
	relation *logic.Relation
	next     time.Duration
}

func (r *run) deploy() error {
	instances := interp.Deploy(r.program, nil, stubs(r.program, r.load))
	for _, c := range r.program.Components {
		of := max(c.Partitions, 1)
		for i := range c.Instances * c.Partitions {
			n := &runNode{Instance: instances[len(r.order)], run: r, component: c, sentBefore: map[string]bool{}, held: map[string]bool{}, places: map[*logic.Rule]int{}}
			n.counts = Node{Node: n.Node, Component: c.Name, Instance: i / of}
			n.before, n.now = make([]map[string]bool, len(c.Rules)), make([]map[string]bool, len(c.Rules))
			for k, rule := range c.Rules {
				n.places[rule] = k
				n.calls = append(n.calls, calls(r.program, rule))
				n.before[k], n.now[k] = map[string]bool{}, map[string]bool{}
				n.called = append(n.called, map[string]bool{})
			}
			for _, rel := range r.program.Refs(c) {
				if rel.Kind == logic.Timer && rel.Every > 0 {
					// Instances start one after the other, so that their elections do not all begin at
					// once.
					n.timers = append(n.timers, runTimer{rel, rel.Every + rel.Every*time.Duration(i/of)/time.Duration(c.Instances)})
				}
			}
			n.forget()
			n.Watch(n.see)
			r.nodes[n.Node] = n
			r.order = append(r.order, n)
		}
	}
	for _, s := range r.load.Sends {
		if len(receivers(r.program, s)) == 0 {
			return fmt.Errorf("profile: no node of component %s receives %s", s.Component, s.Input)
		}
	}
	return nil
}

// receivers returns the nodes that receive a fact of a load: those of the component, or, if a
// rewrite gave the input to a piece of it, those of the piece.
func receivers(p *logic.Program, s Send) []string {
	rel := p.Find(s.Input)
	reads := func(c *logic.Component) bool { return slices.Contains(p.Refs(c), rel) }
	c := p.Component(s.Component)
	if c == nil || !reads(c) {
		i := slices.IndexFunc(p.Components, func(o *logic.Component) bool { return o.Of == s.Component && reads(o) })
		if i < 0 {
			return nil
		}
		c = p.Components[i]
	}
	var out []string
	for i := range c.Instances {
		if s.Instance < 0 || s.Instance == i {
			out = append(out, logic.NodeName(c.Name, i*c.Partitions))
		}
	}
	return out
}

// client returns the node that sends command n.
func (l *Load) client(n uint64) string { return fmt.Sprintf("client/%d", n%uint64(l.Clients)) }

// Command returns the messages of command number n, in order. The program must be the one for
// which the load was parsed, or a rewrite of it.
func (l *Load) Command(p *logic.Program, n uint64) []interp.Message {
	var out []interp.Message
	for _, s := range l.Sends {
		rel := p.Find(s.Input)
		row := make([]logic.Value, len(rel.Columns))
		for i, a := range s.Args {
			row[i] = a.value(rel.Columns[i].Type.Kind, n, l.client(n))
		}
		for _, to := range receivers(p, s) {
			out = append(out, interp.Message{To: to, Fact: interp.Fact{Relation: rel, Row: row}})
		}
	}
	return out
}

// forget resets the counts.
func (n *runNode) forget() {
	n.counts = Node{Node: n.counts.Node, Component: n.counts.Component, Instance: n.counts.Instance,
		Firings: make([]int64, len(n.component.Rules)), Calls: map[string]int64{}, arrived: map[*logic.Relation]*arrivals{}}
}

// see is called for each row that a rule derives.
func (n *runNode) see(r *logic.Rule, to string, row []logic.Value) {
	n.run.rows++
	k := n.places[r]
	n.key = append(append(n.key[:0], to...), 0)
	for _, v := range row {
		n.key = v.AppendKey(n.key)
	}
	if n.now[k][string(n.key)] {
		return
	}
	n.now[k][string(n.key)] = true
	if n.before[k][string(n.key)] {
		return
	}
	if _, keeps := r.Persistence(); keeps && r.Kind == logic.Next {
		return
	}
	n.fresh = true
	n.counts.Firings[k]++
	// A row that is sent to several nodes is computed once.
	if body := n.key[len(to)+1:]; len(n.calls[k]) > 0 && !n.called[k][string(body)] {
		n.called[k][string(body)] = true
		for _, f := range n.calls[k] {
			n.counts.Calls[f]++
		}
	}
	if key := r.Head.Relation.Name + string(n.key); r.Kind == logic.Next && r.Head.Relation.Durable && !n.held[key] {
		// A row on the disk is not written again. A deleted row that returns is not counted
		// again either.
		n.held[key] = true
		n.durable = true
		n.counts.Durable++
		n.counts.DurableBytes += int64(messageBytes(row))
	}
}

// drain goes through ticks until nothing changes.
func (n *runNode) drain(timers []*logic.Relation) error {
	var in []interp.Fact
	came, syncs := n.came, 0 // a timer's messages count as caused by the last arrival
	for _, f := range n.inbox {
		if f.step != nil {
			n.counts.arrive(f.fact.Relation, f.fact.Row)
			in = append(in, f.fact)
			came, syncs = f.step, max(syncs, f.syncs)
		}
	}
	n.inbox, n.came = nil, came
	state := n.AppendKey(nil)
	for tick := 0; ; tick++ {
		if tick == TicksMax {
			return fmt.Errorf("profile: %s does not come to rest within %d ticks", n.Node, TicksMax)
		}
		n.fresh, n.durable = len(in)+len(timers) > 0, false
		t := n.Tick(in, timers...)
		if t.Endless != nil {
			return fmt.Errorf("profile: %w", t.Endless)
		}
		n.before, n.now = n.now, n.before
		for k := range n.now {
			clear(n.now[k])
			clear(n.called[k])
		}
		sent := map[string]bool{}
		for _, m := range t.Sent {
			key := m.String()
			if sent[key] = true; !n.sentBefore[key] {
				n.counts.Sent++
				n.counts.SentBytes += int64(messageBytes(m.Fact.Row))
				due := n.run.rounds + 1 + n.counts.Instance%spread
				n.run.sent = append(n.run.sent, flying{m.Fact, m.To, due, &step{m.Fact.Relation.Name, came, syncs}})
			}
		}
		n.sentBefore = sent
		if n.fresh {
			n.counts.Ticks++
		}
		if n.durable {
			n.counts.Syncs++
			syncs++
		}
		next := n.AppendKey(nil)
		if string(next) == string(state) && len(in)+len(timers) == 0 {
			return nil
		}
		state, in, timers = next, nil, nil
	}
}

// step runs one round: messages arrive, and timers fire.
func (r *run) step() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	r.rounds++
	if r.rounds > RoundsMax || r.total > MessagesMax || r.rows > RowsMax {
		return fmt.Errorf("profile: the run exceeds a limit: %d rounds, %d messages or %d rows", RoundsMax, MessagesMax, RowsMax)
	}
	flew := r.sent
	r.sent = nil
	for _, f := range flew {
		if f.due > r.rounds {
			r.sent = append(r.sent, f)
			continue
		}
		r.total++
		if n := r.nodes[f.to]; n != nil {
			n.inbox = append(n.inbox, f)
		} else {
			r.told(f)
		}
	}
	for _, n := range r.order {
		var timers []*logic.Relation
		for i := range n.timers {
			if t := &n.timers[i]; t.next <= r.now {
				timers = append(timers, t.relation)
				t.next += t.relation.Every
			}
		}
		if len(n.inbox)+len(timers) > 0 {
			if err := n.drain(timers); err != nil {
				return err
			}
		}
	}
	r.now += round
	return nil
}

// told records that a client received a message.
func (r *run) told(f flying) {
	r.outputs[f.fact.Relation.Name]++
	if f.fact.Relation.Kind != logic.Output {
		return
	}
	for i, c := range r.open {
		k := slices.IndexFunc(c.waits, func(w Wait) bool {
			return w.Output == f.fact.Relation.Name && w.matches(f.fact.Row, c.number, c.client)
		})
		if k < 0 {
			continue
		}
		if c.waits = slices.Delete(c.waits, k, k+1); len(c.waits) == 0 {
			r.open = slices.Delete(r.open, i, i+1)
			r.last = f.step
		}
		return
	}
	if len(r.load.Waits) == 0 {
		r.last = f.step
	}
}

// rest runs until done returns true, or until no message is in flight and the given time has
// passed.
func (r *run) rest(done func() bool, until time.Duration) error {
	end := r.now + until
	for {
		if err := r.step(); err != nil {
			return err
		}
		if done() {
			return nil
		}
		if len(r.sent) > 0 {
			continue
		}
		next := end
		for _, n := range r.order {
			for _, t := range n.timers {
				next = min(next, t.next)
			}
		}
		if next >= end {
			return nil
		}
		r.now = max(r.now, next)
	}
}

// begin sends a command. The first is number 1, as in package loadgen, so that a profile and a
// measurement of a program use the same commands.
func (r *run) begin(n uint64) {
	c := &command{number: n, client: r.load.client(n), waits: slices.Clone(r.load.Waits)}
	for _, m := range r.load.Command(r.program, n) {
		r.sent = append(r.sent, flying{m.Fact, m.To, r.rounds + 1, &step{relation: m.Fact.Relation.Name}})
	}
	if len(c.waits) > 0 {
		r.open = append(r.open, c)
	}
}

// commands runs all commands of the load, and then waits until no message is in flight.
func (r *run) commands() error {
	next := 0
	for next < r.load.Commands {
		for next < r.load.Commands && (len(r.open) < r.load.Clients && len(r.load.Waits) > 0 || len(r.sent) < r.load.Clients && len(r.load.Waits) == 0) {
			next++
			r.begin(uint64(next))
		}
		open := len(r.open)
		done := func() bool { return len(r.open) < open }
		if err := r.rest(done, r.wait()); err != nil {
			return err
		}
		if open > 0 && !done() {
			return r.unanswered()
		}
	}
	if err := r.rest(func() bool { return len(r.load.Waits) > 0 && len(r.open) == 0 }, r.wait()); err != nil {
		return err
	}
	if len(r.open) > 0 {
		return r.unanswered()
	}
	// The work that remains after the last answer is part of the cost.
	if err := r.rest(func() bool { return len(r.sent) == 0 }, 0); err != nil {
		return err
	}
	if len(r.outputs) == 0 {
		return fmt.Errorf("profile: the program sent no output for %d commands", r.load.Commands)
	}
	return nil
}

// wait returns how long timers run while a command waits for its answer.
func (r *run) wait() time.Duration {
	if len(r.load.Waits) > 0 {
		return patience
	}
	return 0
}

func (r *run) alone() error {
	r.begin(uint64(r.load.Commands) + 1)
	if err := r.rest(func() bool { return len(r.load.Waits) > 0 && len(r.open) == 0 }, r.wait()); err != nil {
		return err
	}
	if len(r.open) > 0 {
		return r.unanswered()
	}
	return nil
}

func (r *run) unanswered() error {
	c := r.open[0]
	var waits []string
	for _, w := range c.waits {
		waits = append(waits, w.Output)
	}
	return fmt.Errorf("profile: command %d was not answered by %s; outputs so far: %v", c.number, strings.Join(waits, " and "), r.outputs)
}
