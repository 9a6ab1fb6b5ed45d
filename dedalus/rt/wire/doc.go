// SPDX-License-Identifier: Apache-2.0

// Package wire defines what the instances and clients of a compiled program send
// to each other in frames of package link, and keeps sent messages until the
// other side acknowledges them.
//
// In: messages, each a relation number and a row, added to an Outbox; and the
// payloads of received frames. Out: frames to write; the messages of received
// frames.
//
// Promised: received bytes are checked before use. No length field causes an
// allocation, and Batch checks all messages of a batch before it returns any. An
// Outbox keeps its messages until the other side has acknowledged them, and
// after a lost connection returns them again in the same order.
//
// Refused: what a row means (package rt), connections and the identity of peers
// (package link), and which peer may send what (package host).
//
// docs/format/dedalus.md describes the bytes.
package wire
