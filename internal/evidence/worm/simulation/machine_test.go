// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/sim/suite"
	"github.com/ashlar-dev/ashlar/worm/smr"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// theMachine is the state machine that is replicated.
const theMachine smr.ID = 11

// machines is replicas on servers, with a client each.
type machines struct {
	c        *cluster
	replicas map[*host]*replica
	change   func(*smr.Options)
	order    []string // the commands, as the first that came so far has applied them
	counter  int
	stop     bool
	pending  int
	history  []*did
}

// replica is a server's replica and its client, for one life.
type replica struct {
	*agent
	x    *machines
	r    *smr.Replica
	m    *machine
	busy int
}

// machine is a map from keys to values. A command is "id set key value" or
// "id get key"; its result is the value before.
type machine struct {
	x       *machines
	data    map[string]string
	applied []string
}

// Apply is smr.StateMachine's.
func (m *machine) Apply(cmd []byte) []byte {
	text, x := string(cmd), m.x
	i := len(m.applied)
	m.applied = append(m.applied, text)
	switch {
	case i < len(x.order) && x.order[i] != text:
		x.c.ghost.wrong("prefixes", "command %d is %q here, and %q elsewhere", i, text, x.order[i])
	case i == len(x.order):
		if slices.Contains(x.order, text) {
			x.c.ghost.wrong("once", "%q is applied again", text)
		}
		x.order = append(x.order, text)
	}
	f := strings.Fields(text)
	old := m.data[f[2]]
	if f[1] == "set" {
		m.data[f[2]] = f[3]
	}
	return []byte(old)
}

// Snapshot is smr.StateMachine's.
func (m *machine) Snapshot() func() []byte {
	rest := m.applied[:len(m.applied):len(m.applied)]
	return func() []byte {
		if len(rest) == 0 {
			return nil
		}
		n := min(len(rest), 9)
		piece := strings.Join(rest[:n], "\n")
		rest = rest[n:]
		return []byte(piece)
	}
}

// Restore is smr.StateMachine's.
func (m *machine) Restore() func([]byte) error {
	fresh := &machine{x: m.x, data: map[string]string{}}
	return func(piece []byte) error {
		if piece == nil {
			*m = *fresh
			m.x.c.w.Mark("restored from a snapshot")
			return nil
		}
		for _, cmd := range strings.Split(string(piece), "\n") {
			fresh.Apply([]byte(cmd))
		}
		return nil
	}
}

func (x *machines) offer(h *host, l *sim.Life) {
	i := slices.Index(x.c.hosts, h)
	if i >= 3 {
		return
	}
	if old := x.replicas[h]; old != nil {
		x.pending -= old.busy
	}
	a, err := x.c.agent(l, 200+i, nil)
	if err != nil {
		x.c.w.Fail("replica", err)
		return
	}
	n := &replica{agent: a, x: x, m: &machine{x: x, data: map[string]string{}}}
	o := smr.Options{
		Space: a.Space, Messenger: a.transport, Clock: l.Env.Clock, Random: l.Env.Random.Split("smr"), Serial: a.serial, ID: theMachine,
		Machine: n.m, Member: h.member, Timeout: 300 * time.Millisecond, Silence: 100 * time.Millisecond,
	}
	x.change(&o)
	n.r, err = smr.Open(o)
	if err != nil {
		x.c.w.Fail("replica", err)
		return
	}
	x.replicas[h] = n
	h.server.Register(wor.ServiceSMR, a.serial, n.r.Handle)
	a.serial.Do(n.work)
}

// did is a command or a read, and what became of it.
type did struct {
	verb, key string
	text      string // the command; "" of a read
	old       string // the answer: the value before
	call, ret env.Instant
	void      bool // it was not done
	// least is how many commands come at least before what comes after this.
	least int
}

func (n *replica) work() {
	x := n.x
	n.after(40*time.Millisecond, func() {
		if x.stop {
			return
		}
		c := &did{verb: "get", key: fmt.Sprint("k", env.IntN(n.random, 4))}
		switch env.IntN(n.random, 4) {
		case 0:
			n.read(c)
		case 1:
			n.propose(c)
		default:
			c.verb = "set"
			n.propose(c)
		}
		n.work()
	})
}

// begin notes a call; what it returns, the answer.
func (n *replica) begin(o *did) (end func(old string, err error)) {
	x := n.x
	o.call, o.ret = x.c.w.Now(), never
	x.history = append(x.history, o)
	n.busy++
	x.pending++
	return func(old string, err error) {
		n.busy--
		x.pending--
		switch {
		case err == nil:
			o.old, o.ret = old, x.c.w.Now()
		case errors.Is(err, wor.ErrUnknown), errors.Is(err, smr.ErrSession):
			x.c.w.Mark("command of unknown outcome")
		case isNothing(err):
			o.void = true
		default:
			x.c.ghost.wrong("commands", "%v", err)
		}
	}
}

func (n *replica) propose(o *did) {
	n.x.counter++
	text := fmt.Sprintf("%d %s %s v%d", n.x.counter, o.verb, o.key, n.x.counter)
	o.text = text
	end := n.begin(o)
	within := time.Duration(0)
	if n.chance(1, 3) {
		within = 1 + time.Duration(env.IntN(n.random, int(200*time.Millisecond)))
	}
	n.r.Propose([]byte(text), within, func(r smr.Result, err error) {
		end(string(r.Value), err)
		if err == nil && !slices.Contains(n.m.applied, text) {
			n.x.c.ghost.wrong("acknowledged is applied", "%q", text)
		}
	})
}

