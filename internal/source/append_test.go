// SPDX-License-Identifier: Apache-2.0

package source

import "testing"

// TestAppendKeepsErrors: an error that one list counted and did not keep is an
// error of the list that takes its diagnostics.
func TestAppendKeepsErrors(t *testing.T) {
	var full, l List
	for range DiagnosticsMax {
		full.Warnf(Span{}, "W", "a warning")
	}
	full.Errorf(Span{}, "E", "an error")
	l.Warnf(Span{}, "W", "a warning")
	l.Append(&full)
	if !l.HasErrors() || l.Err() == nil {
		t.Error("an error was forgotten")
	}
	if l.Len() != DiagnosticsMax || l.Dropped() != 2 {
		t.Errorf("%d kept, %d dropped, want %d and 2", l.Len(), l.Dropped(), DiagnosticsMax)
	}
}
