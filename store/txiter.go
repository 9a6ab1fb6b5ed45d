// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/footprint"
	"github.com/ashlar-dev/ashlar/internal/store/merge"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// TxIterator iterates over the keys with a value in its bounds, as the transaction saw
// them when the iterator was made: it shows the transaction's earlier changes, but not
// later ones. It moves as an Iterator does. Everything that it passes over counts as
// read, including keys without a value; keys beyond the last one that it reached do
// not. Close, or the end of the transaction, closes it; then the moves return false,
// and Err returns ErrClosed.
type TxIterator struct {
	tx     *Tx
	base   *Iterator // over the snapshot
	lo, hi []byte
	own    footprint.List[footprint.Entry] // within the bounds
	gone   footprint.List[footprint.Span]  // deleted by the transaction, except the keys of own

	keysOnly  bool
	backwards bool // Next moves to smaller keys

	place   position
	reverse bool // the direction of the last move
	based   bool // base stands: at the key, or at the next one in that direction
	at      int  // in own: at the key, or at the next one in that direction
	// The key, where place is standing. It is the base's, an own one, or both.
	isBase, isOwn bool
	key, value    []byte
	valued        bool // value is the key's

	seen   footprint.Span // passed over since the last jump
	seeing bool
	closed bool
	err    error
}

// Iter returns an iterator over the keys in [lo, hi); nil bounds are open. It copies
// the bounds.
func (tx *Tx) Iter(lo, hi []byte) (*TxIterator, error) {
	return tx.Iterate(IterOptions{Lo: lo, Hi: hi})
}

// Iterate returns an iterator with the options of DB.Iterate. It copies them. KeysOnly
// reads no values; a change of a value is a conflict nevertheless.
func (tx *Tx) Iterate(o IterOptions) (*TxIterator, error) { return tx.iterate(nil, o) }

func (tx *Tx) iterate(k *Keyspace, o IterOptions) (*TxIterator, error) {
	if tx.ended {
		return nil, ErrClosed
	}
	forward := o
	forward.Reverse = false
	base, err := tx.snapshot.iter(k, forward)
	if err != nil {
		return nil, err
	}
	lo, hi := base.lo, base.hi
	it := &TxIterator{tx: tx, base: base, lo: append([]byte{}, lo...), hi: hi, keysOnly: o.KeysOnly, backwards: o.Reverse}
	it.own, it.gone = tx.writes.All()
	it.own = it.own.Within(it.lo, hi)
	if tx.iters == nil {
		tx.iters = map[*TxIterator]struct{}{}
	}
	tx.iters[it] = struct{}{}
	return it, nil
}

// First moves to the first key.
func (it *TxIterator) First() bool { return it.toEnd(it.backwards) }

// Last moves to the last key.
func (it *TxIterator) Last() bool { return it.toEnd(!it.backwards) }

// Next moves to the next key.
func (it *TxIterator) Next() bool { return it.step(it.backwards) }

// Prev moves to the previous key.
func (it *TxIterator) Prev() bool { return it.step(!it.backwards) }

// toEnd moves to the least key, or to the greatest.
func (it *TxIterator) toEnd(greatest bool) bool {
	if greatest {
		return it.seekLT(it.hi)
	}
	return it.seekGE(it.lo)
}

// step moves to the next larger key, or to the next smaller one.
func (it *TxIterator) step(smaller bool) bool {
	switch {
	case it.place != standing && smaller:
		return it.place != beforeFirst && it.toEnd(true)
	case it.place != standing:
		return it.place != afterLast && it.toEnd(false)
	case smaller:
		return it.backward(bytes.Clone(it.key), !it.reverse)
	}
	return it.forward(append(bytes.Clone(it.key), 0), it.reverse)
}

// SeekGE moves to the least key at or above key.
func (it *TxIterator) SeekGE(key []byte) bool { return it.seekGE(it.base.space.stored(key)) }

func (it *TxIterator) seekGE(key []byte) bool {
	if bytes.Compare(key, it.lo) < 0 {
		key = it.lo
	}
	return it.forward(bytes.Clone(key), true)
}

// SeekLT moves to the greatest key below key.
func (it *TxIterator) SeekLT(key []byte) bool {
	return it.seekLT(append([]byte{}, it.base.space.stored(key)...))
}

// seekLT is SeekLT, where nil is above all keys.
func (it *TxIterator) seekLT(key []byte) bool {
	if it.hi != nil && (key == nil || bytes.Compare(key, it.hi) > 0) {
		key = it.hi
	}
	return it.backward(key, true)
}

// forward moves to the first key at or above from, which it keeps. Jump reports
// that neither the base nor at are at the present key.
func (it *TxIterator) forward(from []byte, jump bool) bool {
	if it.failure() != nil {
		return false
	}
	if jump {
		it.based, it.at = it.toGE(from), it.own.Search(from)
	} else {
		it.leave(it.base.Next, 1)
	}
	it.reverse = false
	for {
		for it.based {
			span, in := footprint.Around(it.gone, it.base.key)
			if !in {
				break
			}
			it.based = it.toGE(span.Hi)
		}
		if !it.based && it.at == it.own.Len() || it.base.Err() != nil {
			return it.stop(footprint.Span{Lo: from, Hi: it.hi}, afterLast)
		}
		if it.meet(1) {
			return it.stand(footprint.Span{Lo: from, Hi: append(bytes.Clone(it.key), 0)})
		}
		it.leave(it.base.Next, 1)
	}
}

