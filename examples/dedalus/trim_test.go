// SPDX-License-Identifier: Apache-2.0

package dedalus_test

import (
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
)

// applies is how Multi-Paxos has proposers that apply the first slot, in the place of clients
// that do.
func applies() []string {
	return []string{"  input  applied(by: node, n: u64)\n", "", "done(l, n) <- applied(l, n)", "done(self, 1) <- closed(0, _)",
		"  input  missing(by: node, slot: u64)\n", "", "  async chosen@l(s, v) <- missing(l, s), closed(s, v)\n", ""}
}

// exploreTrimmed visits all runs of two proposers that both want to lead, with a command and more inputs,
// in which the first slot is trimmed when it was applied. The first proposer is heard by the
// acceptors 0 and 1; its trimming by 1 only. The second asks 1 and 2, and is heard by all then.
func exploreTrimmed(t *testing.T, states int64, changes []string, wrong func([]interp.Message) bool, more ...string) *explore.Outcomes {
	t.Helper()
	p := mutant(t, "multipaxos", append(applies(), changes...)...)
	inputs := messages(t, append([]string{`propose(node "c", b"x0") to proposer/0`}, more...)...)(p)
	m := explore.NewModel(p, inputs, nil, functions(), explore.Bounds{Together: 1, StatesMax: states})
	m.Limit("heartbeat", 1)
	m.Limit("election", 2)
	all := p.Component("acceptor").Instances == 3
	m.Lose(func(m interp.Message) bool {
		switch m.Fact.Relation.Name {
		case "forget", "alive", "rising", "leader", "refused":
			return true
		case "trim":
			return all && m.To != "acceptor/1"
		case "prepare", "accept":
			from := m.Fact.Row[0].Str
			return all && (from == "proposer/0" && m.To == "acceptor/2" || from == "proposer/1" && m.To == "acceptor/0" && m.Fact.Relation.Name == "prepare")
		}
		return false
	})
	m.Until(wrong)
	out, err := m.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTrimmed explores Multi-Paxos whose log is trimmed: slots have one command, and nothing is
// forgotten that somebody who applies the log has not applied.
func TestTrimmed(t *testing.T) {
	disagree := func(told []interp.Message) bool { return agreement(told) != "" }
	trimmed := func(told []interp.Message) bool {
		return slices.ContainsFunc(told, func(m interp.Message) bool { return m.Fact.Relation.Name == "kept" && m.Fact.Row[1].Num > 0 })
	}
	const takes, taken = "accept(p, b, s, l, v, r), promised(t), b >= t, not past(s)", "accept(p, b, s, l, v, r), promised(t), b >= t"
	const asks, asked = "next slots(b, f) <- promises(_, b, _, f), trying(b)", "next slots(b, 0) <- promises(_, b, _, _), trying(b)"
	const waits, waited = "telling(k), appliers(k)", "telling(_), appliers(_)"
	two := append(one(), "appliers(n: u64) = { (1) }", "appliers(n: u64) = { (2) }")
	for name, c := range map[string]struct {
		less     []string
		wrong    func([]interp.Message) bool
		found    bool
		complete bool
		kept     bool // ask what is kept
	}{
		"one acceptor":                   {one(), disagree, false, true, false},
		"three acceptors":                {nil, disagree, false, false, false},
		"it is trimmed":                  {one(), trimmed, true, false, true},
		"bounds are not asked, nor kept": {append(one(), takes, taken, asks, asked), disagree, true, false, false},
		"another one has not applied it": {two, trimmed, false, true, true},
		"another one that is not asked":  {append(two, waits, waited), trimmed, true, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			more := `propose(node "c", b"x1") to proposer/1`
			if c.kept {
				more = `oldest(node "c") to proposer/0`
			}
			out := exploreTrimmed(t, 30_000, c.less, c.wrong, more)
			if (out.Stopped != nil) != c.found || c.complete && !out.Complete {
				t.Errorf("%d states, complete %v, found %v after %v", out.States, out.Complete, out.Stopped, out.Path)
			}
			t.Logf("%d states", out.States)
		})
	}
}
