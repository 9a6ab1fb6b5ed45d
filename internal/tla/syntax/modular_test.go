// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// crashing has every form that concerns crashes, and the same words in other
// places, where they are names.
const crashing = `--mpcal Crashing {
  mapping macro Mail {
    read { yield $variable }
    write { yield $value }
    crash { $variable[self] := {}; }
  }
  mapping macro Plain { read { yield $variable } write { yield $value } }
  archetype A(ref durable)
    durable variables term = 0, voted \in {1, 2};
    variables durable, crash = 1;
  { recover: crash := durable; }
  archetype B() durable variable crash = 1; { l: crash := 2; }
  archetype C() variables x = 1; { l: skip }
  variables durable = 0;
  process (P = 1) == instance A(ref durable) mapping durable via Mail;
}`

func TestCrashing(t *testing.T) {
	a := inComment(t, crashing)
	var got []string
	for _, m := range a.MappingMacros {
		got = append(got, fmt.Sprint(m.Name, m.Crash != nil))
	}
	for _, x := range a.Archetypes {
		line := x.Name.Text + ":"
		for _, v := range x.Durable {
			line += " durable " + v.Name.Text
		}
		for _, v := range x.Variables {
			line += " " + v.Name.Text
		}
		got = append(got, line)
	}
	want := "Mail true; Plain false; A: durable term durable voted durable crash; B: durable crash; C: x"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
	if got := outline(a.MappingMacros[0].Crash.Body); got != "set:$variable" {
		t.Errorf("crash: got %s", got)
	}
	printed := Format(a)
	again := inComment(t, printed)
	if second := Format(again); second != printed {
		t.Errorf("printing changes\n%s\nto\n%s", printed, second)
	}
	for _, part := range []string{"durable variables\n", "voted \\in {1, 2};", "crash {"} {
		if !strings.Contains(printed, part) {
			t.Errorf("%q is missing in\n%s", part, printed)
		}
	}
	// A walk through the tree finds everything in the text.
	seen := map[string]bool{}
	Inspect(a, func(n Node) bool {
		switch n := n.(type) {
		case *PlusVar:
			seen[n.Name.Text] = true
		case *Dollar:
			seen[n.Name] = true
		case *Assign:
			seen["set "+n.Parts[0].Target.Text] = true
		}
		return true
	})
	for _, name := range []string{"term", "voted", "set $variable"} {
		if !seen[name] {
			t.Errorf("the walk misses %s", name)
		}
	}
}

// TestCrashMisuse checks the error of each form, and that parsing continues
// after it.
func TestCrashMisuse(t *testing.T) {
	const macro = "mapping macro M { read { yield $variable } write { yield $value } "
	cases := []struct{ name, text, want string }{
		{"in a process", "--algorithm A { process (P = 1) durable variables x = 1; { l: skip } }",
			"DurablePlace: only an archetype has durable variables, a process has none: expected `variables`"},
		{"in p syntax", "--algorithm A process P = 1 durable variables x = 1; begin l: skip; end process; end algorithm",
			"DurablePlace: only an archetype has durable variables, a process has none: expected `variables`"},
		{"of an algorithm", "--algorithm A { durable variables x = 1; { skip } }",
			"DurablePlace: only an archetype has durable variables, an algorithm has none: expected `variables`"},
		{"after a variable", "--algorithm A { variables y = 1; durable variables x = 1; { skip } }",
			"DurablePlace: only an archetype has durable variables, an algorithm has none: expected `variables`; SectionOrder: the algorithm's variables must not come after the algorithm's variables"},
		{"in a procedure", "--algorithm A { procedure P() durable variables x = 1; { l: return } process (Q = 1) { q: skip } }",
			"DurablePlace: only an archetype has durable variables, a procedure has none: expected `variables`"},
		{"without variables", "--mpcal A { archetype B() durable x = 1; { l: skip } process (P = 1) { q: skip } }",
			"TokenExpected: expected `variables` after durable, found `x`"},
		{"without a semicolon", "--mpcal A { archetype B() durable variables x = 1 variables y = 1; { l: skip } }",
			"SemicolonMissing: expected `;` after the declaration of a variable, found `variables`"},
		{"late", "--mpcal A { archetype B() variables y = 1; durable variables x = 1; { l: skip } }",
			"DurableOrder: the durable variables of an archetype must come before its other variables"},
		{"twice", "--mpcal A { archetype B() durable variables y = 1; durable variables x = 1; { l: skip } }",
			"DurableOrder: an archetype declares its durable variables once"},
		{"crash first", "--mpcal A { mapping macro M { crash { skip } read { yield $variable } write { yield $value } } }",
			"CrashOrder: the crash part of a mapping macro must come last, after read and write"},
		{"crash between", "--mpcal A { mapping macro M { read { yield $variable } crash { skip } write { yield $value } } }",
			"CrashOrder: the crash part of a mapping macro must come last, after read and write"},
		{"crash twice", "--mpcal A { " + macro + "crash { skip } crash { skip } } }",
			"CrashOrder: a mapping macro has one crash part"},
		{"crash without a body", "--mpcal A { " + macro + "crash } }",
			"TokenExpected: expected `{` before the statements, found `}`"},
		{"crash in an archetype", "--mpcal A { archetype B() { l: skip } crash { skip } }",
			"SectionExpected: expected a section of the algorithm, found `crash`"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, errs := ParseModule(source.NewFile("M.tla", []byte("---- MODULE M ----\n(* "+c.text+" *)\n====\n")))
			var got []string
			for _, d := range errs.Sorted() {
				got = append(got, string(d.Code)+": "+d.Message)
				if d.Repair == "" && !strings.HasPrefix(d.Message, "expected `}`") {
					t.Errorf("%s has no repair", d.Message)
				}
			}
			if s := strings.Join(got, "; "); s != c.want {
				t.Errorf("got\n%s\nwant\n%s", s, c.want)
			}
		})
	}
}
