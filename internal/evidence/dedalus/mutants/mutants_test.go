// SPDX-License-Identifier: Apache-2.0

package mutants_test

import (
	"os"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/evidence/dedalus/mutants"
)

// page is the table as a page, from here.
const page = "../../../../docs/dedalus-mutants.md"

// TestFound tries every row by every means, wants what the row says, and the page to
// say what was found.
func TestFound(t *testing.T) {
	var results []*mutants.Result
	names := map[string]bool{}
	for _, r := range mutants.Table() {
		t.Run(r.Name, func(t *testing.T) {
			got, err := mutants.Try(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Found() {
				t.Error("not found")
			}
			if wrong := got.Wrong(); wrong != "" {
				t.Error(wrong)
			}
			if names[r.Name] {
				t.Error("the name is there twice")
			}
			names[r.Name] = true
			results = append(results, got)
		})
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if got := mutants.Document(results); got != string(text) {
		t.Error("docs/dedalus-mutants.md is out of date; run go run ./cmd/ashlar dedalus mutants --markdown > docs/dedalus-mutants.md")
	}
}

// TestWrongSteps tries the rows alone whose mistake is to take a step.
func TestWrongSteps(t *testing.T) {
	for _, r := range mutants.Table() {
		if r.Both == nil {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			got, err := mutants.Try(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := got.Wrong(); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

// TestRefusesRowsThatFellBehind has rows that do not fit what they change.
func TestRefusesRowsThatFellBehind(t *testing.T) {
	good := mutants.Row{Name: "x", Program: "voting", Certificate: mutants.Untried, Explored: mutants.Untried, Random: mutants.Untried}
	for want, change := range map[string]func(*mutants.Row){
		"want once":           func(r *mutants.Row) { r.Change = []string{"nowhere", ""} },
		"is there 3 times":    func(r *mutants.Row) { r.Change = []string{"voteReq(", "x("} },
		"no program":          func(r *mutants.Row) { r.Change = []string{"k >= m", "k >="} },
		"does not exist":      func(r *mutants.Row) { r.Program = "nothing" },
		"expected a rewrite":  func(r *mutants.Row) { r.Steps = []string{"magic"} },
		"comes from outside":  func(r *mutants.Row) { r.Steps = []string{"partition leader into 2"} },
		"is not an input":     func(r *mutants.Row) { r.Inputs, r.Explored = "voteReq() to leader/0", "" },
		"without the mistake": func(r *mutants.Row) { r.Each, r.Explored, r.Bounds.StatesMax = 2, "", 5 },
	} {
		r := good
		change(&r)
		if _, err := mutants.Try(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
