// SPDX-License-Identifier: Apache-2.0

package group

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// A record is a byte for what it is, then:
//
//	recordAcceptor, recordReplica  epoch; a record of that server
//	recordPin                      epoch, segment, protocol
//	recordUnpin                    epoch, segment
//	recordSeal                     epoch
//	recordConfig                   a configuration that begins
//	recordStage                    epoch, tag, number and flags of a piece; the piece
//	recordDrop                     epoch, tag
//	recordBase                     flags, epoch of the state; the known configuration
//	recordPast                     epoch; a record of the witness registers that are over
//
// A base is at the beginning of what Save makes, and replaces what is there.
// It may be followed by records that were written before it, if all up to it come:
// what it knows already they do not undo. So a log can be cut anywhere before a
// checkpoint.
const (
	recordAcceptor byte = iota + 1
	recordReplica
	recordPin
	recordUnpin
	recordSeal
	recordConfig
	recordStage
	recordDrop
	recordBase
	recordPast
)

const (
	baseHeld byte = 1 << iota
	baseHead
	baseSealed
)

var errRecord = errors.New("group: not a record of this group")

// epochLen is the length of the prefix of most records: kind and epoch.
const epochLen = 1 + 4

func appendEpoch(b []byte, kind byte, e wor.Epoch) []byte {
	return binary.LittleEndian.AppendUint32(append(b, kind), uint32(e))
}

func appendInner(b []byte, e wor.Epoch, p wor.Protocol, record []byte) []byte {
	kind := recordAcceptor
	if p == wor.Chain {
		kind = recordReplica
	}
	return append(appendEpoch(b, kind, e), record...)
}

func appendPin(b []byte, e wor.Epoch, s wor.Segment, p wor.Protocol) []byte {
	return append(binary.LittleEndian.AppendUint64(appendEpoch(b, recordPin, e), uint64(s)), byte(p))
}

func appendUnpin(b []byte, e wor.Epoch, s wor.Segment) []byte {
	return binary.LittleEndian.AppendUint64(appendEpoch(b, recordUnpin, e), uint64(s))
}

func appendTag(b []byte, kind byte, s *stage) []byte {
	return binary.LittleEndian.AppendUint64(appendEpoch(b, kind, s.epoch), s.tag)
}

func appendDrop(b []byte, s *stage) []byte { return appendTag(b, recordDrop, s) }

// appendStage appends the record of the next piece of a stage.
func appendStage(b []byte, s *stage, last bool, piece []byte) []byte {
	return appendPiece(b, s, len(s.pieces), last, piece)
}

func appendPiece(b []byte, s *stage, number int, last bool, piece []byte) []byte {
	b = binary.LittleEndian.AppendUint64(appendTag(b, recordStage, s), uint64(number))
	flags := byte(0)
	if last {
		flags = wor.FlagLast
	}
	return append(append(b, flags), piece...)
}

// Redo repeats a record of the log after a restart; records must come in their
// order. It returns an error for a record that is not this Group's.
func (g *Group) Redo(record []byte) error {
	if len(record) < epochLen {
		return errRecord
	}
	kind, e, b := record[0], wor.Epoch(binary.LittleEndian.Uint32(record[1:])), record[epochLen:]
	switch kind {
	case recordConfig:
		return g.redoConfig(record[1:])
	case recordStage, recordDrop:
		return g.redoStage(kind, e, b)
	case recordBase:
		return g.redoBase(record[1:])
	case recordPast:
		if g.partition != 0 {
			return errRecord
		}
		return g.elder().Redo(b)
	case recordAcceptor, recordReplica, recordPin, recordUnpin, recordSeal:
		if g.held == nil || e < g.held.number {
			return nil // over
		}
		if e > g.held.number {
			return fmt.Errorf("%w: of epoch %d, in epoch %d", errRecord, e, g.held.number)
		}
		return g.held.redo(kind, b)
	}
	return errRecord
}

// redo repeats a record about the state of the epoch.
func (e *epoch) redo(kind byte, b []byte) error {
	switch kind {
	case recordAcceptor:
		return e.acceptor.Redo(b)
	case recordReplica:
		return e.replica.Redo(b)
	case recordPin:
		if len(b) != 9 || !wor.Protocol(b[8]).Valid() {
			return errRecord
		}
		e.pins[wor.Segment(binary.LittleEndian.Uint64(b))] = wor.Protocol(b[8])
	case recordUnpin:
		if len(b) != 8 {
			return errRecord
		}
		delete(e.pins, wor.Segment(binary.LittleEndian.Uint64(b)))
	case recordSeal:
		if len(b) != 0 {
			return errRecord
		}
		e.sealed = true
	}
	return nil
}

