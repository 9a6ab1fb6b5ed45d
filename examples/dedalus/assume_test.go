// SPDX-License-Identifier: Apache-2.0

package dedalus_test

import (
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	assertion "github.com/ashlar-dev/ashlar/internal/dedalus/trial"
)

// TestAssumed asks all runs of two-phase commit on a few messages what its author asserts: that it
// makes no difference when what is asserted of a relation happens later.
func TestAssumed(t *testing.T) {
	begin, yes, no := `begin(node "c", 1) to coordinator/0`, `ready(1, true) to resource/0`, `ready(1, false) to resource/1`
	for name, c := range map[string]struct {
		program string
		less    []string
		inputs  []string
		limits  map[string]int
	}{
		"all want it":               {"commit", two(), []string{begin}, nil},
		"the client gives up":       {"commit", two(), []string{begin, `giveUp(node "c", 1) to coordinator/0`}, nil},
		"one refuses":               {"commit", two(), []string{begin, `refuse(1) to resource/0`}, nil},
		"asked again":               {"commit", two(), []string{begin, `begin(node "d", 1) to coordinator/0`}, nil},
		"with timers":               {"twophase", nil, []string{begin, yes, `ready(1, true) to resource/1`}, map[string]int{"retry": 1, "timeout": 0}},
		"with timers, one does not": {"twophase", nil, []string{begin, yes, no}, map[string]int{"retry": 0, "timeout": 1}},
		"with timers, one is late":  {"twophase", nil, []string{begin, yes}, map[string]int{"retry": 0, "timeout": 2}},
	} {
		t.Run(name, func(t *testing.T) {
			p := mutant(t, c.program, c.less...)
			a, d, complete, err := assertion.Kept(t.Context(), p, messages(t, c.inputs...)(p), functions(), explore.Bounds{Together: 1}, func(m *explore.Model) {
				for timer, n := range c.limits {
					m.Limit(timer, n)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if a != nil || !complete {
				t.Errorf("complete %v, %v: %v", complete, a, d)
			}
		})
	}
}

// TestAssumedElections has random runs with crashes of Multi-Paxos, and many of two leaders, in
// which what is asserted happens later: slots are agreed on, what clients see is linearizable, and
// all are answered.
func TestAssumedElections(t *testing.T) {
	for name, less := range map[string][]string{"as it is": nil, "chunks of one slot": {"{ (128) }", "{ (1) }"}} {
		t.Run(name, func(t *testing.T) {
			list := assertion.Asserted(mutant(t, "multipaxos", less...))
			if len(list) != 1 || list[0].Component != "proposer" {
				t.Fatal(list)
			}
			q := list[0].Late
			if wrong, found := storeTrial(t, q, false).find(t, seeds(t, 3)); found {
				t.Error(wrong)
			}
			out := explorePaxos(t, q, explore.Bounds{Together: 1, StatesMax: 20_000}, "proposer/1")
			if out.Stopped != nil {
				t.Errorf("%q, after %v", agreement(out.Stopped), out.Path)
			}
		})
	}
}

// TestAssumedAlone has what counts slots fall behind the proposals that it counts: an assertion that
// does not hold of it alone, and two commands are chosen in a slot.
func TestAssumedAlone(t *testing.T) {
	p := mutant(t, "multipaxos", "{ (128) }", "{ (1) }")
	p.Assumptions = slices.DeleteFunc(p.Assumptions, func(a logic.Assumption) bool { return a.Relation != "slots" })
	out := explorePaxos(t, assertion.Asserted(p)[0].Late, explore.Bounds{Together: 1, StatesMax: 50_000}, "proposer/1")
	if got := agreement(out.Stopped); got != "two commands are chosen in a slot" {
		t.Errorf("got %q in %d states", got, out.States)
	}
}
