// SPDX-License-Identifier: Apache-2.0

// Package proofs_test looks after the Coq development: nothing is assumed but
// what proofs/trusted defines, and every headline theorem says so itself.
package proofs_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files")

// assumption matches what would let something pass unproved.
var assumption = regexp.MustCompile(`\b(Admitted|[Aa]dmit|give_up|Declare Instance|Axioms?|Parameters?|Conjecture|Hypothes[ie]s|Variables?|bypass_check|Unset Guard Checking|Unset Universe Checking|Unset Positivity Checking|type-in-type)\b`)

// TestNothingIsAssumed reads every Coq file: outside comments, no word that
// assumes anything stands anywhere, in trusted no more than elsewhere.
func TestNothingIsAssumed(t *testing.T) {
	for _, file := range coqFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code, problem := withoutComments(string(text))
		if problem != "" {
			t.Errorf("%s: %s", file, problem)
		}
		for i, line := range strings.Split(code, "\n") {
			if word := assumption.FindString(line); word != "" {
				t.Errorf("%s:%d: %s", file, i+1, word)
			}
		}
		for _, line := range looseContexts(code) {
			t.Errorf("%s:%d: Context outside a section is an axiom", file, line)
		}
	}
}

// TestGreps makes sure that the test above can fail.
func TestGreps(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
	}{
		{"Lemma a : b.\nProof. admit. Admitted.", "admit"},
		{"(* Axiom *) Axiom x : False.", "Axiom"},
		{"(* a (* nested *) Admitted *) Qed.", ""},
		{`Definition s := "(* Axiom". Qed. (* *)`, ""},
		{"Local Parameters (a b : nat).", "Parameters"},
		{"Admit Obligations.", "Admit"},
		{"Declare Instance x : Inhabited False.", "Declare Instance"},
	} {
		code, _ := withoutComments(c.text)
		if got := assumption.FindString(code); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// sentence matches the sentences that looseContexts follows.
var sentence = regexp.MustCompile(`(?:^|\.)\s*(?:(?:Local|Global|#\[[^\]]*\])\s+)*(?:(Section|Module)\s+(?:Type\s+)?(\w+)([^.]*)|End\s+(\w+)|(Context))\b`)

// looseContexts returns the lines of code at which Context is outside of every section.
func looseContexts(code string) []int {
	var open []string // what is open, with the word that opened it
	var loose []int
	sections := 0
	for i, line := range strings.Split(code, "\n") {
		for _, m := range sentence.FindAllStringSubmatch(line, -1) {
			switch {
			case m[1] != "" && !strings.Contains(m[3], ":="):
				open = append(open, m[1])
				if m[1] == "Section" {
					sections++
				}
			case m[4] != "" && len(open) > 0:
				if open[len(open)-1] == "Section" {
					sections--
				}
				open = open[:len(open)-1]
			case m[5] != "" && sections == 0:
				loose = append(loose, i+1)
			}
		}
	}
	return loose
}

// TestLooseContexts makes sure that a Context is seen.
func TestLooseContexts(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"Context (x : False).", 1},
		{"#[global] Context `{False}.", 1},
		{"Section a.\n  Context (x : False).\nEnd a.", 0},
		{"Section a.\nEnd a.\nContext (x : False).", 1},
		{"Module m.\n  Context (x : False).\nEnd m.", 1},
		{"Section a. Section b. End b. Context (x : False).\nEnd a. Context (y : False).", 1},
	} {
		if got := looseContexts(c.text); len(got) != c.want {
			t.Errorf("%q: lines %v, want %d of them", c.text, got, c.want)
		}
	}
}

// withoutComments blanks comments (which nest) and strings.
func withoutComments(text string) (code, problem string) {
	var b strings.Builder
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\n':
			b.WriteByte('\n')
		case text[i] == '"':
			quoted = !quoted
		case quoted:
		case strings.HasPrefix(text[i:], "(*"):
			depth++
			i++
		case strings.HasPrefix(text[i:], "*)") && depth > 0:
			depth--
			i++
			b.WriteByte(' ')
		case depth == 0:
			b.WriteByte(text[i])
		}
	}
	if depth > 0 || quoted {
		problem = "a comment or a string is not closed"
	}
	return b.String(), problem
}

