// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
)

// Replay calls redo with each record of the last checkpoint's state and then with
// each record since its place, in order. Records are valid until redo returns; an
// error of redo ends the replay, and Replay wraps it. When Replay returns nil,
// all of these records are durable.
//
// The state may be anywhere after the place, interleaved with records. So
// Replay reads the log twice as far as the state extends: once for the state
// and once for the records.
func (l *Log) Replay(redo func(record []byte) error) error {
	l.committing.Lock()
	defer l.committing.Unlock()
	invariant.Check(!l.replayed && l.err == nil, "log replayed twice")
	if err := l.replay(redo); err != nil {
		var rot *journal.Corrupt
		if errors.As(err, &rot) {
			err = fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		err = fmt.Errorf("read log %s: %w", l.dir, err)
		_ = l.stop(err)
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replayed = true
	return nil
}

func (l *Log) replay(redo func(record []byte) error) error {
	from := l.top.super
	if from.checkpoint > 0 {
		if err := l.replayState(redo); err != nil {
			return err
		}
		l.base = l.read
	}
	records := from.records
	t := tail{safe: from.safe}
	end, err := l.walk(l.journal, t.frame, func(kind entryKind, content []byte) error {
		if kind != recordEntry {
			return nil
		}
		records++
		return redo(content)
	})
	if err != nil {
		return err
	}
	if end.Next-1 < from.safe {
		return fmt.Errorf("%w: the journal ends with message %d, but %s records that messages up to %d were synced",
			ErrCorrupt, end.Next-1, superName, from.safe)
	}
	for _, f := range l.journal.Files() {
		if f.Flaw.OK() && f.Info.Number >= from.chain.Segment {
			l.grown += int64(f.Info.Size)
		}
	}
	l.grown -= l.base
	if err := t.rewrite(l); err != nil {
		return err
	}
	// What was read may be in the machine's cache only.
	if err := l.journal.Sync(); err != nil {
		return err
	}
	l.chain, l.safe = end, end.Next-1
	l.appended, l.durable = records, records
	return l.noteSafe()
}

// errDone ends a walk that has seen enough.
var errDone = errors.New("enough")

// replayState calls redo with the state of the checkpoint that counts.
func (l *Log) replayState(redo func(record []byte) error) error {
	j, err := l.openJournal()
	if err != nil {
		return err
	}
	from := l.top.super
	first, entries := true, uint64(0)
	_, err = l.walk(j, nil, func(kind entryKind, content []byte) error {
		if first {
			first = false
			if kind != beginEntry {
				return fmt.Errorf("%w: checkpoint %d does not begin where the superblock says", ErrCorrupt, from.checkpoint)
			}
			if number, records := mark(content); number != from.checkpoint || records != from.records {
				return fmt.Errorf("%w: want checkpoint %d after %d records, found checkpoint %d after %d", ErrCorrupt,
					from.checkpoint, from.records, number, records)
			}
			return nil
		}
		switch kind {
		case stateEntry:
			entries++
			return redo(content)
		case beginEntry:
			return fmt.Errorf("%w: the state of checkpoint %d has no end", ErrCorrupt, from.checkpoint)
		case endEntry:
			if number, n := mark(content); number != from.checkpoint || n != entries {
				return fmt.Errorf("%w: want the end of checkpoint %d with %d records, found that of checkpoint %d with %d", ErrCorrupt,
					from.checkpoint, entries, number, n)
			}
			return errDone
		}
		return nil
	})
	switch {
	case err == nil:
		err = fmt.Errorf("%w: the state of checkpoint %d has no end", ErrCorrupt, from.checkpoint)
	case errors.Is(err, errDone):
		err = nil
	}
	return errors.Join(err, j.Close())
}

// walk calls frame, if there is one, with each frame behind the superblock's
// place, and see with each entry of it.
func (l *Log) walk(j *journal.Log, frame func(h journal.Header, image []byte, off, end int),
	see func(kind entryKind, content []byte) error) (journal.ChainState, error) {
	load := func(info journal.SegmentInfo, size int) ([]byte, func(journal.Header, int, int) error, error) {
		if cap(l.image) < size {
			l.image = make([]byte, size)
		}
		image := l.image[:size]
		l.read += int64(info.Size)
		return image, func(h journal.Header, off, end int) error {
			if frame != nil {
				frame(h, image, off, end)
			}
			b := image[off+journal.HeaderSize : off+int(h.Len)]
			for range h.Count {
				kind, content, size := nextEntry(b)
				if size == 0 {
					return fmt.Errorf("%w: segment %d has no entry %d bytes before the end of the frame at %d", ErrCorrupt, info.Number, len(b), off)
				}
				if err := see(kind, content); err != nil {
					return err
				}
				b = b[size:]
			}
			if len(b) > 0 {
				return fmt.Errorf("%w: segment %d has %d bytes after the entries of the frame at %d", ErrCorrupt, info.Number, len(b), off)
			}
			return nil
		}, nil
	}
	return j.Replay(l.top.super.chain, load)
}
