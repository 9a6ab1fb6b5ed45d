package env

import (
	"errors"
	"io"
)

// ErrLocked says that somebody else holds a lock.
var ErrLocked = errors.New("locked by another process")

// ErrNoSpace is within the error of a write or Allocate that found the disk
// full. What was there before is unharmed.
var ErrNoSpace = errors.New("no space left on the disk")

// DirectUnit is the unit of direct files, in bytes: addresses of buffers,
// offsets and lengths are multiples of it.
const DirectUnit = 4096

// DirectDisk is a Disk that can go around the machine's page cache.
type DirectDisk interface {
	Disk
	// OpenDirect is Open for a file that is read and written in multiples of
	// DirectUnit only. Where the file system has no direct access, the file
	// is an ordinary one; direct says which. Sync means the same for both.
	OpenDirect(name string, create bool) (f File, direct bool, err error)
}

// LockDisk is a Disk that can keep others out.
type LockDisk interface {
	Disk
	// Lock takes the file of that name, which is made where it is absent, for
	// this process alone, until the Closer is closed or the process ends. It
	// does not wait: held by somebody else, it is ErrLocked.
	Lock(name string) (io.Closer, error)
}

// SharedLockDisk is a LockDisk that lets several readers in.
type SharedLockDisk interface {
	LockDisk
	// LockShared takes the file of that name together with all others that
	// take it so, and keeps out those that call Lock, as it is kept out by
	// them: then the error is ErrLocked. It writes nothing: a file that is
	// absent is fs.ErrNotExist.
	LockShared(name string) (io.Closer, error)
}

// SpaceFile is a File that can take and give back space without writing it.
type SpaceFile interface {
	File
	// Allocate takes space for n bytes from off on and makes the file at least
	// so long; new bytes read as zero. Where the file system cannot, the file
	// is made longer only.
	Allocate(off, n int64) error
	// Discard gives back the space of n bytes from off on, which read as zero
	// afterwards, or as before: nobody may rely on either. It is durable when
	// Sync says so.
	Discard(off, n int64) error
}
