// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
)

// TestCorpusIsFresh: the translations of the corpus, which several versions of
// the standard translator made, are those of their algorithms.
func TestCorpusIsFresh(t *testing.T) {
	needsCorpus(t)
	files, err := filepath.Glob(filepath.Join(corpus, "*", "*.tla"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "END TRANSLATION") || !strings.Contains(string(text), "algorithm ") {
			continue
		}
		calls := 0
		translate := func(u *load.Untranslated, list *source.List) load.Translation {
			calls++
			return InMemory(u, list)
		}
		_, diags, err := load.Load(osFiles{}, path, load.Options{Translate: translate, WarnStale: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range diags.Sorted() {
			if d.Code == load.StaleTranslation {
				t.Errorf("%s: %s", path, d.Message)
			}
		}
		compared += calls
	}
	if compared < 15 {
		t.Errorf("only %d translations were compared", compared)
	}
	t.Logf("%d compared", compared)
}

// TestStale changes an algorithm after its translation was made.
func TestStale(t *testing.T) {
	const algorithm = `---- MODULE T ----
EXTENDS Integers, Sequences, TLC
(* --algorithm A {
variables n = 0, m \in 1..3;
procedure P(a) variables b = 1; { p: assert a > b; return; }
process (W \in 1..2) variables k = 0; {
l1: while (k < 2) { with (i \in 1..2) { n := n + i; }; l2: k := k + 1; };
l3: call P(5); l4: either { goto l1 } or { await m = 2; skip } } } *)
====
`
	f := translated(t, oneFile(algorithm), "T.tla")
	for _, c := range []struct{ old, with, want string }{
		{"", "", ""},
		{"n := n + i", "n := (n + i)", ""},
		{"with (i ", "\n\nwith (i ", ""},
		{"i \\in 1..2) { n := n + i; }", "j \\in 1..2) { n := n + j; }", ""},
		{"n := n + i", "n := n + i + 7", "l1 differs between the two: 7 is only in the algorithm"},
		{"n := n + i", "n := n - i", "l1 differs between the two: - is only in the algorithm"},
		{"n := n + i", "m := m + i", "l1 differs between the two: m is only in the algorithm"},
		{"await m = 2;", "", "l4 differs between the two: 2 is only in the translation"},
		{"goto l1", "goto l3", `l4 differs between the two: "l3" is only in the algorithm`},
		{"l2: ", "l5: ", `l1 differs between the two: "l5" is only in the algorithm`},
		{"m \\in 1..3", "m \\in 1..4", "Init differs between the two: 4 is only in the algorithm"},
		{"n = 0,", "n = 0, o = 0,", "the variable o is only in the algorithm"},
		{"variables k = 0;", "variables k = 0; h = 1;", "the variable h is only in the algorithm"},
		{"b = 1;", "b = 1, c;", "the variable c is only in the algorithm"},
	} {
		text := strings.Replace(string(f.Content), c.old, c.with, 1)
		if c.old != "" && text == string(f.Content) {
			t.Fatalf("%q is not in the algorithm", c.old)
		}
		_, diags, err := load.Load(oneFile(text), "T.tla", load.Options{Translate: InMemory, WarnStale: true})
		if err != nil || diags.HasErrors() {
			t.Fatalf("%v %v", err, diags)
		}
		got := ""
		for _, d := range diags.Sorted() {
			if d.Code == load.StaleTranslation {
				got = d.Message
			}
		}
		if c.want == "" && got != "" || !strings.HasSuffix(got, c.want) {
			t.Errorf("%q for %q: got %q, want %q", c.with, c.old, got, c.want)
		}
	}
}

// TestStaleModular changes a modular algorithm after its translation was made,
// or the translation itself. The algorithm is used.
func TestStaleModular(t *testing.T) {
	const algorithm = `---- MODULE T ----
EXTENDS Integers, Sequences, TLC
(* --mpcal A {
mapping macro Counted {
  read { yield $variable; }
  write { yield $variable + $value; }
}
archetype W(ref x) variables k = 0; {
l1: while (k < 2) { x := 1; l2: k := k + 1; };
}
variables n = 0;
process (P \in 1..2) == instance W(ref n) mapping n via Counted;
} *)
====
`
	f := translated(t, oneFile(algorithm), "T.tla")
	const unused = "the algorithm is used, not this translation, and the two differ: "
	for _, c := range []struct{ old, with, want string }{
		{"", "", ""},
		{"x := 1", "x := (1)", ""},
		{"$variable + $value", "$variable + $value + 7", "l1 differs between the two: 7 is only in the algorithm"},
		{"k < 2", "k < 3", "l1 differs between the two: 3 is only in the algorithm"},
		{"l2: ", "l5: ", `l1 differs between the two: "l5" is only in the algorithm`},
		{"variables n = 0;", "variables n = 0, o = 0;", "the variable o is only in the algorithm"},
		{"BEGIN TRANSLATION\n", "BEGIN TRANSLATION\nVARIABLE old\n", "the variable old is only in the translation"},
		{"BEGIN TRANSLATION\n", "BEGIN TRANSLATION\nOld == (1\n", "the translation does not parse"},
	} {
		text := strings.Replace(string(f.Content), c.old, c.with, 1)
		if c.old != "" && text == string(f.Content) {
			t.Fatalf("%q is not in the file", c.old)
		}
		loaded, diags, err := load.Load(oneFile(text), "T.tla", load.Options{Translate: InMemory, WarnStale: true})
		if err != nil || diags.HasErrors() {
			t.Fatalf("%q for %q: %v %v", c.with, c.old, err, diags.Sorted())
		}
		if loaded.Plain == nil || loaded.Spec.Names["Old"] != nil {
			t.Errorf("%q for %q: the translation in the file is used", c.with, c.old)
		}
		var got []string
		for _, d := range diags.Sorted() {
			if d.Code == load.StaleTranslation {
				got = append(got, d.Message)
			}
		}
		var want []string
		if c.want != "" {
			want = append(want, unused+c.want)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q for %q: got %q, want %q", c.with, c.old, got, want)
		}
	}
}

// TestStaleCrashes changes what a crash does after the translation was made, without
// a change to any label.
func TestStaleCrashes(t *testing.T) {
	const algorithm = `---- MODULE T ----
EXTENDS Integers, Sequences, TLC
(* --mpcal A {
mapping macro M {
  read { yield $variable; }
  write { yield $value; }
  crash { $variable[self] := {}; }
}
archetype W(ref x[_]) durable variables d = 0; variables v = 0; {
a: d := v; v := d; x[self] := {1};
b: d := 0; v := 0;
recover: skip;
}
variables n = [i \in 1..2 |-> {}];
process (P \in 1..2) == instance W(ref n[_]) mapping n[_] via M;
} *)
====
`
	f := translated(t, oneFile(algorithm), "T.tla")
	for _, c := range []struct{ old, with, want string }{
		{"variables n", "variables  n", ""},
		{"durable variables d = 0; variables v = 0;", "durable variables v = 0; variables d = 0;", "CrashP differs between the two: d is only in the algorithm"},
		{"  crash { $variable[self] := {}; }\n", "", "CrashP differs between the two: n is only in the translation"},
		{"CRASHES == 0\n", "", "the translation has no CRASHES"},
		{"CRASHES == 0\n", "CRASHES == 2\n", "CRASHES differs between the two: 0 is only in the algorithm"},
		{`"Done"`, `"Dane"`, `CrashP differs between the two: "Done" is only in the algorithm`},
	} {
		at := 0
		if c.old == `"Done"` {
			at = strings.LastIndex(string(f.Content), "CrashP(self) ==")
		}
		text := string(f.Content[:at]) + strings.Replace(string(f.Content[at:]), c.old, c.with, 1)
		if text == string(f.Content) {
			t.Fatalf("%q is not in the file", c.old)
		}
		_, diags, err := load.Load(oneFile(text), "T.tla", load.Options{Translate: InMemory, WarnStale: true})
		if err != nil || diags.HasErrors() {
			t.Fatalf("%q for %q: %v %v", c.with, c.old, err, diags.Sorted())
		}
		got := ""
		for _, d := range diags.Sorted() {
			if d.Code == load.StaleTranslation {
				got += strings.TrimPrefix(d.Message, "the algorithm is used, not this translation, and the two differ: ")
			}
		}
		if got != c.want {
			t.Errorf("%q for %q: got %q, want %q", c.with, c.old, got, c.want)
		}
	}
}
