// SPDX-License-Identifier: Apache-2.0

// Package plan determines how a compiled component executes a tick: which facts it
// keeps, in which order its rules are evaluated, from which literal each of them
// starts, and by which columns it looks up the others.
//
// In: a logic.Program. Out: a Program, for package gen.
//
// Promised: the plan derives and sends what package interp derives and sends, except
// that a fact that holds for several ticks is sent only when it begins to hold. Refused:
// heads with two index aggregates (Refused names the rule).
//
// # Pulses and standing facts
//
// A relation is a pulse when each fact of it comes from a message or timer of the
// same tick, or, by "next", of a tick before: such facts are computed anew in each
// tick, from the few that arrived. All others are standing: they are kept from tick to
// tick, with the number of derivations of each, and updated when the facts behind them
// change. A rule is a pulse when a positive literal of it is; so a standing
// relation may have pulses among its rules, whose facts are removed at the end
// of the tick unless another rule derives them.
//
// When the literals L1 ... Ln of a standing rule change, the change of its head is the
// sum over i of: L1 ... Li-1 as they are now, the changes of Li, Li+1 ... Ln as they were
// in the tick before. This needs relations that remember what held before (Tracked).
// Recursive relations cannot use numbers of derivations, because facts may derive each
// other: they grow in place, and are recomputed when a fact behind them is lost.
//
// # Simplification
//
// Before that, the component is brought into a form with fewer cases: a negated
// literal with wildcards, in a standing rule, becomes a literal of a projection; facts
// that merge become an aggregate of unmerged ones; facts that are sent and could be
// derived twice become a relation of their own.
package plan
