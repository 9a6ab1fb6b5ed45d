// SPDX-License-Identifier: Apache-2.0

// Package lower translates a program as it is written into a program as the
// passes use it: names get meanings, columns and variables types, syntactic
// sugar becomes rules.
//
// In: a syntax.File without errors. Out: a logic.Program that Validate accepts,
// or diagnostics that name the place and the repair.
//
// Refused here, so that no pass needs to: names that are never derived, too
// many or too few arguments, values of two types in one place, unbound
// variables, heads that cannot be derived, and relations that depend on their
// own absence or number within a tick.
package lower
