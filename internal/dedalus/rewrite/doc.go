// SPDX-License-Identifier: Apache-2.0

// Package rewrite makes a protocol run on more machines: it moves rules of a component to a component of their own (decoupling), and
// divides a component's facts among several machines (partitioning).
//
// In: a program and a Step, or the steps of a script. Out: another program, and a
// Certificate that says which rewrite it was and what it rests on; or a Refusal,
// which says what is in the way. The pieces of a component go on being called
// what it was: self in their rules is the node that they stand for.
//
// Intended: every run of the new program gives outside the messages that some run
// of the old one gives, but that a message may come twice and at another time; and
// the new program answers whenever the old one does. This is not proved. A step is
// taken where conditions hold that are meant to be enough for it; package certificate
// decides the same conditions with code of its own, and packages explore, adversary and
// drawn compare programs with what becomes of them, within bounds.
//
// Refused: choosing steps. Package cost does.
//
// Source: Optimizing Distributed Protocols with Query Rewrites (SIGMOD 2024),
// sections 3 and 4 and its technical report, with the repairs of
// docs/decisions/dedalus.md.
package rewrite
