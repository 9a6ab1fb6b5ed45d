// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// KeepOptions describe what is compacted and which snapshots still read it.
type KeepOptions struct {
	// Sources are the messages. Keep closes them.
	Sources []message.Iter
	// Tombstones are the range deletes of all sources, in any order. They stay
	// as they are until Keep is closed.
	Tombstones []message.RangeTombstone
	// Lo and Hi bound the compaction: messages outside are not read, and tombstones
	// are clipped. Nil means no bound.
	Lo, Hi []byte
	// Snapshots are the numbers of the open snapshots, ascending; the present
	// is always one more.
	Snapshots []message.Seq
	// Bottom means that nothing is below the sources in [Lo, Hi). Otherwise
	// everything below is older than everything in the sources.
	Bottom bool
	// Apply makes deletes of the tombstones that some snapshots do not see: one of each
	// key that such a tombstone covers and that those snapshots may see. So Tombstones has
	// none. It is for the bottom.
	Apply bool
	// Merger gives Merge messages their meaning; without one they are an
	// error.
	Merger message.Merger
	// OperandMax is the longest operand in the output, in bytes: operands whose
	// combination would be longer stay separate. Zero means no limit.
	OperandMax int
	// Blobs, unless nil, is notified of each blob to which no message that is
	// kept refers any more.
	Blobs BlobWatcher
}

// BlobWatcher counts references to blobs.
type BlobWatcher interface {
	// Dropped: there is one reference less.
	Dropped(message.BlobRef)
}

// Counts is what Keep did, in messages.
type Counts struct {
	In, Out int64
	// Applied were made of tombstones.
	Applied int64
	// Shadowed were overwritten before anybody looked, Hidden lay under a
	// range tombstone, Deletes had nothing left to delete, Combined became a
	// part of another message.
	Shadowed, Hidden, Deletes, Combined int64
}

// Keep reads the messages of the sources in order and passes on those that a
// compaction must keep, so that Visible sees the same in them as before, at
// every snapshot and now.
//
// The snapshots cut the numbers into stripes: stripe i holds the numbers above
// snapshot i-1 up to snapshot i, and the last one those up to now. No reader can
// distinguish two moments of one stripe. Of each key and stripe therefore only
// the newest message matters; if that is an operand, the ones down to the next
// value are combined with it. Since a reader that sees one stripe of the
// tombstones also sees the older stripes, a message is dropped when a
// tombstone of its own stripe is over it; one of a later stripe hides it only
// from some readers.
// A delete is held back until it is known whether something older of its key is
// kept: if not, and if nothing is below that it must hide, it has done its
// work. Operands are held back in the same way, until it is known what they are
// applied to.
//
// With Apply, the tombstone of a stripe that is over a key is taken in like a delete of
// that key, between the messages that are newer and those that are older.
type Keep struct {
	o       KeepOptions
	raw     Merged
	stripes []ranges // of the tombstones, as many as stripes
	covers  []message.Seq
	points  []message.Seq // the deletes of the key that are made of tombstones, the newest last
	ranged  bool
	counts  Counts
	out     message.Message
	starts  bool
	begun   bool
	moved   bool // raw has been moved beyond the message that is out
	err     error
	place   keyState
	buffer  []byte
}

// keyState is what is known of the key at which Keep is.
type keyState struct {
	some    bool // there is one
	kept    bool // something of it has been let out
	key     []byte
	sealed  bool // what is older in stripe is shadowed
	stripe  int
	deleted message.Seq // the delete that is held back, or zero
	operand operand
}

// NewKeep starts a compaction. Nothing is read before the first Next.
func NewKeep(o KeepOptions) *Keep {
	invariant.Check(o.Bottom || !o.Apply, "tombstones applied above the bottom")
	k := &Keep{o: o}
	k.raw.reset(o.Sources)
	k.stripes = make([]ranges, len(o.Snapshots)+1)
	k.covers = make([]message.Seq, len(k.stripes))
	after := message.Seq(0)
	for i := range k.stripes {
		at := message.MaxSeq
		if i < len(o.Snapshots) {
			at = o.Snapshots[i]
		}
		invariant.Check(i == 0 || after <= at, "snapshots that do not ascend: %d, %d", after, at)
		k.stripes[i].reset(o.Tombstones, after, at, o.Lo, o.Hi)
		k.ranged = k.ranged || len(k.stripes[i].spans) > 0
		after = at
	}
	k.place.operand.reset(o.Merger)
	return k
}

