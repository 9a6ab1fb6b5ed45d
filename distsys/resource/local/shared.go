// SPDX-License-Identifier: Apache-2.0

package local

import (
	"slices"
	"sync"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/cell"
	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Shared is a variable that several instances of one process share.
//
// It uses two-phase locking: from its first access until it commits or aborts,
// a section that reads the variable excludes writers, and a section that writes
// it excludes all other sections. A section that finds the variable locked does
// not wait while it holds other locks: it gets ErrContended, aborts, waits for
// the release, and tries again. So there is no deadlock. The jittered pause
// that follows ErrContended keeps two sections from aborting each other
// forever.
//
// A release wakes the refused sections only when no lock is left. Otherwise,
// while a third section holds its lock for long, refused sections would wake
// themselves and each other whenever one of them aborts. For the same reason
// only a commit that writes wakes a section that waits for another value.
type Shared struct {
	mu       sync.Mutex
	tree     *cell.Tree
	clock    tracelog.Clock // of the last section that committed with it
	readers  []*distsys.Tx
	writer   *distsys.Tx
	watchers []env.Waker
	refused  []env.Waker // got ErrContended, and were not woken since
}

var (
	_ distsys.Watched = (*Shared)(nil)
	_ distsys.Stored  = (*Shared)(nil)
)

// NewShared returns a variable with that value.
func NewShared(v value.Value) *Shared { return &Shared{tree: cell.New(v)} }

// Value is the committed value.
func (s *Shared) Value() value.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tree.Committed()
}

// Open implements Stored.
func (s *Shared) Open(tx *distsys.Tx, write bool) (*cell.Tree, error) {
	s.mu.Lock()
	if s.writer == tx || s.lock(tx, write) {
		return s.tree, nil
	}
	defer s.mu.Unlock()
	if w := tx.Waker(); !slices.Contains(s.refused, w) {
		s.refused = append(s.refused, w)
	}
	return nil, distsys.ErrContended
}

// Close implements Stored.
func (s *Shared) Close() { s.mu.Unlock() }

// Keeper implements Stored.
func (s *Shared) Keeper() distsys.Resource { return s }

// lock takes a lock for tx if it is free. tx must not be the writer already.
func (s *Shared) lock(tx *distsys.Tx, write bool) bool {
	reads := slices.Contains(s.readers, tx)
	others := len(s.readers)
	if reads {
		others--
	}
	switch {
	case s.writer != nil || write && others > 0:
		return false
	case write:
		s.writer = tx
	case !reads:
		s.readers = append(s.readers, tx)
	}
	tx.Observe(s.clock)
	return true
}

// Read implements Resource.
func (s *Shared) Read(tx *distsys.Tx, idx []value.Value) (value.Value, error) {
	tree, err := s.Open(tx, false)
	if err != nil {
		return value.Value{}, err
	}
	defer s.Close()
	return tree.Read(idx), nil
}

// Write implements Resource.
func (s *Shared) Write(tx *distsys.Tx, idx []value.Value, v value.Value) error {
	tree, err := s.Open(tx, true)
	if err != nil {
		return err
	}
	defer s.Close()
	tree.Write(idx, v)
	return nil
}

// PreCommit implements Resource. The section holds the lock, so Commit cannot
// fail.
func (s *Shared) PreCommit(*distsys.Tx) error { return nil }

// Commit implements Resource.
func (s *Shared) Commit(tx *distsys.Tx) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tx.Traced() {
		s.clock = s.clock.Merge(tx.Stamp())
	}
	if s.writer == tx {
		s.tree.Commit()
		for _, w := range s.watchers {
			w.Wake()
		}
	}
	s.release(tx)
}

// Abort implements Resource.
func (s *Shared) Abort(tx *distsys.Tx) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer == tx {
		s.tree.Abort()
	}
	s.release(tx)
}

// release gives up the locks of tx. When no lock is left, it wakes the sections
// that were refused.
func (s *Shared) release(tx *distsys.Tx) {
	if s.writer == tx {
		s.writer = nil
	}
	if i := slices.Index(s.readers, tx); i >= 0 {
		s.readers = slices.Delete(s.readers, i, i+1)
	}
	if s.writer != nil || len(s.readers) > 0 {
		return
	}
	for _, w := range s.refused {
		w.Wake()
	}
	clear(s.refused)
	s.refused = s.refused[:0]
}

// Watch implements Watched.
func (s *Shared) Watch(w env.Waker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, w)
}

// Unwatch implements Watched.
func (s *Shared) Unwatch(w env.Waker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.watchers, w); i >= 0 {
		s.watchers = slices.Delete(s.watchers, i, i+1)
	}
}
