// SPDX-License-Identifier: Apache-2.0

// Package wire is the protocol between clients and servers of WormSpace: the
// encoding of the types of package wor in frames of package link.
//
// In: messages (wor.Request, wor.Reply, wor.Note, payloads of services), which
// an Encoder appends to bytes, many frames to one piece; and bytes in pieces of
// any length, which a Scanner cuts into frames. Out: the same messages, decoded
// in place: long parts (values, payloads) refer to the frame's own bytes, and a
// caller that keeps them beyond the next call of the Scanner must copy them.
//
// Promised: each message has one encoding. The Encoder writes what Decode
// accepts as the very same bytes again, and Decode of what the Encoder writes
// is the same message, where nil and empty bytes are the same. A frame is never
// longer than FrameMax, and of an incomplete frame only the received bytes are
// stored: no length or count from outside is believed before the bytes are
// there. Nothing is allocated for a frame, except for the runs of a Reply that
// has no room for them, and for the texts of a handshake.
//
// Refused: unknown types, trailing bytes, numbers written longer than they are,
// and what link.Scanner refuses. A peer that sends one loses the
// connection. The meaning of a request, whether its kind exists and whether it
// is within the limits of package wor is for its recipient to check.
//
// docs/format/worm.md describes the bytes.
package wire
