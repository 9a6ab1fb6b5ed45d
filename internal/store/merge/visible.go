// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// Source is one of the things that Visible merges: a memtable or a branch.
type Source struct {
	Iter message.Iter
	// MaxSeq is at least the number of every message of Iter. It is what
	// allows this source to jump over the keys of a newer tombstone. Zero is
	// unknown: then it goes step by step.
	MaxSeq message.Seq
	// Tombstones are the range deletes of this source; nil: there are none. They
	// stay as they are until Visible is closed.
	Tombstones Tombstones
}

// Tombstones are range deletes that are asked key by key.
type Tombstones interface {
	// Around returns how those up to the number at cover the place, and a range of keys
	// around it that they cover in the same way. It stays as it is until Visible is closed.
	Around(p message.Place, at message.Seq) message.Cover
	// Newest is at least the largest of their numbers.
	Newest() message.Seq
}

// View selects what is visible: everything up to the number At, in [Lo, Hi). A
// nil Lo or Hi means no bound; both must stay unchanged until Visible is
// closed. Merger may be nil if there are no merges.
type View struct {
	At     message.Seq
	Lo, Hi []byte
	Merger message.Merger
	// KeysOnly omits values: operands are not applied.
	KeysOnly bool
}

// Visible walks over the keys that have a value in a View, in both directions.
// The zero value is ready for Reset. Beyond an end, Next and Prev that go
// further out return false, and those that go back go to the end key; a Visible
// that has not been moved is beyond both ends.
//
// Forward, the messages of a key come newest first: the first one that is in
// view decides, unless it is an operand, and the rest is passed over at the
// next move. Backward they come oldest first: all are taken in, and what
// remains at the newest is the answer.
//
// The tombstones are asked what covers a key, and as long as the walk stays in the range of
// the answer they are not asked again. So many of them take no memory.
//
// A message is hidden when the newest tombstone in view over its key is newer.
// A source none of whose messages is as new as that tombstone has nothing to
// show up to the tombstone's end, and is sought past it, when it is under
// the same tombstone a second time; any other goes step by step, because its
// newer messages inside the range are seen.
type Visible struct {
	raw     Merged
	maxSeqs []message.Seq
	under   []int // per source: the number of the cover under which it last stepped, or -1
	iters   []message.Iter
	covers  covers
	view    View

	place   place
	moved   bool
	reverse bool   // the direction of raw
	key     []byte // where this stands, or the key that raw is passing over
	value   []byte // may be the source's
	exists  bool
	isBlob  bool
	blob    message.BlobRef
	operand operand
	buffer  []byte
	spare   []byte
	err     error
}

type place uint8

const (
	nowhere place = iota
	below         // before the first key
	standing
	above // after the last key
)

// passStepsMax is after how many messages of one key in a row that are not
// wanted all sources are sought past it.
const passStepsMax = 32

// NewVisible is a Visible after Reset.
func NewVisible(sources []Source, view View) *Visible {
	v := new(Visible)
	v.Reset(sources, view)
	return v
}

// Reset starts anew, with the buffers of before. The sources come newest first;
// their iterators are the Visible's from now on: it closes them. An earlier use
// must have been closed.
func (v *Visible) Reset(sources []Source, view View) {
	v.iters, v.maxSeqs, v.under = v.iters[:0], v.maxSeqs[:0], v.under[:0]
	v.covers.reset(view)
	for _, s := range sources {
		v.iters = append(v.iters, s.Iter)
		v.maxSeqs = append(v.maxSeqs, s.MaxSeq)
		v.under = append(v.under, -1)
		if s.Tombstones != nil {
			v.covers.sources = append(v.covers.sources, s.Tombstones)
		}
	}
	v.raw.reset(v.iters)
	v.view, v.place, v.moved, v.reverse, v.err = view, nowhere, false, false, nil
	v.operand.reset(view.Merger)
	v.clear()
}

func (v *Visible) clear() {
	v.value, v.exists, v.isBlob = nil, false, false
	v.operand.some = false
}

// Moved reports whether there was a move since Reset.
func (v *Visible) Moved() bool { return v.moved }

// First moves to the first key.
func (v *Visible) First() bool {
	if v.view.Lo != nil {
		return v.forwardFrom(v.view.Lo, false)
	}
	v.raw.First()
	v.turned(false)
	return v.forward(false)
}

