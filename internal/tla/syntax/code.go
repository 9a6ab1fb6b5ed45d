// SPDX-License-Identifier: Apache-2.0

package syntax

import "github.com/ashlar-dev/ashlar/internal/source"

// The codes of this package's diagnostics, each with an input that causes it.
// Unless it says otherwise, the example is between a module's header and
// its end.
const (
	// FileTooLarge: a file of more than source.FileBytesMax bytes.
	FileTooLarge source.Code = "FileTooLarge"
	// NestingTooDeep: an expression in 2,000 pairs of parentheses.
	NestingTooDeep source.Code = "NestingTooDeep"

	// BadCharacter: A == £
	BadCharacter source.Code = "BadCharacter"
	// BadEscape: A == "\q"
	BadEscape source.Code = "BadEscape"
	// UnterminatedString: A == "abc
	UnterminatedString source.Code = "UnterminatedString"
	// UnterminatedComment: A == 1 (* abc
	UnterminatedComment source.Code = "UnterminatedComment"

	// ModuleMissing: a whole file that reads: A == 1
	ModuleMissing source.Code = "ModuleMissing"
	// ModuleEndMissing: a file without a last line of four or more =.
	ModuleEndMissing source.Code = "ModuleEndMissing"
	// UnitExpected: { A == 1 }
	UnitExpected source.Code = "UnitExpected"
	// DefineExpected: A = 1
	DefineExpected source.Code = "DefineExpected"
	// TokenExpected: A == IF TRUE ELSE 2
	TokenExpected source.Code = "TokenExpected"
	// NameExpected: VARIABLES x, 3
	NameExpected source.Code = "NameExpected"
	// NameReserved: VARIABLES x, IF
	NameReserved source.Code = "NameReserved"

	// ExpressionExpected: A == 1 +
	ExpressionExpected source.Code = "ExpressionExpected"
	// BracketUnclosed: A == (1 + 2
	BracketUnclosed source.Code = "BracketUnclosed"
	// BracketUnmatched: A == 1 + 2)
	BracketUnmatched source.Code = "BracketUnmatched"
	// PrecedenceConflict: A == a /\ b \/ c
	PrecedenceConflict source.Code = "PrecedenceConflict"
	// LambdaPlace: A == 1 + LAMBDA x : x
	LambdaPlace source.Code = "LambdaPlace"
	// AssignPlace (a warning): A == x := 1
	AssignPlace source.Code = "AssignPlace"
	// BulletMisaligned (a warning): a list whose second bullet is one column
	// to the left of its first.
	BulletMisaligned source.Code = "BulletMisaligned"

	// MarkersBroken (a warning): \* BEGIN TRANSLATION
	// without its END TRANSLATION.
	MarkersBroken source.Code = "MarkersBroken"
	// AlgorithmHead (a warning): (* --algoritm A { { skip } } *)
	AlgorithmHead source.Code = "AlgorithmHead"
	// AlgorithmStart (also a warning, where it may be prose): (* --algorithm A variabels x = 1; begin skip end algorithm *)
	AlgorithmStart source.Code = "AlgorithmStart"
	// AlgorithmRepeated: (* --algorithm A { { skip } } *) (* --algorithm B { { skip } } *)
	AlgorithmRepeated source.Code = "AlgorithmRepeated"
	// AlgorithmEmpty: (* --algorithm A { variables x = 1; } *)
	AlgorithmEmpty source.Code = "AlgorithmEmpty"
	// SectionOrder: (* --algorithm A { macro m() { skip } variables x = 1; { skip } } *)
	SectionOrder source.Code = "SectionOrder"
	// SectionExpected: (* --algorithm A { 17 } *)
	SectionExpected source.Code = "SectionExpected"
	// StatementExpected: (* --algorithm A { { 17 } } *)
	StatementExpected source.Code = "StatementExpected"
	// SemicolonMissing: (* --algorithm A { { skip skip } } *)
	SemicolonMissing source.Code = "SemicolonMissing"
	// BranchMissing: (* --algorithm A { { either skip } } *)
	BranchMissing source.Code = "BranchMissing"
	// RefPlace: (* --mpcal A { archetype B(ref x) { l: print ref x } } *)
	RefPlace source.Code = "RefPlace"
	// RefCaret: (* --mpcal A { archetype B(ref x^) { l: skip } } *)
	RefCaret source.Code = "RefCaret"
	// MappingPlace: (* --mpcal A { archetype B(x) { l: yield $value } } *)
	MappingPlace source.Code = "MappingPlace"
	// DurablePlace: (* --algorithm A { process (P = 1) durable variables x = 1; { l: skip } } *)
	DurablePlace source.Code = "DurablePlace"
	// DurableOrder: (* --mpcal A { archetype B() variables x = 1; durable variables y = 1; { l: skip } } *)
	DurableOrder source.Code = "DurableOrder"
	// CrashOrder: (* --mpcal A { mapping macro M { crash { skip } read { yield $variable } write { yield $value } } } *)
	CrashOrder source.Code = "CrashOrder"
)
