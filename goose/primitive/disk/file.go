// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/goose/primitive/internal/halt"
)

// Files beside the one that holds a disk.
const (
	newSuffix  = ".new"        // a disk that is being made; it is renamed when it is complete
	lockSuffix = ".lock"       // held while the disk is open
	markSuffix = ".peerfailed" // of a pair: the other disk has failed
)

// stripes is the number of locks over which the addresses are spread.
const stripes = 64

// directory is where a disk is: an osenv.Disk.
type directory interface {
	env.LockDisk
	io.Closer
}

// file is a disk in a file.
type file struct {
	dir  directory
	name string
	lock io.Closer
	f    env.File
	size uint64
	// locks make an access to a block atomic: to the system, a write is visible
	// before it is durable, and byte by byte.
	locks [stripes]sync.RWMutex
}

// openDir locks the directory of a disk. The directory must exist: one that was
// made here would not be durable.
func openDir(path string, blocks uint64) (*file, error) {
	if blocks > math.MaxInt64/BlockSize {
		return nil, fmt.Errorf("open disk %s: %d blocks exceed the largest file", path, blocks)
	}
	dir, name := filepath.Dir(path), filepath.Base(path)
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("open disk: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("open disk %s: %s is not a directory", path, dir)
	}
	d, err := osenv.OpenDisk(dir)
	if err != nil {
		return nil, fmt.Errorf("open disk %s: %w", path, err)
	}
	lock, err := d.Lock(name + lockSuffix)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open disk %s: %w", path, err), d.Close())
	}
	return &file{dir: d, name: name, lock: lock, size: blocks}, nil
}

// open opens the existing file and makes its name and contents durable: a
// killed process leaves writes that can be read but that a loss of power would
// undo, whereas the contents of a disk at its opening must stay.
func (d *file) open() error {
	f, err := d.dir.Open(d.name, false)
	if err != nil {
		return fmt.Errorf("open disk: %w", err)
	}
	n, err := f.Size()
	if err == nil && n != int64(d.size)*BlockSize {
		err = fmt.Errorf("open disk %s: it has %d bytes, want %d blocks of %d", d.name, n, d.size, BlockSize)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = d.dir.SyncDir(".")
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	d.f = f
	return nil
}

// make makes a disk of zeros under the new name. It allocates all space, so
// that no write finds the machine's disk full.
func (d *file) make() error {
	f, err := d.dir.Open(d.name+newSuffix, true)
	if err != nil {
		return fmt.Errorf("make disk %s: %w", d.name, err)
	}
	err = f.Truncate(0)
	if err == nil {
		if space, ok := f.(env.SpaceFile); ok {
			err = space.Allocate(0, int64(d.size)*BlockSize)
		} else {
			err = f.Truncate(int64(d.size) * BlockSize)
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("make disk %s: %w", d.name, err)
	}
	return d.dir.SyncDir(".")
}

// install gives a finished disk its name.
func (d *file) install() error {
	if err := d.dir.Rename(d.name+newSuffix, d.name); err != nil {
		return fmt.Errorf("make disk %s: %w", d.name, err)
	}
	return d.dir.SyncDir(".")
}

// exists reports whether the directory has a file whose name is the disk's and suffix.
func (d *file) exists(suffix string) (bool, error) {
	f, err := d.dir.Open(d.name+suffix, false)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

func (d *file) read(a uint64) ([]byte, error) {
	mu := &d.locks[a%stripes]
	mu.RLock()
	defer mu.RUnlock()
	b := make([]byte, BlockSize)
	if _, err := d.f.ReadAt(b, int64(a)*BlockSize); err != nil {
		return nil, fmt.Errorf("disk %s: read block %d: %w", d.name, a, err)
	}
	return b, nil
}

// write writes and, if asked to, syncs before anyone can read the block. If it
// fails, no read sees the block before failed returns.
func (d *file) write(a uint64, b []byte, durable bool, failed func(error)) {
	mu := &d.locks[a%stripes]
	mu.Lock()
	defer mu.Unlock()
	_, err := d.f.WriteAt(b, int64(a)*BlockSize)
	if err == nil && durable {
		err = d.f.Sync()
	}
	if err != nil {
		failed(fmt.Errorf("disk %s: write block %d: %w", d.name, a, err))
	}
}

func (d *file) close() error {
	var err error
	if d.f != nil {
		err = d.f.Close()
	}
	return errors.Join(err, d.lock.Close(), d.dir.Close())
}

// fileBlocks is one file as Blocks.
type fileBlocks struct {
	file    *file
	durable bool // writes are durable when they return
}

var _ Blocks = fileBlocks{}

func openFile(path string, blocks uint64, durable bool) (Blocks, error) {
	d, err := openDir(path, blocks)
	if err != nil {
		return nil, err
	}
	there, err := d.exists("")
	if err == nil && !there {
		if err = d.make(); err == nil {
			err = d.install()
		}
	}
	if err == nil {
		err = d.open()
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return fileBlocks{d, durable}, nil
}

func (d fileBlocks) Read(a uint64) []byte {
	b, err := d.file.read(a)
	if err != nil {
		halt.Because("primitive", err)
	}
	return b
}

func (d fileBlocks) Write(a uint64, b []byte) {
	d.file.write(a, b, d.durable, func(err error) { halt.Because("primitive", err) })
}

func (d fileBlocks) Barrier() {
	if err := d.file.f.Sync(); err != nil {
		halt.Because("primitive", fmt.Errorf("disk %s: barrier: %w", d.file.name, err))
	}
}

func (d fileBlocks) Size() uint64 { return d.file.size }

func (d fileBlocks) Close() error { return d.file.close() }