// TestTrusted compares the list of what is assumed of the world, which is the
// definitions of proofs/trusted, with the golden one, so that none is added in
// passing.
func TestTrusted(t *testing.T) {
	files, err := filepath.Glob("trusted/*.v")
	if err != nil || len(files) == 0 {
		t.Fatalf("no models: %v", err)
	}
	statement := regexp.MustCompile(`(?m)^\s*((?:Definition|Inductive|Record|Fixpoint|Notation|Class) "?[^ ]+)`)
	var b strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(file + "\n")
		code, _ := withoutComments(string(text))
		for _, m := range statement.FindAllStringSubmatch(code, -1) {
			b.WriteString("  " + m[1] + "\n")
		}
	}
	golden(t, "trusted/trusted.ref", b.String())
}

// older reports whether the first file was written before the second.
func older(t *testing.T, first, second string) bool {
	t.Helper()
	a, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.Stat(second)
	if err != nil {
		t.Fatal(err)
	}
	return a.ModTime().Before(b.ModTime())
}

// headline matches the name of a headline theorem, however its keyword is written.
var headline = regexp.MustCompile(`(?m)^\s*(?:(?:Local|Global|Program|#\[[^\]]*\])\s+)*(?:Theorem|Corollary)\s+([^\s:({\x60]+)`)

// TestTheorems compares what Coq has printed of the assumptions of each headline theorem,
// when the proofs were built, with the golden text, which is the only accepted one. Each
// theorem has its English sentence before it, and there is nothing but theorems and
// corollaries, so that Coq prints the assumptions of everything. An axiom of a library is
// found by that, where a theorem uses it, and not otherwise.
func TestTheorems(t *testing.T) {
	tops, err := filepath.Glob("top/*.v")
	if err != nil || len(tops) == 0 {
		t.Fatalf("no theorems: %v", err)
	}
	for _, top := range tops {
		t.Run(strings.TrimSuffix(filepath.Base(top), ".v"), func(t *testing.T) {
			text, err := os.ReadFile(top)
			if err != nil {
				t.Fatal(err)
			}
			code, _ := withoutComments(string(text))
			for _, m := range regexp.MustCompile(`(?m)^\s*(?:(?:Local|Global|Program|#\[[^\]]*\])\s+)*(Lemma|Fact|Remark|Proposition|Property|Example|Goal)\b`).FindAllStringSubmatch(code, -1) {
				t.Errorf("a %s: call it Theorem or Corollary, or put it in another file", m[1])
			}
			theorems := headline.FindAllStringSubmatch(code, -1)
			if len(theorems) == 0 {
				t.Error("no theorem")
			}
			asked := regexp.MustCompile(`(?m)^Print Assumptions (\w+)\.$`).FindAllSubmatch(text, -1)
			for _, m := range theorems {
				if !regexp.MustCompile(`\*\)\s*\n(?:Theorem|Corollary) ` + regexp.QuoteMeta(m[1]) + `\b`).Match(text) {
					t.Errorf("no English sentence before %s", m[1])
				}
				if !assumptionsAsked(code, m[1]) {
					t.Errorf("no Print Assumptions %s, and it is not among the theorems of which they are printed", m[1])
				}
			}
			ref, err := os.ReadFile(strings.TrimSuffix(top, ".v") + ".ref")
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Repeat("Closed under the global context\n", len(asked)); string(ref) != want {
				t.Errorf("the golden text is %q, want %q", ref, want)
			}
			coqc, err := exec.LookPath("coqc")
			if err != nil {
				t.Skip("not checked by Coq: coqc is not installed")
			}
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			if out, err := exec.CommandContext(ctx, "make", "-q", top+"o").CombinedOutput(); err != nil {
				t.Skipf("not checked by Coq: the proofs are not built, or not since they changed; make proofs builds them (%v) %s", err, out)
			}
			printed := filepath.Join(".printed", strings.ReplaceAll(top, "/", "-"))
			got, err := os.ReadFile(printed)
			if err != nil || older(t, printed, top+"o") { // it was built by hand
				out := filepath.Join(t.TempDir(), filepath.Base(top)+"o")
				if got, err = exec.CommandContext(ctx, coqc, "-q", "-w", "none", "-Q", ".", "ashlar", "-o", out, top).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, got)
				}
			}
			if string(got) != string(ref) {
				t.Errorf("Coq says %q, want %q", got, ref)
			}
		})
	}
}

