// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/trial"
)

// asked is a program that asks another node twice, while rules of its own change state.
const asked = `program asked
component a {
  input  order(v: u64)
  output served(v: u64)
  output spoiled(v: u64)
  static n(k: u64) = { (1) }
  static waiter(w: node) = nodes waiter
  async  carry@w(v) <- order(v), waiter(w)
  async  fetch@w(v) <- plate(v), waiter(w)
  RULES
}
component waiter {
  static kitchen(k: node) = nodes a
  async  plate@k(v) <- carry(v), kitchen(k)
  async  bill@k(v) <- fetch(v), kitchen(k)
}
`

// TestPostponed asks of runs what authors assert: some of it holds, and some does not. Why it
// does or does not is said of each program; nothing here knows what rewrites ask for.
func TestPostponed(t *testing.T) {
	for name, c := range map[string]struct {
		rules, assume string
		wrong         bool
	}{
		// The meal is cold two ticks after it came. Two messages each way take longer.
		"what is forgotten is missed": {`
  sync  meal(v) <- order(v)
  next  meal(v) <- meal(v), not cold(v)
  next  cold(v) <- meal(v)
  next  cold(v) <- cold(v)
  async served@node "c"(v) <- meal(v), bill(v)`, "collected meal", true},
		// The bill is told all the same.
		"what is forgotten is not missed": {`
  sync  meal(v) <- order(v)
  next  meal(v) <- meal(v), not cold(v)
  next  cold(v) <- meal(v)
  next  cold(v) <- cold(v)
  async served@node "c"(v) <- bill(v)
  async served@node "c"(v) <- meal(v), bill(v)`, "collected meal", false},
		// A kitchen has opened by the time that a bill comes.
		"when it is given shows": {`
  next  open() <- n(_)
  next  open() <- open()
  async spoiled@node "c"(v) <- bill(v), not open()`, "timely open", true},
		// It may not have when an order does.
		"when it is given may be any time": {`
  next  open() <- n(_)
  next  open() <- open()
  async spoiled@node "c"(v) <- order(v), not open()`, "timely open", false},
		// What holds for a tick has gone when the bill comes.
		"when it goes shows": {`
  next  warm(v) <- order(v)
  async served@node "c"(v) <- warm(v), bill(v)`, "timely warm", true},
		// What is held is held together: where the kitchen opens when it is warm, it is warm when it is
		// open.
		"what changes together": {`
  next  warm() <- n(_)
  next  warm() <- warm()
  next  open() <- warm()
  next  open() <- open()
  async spoiled@node "c"(v) <- bill(v), open(), not warm()`, "timely warm\nassume timely open", false},
		// What comes with an order is there in the next tick, whatever timers run out.
		"what an order brings is there": {`
  next  paid(v) <- order(v)
  next  paid(v) <- paid(v)
  next  sure(v) <- order(v)
  async served@node "c"(v) <- sure(v), paid(v)`, "timely paid", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := given.Program(t, strings.Replace(asked, "RULES", c.rules, 1)+"assume "+c.assume+"\n")
			a, d, complete, err := trial.Kept(t.Context(), p, given.Inputs(p, 1), nil, explore.Bounds{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if found := a != nil; found != c.wrong || !c.wrong && !complete {
				t.Errorf("complete %v, assume %v: %v", complete, a, d)
			}
			if c.wrong && a != nil && a.String() != "assume "+strings.ReplaceAll(c.assume, "\n", ", ") {
				t.Errorf("the assumption is %v", a)
			}
		})
	}
}

// TestNotPostponed: what no rule changes from tick to tick, and what is asserted of counts, is not
// about ticks.
func TestNotPostponed(t *testing.T) {
	p := given.Program(t, strings.Replace(asked, "RULES", `
  sync  many(count<v>) <- order(v)
  async served@node "c"(k) <- many(k), k >= 1`, 1)+"assume growing many\nassume timely many\n")
	if got := trial.Asserted(p); len(got) > 0 {
		t.Errorf("%v", got)
	}
}