// Tombstones are the range tombstones that must be kept: disjoint within each
// stripe, and at the bottom none that every reader sees, since what those hide is
// gone. They do not change, alias the given ones, and may be read after Keep is
// closed.
func (k *Keep) Tombstones() []message.RangeTombstone {
	if k.o.Apply {
		return nil
	}
	var kept []message.RangeTombstone
	for i := range k.stripes {
		if i > 0 || !k.o.Bottom {
			kept = append(kept, k.stripes[i].spans...)
		}
	}
	return kept
}

// Next goes to the next message that is kept.
func (k *Keep) Next() bool {
	if !k.begin() {
		return false
	}
	for k.raw.stands() {
		m := &k.raw.heads[k.raw.winner].m
		if k.place.some && bytes.Equal(m.Key, k.place.key) {
			if n := len(k.points); n > 0 && k.points[n-1] > m.Seq {
				k.point()
				continue
			}
			if k.older(m) {
				return true
			}
			if k.err != nil {
				return false
			}
			continue
		}
		if k.o.Hi != nil && bytes.Compare(m.Key, k.o.Hi) >= 0 {
			break
		}
		if k.place.some && k.finish() {
			return true
		}
		k.open(m)
	}
	if k.raw.err != nil {
		k.err = k.raw.err
		return false
	}
	return k.place.some && k.finish()
}

// begin does what was left from the call before.
func (k *Keep) begin() bool {
	if k.err != nil {
		return false
	}
	if !k.begun {
		k.begun, k.moved = true, true
		if k.o.Lo != nil {
			k.raw.SeekGE(k.o.Lo)
		} else {
			k.raw.First()
		}
	}
	if !k.moved {
		k.moved = true
		k.raw.step()
	}
	return true
}

// open starts with the key of m, which is then taken in as an older message of
// it.
func (k *Keep) open(m *message.Message) {
	p := &k.place
	p.some, p.kept, p.sealed, p.stripe, p.deleted = true, false, false, len(k.stripes), 0
	p.key = append(p.key[:0], m.Key...)
	if !k.ranged {
		return
	}
	cover := message.Seq(0)
	k.points = k.points[:0]
	for i := range k.stripes {
		if len(k.stripes[i].spans) > 0 {
			over := k.stripes[i].over(p.key)
			if over > 0 && i > 0 && k.o.Apply {
				k.points = append(k.points, over)
			}
			cover = max(cover, over)
		}
		k.covers[i] = cover
	}
}

// point takes in the newest delete that is made of a tombstone. Operands that are held back
// stay so: the next message is older, and covers says that the tombstone lies between.
func (k *Keep) point() {
	p := &k.place
	last := len(k.points) - 1
	seq := k.points[last]
	k.points = k.points[:last]
	if stripe := k.stripeOf(seq); stripe != p.stripe || !p.sealed {
		k.counts.Applied++
		if p.deleted != 0 {
			k.counts.Deletes++
		}
		p.stripe, p.sealed, p.deleted = stripe, true, seq
	}
}

// stripeOf is the number of snapshots that do not see seq.
func (k *Keep) stripeOf(seq message.Seq) int {
	i := len(k.o.Snapshots)
	for i > 0 && seq <= k.o.Snapshots[i-1] {
		i--
	}
	return i
}

// older takes in the next message of the key, or puts out what was held back
// because of it. It answers whether a message is out; if not, either m is
// passed or there is an error.
func (k *Keep) older(m *message.Message) bool {
	p := &k.place
	if p.operand.some {
		return k.under(m)
	}
	stripe := k.stripeOf(m.Seq)
	if stripe == p.stripe && p.sealed {
		return k.drop(m, &k.counts.Shadowed)
	}
	if m.Seq < k.covers[stripe] {
		return k.drop(m, &k.counts.Hidden)
	}
	if m.Kind != message.Delete && p.deleted != 0 {
		return k.putDelete()
	}
	p.stripe, p.sealed = stripe, true
	switch m.Kind {
	case message.Put:
		return k.putAsItIs(m)
	case message.Delete:
		if p.deleted != 0 {
			k.counts.Deletes++
		}
		p.deleted = m.Seq
		k.skip()
		return false
	case message.Merge:
		if k.o.Merger == nil {
			k.err = noMerger(m.Key)
			return false
		}
		p.sealed = false
		p.operand.older(p.key, m)
		k.skip()
		return false
	case message.Blob:
		if _, ok := message.DecodeBlobRef(m.Value); ok {
			return k.putAsItIs(m)
		}
	}
	k.err = strange(m)
	return false
}

