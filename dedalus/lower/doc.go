// Package lower makes of a program as it is written a program as the passes see
// it: names get meanings, columns and variables types, sugar becomes rules.
//
// In: a syntax.File without errors. Out: a logic.Program that Validate accepts, or
// diagnostics that name the place and the repair.
//
// Refused here, so that no pass has to: names that nobody derives, arguments too
// many or too few, values of two types in one place, variables that nothing binds,
// heads that cannot be derived, and relations that depend on their own absence or
// number within a tick.
package lower
