// SPDX-License-Identifier: Apache-2.0

// Package cost estimates the cost of a Dedalus program, and finds rewrites that give
// it more throughput on more machines.
//
// In: a program, a Load (what its clients ask for), and a Calibration (what a
// message, a derivation, a function and a durable row cost on a machine). Out: a
// Profile, what each node does for a command; an Estimate, the commands per second
// and the bottleneck; and from Optimize a Result, the steps with the highest
// throughput on a number of machines, why each was taken, and what was refused.
//
// Promised: the same input gives the same output, unless a context ends the search.
// Package rewrite has allowed every step, and package certificate has checked it.
// Throughput is modelled, not measured: it is what the cost of the busiest node allows,
// with keys that divide evenly up to the share of the most frequent one. The model
// ignores queues and saturated networks.
//
// Refused: a load whose commands are not answered, because a program that does nothing
// is fast.
//
// Source: Optimizing Distributed Protocols with Query Rewrites (SIGMOD 2024), section
// 5, which chooses rewrites by hand; the search is ours.
package cost
