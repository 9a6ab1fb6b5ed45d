// SPDX-License-Identifier: Apache-2.0

// Package wal is a write-ahead log: transactions that change several blocks of
// a disk at once, whatever happens in between.
//
// Block 0 is the header: the number of entries in the log and, for each, the
// address it is for. Blocks 1 to MaxUpdates are the entries. The rest is data,
// and keeps its addresses. A transaction is written to the log first and the
// header second; that one write commits it. Then the entries go to their places
// and the header is cleared. Open does the same for a transaction that a crash
// interrupted after its commit.
//
// All calls are atomic and durable when they return: proofs/top/wal.v says so
// about this package, translated as it is.
package wal

import (
	"sync"

	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
	"github.com/ashlar-dev/ashlar/goose/primitive/machine"
)

// MaxUpdates is how many blocks a transaction may change: with their number
// their addresses fill one block.
const MaxUpdates = 511

// DataStart is the first address that is not the log's.
const DataStart = 512

// Log is a disk whose blocks from DataStart on change by transactions. It may
// be used by many goroutines.
type Log struct {
	mu sync.Mutex
	d  *disk.Disk
}

// Open gives the log on a disk, of which nobody else may use any block. The
// disk must have at least DataStart blocks; a disk of zeros is an empty log.
func Open(d *disk.Disk) *Log {
	install(d)
	return &Log{d: d}
}

// Read gives the block at an address that is at least DataStart and less than
// the size of the disk.
func (l *Log) Read(a uint64) []byte {
	l.mu.Lock()
	b := l.d.Read(a)
	l.mu.Unlock()
	return b
}

// Commit writes blocks[i] to addrs[i] for all i, in this order where an address
// comes twice. There are at most MaxUpdates of them, each a block of the disk's
// size for an address that Read would take.
func (l *Log) Commit(addrs []uint64, blocks [][]byte) {
	l.mu.Lock()
	writeEntries(l.d, blocks)
	l.d.Write(0, encodeHeader(addrs))
	install(l.d)
	l.mu.Unlock()
}

// writeEntries fills the log from its start.
func writeEntries(d *disk.Disk, blocks [][]byte) {
	n := uint64(len(blocks))
	for i := uint64(0); i < n; i++ {
		d.Write(1+i, blocks[i])
	}
}

// encodeHeader gives the header that says that the log holds entries for these
// addresses.
func encodeHeader(addrs []uint64) []byte {
	h := make([]byte, disk.BlockSize)
	n := uint64(len(addrs))
	machine.UInt64Put(h, n)
	for i := uint64(0); i < n; i++ {
		machine.UInt64Put(h[8+8*i:], addrs[i])
	}
	return h
}

// install copies the entries that the header announces to their places, in
// order, and empties the log. Doing so again, from any point, changes nothing.
func install(d *disk.Disk) {
	h := d.Read(0)
	n := machine.UInt64Get(h)
	for i := uint64(0); i < n; i++ {
		a := machine.UInt64Get(h[8+8*i:])
		b := d.Read(1 + i)
		d.Write(a, b)
	}
	d.Write(0, make([]byte, disk.BlockSize))
}
