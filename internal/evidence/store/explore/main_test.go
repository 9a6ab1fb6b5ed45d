// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"runtime/debug"
	"testing"
)

// TestMain makes the garbage collector run rarely. Stores are opened and forgotten: the heap is
// small, and to collect it whenever it has doubled takes a quarter of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(1600)
	m.Run()
}
