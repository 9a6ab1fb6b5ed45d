// SPDX-License-Identifier: Apache-2.0

package gallina_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/gallina"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
	"github.com/ashlar-dev/ashlar/internal/evidence/dedalus/drawn"
	"github.com/ashlar-dev/ashlar/internal/evidence/dedalus/mutants"
)

// certifier returns the checker that is extracted from Coq. It skips the test where the tools are
// missing.
func certifier(t *testing.T) string {
	t.Helper()
	for tool, pkg := range map[string]string{"coqc": "coq and libcoq-stdpp", "ocamlopt": "ocaml-nox", "make": "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("did not run: there is no %s (the packages %s have it, see .ci/deps)", tool, pkg)
		}
	}
	if err := buildCertifier(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(certifierDir, "dedalus-certifier")
}

// certifierDir is made and removed by TestMain.
var certifierDir string

// buildCertifier builds the checker, once for all tests.
var buildCertifier = sync.OnceValue(func() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "make", "-C", "../../../../proofs", "certifier", "CERTIFIER="+certifierDir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
})

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "certifier")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	certifierDir = dir
	return m.Run()
}

// answers asks the extracted checker all questions.
func answers(t *testing.T, checker string, questions []string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, checker)
	cmd.Stdin = strings.NewReader(strings.Join(questions, "\n"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(string(out))
	if len(got) != len(questions) {
		t.Fatalf("%d answers to %d questions", len(got), len(questions))
	}
	return got
}

// claimed is a rewrite that both checkers judge: two programs, and what is claimed of them.
type claimed struct {
	name          string
	before, after *logic.Program
	claim         certificate.Claim
}

// honest are the steps of the examples' scripts, and those that divide random programs, move one of
// their rules that has no state, take them apart where no rule connects relations, or put a component
// behind a relay.
func honest(t *testing.T) []claimed {
	t.Helper()
	var out []claimed
	take := func(name string, p *logic.Program, s rewrite.Step) *logic.Program {
		q, cert, err := rewrite.Apply(p, s)
		if err != nil {
			return nil
		}
		out = append(out, claimed{name + ": " + s.String(), p, q, cert.Claim(p)})
		return q
	}
	scripts, err := filepath.Glob("../../../../examples/dedalus/*.steps")
	if err != nil || len(scripts) < 12 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	for _, path := range scripts {
		program, _, _ := strings.Cut(strings.TrimSuffix(path, ".steps"), "-")
		p := given.Program(t, read(t, program+".ded"))
		for _, line := range strings.Split(read(t, path), "\n") {
			if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) == "" {
				continue
			}
			s, err := rewrite.ParseStep(line)
			if err != nil {
				t.Fatal(err)
			}
			if p = take(filepath.Base(path), p, s); p == nil {
				t.Fatalf("%s: %v is refused", path, s)
			}
		}
	}
	for seed := range uint64(150) {
		for kind, draw := range map[string]func(env.Random) string{"seed": drawn.Program, "sending, seed": drawn.Sending} {
			r := env.Seeded(seed)
			p, _ := given.Read(draw(r))
			if p == nil {
				continue
			}
			for _, c := range p.Components {
				take(fmt.Sprint(kind, " ", seed), p, rewrite.Step{Kind: rewrite.Relay, Component: c.Name, Name: "b"})
				for _, moves := range connected(c) {
					step := rewrite.Step{Kind: rewrite.Mutual, Component: c.Name, Name: "b", Rules: around(c, moves)}
					if n := len(step.Rules); n > 0 && n < len(c.Rules) {
						take(fmt.Sprint(kind, " ", seed), p, step)
					}
				}
			}
			for i := range p.Component("a").Rules {
				take(fmt.Sprint(kind, " ", seed), p, rewrite.Step{Kind: rewrite.Functional, Component: "a", Rules: []int{i + 1}, Name: "b"})
			}
			for _, rel := range p.In(p.Component("a")) {
				for _, c := range rel.Columns {
					take(fmt.Sprint(kind, " ", seed), p, rewrite.Step{Kind: rewrite.Partition, Component: "a", Partitions: 2, By: map[string]string{rel.Name: c.Name}})
				}
			}
		}
	}
	return out
}

