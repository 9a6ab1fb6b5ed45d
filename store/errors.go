// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/memtable"
	"github.com/ashlar-dev/ashlar/internal/store/merge"
)

var (
	// ErrNotFound reports that a key has no value.
	ErrNotFound = errors.New("key not found")
	// ErrClosed reports that the store, snapshot or iterator was closed.
	ErrClosed = errors.New("store is closed")
	// ErrStopped reports that an earlier write or sync of the store failed. The
	// state of the disk since then is unknown, so the store accepts no more
	// changes; reads continue. Open the store again to find what is durable.
	ErrStopped = errors.New("store accepts no more changes after a failed write until it is reopened")
	// ErrCorrupt is wrapped by each CorruptError.
	ErrCorrupt = errors.New("corrupt data")
	// ErrTooLarge reports that a key, value or batch exceeds its limit.
	ErrTooLarge = errors.New("too large")
	// ErrReadOnly reports that the store was opened with Options.ReadOnly.
	ErrReadOnly = errors.New("store is open for reading only")
	// ErrMerger reports that Merge was used without a Merger, or that the store
	// was made with another one.
	ErrMerger = errors.New("merge operator")
	// ErrBounds reports that the lower bound of a range is above its upper one.
	ErrBounds = errors.New("invalid bounds of a range")
	// ErrMemory reports that Options.Memory is too small for the request.
	ErrMemory = errors.New("memory bound reached")
)

// CorruptError states where bytes on the disk are not those that were written,
// and which keys are unreadable because of that. Other keys are readable.
type CorruptError struct {
	File   string
	Offset int64
	// Branch and Block identify the block, if the damage is in one.
	Branch uint64
	Block  int
	// Lo and Hi bound the affected keys, both included. They are not in the text of the
	// error, which shows their lengths and hashes.
	Lo, Hi      []byte
	Want, Found string
}

func (e *CorruptError) Error() string {
	where := fmt.Sprintf("%s at byte %d", e.File, e.Offset)
	if e.Branch != 0 {
		where += fmt.Sprintf(" (branch %d, block %d, keys from %s to %s)", e.Branch, e.Block, block.Masked(e.Lo), block.Masked(e.Hi))
	}
	return fmt.Sprintf("%v: %s: want %s, found %s", ErrCorrupt, where, e.Want, e.Found)
}

// Is reports whether it is an ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// explain turns errors of the store's parts into errors of this package.
func explain(err error) error {
	var c *branch.Corrupt
	switch {
	case err == nil:
		return nil
	case errors.As(err, &c):
		return &CorruptError{File: datafile.Name, Offset: c.Addr, Branch: c.Branch, Block: c.Block, Lo: c.Lo, Hi: c.Hi, Want: c.Want, Found: c.Found}
	case errors.Is(err, branch.ErrMemory), errors.Is(err, memtable.ErrMemory), errors.Is(err, datafile.ErrMemory):
		return fmt.Errorf("%w: %w", ErrMemory, err)
	case errors.Is(err, merge.ErrNoMerger):
		return fmt.Errorf("%w: the store has merge messages: open it with its Merger: %w", ErrMerger, err)
	}
	return err
}
