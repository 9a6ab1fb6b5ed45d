// SPDX-License-Identifier: Apache-2.0

package dedalus_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// oneSlot says what is wrong with what Compartmentalized Paxos has told: a slot has one
// command.
func oneSlot(told []interp.Message) string {
	slots := map[uint64]uint64{}
	for _, m := range told {
		if m.Fact.Relation.Name != "applied" {
			continue
		}
		slot, id := m.Fact.Row[0].Num, m.Fact.Row[1].Num
		if old, ok := slots[slot]; ok && old != id {
			return "two commands are applied in a slot"
		}
		slots[slot] = id
	}
	return ""
}

// smaller is how the program has one proxy, and two replicas that do not talk, so that
// each shows what it was told.
func smaller() []string {
	return []string{"static proxy(q: node, i: u64) = { (node \"proxy/0\", 0), (node \"proxy/1\", 1) }", "static proxy(q: node, i: u64) = { (node \"proxy/0\", 0) }",
		"proxy: 2", "proxy: 1"}
}

// exploreCompPaxos visits all runs of two proposers that both want to lead, each once,
// with a command each. The first is heard by the first column of acceptors when it
// wants to lead, the second by the second one: each has a quorum, and they have no
// acceptor in common; each has one in common with the row that decides slot 0. Replica
// i is told of what the proxy had decided for proposer i only.
func exploreCompPaxos(t *testing.T, p *logic.Program, b explore.Bounds) *explore.Outcomes {
	t.Helper()
	inputs := messages(t, `propose(node "c", 1, true, "x", b"a") to proposer/0`, `propose(node "c", 2, true, "x", b"b") to proposer/1`)(p)
	m := explore.NewModel(p, inputs, nil, functions(), b)
	m.Limit("heartbeat", 0)
	m.Limit("fetch", 0)
	m.Limit("election", 2)
	m.Lose(func(m interp.Message) bool {
		switch m.Fact.Relation.Name {
		case "prepare":
			column := map[string]string{"acceptor/0": "proposer/0", "acceptor/1": "proposer/1", "acceptor/2": "proposer/0", "acceptor/3": "proposer/1"}[m.To]
			return m.Fact.Row[0].Str != column
		case "chosen":
			return m.To != "replica/"+string(rune('0'+m.Fact.Row[2].Num-1))
		case "kept", "refused":
			return true
		}
		return false
	})
	m.Until(func(told []interp.Message) bool { return oneSlot(told) != "" })
	out, err := m.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCompPaxosAgreement explores the program with one proxy.
func TestCompPaxosAgreement(t *testing.T) {
	out := exploreCompPaxos(t, mutant(t, "comppaxos", smaller()...), explore.Bounds{Together: 1, StatesMax: 300_000})
	if out.Stopped != nil {
		t.Fatalf("%s, after\n%s", oneSlot(out.Stopped), strings.Join(out.Path, "\n"))
	}
	if out.States != 15938 || !out.Complete {
		t.Errorf("%d states, complete %v, want 15938", out.States, out.Complete)
	}
	both := 0
	for told := range out.Told {
		if strings.Contains(told, "applied(0, 1)") {
			both |= 1
		}
		if strings.Contains(told, "applied(0, 2)") {
			both |= 2
		}
	}
	if both != 3 {
		t.Error("there is no run in which each command is chosen")
	}
}

// TestCompPaxosMistakes has the exploration find what is wrong with changed programs.
func TestCompPaxosMistakes(t *testing.T) {
	for name, change := range map[string][]string{
		"one acceptor of a row decides":      {"static width(n: u64) = { (2) }", "static width(n: u64) = { (1) }"},
		"one acceptor of a column elects":    {"static height(n: u64) = { (2) }", "static height(n: u64) = { (1) }"},
		"a row elects, not a column":         {`(node "acceptor/0", 0), (node "acceptor/1", 1), (node "acceptor/2", 0), (node "acceptor/3", 1) }`, `(node "acceptor/0", 0), (node "acceptor/1", 0), (node "acceptor/2", 1), (node "acceptor/3", 1) }`, "height(n: u64) = { (2) }", "height(n: u64) = { (1) }"},
		"what was taken before is not asked": {"proposing(b, s, c, id, w, k, v) <- adopted(b, s, c, id, w, k, v)", "proposing(b, s, c, id, w, k, v) <- adopted(b, s, c, id, w, k, v), s > 9"},
		"what was promised is not kept":      {"promised(t), b >= t, greatest(s, b)", "promised(t), t >= 0, greatest(s, b)"},
	} {
		t.Run(name, func(t *testing.T) {
			out := exploreCompPaxos(t, mutant(t, "comppaxos", append(smaller(), change...)...), explore.Bounds{Together: 1, StatesMax: 300_000})
			if out.Stopped == nil {
				t.Errorf("not found in %d states", out.States)
			}
		})
	}
}