// theorems are the rewrites of which something is proved, and how many honest claims must be.
var theorems = map[string]int{"partition": 10, "functional": 10, "mutual": 10, "relay": 10}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// lies are claims that differ from what was done: another key, another number of pieces, fewer
// keys; and the claim beside a program of which a rule is missing, or a key is that of another rule.
func lies(of claimed) []claimed {
	var out []claimed
	add := func(what string, after *logic.Program, c certificate.Claim) {
		if after != nil {
			out = append(out, claimed{of.name + ", " + what, of.before, after, c})
		}
	}
	for _, rel := range slices.Sorted(maps.Keys(of.claim.Keys)) {
		for i := range of.before.Find(rel).Columns {
			c := of.claim
			c.Keys = maps.Clone(c.Keys)
			c.Keys[rel] = certificate.Key{Column: i}
			if c.Keys[rel] != of.claim.Keys[rel] {
				add(fmt.Sprintf("%s by column %d", rel, i), of.after, c)
			}
		}
		c := of.claim
		c.Keys = maps.Clone(c.Keys)
		delete(c.Keys, rel)
		add(rel+" without a key", of.after, c)
	}
	c := of.claim
	if c.Partitions > 0 {
		c.Partitions++
		add("another number of pieces", of.after, c)
	}
	for i := range c.Moved {
		c.Moved = slices.Clone(c.Moved)
		c.Moved[i] = (c.Moved[i] + 1) % len(of.before.Component(c.Component).Rules)
		add("another rule", of.after, c)
	}
	text := of.after.String()
	for old, new := range map[string]string{"% 2": "% 3", "not ": "", ", part, to)": ", 0, to)", "hash(": "u64(", "(self, to)": "(to, self)", "\"a/0\"": "\"front/0\"", "async one": "async two"} {
		if changed := strings.Replace(text, old, new, 1); changed != text {
			q, _ := given.Read(changed)
			add(fmt.Sprintf("%s in place of %s", new, old), q, of.claim)
		}
	}
	return out
}

// TestAgreement has the checker that is proved and the one of internal/dedalus/certificate judge
// the steps of all examples, all rows of docs/dedalus-mutants.md, steps on random programs,
// and lies about all of these. What is proved the other must accept. The converse does not hold:
// the theorem is about fewer programs.
func TestAgreement(t *testing.T) {
	checker := certifier(t)
	all := honest(t)
	count := len(all)
	for _, r := range mutants.Table() {
		before, after, claim, err := r.Certified()
		if err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		if claim != nil {
			all = append(all, claimed{r.Name, before, after, *claim})
		}
	}
	for _, c := range all[:count] {
		// A large program takes the checker a second or two, and has hundreds of lies.
		if _, ok := theorems[c.claim.Kind]; ok && len(c.before.String()) < 4000 && c.after.Component(c.claim.Component).Partitions < 4 {
			all = append(all, lies(c)...)
		}
	}
	var asked []claimed
	var questions []string
	uncovered := map[string]int{}
	for _, c := range all {
		q, err := gallina.Question(c.before, c.after, c.claim)
		if err != nil {
			uncovered[err.Error()]++
			continue
		}
		asked, questions = append(asked, c), append(questions, q.Text)
	}
	checked, refused, proved := 0, 0, map[string]int{}
	for i, answer := range answers(t, checker, questions) {
		err := certificate.Check(asked[i].before, asked[i].after, asked[i].claim)
		switch {
		case answer == "yes" && err != nil:
			t.Errorf("%s: proved, and refused: %v\n%v\n%v", asked[i].name, err, asked[i].before, asked[i].after)
		case answer == "yes":
			proved[asked[i].claim.Kind]++
		case err == nil:
			checked++
			t.Logf("checked, not proved: %s", asked[i].name)
		default:
			refused++
		}
	}
	t.Logf("%d claims, %d of them honest; %v proved and checked, %d checked alone, %d refused by both; %d of constructs that no theorem has: %v",
		len(all), count, proved, checked, refused, len(all)-len(asked), uncovered)
	for kind, least := range theorems {
		if proved[kind] < least {
			t.Errorf("of %s %d claims are proved, want %d", kind, proved[kind], least)
		}
	}
	if refused < 50 {
		t.Errorf("%d claims are refused by both", refused)
	}
}