// under takes in m, when operands are held back.
func (k *Keep) under(m *message.Message) bool {
	p := &k.place
	switch {
	case m.Kind == message.Delete || m.Seq < k.covers[p.stripe]:
		// For every snapshot that sees the operands there is no value under them.
		// Whether other snapshots see m is decided when it is examined again.
		return k.putApplied(nil, false)
	case m.Kind == message.Merge && k.stripeOf(m.Seq) == p.stripe:
		if !p.operand.olderWithin(p.key, m, k.o.OperandMax) {
			return k.putOperand()
		}
		k.counts.Combined++
		k.skip()
		return false
	case m.Kind == message.Put && k.stripeOf(m.Seq) == p.stripe:
		k.counts.Combined++
		k.counts.In++
		k.putApplied(m.Value, true)
		k.moved = false
		return true
	}
	return k.putOperand()
}

// finish ends the key: nothing older of it is in the sources. It answers
// whether a message is out.
func (k *Keep) finish() bool {
	p := &k.place
	// Whether those who see the stripe see nothing below.
	nothing := k.o.Bottom || p.stripe < len(k.covers) && k.covers[p.stripe] > 0
	switch {
	case p.operand.some && nothing:
		return k.putApplied(nil, false)
	case p.operand.some:
		return k.putOperand()
	case p.deleted != 0 && nothing:
		k.counts.Deletes++
		p.deleted = 0
	case p.deleted != 0:
		return k.putDelete()
	}
	p.some = false
	return false
}

// skip moves on from a message that has been taken in.
func (k *Keep) skip() {
	k.counts.In++
	k.raw.step()
}

func (k *Keep) drop(m *message.Message, count *int64) bool {
	*count++
	if m.Kind == message.Blob && k.o.Blobs != nil {
		ref, ok := message.DecodeBlobRef(m.Value)
		if !ok {
			k.err = strange(m)
			return false
		}
		k.o.Blobs.Dropped(ref)
	}
	k.skip()
	return false
}

func (k *Keep) put(key, value []byte, seq message.Seq, kind message.Kind) bool {
	k.out = message.Message{Key: key, Value: value, Seq: seq, Kind: kind}
	k.starts, k.place.kept = !k.place.kept, true
	k.counts.Out++
	return true
}

// putAsItIs lets m out, which stays where it is until the next call.
func (k *Keep) putAsItIs(m *message.Message) bool {
	k.counts.In++
	k.moved = false
	return k.put(m.Key, m.Value, m.Seq, m.Kind)
}

func (k *Keep) putDelete() bool {
	seq := k.place.deleted
	k.place.deleted = 0
	return k.put(k.place.key, nil, seq, message.Delete)
}

// putApplied lets the operands out as a value; what is older in their stripe is
// shadowed by it.
func (k *Keep) putApplied(value []byte, exists bool) bool {
	p := &k.place
	k.buffer = p.operand.over(k.buffer[:0], p.key, value, exists)
	p.operand.some, p.sealed = false, true
	return k.put(p.key, k.buffer, p.operand.newest, message.Put)
}

// putOperand lets the operands out as one.
func (k *Keep) putOperand() bool {
	p := &k.place
	p.operand.some = false
	return k.put(p.key, p.operand.bytes, p.operand.newest, message.Merge)
}

// Message returns the kept message, which is valid until the next call of Next.
func (k *Keep) Message() message.Message { return k.out }

// Starts reports whether the message is the first that is kept of its key.
func (k *Keep) Starts() bool { return k.starts }

// Counts returns what Keep has done so far.
func (k *Keep) Counts() Counts { return k.counts }

// Err is why Next answered false, if not because of the end.
func (k *Keep) Err() error { return k.err }

// Close closes the sources.
func (k *Keep) Close() { k.raw.Close() }
