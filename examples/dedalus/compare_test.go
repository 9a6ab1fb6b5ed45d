// SPDX-License-Identifier: Apache-2.0

package dedalus_test

import (
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
)

// TestRewritten compares each program with what its script makes of it, on a few
// inputs, in every order in which messages can arrive.
func TestRewritten(t *testing.T) {
	for name, c := range map[string]struct {
		inputs []string
		bounds explore.Bounds
		// less is what makes the program small enough: pairs of old and new text.
		less []string
		// first and second are how many states there are before and after.
		first, second int64
	}{
		"voting": {[]string{`clientIn(node "c", 1, b"x") to leader/0`, `clientIn(node "c", 2, b"y") to leader/0`},
			explore.Bounds{Duplicates: 1}, nil, 18073, 22601},
		"storage":      {[]string{`in(node "c", b"x") to leader/0`, `in(node "c", b"y") to leader/0`}, explore.Bounds{}, []string{"storage: 3", "storage: 2"}, 118, 1197},
		"mutual":       {[]string{`in(node "c", 1, b"x") to leader/0`, `in(node "c", 2, b"y") to leader/0`}, explore.Bounds{Duplicates: 1}, nil, 18073, 18073},
		"functional":   {[]string{`in(node "c", 1, b"x") to leader/0`, `in(node "c", 2, b"y") to leader/0`}, explore.Bounds{}, nil, 838, 958},
		"monotonic":    {[]string{`in(node "c", 1, b"x") to leader/0`, `in(node "c", 2, b"y") to leader/0`}, explore.Bounds{}, []string{"replica: 3", "replica: 2"}, 494, 6270},
		"cohash":       {[]string{`in(node "c", 1, "k", b"x") to leader/0`, `in(node "c", 2, "k", b"y") to leader/0`, `in(node "c", 3, "l", b"z") to leader/0`}, explore.Bounds{Duplicates: 1}, nil, 3727, 3727},
		"dependencies": {[]string{`in(node "c", 1, b"x") to leader/0`, `in(node "c", 2, b"x") to leader/0`, `in(node "c", 3, b"y") to leader/0`}, explore.Bounds{Duplicates: 1}, nil, 2965, 2965},
		"twophase":     {[]string{`begin(node "c", 1) to coordinator/0`, `ready(1, true) to resource/0`, `ready(1, true) to resource/1`}, explore.Bounds{Together: 1}, nil, 76141, 102580},
		"statemachine": {[]string{`in(node "c", 1, b"x") to leader/0`, `in(node "c", 2, b"y") to leader/0`, `in(node "c", 3, b"z") to leader/0`}, explore.Bounds{}, nil, 25, 1068},
		"asymmetric":   {[]string{`in(node "c", 1, b"x") to leader/0`}, explore.Bounds{}, []string{"replica: 3", "replica: 2"}, 53, 1455},
		"proxies": {[]string{`lead(1) to leader/0`, `propose(node "c", b"x") to leader/0`, `promise(node "p", 2) to acceptor/0`},
			explore.Bounds{Together: 1}, []string{"acceptor: 3", "acceptor: 2"}, 323, 8040},
	} {
		t.Run(name, func(t *testing.T) {
			steps := rewritten(t, name, c.less...)
			got, err := explore.Compare(t.Context(), steps[0].before, steps[len(steps)-1].after, messages(t, c.inputs...), functions(), c.bounds, func(m *explore.Model) { m.Limit("retry", 1) })
			if err != nil {
				t.Fatal(err)
			}
			if got.Different != nil || !got.Complete() {
				t.Errorf("complete %v: %v", got.Complete(), got.Different)
			}
			if got.First.States != c.first || got.Second.States != c.second {
				t.Errorf("%d and %d states, want %d and %d", got.First.States, got.Second.States, c.first, c.second)
			}
			if len(got.Second.Final) == 0 {
				t.Error("it never comes to rest")
			}
		})
	}
}
