// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/mutant"
)

// TestMend changes a repository of its own under rows that fit it.
func TestMend(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	commit := func() {
		t.Helper()
		for _, args := range [][]string{{"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"}} {
			if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
	}
	if out, err := exec.Command("git", "init", "-q", root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	write("p/a.go", "package p\n\nfunc f(n int) bool { return n < most }\n\nfunc g(n int) bool { return n < least }\n")
	write("q/q.go", "package q\n\nfunc h() int { return 17 }\n")
	commit()
	table := []mutant.Mutant{
		{Name: "a/f", In: "p", Old: "n < most", New: "n <= most"},
		{Name: "a/g", In: "p", Old: "n < least", New: "n <= least"},
		{Name: "a/h", In: "q", Old: "return 17", New: "return 18"},
	}
	check := func(fits bool, wants ...string) {
		t.Helper()
		var out strings.Builder
		ok, err := mend(&out, root, table)
		if err != nil || ok != fits {
			t.Errorf("%v, %v of\n%s", ok, err, &out)
		}
		for _, want := range wants {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is not in\n%s", want, &out)
			}
		}
	}
	check(true, "3 mutants, 0 do not fit")

	// f changes and moves to another file; h moves to another package.
	write("p/a.go", "package p\n\nfunc g(n int) bool { return n < least }\n")
	write("p/b.go", "package p\n\nfunc e() { m < most }\n\nfunc f(n int) bool {\n\treturn n < t.most()\n}\n")
	write("q/q.go", "package q\n")
	write("r/r.go", "package r\n\nfunc h() int { return 17 }\n")
	wants := []string{
		"it was in f; nearest now, p/b.go:6:", `Old: "return n < t.most()"`, `New: "return n <= t.most()"`,
		"the text is in another package now:\n    In:  \"r\"", "3 mutants, 2 do not fit",
	}
	check(false, wants...)
	// When that is committed, the history still has the declaration.
	commit()
	check(false, wants...)
}
