// SPDX-License-Identifier: Apache-2.0

package wor

import (
	"cmp"
	"fmt"
)

// Segment is the number of a write-once segment (WOS in the paper): the unit of
// allocation, placement and trimming. Numbers with ReservedSegment set belong
// to the system.
type Segment uint64

// ReservedSegment marks the segments of the system.
const ReservedSegment Segment = 1 << 63

// ConfigSegment is the segment that holds the configurations of a partition:
// the register at offset e decides the configuration of epoch e.
func ConfigSegment(p Partition) Segment { return ReservedSegment | Segment(p) }

// Besides its data registers, each segment has registers at the highest
// offsets, in its home partition (Home). The very last offset is unused, so
// that a Range can end after any register.
const (
	// MetaOffset is the register whose value is the segment's Meta: the client
	// whose value is decided there has allocated the segment.
	MetaOffset uint32 = 1<<32 - 3
	// TrimOffset is the register that decides that the segment is trimmed.
	TrimOffset uint32 = 1<<32 - 2
	// PlacementOffset is the lowest of the registers that move a segment when
	// it is closed; they are decided one after the other, from MetaOffset-1
	// down to it.
	PlacementOffset uint32 = MetaOffset - 8
)

// Addr names a register.
type Addr struct {
	Segment Segment
	Offset  uint32
}

// Compare orders addresses by segment, then by offset.
func (a Addr) Compare(b Addr) int {
	return cmp.Or(cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.Offset, b.Offset))
}

func (a Addr) String() string { return fmt.Sprintf("%d.%d", uint64(a.Segment), a.Offset) }

// Range is the registers Lo, Lo+1, ... Hi-1 of a segment.
type Range struct {
	Segment Segment
	Lo, Hi  uint32
}

// Len is the number of registers in the range.
func (r Range) Len() int { return int(r.Hi) - int(r.Lo) }

// One returns the range of one register.
func One(a Addr) Range { return Range{a.Segment, a.Offset, a.Offset + 1} }

func (r Range) String() string { return fmt.Sprintf("%d.[%d,%d)", uint64(r.Segment), r.Lo, r.Hi) }

// Partition is the number of a set of servers that store registers together.
// Its members change from one Epoch to the next. Partition 0 stores the
// configurations of all partitions, including its own.
type Partition uint32

// Epoch numbers the configurations of a partition, from 0.
type Epoch uint32

// ServerID identifies a server's disk: it is random, drawn when the disk was
// initialized. A server that lost its disk is another server.
type ServerID uint64

func (s ServerID) String() string { return fmt.Sprintf("%016x", uint64(s)) }

// Ballot orders captures of one register. The zero Ballot is that of writes
// without a capture; every other one belongs to one run of one client,
// identified by Nonce: 64 random bits, drawn anew whenever a client starts, so
// that no two clients use the same ballot (rule j of docs/decisions/worm.md).
type Ballot struct {
	Round uint64
	Nonce uint64
}

// IsZero reports whether it is the ballot of writes without a capture.
func (b Ballot) IsZero() bool { return b == Ballot{} }

// Compare orders by round, then by nonce.
func (b Ballot) Compare(c Ballot) int {
	return cmp.Or(cmp.Compare(b.Round, c.Round), cmp.Compare(b.Nonce, c.Nonce))
}

// Less reports whether b is below c.
func (b Ballot) Less(c Ballot) bool { return b.Compare(c) < 0 }

func (b Ballot) String() string {
	if b.IsZero() {
		return "0"
	}
	return fmt.Sprintf("%d:%x", b.Round, b.Nonce)
}

// Protocol is the replication protocol of a segment's registers.
type Protocol uint8

// The protocols.
const (
	// Paxos stores a register on 2f+1 servers, of which f may fail.
	Paxos Protocol = iota
	// Chain stores it on f+1 servers, written one after the other; each failure
	// stops writes until a reconfiguration.
	Chain
	// Fast is Paxos in which the first write needs no capture if no other write
	// interferes and a fast quorum of servers (three of three, four of five)
	// answers.
	Fast
)

var protocolNames = [...]string{Paxos: "paxos", Chain: "chain", Fast: "fast"}

func (p Protocol) String() string {
	if int(p) < len(protocolNames) {
		return protocolNames[p]
	}
	return fmt.Sprintf("protocol(%d)", uint8(p))
}

// Valid reports whether it is one of the protocols.
func (p Protocol) Valid() bool { return int(p) < len(protocolNames) }
