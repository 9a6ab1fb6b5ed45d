// SPDX-License-Identifier: Apache-2.0

// Package lower turns resolved TLA+ modules into the small language of internal/tla/core,
// and the algorithms in their comments into that of internal/tla/pcal.
//
// In: the tables that internal/tla/resolve made for a root module without errors. Out: a
// core.Spec in which EXTENDS and INSTANCE are gone and every name refers to its meaning,
// and a Scope in which the expressions of an algorithm are read.
//
// A definition is lowered if it is reachable from the names visible at the end of the
// root module. A definition of a module is lowered once, in the context of its module. An
// instance then gets a copy with the instance's substitutions made, or shares the same
// body if it uses nothing that the instance replaces. Substitution is that of "Specifying
// Systems", chapter 4; below ENABLED it is that of section 17.8 (see enabled.go).
//
// The Spec passes core.Validate. The package reports what it cannot lower and puts a Bad
// in its place. It refuses integers that do not fit in 64 bits and specifications whose
// instances multiply beyond the limits.
package lower
