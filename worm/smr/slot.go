// SPDX-License-Identifier: Apache-2.0

package smr

import (
	"encoding/binary"
	"fmt"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// ID is the number of a replicated state machine in a space. It is the upper
// half of the numbers of the machine's segments; nothing else, not even a log
// of package log, may use those numbers.
type ID uint32

// Limits.
const (
	// IDMax is the highest ID.
	IDMax ID = 1<<31 - 1
	// IndexMax is the highest index of a segment, and of a snapshot.
	IndexMax = 1<<31 - 2
	// SizeMax is the maximum number of registers of a segment.
	SizeMax = wor.RangeMax
	// CommandMax is the longest command, in bytes.
	CommandMax = wor.ValueMax - batchHeader - commandHeader
	// SessionsMax is the number of remembered sessions; the least recently used
	// is dropped first.
	SessionsMax = 4096
	// ResultsMax is the number of remembered results of a session that its
	// owner may not have received.
	ResultsMax = 4096
)

// Slot is a place in the sequence of commands: 40 bits of the segment's index, 24
// of the register's offset. The next slot after a segment's last is the first of
// the next segment.
type Slot uint64

const offsetBits = 24

// At returns the slot of a register.
func At(index, offset uint32) Slot { return Slot(index)<<offsetBits | Slot(offset) }

// Index is the index of the slot's segment.
func (s Slot) Index() uint32 { return uint32(s >> offsetBits) }

// Offset is the offset of the slot's register.
func (s Slot) Offset() uint32 { return uint32(s) & (1<<offsetBits - 1) }

func (s Slot) String() string { return fmt.Sprintf("%d.%d", s.Index(), s.Offset()) }

// Segment returns the segment of commands with that index.
func (id ID) Segment(index uint32) wor.Segment { return wor.Segment(id)<<32 | wor.Segment(index) }

// Snapshot returns the segment of a snapshot.
func (id ID) Snapshot(number uint32) wor.Segment { return id.Segment(number | 1<<31) }

func (id ID) addr(s Slot) wor.Addr {
	return wor.Addr{Segment: id.Segment(s.Index()), Offset: s.Offset()}
}

// kind is the kind of a register's content.
type kind uint8

const (
	kindBatch kind = iota + 1
	// kindJunk: the register has no commands.
	kindJunk
	// kindEnd: the segment has no more commands.
	kindEnd
)

func junk() []byte { return []byte{byte(kindJunk)} }

func end() []byte { return []byte{byte(kindEnd)} }

func isEnd(value []byte) bool { return len(value) == 1 && kind(value[0]) == kindEnd }

// batch is the value of a register with commands.
type batch struct {
	// origin is the replica that wrote the batch; applied is the slot below
	// which it had applied everything.
	origin  uint64
	applied Slot
	// commands share the value's memory.
	commands []command
}

// verb is the kind of a command.
type verb uint8

const (
	// verbApply passes the command to the state machine.
	verbApply verb = iota + 1
	// verbOpen opens a session. Number is chosen by the opener.
	verbOpen
	// verbReport reports that the replica session has applied all slots below
	// number.
	verbReport
)

type command struct {
	verb verb
	key
	// low: the session's owner has received the results of all commands with
	// lower numbers.
	low  uint64
	body []byte
}

// key identifies a command.
type key struct{ session, number uint64 }

const (
	batchHeader   = 1 + 8 + 8
	commandHeader = 1 + 8 + 8 + 8 + 4
)

func (c command) length() int { return commandHeader + len(c.body) }

func (b batch) encode() []byte {
	n := batchHeader
	for _, c := range b.commands {
		n += c.length()
	}
	out := append(make([]byte, 0, n), byte(kindBatch))
	out = binary.LittleEndian.AppendUint64(out, b.origin)
	out = binary.LittleEndian.AppendUint64(out, uint64(b.applied))
	for _, c := range b.commands {
		out = c.append(out)
	}
	return out
}

func (c command) append(out []byte) []byte {
	out = append(out, byte(c.verb))
	out = binary.LittleEndian.AppendUint64(out, c.session)
	out = binary.LittleEndian.AppendUint64(out, c.number)
	out = binary.LittleEndian.AppendUint64(out, c.low)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(c.body)))
	return append(out, c.body...)
}

// decodeBatch decodes a register's value. Every replica treats a value that is
// not a batch as a batch without commands.
func decodeBatch(value []byte) (batch, bool) {
	if len(value) < batchHeader || kind(value[0]) != kindBatch {
		return batch{}, false
	}
	b := batch{
		origin:  binary.LittleEndian.Uint64(value[1:]),
		applied: Slot(binary.LittleEndian.Uint64(value[9:])),
	}
	for rest := value[batchHeader:]; len(rest) > 0; {
		if len(rest) < commandHeader {
			return batch{}, false
		}
		c := command{
			verb: verb(rest[0]),
			key:  key{binary.LittleEndian.Uint64(rest[1:]), binary.LittleEndian.Uint64(rest[9:])},
			low:  binary.LittleEndian.Uint64(rest[17:]),
		}
		n := binary.LittleEndian.Uint32(rest[25:])
		rest = rest[commandHeader:]
		if uint64(n) > uint64(len(rest)) || c.verb < verbApply || c.verb > verbReport {
			return batch{}, false
		}
		c.body, rest = rest[:n:n], rest[n:]
		b.commands = append(b.commands, c)
	}
	return b, true
}

// seat is a replica in the Meta.Payload of a segment.
type seat struct {
	nonce  uint64
	member wor.Member
}

// seatsMax is the number of replicas that may take turns.
const seatsMax = 64

const seatsVersion = 1

// encodeSeats encodes the Meta.Payload of a segment: the leader, or the
// replicas that take turns, or no replica.
func encodeSeats(seats []seat) []byte {
	b := []byte{seatsVersion, byte(len(seats))}
	for _, s := range seats {
		b = binary.LittleEndian.AppendUint64(b, s.nonce)
		b = binary.LittleEndian.AppendUint64(b, uint64(s.member.ID))
		for _, text := range []string{s.member.Name, s.member.Addr} {
			b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
			b = append(b, text...)
		}
	}
	return b
}

// decodeSeats returns nil if there are no seats or b is invalid.
func decodeSeats(b []byte) []seat {
	if len(b) < 2 || b[0] != seatsVersion || b[1] > seatsMax {
		return nil
	}
	seats, rest := make([]seat, b[1]), b[2:]
	text := func() (string, bool) {
		if len(rest) < 2 {
			return "", false
		}
		n := int(binary.LittleEndian.Uint16(rest))
		if rest = rest[2:]; n > len(rest) {
			return "", false
		}
		t := string(rest[:n])
		rest = rest[n:]
		return t, true
	}
	for i := range seats {
		if len(rest) < 16 {
			return nil
		}
		seats[i].nonce = binary.LittleEndian.Uint64(rest)
		seats[i].member.ID = wor.ServerID(binary.LittleEndian.Uint64(rest[8:]))
		rest = rest[16:]
		var ok1, ok2 bool
		seats[i].member.Name, ok1 = text()
		seats[i].member.Addr, ok2 = text()
		if !ok1 || !ok2 {
			return nil
		}
	}
	return seats
}
