// SPDX-License-Identifier: Apache-2.0

package mutants_test

import (
	"runtime/debug"
	"testing"
)

// TestMain makes the garbage collector run rarely. States are made and forgotten: the heap is
// small, and to collect it whenever it has doubled takes a quarter of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}
