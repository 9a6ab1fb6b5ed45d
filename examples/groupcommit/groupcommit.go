// Package groupcommit buffers changes of blocks in memory and writes all of them
// in one transaction of package wal. A Put costs no access to the disk; what was
// put is seen at once by all, and is durable when a Flush after it has returned.
// A crash loses the changes since the last Flush, all or none of them.
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
	addrs  []uint64 // what was put since the last Flush, oldest first
	blocks [][]byte
}

// Open gives the log on a disk, of which nobody else may use any block; see
// wal.Open.
func Open(d *disk.Disk) *Log {
	return &Log{w: wal.Open(d)}
}

// Put changes the block at an address, and keeps the slice. It does nothing and
// says so with false when wal.MaxUpdates changes wait for a Flush.
func (l *Log) Put(a uint64, b []byte) bool {
	l.mu.Lock()
	fits := uint64(len(l.addrs)) < wal.MaxUpdates
	if fits {
		l.addrs = append(l.addrs, a)
		l.blocks = append(l.blocks, b)
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

// Flush returns when all that was put before it is durable.
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
