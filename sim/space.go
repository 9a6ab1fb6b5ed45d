// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"syscall"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

var (
	_ env.DirectDisk = (*Disk)(nil)
	_ env.LockDisk   = (*Disk)(nil)
	_ env.SpaceFile  = (*file)(nil)
)

// full is the error of a full disk.
func full(op, name string) error {
	return fault(op, name, fmt.Errorf("%w: %w", env.ErrNoSpace, syscall.ENOSPC))
}

// OpenDirect implements env.DirectDisk. An access that a real direct file would
// refuse fails an assertion, because some real systems let it pass.
func (d *Disk) OpenDirect(name string, create bool) (env.File, bool, error) {
	f, err := d.open(name, create)
	if err != nil {
		return nil, false, err
	}
	f.direct = true
	return f, true, nil
}

// fits checks an access to a direct file.
func (f *file) fits(op string, b []byte, off int64) {
	if !f.direct || len(b) == 0 {
		return
	}
	at := reflect.ValueOf(&b[0]).Pointer()
	invariant.Check(off%env.DirectUnit == 0 && len(b)%env.DirectUnit == 0 && at%env.DirectUnit == 0,
		"direct %s of %s: %d bytes at %d, memory at %#x: all must be multiples of %d", op, f.name, len(b), off, at, env.DirectUnit)
}

// Lock implements env.LockDisk. The lock belongs to the file, not to the name;
// it ends when it is closed and in a crash. A clone has no locks.
func (d *Disk) Lock(name string) (io.Closer, error) {
	f, err := d.open(name, true)
	if err != nil {
		return nil, err
	}
	if f.i.lock != nil {
		return nil, fault("lock", name, env.ErrLocked)
	}
	f.i.lock = &lock{f}
	return f.i.lock, nil
}

// lock is a Lock, by the open file that holds it.
type lock struct{ f *file }

// Close implements Closer.
func (l *lock) Close() error {
	err := l.f.Close()
	if err == nil && l.f.i.lock == l {
		l.f.i.lock = nil
	}
	return err
}

// Allocate implements env.SpaceFile. A crash keeps or loses the new size as it
// does that of a Truncate.
func (f *file) Allocate(off, n int64) error {
	if n < 0 {
		off = n // refused as negative
	}
	if err := f.check("allocate", off); err != nil {
		return err
	}
	if n == 0 || off+n <= f.i.now.size {
		return nil
	}
	return f.Truncate(off + n)
}

// Discard implements env.SpaceFile. Discarded bytes read as zero at once, so
// that any use of them shows; the zeros are an operation that a crash may lose.
func (f *file) Discard(off, n int64) error {
	if n < 0 {
		off = n // refused as negative
	}
	if err := f.check("discard", off); err != nil {
		return err
	}
	i := f.i
	end := min(off+n, i.now.size)
	if off >= end {
		return nil
	}
	i.now.clear(off, end)
	f.disk.pend(i, dataOp{off: off, end: end, zero: true, size: i.now.size})
	return nil
}

// The same for a node's disk: with time and faults.

var (
	_ env.DirectDisk = (*volume)(nil)
	_ env.LockDisk   = (*volume)(nil)
	_ env.SpaceFile  = (*volumeFile)(nil)
)

func (v *volume) OpenDirect(name string, create bool) (env.File, bool, error) {
	f, err := v.open(name, create)
	if err != nil {
		return nil, false, err
	}
	f.f.direct = true
	return f, true, v.dies()
}

// Lock returns a lock that ends with the life.
func (v *volume) Lock(name string) (io.Closer, error) {
	if err := v.create(name, true); err != nil {
		return nil, err
	}
	l, err := v.disk().Lock(name)
	if err != nil {
		return nil, err
	}
	held := &volumeLock{v, l}
	v.locks = append(v.locks, held)
	return held, v.dies()
}

// volumeLock is a lock that a life has taken.
type volumeLock struct {
	v *volume
	l io.Closer
}

func (l *volumeLock) Close() error {
	if l.v.dead {
		return fault("unlock", "", fs.ErrClosed)
	}
	return l.l.Close()
}

// unlock releases the locks of a life that is over.
func (l *Life) unlock() {
	for _, held := range l.locks {
		held.l.Close() // a lock that the program has closed returns an error, which is ignored
	}
	l.locks = nil
}

func (f *volumeFile) Allocate(off, n int64) error {
	return f.change("allocate", off+n, func() error { return f.f.Allocate(off, n) })
}

func (f *volumeFile) Discard(off, n int64) error {
	return f.change("discard", 0, func() error { return f.f.Discard(off, n) })
}

// change performs a change that writes no data; it may need room up to end.
func (f *volumeFile) change(op string, end int64, do func() error) error {
	if err := f.v.begin(evWrite, f.f.name, 0, writeMax); err != nil {
		return err
	}
	if end > f.f.i.now.size {
		if err := f.v.full(op, f.f.name); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	return f.v.dies()
}
