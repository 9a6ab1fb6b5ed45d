// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// Messages calls visit with the messages of keys in [lo, hi), nil bounds being
// open, that count in the present store: those of memtables, newest first, and
// then partition by partition those of its branches, newest first. Where names
// the memtable or branch. Range deletes that reach into the range are included.
// A message is valid until visit returns; Messages ends when visit returns
// false.
//
// Messages skips damaged parts, up to the next branch; the error then has the
// damaged places.
func (db *DB) Messages(lo, hi []byte, visit func(where string, m message.Message) (more bool)) error {
	if lo != nil && hi != nil && bytes.Compare(lo, hi) > 0 {
		return fmt.Errorf("%w: from %q to %q", ErrBounds, lo, hi)
	}
	s := db.acquire()
	defer db.release(s)
	if err := db.open(); err != nil {
		return err
	}
	for _, m := range s.mems {
		if more, err := db.memMessages(m, lo, hi, visit); err != nil || !more {
			return err
		}
	}
	var bad []error
	for at := lo; ; {
		p := s.root.At(at)
		from, to := p.Lo, p.Hi
		if bytes.Compare(from, lo) < 0 {
			from = lo
		}
		if hi != nil && (to == nil || bytes.Compare(hi, to) < 0) {
			to = hi
		}
		for _, r := range p.Refs {
			more, err := branchMessages(r.Branch, from, to, visit)
			if err = explain(err); errors.Is(err, ErrCorrupt) {
				bad = append(bad, err)
			} else if err != nil {
				return err
			}
			if !more {
				return errors.Join(bad...)
			}
		}
		if p.Hi == nil || hi != nil && bytes.Compare(p.Hi, hi) >= 0 {
			return errors.Join(bad...)
		}
		at = p.Hi
	}
}

func (db *DB) memMessages(m *mem, lo, hi []byte, visit func(string, message.Message) bool) (more bool, err error) {
	view, ok := db.viewOf(m)
	if !ok {
		return false, fmt.Errorf("%w: no room to sort a memtable", ErrMemory)
	}
	defer view.Release()
	it := view.Iter()
	defer it.Close()
	where := fmt.Sprintf("memtable %d", m.number)
	for ok := it.First(); ok; ok = it.Next() {
		e := it.Message()
		end := e.Key
		if e.Kind == message.RangeDelete {
			end = e.Value
		}
		if hi != nil && bytes.Compare(e.Key, hi) >= 0 {
			break
		}
		if bytes.Compare(end, lo) < 0 || e.Kind == message.RangeDelete && bytes.Equal(end, lo) {
			continue
		}
		if !visit(where, e) {
			return false, nil
		}
	}
	return true, it.Err()
}

func branchMessages(b *trunk.Branch, lo, hi []byte, visit func(string, message.Message) bool) (more bool, err error) {
	where := fmt.Sprintf("branch %d", b.Meta.ID)
	for t := range b.Index.Ranges() {
		if (hi == nil || bytes.Compare(t.Lo, hi) < 0) && bytes.Compare(lo, t.Hi) < 0 {
			if !visit(where, message.Message{Key: t.Lo, Value: t.Hi, Seq: t.Seq, Kind: message.RangeDelete}) {
				return false, nil
			}
		}
	}
	it := b.Index.Iter(branch.IterOptions{Lo: lo, Hi: hi})
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		if !visit(where, it.Message()) {
			return false, nil
		}
	}
	return true, it.Err()
}
