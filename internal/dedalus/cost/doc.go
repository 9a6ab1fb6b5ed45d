// SPDX-License-Identifier: Apache-2.0

// Package cost says what a Dedalus program costs, and finds rewrites that let it do
// more on more machines.
//
// In: a program, a Load (what its clients ask for), and a Calibration (what a
// message, a derivation, a function and a durable row cost on a machine). Out: a
// Profile, what each node does for a command; an Estimate, how many commands in a
// second, and which node is in the way of more; and from Optimize a Result, the steps
// that do the most with a number of machines, why each was taken, and what was
// refused.
//
// Promised: the same input gives the same output, but for where a context ends a
// search. Every step was allowed by package rewrite, and package certificate has
// checked it. Throughput is modelled: it is what the busiest node's cost allows, with
// keys that divide evenly up to the share of the most frequent one. It is no
// measurement, and says nothing of queues and of networks that are full.
//
// Refused: a workload that is not answered: a program that does nothing is fast.
//
// Source: Optimizing Distributed Protocols with Query Rewrites (SIGMOD 2024), section
// 5, which chooses rewrites by hand; the search is ours.
package cost
