package rewrite

import (
	"github.com/ashlar-dev/ashlar/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/dedalus/logic"
)

// partiallyDivisible says whether a component can be divided by keys but for some
// relations that all parts get in one order.
func partiallyDivisible(*site) analyze.Verdict {
	return no(nil, "no keys but those of a partitioning are known")
}

// dividePartially divides a component.
func dividePartially(*site) {}

// claimPartial tells the keys, and what is replicated.
func claimPartial(*Certificate, *logic.Program, *certificate.Claim) {}
