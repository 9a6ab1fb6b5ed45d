// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"runtime"
	"sync"
	"syscall"

	"github.com/ashlar-dev/ashlar/env"
)

// fallible is a Disk that dies at a chosen operation, or lets one fail. Beneath
// is a disk that may be for one goroutine; this one is for many.
type fallible struct {
	mu     sync.Mutex
	disk   whole
	r      *rand.Rand
	dies   int // at the operation of that number that changes or syncs something; 0: never
	within int // and within that sync of a file
	fails  int // as dies
	full   int // from that one on no file grows, for a while
	ops    int
	syncs  int
	dead   bool
	struck bool // an operation has failed that a store does not outlive
}

// whole is a disk with all that a store uses.
type whole interface {
	env.DirectDisk
	env.LockDisk
}

var (
	errDead = errors.New("the disk is dead")
	errIO   = fmt.Errorf("%w (injected)", syscall.EIO)
)

// fullFor is how many operations a disk stays full.
const fullFor = 6

// step begins an operation. It answers how the operation has to end: whether it
// is done, or half done where it can be, and with which error.
func (d *fallible) step(grows bool) (done, half bool, err error) {
	if d.dead {
		return false, false, errDead
	}
	d.ops++
	switch {
	case d.ops == d.dies:
		d.dead = true
		return d.r.IntN(3) == 0, d.r.IntN(2) == 0, errDead
	case d.ops == d.fails:
		d.struck = true
		return d.r.IntN(3) == 0, d.r.IntN(2) == 0, errIO
	case grows && d.full > 0 && d.ops >= d.full && d.ops < d.full+fullFor:
		return false, false, env.ErrNoSpace
	}
	return true, false, nil
}

// change does an operation that cannot be half done.
func (d *fallible) change(op, name string, do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	done, _, err := d.step(false)
	if done {
		if e := do(); e != nil {
			return e
		}
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

func (d *fallible) look(op, name string, do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return &fs.PathError{Op: op, Path: name, Err: errDead}
	}
	return do()
}

// end is the end of power or program, if it has not come yet.
func (d *fallible) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = true
}

// trouble reports whether the disk may be why something failed, and whether the
// store may go on.
func (d *fallible) trouble(err error) (mine, over bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	over = d.dead || d.struck
	return over || errors.Is(err, env.ErrNoSpace) && d.full > 0 && d.ops >= d.full, over
}

func (d *fallible) Open(name string, create bool) (env.File, error) {
	f, _, err := d.open(name, create, func() (env.File, bool, error) {
		f, err := d.disk.Open(name, create)
		return f, false, err
	})
	return f, err
}

func (d *fallible) OpenDirect(name string, create bool) (env.File, bool, error) {
	return d.open(name, create, func() (env.File, bool, error) { return d.disk.OpenDirect(name, create) })
}

func (d *fallible) open(name string, create bool, do func() (env.File, bool, error)) (f env.File, direct bool, err error) {
	how := d.look
	if create {
		how = d.change
	}
	err = how("open", name, func() error {
		var inner env.File
		if inner, direct, err = do(); err != nil {
			return err
		}
		f = &fallibleFile{d, inner.(env.SpaceFile), name}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	return f, direct, nil
}

func (d *fallible) Rename(old, new string) error {
	return d.change("rename", old, func() error { return d.disk.Rename(old, new) })
}

func (d *fallible) Remove(name string) error {
	return d.change("remove", name, func() error { return d.disk.Remove(name) })
}

func (d *fallible) MakeDir(name string) error {
	return d.change("mkdir", name, func() error { return d.disk.MakeDir(name) })
}

func (d *fallible) SyncDir(name string) error {
	return d.change("sync", name, func() error { return d.disk.SyncDir(name) })
}

func (d *fallible) List(name string) (names []string, err error) {
	err = d.look("list", name, func() error {
		names, err = d.disk.List(name)
		return err
	})
	return names, err
}

// Lock gives a lock that ends even on a dead disk: the machine frees it.
func (d *fallible) Lock(name string) (c io.Closer, err error) {
	err = d.look("lock", name, func() error {
		if c, err = d.disk.Lock(name); err == nil {
			c = &fallibleLock{d, c}
		}
		return err
	})
	return c, err
}

type fallibleLock struct {
	d *fallible
	c io.Closer
}

func (l *fallibleLock) Close() error {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	return l.c.Close()
}

type fallibleFile struct {
	d    *fallible
	f    env.SpaceFile
	name string
}

func (f *fallibleFile) ReadAt(b []byte, off int64) (n int, err error) {
	err = f.d.look("read", f.name, func() error {
		n, err = f.f.ReadAt(b, off)
		return err
	})
	return n, err
}

// WriteAt lets others run first, as one that waits for a disk does: with a
// single thread nobody would ever meet another caller.
func (f *fallibleFile) WriteAt(b []byte, off int64) (int, error) {
	runtime.Gosched()
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	size, err := f.f.Size()
	if err != nil {
		return 0, err
	}
	done, half, err := f.d.step(off+int64(len(b)) > size)
	if done {
		half = false
	} else if half {
		b = b[:f.d.r.IntN(len(b)/env.DirectUnit+1)*env.DirectUnit]
	}
	if (done || half) && len(b) > 0 {
		if n, e := f.f.WriteAt(b, off); e != nil {
			return n, e
		}
	}
	if err != nil {
		return 0, &fs.PathError{Op: "write", Path: f.name, Err: err}
	}
	return len(b), nil
}

func (f *fallibleFile) Append(b []byte) error {
	return f.d.change("append", f.name, func() error { return f.f.Append(b) })
}

func (f *fallibleFile) Size() (n int64, err error) {
	err = f.d.look("stat", f.name, func() error {
		n, err = f.f.Size()
		return err
	})
	return n, err
}

func (f *fallibleFile) Truncate(size int64) error {
	return f.d.change("truncate", f.name, func() error { return f.f.Truncate(size) })
}

func (f *fallibleFile) Allocate(off, n int64) error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	done, _, err := f.d.step(true)
	if done {
		if e := f.f.Allocate(off, n); e != nil {
			return e
		}
	}
	if err != nil {
		return &fs.PathError{Op: "allocate", Path: f.name, Err: err}
	}
	return nil
}

func (f *fallibleFile) Discard(off, n int64) error {
	return f.d.change("discard", f.name, func() error { return f.f.Discard(off, n) })
}

func (f *fallibleFile) Sync() error {
	f.d.mu.Lock()
	f.d.syncs++
	if f.d.syncs == f.d.within && !f.d.dead {
		f.d.dies = f.d.ops + 1
	}
	f.d.mu.Unlock()
	return f.d.change("sync", f.name, f.f.Sync)
}

// Close works on a dead disk too.
func (f *fallibleFile) Close() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	return f.f.Close()
}
