// SPDX-License-Identifier: Apache-2.0

package wor

// Limits of one request or configuration. A server refuses anything beyond them
// with StatusLimit.
const (
	// ValueMax is the longest value of a register, in bytes.
	ValueMax = 1 << 20
	// RangeMax is how many registers one request may name.
	RangeMax = 1 << 16
	// SegmentMax is how many data registers a segment may have.
	SegmentMax = 1 << 24
	// MembersMax is how many servers a configuration may have.
	MembersMax = 15
	// ReplyMax bounds the values in one reply, in bytes: a reply for a range
	// ends early at that point, and the client asks for the rest.
	ReplyMax = 4 << 20
)
