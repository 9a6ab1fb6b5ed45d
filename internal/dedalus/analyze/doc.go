// SPDX-License-Identifier: Apache-2.0

// Package analyze answers what rewrites must know of a program: what depends on
// what, what only grows, what is stateless, what is a state machine, and by which
// key facts can be divided among machines.
//
// In: a Part, some rules of a component. Out: verdicts; each "no" names the rule
// and the literal that stand in the way, and what would help.
//
// Meant: a "yes" holds in every run; a "no" may be too careful. This is tested, not proved. Assumptions of
// the program's author that a "yes" rests on are reported with it.
//
// Sources: Optimizing Distributed Protocols with Query Rewrites (SIGMOD 2024),
// sections 3 and 4; the state-machine test is wider than the paper's
// (docs/lang/dedalus.md).
package analyze
