// SPDX-License-Identifier: Apache-2.0

// Package interp runs Dedalus programs, one instance and one tick at a time, in
// the plainest way: it is the oracle that everything faster is compared with.
//
// In: a logic.Program, the identity of the instance, and for each tick the facts that
// arrive. Out: what holds in the tick, what is sent, and what is carried on.
//
// Promised: the same input gives the same output in the same order. Refused: when
// messages arrive, and whether; that is for the caller.
package interp
