// SPDX-License-Identifier: Apache-2.0

package smr_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/smr"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// seeds returns the seeds to run: the number in ASHLAR_WORM_SEEDS, by default few; or
// only the seed in ASHLAR_WORM_SEED.
func seeds(t *testing.T, few int) (first, end uint64) {
	if s := os.Getenv("ASHLAR_WORM_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n, n + 1
	}
	if s := os.Getenv("ASHLAR_WORM_SEEDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return 0, uint64(n)
	}
	return 0, uint64(few)
}

// machine is a key-value map that remembers all commands: "id set key value" and
// "id get key".
type machine struct {
	data map[string]string
	log  []string
}

func newMachine() *machine { return &machine{data: map[string]string{}} }

func (m *machine) Apply(cmd []byte) []byte {
	text := string(cmd)
	m.log = append(m.log, text)
	f := strings.Fields(text)
	if len(f) == 0 {
		return nil
	}
	old := m.data[f[2]]
	if f[1] == "set" {
		m.data[f[2]] = f[3]
	}
	return []byte(old)
}

func (m *machine) Snapshot() func() []byte {
	rest := m.log[:len(m.log):len(m.log)]
	return func() []byte {
		if len(rest) == 0 {
			return nil
		}
		n := min(len(rest), 7)
		piece := strings.Join(rest[:n], "\n")
		rest = rest[n:]
		return []byte(piece)
	}
}

func (m *machine) Restore() func([]byte) error {
	fresh := newMachine()
	return func(piece []byte) error {
		if piece == nil {
			*m = *fresh
			return nil
		}
		for _, cmd := range strings.Split(string(piece), "\n") {
			fresh.Apply([]byte(cmd))
		}
		return nil
	}
}

// cluster is replicas with one client each, with crashes, and the history.
type cluster struct {
	t        testing.TB
	seed     uint64
	w        *ideal.World
	random   env.Random
	change   func(*smr.Options)
	nodes    []*node
	quiet    bool
	counter  int
	history  []porcupine.Operation
	machines []*machine // of all lives
	seen     map[string]int
}

// node is a replica and its client, for one life.
type node struct {
	c       *cluster
	number  int
	p       *ideal.Process
	r       *smr.Replica
	m       *machine
	pending int
}

type input struct{ op, key, value string }

func newCluster(t testing.TB, o ideal.Options, nodes int, change func(*smr.Options)) *cluster {
	c := &cluster{
		t: t, seed: o.Seed, w: ideal.New(o), random: env.Seeded(o.Seed).Split("cluster"),
		change: change, seen: map[string]int{},
	}
	for i := range nodes {
		n := &node{c: c, number: i}
		c.nodes = append(c.nodes, n)
		n.start(fmt.Sprint("node", i))
	}
	return c
}

func (c *cluster) roll(n int) int { return env.IntN(c.random, n) }

func (n *node) start(name string) {
	p := n.c.w.Start(name)
	n.p, n.m, n.pending = p, newMachine(), 0
	n.c.machines = append(n.c.machines, n.m)
	o := smr.Options{
		Space: p.Space, Messenger: p.Messenger, Clock: p.Env.Clock, Random: p.Env.Random, Serial: p.Serial,
		ID: 9, Machine: n.m, Member: p.Member, Size: 16,
		Timeout: 200 * time.Millisecond, Silence: 50 * time.Millisecond,
	}
	if n.c.change != nil {
		n.c.change(&o)
	}
	r, err := smr.Open(o)
	if err != nil {
		n.c.t.Fatal(err)
	}
	n.r = r
	p.Serve(wor.ServiceSMR, r.Handle)
}

// play makes the node's client do operations.
func (n *node) play() {
	c := n.c
	if !c.quiet {
		switch c.roll(4) {
		case 0:
			n.read()
		case 1:
			n.propose(input{op: "get", key: c.key()})
		default:
			for range 1 + c.roll(3) {
				n.propose(input{op: "set", key: c.key()})
			}
		}
	}
	n.p.After(time.Duration(c.roll(20_000))*time.Microsecond, n.play)
}

func (c *cluster) key() string { return string(rune('a' + c.roll(20))) }

// begin adds an operation that has not ended to the history.
func (c *cluster) begin(client int, in input) (at int) {
	c.history = append(c.history, porcupine.Operation{
		ClientId: client, Input: in, Output: nil, Call: int64(c.w.Now()), Return: math.MaxInt64,
	})
	return len(c.history) - 1
}

func (c *cluster) end(at int, output string) {
	c.history[at].Output, c.history[at].Return = output, int64(c.w.Now())
}

