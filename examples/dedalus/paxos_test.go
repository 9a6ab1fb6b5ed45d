// SPDX-License-Identifier: Apache-2.0

package dedalus_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// agreement says what is wrong with what Paxos has told: nobody is told of another
// command in a slot than somebody else, and of none that no client has proposed.
func agreement(told []interp.Message) string {
	slots := map[uint64]string{}
	for _, m := range told {
		if m.Fact.Relation.Name == "leader" {
			continue
		}
		slot, v := m.Fact.Row[0].Num, m.Fact.Row[1].Str
		if old, ok := slots[slot]; ok && old != v {
			return "two commands are chosen in a slot"
		}
		slots[slot] = v
		if !strings.HasPrefix(v, "x") && v != "noop" {
			return "nobody has proposed what is chosen"
		}
	}
	return ""
}

// explorePaxos visits all runs of two proposers that both want to lead, each once,
// with two commands, the second given to a proposer. The first is heard by the acceptors 0 and 1 only, the other
// by 1 and 2: each has a majority, and they have one acceptor in common. A program
// with one acceptor, for what crashes and repetitions do to it, has it heard by both.
func explorePaxos(t *testing.T, p *logic.Program, b explore.Bounds, second string) *explore.Outcomes {
	t.Helper()
	inputs := messages(t, `propose(node "c", b"x0") to proposer/0`, `propose(node "c", b"x1") to `+second)(p)
	m := explore.NewModel(p, inputs, nil, functions(), b)
	m.Limit("heartbeat", 0)
	m.Limit("election", 2)
	all := p.Component("acceptor").Instances == 3
	m.Lose(func(m interp.Message) bool {
		switch m.Fact.Relation.Name {
		case "prepare", "accept":
			from := m.Fact.Row[0].Str
			return all && (from == "proposer/0" && m.To == "acceptor/2" || from == "proposer/1" && m.To == "acceptor/0")
		}
		return false
	})
	m.Until(func(told []interp.Message) bool { return agreement(told) != "" })
	out, err := m.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// one is how a program has one acceptor, which is a majority.
func one() []string {
	return []string{"quorum(k: u64) = { (2) }", "quorum(k: u64) = { (1) }", "acceptor: 3", "acceptor: 1"}
}

// TestPaxosAgreement explores the program as it is.
func TestPaxosAgreement(t *testing.T) {
	for name, c := range map[string]struct {
		less   []string
		bounds explore.Bounds
		states int64
	}{
		"two leaders":  {nil, explore.Bounds{Together: 1}, 15644},
		"a crash":      {one(), explore.Bounds{Together: 1, Crashes: 1}, 6726},
		"a repetition": {one(), explore.Bounds{Together: 1, Duplicates: 1}, 7606},
	} {
		t.Run(name, func(t *testing.T) {
			out := explorePaxos(t, mutant(t, "paxos", c.less...), c.bounds, "proposer/1")
			if out.Stopped != nil {
				t.Fatalf("%s, after %v: %v", agreement(out.Stopped), out.Path, out.Stopped)
			}
			if out.States != c.states || !out.Complete {
				t.Errorf("%d states, complete %v, want %d", out.States, out.Complete, c.states)
			}
			both := 0
			for told := range out.Told {
				if strings.Contains(told, "x0") && strings.Contains(told, "x1") {
					both++
				}
			}
			if both == 0 {
				t.Error("there is no run in which both commands are chosen")
			}
		})
	}
}

// TestPaxosMistakes has the exploration find what is wrong with changed programs.
func TestPaxosMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		change []string
		bounds explore.Bounds
	}{
		"a quorum that is no majority":       {[]string{"quorum(k: u64) = { (2) }", "quorum(k: u64) = { (1) }"}, explore.Bounds{Together: 1}},
		"what was taken before is not asked": {[]string{"proposing(b, s, v) <- adopted(b, s, v)", "proposing(b, s, v) <- adopted(b, s, v), s > 9"}, explore.Bounds{Together: 1}},
		"what was promised is not kept":      {[]string{"accept(p, b, s, v), promised(t), b >= t", "accept(p, b, s, v), promised(t), b >= 0"}, explore.Bounds{Together: 1}},
		"promises are not durable": {[]string{"log promised(b: max<u64>)", "var  promised(b: max<u64>)\n  next promised(b) <- promised(b)",
			"log   promised(b) <- prepare(_, b)", "next promised(b) <- prepare(_, b)"}, explore.Bounds{Together: 1, Crashes: 1}},
		"what was taken is not durable":  {[]string{"log taken(slot", "table taken(slot", "log   taken(s, b, v) <-", "next taken(s, b, v) <-"}, explore.Bounds{Together: 1, Crashes: 1}},
		"a promise before it is durable": {[]string{"next  asked(p, b) <- prepare(p, b)", "sync  asked(p, b) <- prepare(p, b)", "asked(p, b), promised(b), size(n)", "asked(p, b), size(n)", "asked(p, b), promised(b), taken(s, c, v)", "asked(p, b), taken(s, c, v)"}, explore.Bounds{Together: 1, Crashes: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			change, second := c.change, "proposer/1"
			if c.bounds.Crashes > 0 {
				change = append(one(), change...)
			}
			if c.bounds.Together > 1 {
				second = "proposer/0"
			}
			out := explorePaxos(t, mutant(t, "paxos", change...), c.bounds, second)
			if out.Stopped == nil {
				t.Errorf("not found in %d states", out.States)
			}
		})
	}
}
