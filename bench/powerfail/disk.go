// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"slices"
	"sync"
	"syscall"
)

// The model of a disk whose power can fail. It is a tree of files in memory
// that keeps two things apart: what is read, and what is durable. Between
// them lie the operations since the last sync, in their order; resolve.go says
// what may become of them.
//
// Bytes, and the size that they need, are durable when their file was synced.
// A name that was made, changed or removed is durable when its directory was
// synced: that is all that POSIX has. On a disk that is journalled, as ext4 and
// XFS are, every sync of anything makes all names durable that were changed
// before, names change in their order, and a file does not become longer before
// the bytes are there.

// node is a file or a directory.
type node struct {
	id  uint64
	dir bool
	// of a directory: what is read, and what is durable
	names, safeNames map[string]*node
	// of a file
	live, safe content
	pending    []dataOp
}

// dataOp changed the bytes of a file.
type dataOp struct {
	n    uint64
	kind dataKind
	off  int64
	end  int64  // of what it touches
	data []byte // of a write
	size int64  // of the file after it
}

type dataKind uint8

const (
	opWrite dataKind = iota
	opZero           // bytes become zero, the size stays
	opGrow           // the size only
	opShrink
)

// nameOp changed names: name leads to a node, or to nothing; a rename takes
// the old name away at the same moment.
type nameOp struct {
	n    uint64
	dir  *node
	name string
	to   *node
	from *node // of a rename
	old  string
}

// stage states how far a power failure has come.
type stage uint8

const (
	running stage = iota
	// failed: every operation is an error.
	failed
	// draining: who used the disk is gone; the machine may still have written
	// pages that were changed in mapped memory.
	draining
)

// disk is safe for concurrent use.
type disk struct {
	mu         sync.Mutex
	root       *node
	nodes      map[uint64]*node
	lastID     uint64
	names      []nameOp // that are not durable
	journalled bool
	stage      stage
	n          uint64 // operations that changed or synced something
	failAt     uint64 // fail at this operation; 0: never
	onFail     func() // called once, before anybody is told
	syncs      int
}

func newDisk(journalled bool) *disk {
	d := &disk{nodes: map[uint64]*node{}, journalled: journalled}
	d.root = d.node(true)
	return d
}

func (d *disk) node(dir bool) *node {
	d.lastID++
	i := &node{id: d.lastID, dir: dir}
	if dir {
		i.names, i.safeNames = map[string]*node{}, map[string]*node{}
	} else {
		i.live, i.safe = newContent(), newContent()
	}
	d.nodes[i.id] = i
	return i
}

// fail is the power failure.
func (d *disk) fail() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failLocked()
}

func (d *disk) failLocked() {
	if d.stage == running {
		d.stage = failed
		if d.onFail != nil {
			d.onFail()
		}
	}
}

// drain begins the stage of that name.
func (d *disk) drain() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stage = draining
}

// step counts an operation. The power may fail at it: then the change may or
// may not have been made, without notice.
func (d *disk) step() syscall.Errno {
	if d.stage != running {
		return syscall.EIO
	}
	d.n++
	if d.n == d.failAt {
		d.failLocked()
		return syscall.EIO
	}
	return 0
}

// change is what every operation that changes something ends with.
func (d *disk) change(i *node, op dataOp) syscall.Errno {
	if d.stage == draining && op.kind != opWrite {
		return syscall.EIO
	}
	if d.stage == failed {
		return syscall.EIO
	}
	op.n = d.n + 1
	switch op.kind {
	case opWrite:
		i.live.writeAt(op.data, op.off)
	case opZero:
		i.live.zero(op.off, op.end)
	case opGrow, opShrink:
		i.live.truncate(op.size)
	}
	op.size = i.live.size
	i.pending = append(i.pending, op)
	if d.stage == draining {
		d.n++
		return 0
	}
	return d.step()
}

// write keeps the bytes.
func (d *disk) write(i *node, b []byte, off int64) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.change(i, dataOp{kind: opWrite, off: off, end: off + int64(len(b)), data: slices.Clone(b)})
}

func (d *disk) read(i *node, b []byte, off int64) (int, syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stage == failed {
		return 0, syscall.EIO
	}
	return i.live.readAt(b, off), 0
}

func (d *disk) truncate(i *node, size int64) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	if size < i.live.size {
		return d.change(i, dataOp{kind: opShrink, off: size, end: i.live.size, size: size})
	}
	return d.change(i, dataOp{kind: opGrow, size: size})
}

// allocate takes space, which this disk always has; with grow the file becomes
// at least so long.
func (d *disk) allocate(i *node, end int64, grow bool) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !grow || end <= i.live.size {
		return d.step()
	}
	return d.change(i, dataOp{kind: opGrow, size: end})
}

