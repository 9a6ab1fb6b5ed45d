// SPDX-License-Identifier: Apache-2.0

package lower

import "github.com/ashlar-dev/ashlar/internal/source"

// The codes of this package, each with an input that fails.
const (
	// NumberTooLarge: A == 99999999999999999999
	NumberTooLarge source.Code = "NumberTooLarge"
	// TooManyInstances: instances of instances that make more than
	// DefinitionsMax definitions
	TooManyInstances source.Code = "TooManyInstances"
	// ExpressionTooLarge: instances of instances WITH c <- <<c, c>>, or
	// definitions that select parts of one another, which make more than
	// PartsMax expressions
	ExpressionTooLarge source.Code = "ExpressionTooLarge"
	// RecursiveInInstance: I == INSTANCE M WITH v <- 2 * z, where M has RECURSIVE
	// F(_, _), F(A, n) == IF n = 0 THEN ENABLED A ELSE F(A, n - 1), and F(v' = 1, 2)
	RecursiveInInstance source.Code = "RecursiveInInstance"
	// ComposedInInstance: I == INSTANCE M WITH v <- 2 * z, where M has A \cdot B
	ComposedInInstance source.Code = "ComposedInInstance"
)

// DefinitionsMax is the maximum number of definitions in a Spec. Instances of
// instances multiply, so a small text could otherwise ask for a huge Spec.
const DefinitionsMax = 100_000

// PartsMax is the maximum number of expressions, parts of expressions included,
// that substitution may create in one Program. Nested substitutions multiply
// too.
const PartsMax = 1_000_000
