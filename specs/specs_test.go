// SPDX-License-Identifier: Apache-2.0

// Package specs checks the specifications in the directories below against
// their expect.txt: verdict, exact counts, at two workers and, where it takes not long,
// at one.
//
// A line of expect.txt is
//
//	MODULE CONFIGURATION VERDICT GENERATED DISTINCT DEPTH [long]
//
// The verdict is "ok", "deadlock" or the name of the violated property; after
// a violation GENERATED and DISTINCT are "-" and DEPTH is the number of states
// of the trace, which is a shortest one unless it goes on in a loop. Lines
// marked long run when ASHLAR_LONG is set; then all run at one worker too.
package specs

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
)

type files struct{}

func (files) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

// alsoAlone is from how many generated states on a specification is checked at two
// workers only. That one worker counts what several do is shown by the others.
const alsoAlone = 20_000

// libraries are where modules are that several specifications use.
var libraries = []string{"lib"}

func TestSpecificationsHaveTheirCounts(t *testing.T) {
	lists := find(t, "expect.txt")
	if len(lists) == 0 {
		t.Fatal("no expect.txt was found")
	}
	for _, list := range lists {
		for _, want := range expectations(t, list) {
			t.Run(filepath.Dir(list)+"/"+want.config, func(t *testing.T) {
				if want.long && os.Getenv("ASHLAR_LONG") == "" {
					t.Skip("not run: takes long; set ASHLAR_LONG to run it")
				}
				m := modelOf(t, filepath.Dir(list), want)
				counts := []int{2, 1}
				if want.generated >= alsoAlone && os.Getenv("ASHLAR_LONG") == "" {
					counts = counts[:1]
				}
				for _, workers := range counts {
					r, err := check.Run(context.Background(), m, check.Options{Workers: workers})
					if err != nil {
						t.Fatal(err)
					}
					if got := summary(r); got != want.summary {
						t.Errorf("%d workers: got %s, want %s", workers, got, want.summary)
					}
				}
			})
		}
	}
}

// TestEverySpecificationHasExpectations keeps configurations from being added
// without counts.
func TestEverySpecificationHasExpectations(t *testing.T) {
	for _, cfg := range find(t, ".cfg") {
		listed := false
		for _, want := range expectations(t, filepath.Join(filepath.Dir(cfg), "expect.txt")) {
			listed = listed || want.config == filepath.Base(cfg)
		}
		if !listed {
			t.Errorf("%s: its expect.txt does not mention it", cfg)
		}
	}
}

// find lists the files below here whose names end in suffix.
func find(t *testing.T, suffix string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, suffix) {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

type expectation struct {
	spec, config, summary string
	generated             int // 0 where the verdict is a violation
	long                  bool
}

func expectations(t *testing.T, list string) []expectation {
	t.Helper()
	f, err := os.Open(list)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []expectation
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if len(fields) < 6 {
			t.Fatalf("%s: a line needs MODULE CONFIGURATION VERDICT GENERATED DISTINCT DEPTH, not %q", list, s.Text())
		}
		generated, err := strconv.Atoi(fields[3])
		if err != nil && fields[3] != "-" {
			t.Fatalf("%s: the states generated are a number or -, not %q", list, fields[3])
		}
		out = append(out, expectation{
			spec: fields[0], config: fields[1], summary: strings.Join(fields[2:6], " "),
			generated: generated, long: len(fields) > 6 && fields[6] == "long",
		})
	}
	return out
}

func modelOf(t *testing.T, dir string, want expectation) check.Model {
	t.Helper()
	loaded, diags, err := load.Load(files{}, filepath.Join(dir, want.spec), load.Options{Translate: trans.InMemory, Libraries: libraries})
	if err != nil {
		t.Fatal(err)
	}
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	text, err := os.ReadFile(filepath.Join(dir, want.config))
	if err != nil {
		t.Fatal(err)
	}
	var wrong source.List
	cfg := config.Parse(source.NewFile(want.config, text), &wrong)
	if wrong.HasErrors() {
		t.Fatal(&wrong)
	}
	m, err := model.New(loaded.Spec, cfg, model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// summary is the verdict and the counts as expect.txt has them.
func summary(r *check.Result) string {
	switch r.Verdict {
	case check.OK:
		return fmt.Sprintf("ok %d %d %d", r.Generated, r.Distinct, r.Depth)
	case check.Deadlock:
		return fmt.Sprintf("deadlock - - %d", len(r.Trace))
	case check.InvariantViolated, check.StepViolated, check.LivenessViolated:
		return fmt.Sprintf("%s - - %d", r.Property, len(r.Trace))
	}
	return fmt.Sprintf("%v: %s %v", r.Verdict, r.Reason, r.Err)
}
