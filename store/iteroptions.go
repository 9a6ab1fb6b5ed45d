// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// IterOptions state what an Iterator shows. The zero IterOptions are all keys, with
// their values, in ascending order.
type IterOptions struct {
	// Lo and Hi are the bounds: only keys in [Lo, Hi) are shown. A nil bound is
	// open.
	Lo, Hi []byte
	// Prefix shows only keys that begin with it, among those in [Lo, Hi).
	Prefix []byte
	// KeysOnly makes Value return nil. It saves copying values, merging operands
	// into them, and reading large ones: an iterator over keys reads no page of a
	// large value, so that it passes over a damaged one.
	KeysOnly bool
	// Reverse makes First, Next, Last and Prev run from the greatest key to the
	// least: First moves to the greatest key, Next to the next smaller one. SeekGE
	// and SeekLT are not affected.
	Reverse bool
}

// Iterate returns an iterator over the visible state. It copies the options.
func (db *DB) Iterate(o IterOptions) (*Iterator, error) { return db.iter(nil, o, message.MaxSeq) }

// Iterate is DB.Iterate in the snapshot. The iterator remains valid after the
// snapshot is closed.
func (s *Snapshot) Iterate(o IterOptions) (*Iterator, error) { return s.iter(nil, o) }

func (s *Snapshot) iter(k *Keyspace, o IterOptions) (*Iterator, error) {
	it, err := s.db.iter(k, o, s.seq)
	if err == nil && s.closed.Load() {
		return nil, cmp.Or(it.Close(), ErrClosed)
	}
	return it, err
}

// bounds are copies of those that follow from Lo, Hi and Prefix.
func (o IterOptions) bounds() (lo, hi []byte, err error) {
	if o.Lo != nil && o.Hi != nil && bytes.Compare(o.Lo, o.Hi) > 0 {
		return nil, nil, fmt.Errorf("%w: from %q to %q", ErrBounds, o.Lo, o.Hi)
	}
	lo, hi = bytes.Clone(o.Lo), bytes.Clone(o.Hi)
	if len(o.Prefix) == 0 {
		return lo, hi, nil
	}
	if bytes.Compare(lo, o.Prefix) < 0 {
		lo = bytes.Clone(o.Prefix)
	}
	if end := prefixEnd(o.Prefix); end != nil && (hi == nil || bytes.Compare(end, hi) < 0) {
		hi = end
	}
	if hi != nil && bytes.Compare(lo, hi) > 0 {
		hi = lo // nothing with the prefix is within the bounds
	}
	return lo, hi, nil
}

// prefixEnd is the least key above all keys with the prefix, or nil if there is none.
func prefixEnd(prefix []byte) []byte {
	for n := len(prefix); n > 0; n-- {
		if c := prefix[n-1]; c < 0xff {
			return append(bytes.Clone(prefix[:n-1]), c+1)
		}
	}
	return nil
}

// SetBounds replaces the bounds of the iterator, and its prefix if it has one; nil
// bounds are open. The iterator goes on showing the moment when it was made, and is
// at no key, as a new one. SetBounds copies the bounds. With an error they are as
// before.
func (it *Iterator) SetBounds(lo, hi []byte) error {
	lo, hi, err := IterOptions{Lo: lo, Hi: hi}.bounds()
	if err != nil {
		return err
	}
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.closed {
		return ErrClosed
	}
	if it.err != nil {
		return it.err
	}
	lo, hi = it.db.spaces.bounds(it.space, lo, hi)
	it.lo, it.hi, it.place = lo, hi, nowhere
	if it.state != nil {
		it.visible.Close()
		it.merge()
	}
	return nil
}
