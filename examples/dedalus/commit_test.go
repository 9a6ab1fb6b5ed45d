// SPDX-License-Identifier: Apache-2.0

package dedalus_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// two is commit.ded with two participants.
func two() []string {
	return []string{"resource: 3, participant: 3", "resource: 2, participant: 2",
		`, (node "resource/2", node "participant/2")`, ``}
}

// torn says that commit has told of its one transaction that it was committed, and that
// it was not.
func torn(told []interp.Message) bool {
	seen := map[uint64]bool{}
	for _, m := range told {
		seen[m.Fact.Row[len(m.Fact.Row)-1].Num] = true
	}
	return seen[0] && seen[1]
}

// TestCommit visits all runs of a transaction that all want, that one refuses, that the
// client gives up, and in which a node crashes at any moment: nobody is told that it was
// committed when another one is told that it was not.
func TestCommit(t *testing.T) {
	begin := `begin(node "c", 1) to coordinator/0`
	for name, c := range map[string]struct {
		inputs []string
		change []string
		bounds explore.Bounds
		wrong  bool // whether a mistake must be found
	}{
		"all want it":          {[]string{begin}, nil, explore.Bounds{Duplicates: 1}, false},
		"the client gives up":  {[]string{begin, `giveUp(node "c", 1) to coordinator/0`}, nil, explore.Bounds{}, false},
		"one refuses":          {[]string{begin, `refuse(1) to resource/0`}, nil, explore.Bounds{}, false},
		"it begins twice":      {[]string{begin, `begin(node "d", 1) to coordinator/0`}, nil, explore.Bounds{Together: 1}, false},
		"one crashes":          {[]string{begin}, nil, explore.Bounds{Together: 1, Crashes: 1}, false},
		"gives up and crashes": {[]string{begin, `giveUp(node "c", 1) to coordinator/0`}, nil, explore.Bounds{Together: 1, Crashes: 1}, false},
		"told too early": {[]string{begin, `giveUp(node "c", 1) to coordinator/0`},
			[]string{"next  announcing(c, tx) <- asking(c, tx), deciding(tx, _)\n  sync  telling(c, tx) <- announcing(c, tx)", "sync  telling(c, tx) <- asking(c, tx)",
				"telling(c, tx), decided(tx, d), participant(p)", "telling(c, tx), deciding(tx, d), participant(p)"},
			explore.Bounds{Together: 1, Crashes: 1}, true},
		"decided anew": {[]string{begin, `giveUp(node "c", 1) to coordinator/0`},
			[]string{"deciding(tx, false) <- refused(tx), not decided(tx, _)", "deciding(tx, false) <- refused(tx)"}, explore.Bounds{}, true},
		"one vote is enough": {[]string{begin, `giveUp(node "c", 1) to coordinator/0`},
			[]string{"ayes(tx, k), n(m), k >= m, not refused(tx), not decided(tx, _)", "ayes(tx, k), k >= 1, not refused(tx)"}, explore.Bounds{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := mutant(t, "commit", append(two(), c.change...)...)
			m := explore.NewModel(p, messages(t, c.inputs...)(p), nil, functions(), c.bounds)
			m.Until(torn)
			out, err := m.Find(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if found := out.Stopped != nil; found != c.wrong || !c.wrong && !out.Complete {
				t.Errorf("%d states, complete %v: %v\n%v", out.States, out.Complete, out.Stopped, out.Path)
			}
			if !c.wrong && len(out.Final) == 0 {
				t.Error("it never comes to rest")
			}
			t.Logf("%d states", out.States)
		})
	}
}

// TestCommitRewritten compares commit with what its script makes of it: everything that
// a begun and given-up transaction can be told, in every order.
func TestCommitRewritten(t *testing.T) {
	steps := rewritten(t, "commit", two()...)
	inputs := []string{`begin(node "c", 1) to coordinator/0`, `giveUp(node "c", 1) to coordinator/0`}
	got, err := explore.Compare(t.Context(), steps[0].before, steps[len(steps)-1].after, messages(t, inputs...), functions(), explore.Bounds{Together: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Different != nil || !got.Complete() || len(got.Second.Final) == 0 {
		t.Errorf("complete %v, %d states at rest: %v", got.Complete(), len(got.Second.Final), got.Different)
	}
	t.Logf("%d and %d states", got.First.States, got.Second.States)
}

// TestChosen: the steps that optimize chose for as many machines as its file names are
// taken, each with a certificate that holds, and need no more machines.
func TestChosen(t *testing.T) {
	files, err := filepath.Glob("*-[0-9]*.steps")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		name, machines, _ := strings.Cut(strings.TrimSuffix(path, ".steps"), "-")
		most, err := strconv.Atoi(machines)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		p := load(t, name)
		for _, line := range strings.Split(file(t, path), "\n") {
			if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) == "" {
				continue
			}
			s, err := rewrite.ParseStep(line)
			if err != nil {
				t.Fatal(err)
			}
			q, cert, err := rewrite.Apply(p, s)
			if err != nil {
				t.Fatal(err)
			}
			if err := certificate.Check(p, q, cert.Claim(p)); err != nil {
				t.Fatalf("%s: %s: the certificate: %v", path, line, err)
			}
			p = q
		}
		n := 0
		for _, c := range p.Components {
			if c.Of != "resource" { // which are the clients' own
				n += c.Instances * c.Partitions
			}
		}
		if n > most {
			t.Errorf("%s needs %d machines", path, n)
		}
	}
}
