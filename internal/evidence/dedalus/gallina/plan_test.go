// SPDX-License-Identifier: Apache-2.0

package gallina_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
	"github.com/ashlar-dev/ashlar/internal/evidence/dedalus/drawn"
	"github.com/ashlar-dev/ashlar/internal/evidence/dedalus/gallina"
)

// derived are the relations of a component that the proof wants keys of: those that its rules read
// or derive on their own node.
func derived(p *logic.Program, c *logic.Component) []*logic.Relation {
	in := map[*logic.Relation]bool{}
	for _, r := range p.Refs(c) {
		in[r] = true
	}
	for _, r := range c.Rules {
		if r.Kind != logic.Async {
			in[r.Head.Relation] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(p.Relations), func(r *logic.Relation) bool { return !in[r] })
}

// pulses are the most relations of which it may be that nothing carries them, and that they follow from
// others in their tick.
func pulses(p *logic.Program, c *logic.Component) []string {
	in := map[string]bool{}
	for _, r := range derived(p, c) {
		in[r.Name] = true
	}
	for _, r := range c.Rules {
		if r.Kind == logic.Next {
			delete(in, r.Head.Relation.Name)
		}
	}
	for range c.Rules {
		for _, r := range c.Rules {
			wakes := slices.ContainsFunc(r.Body, func(l logic.Literal) bool { return l.Positive() && in[l.Atom.Relation.Name] })
			if r.Kind == logic.Sync && !wakes {
				delete(in, r.Head.Relation.Name)
			}
		}
	}
	return slices.Sorted(maps.Keys(in))
}

// asked is a plan, and the step that is the same.
type asked struct {
	program string
	p       *logic.Program
	step    rewrite.Step
}

// plans writes the question whether the component may be divided into two, by keys that the rewriter
// finds and by some that are drawn.
func plans(name string, p *logic.Program, c *logic.Component, r env.Random, n int) (string, []asked) {
	relations := derived(p, c)
	var all []gallina.Plan
	var steps []asked
	for i := range n {
		var found map[string]analyze.Key
		if i == 0 {
			if _, cert, err := rewrite.Apply(p, rewrite.Step{Kind: rewrite.Partition, Component: c.Name, Partitions: 2}); err == nil {
				found = cert.Keys
			}
		}
		keys, by := map[string]int{}, map[string]string{}
		for _, rel := range relations {
			if len(rel.Columns) == 0 {
				return "", nil
			}
			column := env.IntN(r, len(rel.Columns))
			if k, ok := found[rel.Name]; ok {
				column = k.Column
			}
			keys[rel.Name] = column
			if slices.Contains(p.Refs(c), rel) {
				by[rel.Name] = rel.Columns[column].Name
			}
		}
		all = append(all, gallina.Plan{Component: c, Pieces: 2, Keys: keys, Pulses: pulses(p, c)})
		steps = append(steps, asked{name, p, rewrite.Step{Kind: rewrite.Partition, Component: c.Name, Partitions: 2, By: by}})
	}
	fixed, extra := static(p)
	text, err := gallina.System(p, interp.Deploy(p, extra, nil), fixed, all)
	if err != nil {
		return "", nil
	}
	return text, steps
}

// TestPlans asks the checker that is proved, and the rewriter, whether components may be divided by
// keys that are drawn. What is proved must be allowed; the proof asks for more than the rewriter, so that
// the converse does not hold, but some of what is allowed must be proved.
func TestPlans(t *testing.T) {
	dir := semantics(t)
	for _, name := range []string{"system.v", "keyed.v", "piece.v", "still.v", "divide.v", "check.v"} {
		text, err := os.ReadFile(filepath.Join("../../../../proofs/dedalus", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := coq(t, dir, name, string(text)); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	b.WriteString("From stdpp Require Import strings list gmap.\nFrom ashlar.dedalus Require Import lang system divide check.\nLocal Open Scope N_scope.\n")
	var all []asked
	add := func(name string, p *logic.Program, c *logic.Component, r env.Random, n int) {
		if text, steps := plans(name, p, c, r, n); steps != nil {
			fmt.Fprintf(&b, "Eval vm_compute in (%s).\n", text)
			all = append(all, steps...)
		}
	}
	for _, name := range []string{"cohash", "voting", "storage", "mutual", "commit"} {
		text, err := os.ReadFile("../../../../examples/dedalus/" + name + ".ded")
		if err != nil {
			t.Fatal(err)
		}
		p, r := given.Program(t, string(text)), env.Seeded(1)
		for _, c := range p.Components {
			add(name, p, c, r, 5)
		}
	}
	for seed := range uint64(80) {
		r := env.Seeded(seed)
		if p, _ := given.Read(drawn.Program(r)); p != nil {
			add(fmt.Sprint("seed ", seed), p, p.Component("a"), r, 3)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "plans.v"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "coqc", "-q", "-w", "none", "-Q", ".", "ashlar.dedalus", "plans.v")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	verdicts := regexp.MustCompile(`\b(true|false)\b`).FindAllString(string(out), -1)
	if len(verdicts) != len(all) {
		t.Fatalf("%d answers to %d questions:\n%s", len(verdicts), len(all), out)
	}
	proved, allowed := 0, 0
	for i, a := range all {
		_, _, err := rewrite.Apply(a.p, a.step)
		if err == nil {
			allowed++
		}
		if verdicts[i] == "true" {
			proved++
			if err != nil {
				t.Errorf("%s: %v is proved to be right, and refused: %v\n%v", a.program, a.step, err, a.p)
			}
		}
	}
	t.Logf("%d plans, %d allowed, %d of them proved to be right", len(all), allowed, proved)
	if proved < 10 {
		t.Errorf("%d plans are proved to be right", proved)
	}
}