// Last moves to the last key.
func (v *Visible) Last() bool {
	if v.view.Hi != nil {
		return v.backwardFrom(v.view.Hi)
	}
	v.raw.Last()
	v.turned(true)
	return v.backward()
}

// SeekGE moves to the first key at or above key.
func (v *Visible) SeekGE(key []byte) bool {
	if v.view.Lo != nil && bytes.Compare(key, v.view.Lo) < 0 {
		key = v.view.Lo
	}
	return v.forwardFrom(key, false)
}

// SeekLT moves to the last key below key.
func (v *Visible) SeekLT(key []byte) bool {
	if v.view.Hi != nil && bytes.Compare(key, v.view.Hi) > 0 {
		key = v.view.Hi
	}
	return v.backwardFrom(key)
}

// Next moves to the next larger key.
func (v *Visible) Next() bool {
	switch {
	case v.err != nil || v.place == above:
		return false
	case v.place != standing:
		return v.First()
	case v.reverse:
		return v.forwardFrom(v.key, true)
	}
	return v.forward(true)
}

// Prev moves to the next smaller key.
func (v *Visible) Prev() bool {
	switch {
	case v.err != nil || v.place == below:
		return false
	case v.place != standing:
		return v.Last()
	case !v.reverse:
		return v.backwardFrom(v.key)
	}
	return v.backward()
}

// forwardFrom continues at key, or after it when its messages have been seen.
func (v *Visible) forwardFrom(key []byte, seen bool) bool {
	v.raw.SeekGE(key)
	v.turned(false)
	return v.forward(seen)
}

func (v *Visible) backwardFrom(key []byte) bool {
	v.raw.SeekLT(key)
	v.turned(true)
	return v.backward()
}

// turned follows a seek of all sources.
func (v *Visible) turned(reverse bool) {
	v.moved, v.reverse, v.err = true, reverse, nil
	for i := range v.under {
		v.under[i] = -1
	}
}

// forward goes to the next key with a value, from where raw is; passing
// says that the rest of the messages of v.key do not matter.
func (v *Visible) forward(passing bool) bool {
	v.clear()
	steps := 0
	for v.raw.stands() {
		m := &v.raw.heads[v.raw.winner].m
		if passing {
			if bytes.Equal(m.Key, v.key) {
				if steps++; steps > passStepsMax {
					v.spare = append(append(v.spare[:0], v.key...), 0)
					v.raw.SeekGE(v.spare)
					passing = false
					continue
				}
				v.raw.step()
				continue
			}
			passing = false
		}
		if v.view.Hi != nil && bytes.Compare(m.Key, v.view.Hi) >= 0 {
			break
		}
		if m.Seq > v.view.At {
			v.raw.step()
			continue
		}
		cover := v.covers.over(m.Key)
		if m.Seq < cover {
			v.passHidden(cover)
			continue
		}
		v.key = append(v.key[:0], m.Key...)
		switch m.Kind {
		case message.Put:
			v.value = m.Value
			return v.stand()
		case message.Delete:
			passing, steps = true, 0
			v.raw.step()
		case message.Merge:
			if v.view.KeysOnly {
				return v.stand()
			}
			return v.foldForward(cover)
		default:
			if v.takeBlob(m) {
				return v.stand()
			}
			return false
		}
	}
	v.place = above
	return v.finished()
}

// passHidden moves raw on from a message that is hidden by the cover at which
// covers stand.
func (v *Visible) passHidden(cover message.Seq) {
	i := v.raw.winner
	newest := v.maxSeqs[i]
	if v.under[i] != v.covers.number || newest == 0 || newest >= cover {
		v.under[i] = v.covers.number
		v.raw.step()
		return
	}
	if v.reverse {
		v.raw.pass(v.covers.endBelow(newest))
	} else {
		v.raw.pass(v.covers.endAbove(newest))
	}
}

// foldForward takes in the operands of v.key from the newest on, down to what
// they are applied to.
func (v *Visible) foldForward(cover message.Seq) bool {
	if v.view.Merger == nil {
		return v.fail(noMerger(v.key))
	}
	var base []byte
	exists, more := false, true
	for more && v.raw.stands() {
		m := &v.raw.heads[v.raw.winner].m
		if !bytes.Equal(m.Key, v.key) || m.Seq < cover {
			break
		}
		switch m.Kind {
		case message.Merge:
			v.operand.older(v.key, m)
			v.raw.step()
		case message.Put:
			base, exists, more = m.Value, true, false
		case message.Delete:
			more = false
		default:
			if !v.takeBlob(m) {
				return false
			}
			return v.stand()
		}
	}
	if v.raw.err != nil {
		return v.finished()
	}
	v.buffer = v.operand.over(v.buffer[:0], v.key, base, exists)
	v.operand.some = false
	v.value = v.buffer
	return v.stand()
}

