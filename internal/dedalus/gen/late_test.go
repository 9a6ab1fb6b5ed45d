// SPDX-License-Identifier: Apache-2.0

package gen_test

import (
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
)

// TestLate runs programs whose recursive relations are looked up only by what changes
// outside of them, in some ticks: with losses, after which rows are used again that an
// index has never had.
func TestLate(t *testing.T) {
	p := given.Program(t, `program late
component c {
  input  link(a: u64, b: u64)
  input  cut(a: u64)
  input  ask(a: u64)
  output hops(a: u64, b: u64)
  output told(a: u64, b: u64)
  table  links(a: u64, b: u64) delete when cut(a)
  sync links(a, b) <- link(a, b)
  sync hop(a, b) <- links(a, b)
  sync hop(a, c) <- hop(a, b), links(b, c)
  async hops@self(a, b) <- hop(a, b)
  async told@self(a, b) <- ask(a), hop(a, b)
}
deploy { c: 1 }
`)
	lockstep(t, []named{{"late", p}}, 40, 100)
}
