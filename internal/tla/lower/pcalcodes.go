// SPDX-License-Identifier: Apache-2.0

package lower

import "github.com/ashlar-dev/ashlar/internal/source"

// The codes of errors in algorithms, each with an input that fails. The names
// of those that PlusCal and Modular PlusCal users know from elsewhere are kept.
const (
	// LabelRequired: { x := 1 } as the body of a process
	LabelRequired source.Code = "LabelRequired"
	// LabelForbidden: with (x = 1) { a: skip }
	LabelForbidden source.Code = "LabelForbidden"
	// ReservedLabel: Done: skip
	ReservedLabel source.Code = "ReservedLabel"
	// DuplicateLabel: a: skip; a: skip
	DuplicateLabel source.Code = "DuplicateLabel"
	// LabelNotDefined: goto nowhere
	LabelNotDefined source.Code = "LabelNotDefined"
	// MultipleAssignment: a: x := 1; x := 2, outside Modular PlusCal
	MultipleAssignment source.Code = "MultipleAssignment"
	// PCalInvalidAssignment: N := 1, where N is a constant
	PCalInvalidAssignment source.Code = "PCalInvalidAssignment"
	// StatementMisplaced: return, in a process
	StatementMisplaced source.Code = "StatementMisplaced"
	// ModuleNeeded: assert x = 1, without EXTENDS TLC
	ModuleNeeded source.Code = "ModuleNeeded"
	// DuplicateName: two processes, procedures or macros of one name
	DuplicateName source.Code = "DuplicateName"
	// AlgorithmTooLarge: macros that double, forty deep
	AlgorithmTooLarge source.Code = "AlgorithmTooLarge"
	// UnknownOption: PlusCal options (labl)
	UnknownOption source.Code = "UnknownOption"

	// MacroLookup: m(1), where there is no macro m
	MacroLookup source.Code = "MacroLookup"
	// ProcedureLookup: call p(), where there is no procedure p
	ProcedureLookup source.Code = "ProcedureLookup"
	// ArchetypeLookup: instance A(), where there is no archetype A
	ArchetypeLookup source.Code = "ArchetypeLookup"
	// MappingLookup: mapping x via M, where x is no argument of the instance
	MappingLookup source.Code = "MappingLookup"
	// MappingIndexOutOfBounds: mapping @3 via M, with two arguments
	MappingIndexOutOfBounds source.Code = "MappingIndexOutOfBounds"
	// MappingMacroLookup: mapping x via M, where there is no mapping macro M
	MappingMacroLookup source.Code = "MappingMacroLookup"
	// DefinitionLookup: nowhere := 1
	DefinitionLookup source.Code = "DefinitionLookup"

	// RecursiveMacro: macro m() { m() }
	RecursiveMacro source.Code = "RecursiveMacro"
	// ArgumentCountMismatch: m(1, 2), where m has one parameter
	ArgumentCountMismatch source.Code = "ArgumentCountMismatch"
	// UnboundFreeVariable: a macro that uses x, called where there is no x
	UnboundFreeVariable source.Code = "UnboundFreeVariable"
	// MacroExpandAssignmentLhs: macro m(p) { p := 1 }, and m(1 + 1)
	MacroExpandAssignmentLhs source.Code = "MacroExpandAssignmentLhs"

	// PClArityMismatch: call p(1), where p has no parameters; instances alike
	PClArityMismatch source.Code = "PClArityMismatch"
	// MPCalKindMismatch: reading x where the parameter is ref x[_]
	MPCalKindMismatch source.Code = "MPCalKindMismatch"
	// MPCalMappingValueRefMismatch: ref x, passed where the parameter is no ref
	MPCalMappingValueRefMismatch source.Code = "MPCalMappingValueRefMismatch"
	// MPCalReadWriteAssignmentForbidden: x[1][2] := 3, for ref x[_]
	MPCalReadWriteAssignmentForbidden source.Code = "MPCalReadWriteAssignmentForbidden"
	// MPCalMultipleMapping: mapping x via M mapping x via M
	MPCalMultipleMapping source.Code = "MPCalMultipleMapping"
	// MPCalEffectivelyNoProcesses: --mpcal A { archetype B() { l: skip } }
	MPCalEffectivelyNoProcesses source.Code = "MPCalEffectivelyNoProcesses"
	// MPCalGlobalInArchetype: an archetype that uses a global variable
	MPCalGlobalInArchetype source.Code = "MPCalGlobalInArchetype"
	// MPCalYieldMissing: read { skip }
	MPCalYieldMissing source.Code = "MPCalYieldMissing"
	// MPCalYieldTwice: read { yield 1; yield 2 }
	MPCalYieldTwice source.Code = "MPCalYieldTwice"

	// MPCalCrashPart: crash { await $variable = 0 }
	MPCalCrashPart source.Code = "MPCalCrashPart"
	// MPCalDurableInit: durable variables x = y; variables y = 1
	MPCalDurableInit source.Code = "MPCalDurableInit"
	// MPCalCrashArgument: instance A(g), where g is a variable, and A crashes and
	// assigns its parameter
	MPCalCrashArgument source.Code = "MPCalCrashArgument"
	// MPCalCrashBound: CRASHES(n) == n, beside an archetype that crashes
	MPCalCrashBound source.Code = "MPCalCrashBound"
	// CrashPartUnused (a warning): a mapping macro with a crash part, and no
	// archetype that crashes is given a variable through it
	CrashPartUnused source.Code = "CrashPartUnused"
	// RecoverIsPlain (a warning): process (P = 1) { recover: skip; }
	RecoverIsPlain source.Code = "RecoverIsPlain"
	// MPCalCrashFairness: PlusCal options (wfNext), beside an archetype that crashes
	MPCalCrashFairness source.Code = "MPCalCrashFairness"
)

// StatementsMax is the maximum number of statements in the bodies of an
// algorithm after macro expansion.
const StatementsMax = 100_000