// backward goes to the next smaller key with a value, from where raw is.
func (v *Visible) backward() bool {
	for v.raw.stands() {
		m := &v.raw.heads[v.raw.winner].m
		if v.view.Lo != nil && bytes.Compare(m.Key, v.view.Lo) < 0 {
			break
		}
		v.key = append(v.key[:0], m.Key...)
		if !v.gather() {
			return v.finished()
		}
		if v.exists || v.operand.some {
			return v.settle()
		}
	}
	v.clear()
	v.place = below
	return v.finished()
}

// gather takes in all messages of v.key, the oldest first, and stops at the
// first one of another key. It answers whether that went well.
func (v *Visible) gather() bool {
	v.clear()
	cover := v.covers.over(v.key)
	steps := 0
	for v.raw.stands() {
		m := &v.raw.heads[v.raw.winner].m
		if !bytes.Equal(m.Key, v.key) {
			return true
		}
		if m.Seq > v.view.At {
			if steps++; steps > passStepsMax {
				v.raw.SeekLT(v.key)
				break
			}
			v.raw.step()
			continue
		}
		if m.Seq < cover {
			v.passHidden(cover)
			continue
		}
		switch m.Kind {
		case message.Put:
			v.clear()
			v.buffer, v.exists = append(v.buffer[:0], m.Value...), true
			v.value = v.buffer
		case message.Delete:
			v.clear()
		case message.Merge:
			switch {
			case v.view.KeysOnly:
				v.exists = true
			case v.view.Merger == nil:
				return v.fail(noMerger(v.key))
			default:
				v.operand.newer(v.key, m)
			}
		default:
			v.clear()
			if !v.takeBlob(m) {
				return false
			}
		}
		v.raw.step()
	}
	return v.raw.err == nil
}

// settle makes the value of what gather found.
func (v *Visible) settle() bool {
	if v.operand.some && !v.isBlob {
		v.spare = v.operand.over(v.spare[:0], v.key, v.value, v.exists)
		v.buffer, v.spare = v.spare, v.buffer
		v.value, v.operand.some = v.buffer, false
	}
	return v.stand()
}

func (v *Visible) stand() bool {
	v.place, v.exists = standing, true
	return true
}

func (v *Visible) takeBlob(m *message.Message) bool {
	if m.Kind == message.Blob {
		v.blob, v.isBlob = message.DecodeBlobRef(m.Value)
	}
	if !v.isBlob {
		return v.fail(strange(m))
	}
	v.exists = true
	return true
}

func (v *Visible) fail(err error) bool {
	v.err = err
	v.place = nowhere
	return false
}

// finished answers for a walk that found no key.
func (v *Visible) finished() bool {
	if v.err == nil && v.raw.err != nil {
		v.fail(v.raw.err)
	}
	return false
}

// Key is where the Visible is. It is valid until the next move.
func (v *Visible) Key() []byte {
	invariant.Check(v.place == standing, "Key of an iterator that is not at a key")
	return v.key
}

// Value is the key's value, unless Blob says where it is. It is valid until the
// next move.
func (v *Visible) Value() []byte {
	invariant.Check(v.place == standing && !v.isBlob, "Value of an iterator that is not at a key, or is at a blob")
	return v.value
}

// Blob says where the value is that is in no message. The caller reads it and
// gives it to Over.
func (v *Visible) Blob() (message.BlobRef, bool) { return v.blob, v.isBlob }

// Over appends to dst the value of a key with a blob, given the content of the
// blob: the value is that content with any later operands applied.
func (v *Visible) Over(dst, blob []byte) []byte {
	if v.operand.some {
		return v.operand.over(dst, v.key, blob, true)
	}
	return append(dst, blob...)
}

// Err is why the last move answered false, if not because of the end.
func (v *Visible) Err() error { return v.err }

// Close closes the sources.
func (v *Visible) Close() {
	v.raw.Close()
	v.place = nowhere
}
