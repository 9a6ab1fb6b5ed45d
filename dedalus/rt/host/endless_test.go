// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"errors"
	"testing"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
)

// endless gives its first tick up.
type endless struct{ near }

func (*endless) Tick(*rt.Out) { panic(&rt.EndlessError{Component: "near", Relations: "up"}) }

// TestEndlessTick: an instance whose tick is given up ends with what is wrong, and does
// not take others with it.
func TestEndlessTick(t *testing.T) {
	s := newStand(t, &endless{}, nil)
	var e *rt.EndlessError
	if !errors.As(s.ended, &e) || e.Relations != "up" {
		t.Errorf("it ends with %v", s.ended)
	}
}