func (n *node) propose(in input) {
	c := n.c
	c.counter++
	id := c.counter
	in.value = fmt.Sprint("v", id)
	at := c.begin(n.number, in)
	within := time.Duration(0)
	if c.roll(4) == 0 {
		within = time.Duration(1+c.roll(40)) * time.Millisecond
	}
	n.pending++
	p, ended := n.p, false
	n.r.Propose(fmt.Appendf(nil, "%d %s %s %s", id, in.op, in.key, in.value), within, func(res smr.Result, err error) {
		if ended {
			c.t.Fatalf("seed %d: a command is answered twice", c.seed)
		}
		ended = true
		if n.p == p {
			n.pending--
		}
		c.seen["propose "+kind(err)]++
		switch {
		case err == nil:
			c.end(at, string(res.Value))
			if n.r.Applied() < res.Slot {
				c.t.Fatalf("seed %d: a command is answered before it is applied", c.seed)
			}
		case errors.Is(err, wor.ErrUnknown):
			// It may take effect at any time from now on.
		case errors.Is(err, wor.ErrDeadline):
			c.history[at].Input = input{op: "nothing", key: in.key}
		default:
			c.t.Errorf("seed %d: propose: %v", c.seed, err)
		}
	})
}

func (n *node) read() {
	c := n.c
	in := input{op: "get", key: c.key()}
	at := c.begin(n.number, in)
	n.pending++
	p := n.p
	n.r.Read(smr.Linearizable, 0, 0, func(err error) {
		if n.p == p {
			n.pending--
		}
		c.seen["read "+kind(err)]++
		c.end(at, n.m.data[in.key])
	})
}

func kind(err error) string {
	for _, e := range []error{wor.ErrUnknown, wor.ErrDeadline, wor.ErrBusy, wor.ErrClosed, smr.ErrSession} {
		if errors.Is(err, e) {
			return e.Error()
		}
	}
	return fmt.Sprint(err)
}

// crash ends a node and starts it again, as another life without memory.
func (c *cluster) crash() {
	n := c.nodes[c.roll(len(c.nodes))]
	n.p.Kill()
	n.start(n.p.Member.Name)
	n.p.Serial.Do(n.play)
	if c.roll(4) == 0 {
		c.w.NewEpoch()
	}
}

// finish ends the faults, and waits until every operation is answered and all replicas
// have applied everything.
func (c *cluster) finish() {
	c.t.Helper()
	c.quiet = true
	c.w.Heal()
	idle := func() bool {
		for _, n := range c.nodes {
			if n.pending > 0 {
				return false
			}
		}
		return true
	}
	if !c.w.RunUntil(2*time.Minute, idle) {
		for _, n := range c.nodes {
			c.t.Logf("node %d at %v has not ended %d: %s", n.number, n.r.Applied(), n.pending, n.r.Describe())
		}
		c.t.Fatalf("seed %d: commands do not end", c.seed)
	}
	left := len(c.nodes)
	for _, n := range c.nodes {
		n.p.Serial.Do(func() { n.r.Read(smr.Linearizable, 0, 0, func(error) { left-- }) })
	}
	if !c.w.RunUntil(2*time.Minute, func() bool { return left == 0 }) {
		c.t.Fatalf("seed %d: reads do not end", c.seed)
	}
}

// check returns an error if the history is wrong.
func (c *cluster) check() error {
	longest := &machine{}
	for _, m := range c.machines {
		if len(m.log) > len(longest.log) {
			longest = m
		}
	}
	ids := map[string]bool{}
	for _, cmd := range longest.log {
		if id := strings.Fields(cmd)[0]; ids[id] {
			return fmt.Errorf("command %q was applied twice", cmd)
		} else {
			ids[id] = true
		}
	}
	for i, m := range c.machines {
		if !slices.Equal(m.log, longest.log[:len(m.log)]) {
			return fmt.Errorf("replica %d has applied what is no prefix of what another has", i)
		}
	}
	for _, n := range c.nodes {
		for _, cmd := range longest.log[len(n.m.log):] {
			// Any later command must have an unknown outcome.
			if f := strings.Fields(cmd); c.acknowledged(f[3]) {
				return fmt.Errorf("%q was acknowledged, and node %d does not have it", cmd, n.number)
			}
		}
	}
	// Commands of unknown outcome that were not applied by the end are left out.
	var h []porcupine.Operation
	for _, o := range c.history {
		if in := o.Input.(input); o.Output != nil || ids[strings.TrimPrefix(in.value, "v")] {
			h = append(h, o)
		}
	}
	if r := porcupine.CheckOperationsTimeout(kvModel, h, 20*time.Second); r != porcupine.Ok {
		return fmt.Errorf("the map is not linearizable: %v", r)
	}
	return nil
}

func (c *cluster) acknowledged(value string) bool {
	for _, o := range c.history {
		if o.Input.(input).value == value && o.Output != nil {
			return true
		}
	}
	return false
}

// kvModel is the map. A command without an answer may take effect at any time, or never:
// then it counts as the last one.
var kvModel = porcupine.Model{
	Partition: func(h []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, o := range h {
			in := o.Input.(input)
			if in.op == "nothing" || in.op == "get" && o.Output == nil {
				continue
			}
			byKey[in.key] = append(byKey[in.key], o)
		}
		var out [][]porcupine.Operation
		for _, l := range byKey {
			out = append(out, l)
		}
		return out
	},
	Init: func() any { return "" },
	Step: func(state, in, output any) (bool, any) {
		i := in.(input)
		ok := output == nil || output.(string) == state.(string)
		if i.op == "set" {
			return ok, i.value
		}
		return ok, state
	},
}
