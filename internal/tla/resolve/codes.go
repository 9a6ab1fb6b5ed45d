// SPDX-License-Identifier: Apache-2.0

package resolve

import "github.com/ashlar-dev/ashlar/internal/source"

// The codes of this package. Each comment shows an input that fails;
// testdata/codes has them whole.
const (
	// ModuleNotFound: EXTENDS Natrals
	ModuleNotFound source.Code = "ModuleNotFound"
	// ModuleCycle: module A has EXTENDS B, module B has EXTENDS A
	ModuleCycle source.Code = "ModuleCycle"
	// ModuleName: file A.tla holds ---- MODULE B ----
	ModuleName source.Code = "ModuleName"
	// TooManyModules: more than ModulesMax modules.
	TooManyModules source.Code = "TooManyModules"
	// TooDeep: an expression nested deeper than DepthMax.
	TooDeep source.Code = "TooDeep"

	// UnknownName: A == x, where nothing declares x
	UnknownName source.Code = "UnknownName"
	// UnknownOperator: A == 1 + 2, without EXTENDS Naturals
	UnknownOperator source.Code = "UnknownOperator"
	// UsedBeforeDefined: A == B, and later B == 1
	UsedBeforeDefined source.Code = "UsedBeforeDefined"
	// Redefined: A == 1, and later A == 2
	Redefined source.Code = "Redefined"
	// DefinedAlike: A == 1, and INSTANCE M, where M has A == 1, too (a warning)
	DefinedAlike source.Code = "DefinedAlike"
	// Hides: EXTENDS SequencesExt, and Reverse(s) == s (a warning)
	Hides source.Code = "Hides"
	// Shadowed: A == \E x \in {1} : \E x \in {2} : x = 1 (a warning)
	Shadowed source.Code = "Shadowed"
	// FieldTwice: A == [a |-> 1, a |-> 2]
	FieldTwice source.Code = "FieldTwice"
	// RecursiveUndefined: RECURSIVE F(_), and no definition of F
	RecursiveUndefined source.Code = "RecursiveUndefined"
	// RecursiveMismatch: RECURSIVE F(_), and F(a, b) == a
	RecursiveMismatch source.Code = "RecursiveMismatch"

	// ArgumentCount: F(a) == a, and A == F(1, 2)
	ArgumentCount source.Code = "ArgumentCount"
	// OperatorExpected: F(Op(_)) == Op(1), and A == F(2)
	OperatorExpected source.Code = "OperatorExpected"
	// ValueExpected: F(a) == a, and A == {F}
	ValueExpected source.Code = "ValueExpected"
	// NotAnOperator: A == \E x \in {1} : x(2)
	NotAnOperator source.Code = "NotAnOperator"
	// AtOutsideExcept: A == @
	AtOutsideExcept source.Code = "AtOutsideExcept"

	// NotAnInstance: B == 1, and A == B!C
	NotAnInstance source.Code = "NotAnInstance"
	// InstanceAsValue: I == INSTANCE M, and A == I
	InstanceAsValue source.Code = "InstanceAsValue"
	// SubstitutionUnknown: INSTANCE M WITH y <- 1, where M has no y
	SubstitutionUnknown source.Code = "SubstitutionUnknown"
	// SubstitutionTwice: INSTANCE M WITH x <- 1, x <- 2
	SubstitutionTwice source.Code = "SubstitutionTwice"
	// SubstitutionMissing: INSTANCE M, where M has CONSTANT x and nothing here is named x
	SubstitutionMissing source.Code = "SubstitutionMissing"
	// Selector: A == 1, and B == A!2
	Selector source.Code = "Selector"
	// Misplaced: A == $value, or another form that has no meaning where it is
	Misplaced source.Code = "Misplaced"

	// NoText: f[x \in {1}] == x, and A == f!1
	NoText source.Code = "NoText"
	// LevelTooHigh: VARIABLE x, and A == (x')'
	LevelTooHigh source.Code = "LevelTooHigh"
)
