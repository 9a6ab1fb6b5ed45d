// SPDX-License-Identifier: Apache-2.0

package model

import "github.com/ashlar-dev/ashlar/internal/source"

// The codes of the diagnostics that New reports, besides those of package program;
// each comment shows a configuration that has it.
const (
	// WrongLevel: INVARIANT Next
	WrongLevel source.Code = "WrongLevel"
	// MissingBehaviour: INVARIANT Inv without SPECIFICATION, INIT and NEXT, where there are variables
	MissingBehaviour source.Code = "MissingBehaviour"
	// BadSpecification: SPECIFICATION Spec, where Spec is not Init /\ [][Next]_v /\ fairness
	BadSpecification source.Code = "BadSpecification"
	// OtherNext: SPECIFICATION More for the traces of an algorithm, where More is Init /\ [][Next /\ x' > x]_vars
	OtherNext source.Code = "OtherNext"
	// BadSymmetry: SYMMETRY Perms, where Perms is not a set of permutations of model values
	BadSymmetry source.Code = "BadSymmetry"
	// Unsupported: _POSSIBLE Goal
	Unsupported source.Code = "Unsupported"
)
