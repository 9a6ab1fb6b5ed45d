// SPDX-License-Identifier: Apache-2.0

// Package conform uses the project's checker to decide whether a run of a store
// is a behaviour of its specification, specs/store/CrashSafeMap.tla.
//
// In: the events that a store traces, recorded in their order by a Recorder,
// over any number of lives, with what ended each of them. Out: a Report: either
// all events are explained, or it has the first event that no behaviour has,
// why, and what the specification allows there.
//
// The events drive a specification of their own, specs/store/StoreTrace.tla,
// whose steps are those of CrashSafeMap. It is deterministic: what is refused
// is refused whatever the unreported steps are.
//
// Promised: an accepted trace was executed step by step. Refused, as an error
// and not as a Report: a trace with numbers beyond 31 bits.
//
// Source: validating traces against the next-state relation, as in Cirstea,
// Kuppe, Loillier and Merz (arXiv 2404.16075).
package conform
