// SPDX-License-Identifier: Apache-2.0

package certificate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

func encoded(t testing.TB, steps []certificate.Step) string {
	t.Helper()
	text, err := certificate.Encode(steps)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFile writes certificates with everything that a claim can have, and reads them again: one
// of a sequence of steps, and one that no rewrite makes.
func TestFile(t *testing.T) {
	var steps []certificate.Step
	for _, r := range sequence(t) {
		steps = append(steps, certificate.Step{Claim: r.claim, Program: r.after.String()})
	}
	steps = append(steps, certificate.Step{Claim: certificate.Claim{Kind: "partial", Component: "c", Partitions: 3,
		Keys:         map[string]certificate.Key{"r": {Column: 2, Func: "hash"}},
		Dependencies: map[string][]certificate.Dependency{"r": {{From: 0, To: 1, Func: "f"}, {From: 1, To: 0}}},
		Partial:      &certificate.Partial{Replicated: []string{"a"}, Sealed: []string{"b"}, Depth: 4, Settling: true},
		Assuming:     []logic.Assumption{{Kind: logic.Growing, Relation: "x"}, {Kind: logic.Timely, Relation: "y"}}}})
	got, err := certificate.Decode([]byte(encoded(t, steps)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(steps, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

// TestReadAgain checks a sequence of steps from its certificate alone: programs are parsed from
// text, and claims are read from the file.
func TestReadAgain(t *testing.T) {
	all := sequence(t)
	var steps []certificate.Step
	for _, r := range all {
		steps = append(steps, certificate.Step{Claim: r.claim, Program: r.after.String()})
	}
	got, err := certificate.Decode([]byte(encoded(t, steps)))
	if err != nil {
		t.Fatal(err)
	}
	before := given.Program(t, storage)
	for i, s := range got {
		text := s.Program
		if i == len(got)-1 {
			text = all[i].after.String()
		}
		after := given.Program(t, text)
		if err := certificate.Check(before, after, s.Claim); err != nil {
			t.Errorf("step %d: %v", i+1, err)
		}
		before = after
	}
}

func TestFilesThatAreNone(t *testing.T) {
	good := encoded(t, []certificate.Step{{Claim: certificate.Claim{Kind: "mutual", Component: "a", Moved: []int{1}, Name: "b"}, Program: "x"}, {Claim: certificate.Claim{Kind: "relay"}}})
	if _, err := certificate.Decode([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{good, "", "unexpected end"},
		{good, "null", `schema is ""`},
		{"certificate-1", "certificate-2", `schema is "ashlar-dedalus-certificate-2", want "ashlar-dedalus-certificate-1"`},
		{`"component"`, `"komponent"`, "unknown field"},
		{"\n}\n", "\n}\n{}", "invalid character"},
		{`"rules": [
        2
      ]`, `"rules": [0]`, "rules are numbered from 1"},
		{`"program": "x"`, `"program": ""`, "only the last step may omit it"},
		{`"as": "b"`, `"assuming": [{"kind": "hopefully", "relation": "r"}]`, `unknown assumption "hopefully"`},
		{good, `{"schema": "ashlar-dedalus-certificate-1", "steps": []}`, "it has 0 steps"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if text == good {
			t.Fatalf("%q is not in the certificate:\n%s", c.old, good)
		}
		if _, err := certificate.Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.new, err, c.want)
		}
	}
	if _, err := certificate.Decode(slices.Repeat([]byte(" "), certificate.FileBytesMax+1)); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("a long file: %v", err)
	}
}

// TestWritesWhatItReads: Encode writes a certificate of the maximum size, and refuses a larger one.
func TestWritesWhatItReads(t *testing.T) {
	relays := func(n int) []certificate.Step {
		return slices.Repeat([]certificate.Step{{Claim: certificate.Claim{Kind: "relay"}, Program: "x"}}, n)
	}
	if _, err := certificate.Decode([]byte(encoded(t, relays(certificate.StepsMax)))); err != nil {
		t.Errorf("%d steps: %v", certificate.StepsMax, err)
	}
	long := relays(2)
	long[0].Program = strings.Repeat("x", certificate.FileBytesMax)
	for what, steps := range map[string][]certificate.Step{"0 steps": nil, "1025 steps": relays(certificate.StepsMax + 1), "longer than": long} {
		if _, err := certificate.Encode(steps); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// FuzzDecode: every certificate is accepted or refused, whatever it claims of two programs.
func FuzzDecode(f *testing.F) {
	before := given.Program(f, storage)
	p, _ := given.Read(storage)
	for _, kind := range []string{"mutual", "functional", "monotonic", "statemachine", "asymmetric", "relay", "partition", "partial"} {
		f.Add([]byte(encoded(f, []certificate.Step{{Claim: certificate.Claim{Kind: kind, Component: "leader", Name: "collector", Moved: []int{2, 3, 4, 5, 6}, Partitions: 2,
			Keys: map[string]certificate.Key{"fromStorage": {Column: 2}}, Partial: &certificate.Partial{Replicated: []string{"in"}, Depth: 1}}}})))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		steps, err := certificate.Decode(text)
		if err != nil {
			return
		}
		for _, s := range steps {
			if certificate.Check(before, p, s.Claim) == nil {
				t.Errorf("%v: accepted of a program that nothing was done with", s.Claim)
			}
		}
	})
}
