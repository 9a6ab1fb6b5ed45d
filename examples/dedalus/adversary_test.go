package dedalus_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/ashlar-dev/ashlar/dedalus/interp"
	"github.com/ashlar-dev/ashlar/dedalus/logic"
	"github.com/ashlar-dev/ashlar/env"
)

// adversary runs a program: it delays, reorders, repeats and loses messages, lets
// timers run out when it likes, and crashes nodes, between ticks and in them.
type adversary struct {
	env.Random
	nodes   []*interp.Instance
	timers  []*logic.Relation
	pending []interp.Message
	// sent has messages of before, to be repeated; told those to the outside.
	sent, told []interp.Message
	// trouble is whether messages get lost and nodes crash.
	trouble bool
	// every is how many ticks pass between two times that a timer runs out, about.
	every map[string]int
}

func newAdversary(p *logic.Program, seed uint64, every map[string]int) *adversary {
	a := &adversary{Random: env.Seeded(seed), nodes: interp.Deploy(p, nil, functions()), trouble: true, every: every}
	for _, r := range p.Relations {
		if r.Kind == logic.Timer {
			a.timers = append(a.timers, r)
		}
	}
	return a
}

func (a *adversary) one(in int) bool { return env.IntN(a, in) == 0 }

// sentMax is how many messages can be repeated: the last ones.
const sentMax = 200

// send is on its way, once, or for ever.
func (a *adversary) send(m interp.Message) {
	if !slices.ContainsFunc(a.nodes, func(n *interp.Instance) bool { return n.Node == m.To }) {
		a.told = append(a.told, m)
		return
	}
	if a.sent = append(a.sent, m); len(a.sent) > sentMax {
		a.sent = a.sent[1:]
	}
	if !a.trouble || !a.one(8) {
		a.pending = append(a.pending, m)
	}
}

// step is a tick of a node, which may crash.
func (a *adversary) step() {
	i := env.IntN(a, len(a.nodes))
	n := a.nodes[i]
	if a.trouble && a.one(10) && len(a.sent) > 0 {
		a.pending = append(a.pending, a.sent[env.IntN(a, len(a.sent))])
	}
	var in []interp.Fact
	a.pending = slices.DeleteFunc(a.pending, func(m interp.Message) bool {
		if m.To != n.Node || len(in) == 8 || a.trouble && a.one(2) {
			return false
		}
		in = append(in, m.Fact)
		return true
	})
	var fired []*logic.Relation
	for _, r := range a.timers {
		if a.one(a.every[r.Name]) {
			fired = append(fired, r)
		}
	}
	before := n.Clone()
	for _, m := range n.Tick(in, fired...).Sent {
		a.send(m)
	}
	if a.trouble && a.one(60) {
		if a.one(2) {
			a.nodes[i] = before // The disk did not get what the tick logged.
		}
		a.nodes[i].Crash()
	}
}

// run goes through the trouble, with these inputs at moments in it; then it has the
// inputs come again, and goes on until decided says that all is.
func (a *adversary) run(inputs []interp.Message, decided func(told []interp.Message) bool) error {
	// Of more nodes each has fewer of the ticks.
	const trouble = 1200
	peace := max(6000, 1200*len(a.nodes))
	for i := range trouble {
		if a.one(trouble / 4 / len(inputs)) {
			a.send(inputs[env.IntN(a, len(inputs))])
		}
		a.step()
		_ = i
	}
	a.trouble = false
	for i := range peace {
		if i%300 == 0 {
			if decided(a.told) {
				return nil
			}
			for _, m := range inputs {
				a.send(m)
			}
		}
		a.step()
	}
	return fmt.Errorf("not decided in %d ticks of peace", peace)
}

