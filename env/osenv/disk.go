// SPDX-License-Identifier: Apache-2.0

package osenv

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"syscall"

	"github.com/ashlar-dev/ashlar/env"
)

// Disk is a directory of the machine.
type Disk struct{ root *os.Root }

var (
	_ env.DirectDisk     = (*Disk)(nil)
	_ env.SharedLockDisk = (*Disk)(nil)
	_ env.SpaceFile      = file{}
	_ env.SpaceFile      = directFile{}
)

// OpenDisk opens the directory, and creates it if it does not exist. File names cannot
// refer to anything outside of it, not even through symbolic links.
func OpenDisk(dir string) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, space(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Disk{root}, nil
}

// Close closes the directory. Open files remain open.
func (d *Disk) Close() error { return d.root.Close() }

// space makes the errors of a full disk and of an exceeded quota satisfy
// errors.Is(err, env.ErrNoSpace).
func space(err error) error {
	for _, full := range fullErrors() {
		if errors.Is(err, full) {
			return fmt.Errorf("%w: %w", env.ErrNoSpace, err)
		}
	}
	return err
}

func openFlags(create bool) int {
	if create {
		return os.O_RDWR | os.O_CREATE
	}
	return os.O_RDWR
}

// open opens a file. If an existing file cannot be written, because the file
// system is read-only or the process lacks permission, open opens it for reading
// only, and writes will fail.
func (d *Disk) open(name string, flags int) (*os.File, error) {
	f, err := d.root.OpenFile(filepath.FromSlash(name), flags, 0o666)
	if err != nil && flags&os.O_CREATE == 0 && (errors.Is(err, fs.ErrPermission) || isReadOnly(err)) {
		if f, err := d.root.OpenFile(filepath.FromSlash(name), flags&^os.O_RDWR, 0); err == nil {
			return f, nil
		}
	}
	return f, space(err)
}

// Open implements env.Disk.
func (d *Disk) Open(name string, create bool) (env.File, error) {
	f, err := d.open(name, openFlags(create))
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

// OpenDirect implements env.DirectDisk.
func (d *Disk) OpenDirect(name string, create bool) (env.File, bool, error) {
	if directFlag != 0 {
		switch f, err := d.open(name, openFlags(create)|directFlag); {
		case err == nil && directFits(f):
			return directFile{file{f}}, true, nil
		case err == nil:
			f.Close()
		case !errors.Is(err, syscall.EINVAL): // EINVAL: the file system has no direct access
			return nil, false, err
		}
	}
	f, err := d.Open(name, create)
	return f, false, err
}

// Lock implements env.LockDisk.
func (d *Disk) Lock(name string) (io.Closer, error) { return d.lock(name, openFlags(true), false) }

// LockShared implements env.SharedLockDisk.
func (d *Disk) LockShared(name string) (io.Closer, error) { return d.lock(name, os.O_RDONLY, true) }

func (d *Disk) lock(name string, flags int, shared bool) (io.Closer, error) {
	f, err := d.open(name, flags)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f, shared); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return f, nil
}

// Rename implements env.Disk.
func (d *Disk) Rename(old, new string) error {
	return space(d.root.Rename(filepath.FromSlash(old), filepath.FromSlash(new)))
}

// Remove implements env.Disk.
func (d *Disk) Remove(name string) error { return d.root.Remove(filepath.FromSlash(name)) }

// MakeDir implements env.Disk.
func (d *Disk) MakeDir(name string) error {
	return space(d.root.MkdirAll(filepath.FromSlash(name), 0o777))
}

// List implements env.Disk.
func (d *Disk) List(dir string) ([]string, error) {
	entries, err := fs.ReadDir(d.root.FS(), filepath.ToSlash(filepath.Clean(dir)))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	sort.Strings(names)
	return names, nil
}

// SyncDir implements env.Disk.
func (d *Disk) SyncDir(dir string) error {
	f, err := d.root.Open(filepath.FromSlash(dir))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, space(err))
	}
	return nil
}

type file struct{ f *os.File }

func (f file) ReadAt(b []byte, off int64) (int, error) { return f.f.ReadAt(b, off) }

func (f file) WriteAt(b []byte, off int64) (int, error) {
	n, err := f.f.WriteAt(b, off)
	return n, space(err)
}

func (f file) Truncate(size int64) error { return space(f.f.Truncate(size)) }

// Sync may be the first to find the disk full, where allocation is delayed.
func (f file) Sync() error { return space(syncFile(f.f)) }

func (f file) Close() error { return f.f.Close() }

func (f file) Append(b []byte) error {
	if _, err := f.f.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	_, err := f.f.Write(b)
	return space(err)
}

func (f file) Size() (int64, error) {
	info, err := f.f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Allocate implements env.SpaceFile.
func (f file) Allocate(off, n int64) error {
	if off < 0 || n < 0 {
		return &fs.PathError{Op: "allocate", Path: f.f.Name(), Err: syscall.EINVAL}
	}
	if n == 0 {
		return nil
	}
	if err := allocate(f.f, off, n); !errors.Is(err, errors.ErrUnsupported) {
		return space(err)
	}
	size, err := f.Size()
	if err != nil || size >= off+n {
		return err
	}
	return f.Truncate(off + n)
}

// Discard implements env.SpaceFile. If the file system cannot free the space, the
// bytes remain.
func (f file) Discard(off, n int64) error {
	if off < 0 || n < 0 {
		return &fs.PathError{Op: "discard", Path: f.f.Name(), Err: syscall.EINVAL}
	}
	if n == 0 {
		return nil
	}
	if err := discard(f.f, off, n); !errors.Is(err, errors.ErrUnsupported) {
		return space(err)
	}
	return nil
}

// directFile is a file whose reads and writes bypass the page cache.
type directFile struct{ file }

// ReadAt implements File. If the file's length is not a multiple of the unit,
// the system returns a short read at the end, and then rejects a read from that
// position because it is not aligned. ReadAt treats that as the end of the
// file.
func (f directFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.f.ReadAt(b, off)
	if n%env.DirectUnit != 0 && errors.Is(err, syscall.EINVAL) {
		err = io.EOF
	}
	return n, err
}
