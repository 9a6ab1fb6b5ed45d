// SPDX-License-Identifier: Apache-2.0

package tracelog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
)

// TestMergeTakesTheHigher: of each actor the higher count, from either side.
func TestMergeTakesTheHigher(t *testing.T) {
	var none tracelog.Clock
	a := none.With("a", 1).With("b", 7).With("c", 3)
	b := none.With("a", 4).With("b", 2).With("c", 3)
	want := tracelog.Clock{{Actor: "a", N: 4}, {Actor: "b", N: 7}, {Actor: "c", N: 3}}
	for _, got := range []tracelog.Clock{a.Merge(b), b.Merge(a)} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}
