// SPDX-License-Identifier: Apache-2.0

// Package fast stores each register as package paxos does, and lets any client
// write at ballot zero without a capture: that takes one round trip if no other
// client does so and enough servers answer, three of three or four of five.
//
// In, out: as package paxos. The servers are paxos.Acceptors: at ballot zero
// they accept the first value that arrives.
//
// Promised: what package paxos promises, although several clients may write
// different values at ballot zero. A value is chosen there when wor.FastQuorum
// servers accepted it. If some accepted another value, or too many are down,
// possibly no value can be chosen at ballot zero; then a client captures the
// register, which determines the value that may have been chosen and otherwise
// leaves the register free. A value that was seen at ballot zero but cannot
// have been chosen is not adopted.
//
// A write or read that needs servers which are down is reported as outbid after
// its second Expire, although there was no higher bid: its Promised may be
// zero. A read whose capture then finds the register free may report that it
// was unwritten: no value was chosen when the servers promised, and none below
// that ballot ever will be.
//
// Refused: as package paxos.
//
// Sources: WormSpace (SoCC 2019), section 3; L. Lamport, Fast Paxos (2006), for
// the size of quorums.
package fast

import (
	"github.com/ashlar-dev/ashlar/internal/worm/paxos"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Client makes the machines of the protocol.
type Client struct{}

var _ wor.Client = Client{}

// Capture captures each register of the range at the ballot.
func (Client) Capture(n int, r wor.Range, b wor.Ballot) wor.Machine {
	return paxos.Client{Fast: true}.Capture(n, r, b)
}

// Write writes the value into each register of the range. At ballot zero any client may
// write any value.
func (Client) Write(n int, r wor.Range, b wor.Ballot, value []byte) wor.Machine {
	return paxos.Client{Fast: true}.Write(n, r, b, value)
}

// Read reads each register of the range. It completes a value that is written halfway at
// ballot zero, provided that no other value was seen.
func (Client) Read(n int, r wor.Range) wor.Machine {
	return paxos.Client{Fast: true}.Read(n, r)
}

// Trim puts the tombstone of a segment on a majority.
func (Client) Trim(n int, s wor.Segment) wor.Machine {
	return paxos.Client{Fast: true}.Trim(n, s)
}
