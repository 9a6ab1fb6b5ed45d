// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/trial"
)

// keyed tells of a key that it speaks of, 7, what it tells of no other.
const keyed = `program keyed
component a {
  input  in(k: u64)
  output out(k: u64)
  timer  clock every 1s
  async  out@node "c"(k) <- in(k), k != 7
}
`

// TestRun compares a program with itself, with one that differs for a value that the
// program speaks of only, and with one that says nothing.
func TestRun(t *testing.T) {
	p := given.Program(t, keyed)
	for change, want := range map[string]string{"k != 7": "", "k != 8": "safety", "k != k": "liveness"} {
		r, err := trial.Run(t.Context(), p, given.Program(t, strings.Replace(keyed, "k != 7", change, 1)), trial.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if r.Different != nil {
			got = r.Different.Kind
		}
		if got != want {
			t.Errorf("%s: %q, want %q: %v", change, got, want, r)
		}
		if want == "" && (len(r.Sets) != 7 || !strings.HasPrefix(r.String(), "no difference on 7 generated sets of up to 2 messages, 7 of them explored completely, ")) {
			t.Errorf("%v", r)
		}
	}
}

// TestBounds has too few states, and no time: both are said.
func TestBounds(t *testing.T) {
	p := given.Program(t, keyed)
	r, err := trial.Run(t.Context(), p, p, trial.Limits{StatesMax: 1})
	if err != nil {
		t.Fatal(err)
	}
	if s := r.String(); !strings.Contains(s, ", 0 of them explored completely") || !strings.Contains(s, "weak evidence") {
		t.Errorf("%s", s)
	}
	ctx, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	if r, err = trial.Run(ctx, p, p, trial.Limits{}); err != nil || !r.Late || !strings.Contains(r.String(), "until the time limit") {
		t.Errorf("%v, %v", r, err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err = trial.Run(ctx, p, p, trial.Limits{}); err == nil {
		t.Error("interrupted, and nothing said")
	}
}
