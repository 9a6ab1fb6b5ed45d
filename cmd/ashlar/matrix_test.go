// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ashlar-dev/ashlar/internal/cli"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
)

// matrixRun is what a search with some flags has said and left.
type matrixRun struct {
	code     int
	out, err string
	dir      string
}

// document is the result without what the machine has to do with.
func (r matrixRun) document(t *testing.T) map[string]any {
	t.Helper()
	var d map[string]any
	if err := json.Unmarshal([]byte(r.out), &d); err != nil {
		t.Fatalf("%v: %s\n%s", err, r.out, r.err)
	}
	for _, name := range []string{"profile", "checkpoint", "graph"} {
		delete(d, name)
	}
	s := d["statistics"].(map[string]any)
	for _, name := range []string{"bytes", "diskBytes", "bytesPerState", "workers", "seconds", "generatedPerSecond", "native"} {
		delete(s, name)
	}
	return d
}

// matrixFiles writes the model into a directory of its own.
func matrixFiles(t *testing.T, m matrixModel) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"M.tla": m.module, "M.cfg": m.cfg} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// matrixCommand runs the program within this process.
func matrixCommand(dir string, args ...string) matrixRun {
	var out, err bytes.Buffer
	code := cli.Run(context.Background(), append(slices.Clone(args), filepath.Join(dir, "M.tla")), &console.Terminal{Out: &out, Err: &err})
	return matrixRun{code: code, out: out.String(), err: err.String(), dir: dir}
}

// search runs a search with the flags.
func (m matrixModel) search(t *testing.T, dir string, flags []matrixFlag) matrixRun {
	t.Helper()
	args, ends, format := []string{"check", "--quiet"}, false, "json"
	workers, native := true, true
	for _, f := range flags {
		args = append(args, f.args...)
		if f.file != "" {
			args = append(args, filepath.Join(dir, f.file))
		}
		if f.name == "dfid" {
			args = append(args, "--dfid="+m.dfid)
		}
		if f.format != "" {
			format = f.format
		}
		ends = ends || f.ends
		workers = workers && f.name != "workers 2"
		native = native && !f.native && f.name != "auto"
	}
	if workers {
		args = append(args, "--workers=1")
	}
	if native {
		args = append(args, "--native=never")
	}
	switch format {
	case "json":
		args = append(args, "--json")
	case "tlc":
		args = append(args, "--tlc-output")
	}
	if !ends {
		return matrixCommand(dir, args...)
	}
	kept := filepath.Join(t.TempDir(), "kept")
	most := "--max-states=30"
	if m.large {
		most = "--max-states=3000"
	}
	first := matrixCommand(dir, append(slices.Clone(args), "--checkpoint", kept, most)...)
	if _, err := os.Stat(filepath.Join(kept, "checkpoint")); err != nil {
		return first // it has come to its end before
	}
	second := matrixCommand(dir, append(slices.Clone(args), "--resume", kept)...)
	if _, err := os.Stat(filepath.Join(kept, "checkpoint")); err == nil && second.code != exit.Usage {
		t.Error("the checkpoint of a search that has come to its end is left")
	}
	return second
}

// means are the flags of a pair that the result depends on.
func means(pair []matrixFlag) (out []matrixFlag) {
	for _, f := range pair {
		if f.means {
			out = append(out, f)
		}
	}
	return out
}

