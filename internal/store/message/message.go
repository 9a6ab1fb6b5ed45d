// SPDX-License-Identifier: Apache-2.0

// Package message holds what every part of the store passes around: a message
// is one change of one key, or of a range of keys, as the buffers of a Bε-tree
// keep it until it is read (VeriBetrKV, OSDI 2020, section 4).
//
// In and out: plain values. Promised: one order for all, by key and then from
// the newest to the oldest. Refused: interpretation; only the Merger knows what
// a merge operand means.
package message

import "bytes"

// Seq is the number of a change, counted from 1 over the life of a store.
// Later changes have larger numbers.
type Seq uint64

// MaxSeq is above every number that is given out: numbers have 56 bits.
const MaxSeq Seq = 1<<56 - 1

// Kind is what a message does. The numbers are stored on disk.
type Kind uint8

const (
	// Delete reports that the key has no value.
	Delete Kind = 1
	// Put sets the value.
	Put Kind = 2
	// Merge states how the value changes, in the words of the Merger.
	Merge Kind = 3
	// Blob is a Put whose value is elsewhere: the message's value is a
	// BlobRef.
	Blob Kind = 4
	// RangeDelete reports that the keys from the message's key up to, but not
	// with, the message's value had no value before.
	RangeDelete Kind = 5
)

func (k Kind) String() string {
	switch k {
	case Delete:
		return "delete"
	case Put:
		return "put"
	case Merge:
		return "merge"
	case Blob:
		return "blob"
	case RangeDelete:
		return "range delete"
	}
	return "unknown kind"
}

// Valid reports whether k is a kind.
func (k Kind) Valid() bool { return k >= Delete && k <= RangeDelete }

// Limits of what one message holds, in bytes.
const (
	// KeyMax is the longest key.
	KeyMax = 1<<16 - 1
	// ValueMax is the longest value.
	ValueMax = 1 << 30
)

// Reserved begins the keys of keyspaces, in stores that have some. No key without it
// is above one with it.
const Reserved = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"

// Message is one change. Who returns a Message says how long its slices stay
// as they are; a caller that keeps one must copy them.
type Message struct {
	Key, Value []byte
	Seq        Seq
	Kind       Kind
}

// Compare orders messages: by key, bytewise, and of one key the newest first.
func Compare(a, b Message) int {
	if c := bytes.Compare(a.Key, b.Key); c != 0 {
		return c
	}
	switch {
	case a.Seq > b.Seq:
		return -1
	case a.Seq < b.Seq:
		return 1
	}
	return 0
}

// RangeTombstone is a RangeDelete outside of a sequence of messages: keys in
// [Lo, Hi) had no value before Seq.
type RangeTombstone struct {
	Lo, Hi []byte
	Seq    Seq
}

// Covers reports whether the key is in the range.
func (t RangeTombstone) Covers(key []byte) bool {
	return bytes.Compare(t.Lo, key) <= 0 && bytes.Compare(key, t.Hi) < 0
}

// Merger gives Merge its meaning. Operands form a monoid: Combine must be
// associative, and applying a combination must equal applying its parts. Both
// append to dst and return the longer slice; they must retain nothing. Their
// results are on disk, so they must never change for the same arguments. They
// must accept an invalid operand or value as some result, because there is no
// caller to which an error could be reported.
type Merger interface {
	// Name is kept in the store: one that was made with another is not opened.
	Name() string
	// Combine makes one operand of an older and a newer one of the same key.
	Combine(dst, key, older, newer []byte) []byte
	// Apply makes a value of a value, if there was one, and an operand.
	Apply(dst, key, value []byte, exists bool, operand []byte) []byte
}

// Iter walks over messages in the order of Compare, in both directions. A new
// Iter is nowhere. The moves answer whether it is on a message after them; when
// they return false, Err says whether that is the end. After a move beyond one
// end only First, Last and the seeks are allowed. What Message returns is valid
// until the next move or Close. An Iter is for one goroutine.
type Iter interface {
	First() bool
	Last() bool
	// SeekGE moves to the first message with a key at or above key.
	SeekGE(key []byte) bool
	// SeekLT moves to the last message with a key below key: the oldest one
	// of that key.
	SeekLT(key []byte) bool
	Next() bool
	Prev() bool
	Message() Message
	Err() error
	// Close releases what the Iter holds. It must be called once.
	Close()
}