func (g *Group) decodeConfig(b []byte) (wor.Config, error) {
	var c wor.Config
	if err := c.UnmarshalBinary(b); err != nil {
		return c, fmt.Errorf("%w: %w", errRecord, err)
	}
	if c.Partition != g.partition {
		return c, fmt.Errorf("%w: configuration of partition %d", errRecord, c.Partition)
	}
	return c, nil
}

func (g *Group) redoConfig(b []byte) error {
	c, err := g.decodeConfig(b)
	if err == nil && c.Epoch > g.known.Epoch {
		g.succeed(c)
	}
	return err
}

func (g *Group) redoBase(b []byte) error {
	if len(b) < 5 {
		return errRecord
	}
	c, err := g.decodeConfig(b[5:])
	if err != nil {
		return err
	}
	g.learn(c)
	g.held, g.stages, g.past = nil, nil, nil
	if flags := b[0]; flags&baseHeld != 0 {
		g.held = newEpoch(wor.Epoch(binary.LittleEndian.Uint32(b[1:])), flags&baseHead != 0)
		g.held.sealed = flags&baseSealed != 0
	}
	return nil
}

func (g *Group) redoStage(kind byte, e wor.Epoch, b []byte) error {
	if len(b) < 8 {
		return errRecord
	}
	tag, b := binary.LittleEndian.Uint64(b), b[8:]
	s := g.find(e, tag)
	if kind == recordDrop {
		g.dropStages(func(t *stage) bool { return t == s })
		return nil
	}
	if len(b) < 9 {
		return errRecord
	}
	if status := g.standing(e); status != wor.StatusAhead && (status != wor.StatusMute || tag != g.known.Tag) {
		return nil // over, or begun
	}
	number, last, piece := binary.LittleEndian.Uint64(b), b[8] == wor.FlagLast, bytes.Clone(b[9:])
	switch {
	case s == nil && number > 0, s != nil && number < uint64(len(s.pieces)):
		return nil // dropped later, or known
	case s == nil:
		s = newStage(e, tag)
		g.stages = append(g.stages, s)
	}
	c, ok := g.stageable(e, piece, s.check)
	if number != uint64(len(s.pieces)) || s.complete || !ok {
		return fmt.Errorf("%w: piece %d of stage %d", errRecord, number, tag)
	}
	g.take(s, piece, last, c)
	return nil
}

// Save calls yield with records that recreate the Group from the result of New,
// until yield returns false. A record is valid until the next one.
func (g *Group) Save(yield func(record []byte) bool) {
	base := []byte{recordBase, 0}
	number := wor.Epoch(0)
	if e := g.held; e != nil {
		number = e.number
		base[1] |= baseHeld
		if e.head {
			base[1] |= baseHead
		}
		if e.sealed {
			base[1] |= baseSealed
		}
	}
	base = binary.LittleEndian.AppendUint32(base, uint32(number))
	if !yield(append(base, g.hint...)) || g.held != nil && !g.held.save(yield) {
		return
	}
	var b []byte
	if g.past != nil {
		more := true
		g.past.Save(func(record []byte) bool {
			b = append(appendEpoch(b[:0], recordPast, 0), record...)
			more = yield(b)
			return more
		})
		if !more {
			return
		}
	}
	for _, s := range g.stages {
		for i, piece := range s.pieces {
			b = appendPiece(b[:0], s, i, s.complete && i == len(s.pieces)-1, piece)
			if !yield(b) {
				return
			}
		}
	}
}

func (e *epoch) save(yield func(record []byte) bool) bool {
	var b []byte
	segments := make([]wor.Segment, 0, len(e.pins))
	for s := range e.pins {
		segments = append(segments, s)
	}
	slices.Sort(segments)
	for _, s := range segments {
		if b = appendPin(b[:0], e.number, s, e.pins[s]); !yield(b) {
			return false
		}
	}
	more := true
	for _, p := range []wor.Protocol{wor.Paxos, wor.Chain} {
		e.server(p).Save(func(record []byte) bool {
			b = appendInner(b[:0], e.number, p, record)
			more = yield(b)
			return more
		})
		if !more {
			return false
		}
	}
	return true
}
