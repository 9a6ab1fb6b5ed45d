// SPDX-License-Identifier: Apache-2.0

package dedalus_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// taken is a program after a step, of which the certificate holds.
func taken(t testing.TB, p *logic.Program, line string) *logic.Program {
	t.Helper()
	s, err := rewrite.ParseStep(line)
	if err != nil {
		t.Fatal(err)
	}
	q, cert, err := rewrite.Apply(p, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := certificate.Check(p, q, cert.Claim(p)); err != nil {
		t.Fatalf("%s: the certificate: %v", line, err)
	}
	return q
}

// TestPartialStorage compares storage with what its script makes of it: with an epoch
// at any moment, twice, and with a failure.
func TestPartialStorage(t *testing.T) {
	const a, b, old = `in(node "c", 1, 1, "a", b"x") to leader/0`, `in(node "c", 2, 1, "b", b"y") to leader/0`, `advance(1) to leader/0`
	for name, c := range map[string]struct {
		inputs        []string
		bounds        explore.Bounds
		first, second int64
	}{
		"two writes and an epoch": {[]string{a, b, `advance(2) to leader/0`}, explore.Bounds{}, 138, 1899},
		"epochs twice":            {[]string{a, old}, explore.Bounds{Together: 1, Duplicates: 1}, 62, 10622},
		"a crash":                 {[]string{a, `advance(2) to leader/0`}, explore.Bounds{Together: 1, Crashes: 1}, 71, 725},
	} {
		t.Run(name, func(t *testing.T) {
			p := load(t, "partial")
			q := taken(t, p, "partial storage into 2 put by c3")
			got, err := explore.Compare(t.Context(), p, q, messages(t, c.inputs...), functions(), c.bounds, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Different != nil || !got.Complete() || len(got.Second.Final) == 0 {
				t.Errorf("complete %v: %v", got.Complete(), got.Different)
			}
			if got.First.States != c.first || got.Second.States != c.second {
				t.Errorf("%d and %d states, want %d and %d", got.First.States, got.Second.States, c.first, c.second)
			}
		})
	}
}

// TestPartialPaxos explores Paxos with one acceptor, of two pieces, and a proposer that
// begins to lead twice: what the pieces have taken is asked for, and put together.
func TestPartialPaxos(t *testing.T) {
	p := mutant(t, "paxos", append(one(), "proposer: 2", "proposer: 1")...)
	q := taken(t, p, "partial acceptor into 2 accept by c2")
	got, err := explore.Compare(t.Context(), p, q, messages(t, `propose(node "c", b"x0") to proposer/0`), functions(), explore.Bounds{Together: 1}, func(m *explore.Model) {
		m.Limit("heartbeat", 0)
		m.Limit("election", 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Different != nil || !got.Complete() || len(got.Second.Final) == 0 {
		t.Errorf("complete %v: %v", got.Complete(), got.Different)
	}
	if got.First.States != 18 || got.Second.States != 510 {
		t.Errorf("%d and %d states, want %d and %d", got.First.States, got.Second.States, 18, 510)
	}
	for told := range got.Second.Told {
		if strings.Contains(told, "reply(") {
			return
		}
	}
	t.Error("nothing is chosen")
}
