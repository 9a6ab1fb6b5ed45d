// SPDX-License-Identifier: Apache-2.0

package mutant

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
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
		// A mutant that another package's tests must also kill is another row.
		edit := [4]string{m.In, m.Old, m.New, strings.Join(m.Packages, " ")}
		if other := edits[edit]; other != "" {
			t.Errorf("%s makes the same edit as %s", m.Name, other)
		}
		edits[edit] = m.Name
		if _, _, err := m.Edit(os.DirFS(root)); err != nil {
			t.Errorf("%v: go run ./internal/mutant/cmd/mutants -mend -only '^%s$'", err, m.Name)
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

func TestEdit(t *testing.T) {
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	tree := fstest.MapFS{
		"p/p.go":        text("package p\n\nfunc f(a, b int) bool { return a < b }\n"),
		"p/q_linux.go":  text("package p\n\nvar x = 1\n"),
		"p/q_other.go":  text("package p\n\nvar x = 1\n"),
		"p/p_test.go":   text("package p\n\nfunc g(a, b int) bool { return a < b && a < 7 }\n"),
		"p/page.html":   text("<p>a < b</p>\n"),
		"p/inner/in.go": text("package inner\n\nvar y = a < b\n"),
	}
	for _, c := range []struct{ in, old, new, want string }{
		{"p", "a < b", "a <= b", "p/p.go: package p\n\nfunc f(a, b int) bool { return a <= b }\n"},
		{"p", "a > b", "a >= b", `"a > b" is not found in p`},
		{"p", "b", "c", "is found 3 times, want once: p/p.go:3, p/p.go:3, p/p.go:3"},
		{"p", "x = 1", "x = 2", "is found 2 times, want once: p/q_linux.go:3, p/q_other.go:3"},
		{"p", "a < b", "a <", "is not Go"},
		{"p", "a < b", "a < b", "changes nothing"},
		{"p", "a < 7", "a < 8", "is not found"},
		{"p/p_test.go", "a < 7", "a < 8", "p/p_test.go: package p\n\nfunc g(a, b int) bool { return a < b && a < 8 }\n"},
		{"p/page.html", "a < b", "a <", "p/page.html: <p>a <</p>\n"},
		{"r", "a < b", "a <= b", "r: file does not exist"},
	} {
		file, mutated, err := Mutant{Name: "m", In: c.in, Old: c.old, New: c.new}.Edit(tree)
		got := file + ": " + mutated
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%q for %q in %s: %s, want %s", c.new, c.old, c.in, got, c.want)
		}
	}
}

// TestCodeMovesWithinItsPackage puts every declaration of every package that the
// table names into a file of its own. Each row must still fit, and make the same
// edit of the same declaration.
func TestCodeMovesWithinItsPackage(t *testing.T) {
	here := os.DirFS(root)
	moved := map[string]fstest.MapFS{} // by package: a MapFS of many files is slow
	for _, m := range Table() {
		if path.Ext(m.In) != "" || moved[m.In] != nil {
			continue
		}
		moved[m.In] = fstest.MapFS{}
		files, err := sources(here, m.In)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := fs.ReadFile(here, f)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range declarations(string(text)) {
				name := fmt.Sprintf("%s/moved%d.go", m.In, len(moved[m.In]))
				moved[m.In][name] = &fstest.MapFile{Data: []byte("package p\n\n" + string(text[d.from:d.to]) + "\n")}
			}
		}
	}
	if len(moved) < 50 {
		t.Fatalf("%d packages", len(moved))
	}
	for _, m := range Table() {
		if path.Ext(m.In) != "" {
			continue
		}
		before, after := declarationOf(t, here, m), declarationOf(t, moved[m.In], m)
		if before != after || before == "" {
			t.Errorf("%s: the text is in %q, and when that is moved in %q", m.Name, before, after)
		}
	}
}

func declarationOf(t *testing.T, tree fs.FS, m Mutant) string {
	t.Helper()
	if _, _, err := m.Edit(tree); err != nil {
		t.Error(err)
		return ""
	}
	_, text, err := Locate(tree, m.In, m.Old)
	if err != nil {
		t.Error(err)
	}
	return Declaration(text, m.Old)
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

func TestFatesComeBack(t *testing.T) {
	table := []Mutant{
		{Name: "a/one", Kind: Lost, In: "a", Breaks: "A | B."},
		{Name: "a/two", Kind: Stuck, In: "a", Breaks: "C."},
		{Name: "b/c/three", Kind: Unsound, In: "b", Breaks: "D."},
		{Name: "b/c/four", Kind: Unsound, In: "b", Breaks: "E."},
	}
	fates := Fates{
		"a/one": {Outcome: Killed, By: "a.TestA", Seconds: 7}, "a/two": {Outcome: Survived, Seconds: 90},
		"b/c/three": {Outcome: TimedOut, By: "b/c", Seconds: 300},
	}
	text := Document(table, fates)
	if back := ReadFates(text); !maps.Equal(back, fates) {
		t.Errorf("%v came back as %v of\n%s", fates, back, text)
	}
	for _, want := range []string{"4 mutants, 3 tried: 2 killed, 1 not", "\n- `a/two`\n\n", "not tried"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
