// SPDX-License-Identifier: Apache-2.0

package wal

import "encoding/binary"

// An entry is what a message of the journal holds: a kind, the length of what
// follows as an unsigned LEB128, and that.
type entryKind byte

const (
	// recordEntry is a record.
	recordEntry entryKind = iota + 1
	// stateEntry is a record of the state, for the checkpoint that was begun
	// last.
	stateEntry
	// beginEntry is the place of a checkpoint: its number, and how many records
	// were before it, 8 bytes each. It is the first of its segment.
	beginEntry
	// endEntry ends the state of the checkpoint that was begun last: its
	// number, and how many records the state has, 8 bytes each.
	endEntry
)

// entryHeadMax is the longest head of an entry, in bytes.
const entryHeadMax = 1 + binary.MaxVarintLen32

func appendEntry(b []byte, kind entryKind, content []byte) []byte {
	b = append(b, byte(kind))
	b = binary.AppendUvarint(b, uint64(len(content)))
	return append(b, content...)
}

func appendMark(b []byte, kind entryKind, number, count uint64) []byte {
	b = append(b, byte(kind), 16)
	b = binary.LittleEndian.AppendUint64(b, number)
	return binary.LittleEndian.AppendUint64(b, count)
}

// nextEntry takes the first entry from b, of which size bytes are it; 0 is that
// there is none.
func nextEntry(b []byte) (kind entryKind, content []byte, size int) {
	if len(b) < 2 {
		return 0, nil, 0
	}
	n, head := binary.Uvarint(b[1:])
	if head <= 0 || n > uint64(len(b)-1-head) {
		return 0, nil, 0
	}
	size = 1 + head + int(n)
	kind = entryKind(b[0])
	switch {
	case kind < recordEntry || kind > endEntry, kind >= beginEntry && n != 16:
		return 0, nil, 0
	}
	return kind, b[1+head : size : size], size
}

// mark is the content of a beginEntry or an endEntry.
func mark(content []byte) (number, count uint64) {
	return binary.LittleEndian.Uint64(content), binary.LittleEndian.Uint64(content[8:])
}
