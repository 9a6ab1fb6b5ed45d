// SPDX-License-Identifier: Apache-2.0

package check

import "testing"

// TestViolationsNameTheirProperty: a violation has the name of the property that was
// evaluated, whether it was false or failed, and no name if no property was
// evaluated.
func TestViolationsNameTheirProperty(t *testing.T) {
	info := Info{Invariants: []string{"Small", "Even"}, Steps: []string{"Grows", "Stays"}}
	for _, c := range []struct {
		v    violation
		want string
	}{
		{violation{verdict: InvariantViolated, asked: InvariantViolated, index: 1}, "Even"},
		{violation{verdict: StepViolated, asked: StepViolated, index: 0}, "Grows"},
		{violation{verdict: StepViolated, asked: StepViolated, index: 1}, "Stays"},
		{violation{verdict: EvalFailed, asked: InvariantViolated, index: 0}, "Small"},
		{violation{verdict: EvalFailed, asked: StepViolated, index: 1}, "Stays"},
		{violation{verdict: EvalFailed, index: -1}, ""},
		{violation{verdict: Deadlock, asked: Deadlock, index: -1}, ""},
	} {
		if got := c.v.property(info); got != c.want {
			t.Errorf("%v of %v %d: %q, want %q", c.v.verdict, c.v.asked, c.v.index, got, c.want)
		}
	}
}
