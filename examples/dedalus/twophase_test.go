// SPDX-License-Identifier: Apache-2.0

package dedalus_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// atomicity says what is wrong with what two-phase commit has told: of a transaction
// that somebody commits nobody aborts, and nobody commits one that a resource did not
// want, or was not asked about.
func atomicity(inputs []interp.Message) func(told []interp.Message) string {
	no, yes := map[uint64]bool{}, map[uint64]map[string]bool{}
	for _, m := range inputs {
		if m.Fact.Relation.Name != "ready" {
			continue
		}
		tx := m.Fact.Row[0].Num
		if yes[tx] == nil {
			yes[tx] = map[string]bool{}
		}
		if m.Fact.Row[1].Num == 0 {
			no[tx] = true
		} else {
			yes[tx][m.To] = true
		}
	}
	return func(told []interp.Message) string {
		commits, aborts := map[uint64]bool{}, map[uint64]bool{}
		for _, m := range told {
			row := m.Fact.Row
			if m.Fact.Relation.Name == "applied" {
				row = row[1:]
			}
			if tx := row[0].Num; row[1].Num == 1 {
				commits[tx] = true
			} else {
				aborts[tx] = true
			}
		}
		for tx := range commits {
			switch {
			case aborts[tx]:
				return "a transaction is committed and aborted"
			case len(yes[tx]) < 2:
				return "a transaction is committed without all votes"
			case no[tx]:
				return "a transaction is committed against a vote"
			}
		}
		return ""
	}
}

// wanted are inputs of a transaction whose resources answer so.
func wanted(t testing.TB, p *logic.Program, votes ...string) []interp.Message {
	texts := []string{`begin(node "c", 1) to coordinator/0`}
	for i, v := range votes {
		if v != "" {
			texts = append(texts, "ready(1, "+v+") to "+logic.NodeName("resource", i))
		}
	}
	return messages(t, texts...)(p)
}

// exploreTwoPhase visits all that a program can do, up to the first wrong answer.
// Limits are how often timers run out.
func exploreTwoPhase(t *testing.T, p *logic.Program, b explore.Bounds, limits map[string]int, votes ...string) *explore.Outcomes {
	t.Helper()
	inputs := wanted(t, p, votes...)
	wrong := atomicity(inputs)
	m := explore.NewModel(p, inputs, nil, functions(), b)
	for timer, times := range limits {
		m.Limit(timer, times)
	}
	m.Until(func(told []interp.Message) bool { return wrong(told) != "" })
	out, err := m.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTwoPhaseCommit visits all runs of one transaction, with messages in any order,
// timers at any time, and a crash at any moment of any node. Every run that comes to
// rest has decided, and all participants did as was decided.
func TestTwoPhaseCommit(t *testing.T) {
	for name, c := range map[string]struct {
		votes  []string
		bounds explore.Bounds
		limits map[string]int
		states int64
		commit bool // may it?
	}{
		"both want it":               {[]string{"true", "true"}, explore.Bounds{}, nil, 36476, true},
		"one does not":               {[]string{"true", "false"}, explore.Bounds{}, nil, 32084, false},
		"one does not answer":        {[]string{"true", ""}, explore.Bounds{}, nil, 6628, false},
		"nobody answers":             {nil, explore.Bounds{}, nil, 1366, false},
		"both, a crash, no timeouts": {[]string{"true", "true"}, explore.Bounds{Together: 1, Crashes: 1}, map[string]int{"timeout": 0}, 12950, true},
		"both, a crash, one retry":   {[]string{"true", "true"}, explore.Bounds{Together: 1, Crashes: 1}, map[string]int{"retry": 1}, 41102, true},
		"both, and repetitions":      {[]string{"true", "true"}, explore.Bounds{Together: 1, Duplicates: 1}, map[string]int{"retry": 1}, 39386, true},
		"nobody, and two crashes":    {nil, explore.Bounds{Together: 1, Crashes: 2}, nil, 7260, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := load(t, "twophase")
			out := exploreTwoPhase(t, p, c.bounds, c.limits, c.votes...)
			if !out.Complete {
				t.Fatalf("%s, after %v: %v", atomicity(wanted(t, p, c.votes...))(out.Stopped), out.Path, out.Stopped)
			}
			if out.States != c.states {
				t.Errorf("%d states, want %d", out.States, c.states)
			}
			committed := false
			for told := range out.Final {
				committed = committed || strings.Contains(told, "true")
				if c.bounds.Crashes > 0 && (told == "" || c.limits["retry"] > 0) {
					// The client was not heard, and has not asked again; or what the
					// crash lost is not sent again.
					continue
				}
				lines := strings.Split(told, "\n")
				if len(lines) != 3 || !strings.HasPrefix(told, "applied") || !strings.Contains(told, "outcome") {
					t.Errorf("it comes to rest having told\n%s", told)
				}
			}
			if len(out.Final) == 0 || committed != c.commit {
				t.Errorf("%d ways to come to rest, committed %v", len(out.Final), committed)
			}
		})
	}
}

// TestTwoPhaseMistakes has the exploration find what is wrong with changed programs.
func TestTwoPhaseMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		change []string
		bounds explore.Bounds
		votes  []string
	}{
		"commits without all votes": {[]string{"ayes(tx, k), n(m), k >= m", "ayes(tx, k), n(m), k + 1 >= m"}, explore.Bounds{}, []string{"true", ""}},
		"counts a no as a vote": {[]string{"ayes(tx, count<p>) <- votes(tx, p, true)", "ayes(tx, count<p>) <- votes(tx, p, _)",
			", not refused(tx), not decided", ", not decided", "deciding(tx, false) <- refused(tx), begun(_, tx)", "deciding(tx, false) <- refused(tx), begun(_, tx), not ayes(tx, 2)"}, explore.Bounds{}, []string{"true", "false"}},
		"aborts what it is committing": {[]string{"begun(_, tx), not refused(tx), not decided(tx, _)", "begun(_, tx), not decided(tx, _)"}, explore.Bounds{}, []string{"true", "true"}},
		"the decision is not durable":  {[]string{"log    decided(", "table  decided(", "log  decided(tx, c) <-", "next decided(tx, c) <-"}, explore.Bounds{Together: 1, Crashes: 1}, []string{"true", "true"}},
		"tells before it is durable":   {[]string{"next  announced(tx, c) <- deciding(tx, c)", "sync  announced(tx, c) <- deciding(tx, c)"}, explore.Bounds{Together: 1, Crashes: 1}, []string{"true", "true"}},
		"aborts what it decided":       {[]string{"refused(tx), begun(_, tx), not decided(tx, _)", "refused(tx), begun(_, tx)", "delete when decided(tx, _)\n  table  votes", "\n  table  votes"}, explore.Bounds{Together: 1}, []string{"true", "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			out := exploreTwoPhase(t, mutant(t, "twophase", c.change...), c.bounds, nil, c.votes...)
			if out.Stopped == nil {
				t.Errorf("not found in %d states", out.States)
			}
		})
	}
}
