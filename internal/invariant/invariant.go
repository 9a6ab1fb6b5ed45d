// SPDX-License-Identifier: Apache-2.0

// Package invariant holds the assertions of the house. An assertion guards
// what no input from outside can cause: when it fails, we are wrong.
package invariant

import "fmt"

// Check panics with the message when cond is false. It is for conditions that
// cost little; costly ones are guarded by Enabled.
//
//goose:assert
func Check(cond bool, format string, args ...any) {
	if !cond {
		panic("invariant: " + fmt.Sprintf(format, args...))
	}
}

// Unreachable panics: it stands where a closed sum has no further case.
func Unreachable(what any) {
	panic(fmt.Sprintf("invariant: no such case: %T", what))
}
