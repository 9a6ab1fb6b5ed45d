// SPDX-License-Identifier: Apache-2.0

// Package plan says how a compiled component gets from tick to tick: which facts it
// keeps, in which order its rules are evaluated, from which literal each of them
// starts, and by which columns it looks up the others.
//
// In: a logic.Program. Out: a Program, for package gen.
//
// Promised: what is derived and sent is what package interp derives and sends, but
// that what goes on holding is sent when it begins to hold. Refused: heads with two
// aggregates index (Refused says which).
//
// # Pulses and standing facts
//
// A relation is a pulse when each fact of it comes from a message or timer of the
// same tick, or, by "next", of a tick before: such facts are computed anew in each
// tick, from the few that arrived. All others stand: they are kept from tick to
// tick, with how many derivations each has, and changed where what they come from
// changes. A rule is a pulse when a positive literal of it is; so a standing
// relation may have pulses among its rules, whose facts are taken back at the end
// of the tick unless something else derives them.
//
// A standing rule of literals L1 ... Ln has, when they change, as changes the sum
// over i of: L1 ... Li-1 as they are now, the changes of Li, Li+1 ... Ln as they were
// in the tick before. That takes relations which remember what held before
// (Tracked). Recursive relations have no use for numbers of derivations, as facts
// may derive each other: they grow in place, and are computed anew when something
// that they come from is lost.
//
// # Rules that make it simple
//
// Before all that the component is brought into a form with fewer cases: a
// negated literal with wildcards, in a standing rule, is one of a projection; facts
// that merge are an aggregate of unmerged ones; what is sent and could be derived
// twice is a relation of its own.
package plan