// backward moves to the last key below from, which it keeps; nil is above all keys.
func (it *TxIterator) backward(from []byte, jump bool) bool {
	if it.failure() != nil {
		return false
	}
	if jump {
		if it.at = it.own.Len() - 1; from == nil {
			it.based = it.base.Last()
		} else {
			it.based, it.at = it.toLT(from), it.own.Search(from)-1
		}
	} else {
		it.leave(it.base.Prev, -1)
	}
	it.reverse = true
	for {
		for it.based {
			span, in := footprint.Around(it.gone, it.base.key)
			if !in {
				break
			}
			it.based = it.toLT(span.Lo)
		}
		if !it.based && it.at < 0 || it.base.Err() != nil {
			return it.stop(footprint.Span{Lo: it.lo, Hi: from}, beforeFirst)
		}
		if it.meet(-1) {
			return it.stand(footprint.Span{Lo: bytes.Clone(it.key), Hi: from})
		}
		it.leave(it.base.Prev, -1)
	}
}

// leave moves the base and at on from the key where they met.
func (it *TxIterator) leave(move func() bool, step int) {
	if it.isBase {
		it.based = move()
	}
	if it.isOwn {
		it.at += step
	}
}

// meet finds which of the base and the own entries comes first in the direction of
// step, and reports whether the key has a value.
func (it *TxIterator) meet(step int) bool {
	it.isBase, it.isOwn = it.based, it.at >= 0 && it.at < it.own.Len()
	if it.isBase && it.isOwn {
		order := step * bytes.Compare(it.base.key, it.own.At(it.at).Key)
		it.isBase, it.isOwn = order <= 0, order >= 0
	}
	if !it.isOwn {
		it.key = append(it.key[:0], it.base.key...)
		return true
	}
	it.key = append(it.key[:0], it.own.At(it.at).Key...)
	return it.own.At(it.at).Kind != message.Delete
}

func (it *TxIterator) stand(passed footprint.Span) bool {
	it.pass(passed)
	it.place, it.valued = standing, false
	return it.err == nil
}

func (it *TxIterator) stop(passed footprint.Span, end position) bool {
	it.pass(passed)
	it.place, it.isBase, it.isOwn = end, false, false
	return false
}

// pass records that a span was passed over, joined with the earlier one if they
// touch. The bounds belong to the iterator from now on.
func (it *TxIterator) pass(span footprint.Span) {
	switch {
	case span.Empty():
	case it.seeing && bytes.Equal(it.seen.Hi, span.Lo) && it.seen.Hi != nil:
		it.seen.Hi = span.Hi
	case it.seeing && bytes.Equal(it.seen.Lo, span.Hi) && span.Hi != nil:
		it.seen.Lo = span.Lo
	default:
		it.read()
		it.seen, it.seeing = span, true
		if it.err == nil {
			it.err = it.tx.charge()
		}
	}
}

// read adds the passed span to what the transaction has read.
func (it *TxIterator) read() {
	if it.seeing {
		it.tx.reads.Add(it.seen)
		it.seeing = false
	}
}

// Key returns the key. It is valid until the next move.
func (it *TxIterator) Key() []byte {
	invariant.Check(it.place == standing, "Key of an iterator that is not at a key")
	return it.key[len(it.base.space.start()):]
}

// toGE and toLT seek the base to a key as it is stored.
func (it *TxIterator) toGE(key []byte) bool {
	return it.base.move(func(v *merge.Visible) bool { return v.SeekGE(key) }, afterLast)
}

func (it *TxIterator) toLT(key []byte) bool {
	return it.base.move(func(v *merge.Visible) bool { return v.SeekLT(key) }, beforeFirst)
}

// Value returns the key's value. It is valid until the next move. An unreadable value
// is nil, and Err returns the reason.
func (it *TxIterator) Value() []byte {
	invariant.Check(it.place == standing, "Value of an iterator that is not at a key")
	switch {
	case it.keysOnly || it.failure() != nil:
		return nil
	case !it.isOwn:
		return it.base.Value()
	case it.own.At(it.at).Kind == message.Put:
		return it.own.At(it.at).Value
	case !it.valued:
		it.value, it.valued = it.merged(), true
	}
	return it.value
}

// merged is the value that an own operand makes.
func (it *TxIterator) merged() []byte {
	var value []byte
	if it.isBase {
		if value = it.base.Value(); it.base.Err() != nil {
			return nil
		}
	}
	return it.tx.db.opt.Merger.Apply(it.value[:0], it.key, value, it.isBase, it.own.At(it.at).Value)
}

// Err returns the reason why the iterator stopped, or nil at an end.
func (it *TxIterator) Err() error { return it.failure() }

func (it *TxIterator) failure() error {
	if it.err != nil {
		return it.err
	}
	return it.base.Err()
}

// Close releases what the iterator holds, and returns Err. Closing again does nothing.
func (it *TxIterator) Close() error {
	if it.closed {
		return nil
	}
	it.read()
	delete(it.tx.iters, it)
	return it.end()
}

// end closes the iterator, and returns Err.
func (it *TxIterator) end() error {
	err := it.failure()
	_ = it.base.Close()
	it.own, it.gone, it.closed = footprint.List[footprint.Entry]{}, footprint.List[footprint.Span]{}, true
	it.tx.writes.Release()
	if it.err = err; err == nil {
		it.err = ErrClosed
	}
	return err
}
