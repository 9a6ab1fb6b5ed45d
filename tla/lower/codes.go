package lower

import "github.com/ashlar-dev/ashlar/source"

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
)

// DefinitionsMax is how many definitions a Spec may have. Instances of
// instances multiply: the limit bounds what a small text can ask for.
const DefinitionsMax = 100_000

// PartsMax is how many expressions substitution may make in one Program, the
// parts of expressions counted. Substitutions in substitutions multiply, too.
const PartsMax = 1_000_000
