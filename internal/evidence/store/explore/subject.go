// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"errors"

	"github.com/ashlar-dev/ashlar/env"
)

// Subject is a store to be explored. It works in its caller's goroutine: no
// other goroutine uses the disk, and the same calls have the same effects on
// the disk every time.
type Subject interface {
	Name() string
	// Open opens the store in a directory, which it creates if it is absent. Marks
	// show the tracer which paths recovery took. If there is a store, Open changes
	// nothing on the disk.
	Open(disk env.Disk, dir string, tracer env.Tracer) (Store, error)
	// Durable reports whether an operation of the kind that has returned without
	// error has made everything before it, and itself, durable.
	Durable(k OpKind) bool
	// Explains reports whether an error is of a kind with which a store may answer
	// when its disk is damaged or has failed.
	Explains(err error) bool
}

// Doubled is a Subject that keeps something twice: any one of some pages of a
// file, counted in units of 4096 bytes, may be damaged, and nothing is missing.
type Doubled interface {
	Subject
	Doubled() (file string, pages []int64)
}

// Witnessing is a Subject that, in Wait, also writes elsewhere how far it is durable.
// Then no damage of a single page looks like a power failure.
type Witnessing interface {
	Subject
	Witnesses() bool
}

// Store is an open store.
type Store interface {
	Reader
	// Commit does changes, all or none. Alone reports that a single change needs no
	// batch.
	Commit(changes []Change, alone, durable bool) error
	Sync() error
	Flush() error
	Compact(lo, hi []byte) error
	// Wait does the pending background work.
	Wait() error
	// Checkpoint makes a copy in another directory of the disk.
	Checkpoint(dir string) error
	Snapshot() (View, error)
	// Verify checks everything that the store keeps.
	Verify() error
	Close() error
}

// Change is one change of a Commit: Put (Value), Delete, Merge (Value is the
// operand of Concat) or DeleteRange (the keys in [Key, Value)).
type Change struct {
	Kind       OpKind
	Key, Value []byte
}

// Reader reads a store or a snapshot. Values are valid until the next call.
type Reader interface {
	Get(key []byte) (value []byte, found bool, err error)
	Iter() (Cursor, error)
}

// View is a snapshot.
type View interface {
	Reader
	Close() error
}

// Cursor walks over keys in order. Key and Value are valid until the next
// move.
type Cursor interface {
	First() bool
	Last() bool
	SeekGE(key []byte) bool
	SeekLT(key []byte) bool
	Next() bool
	Prev() bool
	Key() []byte
	Value() []byte
	Err() error
	Close() error
}

// errAbandoned is the error of the disk of a store that is no longer needed.
var errAbandoned = errors.New("the exploration is done with this disk")

// scanner reads whole stores into memory that it reuses.
type scanner struct {
	buf     []byte
	ends    []int // of key, value, key, value ... in buf
	records []record
}

// scan reads everything from first to last. Its result is valid until the next scan.
func (s *scanner) scan(r Reader) ([]record, error) {
	c, err := r.Iter()
	if err != nil {
		return nil, err
	}
	s.buf, s.ends, s.records = s.buf[:0], s.ends[:0], s.records[:0]
	for ok := c.First(); ok; ok = c.Next() {
		s.buf = append(s.buf, c.Key()...)
		s.ends = append(s.ends, len(s.buf))
		s.buf = append(s.buf, c.Value()...)
		s.ends = append(s.ends, len(s.buf))
	}
	err = c.Err()
	if e := c.Close(); err == nil {
		err = e
	}
	from := 0
	for i := 0; i < len(s.ends); i += 2 {
		k, v := s.ends[i], s.ends[i+1]
		s.records = append(s.records, record{s.buf[from:k:k], s.buf[k:v:v]})
		from = v
	}
	return s.records, err
}