// TestNoTheoremIsLost compares the names of the headline theorems with the golden list, so
// that none is removed in passing.
func TestNoTheoremIsLost(t *testing.T) {
	tops, err := filepath.Glob("top/*.v")
	if err != nil || len(tops) == 0 {
		t.Fatalf("no theorems: %v", err)
	}
	var b strings.Builder
	for _, top := range tops {
		text, err := os.ReadFile(top)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(top + "\n")
		code, _ := withoutComments(string(text))
		for _, m := range headline.FindAllStringSubmatch(code, -1) {
			b.WriteString("  " + m[1] + "\n")
		}
	}
	golden(t, "top/theorems.ref", b.String())
}

// tuple matches the definition of all theorems of a file.
var tuple = regexp.MustCompile(`(?m)^Definition theorems := \(([^()]*)\)\.\nPrint Assumptions theorems\.$`)

// assumptionsAsked reports whether a file asks for the assumptions of a theorem: of it alone, or
// of the tuple of its theorems, because Coq goes through all libraries each time it is asked.
func assumptionsAsked(code, theorem string) bool {
	if regexp.MustCompile(`(?m)^Print Assumptions ` + regexp.QuoteMeta(theorem) + `\.$`).MatchString(code) {
		return true
	}
	m := tuple.FindStringSubmatch(code)
	return m != nil && regexp.MustCompile(`@`+regexp.QuoteMeta(theorem)+`\s*(?:,|$)`).MatchString(m[1])
}

// TestAssumptionsAsked makes sure that a theorem that is left out is noticed.
func TestAssumptionsAsked(t *testing.T) {
	const all = "Definition theorems := (\n  @a,\n  @long).\n"
	for _, c := range []struct {
		code, theorem string
		want          bool
	}{
		{"Print Assumptions a.\n", "a", true},
		{"Print Assumptions ab.\n", "a", false},
		{all + "Print Assumptions theorems.\n", "a", true},
		{all + "Print Assumptions theorems.\n", "long", true},
		{all + "Print Assumptions theorems.\n", "lo", false},
		{all + "Print Assumptions theorems.\n", "ong", false},
		{all, "a", false},
	} {
		if got := assumptionsAsked(c.code, c.theorem); got != c.want {
			t.Errorf("%q, %s: %v, want %v", c.code, c.theorem, got, c.want)
		}
	}
}

// TestCounts compares the numbers of states that Coq has computed of the
// specifications in proofs/worm/layers with those that the checker finds for the
// modules of the same names.
func TestCounts(t *testing.T) {
	const file = "worm/layers/counts.v"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?s)\(\* (specs/\S+)/(\S+\.tla) (\S+\.cfg): [^*]*\*\)(.*?)\nLemma \S+ :\s+count [^.]*= \((\d+), 0\)\.\nProof\. vm_compute\. reflexivity\. Qed\.\n`).FindAllStringSubmatch(string(text), -1)
	if lemmas := strings.Count(string(text), "\nLemma count_"); len(rows) != lemmas || lemmas == 0 {
		t.Fatalf("%s: %d of %d counts name their module", file, len(rows), lemmas)
	}
	for _, row := range rows {
		folder, module, config, count := row[1], row[2], row[3], row[5]
		expect, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(folder), "expect.txt"))
		if err != nil {
			t.Fatal(err)
		}
		line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(module+" "+config) + ` ok \d+ (\d+) \d+`).FindStringSubmatch(string(expect))
		switch {
		case line == nil:
			t.Errorf("%s/expect.txt: no line for %s %s", folder, module, config)
		case line[1] != count:
			t.Errorf("%s/%s with %s: Coq has %s states, the checker %s", folder, module, config, count, line[1])
		}
	}
}

func coqFiles(t *testing.T) []string {
	var files []string
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".v" {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("no Coq files: %v", err)
	}
	return files
}

func golden(t *testing.T, path, got string) {
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test ./proofs -update writes it:\n%s", path, got)
	}
}
