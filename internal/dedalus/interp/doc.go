// SPDX-License-Identifier: Apache-2.0

// Package interp runs Dedalus programs, one instance and one tick at a time, in
// the simplest way: it is the oracle for all faster implementations.
//
// In: a logic.Program, the identity of the instance, and for each tick the facts that
// arrive. Out: the facts that hold in the tick, are sent, and are carried to the next.
//
// Promised: the same input gives the same output in the same order. Refused: deciding
// when and whether messages arrive; the caller does that.
package interp
