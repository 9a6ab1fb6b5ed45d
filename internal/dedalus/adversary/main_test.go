// SPDX-License-Identifier: Apache-2.0

package adversary_test

import (
	"runtime/debug"
	"testing"
)

// TestMain makes the garbage collector run rarely. The heap stays small, and to collect it each
// time it doubles takes a quarter of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}
