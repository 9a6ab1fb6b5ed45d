// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"runtime/debug"
	"testing"
)

// TestMain makes the garbage collector run rarely. Stores are opened and dropped: the heap is
// small, and a collection whenever it has doubled would take a quarter of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(1600)
	m.Run()
}
