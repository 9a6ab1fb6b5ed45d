// SPDX-License-Identifier: Apache-2.0

package env

import (
	"errors"
	"io"
)

// ErrLocked reports that another process holds a lock.
var ErrLocked = errors.New("locked by another process")

// ErrNoSpace is wrapped by the error of a write or Allocate that found the disk
// full. Existing contents are unharmed.
var ErrNoSpace = errors.New("no space left on the disk")

// DirectUnit is the unit of direct files, in bytes: buffer addresses, offsets
// and lengths must be multiples of it.
const DirectUnit = 4096

// DirectDisk is a Disk that can bypass the operating system's page cache.
type DirectDisk interface {
	Disk
	// OpenDirect is Open for a file that is read and written only in multiples
	// of DirectUnit. If the file system has no direct access, it opens an
	// ordinary file; direct reports which. Sync means the same for both.
	OpenDirect(name string, create bool) (f File, direct bool, err error)
}

// LockDisk is a Disk that can lock files against other processes.
type LockDisk interface {
	Disk
	// Lock locks the named file for this process alone until the Closer is
	// closed or the process ends; it creates the file if it is absent. It does
	// not wait: if another process holds the lock, it returns ErrLocked.
	Lock(name string) (io.Closer, error)
}

// SharedLockDisk is a LockDisk that also has locks for several readers.
type SharedLockDisk interface {
	LockDisk
	// LockShared takes a shared lock on the named file. Any number of processes
	// may hold one, but not while another holds the lock of Lock; in that case
	// either call returns ErrLocked. LockShared writes nothing: for an absent
	// file it returns fs.ErrNotExist.
	LockShared(name string) (io.Closer, error)
}

// SpaceFile is a File that can allocate and release space without writing it.
type SpaceFile interface {
	File
	// Allocate allocates n bytes from off on and makes the file at least that
	// long; new bytes read as zero. If the file system cannot allocate, only
	// the length changes.
	Allocate(off, n int64) error
	// Discard releases the space of n bytes from off on. They then read as zero
	// or as before; the caller must not rely on either. The change is durable
	// after the next Sync.
	Discard(off, n int64) error
}
