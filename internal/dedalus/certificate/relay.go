// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// checkRelay checks that all rules of a component have moved, and that what comes to it
// from outside, and each of its timers, is passed on to them, and nothing else is done.
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

// comesFromOutside reports whether no rule sends a relation, so that no sender can be
// redirected: clients send it, or it is a timer's.
func comesFromOutside(r *logic.Relation) bool {
	return r.Kind == logic.Input || r.Kind == logic.Timer
}
