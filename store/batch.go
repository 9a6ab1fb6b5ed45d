// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/memtable"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// Batch is a sequence of changes that become visible, and durable, together or
// not at all. It copies its arguments and can be reused after Reset. Only one
// goroutine at a time may use it.
type Batch struct {
	// ops are kind u8, key length u32, value length u32, key, value.
	ops   []byte
	count int
	room  int // what the messages take in a memtable
	err   error
	// spaces are the keyspaces with changes, drops is the one that is dropped.
	// Reserved reports changes in the default keyspace of keys that a store with
	// keyspaces does not have there.
	spaces   []*Keyspace
	drops    *Keyspace
	reserved bool
}

const opHeader = 9

// NewBatch returns an empty batch.
func (db *DB) NewBatch() *Batch { return &Batch{} }

// Put sets the value of the key.
func (b *Batch) Put(key, value []byte) { b.add(nil, message.Put, key, value) }

// Delete removes the key.
func (b *Batch) Delete(key []byte) { b.add(nil, message.Delete, key, nil) }

// DeleteRange removes all keys in [lo, hi).
func (b *Batch) DeleteRange(lo, hi []byte) { b.deleteRange(nil, lo, hi) }

// deleteRange is DeleteRange for bounds as they are stored.
func (b *Batch) deleteRange(k *Keyspace, lo, hi []byte) {
	if err := checkRange(lo, hi); err != nil && b.err == nil {
		b.err = err
	}
	if len(hi) > 0 && bytes.Equal(lo, hi) {
		return
	}
	b.add(k, message.RangeDelete, lo, hi)
}

// Merge changes the value of the key by the operand.
func (b *Batch) Merge(key, operand []byte) { b.add(nil, message.Merge, key, operand) }

// Len is the number of changes.
func (b *Batch) Len() int { return b.count }

// Bytes is the memory use of the changes, in bytes.
func (b *Batch) Bytes() int { return len(b.ops) }

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() { *b = Batch{ops: b.ops[:0], spaces: b.spaces[:0]} }

// add adds a change of a key as it is stored.
func (b *Batch) add(k *Keyspace, kind message.Kind, key, value []byte) {
	if err := checkSize(kind, key, value); err != nil {
		if b.err == nil {
			b.err = err
		}
		return
	}
	if k == nil {
		b.reserved = b.reserved || isReserved(kind, key, value)
	} else if !slices.Contains(b.spaces, k) {
		b.spaces = append(b.spaces, k)
	}
	b.append(kind, key, value)
}

func (b *Batch) append(kind message.Kind, key, value []byte) {
	b.ops = append(b.ops, byte(kind))
	b.ops = binary.LittleEndian.AppendUint32(b.ops, uint32(len(key)))
	b.ops = binary.LittleEndian.AppendUint32(b.ops, uint32(len(value)))
	b.ops = append(append(b.ops, key...), value...)
	b.count++
	b.room += memtable.EntrySize(len(key), len(value))
}

// purpose is forDeletes if the batch has only deletes.
func (b *Batch) purpose() purpose {
	p := forDeletes
	_ = b.each(func(kind message.Kind, _, _ []byte) error {
		p = min(p, purposeOf(kind))
		return nil
	})
	return p
}

// each calls f with each change; the slices belong to the batch.
func (b *Batch) each(f func(kind message.Kind, key, value []byte) error) error {
	for at := 0; at < len(b.ops); {
		kind := message.Kind(b.ops[at])
		klen := int(binary.LittleEndian.Uint32(b.ops[at+1:]))
		vlen := int(binary.LittleEndian.Uint32(b.ops[at+5:]))
		key := b.ops[at+opHeader : at+opHeader+klen]
		at += opHeader + klen + vlen
		if err := f(kind, key, b.ops[at-vlen:at]); err != nil {
			return err
		}
	}
	return nil
}

func checkSize(kind message.Kind, key, value []byte) error {
	if len(key) > message.KeyMax {
		return fmt.Errorf("%w: key of %d bytes, at most %d", ErrTooLarge, len(key), message.KeyMax)
	}
	if len(value) > message.ValueMax {
		return fmt.Errorf("%w: value of %d bytes, at most %d", ErrTooLarge, len(value), message.ValueMax)
	}
	if kind == message.Merge && len(value) > block.ValueMax {
		return fmt.Errorf("%w: operand of %d bytes, at most %d", ErrTooLarge, len(value), block.ValueMax)
	}
	return nil
}

// checkRange returns an error for invalid bounds of a range delete.
func checkRange(lo, hi []byte) error {
	if len(hi) == 0 || bytes.Compare(lo, hi) > 0 {
		return fmt.Errorf("%w: from %q to %q", ErrBounds, lo, hi)
	}
	if len(lo) > message.KeyMax || len(hi) > message.KeyMax {
		return fmt.Errorf("%w: range bound of %d bytes, at most %d", ErrTooLarge, max(len(lo), len(hi)), message.KeyMax)
	}
	return nil
}
