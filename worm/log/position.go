// SPDX-License-Identifier: Apache-2.0

package log

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// ID is the number of a log in a space. It is the upper half of the numbers of
// the log's segments; nothing else may use those numbers.
type ID uint32

// Limits.
const (
	// IDMax is the highest ID.
	IDMax ID = 1<<31 - 1
	// IndexMax is the highest index of a segment in a log.
	IndexMax = 1<<32 - 2
	// SizeMax is how many registers a log's segment may have.
	SizeMax = wor.RangeMax
	// EntryMax is the longest entry, in bytes.
	EntryMax = wor.ValueMax - entryHeader
	// CountMax is how many addresses one request to a sequencer may ask for.
	CountMax = 4096
)

const offsetBits = 24

// Segment is the log's segment with an index.
func (id ID) Segment(index uint32) wor.Segment {
	return wor.Segment(id)<<32 | wor.Segment(index)
}

// Position is a place in a log: 40 bits for the segment's index, 24 for the
// register's offset. Positions increase in the order of the log, with gaps: a
// segment has fewer than 1<<24 registers, and some registers hold no entry.
type Position uint64

// At returns the position of a register.
func At(index, offset uint32) Position {
	return Position(index)<<offsetBits | Position(offset)
}

// Index is the index of the position's segment.
func (p Position) Index() uint32 { return uint32(p >> offsetBits) }

// Offset is the offset of the position's register.
func (p Position) Offset() uint32 { return uint32(p) & (1<<offsetBits - 1) }

// Addr returns the address of the position's register, in a log.
func (p Position) Addr(id ID) wor.Addr {
	return wor.Addr{Segment: id.Segment(p.Index()), Offset: p.Offset()}
}

// next is the first position of the segment after p's.
func (p Position) next() Position { return At(p.Index()+1, 0) }

func (p Position) String() string { return fmt.Sprintf("%d.%d", p.Index(), p.Offset()) }

// check returns an error for a position that no log can have.
func (p Position) check() error {
	if p>>offsetBits > IndexMax {
		return &wor.LimitError{Name: "log.IndexMax", Limit: IndexMax, Got: int64(p >> offsetBits)}
	}
	return nil
}
