// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// checkRelay checks that all rules of a component have moved, and that the component does
// nothing but forward to them its inputs from outside and its timers.
func checkRelay(before, after *logic.Program, from *logic.Component, c Claim) error {
	for i, n := range c.Moved {
		if n != i {
			return fmt.Errorf("the moved rules must be the rules of %s, in their order", from.Name)
		}
	}
	if len(c.Moved) != len(from.Rules) || len(from.Rules) == 0 {
		return fmt.Errorf("a relay must move all rules of %s", from.Name)
	}
	h := &halves{p: before, moved: from.Rules, assuming: c.Assuming}
	if err := h.unsent(); err != nil {
		return err
	}
	some := false
	for _, n := range inOrder(reads(h.moved)) {
		some = some || comesFromOutside(before.Find(n))
	}
	if !some {
		return fmt.Errorf("%s receives nothing from outside", from.Name)
	}
	return h.transformed(after, from, c)
}

// comesFromOutside reports whether a relation comes from clients or a timer, so that there
// is no sending rule to redirect.
func comesFromOutside(r *logic.Relation) bool {
	return r.Kind == logic.Input || r.Kind == logic.Timer
}
