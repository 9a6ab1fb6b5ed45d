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
)

// examineHistory reads the changes that the history has kept, as far as they are still
// there, and compares each file with its name: of damage here, only feeds and archives know.
func (db *DB) examineHistory(ctx context.Context, report *Report, rest func(int64) error) error {
	db.history.mu.Lock()
	segments := slices.Clone(db.history.segments)
	db.history.mu.Unlock()
	for _, s := range segments {
		err := db.examineSegment(ctx, s, report, rest)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errVersion): // it was the oldest; or counts as absent
		case errors.Is(err, ErrCorrupt):
			report.add(err)
		case err != nil:
			return err
		}
	}
	return nil
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
