// SPDX-License-Identifier: Apache-2.0

// Package conform checks the logs of a running system against its
// specification.
//
// In: one log per archetype instance (distsys/tracelog), each the sequence of
// critical sections that the instance committed, with what they read and wrote
// and a vector clock; and a Spec, which defines what one section may do in a
// state. Out: a Report. The logs are accepted exactly when some behaviour of
// the specification executes every logged section, in an order that the clocks
// allow, with the values logged. If there is none, the report names the step
// that no order gets past, the statement that blocks it, and the values.
//
// Promised: an accepted set of logs has a witness, an order that was executed
// in the specification step by step. A rejection is exact: every order that
// could matter was tried. When the search gives up at its limit the verdict is
// Undecided, never one of the other two. Refused: logs of another system,
// clocks that contradict each other.
//
// Source: the idea of validating traces against the next-state relation is that
// of Cirstea, Kuppe, Loillier and Merz (arXiv 2404.16075) and of PGo's
// TraceLink (OOPSLA 2025); here nothing is generated, and the search runs on
// the specification itself.
package conform
