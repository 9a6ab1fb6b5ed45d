// SPDX-License-Identifier: Apache-2.0

package console

import (
	"errors"
	"strings"
	"testing"
)

// full is a file on a disk that is full.
type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

// TestJSONThatCannotBeWritten: the error says what could not be written, and keeps its cause.
func TestJSONThatCannotBeWritten(t *testing.T) {
	cause := errors.New("no space left on device")
	err := (&Terminal{Out: full{cause}}).JSON(1)
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), "write the result: ") {
		t.Errorf("the error is %v", err)
	}
	var b strings.Builder
	if err := (&Terminal{Out: &b}).JSON([]int{1}); err != nil || b.String() != "[\n  1\n]\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