// zero makes bytes zero: a hole. With grow the file becomes at least so long.
func (d *disk) zero(i *node, off, end int64, grow bool) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	if grow && end > i.live.size {
		if e := d.change(i, dataOp{kind: opGrow, size: end}); e != 0 {
			return e
		}
	}
	return d.change(i, dataOp{kind: opZero, off: off, end: min(end, i.live.size)})
}

// sync makes the bytes of a file durable, or the names of a directory.
func (d *disk) sync(i *node) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.step(); e != 0 {
		return e
	}
	d.syncs++
	if !i.dir {
		i.safe, i.pending = i.live.clone(), nil
	}
	if d.journalled {
		d.keepNames(func(nameOp) bool { return true })
	} else if i.dir {
		d.keepNames(func(o nameOp) bool { return o.dir == i || o.from == i })
	}
	return 0
}

// place is where a name is.
type place struct {
	dir  *node
	name string
}

func (o nameOp) places() []place {
	if o.from == nil {
		return []place{{o.dir, o.name}}
	}
	return []place{{o.dir, o.name}, {o.from, o.old}}
}

// keepNames makes those changes of names durable that are wanted, and those
// before them of the same names.
func (d *disk) keepNames(want func(nameOp) bool) {
	needed := map[place]bool{}
	keep := make([]bool, len(d.names))
	for k := len(d.names) - 1; k >= 0; k-- {
		o := d.names[k]
		keep[k] = want(o)
		for _, p := range o.places() {
			keep[k] = keep[k] || needed[p]
		}
		if keep[k] {
			for _, p := range o.places() {
				needed[p] = true
			}
		}
	}
	var left []nameOp
	for k, o := range d.names {
		if keep[k] {
			o.apply(func(dir *node) map[string]*node { return dir.safeNames })
		} else {
			left = append(left, o)
		}
	}
	d.names = left
}

// apply changes the names that in gives of a directory.
func (o nameOp) apply(in func(*node) map[string]*node) {
	if o.from != nil {
		delete(in(o.from), o.old)
	}
	if o.to == nil {
		delete(in(o.dir), o.name)
		return
	}
	in(o.dir)[o.name] = o.to
}

func (d *disk) rename(o nameOp) syscall.Errno {
	if d.stage != running {
		return syscall.EIO
	}
	o.n = d.n + 1
	o.apply(func(dir *node) map[string]*node { return dir.names })
	d.names = append(d.names, o)
	return d.step()
}

// lookup is what a name leads to, or nil.
func (d *disk) lookup(dir *node, name string) *node {
	d.mu.Lock()
	defer d.mu.Unlock()
	return dir.names[name]
}

// byID finds a node by its number.
func (d *disk) byID(id uint64) *node {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.nodes[id]
}

// create makes a file or directory; an existing name is an error.
func (d *disk) create(dir *node, name string, isDir bool) (*node, syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case !dir.dir:
		return nil, syscall.ENOTDIR
	case dir.names[name] != nil:
		return nil, syscall.EEXIST
	}
	i := d.node(isDir)
	return i, d.rename(nameOp{dir: dir, name: name, to: i})
}

// remove takes a name away.
func (d *disk) remove(dir *node, name string, isDir bool) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := dir.names[name]
	switch {
	case i == nil:
		return syscall.ENOENT
	case i.dir && !isDir:
		return syscall.EISDIR
	case !i.dir && isDir:
		return syscall.ENOTDIR
	case len(i.names) > 0:
		return syscall.ENOTEMPTY
	}
	return d.rename(nameOp{dir: dir, name: name})
}

// move renames; what the new name led to is replaced, unless keep says that
// this is an error.
func (d *disk) move(from *node, old string, to *node, name string, keep bool) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, over := from.names[old], to.names[name]
	switch {
	case i == nil:
		return syscall.ENOENT
	case over != nil && keep:
		return syscall.EEXIST
	case over == i:
		return 0
	case over != nil && over.dir && !i.dir:
		return syscall.EISDIR
	case over != nil && !over.dir && i.dir:
		return syscall.ENOTDIR
	case over != nil && len(over.names) > 0:
		return syscall.ENOTEMPTY
	}
	return d.rename(nameOp{dir: to, name: name, to: i, from: from, old: old})
}

// entry is a name with what it leads to.
type entry struct {
	name string
	node *node
}

// list is what is in a directory, in order.
func (d *disk) list(dir *node) []entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []entry
	for _, name := range slices.Sorted(maps.Keys(dir.names)) {
		out = append(out, entry{name, dir.names[name]})
	}
	return out
}

// size is in bytes, and in the pages that are not holes.
func (d *disk) size(i *node) (bytes int64, pages int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return i.live.size, len(i.live.pages)
}
