// SPDX-License-Identifier: Apache-2.0

// Package groupcommit buffers transactions in memory and writes all of them as
// one transaction of package wal. A Commit costs no access to the disk; what it
// changes is seen at once by all, and is durable when a Flush after it has
// returned. A crash loses what was committed since the last Flush, all of it or
// nothing.
//
// proofs/top/groupcommit.v says so about this package, translated as it is.
package groupcommit

import (
	"sync"

	"github.com/ashlar-dev/ashlar/examples/wal"
	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
)

// Log is a disk whose blocks from wal.DataStart on change in groups. It may be
// used by many goroutines.
type Log struct {
	mu     sync.Mutex
	w      *wal.Log
	addrs  []uint64 // what was committed since the last Flush, oldest first
	blocks [][]byte
}

// Open gives the log on a disk, of which nobody else may use any block; see
// wal.Open.
func Open(d *disk.Disk) *Log {
	return &Log{w: wal.Open(d)}
}

// Commit makes a transaction: blocks[i] is at addrs[i] for all i, with the
// meaning and the limits of wal's Commit. It keeps the blocks. When there is no
// room for it among what waits for a Flush, which is wal.MaxUpdates changes, it
// does nothing and says so with false.
func (l *Log) Commit(addrs []uint64, blocks [][]byte) bool {
	l.mu.Lock()
	fits := uint64(len(l.addrs))+uint64(len(addrs)) <= wal.MaxUpdates
	if fits {
		l.addrs = append(l.addrs, addrs...)
		l.blocks = append(l.blocks, blocks...)
	}
	l.mu.Unlock()
	return fits
}

// Read gives the block at an address: a new slice.
func (l *Log) Read(a uint64) []byte {
	l.mu.Lock()
	i := l.latest(a)
	var b []byte
	if i == 0 {
		b = l.w.Read(a)
	} else {
		b = clone(l.blocks[i-1])
	}
	l.mu.Unlock()
	return b
}

// Flush returns when all that was committed before it is durable.
func (l *Log) Flush() {
	l.mu.Lock()
	l.w.Commit(l.addrs, l.blocks)
	l.addrs = nil
	l.blocks = nil
	l.mu.Unlock()
}

// latest gives how many changes wait up to the last of this address: 0 when
// there is none.
func (l *Log) latest(a uint64) uint64 {
	n := uint64(len(l.addrs))
	found := uint64(0)
	for i := uint64(0); i < n; i++ {
		if l.addrs[i] == a {
			found = i + 1
		}
	}
	return found
}

// clone gives a copy of a block.
func clone(b []byte) []byte {
	c := make([]byte, disk.BlockSize)
	copy(c, b)
	return c
}
