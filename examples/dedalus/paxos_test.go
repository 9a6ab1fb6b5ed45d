package dedalus_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/dedalus/explore"
	"github.com/ashlar-dev/ashlar/dedalus/interp"
	"github.com/ashlar-dev/ashlar/dedalus/logic"
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
// with a command of each. The first is heard by the acceptors 0 and 1 only, the other
// by 1 and 2: each has a majority, and they have one acceptor in common.
func explorePaxos(t *testing.T, p *logic.Program, b explore.Bounds) *explore.Outcomes {
	t.Helper()
	inputs := messages(t, `propose(node "c", b"x0") to proposer/0`, `propose(node "c", b"x1") to proposer/1`)(p)
	m := explore.NewModel(p, inputs, nil, functions(), b)
	m.Limit("heartbeat", 0)
	m.Limit("election", 2)
	m.Lose(func(m interp.Message) bool {
		switch m.Fact.Relation.Name {
		case "prepare", "accept":
			from := m.Fact.Row[0].Str
			return from == "proposer/0" && m.To == "acceptor/2" || from == "proposer/1" && m.To == "acceptor/0"
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

// TestPaxosAgreement explores the program as it is.
func TestPaxosAgreement(t *testing.T) {
	for name, c := range map[string]struct {
		bounds explore.Bounds
		states int64
	}{
		"two leaders": {explore.Bounds{Together: 1}, 16768},
	} {
		t.Run(name, func(t *testing.T) {
			out := explorePaxos(t, load(t, "paxos"), c.bounds)
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
	} {
		t.Run(name, func(t *testing.T) {
			out := explorePaxos(t, mutant(t, "paxos", c.change...), c.bounds)
			if out.Stopped == nil {
				t.Errorf("not found in %d states", out.States)
			}
		})
	}
}
