// SPDX-License-Identifier: Apache-2.0

package dedalus_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
)

// TestMultiPaxos explores Multi-Paxos whose phases share nothing, as it is and as the
// steps that were chosen for it make it, as TestPaxosAgreement does paxos.ded; and finds
// mistakes in it.
func TestMultiPaxos(t *testing.T) {
	for name, c := range map[string]struct {
		less   []string
		bounds explore.Bounds
		wrong  bool
	}{
		"two leaders":  {nil, explore.Bounds{Together: 1}, false},
		"a crash":      {one(), explore.Bounds{Together: 1, Crashes: 1}, false},
		"a repetition": {one(), explore.Bounds{Together: 1, Duplicates: 1}, false},
		"nothing is adopted": {[]string{"proposing(b, s, l, v) <- adopted(b, s, l, v)", "proposing(b, s, l, v) <- adopted(b, s, l, v), s > 9"},
			explore.Bounds{Together: 1}, true},
		"a promise is enough": {[]string{"complete(a, b) <- promises(a, b, n, _), got(a, b, m), m >= n", "complete(a, b) <- promises(a, b, _, _)"},
			explore.Bounds{Together: 1}, true},
		"chunks of one slot": {[]string{"{ (128) }", "{ (1) }"}, explore.Bounds{Together: 1}, false},
		"chunks that are missing": {[]string{"{ (128) }", "{ (1) }", "entries(_, b, k, s, c, _, _)", "entries(_, b, k, s, c, _, _), k > 0"},
			explore.Bounds{Together: 1}, true},
		"any ballot is taken": {[]string{"promised(t), b >= t, not past(s)", "promised(_), not past(s)"}, explore.Bounds{Together: 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			out := explorePaxos(t, mutant(t, "multipaxos", c.less...), c.bounds, "proposer/1")
			if found := out.Stopped != nil; found != c.wrong || !c.wrong && !out.Complete {
				t.Fatalf("complete %v: %q, after %v: %v", out.Complete, agreement(out.Stopped), out.Path, out.Stopped)
			}
			both := false
			for told := range out.Told {
				both = both || strings.Contains(told, "x0") && strings.Contains(told, "x1")
			}
			if !both && !c.wrong {
				t.Error("there is no run in which both commands are chosen")
			}
			t.Logf("%d states", out.States)
		})
	}
}

// TestMultiPaxosRewritten explores what the first steps make of it: the second phase
// apart, with one acceptor.
func TestMultiPaxosRewritten(t *testing.T) {
	steps := rewritten(t, "multipaxos", one()...)
	out := explorePaxos(t, steps[1].after, explore.Bounds{Together: 1}, "proposer/1")
	if out.Stopped != nil || !out.Complete {
		t.Fatalf("complete %v: %q, after %v: %v", out.Complete, agreement(out.Stopped), out.Path, out.Stopped)
	}
	t.Logf("%d states", out.States)
}
