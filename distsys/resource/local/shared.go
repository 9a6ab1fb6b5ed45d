package local

import (
	"slices"
	"sync"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Shared is a variable that several instances of one process share.
//
// It is locked in two phases: a section that reads it keeps others from
// writing it, one that writes it keeps others out, from the first access until
// the section commits or aborts. A section that finds it locked does not wait
// there: it gets ErrContended, gives up what it holds, waits for the release,
// and tries again. No section waits while it holds a lock, so there is no
// deadlock; the jittered pause that ErrContended brings keeps two sections
// from giving way to each other for ever.
//
// A release wakes the sections that were refused only when no lock is left.
// Otherwise sections that are refused because of a third one, which holds its
// lock for long, would wake themselves and each other by giving up. For the
// same reason a section that waits for another value is woken only by a commit
// that writes.
type Shared struct {
	mu       sync.Mutex
	cur      value.Value
	clock    tracelog.Clock // of the last section that committed with it
	readers  []*distsys.Tx
	writer   *distsys.Tx
	work     value.Value
	watchers []env.Waker
	refused  []env.Waker // got ErrContended, and were not woken since
}

var _ distsys.Watched = (*Shared)(nil)

// NewShared returns a variable with that value.
func NewShared(v value.Value) *Shared { return &Shared{cur: v} }

// Value is the committed value.
func (s *Shared) Value() value.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cur
}

// Read is the Resource's.
func (s *Shared) Read(tx *distsys.Tx, idx []value.Value) (value.Value, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer == tx {
		return part(s.work, idx), nil
	}
	if s.writer != nil {
		return value.Value{}, s.refuse(tx)
	}
	if !slices.Contains(s.readers, tx) {
		s.readers = append(s.readers, tx)
		tx.Observe(s.clock)
	}
	return part(s.cur, idx), nil
}

// Write is the Resource's.
func (s *Shared) Write(tx *distsys.Tx, idx []value.Value, v value.Value) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer == nil {
		others := len(s.readers)
		if slices.Contains(s.readers, tx) {
			others--
		}
		if others > 0 {
			return s.refuse(tx)
		}
		s.work = replace(s.cur, idx, v)
		s.writer = tx
		tx.Observe(s.clock)
		return nil
	}
	if s.writer != tx {
		return s.refuse(tx)
	}
	s.work = replace(s.work, idx, v)
	return nil
}

// PreCommit is the Resource's: the lock is held, so nothing can go wrong.
func (s *Shared) PreCommit(*distsys.Tx) error { return nil }

// Commit is the Resource's.
func (s *Shared) Commit(tx *distsys.Tx) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tx.Traced() {
		s.clock = s.clock.Merge(tx.Stamp())
	}
	if s.writer == tx {
		s.cur = s.work
		for _, w := range s.watchers {
			w.Wake()
		}
	}
	s.release(tx)
}

// Abort is the Resource's.
func (s *Shared) Abort(tx *distsys.Tx) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(tx)
}

func (s *Shared) refuse(tx *distsys.Tx) error {
	if w := tx.Waker(); !slices.Contains(s.refused, w) {
		s.refused = append(s.refused, w)
	}
	return distsys.ErrContended
}

// release gives up the locks of tx. When no lock is left, it wakes the sections
// that were refused.
func (s *Shared) release(tx *distsys.Tx) {
	if s.writer == tx {
		s.writer, s.work = nil, value.Value{}
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

// Watch is the Watched's.
func (s *Shared) Watch(w env.Waker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, w)
}

// Unwatch is the Watched's.
func (s *Shared) Unwatch(w env.Waker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.watchers, w); i >= 0 {
		s.watchers = slices.Delete(s.watchers, i, i+1)
	}
}
