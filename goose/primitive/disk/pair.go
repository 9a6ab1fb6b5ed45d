// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/goose/primitive/internal/halt"
)

// A disk that failed must stay failed: it misses writes that came later, and a
// program that read it again after a restart would find the past. So before the
// access that finds a failure returns, a file beside the other disk records it
// durably. If that cannot be written, both have failed, and the process ends.
//
// To repair, with the program stopped: copy the file of the working disk over
// that of the failed one, and then remove the file that records the failure.

// pair is two disks in files.
type pair struct {
	disks [2]*file // nil: could not be opened
	size  uint64
	// failed is the disk that has failed; none if there is none.
	failed atomic.Int32
	mu     sync.Mutex // held while one fails
}

const none = -1

var _ TwoBlocks = (*pair)(nil)

func openPair(paths [2]string, blocks uint64) (*pair, error) {
	p := &pair{size: blocks}
	p.failed.Store(none)
	if err := p.open(paths); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *pair) open(paths [2]string) error {
	var why [2]error // that a disk has failed
	var there, half [2]bool
	for i, path := range paths {
		d, err := openDir(path, p.size)
		if errors.Is(err, env.ErrLocked) {
			return err
		}
		if err != nil {
			why[i] = err
			continue
		}
		p.disks[i] = d
		var errThere, errHalf error
		there[i], errThere = d.exists("")
		half[i], errHalf = d.exists(newSuffix)
		why[i] = errors.Join(errThere, errHalf)
	}
	if !there[0] && !there[1] {
		if err := errors.Join(why[:]...); err != nil {
			return err
		}
		// The new files are complete before the first of them gets its name, so
		// that a new file beside a disk is the other disk.
		if err := errors.Join(p.disks[0].make(), p.disks[1].make()); err != nil {
			return err
		}
		half = [2]bool{true, true}
	}
	for i, d := range p.disks {
		switch {
		case why[i] != nil:
		case !there[i] && !half[i]:
			why[i] = fmt.Errorf("open disk %s: it is missing, but the other disk exists", paths[i])
		case !there[i]:
			if why[i] = d.install(); why[i] == nil {
				why[i] = d.open()
			}
		default:
			why[i] = d.open()
		}
	}
	return p.openFailed(why)
}

// openFailed marks the disk as failed that could not be opened, or failed in
// the past.
func (p *pair) openFailed(why [2]error) error {
	for i := range p.disks {
		other := p.disks[1-i]
		if other == nil {
			continue
		}
		marked, err := other.exists(markSuffix)
		if err != nil {
			why[1-i] = errors.Join(why[1-i], err)
		} else if marked {
			why[i] = fmt.Errorf("disk %d has failed before", i)
		}
	}
	if why[0] != nil && why[1] != nil {
		return fmt.Errorf("both disks have failed: %w", errors.Join(why[:]...))
	}
	for i, err := range why {
		if err != nil {
			return p.fail(uint64(i))
		}
	}
	return nil
}

// fail makes a disk fail permanently. Its error reports that both have failed.
func (p *pair) fail(which uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.failed.Load() {
	case int32(which):
		return nil
	case none:
	default:
		return fmt.Errorf("disk %d fails, and disk %d has failed before", which, 1-which)
	}
	other := p.disks[1-which]
	f, err := other.dir.Open(other.name+markSuffix, true)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err == nil {
		err = other.dir.SyncDir(".")
	}
	if err != nil {
		return fmt.Errorf("disk %d fails, and disk %d cannot record it: %w", which, 1-which, err)
	}
	p.failed.Store(int32(which))
	return nil
}

// mustFail is fail, and ends the process if both have failed.
func (p *pair) mustFail(which uint64, why error) {
	if err := p.fail(which); err != nil {
		halt.Because("primitive", errors.Join(err, why))
	}
}

func (p *pair) alive(which uint64) bool { return p.failed.Load() != int32(which) }

// Read is TwoBlocks'.
func (p *pair) Read(which, a uint64) ([]byte, bool) {
	if p.alive(which) {
		b, err := p.disks[which].read(a)
		if err != nil {
			p.mustFail(which, err)
		}
		// It may have failed meanwhile, in a write to this block.
		if p.alive(which) {
			return b, true
		}
	}
	return make([]byte, BlockSize), false
}

// Write is TwoBlocks'.
func (p *pair) Write(which, a uint64, b []byte) {
	if p.alive(which) {
		p.disks[which].write(a, b, true, func(err error) { p.mustFail(which, err) })
	}
}

// Size is TwoBlocks'.
func (p *pair) Size() uint64 { return p.size }

// Close is that of TwoBlocks. It reports nothing about a failed disk.
func (p *pair) Close() error {
	var errs []error
	for i, d := range p.disks {
		if d == nil {
			continue
		}
		if err := d.close(); p.alive(uint64(i)) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
