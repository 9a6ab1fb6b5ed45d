// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// visitText is what an evaluator says of one successor, in words.
func visitText(m *Model, w check.Worker, action int, s check.State) string {
	var b strings.Builder
	fmt.Fprintf(&b, "action %d:", action)
	for _, v := range m.Decode(s) {
		b.WriteByte(' ')
		b.WriteString(v.String())
	}
	inside, err := w.InModel()
	fmt.Fprintf(&b, " inside %v %v", inside, err)
	i, err := w.BrokenInvariant()
	fmt.Fprintf(&b, " invariant %d %v", i, err)
	i, err = w.BrokenStep()
	fmt.Fprintf(&b, " step %d %v", i, err)
	return b.String()
}

// both explores a model with the two evaluators side by side, up to most
// states, and compares everything that they say.
func both(t *testing.T, spec *core.Spec, cfg *config.Config, most int) (states int) {
	t.Helper()
	fast := newModel(t, spec, cfg, Options{})
	slow := newModel(t, spec, cfg, Options{Reference: true})
	return compareModels(t, fast, slow, most)
}

// compareModels explores fast and compares what it says with slow.
func compareModels(t *testing.T, fast, slow *Model, most int) (states int) {
	t.Helper()
	fw, sw := fast.NewWorker(), slow.NewWorker()

	fb, ferr := fw.Assumptions()
	sb, serr := sw.Assumptions()
	if fmt.Sprint(fb, ferr) != fmt.Sprint(sb, serr) {
		t.Fatalf("assumptions: compiled %v, %v; reference %v, %v", fb, ferr, sb, serr)
	}
	seen := map[string]bool{}
	var queue []check.State
	collect := func(m *Model, w check.Worker, add bool, out *[]string) check.Visit {
		return func(a int, s check.State) error {
			*out = append(*out, visitText(m, w, a, s))
			if add && !seen[string(s)] && len(seen) < most {
				seen[string(s)] = true
				queue = append(queue, append(check.State(nil), s...))
			}
			return nil
		}
	}
	compare := func(what string, f, s []string, ferr, serr error) {
		t.Helper()
		f, s = append(f, fmt.Sprint(ferr)), append(s, fmt.Sprint(serr))
		for i := range max(len(f), len(s)) {
			switch {
			case i >= len(f):
				t.Fatalf("%s: only the reference finds %s", what, s[i])
			case i >= len(s):
				t.Fatalf("%s: only the compiled evaluator finds %s", what, f[i])
			case f[i] != s[i]:
				t.Fatalf("%s, number %d:\ncompiled  %s\nreference %s", what, i, f[i], s[i])
			}
		}
	}
	var fs, ss []string
	ferr = fw.Init(collect(fast, fw, true, &fs))
	serr = sw.Init(collect(slow, sw, false, &ss))
	compare("initial states", fs, ss, ferr, serr)
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		states++
		vals := fast.Decode(s)
		fs, ss = fs[:0], ss[:0]
		ferr = fw.Next(s, collect(fast, fw, true, &fs))
		serr = sw.Next(slow.Encode(vals), collect(slow, sw, false, &ss))
		compare(fmt.Sprintf("successors of %v", vals), fs, ss, ferr, serr)
	}
	return states
}

// differentialStates is how many states of each model are expanded by both
// evaluators.
const differentialStates = 100

func TestEvaluatorsAgreeOnTheCorpus(t *testing.T) {
	const secondsMax = 7.0 // of TLC: the larger models take the reference too long
	states := 0
	for _, row := range corpusModels(t) {
		if row.seconds == 0 || row.seconds > secondsMax || strings.Contains(row.cfg, "Random") {
			continue
		}
		t.Run(filepath.Base(row.cfg), func(t *testing.T) {
			spec, cfg := loadFiles(t, row.module, row.cfg)
			states += both(t, spec, cfg, differentialStates)
		})
	}
	t.Logf("%d states expanded", states)
}

func TestEvaluatorsAgreeOnTheSpecs(t *testing.T) {
	lists, err := filepath.Glob("../../specs/*/expect.txt")
	if err != nil || len(lists) == 0 {
		t.Fatalf("no specifications: %v", err)
	}
	compared := 0
	for _, list := range lists {
		expected, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(expected)) {
			fields := strings.Fields(line)
			if len(fields) < 2 || fields[0] == "#" {
				continue
			}
			module, file := filepath.Join(filepath.Dir(list), fields[0]), filepath.Join(filepath.Dir(list), fields[1])
			text, err := os.ReadFile(module)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(text, []byte("--mpcal")) || bytes.Contains(text, []byte("algorithm")) {
				continue // its translation is tested with the translator
			}
			compared++
			t.Run(filepath.Base(filepath.Dir(list))+"/"+fields[1], func(t *testing.T) {
				spec, cfg := loadFiles(t, module, file)
				both(t, spec, cfg, differentialStates)
			})
		}
	}
	if compared < 10 {
		t.Errorf("%d configurations were compared, there are more", compared)
	}
}
