// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/store/footprint"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
	"github.com/ashlar-dev/ashlar/internal/store/memtable"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// The record of recent changes is the memtables: they have every change of any caller, in the
// order of the numbers. A transaction remembers the place where its snapshot ends in the
// active memtable, and Commit reads on from there. So changes outside transactions pay
// nothing, and no memory is needed. Most is read before Commit takes DB.mu, and only the
// changes since then under it.
//
// A memtable that was flushed is gone, and the tree has no order of changes. A transaction
// that is older than the oldest memtable compares what it has read with what a later snapshot
// shows: if both show the same, the transaction could as well have read at the later moment,
// from which Commit continues with memtables.

// mark is a moment: that of the change with number seq, which is the last one before
// place pos of the memtable.
type mark struct {
	seq message.Seq
	mem uint64
	pos int
}

// markNow is the present moment. The caller holds db.mu.
func (db *DB) markNow() mark {
	m := db.current.Load().mems[0]
	return mark{db.writer.last(), m.number, m.table.Pos()}
}

// since returns the changes after a moment, those of each memtable in order, and their
// size in bytes. False: some are in no memtable. The caller holds db.mu, and the state
// as long as it reads them.
func (db *DB) since(at mark, s *state) (tails []memtable.Tail, size int, ok bool) {
	if at.seq < s.newest() {
		return nil, 0, false
	}
	for _, m := range s.mems {
		if m.number < at.mem {
			break
		}
		from := journal.SegmentHeader + journal.HeaderSize
		if m.number == at.mem {
			from = at.pos
		}
		tail := m.table.Tail(from)
		size += tail.Bytes()
		tails = append(tails, tail)
	}
	return tails, size, true
}

// validateTriesMax is how often Commit tries to come so close to the present that
// it can read the rest under DB.mu: at most validateBytesMax.
const (
	validateTriesMax = 8
	validateBytesMax = 64 << 10
)

// errBehind reports that too many changes came while a transaction was validated.
var errBehind = errors.New("too many changes during the validation")

// validateAndCommit commits the batch if no change since the snapshot touches what was
// read. It writes large values once, after a first look for conflicts: what others
// change during that is compared in the rounds that follow.
func (tx *Tx) validateAndCommit(w Write) error {
	if err := tx.validate(); err != nil {
		return err
	}
	return tx.db.commit(&tx.batch, w, func(b *Batch) (*mem, error) {
		for range validateTriesMax {
			m, err := tx.db.admit(b, tx.validateRest)
			if !errors.Is(err, errBehind) {
				return m, err
			}
			if err := tx.validate(); err != nil {
				return nil, err
			}
		}
		return nil, fmt.Errorf("%w: other changes arrive faster than this transaction can be checked against them: try again", ErrConflict)
	})
}

// validate checks the changes up to now, without a lock.
func (tx *Tx) validate() error {
	db := tx.db
	db.mu.Lock()
	if err := db.open(); err != nil {
		db.mu.Unlock()
		return err
	}
	s := db.acquire()
	tails, _, ok := db.since(tx.checked, s)
	now := db.markNow()
	if !ok {
		db.views.add(now.seq)
	}
	db.mu.Unlock()
	var err error
	if ok {
		err = tx.touchedBy(tails)
		db.release(s)
	} else {
		db.release(s) // a comparison may take long, and no other work must wait for it
		later := Snapshot{db: db, seq: now.seq}
		defer later.Close()
		err = tx.compare(&later)
	}
	if err == nil {
		tx.checked = now
	}
	return err
}

// validateRest checks the changes since validate. The caller holds db.mu, and makes
// the next change before releasing it.
func (tx *Tx) validateRest() error {
	db := tx.db
	tails, size, ok := db.since(tx.checked, db.current.Load())
	if !ok || size > validateBytesMax {
		return errBehind
	}
	return tx.touchedBy(tails)
}

// touchedBy returns an ErrConflict if one of the changes touches what was read.
func (tx *Tx) touchedBy(tails []memtable.Tail) error {
	for i := range tails {
		for m, ok := tails[i].Next(); ok; m, ok = tails[i].Next() {
			if tx.reads.TouchedBy(m) {
				return fmt.Errorf("%w: a %s of key %s", ErrConflict, m.Kind, tx.db.spaces.shown(m.Key))
			}
		}
	}
	return nil
}

// compare returns an ErrConflict if a later snapshot does not show what was read.
func (tx *Tx) compare(later *Snapshot) error {
	for _, span := range tx.reads.All() {
		differ := tx.spanDiffers
		if _, is := span.Key(); is {
			differ = tx.keyDiffers
		}
		if key, is, err := differ(later, span); err != nil {
			return err
		} else if is {
			return fmt.Errorf("%w: key %s has changed since it was read", ErrConflict, tx.db.spaces.shown(key))
		}
	}
	return nil
}

// keyDiffers reports whether the only key of the span has changed since it was read.
func (tx *Tx) keyDiffers(later *Snapshot, span footprint.Span) (key []byte, is bool, err error) {
	key = span.Lo
	was, errWas := tx.snapshot.get(key, nil)
	if errWas != nil && !errors.Is(errWas, ErrNotFound) {
		return nil, false, errWas
	}
	now, errNow := later.get(key, nil)
	if errNow != nil && !errors.Is(errNow, ErrNotFound) {
		return nil, false, errNow
	}
	return key, (errWas == nil) != (errNow == nil) || !bytes.Equal(was, now), nil
}

// spanDiffers reports whether a key of the span has changed since it was read, and which.
func (tx *Tx) spanDiffers(later *Snapshot, span footprint.Span) (key []byte, is bool, err error) {
	was, err := tx.db.openIter(&Iterator{db: tx.db, lo: span.Lo, hi: span.Hi}, tx.snapshot.seq)
	if err != nil {
		return nil, false, err
	}
	defer was.Close()
	now, err := tx.db.openIter(&Iterator{db: tx.db, lo: span.Lo, hi: span.Hi}, later.seq)
	if err != nil {
		return nil, false, err
	}
	defer now.Close()
	okWas, okNow := was.First(), now.First()
	for ; okWas && okNow; okWas, okNow = was.Next(), now.Next() {
		if !bytes.Equal(was.Key(), now.Key()) || !bytes.Equal(was.Value(), now.Value()) {
			return bytes.Clone(was.Key()), true, errors.Join(was.Err(), now.Err())
		}
	}
	if err := errors.Join(was.Err(), now.Err()); err != nil {
		return nil, false, err
	}
	switch {
	case okWas:
		return bytes.Clone(was.Key()), true, nil
	case okNow:
		return bytes.Clone(now.Key()), true, nil
	}
	return nil, false, nil
}
