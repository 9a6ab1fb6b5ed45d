// SPDX-License-Identifier: Apache-2.0

// Package rewrite makes a protocol run on more machines: it moves rules of a component to a component of their own (decoupling), and
// divides a component's facts among several machines (partitioning).
//
// In: a program and a Step, or the steps of a script. Out: another program, and a
// Certificate that states which rewrite it was and what it depends on; or a Refusal
// with the reasons. The pieces of a component keep its name as a node: self in their
// rules is the logical node that they implement.
//
// Intended: every run of the new program sends outside the messages of some run
// of the old one, except that a message may arrive twice and at another time; and
// the new program answers whenever the old one does. This is not proved. A step is
// taken if conditions hold that are meant to be sufficient; package certificate
// decides the same conditions with code of its own, and packages explore, adversary and
// drawn compare programs before and after, within bounds.
//
// Refused: choosing steps. Package cost does.
//
// Source: Optimizing Distributed Protocols with Query Rewrites (SIGMOD 2024),
// sections 3 and 4 and its technical report, with the repairs of
// docs/decisions/dedalus.md.
package rewrite
