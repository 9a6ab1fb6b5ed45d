// SPDX-License-Identifier: Apache-2.0

// Package conform uses the project's checker to decide whether what servers and
// clients did to write-once registers is a behaviour of their specifications,
// specs/wor/PaxosRegister.tla and specs/chain/ChainRegister.tla.
//
// In: requests of clients, replies of servers, and results of operations, given to
// a Recorder in the order in which they happened. Out: a trace for each register,
// and for each a Report: either all events are explained, or it has the first
// event that no behaviour has and the state of the specification there.
//
// The events drive specifications of their own, specs/wor/RegisterTrace.tla and
// specs/chain/ChainTrace.tla, whose steps are those of the protocols'. They are
// deterministic, with one choice, which the Recorder makes: which of the replies
// that came during a read explain its answer. If any do, it finds them.
//
// Promised: an accepted trace was executed step by step.
//
// Refused: more than one epoch, ranges as such (each register has its own trace),
// and on chains trims and writes without a capture: the models leave them out.
//
// Source: validating traces against the next-state relation, as in Cirstea, Kuppe,
// Loillier and Merz (arXiv 2404.16075).
package conform