func (n *replica) read(o *did) {
	end := n.begin(o)
	n.r.Read(smr.Linearizable, 0, 0, func(err error) { end(n.m.data[o.key], err) })
}

// check reports whether the history is linearizable. The order of the commands is
// known, so that nothing need be searched for: results must be those of the order,
// the order must respect time, and each read must fit somewhere, not before what
// ended before it began.
func (x *machines) check() error {
	place := map[string]int{}
	for i, text := range x.order {
		place[text] = i
	}
	states := []map[string]string{{}} // before each command
	for _, text := range x.order {
		next, f := maps.Clone(states[len(states)-1]), strings.Fields(text)
		if f[1] == "set" {
			next[f[2]] = f[3]
		}
		states = append(states, next)
	}
	var commands, reads []*did
	for _, o := range x.history {
		at, applied := place[o.text]
		switch {
		case o.text == "" && o.ret != never:
			reads = append(reads, o)
			continue
		case o.void && applied:
			return fmt.Errorf("%q was said not to be done, and was applied", o.text)
		case !applied && o.ret != never:
			return fmt.Errorf("%q was acknowledged, and is not there", o.text)
		case !applied:
			continue
		case o.ret != never && states[at][o.key] != o.old:
			return fmt.Errorf("%q answered %q, and the value was %q", o.text, o.old, states[at][o.key])
		}
		o.least = at + 1
		commands = append(commands, o)
	}
	for _, p := range commands {
		for _, q := range commands {
			if p.ret < q.call && p.least > q.least {
				return fmt.Errorf("%q ended before %q was proposed, and comes after it", p.text, q.text)
			}
		}
	}
	slices.SortStableFunc(reads, func(p, q *did) int { return cmp.Compare(p.ret, q.ret) })
	for i, r := range reads {
		most := len(x.order)
		for _, o := range append(commands[:len(commands):len(commands)], reads[:i]...) {
			if o.ret < r.call {
				r.least = max(r.least, o.least)
			}
			if o.text != "" && o.call > r.ret {
				most = min(most, o.least-1)
			}
		}
		for r.least <= most && states[r.least][r.key] != r.old {
			r.least++
		}
		if r.least > most {
			return fmt.Errorf("a read of %q, from %v to %v, answered %q, which it was at no such time", r.key, r.call, r.ret, r.old)
		}
	}
	return nil
}

// equal says that all replicas have applied all that any has.
func (x *machines) equal() bool {
	for _, h := range x.c.hosts[:3] {
		if n := x.replicas[h]; n == nil || n.Life() != h.node.Life() || len(n.m.applied) != len(x.order) {
			return false
		}
	}
	return true
}

// Life is the life that the agent belongs to.
func (a *agent) Life() *sim.Life { return a.l }

func playMachine(w *sim.World) error {
	d := draw{w.Random("plan")}
	c, err := newCluster(w, 5, 2)
	if err != nil {
		return err
	}
	x := &machines{c: c, replicas: map[*host]*replica{}}
	leadership, size, every := smr.Leadership(d.n(3)), 6+uint32(d.n(30)), uint32(d.n(3))
	protocols := []wor.Protocol{wor.Paxos, wor.Fast, wor.Chain}
	if leadership == smr.Turns {
		protocols = protocols[:2]
	}
	first, step := d.n(2), d.n(3)
	x.change = func(o *smr.Options) {
		o.Leadership, o.Size, o.Snapshots = leadership, size, smr.Snapshots{Every: every, Seen: 1}
		o.Place = func(s wor.Segment) (wor.Partition, wor.Protocol) {
			n := int(s) * (1 + step)
			return wor.Partition((first + n) % 2), protocols[n%len(protocols)]
		}
	}
	c.offer, c.ghost.machines = x.offer, true
	var ops []*operator
	if d.n(2) == 0 {
		ops = append(ops, c.operator(0, 1, 200*time.Millisecond+d.time(600*time.Millisecond)))
	}
	if d.n(4) == 0 {
		w.After(d.time(turmoil), c.blackout)
	}
	if d.n(2) == 0 {
		h := c.hosts[d.n(3)]
		w.After(turmoil/4+d.time(turmoil/2), func() { h.restart(false, 400*time.Millisecond) })
	}
	if err := w.Run(turmoil); err != nil {
		return err
	}
	x.stop = true
	if err := c.mend(ops); err != nil {
		return err
	}
	if err := c.await("all commands end", func() bool { return x.pending == 0 }); err != nil {
		return err
	}
	c.blackout()
	if err := w.Run(500 * time.Millisecond); err != nil {
		return err
	}
	if err := c.await("replicas are equal", x.equal); err != nil {
		return err
	}
	return x.check()
}

// TestMachine is a replicated state machine on servers that come and go.
func TestMachine(t *testing.T) {
	suite.Suite{
		Getenv: os.Getenv, Package: "./internal/evidence/worm/simulation", Short: testing.Short(), Seeds: seeds(t, 300), Faults: faults(),
		Options: worldOptions(), Twice: 20,
		Require: []string{"command of unknown outcome", "restored from a snapshot", "leader takeover with holes", "members changed"},
	}.Run(t, playMachine)
}
