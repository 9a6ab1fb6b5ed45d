// SPDX-License-Identifier: Apache-2.0

// Package analyze decides the conditions of rewrites: which rules depend on which,
// which relations only grow, which rules are stateless or a state machine, and by
// which key facts can be divided among machines.
//
// In: a Part, some rules of a component. Out: verdicts; each "no" names the rule
// and the literal that prevent the rewrite, and what would help.
//
// Intended: a "yes" holds in every run; a "no" may be too cautious. This is tested,
// not proved. A "yes" comes with the author's assumptions on which it depends.
//
// Sources: Optimizing Distributed Protocols with Query Rewrites (SIGMOD 2024),
// sections 3 and 4; the state-machine test is wider than the paper's
// (docs/lang/dedalus.md).
package analyze
