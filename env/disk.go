// SPDX-License-Identifier: Apache-2.0

package env

// Disk is one directory tree. Names use "/" and stay inside the tree. Calls
// block until they are done; a simulator completes them at once and accounts
// for their time itself. A Disk is safe for concurrent use; a File has one
// owner.
//
// Durability. After a crash a file holds the bytes of its last successful Sync;
// of later writes any part may be present, in any order, in units of a 512-byte
// sector. A change of a name (create, rename, remove) is durable after SyncDir
// of its directory. A failed Sync leaves the unsynced part of the file
// permanently unknown: the owner must not retry the Sync and go on writing.
type Disk interface {
	// Open opens a file for reading and writing; with create, it makes an empty
	// file if there is none. Without create, an absent file is an error that
	// satisfies errors.Is(err, fs.ErrNotExist).
	Open(name string, create bool) (File, error)
	// Rename replaces new by old atomically: after a crash, new is one of the
	// two files.
	Rename(old, new string) error
	Remove(name string) error
	// MakeDir makes a directory and its parents; an existing one is no error.
	MakeDir(name string) error
	// List returns the names in a directory, sorted.
	List(dir string) ([]string, error)
	SyncDir(dir string) error
}

// File is an open file.
type File interface {
	// ReadAt and WriteAt are those of io.ReaderAt and io.WriterAt.
	ReadAt(b []byte, off int64) (int, error)
	WriteAt(b []byte, off int64) (int, error)
	// Append writes b at the end, without interleaving with other appenders.
	Append(b []byte) error
	Size() (int64, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}
