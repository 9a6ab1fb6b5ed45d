// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"runtime/debug"
	"testing"
)

// TestMain makes the garbage collector run rarely. Worlds are made and dropped: the heap is
// small, and a collection whenever it has doubled would take a quarter of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}
