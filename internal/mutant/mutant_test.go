package mutant

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// TestTableFitsTheCode applies every mutant: its text is there exactly once,
// and what comes out is Go. It also looks at the rows themselves.
func TestTableFitsTheCode(t *testing.T) {
	kinds := map[Kind]bool{Unsound: true, WrongAnswer: true, NotAtomic: true, Lost: true, Stuck: true, Unguarded: true}
	names := map[string]bool{}
	edits := map[[4]string]string{}
	for _, m := range Table() {
		if names[m.Name] {
			t.Errorf("%s: the name is used twice", m.Name)
		}
		names[m.Name] = true
		if m.Area() == m.Name || !strings.HasSuffix(m.Breaks, ".") || !kinds[m.Kind] || len(m.Packages) == 0 {
			t.Errorf("%s: want area/name, a sentence, a kind and packages", m.Name)
		}
		// What another package's tests must notice as well is another row.
		edit := [4]string{m.File, m.Old, m.New, strings.Join(m.Packages, " ")}
		if other := edits[edit]; other != "" {
			t.Errorf("%s makes the same edit as %s", m.Name, other)
		}
		edits[edit] = m.Name
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.File)))
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		if _, err := m.Apply(string(text)); err != nil {
			t.Errorf("%v: mend the row in the table", err)
		}
		if _, err := regexp.Compile(m.Run); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		for _, pkg := range m.Packages {
			if tests, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*_test.go")); len(tests) == 0 {
				t.Errorf("%s: package %s has no tests", m.Name, pkg)
			}
		}
	}
}

func TestApply(t *testing.T) {
	const text = "package p\n\nfunc f(a, b int) bool { return a < b }\n"
	for _, c := range []struct{ old, new, want string }{
		{"a < b", "a <= b", "package p\n\nfunc f(a, b int) bool { return a <= b }\n"},
		{"a > b", "a >= b", "is found 0 times"},
		{"b", "c", "is found 3 times"},
		{"a < b", "a <", "is not Go"},
		{"a < b", "a < b", "changes nothing"},
	} {
		got, err := Mutant{Name: "m", File: "p.go", Old: c.old, New: c.new}.Apply(text)
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%q for %q: %s, want %s", c.new, c.old, got, c.want)
		}
	}
}

func TestJudge(t *testing.T) {
	run := func(test string) string { return `{"Action":"run","Package":"p","Test":"` + test + `"}` + "\n" }
	end := func(action, test string) string {
		return `{"Action":"` + action + `","Package":"p","Test":"` + test + `"}` + "\n"
	}
	out := func(test, text string) string {
		return `{"Action":"output","Package":"p","Test":"` + test + `","Output":"` + text + `"}` + "\n"
	}
	for _, c := range []struct {
		name, stream string
		passed       bool
		outcome      Outcome
		test, detail string
	}{
		{"passes", run("A") + end("pass", "A") + end("pass", ""), true, Survived, "", ""},
		{"nothing to run", end("pass", ""), true, Survived, "", ""},
		{"fails", run("A") + run("A/x") + out("A/x", "a.go:1: bad") + end("fail", "A/x") + end("fail", "A") + end("fail", ""), false, Killed, "A/x", "bad"},
		{"fails after another passed", run("A") + end("pass", "A") + run("B") + end("fail", "B"), false, Killed, "B", ""},
		{"dies", run("A") + end("pass", "A") + run("B") + out("B", "fatal error: stack overflow") + end("fail", ""), false, Killed, "B", "stack overflow"},
		{"leaks", run("A") + end("pass", "A") + out("", "goleak: found unexpected goroutines") + end("fail", ""), false, Killed, "", "goleak"},
		{"hangs", run("A") + out("A", "panic: test timed out after 1m0s") + end("fail", "A") + end("fail", ""), false, TimedOut, "A", ""},
		{"does not build", `{"ImportPath":"p","Action":"build-output","Output":"x.go:1: undefined: y"}` + "\n" +
			`{"ImportPath":"p","Action":"build-fail"}` + "\n" + end("fail", ""), false, NoBuild, "", "undefined"},
		{"no such package", "no required module provides package q\n", false, NoBuild, "", "no required module"},
	} {
		v := Judge([]byte(c.stream), c.passed)
		if v.Outcome != c.outcome || v.Test != c.test || !strings.Contains(v.Detail, c.detail) {
			t.Errorf("%s: %+v, want %s by %q with %q", c.name, v, c.outcome, c.test, c.detail)
		}
		if good := v.Outcome == Killed || v.Outcome == TimedOut; v.Outcome.Good() != good {
			t.Errorf("%s: Good is %v", c.name, !good)
		}
	}
}

// TestDocumentIsFresh compares docs/mutants.md with the table, and the tests
// that it names with those that there are.
func TestDocumentIsFresh(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/mutants.md"))
	if err != nil {
		t.Fatal(err)
	}
	fates := ReadFates(string(text))
	if Document(Table(), fates) != string(text) {
		t.Error("docs/mutants.md does not fit the table: go run ./internal/mutant/cmd/mutants -write")
	}
	for _, m := range Table() {
		f := fates[m.Name]
		if f.Outcome == "" {
			t.Errorf("%s was never tried: go run ./internal/mutant/cmd/mutants -write -only '^%s$'", m.Name, m.Name)
		}
		if !f.Outcome.Good() {
			continue
		}
		dir, function, found := strings.Cut(f.By, ".")
		if !slices.Contains(m.Packages, dir) {
			t.Errorf("%s: the document says that it dies in %q, not one of %v", m.Name, dir, m.Packages)
		}
		// Without a function it is the package that fails: a goroutine is left.
		if found && !declares(t, filepath.Join(root, filepath.FromSlash(dir)), function) {
			t.Errorf("%s: package %s has no test %s", m.Name, dir, function)
		}
	}
}

func TestFatesComeBack(t *testing.T) {
	table := []Mutant{
		{Name: "a/one", Kind: Lost, File: "a/f.go", Breaks: "A | B."},
		{Name: "a/two", Kind: Stuck, File: "a/f.go", Breaks: "C."},
		{Name: "b/c/three", Kind: Unsound, File: "b/f.go", Breaks: "D."},
		{Name: "b/c/four", Kind: Unsound, File: "b/f.go", Breaks: "E."},
	}
	fates := Fates{
		"a/one": {Outcome: Killed, By: "a.TestA", Seconds: 7}, "a/two": {Outcome: Survived, Seconds: 90},
		"b/c/three": {Outcome: TimedOut, By: "b/c", Seconds: 300},
	}
	text := Document(table, fates)
	if back := ReadFates(text); !maps.Equal(back, fates) {
		t.Errorf("%v came back as %v of\n%s", fates, back, text)
	}
	for _, want := range []string{"4 mutants: 2 killed, 2 not", "\n- `a/two`\n- `b/c/four`\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func declares(t *testing.T, dir, function string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+function+"(") {
			return true
		}
	}
	return false
}
