package store

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/store/branch"
	"github.com/ashlar-dev/ashlar/store/memtable"
	"github.com/ashlar-dev/ashlar/store/merge"
)

var (
	// ErrNotFound says that a key has no value.
	ErrNotFound = errors.New("key not found")
	// ErrClosed says that the store, snapshot or iterator was closed.
	ErrClosed = errors.New("store is closed")
	// ErrStopped says that an earlier write or sync of the store failed. What
	// is on the disk since is unknown, so it takes no more changes; reads go
	// on. Open it again to find what is durable.
	ErrStopped = errors.New("store takes no more changes after a failed write")
	// ErrCorrupt is within each CorruptError.
	ErrCorrupt = errors.New("corrupt data")
	// ErrTooLarge says that a key, value or batch exceeds its limit.
	ErrTooLarge = errors.New("too large")
	// ErrReadOnly says that the store was opened with Options.ReadOnly.
	ErrReadOnly = errors.New("store is open for reading only")
	// ErrMerger says that Merge is used without a Merger, or that the store
	// was made with another one.
	ErrMerger = errors.New("merge operator")
	// ErrBounds says that the lower bound of a range lies above its upper one.
	ErrBounds = errors.New("bounds of a range")
	// ErrMemory says that Options.Memory is too small for what was asked.
	ErrMemory = errors.New("memory bound reached")
)

// CorruptError says where bytes on the disk are not those that were written,
// and which keys cannot be read for it. Others can.
type CorruptError struct {
	File   string
	Offset int64
	// Branch and Block are the block's, where it is one.
	Branch uint64
	Block  int
	// Lo and Hi bound the affected keys, both included.
	Lo, Hi      []byte
	Want, Found string
}

func (e *CorruptError) Error() string {
	where := fmt.Sprintf("%s at byte %d", e.File, e.Offset)
	if e.Branch != 0 {
		where += fmt.Sprintf(" (branch %d, block %d, keys from %q to %q)", e.Branch, e.Block, e.Lo, e.Hi)
	}
	return fmt.Sprintf("%v: %s: want %s, found %s", ErrCorrupt, where, e.Want, e.Found)
}

// Is says that it is an ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// explain turns the errors of the store's parts into the store's.
func explain(err error) error {
	var c *branch.Corrupt
	switch {
	case err == nil:
		return nil
	case errors.As(err, &c):
		return &CorruptError{File: dataFile, Offset: c.Addr, Branch: c.Branch, Block: c.Block, Lo: c.Lo, Hi: c.Hi, Want: c.Want, Found: c.Found}
	case errors.Is(err, branch.ErrMemory), errors.Is(err, memtable.ErrMemory):
		return fmt.Errorf("%w: %w", ErrMemory, err)
	case errors.Is(err, merge.ErrNoMerger):
		return fmt.Errorf("%w: the store has merge messages, but no Merger was given: %w", ErrMerger, err)
	}
	return err
}
