package lower

import "github.com/ashlar-dev/ashlar/source"

// The codes of this package, each with an input that fails.
const (
	// NumberTooLarge: A == 99999999999999999999
	NumberTooLarge source.Code = "NumberTooLarge"
	// TooManyInstances: instances of instances that make more than
	// DefinitionsMax definitions
	TooManyInstances source.Code = "TooManyInstances"
)

// DefinitionsMax is how many definitions a Spec may have. Instances of
// instances multiply: the limit bounds what a small text can ask for.
const DefinitionsMax = 100_000
