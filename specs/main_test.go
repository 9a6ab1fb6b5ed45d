// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"runtime/debug"
	"testing"
)

// TestMain has the collector run seldom. States are made and forgotten: the heap is small, and
// to collect it whenever it has doubled takes a quarter of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}
