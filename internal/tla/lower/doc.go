// SPDX-License-Identifier: Apache-2.0

// Package lower turns resolved TLA+ modules into the small language of
// internal/tla/core, and the algorithms in their comments into that of internal/tla/pcal.
//
// In: the tables that internal/tla/resolve made for a root module without errors. Out:
// a core.Spec in which EXTENDS and INSTANCE are gone and every name leads to
// what it means, and a Scope in which the expressions of an algorithm are read.
//
// Definitions are lowered when something reaches them, from the names that can
// be written at the end of the root module. A definition of a module is
// lowered once, as its module has it; an instance then gets a copy with the
// instance's substitutions made, or the very same body when it uses nothing
// that the instance replaces. Substitution is that of "Specifying Systems",
// chapter 4; below ENABLED that of 17.8, see enabled.go.
//
// It promises that the Spec passes core.Validate, and that it reports what it
// cannot lower; a Bad stands in its place. It refuses integers that do not fit
// 64 bits and specifications whose instances multiply without measure.
package lower
