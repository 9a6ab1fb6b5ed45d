// SPDX-License-Identifier: Apache-2.0

// Package conform checks the logs of a running system against its
// specification.
//
// In: one log per archetype instance (distsys/tracelog), which is the sequence
// of critical sections that the instance committed, with their reads and writes
// and a vector clock; and a Spec, which defines what one section may do in a
// state. Out: a Report. The logs are accepted exactly when some behaviour of
// the specification executes every logged section, in an order that the clocks
// allow, with the logged values. If there is none, the report names the step
// that no order gets past, the statement that blocks it, and the values.
//
// Promised: for accepted logs, the steps of one order were executed in the
// specification. A rejection is exact: the search tried every order that could
// matter. If the search gives up at a limit, the verdict is Undecided. Memory
// depends on how many sections are concurrent, and not on the length of the logs,
// which may be larger than memory. Refused: logs of another system, clocks that
// contradict each other.
//
// Source: the idea of validating traces against the next-state relation is that
// of Cirstea, Kuppe, Loillier and Merz (arXiv 2404.16075) and of PGo's
// TraceLink (OOPSLA 2025). This package generates nothing: the search runs on
// the specification itself.
package conform
