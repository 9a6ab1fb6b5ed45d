// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
)

// TestSemanticsCorpus runs the corpus of package goose in the model, under
// several schedules; its own test runs it as Go. Every program gives true.
func TestSemanticsCorpus(t *testing.T) {
	t.Parallel()
	prepare(t)
	const dir = "../testdata/semantics"
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	var functions []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for line := range strings.Lines(read(t, name)) {
			if f, ok := strings.CutPrefix(line, "func test"); ok {
				functions = append(functions, "test"+f[:strings.Index(f, "(")])
			}
		}
	}
	m := newModel(t, translateOne(t, "..", "./testdata/semantics"), functions)
	for _, args := range [][]string{{"-mode", "fixed"}, {"-mode", "random", "-seeds", "30"}} {
		got := m.outcomes(t, args...)
		for _, f := range functions {
			if !slices.Equal(got[f], []string{"value true"}) {
				t.Errorf("%s: %q with %q", f, got[f], args)
			}
		}
	}
	t.Logf("%d programs", len(functions))
}

// TestPanics: a program panics in Go if and only if it is stuck in the model.
func TestPanics(t *testing.T) {
	t.Parallel()
	prepare(t)
	text, functions, module, m := corpus(t, "panics")
	panics := compareSequential(t, text, functions, module, m)
	if panics == 0 || panics == len(functions) {
		t.Errorf("%d of %d programs panic", panics, len(functions))
	}
}

// TestThreads: what goroutines give is what some schedule of the model gives,
// where nothing is stuck under any, and the race detector has nothing to say.
func TestThreads(t *testing.T) {
	t.Parallel()
	prepare(t)
	_, functions, module, m := corpus(t, "threads")
	compareThreads(t, functions, module, m)
}

// TestRaces: what the race detector reports is stuck in the model under some
// schedule.
func TestRaces(t *testing.T) {
	t.Parallel()
	prepare(t)
	_, functions, module, m := corpus(t, "races")
	binary := raceBinary(t, module)
	inModel := m.outcomes(t, "-mode", "exhaustive")
	for _, f := range functions {
		if _, stuck := split(inModel[f]); len(stuck) == 0 {
			t.Errorf("%s is never stuck: %q", f, inModel[f])
		}
		if !races(t, binary, f, 500) {
			t.Errorf("%s: the race detector finds nothing", f)
		}
	}
}

// TestCrashes runs boot programs that crash at any time, on disks and a file
// system that then forget what they may. Those that are wrong are found out.
func TestCrashes(t *testing.T) {
	t.Parallel()
	prepare(t)
	var functions []string
	for line := range strings.Lines(read(t, "testdata/crashes/crashes.go")) {
		if f, ok := strings.CutPrefix(line, "func "); ok && unicode.IsUpper(rune(f[0])) {
			functions = append(functions, f[:strings.Index(f, "(")])
		}
	}
	m := newModel(t, translateOne(t, ".", "./testdata/crashes"), functions)
	got := m.outcomes(t, "-mode", "random", "-seeds", "12", "-crash", "60")
	// Blocks are large, and files small.
	files := []string{"File", "WrongFile"}
	maps.Copy(got, m.outcomes(t, append([]string{"-mode", "random", "-seeds", "500", "-crash", "60"}, files...)...))
	for _, f := range functions {
		ends, stuck := map[string]bool{}, false
		for _, o := range got[f] {
			// What comes first are the crashes.
			if _, rest, ok := strings.Cut(o, "] "); ok {
				o = rest
			}
			ends[o] = true
			stuck = stuck || strings.HasPrefix(o, "stuck ")
		}
		if strings.HasPrefix(f, "Wrong") {
			if !stuck {
				t.Errorf("%s: crashes do not show that it is wrong", f)
			}
			continue
		}
		want := "value 3"
		if f == "File" {
			want = fmt.Sprintf("value x\"%x\"", "hello, world")
		}
		if len(got[f]) < 2 || len(ends) != 1 || !ends[want] {
			t.Errorf("%s ends with %q, not only with %s", f, slices.Collect(maps.Keys(ends)), want)
		}
	}
}

// corpus is a file of testdata, as Go and in the model.
func corpus(t *testing.T, name string) (string, []string, goModule, model) {
	t.Helper()
	text := read(t, filepath.Join("testdata", name, name+".go"))
	functions := functionsOf(t, text)
	module := newGoModule(t, text, functions)
	return text, functions, module, newModel(t, translateOne(t, module.dir, "./program"), functions)
}

// compareSequential compares programs without goroutines, and gives the number
// of those that panic.
func compareSequential(t *testing.T, text string, functions []string, module goModule, m model) (panics int) {
	t.Helper()
	out, err := run("", 5*time.Minute, module.build(t), "1")
	if err != nil {
		t.Fatal(err)
	}
	inGo, inModel := parseOutcomes(out), m.outcomes(t)
	for _, f := range functions {
		if len(inGo[f]) != 1 || len(inModel[f]) != 1 {
			t.Fatalf("%s has outcomes %q in Go, %q in the model", f, inGo[f], inModel[f])
		}
		got, want := inModel[f][0], inGo[f][0]
		if want == "panic" {
			panics++
		}
		if got != want && !(want == "panic" && strings.HasPrefix(got, "stuck ")) {
			t.Errorf("%s: %s in the model, %s in Go\n%s", f, got, want, functionText(text, f))
		}
	}
	return panics
}

// compareThreads compares programs with goroutines and without races.
func compareThreads(t *testing.T, functions []string, module goModule, m model) {
	t.Helper()
	out, err := run("", 5*time.Minute, module.build(t), "20000")
	if err != nil {
		t.Fatal(err)
	}
	inGo, inModel := parseOutcomes(out), m.outcomes(t, "-mode", "exhaustive")
	binary := raceBinary(t, module)
	several := 0
	for _, f := range functions {
		values, other := split(inModel[f])
		if len(other) > 0 {
			t.Errorf("%s: %q in the model", f, other)
		}
		for _, o := range inGo[f] {
			if !slices.Contains(values, o) {
				t.Errorf("%s: Go gives %s, the model %q", f, o, values)
			}
		}
		if len(inGo[f]) > 1 {
			several++
		}
		if races(t, binary, f, 100) {
			t.Errorf("%s: the race detector finds a race", f)
		}
	}
	t.Logf("%d programs, of which %d gave several results in Go", len(functions), several)
}

// split separates values from all other outcomes.
func split(outcomes []string) (values, other []string) {
	for _, o := range outcomes {
		if strings.HasPrefix(o, "value ") {
			values = append(values, o)
		} else {
			other = append(other, o)
		}
	}
	return values, other
}

// raceBinary is the command of a module with the race detector in it.
func raceBinary(t *testing.T, module goModule) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("did not run: there is no gcc, which the race detector needs")
	}
	return module.build(t, "-race")
}

// races reports whether the race detector reports a race in a program.
func races(t *testing.T, binary, function string, times int) bool {
	t.Helper()
	_, err := run("", time.Minute, "env", "GORACE=halt_on_error=1 exitcode=66", binary, strconv.Itoa(times), function)
	if err == nil {
		return false
	}
	if !strings.Contains(err.Error(), "WARNING: DATA RACE") {
		t.Fatal(err)
	}
	return true
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
