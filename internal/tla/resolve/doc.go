// SPDX-License-Identifier: Apache-2.0

// Package resolve binds the names of parsed modules to their meanings.
//
// In: the tree of a root module and a Library that finds the others. Out: an Info,
// side tables keyed by tree nodes, and diagnostics. The trees themselves are not
// changed. internal/tla/lower reads the tables.
//
// The rules are those of "Specifying Systems" (Lamport, 2002), chapter 17, and of
// TLA+2. A name refers to what was declared or defined before it. EXTENDS imports
// all names of a module that are not LOCAL. INSTANCE copies the definitions of a
// module, with substitutions for all its constants and variables; a parameter that
// WITH does not mention is replaced by the symbol of the same name. A definition
// that is imported twice from the same place is one definition. Names, numbers of
// arguments and levels (constant, state, action, temporal) are checked in all
// modules that are reached, including those that are not used. Proofs are not
// checked.
//
// No tree makes the package panic, and its work and memory are bounded by the
// limits below. It continues after an error and does not report consequences of
// earlier errors.
//
// The level of a definition is that of its full expansion (level.go). The
// reference tools assume that an operator passed as an argument has the levels of
// all its arguments, and so refuse some correct formulas. This package checks an
// application against what the operator actually does with its arguments. Two
// rules concern only the text, in the reference tools and here: [] and <> of an
// action, and an action beside a temporal formula.
package resolve

// Limits. Exceeding one is reported as a diagnostic.
const (
	// ModulesMax is the maximum number of modules that one root may reach, nested
	// ones included.
	ModulesMax = 2000
	// DepthMax is the maximum nesting depth of expressions and of chains of
	// modules. It equals the parser's limit, and guards against trees that the
	// parser did not make.
	DepthMax = 10_000
)
