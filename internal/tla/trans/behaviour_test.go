// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"context"
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
)

// TestBehaviours checks algorithms in both syntaxes against counts of states
// generated, distinct states and depth from searches written by hand for these
// algorithms: a mutual exclusion, and recursion with local variables, whose
// first values are those of the new parameters.
func TestBehaviours(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"processes, with braces", peterson, "77 42 11"},
		{"processes, with words", petersonWords, "77 42 11"},
		{"procedures, with braces", recursion, "260 235 24"},
		{"procedures, with words", recursionWords, "260 235 24"},
	} {
		t.Run(c.name, func(t *testing.T) {
			loaded, diags, err := load.Load(oneFile(c.text), "T.tla", load.Options{Translate: InMemory})
			if err != nil || loaded == nil {
				t.Fatal(err, diags)
			}
			var wrong source.List
			cfg := config.Parse(source.NewFile("T.cfg", []byte("SPECIFICATION Spec")), &wrong)
			m, err := model.New(loaded.Spec, cfg, model.Options{})
			if err != nil || wrong.HasErrors() {
				t.Fatal(err, &wrong)
			}
			r, err := check.Run(context.Background(), m, check.Options{Workers: 1, SafetyOnly: true})
			if err != nil || r.Err != nil || r.Property != "" {
				t.Fatal(err, r.Err, r.Property)
			}
			if got := fmt.Sprintf("%d %d %d", r.Generated, r.Distinct, r.Depth); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

const (
	peterson = `---- MODULE T ----
EXTENDS Integers
(* --algorithm T {
 variables flag = [i \in {0,1} |-> FALSE], turn = 0;
 fair process (P \in {0,1}) {
  a0: while (TRUE) {
  a1: flag[self] := TRUE;
  a2: turn := 1 - self;
  a3: await ~flag[1 - self] \/ turn = self;
  cs: skip;
  a4: flag[self] := FALSE; }
 } } *)
====
`

	petersonWords = `---- MODULE T ----
EXTENDS Integers
(* --algorithm T
 variables flag = [i \in {0,1} |-> FALSE], turn = 0;
 fair process P \in {0,1}
 begin
  a0: while TRUE do
  a1: flag[self] := TRUE;
  a2: turn := 1 - self;
  a3: await ~flag[1 - self] \/ turn = self;
  cs: skip;
  a4: flag[self] := FALSE;
  end while;
 end process
 end algorithm *)
====
`

	recursion = `---- MODULE T ----
EXTENDS Integers, Sequences
(* --algorithm T {
 variables sum = 0, x = 1, y \in 0..2;
 macro add(v) { sum := sum + v; }
 procedure Down(n = 9)
  variables loc = n; z;
 { d1: if (n > 0) { add(n); d2: call Down(n - 1); d3: sum := sum + loc }
   else { z := 3 };
   d4: loc := loc + 1; d5: return; }
 { m1: either { x := 5; } or { x := y || y := x; } or { await y > 1; goto m3; };
   m2: with (i \in {1,2}, j \in {i, i + 1}) { x := i * 10 + j };
   m3: call Down(y);
   m4: if (sum < 30) { m5: sum := sum + 10; goto m4 }
 } } *)
====
`

	recursionWords = `---- MODULE T ----
EXTENDS Integers, Sequences
(* --algorithm T
 variables sum = 0, x = 1, y \in 0..2;
 macro add(v) begin sum := sum + v; end macro;
 procedure Down(n = 9)
  variables loc = n; z;
 begin d1: if n > 0 then add(n); d2: call Down(n - 1); d3: sum := sum + loc
   else z := 3 end if;
   d4: loc := loc + 1; d5: return;
 end procedure
 begin m1: either x := 5; or x := y || y := x; or await y > 1; goto m3; end either;
   m2: with i \in {1,2}, j \in {i, i + 1} do x := i * 10 + j end with;
   m3: call Down(y);
   m4: if sum < 30 then m5: sum := sum + 10; goto m4 elsif sum > 100 then skip; else skip; end if;
 end algorithm *)
====
`
)
