// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// examineHistory reads the changes that the history has kept, as far as they still exist,
// and compares each file with its name: only feeds and archives would otherwise notice
// damage here. The history has at least what is in the tree of the state.
func (db *DB) examineHistory(ctx context.Context, now *state, report *Report, rest func(int64) error) error {
	db.history.mu.Lock()
	segments := slices.Clone(db.history.segments)
	db.history.mu.Unlock()
	report.Gaps = gaps(segments, now.newest())
	for _, s := range segments {
		err := db.examineSegment(ctx, s, report, rest)
		switch {
		case errors.Is(err, fs.ErrNotExist) && db.history.has(s):
			report.add(&CorruptError{File: path.Join(db.files.dir, s.name), Want: fmt.Sprintf("a file with changes %d to %d", s.first, s.last), Found: "no file"})
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errVersion): // it was the oldest; or counts as absent
		case errors.Is(err, ErrCorrupt):
			report.add(err)
		case err != nil:
			return err
		}
	}
	return nil
}

// gaps are the changes up to newest that are between segments or after the last one.
func gaps(segments []segment, newest message.Seq) (gaps []Gap) {
	if len(segments) == 0 {
		return nil
	}
	next := segments[0].first
	for _, s := range append(segments[:len(segments):len(segments)], segment{first: newest + 1}) {
		if s.first > next && len(gaps) < ProblemsMax {
			gaps = append(gaps, Gap{uint64(next), uint64(s.first - 1)})
		}
		next = max(next, s.last+1)
	}
	return gaps
}

// has reports whether the history still has the segment.
func (h *history) has(s segment) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Contains(h.segments, s)
}

// examineSegment reads a file of the history.
func (db *DB) examineSegment(ctx context.Context, s segment, report *Report, rest func(int64) error) (err error) {
	file, in, err := openSegment(db.files.disk, db.files.dir, s.name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	name := path.Base(s.name)
	if in.store != db.life.store || in.first != s.first {
		return in.bad("what the name says of "+name, fmt.Sprintf("store %016x, changes from %d on", in.store, in.first))
	}
	var read int64
	for {
		c, err := in.change()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		report.Changes++
		if read += int64(changeHeader + len(c.Key) + len(c.Value)); read >= restBytes {
			report.Bytes += read
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := rest(read); err != nil {
				return err
			}
			read = 0
		}
	}
	report.Bytes += read
	if in.last != s.last {
		return in.bad("what the name says of "+name, fmt.Sprintf("changes up to %d", in.last))
	}
	return rest(read)
}
