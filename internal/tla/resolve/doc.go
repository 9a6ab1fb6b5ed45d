// SPDX-License-Identifier: Apache-2.0

// Package resolve binds the names of parsed modules to what they mean.
//
// In: the tree of a root module and a Library that finds the others. Out: an
// Info, side tables that are keyed by tree nodes, and diagnostics. The trees
// themselves are not changed. internal/tla/lower reads the tables.
//
// The rules are those of "Specifying Systems" (Lamport, 2002), chapter 17, and
// of TLA+2: a name means what was declared or defined before it; EXTENDS takes
// over all names of a module that are not LOCAL; INSTANCE makes the
// definitions of a module anew under substitutions for all its constants and
// variables, by the name of the parameter where WITH is silent; a definition
// that arrives twice from one place is one definition. Names, numbers of
// arguments and levels (constant, state, action, temporal) are checked in all
// modules that are reached, those that nothing uses included. Proofs are not
// looked at.
//
// It promises that no tree makes it panic, and that work and memory are
// bounded by the limits below. It goes on after an error; what follows from an
// earlier error is not reported again.
//
// Levels are those of what a definition stands for when every definition is
// expanded (level.go). The reference tools take an operator that is passed on
// for one that has the levels of all its arguments, and so refuse some formulas
// that are right; here an application is held against what the operator really
// does with them. Two rules are about the text alone, there and here: [] and <> of
// an action, and an action beside a temporal formula.
package resolve

// Limits. What goes beyond gets a diagnostic.
const (
	// ModulesMax is how many modules one root may reach, nested ones included.
	ModulesMax = 2000
	// DepthMax is how deep expressions and chains of modules may nest here; it
	// is the limit of the parser, which guards trees made otherwise.
	DepthMax = 10_000
)
