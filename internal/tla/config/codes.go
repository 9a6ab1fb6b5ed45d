// SPDX-License-Identifier: Apache-2.0

package config

import "github.com/ashlar-dev/ashlar/internal/source"

// The codes of the diagnostics; each comment shows a file that has it.
const (
	// UnknownSection: INVARIENT TypeOK
	UnknownSection source.Code = "UnknownSection"
	// DuplicateSection: SPECIFICATION Spec SPECIFICATION Spec2
	DuplicateSection source.Code = "DuplicateSection"
	// ConflictingBehaviour: SPECIFICATION Spec INIT Init NEXT Next
	ConflictingBehaviour source.Code = "ConflictingBehaviour"
	// IncompleteBehaviour: INIT Init
	IncompleteBehaviour source.Code = "IncompleteBehaviour"
	// ExpectedName: SPECIFICATION = 3
	ExpectedName source.Code = "ExpectedName"
	// ExpectedValue: CONSTANT N = {1, }
	ExpectedValue source.Code = "ExpectedValue"
	// ExpectedAssignment: CONSTANT N 3
	ExpectedAssignment source.Code = "ExpectedAssignment"
	// ExpectedClosing: CONSTANT S = {1, 2
	ExpectedClosing source.Code = "ExpectedClosing"
	// ExpectedBoolean: CHECK_DEADLOCK maybe
	ExpectedBoolean source.Code = "ExpectedBoolean"
	// ExpressionInValue: CONSTANT N = 1 .. 3
	ExpressionInValue source.Code = "ExpressionInValue"
	// UnexpectedSeparator: INVARIANTS A, B
	UnexpectedSeparator source.Code = "UnexpectedSeparator"
	// DuplicateConstant: CONSTANT N = 1 N = 2
	DuplicateConstant source.Code = "DuplicateConstant"
	// DuplicateField: CONSTANT R = [a |-> 1, a |-> 2]
	DuplicateField source.Code = "DuplicateField"
	// DuplicateName: INVARIANTS A A (a warning)
	DuplicateName source.Code = "DuplicateName"
	// ModelValueSet: CONSTANT S = BOOLEAN (a warning)
	ModelValueSet source.Code = "ModelValueSet"
	// NumberTooLarge: CONSTANT N = 2147483648
	NumberTooLarge source.Code = "NumberTooLarge"
	// UnterminatedString: CONSTANT S = "abc
	UnterminatedString source.Code = "UnterminatedString"
	// UnterminatedComment: SPECIFICATION Spec (* and so on
	UnterminatedComment source.Code = "UnterminatedComment"
	// UnknownEscape: CONSTANT S = "\q"
	UnknownEscape source.Code = "UnknownEscape"
	// UnexpectedCharacter: CONSTANT N = 3 ?
	UnexpectedCharacter source.Code = "UnexpectedCharacter"
	// NestingTooDeep: more than NestingMax braces within each other
	NestingTooDeep source.Code = "NestingTooDeep"
	// FileTooLarge: more than FileBytesMax bytes
	FileTooLarge source.Code = "FileTooLarge"
	// EmptySection: INVARIANT at the end of the file (a warning)
	EmptySection source.Code = "EmptySection"
)
