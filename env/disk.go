package env

// Disk is one directory tree. Names use "/" and stay inside the tree. Calls
// block until they are done; a simulator completes them at once and accounts
// for their time itself. It is safe for concurrent use, a File by one owner.
//
// Durability. After a crash a file has the bytes of its last successful Sync;
// of what was written later any part may be there, in any order, in units of
// a sector of 512 bytes. A name (created, renamed, removed) is durable after
// SyncDir of its directory. A Sync that failed leaves the file's unsynced part
// unknown for good: the owner must not go on writing as if it could be
// repeated.
type Disk interface {
	// Open opens a file for reading and writing; with create, an absent file
	// is made empty. Absence is an error that satisfies errors.Is(err,
	// fs.ErrNotExist).
	Open(name string, create bool) (File, error)
	// Rename replaces new by old atomically: after a crash new is one of both.
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
	// ReadAt and WriteAt are io.ReaderAt's and io.WriterAt's.
	ReadAt(b []byte, off int64) (int, error)
	WriteAt(b []byte, off int64) (int, error)
	// Append writes at the end, in one piece as far as other appenders see.
	Append(b []byte) error
	Size() (int64, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}
