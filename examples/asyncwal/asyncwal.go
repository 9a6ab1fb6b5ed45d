// SPDX-License-Identifier: Apache-2.0

// Package asyncwal keeps a pair of blocks on a disk whose writes are not durable
// before a barrier, and may then be lost in any combination: a crash leaves the
// old pair or the new one, and the new one if its Commit has returned.
//
// Block 0 of the disk is the header: it says whether the log, blocks 1 and 2,
// counts. The pair is in blocks 3 and 4, unless the log counts: then it is the
// log. A disk of zeros holds a pair of zero blocks. The disk has at least Blocks
// blocks.
//
// A commit takes effect when the header is durable that says that its log
// counts. It returns when the header says no more, but that need not be durable:
// after a crash the pair is then copied from the log once more. It must be so
// before the next commit writes to the log, and that commit sees to it.
//
// The package is proved: proofs/top/asyncwal.v has the theorem, and
// specs/asyncwal a model of the algorithm, which shows what each barrier is for.
package asyncwal

import (
	"sync"

	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
)

// Blocks is the size of the disk that a pair needs.
const Blocks uint64 = 5

// Log is the pair of blocks on a disk. It is safe for concurrent use; one
// process at a time may use the disk.
type Log struct {
	disk *disk.Async
	mu   sync.Mutex
}

// counts says whether this header says that the log counts.
func counts(header []byte) bool {
	return header[0] == 1
}

// newHeader makes the header that says that the log counts.
func newHeader() []byte {
	header := make([]byte, disk.BlockSize)
	header[0] = 1
	return header
}

// apply writes a and b, which are in the log, to where the pair belongs, and
// says that the log does not count any more.
func apply(d *disk.Async, a, b []byte) {
	d.Write(3, a)
	d.Write(4, b)
	d.Barrier()
	d.Write(0, make([]byte, disk.BlockSize))
}

// recoverLog finishes the commit that a crash may have interrupted.
func recoverLog(d *disk.Async) {
	header := d.Read(0)
	if counts(header) {
		a := d.Read(1)
		b := d.Read(2)
		apply(d, a, b)
	}
}

// Open gives the pair on the disk, after a crash as well.
func Open(d *disk.Async) *Log {
	recoverLog(d)
	return &Log{disk: d}
}

// Read returns copies of both blocks.
func (l *Log) Read() ([]byte, []byte) {
	l.mu.Lock()
	a := l.disk.Read(3)
	b := l.disk.Read(4)
	l.mu.Unlock()
	return a, b
}

// Commit makes a and b the pair. It is durable when Commit returns. Both are of
// disk.BlockSize bytes, and must not change before that.
func (l *Log) Commit(a, b []byte) {
	l.mu.Lock()
	l.disk.Barrier() // the header says durably that the log does not count
	l.disk.Write(1, a)
	l.disk.Write(2, b)
	l.disk.Barrier()
	l.disk.Write(0, newHeader())
	l.disk.Barrier()
	apply(l.disk, a, b)
	l.mu.Unlock()
}
