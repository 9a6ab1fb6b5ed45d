// SPDX-License-Identifier: Apache-2.0

// Package replicateddisk makes one disk of two, and goes on when one of them
// fails.
//
// A write goes to disk 0 and then to disk 1; a read takes disk 0, and disk 1
// once disk 0 has failed. Each address has a lock. After a crash the disks may
// differ at the addresses that were being written: Open copies disk 0 to disk
// 1, or leaves disk 1 as it is where disk 0 has failed. So a write that a crash
// interrupts has happened or has not, and one that has returned has happened,
// whatever fails later.
//
// The package is proved: proofs/top/replicateddisk.v has the theorem, and
// specs/replicateddisk a model of the algorithm.
package replicateddisk

import (
	"sync"

	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
)

// Disk is a disk made of two. It is safe for concurrent use; one process at a
// time may use the two disks.
type Disk struct {
	two   *disk.Two
	locks []*sync.Mutex // one for each address
}

// recoverBlock makes disk 1 hold what disk 0 has at address a, unless disk 0 has
// failed.
func recoverBlock(two *disk.Two, a uint64) {
	b, ok := two.Read(0, a)
	if ok {
		two.Write(1, a, b)
	}
}

// recoverAll does recoverBlock for the first n addresses.
func recoverAll(two *disk.Two, n uint64) {
	for a := uint64(0); a < n; a++ {
		recoverBlock(two, a)
	}
}

// newLocks makes n locks.
func newLocks(n uint64) []*sync.Mutex {
	var locks []*sync.Mutex
	for a := uint64(0); a < n; a++ {
		locks = append(locks, new(sync.Mutex))
	}
	return locks
}

// Open makes the two disks agree, as they may not after a crash, and gives the
// disk that they are.
func Open(two *disk.Two) *Disk {
	n := two.Size()
	recoverAll(two, n)
	return &Disk{two: two, locks: newLocks(n)}
}

// Size is the number of blocks.
func (d *Disk) Size() uint64 { return d.two.Size() }

// readEither reads address a of disk 0, or of disk 1 if disk 0 has failed.
func readEither(two *disk.Two, a uint64) []byte {
	b, ok := two.Read(0, a)
	if ok {
		return b
	}
	c, _ := two.Read(1, a)
	return c
}

// Read returns block a, in a slice of the caller's own. Addresses are below
// Size.
func (d *Disk) Read(a uint64) []byte {
	mu := d.locks[a]
	mu.Lock()
	b := readEither(d.two, a)
	mu.Unlock()
	return b
}

// Write makes b block a. It is durable when Write returns. The block is of
// disk.BlockSize bytes, and must not change before that.
func (d *Disk) Write(a uint64, b []byte) {
	mu := d.locks[a]
	mu.Lock()
	d.two.Write(0, a, b)
	d.two.Write(1, a, b)
	mu.Unlock()
}
