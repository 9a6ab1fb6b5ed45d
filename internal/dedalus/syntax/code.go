// SPDX-License-Identifier: Apache-2.0

package syntax

import "github.com/ashlar-dev/ashlar/internal/source"

// DepthMax is the maximum nesting of terms and types.
const DepthMax = 100

// Codes of diagnostics.
const (
	// BadCharacter: program p $
	BadCharacter source.Code = "BadCharacter"
	// BadString: static r(x: text) = { ("a) }
	BadString source.Code = "BadString"
	// BadNumber: static r(x: u64) = { (99999999999999999999) }
	BadNumber source.Code = "BadNumber"
	// Expected: sync r(x) q(x)
	Expected source.Code = "Expected"
	// TooDeep: more than DepthMax brackets in brackets.
	TooDeep source.Code = "TooDeep"
	// TooLong: a file of more than source.FileBytesMax bytes.
	TooLong source.Code = "TooLong"
)
