// SPDX-License-Identifier: Apache-2.0

// Package logic is a Dedalus program as the passes see it: relations with types,
// components with rules, and how many instances of each component there are.
//
// In: programs that package lower has made of text, or a rewrite of another
// program. Out: the same to interpreters, analyses, rewrites and code generation.
//
// Promised, and checked by Validate: every variable of a head, of a negated
// literal and of a comparison is bound by a positive literal or an assignment
// before it; every atom has as many arguments as its relation has columns, of
// their types; negation and aggregation are stratified within a tick. Location and
// time are not written: the body of a rule speaks of one instance at one tick, so
// that rules cannot confuse them.
//
// Refused: syntax, and running anything.
//
// A program is not changed after it was made; a rewrite makes another one (Clone).
//
// Source: Optimizing Distributed Protocols with Query Rewrites (SIGMOD 2024),
// section 2, with the repairs of docs/lang/dedalus.md.
package logic
