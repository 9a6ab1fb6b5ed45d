// SPDX-License-Identifier: Apache-2.0

package memtable

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// ErrMemory is what Load answers when the pool has no memory for the index.
var ErrMemory = errors.New("no memory for the index of a memtable")

// Load adds the messages that are already in the bytes [lo, hi) of the arena,
// at or after Pos, as recovery reads them from the journal, and moves Pos to
// hi. It trusts none of them: an entry that cannot have been written is an
// error with its place, what was expected and what was found. Zeros up to hi
// are padding. seen, if not nil, is called with each message; the slices are
// the arena's. After an error the messages before the bad one are in the table,
// and only Close may be called.
func (t *Table) Load(lo, hi int, seen func(message.Message)) error {
	if lo < t.pos || lo > hi || hi > len(t.arena) || lo%entryAlign != 0 || hi%entryAlign != 0 {
		return fmt.Errorf("load memtable: want multiples of %d within %d and %d, found [%d, %d)",
			entryAlign, t.pos, len(t.arena), lo, hi)
	}
	t.leave(lo)
	for p := lo; p < hi; p = t.pos {
		if padding, err := t.padding(p, hi); err != nil || padding {
			if err == nil {
				t.leave(hi)
			}
			return err
		}
		m, size, err := t.decode(p, hi)
		if err != nil {
			return err
		}
		at, ok := t.locate(m)
		if !ok {
			return fmt.Errorf("load memtable: offset %d: %w", p, ErrMemory)
		}
		t.arena.setOlder(Pos(p), at.head)
		t.pos = p + size
		t.publish(Pos(p), at, m)
		if seen != nil {
			seen(m)
		}
	}
	return nil
}

// padding says whether there is no entry at p, and then all up to hi is zero.
func (t *Table) padding(p, hi int) (bool, error) {
	if hi-p >= entryHeader && binary.LittleEndian.Uint16(t.arena[p+18:]) != 0 {
		return false, nil
	}
	for i, c := range t.arena[p:hi] {
		if c != 0 {
			return false, bad(p+i, "zeros after the last message", fmt.Sprintf("%#02x", c))
		}
	}
	return true, nil
}

// decode checks the entry at p, which ends at hi at the latest. There is a
// header's length.
func (t *Table) decode(p, hi int) (m message.Message, size int, err error) {
	h := t.arena[p : p+entryHeader]
	if magic := binary.LittleEndian.Uint16(h[18:]); magic != entryMagic {
		return m, 0, bad(p+18, fmt.Sprintf("magic %#04x", entryMagic), fmt.Sprintf("%#04x", magic))
	}
	if more := binary.LittleEndian.Uint32(h[20:]); more > 1 {
		return m, 0, bad(p+20, "0 or 1", fmt.Sprintf("%#08x", more))
	}
	keyLen, valueLen := int64(binary.LittleEndian.Uint16(h[16:])), int64(binary.LittleEndian.Uint32(h[4:]))
	if rest := int64(hi - p - entryHeader); keyLen+valueLen > rest || valueLen > message.ValueMax {
		return m, 0, bad(p+4, fmt.Sprintf("a key and a value within %d bytes", min(rest, message.ValueMax)),
			fmt.Sprintf("%d and %d bytes", keyLen, valueLen))
	}
	m = t.arena.message(Pos(p))
	if !m.Kind.Valid() {
		return m, 0, bad(p+8, "a known kind of message", fmt.Sprintf("%d", m.Kind))
	}
	if m.Seq <= t.maxSeq {
		return m, 0, bad(p+8, fmt.Sprintf("a number above %d", t.maxSeq), fmt.Sprintf("%d", m.Seq))
	}
	size = EntrySize(len(m.Key), len(m.Value))
	end := p + entryHeader + len(m.Key) + len(m.Value)
	for i, c := range t.arena[end : p+size] {
		if c != 0 {
			return m, 0, bad(end+i, "zeros after the value", fmt.Sprintf("%#02x", c))
		}
	}
	return m, size, nil
}

func bad(offset int, want, found string) error {
	return fmt.Errorf("load memtable: offset %d: want %s, found %s", offset, want, found)
}
