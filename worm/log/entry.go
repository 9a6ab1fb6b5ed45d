// SPDX-License-Identifier: Apache-2.0

package log

import (
	"encoding/binary"
	"fmt"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// EntryID names an entry, so that it is recognized when it is appended again:
// 128 bits that no other entry may have. The zero EntryID stands for a new one.
type EntryID struct{ Hi, Lo uint64 }

func (id EntryID) String() string { return fmt.Sprintf("%016x%016x", id.Hi, id.Lo) }

// Kind is what a register of a log holds.
type Kind uint8

// The kinds.
const (
	// Data is the kind of an entry.
	Data Kind = iota + 1
	// Junk is the kind of a filled hole: it has no entry and never will have
	// one.
	Junk
	// Mark is the kind of the first register of a segment.
	Mark
	// Strange is the kind of a value that no log writes. Readers treat it like
	// Junk.
	Strange
)

// Entry is the content of a log's register.
type Entry struct {
	Position Position
	Kind     Kind
	// ID and Data are set for kind Data. Data belongs to the space and must not
	// be changed.
	ID   EntryID
	Data []byte
}

const entryHeader = 1 + 16

// encode returns the value of an entry's register.
func (e Entry) encode() []byte {
	b := make([]byte, 0, entryHeader+len(e.Data))
	b = append(b, byte(Data))
	b = binary.LittleEndian.AppendUint64(b, e.ID.Hi)
	b = binary.LittleEndian.AppendUint64(b, e.ID.Lo)
	return append(b, e.Data...)
}

// junk returns the value of a filled register.
func junk() []byte { return []byte{byte(Junk)} }

// decode decodes a register's value. Any bytes decode to some Entry.
func decode(p Position, value []byte) Entry {
	e := Entry{Position: p, Kind: Strange}
	switch {
	case len(value) >= entryHeader && Kind(value[0]) == Data && p.Offset() != 0:
		e.Kind = Data
		e.ID.Hi = binary.LittleEndian.Uint64(value[1:])
		e.ID.Lo = binary.LittleEndian.Uint64(value[9:])
		e.Data = value[entryHeader:len(value):len(value)]
	case len(value) == 1 && Kind(value[0]) == Junk:
		e.Kind = Junk
	case p.Offset() == 0:
		if _, ok := decodeMark(value); ok {
			e.Kind = Mark
		}
	}
	return e
}

// mark is the value of a segment's register 0.
type mark struct {
	// owner is the Meta.Owner of the sequencer that writes it.
	owner uint64
	// closed is the index below which segments get no further entries.
	closed uint32
}

func (m mark) encode() []byte {
	b := append(make([]byte, 0, 13), byte(Mark))
	b = binary.LittleEndian.AppendUint64(b, m.owner)
	return binary.LittleEndian.AppendUint32(b, m.closed)
}

func decodeMark(value []byte) (mark, bool) {
	if len(value) != 13 || Kind(value[0]) != Mark {
		return mark{}, false
	}
	return mark{binary.LittleEndian.Uint64(value[1:]), binary.LittleEndian.Uint32(value[9:])}, true
}

// endpoint is the Meta.Payload of a log's segment: its sequencer.
type endpoint struct {
	member wor.Member
	// life distinguishes runs of a sequencer on the same server.
	life uint64
}

const endpointVersion = 1

func (e endpoint) encode() []byte {
	b := []byte{endpointVersion}
	b = binary.LittleEndian.AppendUint64(b, e.life)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.member.ID))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(e.member.Name)))
	b = append(b, e.member.Name...)
	return append(b, e.member.Addr...)
}

func decodeEndpoint(b []byte) (endpoint, bool) {
	if len(b) < 19 || b[0] != endpointVersion {
		return endpoint{}, false
	}
	e := endpoint{life: binary.LittleEndian.Uint64(b[1:])}
	e.member.ID = wor.ServerID(binary.LittleEndian.Uint64(b[9:]))
	name, rest := int(binary.LittleEndian.Uint16(b[17:])), b[19:]
	if name > len(rest) {
		return endpoint{}, false
	}
	e.member.Name, e.member.Addr = string(rest[:name]), string(rest[name:])
	return e, true
}