func namesOf(pair []matrixFlag) string {
	var names []string
	for _, f := range pair {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// TestMatrix runs every pair of flags on small models of every verdict: what does not
// speak of the result does not change it, what does is checked by TestMatrixMeanings,
// and what cannot be had together is refused with a reason. Where ASHLAR_MATRIX is set,
// every pair is tried on every model, and compiled searches too, which take a
// compiler's time for each model.
func TestMatrix(t *testing.T) {
	all := os.Getenv("ASHLAR_MATRIX") != ""
	if all {
		compilerPlace(t)
	}
	for n, m := range matrixModels {
		t.Run(m.name, func(t *testing.T) {
			bases, dir := map[string]matrixRun{}, matrixFiles(t, m)
			for i, pair := range matrixPairs() {
				refused, oneFlag := refused(pair)
				native := slices.ContainsFunc(pair, func(f matrixFlag) bool { return f.native })
				looks := slices.ContainsFunc(pair, func(f matrixFlag) bool { return f.name == "periodic" })
				if m.large && !native && !looks {
					continue
				}
				if oneFlag || native && !all || !all && !m.plain && !refused && len(pair) > 1 && (i+n)%7 != 0 {
					continue
				}
				got := m.search(t, dir, pair)
				if refused {
					if got.code != exit.Usage || got.out != "" || !strings.HasPrefix(got.err, "ashlar: --") {
						t.Errorf("%s: exit code %d: %s%s", namesOf(pair), got.code, got.out, got.err)
					}
					continue
				}
				of := namesOf(means(pair))
				want, ok := bases[of]
				if !ok {
					want = m.search(t, dir, means(pair))
					bases[of] = want
				}
				if diff := matrixDiff(t, want, got, pair); diff != "" {
					t.Errorf("%s (-%s alone +with the rest):\n%s", namesOf(pair), of, diff)
				}
			}
			if got := m.search(t, dir, nil); got.code != m.code {
				t.Errorf("exit code %d, want %d: %s%s", got.code, m.code, got.out, got.err)
			}
		})
	}
}

// matrixDiff compares what a search has said with what one without the flags that
// mean nothing has.
func matrixDiff(t *testing.T, want, got matrixRun, pair []matrixFlag) string {
	t.Helper()
	if want.code != got.code {
		return fmt.Sprintf("exit code %d, want %d: %s%s", got.code, want.code, got.out, got.err)
	}
	d := want.document(t)
	for _, f := range pair {
		if f.file == "" || d["verdict"] == "assumption" && strings.HasPrefix(f.name, "dump") {
			continue
		}
		if text, err := os.ReadFile(filepath.Join(got.dir, f.file)); err != nil || len(text) < 100 {
			return fmt.Sprintf("%s: %d bytes, %v: %s", f.file, len(text), err, got.err)
		}
		if err := os.Remove(filepath.Join(got.dir, f.file)); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range pair {
		switch f.format {
		case "text":
			return textDiff(t, d, got.out)
		case "tlc":
			return messageDiff(t, d, got.out)
		}
	}
	evaluated := got.document(t)
	if slices.ContainsFunc(pair, func(f matrixFlag) bool { return f.native }) {
		// Why there is no compiled code is said.
		kept := slices.DeleteFunc(evaluated["warnings"].([]any), func(w any) bool { return strings.HasPrefix(w.(string), "the search ran without compiled code: ") })
		var said struct {
			Statistics struct {
				Native struct {
					Used   bool
					Reason string
				}
			}
		}
		if err := json.Unmarshal([]byte(got.out), &said); err != nil {
			t.Fatal(err)
		}
		if use, told := said.Statistics.Native, len(kept) < len(evaluated["warnings"].([]any)); use.Used == told || use.Used == (use.Reason != "") {
			return fmt.Sprintf("compiled code: %+v, warnings %v", use, evaluated["warnings"])
		}
		evaluated["warnings"] = kept
	}
	if slices.ContainsFunc(pair, func(f matrixFlag) bool { return f.name == "reference" }) {
		// It evaluates the translation of an algorithm, where the algorithm's end has no place.
		for _, d := range []map[string]any{d, evaluated} {
			for _, a := range d["actions"].([]any) {
				if a := a.(map[string]any); a["name"] == "Terminating" {
					delete(a, "place")
				}
			}
		}
	}
	return cmp.Diff(d, evaluated)
}

// matrixFigures are generated, distinct and queued states, and the depth.
func matrixFigures(d map[string]any) string {
	s := d["statistics"].(map[string]any)
	return fmt.Sprintf("%v %v %v %v", s["generated"], s["distinct"], s["queue"], s["depth"])
}

var figuresInText = regexp.MustCompile(`(?m)^([\d,]+) states? generated, ([\d,]+) distinct, ([\d,]+) left in the queue, depth (\d+)\.$`)

// textDiff compares what a person reads.
func textDiff(t *testing.T, d map[string]any, text string) string {
	t.Helper()
	if !strings.Contains(text, d["headline"].(string)) {
		return fmt.Sprintf("no %q: %s", d["headline"], text)
	}
	found := figuresInText.FindStringSubmatch(text)
	switch {
	case matrixFigures(d) == "0 0 0 0" && found == nil:
		return ""
	case found == nil:
		return "no figures: " + text
	}
	return cmp.Diff(matrixFigures(d), strings.ReplaceAll(strings.Join(found[1:], " "), ",", ""))
}

// messageDiff compares what an editor reads.
func messageDiff(t *testing.T, d map[string]any, text string) string {
	t.Helper()
	traces := []any{d["trace"]}
	if all, ok := d["violations"].([]any); ok && len(all) > 0 {
		traces = nil
		for _, v := range all {
			traces = append(traces, v.(map[string]any)["trace"])
		}
	}
	states := 0
	for _, trace := range traces {
		states += len(trace.([]any))
	}
	s := d["statistics"].(map[string]any)
	want := fmt.Sprintf("%v states generated, %v distinct states found, %v states left on queue.", s["generated"], s["distinct"], s["queue"])
	if !strings.Contains(text, "\n"+want+"\n") {
		return fmt.Sprintf("no %q: %s", want, text)
	}
	if n := strings.Count(text, "@!@!@STARTMSG 2217:4 @!@!@\n"); n != states {
		return fmt.Sprintf("%d states of traces, want %d: %s", n, states, text)
	}
	depth := "\nThe depth of the complete state graph search is " + strconv.Itoa(int(s["depth"].(float64))) + ".\n"
	if d["complete"].(bool) != strings.Contains(text, depth) {
		return fmt.Sprintf("complete: %v: %s", d["complete"], text)
	}
	return ""
}

// TestMatrixMeanings says for the flags that the result depends on what of it stays.
func TestMatrixMeanings(t *testing.T) {
	for _, m := range matrixModels {
		if m.large {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			dir := matrixFiles(t, m)
			plain := m.search(t, dir, nil)
			d := plain.document(t)
			asked := strings.Contains(m.cfg, "Re") // properties of behaviours
			asked = asked || strings.Contains(m.cfg, "Ends") || strings.Contains(m.cfg, "Never")
			for _, f := range matrixFlags {
				if !f.means {
					continue
				}
				got := m.search(t, dir, []matrixFlag{f})
				e := got.document(t)
				code, trace, same := m.code, true, false
				lives := code == exit.Liveness && !m.steps
				switch {
				case f.name == "dfid" && asked && (code == exit.OK || lives):
					code, trace = exit.NotChecked, false
				case f.name == "por":
					trace = false
				case f.name == "safety only" && lives, f.name == "no deadlock" && code == exit.Deadlock:
					code, trace = exit.OK, false
				case f.name == "safety only":
					same = !asked
				case f.name == "no deadlock":
					same = true
				case f.name == "max states" && d["statistics"].(map[string]any)["distinct"].(float64) > 40:
					code, trace = exit.NotChecked, false
				}
				if got.code != code {
					t.Errorf("%s: exit code %d, want %d: %s", f.name, got.code, code, got.out)
				}
				if diff := cmp.Diff(d["trace"], e["trace"]); trace && diff != "" {
					t.Errorf("%s: the trace (-plain +with it):\n%s", f.name, diff)
				}
				for _, d := range []map[string]any{d, e} {
					delete(d, "deadlockChecked")
				}
				if diff := cmp.Diff(d, e); same && diff != "" {
					t.Errorf("%s (-plain +with it):\n%s", f.name, diff)
				}
				few, all := e["statistics"].(map[string]any)["distinct"].(float64), d["statistics"].(map[string]any)["distinct"].(float64)
				if f.name == "por" && (few > all || m.name == "processes, violated" && few == all) {
					t.Errorf("%s: %v distinct states, %v without", f.name, few, all)
				}
			}
		})
	}
}

// compilerPlace has compiled models be kept in a directory of the test, and uses what
// the Go toolchain has compiled before.
func compilerPlace(t *testing.T) {
	t.Helper()
	cache, err := goPlace("GOCACHE")
	if err != nil {
		t.Skipf("there is no Go toolchain to compile models with: %v", err)
	}
	t.Setenv("GOCACHE", cache)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
}
