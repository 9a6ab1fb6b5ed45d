// SPDX-License-Identifier: Apache-2.0

// Package disk has the disks that proved programs use. Blocks have 4 KiB. There
// are three kinds.
//
//   - Disk: a write is durable when it returns.
//   - Two: a pair of such disks, of which at most one fails, permanently.
//   - Async: a write is durable after the next Barrier; a crash before that
//     leaves, independently at each address, any content since the last
//     Barrier.
//
// Their models are in proofs/trusted/disk.v, and theorems about programs hold
// for real runs as far as this package behaves like the models. Calls are
// atomic and safe for concurrent use.
//
// An address outside the disk and a block of another length cause a panic: the
// models have no step there, so a proved program does not do it. Errors of the
// operating system end the process: for the models, that is a crash.
//
// The package requires of the machine that a successful sync makes earlier
// writes durable, and that a loss of power leaves an aligned block of 4 KiB
// either written completely or unchanged.
package disk

import "fmt"

// BlockSize is the length of a block in bytes.
const BlockSize = 4096

// Blocks is the storage of a disk. Read returns a slice that the caller owns;
// Write does not retain its argument. All calls are atomic and safe for
// concurrent use. The disks ensure that addresses are below Size and that blocks
// have BlockSize bytes.
type Blocks interface {
	Read(a uint64) []byte
	Write(a uint64, b []byte)
	// Barrier makes all writes durable that returned before it was called. If
	// writes are durable when they return, it does nothing.
	Barrier()
	Size() uint64
	// Close releases what Open acquired. No other call may follow.
	Close() error
}

// check panics if there is no block a on a disk of that size.
func check(a, size uint64) {
	if a >= size {
		panic(fmt.Sprintf("disk: address %d on a disk of %d blocks", a, size))
	}
}

func checkWrite(a, size uint64, b []byte) {
	check(a, size)
	if len(b) != BlockSize {
		panic(fmt.Sprintf("disk: write of %d bytes to block %d, want %d", len(b), a, BlockSize))
	}
}

// Disk is a disk whose writes are durable when they return.
type Disk struct{ blocks Blocks }

// Open opens the file at path as a disk with that many blocks. If the file is
// absent, Open creates it, filled with zeros. Its directory must exist durably.
// Open refuses a file of another length and a file that is already open as a
// disk.
func Open(path string, blocks uint64) (*Disk, error) {
	f, err := openFile(path, blocks, true)
	if err != nil {
		return nil, err
	}
	return New(f), nil
}

// New returns the disk with these blocks, whose writes must be durable when
// they return.
func New(b Blocks) *Disk { return &Disk{b} }

// Read returns block a, in a slice of the caller's own.
func (d *Disk) Read(a uint64) []byte {
	check(a, d.blocks.Size())
	return d.blocks.Read(a)
}

// Write makes b block a. The caller must not change b before it returns.
func (d *Disk) Write(a uint64, b []byte) {
	checkWrite(a, d.blocks.Size(), b)
	d.blocks.Write(a, b)
}

// Size is the number of blocks.
func (d *Disk) Size() uint64 { return d.blocks.Size() }

// Close closes the file. No other call may be running, or come after it.
func (d *Disk) Close() error { return d.blocks.Close() }

// Async is a disk with a cache that a crash may lose.
type Async struct{ blocks Blocks }

// OpenAsync is Open for an asynchronous disk.
func OpenAsync(path string, blocks uint64) (*Async, error) {
	f, err := openFile(path, blocks, false)
	if err != nil {
		return nil, err
	}
	return NewAsync(f), nil
}

// NewAsync is the disk of these blocks.
func NewAsync(b Blocks) *Async { return &Async{b} }

// Read returns what was last written to block a, in a slice of the caller's own.
func (d *Async) Read(a uint64) []byte {
	check(a, d.blocks.Size())
	return d.blocks.Read(a)
}

// Write replaces the content of block a by b. The caller must not change b
// before Write returns.
func (d *Async) Write(a uint64, b []byte) {
	checkWrite(a, d.blocks.Size(), b)
	d.blocks.Write(a, b)
}

// Barrier makes all writes durable that returned before it was called.
func (d *Async) Barrier() { d.blocks.Barrier() }

// Size is the number of blocks.
func (d *Async) Size() uint64 { return d.blocks.Size() }

// Close closes the file, without a barrier. No other call may be running, or
// come after it.
func (d *Async) Close() error { return d.blocks.Close() }
