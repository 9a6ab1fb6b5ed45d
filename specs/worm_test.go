// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wormDirs are the directories of the models of WormSpace.
var wormDirs = [...]string{"wor", "chain", "reconfig", "wormlog", "wormtx"}

var (
	flawOfConfig = regexp.MustCompile(`(?m)^  Flaw = "(.*)"$`)
	flawCompared = regexp.MustCompile(`Flaw (?:=|#) "([^"]*)"`)
	flawsInSet   = regexp.MustCompile(`Flaw \\in \{([^}]*)\}`)
)

// flawsOf are the mistakes that a module knows.
func flawsOf(module string) []string {
	var out []string
	for _, m := range flawCompared.FindAllStringSubmatch(module, -1) {
		out = append(out, m[1])
	}
	for _, m := range flawsInSet.FindAllStringSubmatch(module, -1) {
		for name := range strings.SplitSeq(m[1], ",") {
			out = append(out, strings.Trim(strings.TrimSpace(name), `"`))
		}
	}
	return out
}

// TestEveryWormFlawIsTried compares the mistakes that a model knows with those
// that a configuration makes, so that neither is there without the other: a
// misspelt name would be a model without a mistake.
func TestEveryWormFlawIsTried(t *testing.T) {
	for _, dir := range wormDirs {
		tried := map[string][]string{} // the flaws tried, by module
		for _, list := range []string{"expect.txt", "flaws/expect.txt", "reached/expect.txt"} {
			for _, want := range expectations(t, filepath.Join(dir, list)) {
				module := filepath.Base(want.spec)
				path := filepath.Join(dir, filepath.Dir(list), want.config)
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if m := flawOfConfig.FindSubmatch(text); m != nil && string(m[1]) != "none" {
					tried[module] = append(tried[module], string(m[1]))
				}
				broken := !strings.HasPrefix(want.summary, "ok ")
				if broken != (list != "expect.txt") {
					t.Errorf("%s: %s; what holds is listed in expect.txt, what does not below flaws or reached", path, want.summary)
				}
			}
		}
		modules, err := filepath.Glob(filepath.Join(dir, "*.tla"))
		if err != nil || len(modules) == 0 {
			t.Fatalf("%s: no modules: %v", dir, err)
		}
		for _, path := range modules {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			known, used := flawsOf(string(text)), tried[filepath.Base(path)]
			for _, name := range known {
				if !slices.Contains(used, name) {
					t.Errorf("%s: no configuration has the flaw %q", path, name)
				}
			}
			for _, name := range used {
				if !slices.Contains(known, name) {
					t.Errorf("%s: a configuration has the flaw %q, which it does not know", path, name)
				}
			}
		}
	}
}

// TestEveryWormModelRefines demands that a model with a refinement is never
// said to hold by a configuration that does not ask for it.
func TestEveryWormModelRefines(t *testing.T) {
	asked := 0
	for _, dir := range wormDirs {
		for _, want := range expectations(t, filepath.Join(dir, "expect.txt")) {
			module, err := os.ReadFile(filepath.Join(dir, want.spec))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(module, []byte("\nRefinement ==")) {
				continue
			}
			asked++
			info := modelOf(t, dir, want).Info()
			if !slices.Contains(info.Steps, "Refinement") && !slices.Contains(info.Steps, "StepsRefine") {
				t.Errorf("%s/%s: steps are checked for %v, want Refinement", dir, want.config, info.Steps)
			}
			if len(info.Unchecked) > 0 {
				t.Errorf("%s/%s: not checked: %v", dir, want.config, info.Unchecked)
			}
		}
	}
	if asked == 0 {
		t.Error("no model has a refinement")
	}
}
