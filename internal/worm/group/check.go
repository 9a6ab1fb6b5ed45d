// SPDX-License-Identifier: Apache-2.0

package group

import (
	"bytes"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// RoundMax is the highest round of a ballot: the next number is still a valid
// round.
const RoundMax = 1<<63 - 1

// data reports whether a range is of data registers, not of a segment's own
// registers.
func data(r wor.Range) bool {
	return r.Lo < wor.PlacementOffset && r.Segment&wor.ReservedSegment == 0
}

// witness returns the register of partition 0 that decides the configuration
// after epoch e's. The epoch's members answer for it even when they are sealed.
func witness(e wor.Epoch) wor.Addr {
	return wor.Addr{Segment: wor.ConfigSegment(0), Offset: uint32(e) + 1}
}

// witnesses reports whether a request is about only the witness register of its
// epoch.
func (g *Group) witnesses(q *wor.Request) bool {
	return g.partition == 0 && q.Range == wor.One(witness(q.Epoch)) && q.Kind != wor.KindTrim
}

// senseless returns the reason why a server must not process a request about
// registers, or "" if it may.
func (g *Group) senseless(q *wor.Request) string {
	switch {
	case !q.Protocol.Valid():
		return "protocol"
	case q.Kind == wor.KindTrim:
		if q.Range.Segment&wor.ReservedSegment != 0 {
			return "segment is reserved for the system"
		}
		return ""
	case q.Range.Lo >= q.Range.Hi:
		return "range is empty"
	case q.Range.Len() > wor.RangeMax:
		return "RangeMax"
	case len(q.Value) > wor.ValueMax:
		return "ValueMax"
	case q.Ballot.Round > RoundMax:
		return "RoundMax"
	case q.Kind == wor.KindCapture && q.Ballot.IsZero():
		return "capture without a ballot"
	case q.Kind == wor.KindWrite && q.Range.Len() > 1 && !data(q.Range):
		return "range of a segment's own registers"
	}
	if !g.keeps(q.Range, q.Protocol) {
		return "this server does not store the register, or not with this protocol"
	}
	if q.Range.Segment == wor.ConfigSegment(0) && !g.witnesses(q) {
		return "configuration of partition 0 is not for the next epoch"
	}
	if q.Kind == wor.KindWrite && q.Range.Segment&wor.ReservedSegment != 0 && !configures(q) {
		return "value is not a configuration of that partition and epoch"
	}
	return ""
}

// configures reports whether the value of a write into a configuration's register
// is a configuration that the register may decide.
func configures(q *wor.Request) bool {
	var c wor.Config
	return c.UnmarshalBinary(q.Value) == nil &&
		wor.Addr{Segment: wor.ConfigSegment(c.Partition), Offset: uint32(c.Epoch)} == wor.Addr{Segment: q.Range.Segment, Offset: q.Range.Lo}
}

// keeps reports whether registers are in this partition as far as the genesis
// determines it, and the protocol can store them.
func (g *Group) keeps(r wor.Range, p wor.Protocol) bool {
	switch {
	case r.Segment&wor.ReservedSegment != 0:
		return g.partition == 0 && p == wor.Paxos && r.Hi <= wor.SegmentMax &&
			uint64(r.Segment&^wor.ReservedSegment) < uint64(len(g.genesis.Partitions))
	case r.Lo >= wor.PlacementOffset:
		return p == wor.Paxos && r.Hi <= wor.TrimOffset+1 && g.genesis.Home(r.Segment) == g.partition
	}
	return r.Hi <= wor.SegmentMax
}

// Memory is granted in this order: to any write; to the key store, whose room a
// full log must not take; to takeovers of unfinished work, without which
// neither the log nor the store can be read; and to trims and changes of the
// members. Each class may use memory that the earlier classes may not. The
// constants are the shares, in sixteenths.
const (
	sixteenParts  = 16
	partsOthers   = 12
	partsKeys     = 13
	partsTakeover = 15
	partsOwn      = 18 // also where the limit is lower than the memory in use
)

// keysBegin is the first segment of the key store that ashlard hosts: above the
// segments of all logs (worm.LogMax).
const keysBegin = wor.Segment(1<<15-1) << 48

// The longest values that count as part of a takeover: junk, marks, and NO
// votes. A log entry is always longer.
const (
	smallMax     = 16
	smallKeysMax = 64
)

// room reports whether there is room for a capture or write.
func (g *Group) room(q *wor.Request) bool {
	parts, small := int64(partsOthers), smallMax
	if q.Range.Segment >= keysBegin {
		parts, small = partsKeys, smallKeysMax
	}
	switch lo := q.Range.Lo; {
	case lo >= wor.PlacementOffset && lo != wor.MetaOffset || q.Range.Segment&wor.ReservedSegment != 0:
		parts = partsOwn
	case lo == wor.MetaOffset || q.Kind == wor.KindCapture || len(q.Value) <= small:
		parts = partsTakeover
	}
	held := g.held.bytes()
	if held+int64(len(q.Value)) <= g.maxBytes/sixteenParts*parts {
		return true
	}
	// A takeover rewrites values that it has found, which takes no room on
	// servers that have them.
	return held <= g.maxBytes/sixteenParts*partsTakeover && g.holds(q)
}

// holds reports whether a write is of a value that the register already has.
func (g *Group) holds(q *wor.Request) bool {
	if q.Kind != wor.KindWrite || q.Range.Len() != 1 {
		return false
	}
	read := wor.Request{Kind: wor.KindRead, Range: q.Range, Protocol: q.Protocol}
	var r wor.Reply
	g.held.server(q.Protocol).Handle(&read, &r, &wor.Log{})
	return len(r.Runs) == 1 && r.Runs[0].Written && bytes.Equal(r.Runs[0].Value, q.Value)
}
