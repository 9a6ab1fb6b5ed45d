// SPDX-License-Identifier: Apache-2.0

// Package filesys is the file system that proved programs use: a fixed set of
// directories, names in them, files that grow at their end, and descriptors
// that die with the process.
//
// The content of a file is durable after Sync, the names of a directory after
// SyncDir. After a crash before that, each name refers to any of the files that
// it referred to since the last SyncDir, and each file has its synced bytes,
// followed by arbitrary bytes, at most up to its former length.
//
// Its model is in proofs/trusted/filesys.v, and theorems about programs hold for
// real runs as far as this package behaves like the model. Calls, including
// List, are atomic and safe for concurrent use.
//
// A call for which the model has no step panics, because a proved program does not
// make it: it names a directory that does not exist, uses a descriptor that is not
// open or is open for something else, or links or unlinks a name that does not
// exist. A call with a name that the operating system rejects also panics: an
// empty name, ".", "..", or a name with a slash or a zero byte. Errors of the
// operating system end the process: for the model, that is a crash. If the system
// has no room on the disk or no free descriptor, the call waits until it has: for
// the model, the call is slow. A sync that fails for lack of room nevertheless
// ends the process, because it is unknown what the sync has written.
package filesys

import "os"

// File is an open file. The number is opaque.
type File uint64

// Backend is the implementation of an FS. Its methods are those of FS.
type Backend interface {
	Create(dir, name string) (File, bool)
	Open(dir, name string) (File, bool)
	Append(f File, data []byte)
	ReadAt(f File, off, n uint64) []byte
	Size(f File) uint64
	Close(f File)
	Link(dir, name, dir2, name2 string) bool
	Unlink(dir, name string)
	List(dir string) []string
	Sync(f File)
	SyncDir(dir string)
	// Shut releases what Open acquired. No other call may follow.
	Shut() error
}

// FS is a file system.
type FS struct{ backend Backend }

// Open opens the directory root as a file system with these directories, which
// are names in root. It creates those that are absent. Root must exist durably,
// and may be open only once at a time.
func Open(root string, dirs []string) (*FS, error) {
	t, err := openTree(root, dirs, (*os.File).Sync)
	if err != nil {
		return nil, err
	}
	return New(t), nil
}

// New is the file system of a backend.
func New(b Backend) *FS { return &FS{b} }

// Create makes an empty file of that name and opens it for Append. If the name
// is taken, it does nothing and returns false.
func (f *FS) Create(dir, name string) (File, bool) { return f.backend.Create(dir, name) }

// Open opens the file of that name for ReadAt. If there is none, it returns
// false.
func (f *FS) Open(dir, name string) (File, bool) { return f.backend.Open(dir, name) }

// Append writes at the end of a file that Create opened. The caller must not
// change data before it returns.
func (f *FS) Append(fd File, data []byte) { f.backend.Append(fd, data) }

// ReadAt returns the bytes from off on of a file that Open opened, at most n,
// less at the end of the file, in a slice of the caller's own.
func (f *FS) ReadAt(fd File, off, n uint64) []byte { return f.backend.ReadAt(fd, off, n) }

// Size is the length of the file in bytes.
func (f *FS) Size(fd File) uint64 { return f.backend.Size(fd) }

// Close ends the descriptor.
func (f *FS) Close(fd File) { f.backend.Close(fd) }

// Link gives the file of an existing name a second name. If that is taken, it
// does nothing and returns false.
func (f *FS) Link(dir, name, dir2, name2 string) bool {
	return f.backend.Link(dir, name, dir2, name2)
}

// Unlink removes a name, which must exist, from its file.
func (f *FS) Unlink(dir, name string) { f.backend.Unlink(dir, name) }

// List returns the names in a directory, each once, in no particular order.
func (f *FS) List(dir string) []string { return f.backend.List(dir) }

// Sync makes the file's content durable.
func (f *FS) Sync(fd File) { f.backend.Sync(fd) }

// SyncDir makes the names in a directory durable: which names exist and which
// files they refer to.
func (f *FS) SyncDir(dir string) { f.backend.SyncDir(dir) }

// Shut closes everything. No other call may be running, or come after it.
func (f *FS) Shut() error { return f.backend.Shut() }
