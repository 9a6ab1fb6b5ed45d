// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// ErrNoMerger reports that there is a merge message, but no Merger to interpret
// it.
var ErrNoMerger = errors.New("there is a merge message but no Merger")

func noMerger(key []byte) error { return fmt.Errorf("key %q: %w", key, ErrNoMerger) }

// strange is the error of a message that does not belong among messages.
func strange(m *message.Message) error {
	if m.Kind == message.Blob {
		return fmt.Errorf("key %q: want a blob reference of %d bytes, found %d bytes that do not encode one", m.Key, message.BlobRefSize, len(m.Value))
	}
	return fmt.Errorf("key %q: want a delete, put, merge or blob message, found kind %d (%s)", m.Key, m.Kind, m.Kind)
}

// operand is what some Merge messages of one key come to together. The two
// buffers take turns, since the Merger may not write over what it reads.
type operand struct {
	some   bool
	bytes  []byte
	spare  []byte
	newest message.Seq
	merger message.Merger
}

func (o *operand) reset(merger message.Merger) {
	o.some, o.bytes, o.merger = false, o.bytes[:0], merger
}

// older takes in a Merge message that is older than the ones before; m is
// copied.
func (o *operand) older(key []byte, m *message.Message) {
	if !o.some {
		o.first(m)
		return
	}
	o.spare = o.merger.Combine(o.spare[:0], key, m.Value, o.bytes)
	o.bytes, o.spare = o.spare, o.bytes
}

// olderWithin is older if what comes of it is not longer than most, where zero
// is no limit; else it returns false, and nothing has changed.
func (o *operand) olderWithin(key []byte, m *message.Message, most int) bool {
	o.spare = o.merger.Combine(o.spare[:0], key, m.Value, o.bytes)
	if most > 0 && len(o.spare) > most {
		return false
	}
	o.bytes, o.spare = o.spare, o.bytes
	return true
}

// newer takes in a Merge message that is newer than the ones before.
func (o *operand) newer(key []byte, m *message.Message) {
	if !o.some {
		o.first(m)
		return
	}
	o.spare = o.merger.Combine(o.spare[:0], key, o.bytes, m.Value)
	o.bytes, o.spare = o.spare, o.bytes
	o.newest = m.Seq
}

func (o *operand) first(m *message.Message) {
	o.bytes = append(o.bytes[:0], m.Value...)
	o.some, o.newest = true, m.Seq
}

// over appends the value that the operand makes of a value.
func (o *operand) over(dst, key, value []byte, exists bool) []byte {
	return o.merger.Apply(dst, key, value, exists, o.bytes)
}

// Fold finds the value of one key for a point read: Reset, then Cover and Add
// from the newest to the oldest until Add says that there is enough, then
// Value or Blob. Buffers are kept from one key to the next.
type Fold struct {
	key     []byte
	dst     []byte
	cover   message.Seq
	done    bool
	exists  bool
	isBlob  bool
	blob    message.BlobRef
	operand operand
	err     error
}

// Reset starts with another key. The value will be appended to dst. The Fold
// keeps both slices until the next Reset; without a Merger the first Merge
// message is an error.
func (f *Fold) Reset(key, dst []byte, merger message.Merger) {
	f.key, f.dst, f.cover = key, dst, 0
	f.done, f.exists, f.isBlob, f.err = false, false, false, nil
	f.operand.reset(merger)
}

// Cover means that a range tombstone with that number covers the key and hides
// everything older. The caller passes only visible tombstones; zero means none.
// Cover must be called before Add of the messages that it hides.
func (f *Fold) Cover(by message.Seq) { f.cover = max(f.cover, by) }

// Add takes the next older message of the key and copies what it needs. It
// returns whether still older ones matter.
func (f *Fold) Add(m message.Message) (more bool) {
	if f.done {
		return false
	}
	if m.Seq < f.cover {
		f.base(nil, false)
		return false
	}
	switch m.Kind {
	case message.Put:
		f.base(m.Value, true)
	case message.Delete:
		f.base(nil, false)
	case message.Blob:
		f.done, f.exists = true, true
		f.blob, f.isBlob = message.DecodeBlobRef(m.Value)
		if !f.isBlob {
			f.err = strange(&m)
		}
	case message.Merge:
		if f.operand.merger != nil {
			f.operand.older(f.key, &m)
			return true
		}
		f.done, f.err = true, noMerger(m.Key)
	default:
		f.done, f.err = true, strange(&m)
	}
	return false
}

// base ends the search: this is what the operands, if any, are applied to.
func (f *Fold) base(value []byte, exists bool) {
	f.done = true
	switch {
	case f.operand.some:
		f.dst, f.exists = f.operand.over(f.dst, f.key, value, exists), true
	case exists:
		f.dst, f.exists = append(f.dst, value...), true
	}
}

// Value ends the search, since nothing older is left or Add said that there is
// enough. It answers dst with the value appended, and whether there is one. When
// the value is in a blob, the answer is dst alone, and Blob says where.
func (f *Fold) Value() (value []byte, exists bool, err error) {
	if !f.done {
		f.base(nil, false)
	}
	return f.dst, f.exists && f.err == nil, f.err
}

// Blob says, after Value, where the value is that is not in a message. The
// caller reads it and gives it to Over.
func (f *Fold) Blob() (message.BlobRef, bool) { return f.blob, f.isBlob }

// Over appends the value to dst, given the content of the blob: the value is
// that content with any later operands applied.
func (f *Fold) Over(blob []byte) []byte {
	if f.operand.some {
		return f.operand.over(f.dst, f.key, blob, true)
	}
	return append(f.dst, blob...)
}
