// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
)

// A superblock that recovery has found in a page cache may not be on the disk: the sync of an earlier
// life may have failed. So recovery writes it again, over itself, which cannot tear it; if the disk
// has an older one in that place, the other superblock is valid until this one is durable. A file
// system that never overwrites in place needs room for that. Without room the store opens
// nevertheless, for reading, and so that other files can be deleted to make room. Until the
// superblock is durable, the store writes nothing that relies on it: no pages, no frames, and no
// other superblock. Nor does it report before then that the superblock's changes are durable, in a
// Sync, a feed, or the witness. Each call that needs one of these tries again.

// foundSuper is a superblock as recovery has found it.
type foundSuper struct {
	image []byte
	addr  int64
	seq   uint64
	// settled is called once, when a superblock that was not durable at first has become durable.
	settled func()
}

// rewrite writes the superblock again, and syncs it.
func (f *foundSuper) rewrite(file env.File) error {
	if _, err := file.WriteAt(f.image, f.addr); err != nil {
		return fmt.Errorf("rewrite superblock %d: %w", f.seq, err)
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", datafile.Name, err)
	}
	return nil
}

// postpone records a superblock that could not be made durable for lack of room.
func (s *space) postpone(f *foundSuper) { s.unsettled.Store(f) }

// settle makes the superblock durable that recovery has found, if recovery could
// not for lack of room.
func (s *space) settle() error {
	if s.isSettled() {
		return nil
	}
	s.growing.Lock()
	defer s.growing.Unlock()
	f := s.unsettled.Load()
	if f == nil {
		return nil
	}
	err := f.rewrite(s.file)
	if err == nil {
		s.unsettled.Store(nil)
		f.settled()
	}
	return err
}

// isSettled reports that the superblock which recovery has found is durable.
func (s *space) isSettled() bool { return s.unsettled.Load() == nil }

// settleFound is settle, and stops the store if the superblock cannot be made durable for a
// reason other than lack of room.
func (db *DB) settleFound() error {
	err := db.space.settle()
	if err != nil && !errors.Is(err, env.ErrNoSpace) {
		return db.stop(err)
	}
	return err
}
