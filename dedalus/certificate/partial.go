package certificate

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/dedalus/logic"
)

// Partial is what a partial partitioning claims besides keys and dependencies.
type Partial struct {
	// Replicated are the inputs that all pieces get in one order; Sealed the relations
	// that they send in parts.
	Replicated, Sealed []string
}

// checkPartial refuses all: there are no keys but those of a partitioning.
func checkPartial(before, after *logic.Program, from *logic.Component, c Claim) error {
	return fmt.Errorf("there is no rewrite %q", c.Kind)
}
