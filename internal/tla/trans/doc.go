// SPDX-License-Identifier: Apache-2.0

// Package trans translates algorithms: Modular PlusCal to PlusCal, and PlusCal
// to TLA+: as trees for the checker, and as text between markers in the user's
// file.
//
// In: a module with an algorithm and the Program that its names were lowered
// in. Out: the variables and definitions that the algorithm declares, over that
// Program and with positions in the algorithm; the same as text; or the whole
// file with the text inserted and every other byte unchanged.
//
// Promises: the TLA+ means what the algorithm means, with the variables and
// labels of the standard translator. Translating twice gives the same file. The
// package writes a text only after it has read it back, resolved it and found
// it well-formed. It refuses files whose markers are not in order.
//
// Source: "The PlusCal Algorithm Language" (Lamport, 2009) and the PlusCal
// manuals; "Compiling Distributed System Models with PGo" (ASPLOS 2023),
// sections 3 and 5. What differs from PGo is in docs/decisions.
package trans

import "github.com/ashlar-dev/ashlar/internal/source"

// The codes of this package, each with an input that fails.
const (
	// PCalTagsError: \* BEGIN TRANSLATION without \* END TRANSLATION
	PCalTagsError source.Code = "PCalTagsError"
	// ConsistencyCheckFailed: a label l beside an operator l of the module
	ConsistencyCheckFailed source.Code = "ConsistencyCheckFailed"
	// CallAfterAssignment: in a recursive procedure of a Modular algorithm,
	// with parameter n: l: n := n - 1; call p(n)
	CallAfterAssignment source.Code = "CallAfterAssignment"
	// LabelRenamed: two processes with a label of one name (a warning)
	LabelRenamed source.Code = "LabelRenamed"
	// VariableRenamed: two processes with a variable v, and an invariant on v (a
	// warning)
	VariableRenamed source.Code = "VariableRenamed"
	// NoAlgorithm: a module without algorithm, given to the translator
	NoAlgorithm source.Code = "NoAlgorithm"
)
