// SPDX-License-Identifier: Apache-2.0

// Package explore finds everything that a Dedalus program can do on a few inputs, in
// every order: messages may arrive in any order, several in one tick, or twice; nodes
// may crash, or omit messages that they send or receive. It also checks that a program
// made from it by rewrites does nothing else.
//
// In: a program, messages from outside, and bounds. Out: a check.Model, for package
// check; Outcomes, the possible sets of answers; whether a second program has only
// outcomes of the first (Compare); and whether a component changes state when it
// receives nothing (Still).
//
// Promised: within the bounds the search omits nothing, and it reports the bounds. A
// message that is sent again is in transit again, as often as it is sent; so a run at
// rest may send forever, and rest means that there is no further output. Nodes fail as
// a whole: all machines of a node fail together. docs/decisions/dedalus.md says which
// of these failures rewritten programs survive.
//
// Refused: any claim about more inputs, nodes or crashes than the bounds. This is a
// search, not a proof.
package explore
