// SPDX-License-Identifier: Apache-2.0

package mem

import (
	"slices"

	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
)

// hardDisk is the hardware of a synchronous or of an asynchronous disk.
type hardDisk struct {
	machine *Machine
	sync    bool
	blocks  []cached[[]byte] // contents are never changed in place
}

// NewDisk adds a disk with that many zero blocks whose writes are durable when
// they return.
func (m *Machine) NewDisk(blocks uint64) *SyncDisk { return &SyncDisk{m.newDisk(blocks, true)} }

// NewAsync adds a disk with that many zero blocks with a cache that a crash
// loses.
func (m *Machine) NewAsync(blocks uint64) *AsyncDisk { return &AsyncDisk{m.newDisk(blocks, false)} }

// SyncDisk is the hardware of a disk.Disk.
type SyncDisk struct{ disk *hardDisk }

// AsyncDisk is the hardware of a disk.Async.
type AsyncDisk struct{ disk *hardDisk }

// Open is the disk in a life of its machine.
func (d *SyncDisk) Open(l *Life) *disk.Disk { return disk.New(lifeBlocks{l, d.disk}) }

// Open is the disk in a life of its machine.
func (d *AsyncDisk) Open(l *Life) *disk.Async { return disk.NewAsync(lifeBlocks{l, d.disk}) }

func (m *Machine) newDisk(blocks uint64, sync bool) *hardDisk {
	d := &hardDisk{machine: m, sync: sync, blocks: make([]cached[[]byte], blocks)}
	zero := make([]byte, disk.BlockSize)
	for a := range d.blocks {
		d.blocks[a].latest = zero
	}
	m.add(d)
	return d
}

func (d *hardDisk) crash() {
	for a := range d.blocks {
		d.blocks[a].crash(d.machine.choose)
	}
}

// lifeBlocks is a hardDisk during a life.
type lifeBlocks struct {
	life *Life
	disk *hardDisk
}

var _ disk.Blocks = lifeBlocks{}

func (b lifeBlocks) Read(a uint64) (block []byte) {
	b.life.do(func() { block = slices.Clone(b.disk.blocks[a].latest) })
	return block
}

func (b lifeBlocks) Write(a uint64, block []byte) {
	b.life.do(func() {
		c := &b.disk.blocks[a]
		c.write(slices.Clone(block))
		if b.disk.sync {
			c.flush()
		}
	})
}

func (b lifeBlocks) Barrier() {
	b.life.do(func() {
		for a := range b.disk.blocks {
			b.disk.blocks[a].flush()
		}
	})
}

// Size is no operation: the size never changes.
func (b lifeBlocks) Size() uint64 { return uint64(len(b.disk.blocks)) }

func (b lifeBlocks) Close() error { return nil }

// Two is the hardware of a disk.Two.
type Two struct {
	machine *Machine
	disks   [2][][]byte
	failed  int // -1: none
	limits  [2]int
}

// NewTwo adds two disks with that many zero blocks.
func (m *Machine) NewTwo(blocks uint64) *Two {
	t := &Two{machine: m, failed: -1}
	zero := make([]byte, disk.BlockSize)
	for i := range t.disks {
		t.disks[i] = make([][]byte, blocks)
		for a := range t.disks[i] {
			t.disks[i][a] = zero
		}
	}
	m.add(t)
	return t
}

// FailAt makes a disk fail at the access-th access to it from now; 1 is the
// next. It does not fail if the other has failed before.
func (t *Two) FailAt(which, access int) {
	t.machine.mu.Lock()
	defer t.machine.mu.Unlock()
	t.limits[which] = access
}

// Failed returns the failed disk, or -1 if there is none.
func (t *Two) Failed() int {
	t.machine.mu.Lock()
	defer t.machine.mu.Unlock()
	return t.failed
}

// Open is the pair of disks in a life of their machine.
func (t *Two) Open(l *Life) *disk.Two { return disk.NewTwo(lifeTwo{l, t}) }

func (t *Two) crash() {}

// access counts an access to a disk and says whether the disk lives.
func (t *Two) access(which uint64) bool {
	if t.limits[which] > 0 {
		t.limits[which]--
		if t.limits[which] == 0 && t.failed < 0 {
			t.failed = int(which)
		}
	}
	return t.failed != int(which)
}

type lifeTwo struct {
	life *Life
	two  *Two
}

var _ disk.TwoBlocks = lifeTwo{}

func (b lifeTwo) Read(which, a uint64) (block []byte, ok bool) {
	b.life.do(func() {
		if ok = b.two.access(which); ok {
			block = slices.Clone(b.two.disks[which][a])
		} else {
			block = make([]byte, disk.BlockSize)
		}
	})
	return block, ok
}

func (b lifeTwo) Write(which, a uint64, block []byte) {
	b.life.do(func() {
		if b.two.access(which) {
			b.two.disks[which][a] = slices.Clone(block)
		}
	})
}

func (b lifeTwo) Size() uint64 { return uint64(len(b.two.disks[0])) }

func (b lifeTwo) Close() error { return nil }
