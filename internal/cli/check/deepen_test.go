// SPDX-License-Identifier: Apache-2.0

package check

import (
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// TestDecidingProgress: a person reads how far the decision about properties is.
func TestDecidingProgress(t *testing.T) {
	state := check.Stats{Generated: 1_234_567_890, Distinct: 123_456_789, Queue: 12_345_678, Depth: 1234}
	for want, d := range map[string]check.Deciding{
		"123,456,789 distinct  properties of behaviours: graph of 12,345 of 123,456,789 states": {States: 12_345, Of: 123_456_789},
		"123,456,789 distinct  properties of behaviours: Abstract!Spec":                         {States: 123_456_789, Of: 123_456_789, Property: "Abstract!Spec"},
	} {
		if got := decidingProgress(state, d); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