// seeds is how many runs a test makes: more with ASHLAR_DEDALUS_SEEDS.
func seeds(t *testing.T, few uint64) uint64 {
	if text := os.Getenv("ASHLAR_DEDALUS_SEEDS"); text != "" {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return few
}

// twoPhaseRun is a long run of ten transactions, of which some are not wanted by a
// resource, and some are never answered by one.
func twoPhaseRun(t *testing.T, p *logic.Program, seed uint64) (wrong string, stuck error) {
	r := env.Seeded(seed + 1<<32)
	var texts []string
	for tx := range 10 {
		texts = append(texts, fmt.Sprintf(`begin(node "c", %d) to coordinator/0`, tx))
		for i := range 2 {
			if v := env.IntN(r, 6); v > 0 {
				texts = append(texts, fmt.Sprintf("ready(%d, %v) to resource/%d", tx, v > 1, i))
			}
		}
	}
	inputs := messages(t, texts...)(p)
	a := newAdversary(p, seed, map[string]int{"retry": 10, "timeout": 60})
	stuck = a.run(inputs, func(told []interp.Message) bool {
		done := map[string]bool{}
		for _, m := range told {
			done[m.Fact.String()] = true
		}
		return len(done) == 30
	})
	return atomicity(inputs)(a.told), stuck
}

// paxosRun is a long run of eight commands that clients give to both proposers.
func paxosRun(t *testing.T, p *logic.Program, seed uint64) (wrong string, stuck error) {
	var texts []string
	for i := range 8 {
		for j := range 2 {
			texts = append(texts, fmt.Sprintf(`propose(node "c", b"x%d") to proposer/%d`, i, j))
		}
	}
	a := newAdversary(p, seed, map[string]int{"election": 60, "heartbeat": 12})
	stuck = a.run(messages(t, texts...)(p), func(told []interp.Message) bool {
		// From here on who leads is left in peace to do so, most of the time: if nobody
		// does, somebody must wish to.
		a.every["election"] = 200
		done := map[string]bool{}
		for _, m := range told {
			if m.Fact.Relation.Name == "reply" {
				done[m.Fact.Row[1].Str] = true
			}
		}
		return len(done) == 8
	})
	return agreement(a.told), stuck
}

// TestAdversary has long runs, of the programs and of what their scripts make of them.
func TestAdversary(t *testing.T) {
	last := func(name string) *logic.Program {
		steps := rewritten(t, name)
		return steps[len(steps)-1].after
	}
	for name, c := range map[string]struct {
		p   *logic.Program
		run func(*testing.T, *logic.Program, uint64) (string, error)
	}{
		"twophase":           {load(t, "twophase"), twoPhaseRun},
		"twophase rewritten": {last("twophase"), twoPhaseRun},
		"paxos":              {load(t, "paxos"), paxosRun},
		"paxos rewritten":    {last("paxos"), paxosRun},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range seeds(t, 3) {
				if wrong, stuck := c.run(t, c.p, seed); wrong != "" || stuck != nil {
					t.Errorf("seed %d: %s %v", seed, wrong, stuck)
				}
			}
		})
	}
}

// TestAdversaryFinds runs programs with mistakes that need more than one crash, or
// more inputs than an exploration has.
func TestAdversaryFinds(t *testing.T) {
	for name, c := range map[string]struct {
		program string
		change  []string
		run     func(*testing.T, *logic.Program, uint64) (string, error)
	}{
		"what was taken is forgotten": {"paxos", []string{"log taken(slot", "table taken(slot", "log   taken(s, b, v) <-", "next  taken(s, b, v) <-"}, paxosRun},
		"a vote is forgotten":         {"twophase", []string{"log    voted(", "table  voted(", "log   voted(tx", "next  voted(tx", "log    decided(", "table  decided(", "log  decided(", "next decided("}, twoPhaseRun},
	} {
		t.Run(name, func(t *testing.T) {
			p := mutant(t, c.program, c.change...)
			for seed := range uint64(60) {
				if wrong, _ := c.run(t, p, seed); wrong != "" {
					t.Logf("seed %d: %s", seed, wrong)
					return
				}
			}
			t.Error("not found")
		})
	}
}
