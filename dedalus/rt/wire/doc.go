// SPDX-License-Identifier: Apache-2.0

// Package wire is what the instances of a compiled program, and its clients, say
// to each other in frames of package link; and what is kept of it until the
// other side has it for good.
//
// In: messages, which are a relation's number and a row, put into an Outbox; and
// the payloads of frames. Out: frames to be written; the messages of frames that
// came.
//
// Promised: nothing from the wire is believed before it is looked at: no length
// makes memory, and a batch is whole before any message of it is given out. What
// an Outbox has taken stays there until the other side has acknowledged it, and
// is given to be written again after a connection is lost, in the same order.
//
// Refused: what a row means (package rt), connections and who is at their other
// end (package link), and who may say what (package host).
//
// docs/format/dedalus.md describes the bytes.
package wire
