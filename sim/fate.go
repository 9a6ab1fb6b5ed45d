// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"slices"
	"sort"
)

// Fate decides what survives of the unsynced operations in a loss of power.
type Fate interface {
	// Keep returns how many of the operations on a piece have reached it: 0 to
	// len(ops). Ops are the numbers of the operations, in order. A later write
	// that reaches a sector implies the earlier ones.
	Keep(p Piece, ops []uint64) int
}

// Piece is a unit that a disk keeps or loses as a whole.
type Piece struct {
	What PieceKind
	File uint64 // the number of the file; for a name, of the directory
	// Sector is the number of a sector in the file.
	Sector int64
	// Name is a name that was created, removed, or changed by a rename.
	Name string
}

// PieceKind is what a Piece is.
type PieceKind uint8

// The kinds of pieces.
const (
	ContentPiece PieceKind = iota // a sector
	SizePiece                     // the size of a file
	NamePiece                     // a change of names
)

// all keeps everything.
type all struct{}

func (all) Keep(_ Piece, ops []uint64) int { return len(ops) }

// KeepAll is the Fate of a crash of the program alone: it keeps everything.
func KeepAll() Fate { return all{} }

// KeepUpTo is the Fate that keeps the operations up to number n and none after
// it: a loss of power at that moment, on a disk that does not reorder.
// KeepUpTo(0) keeps nothing.
func KeepUpTo(n uint64) Fate { return prefix(n) }

type prefix uint64

func (p prefix) Keep(_ Piece, ops []uint64) int {
	return sort.Search(len(ops), func(i int) bool { return ops[i] > uint64(p) })
}

// KeepFunc makes a function a Fate.
type KeepFunc func(p Piece, ops []uint64) int

// Keep calls f.
func (f KeepFunc) Keep(p Piece, ops []uint64) int { return f(p, ops) }

// settle makes durable those pending operations that the fate keeps, and drops
// the rest.
func (i *inode) settle(f Fate) {
	if _, everything := f.(all); everything {
		for k := range i.pending {
			i.pending[k].reach(&i.safe, 0, 1<<62)
		}
		if n := len(i.pending); n > 0 {
			i.safe.resize(i.pending[n-1].size)
		}
		i.pending = nil
		return
	}
	if last, ok := f.(prefix); ok {
		i.settleUpTo(uint64(last))
		return
	}
	i.eachSector(func(s int64, ops []int, numbers []uint64) {
		for _, k := range ops[:f.Keep(Piece{What: ContentPiece, File: i.id, Sector: s}, numbers)] {
			i.pending[k].reach(&i.safe, s*Sector, (s+1)*Sector)
		}
	})
	var numbers []uint64
	var sizes []int64
	last := i.safe.size
	for k := range i.pending {
		if o := &i.pending[k]; o.size != last {
			numbers, sizes, last = append(numbers, o.n), append(sizes, o.size), o.size
		}
	}
	if len(numbers) > 0 {
		if k := f.Keep(Piece{What: SizePiece, File: i.id}, numbers); k > 0 {
			i.safe.size = max(i.safe.size, sizes[k-1])
			i.safe.resize(sizes[k-1])
		}
	}
	// Bytes beyond the size were never part of the file.
	i.safe.clear(i.safe.size, 1<<62)
	i.pending = nil
}

// settleUpTo performs the operations up to number last one after the other,
// which gives the same result as settling piece by piece.
func (i *inode) settleUpTo(last uint64) {
	for k := range i.pending {
		o := &i.pending[k]
		if o.n > last {
			break
		}
		o.reach(&i.safe, 0, 1<<62)
		i.safe.size = max(i.safe.size, o.size)
		i.safe.resize(o.size)
	}
	i.pending = nil
}

// reach applies an operation to a range of an image.
func (o *dataOp) reach(im *image, from, to int64) {
	from, to = max(from, o.off), min(to, o.end)
	switch {
	case from >= to:
	case o.zero:
		im.clear(from, to)
	default:
		im.put(o.b[from-o.off:to-o.off], from)
	}
}

// eachSector calls f for every sector with pending operations, in order.
func (i *inode) eachSector(f func(s int64, ops []int, numbers []uint64)) {
	type touch struct {
		sector int64
		op     int
	}
	n := int64(0)
	for k := range i.pending {
		n += (i.pending[k].end+Sector-1)/Sector - i.pending[k].off/Sector
	}
	touches := make([]touch, 0, n)
	for k := range i.pending {
		o := &i.pending[k]
		for s := o.off / Sector; s*Sector < o.end; s++ {
			touches = append(touches, touch{s, k})
		}
	}
	slices.SortFunc(touches, func(a, b touch) int {
		return cmp.Or(cmp.Compare(a.sector, b.sector), cmp.Compare(a.op, b.op))
	})
	var ops []int
	var numbers []uint64
	for len(touches) > 0 {
		s := touches[0].sector
		ops, numbers = ops[:0], numbers[:0]
		for len(touches) > 0 && touches[0].sector == s {
			ops, numbers = append(ops, touches[0].op), append(numbers, i.pending[touches[0].op].n)
			touches = touches[1:]
		}
		f(s, ops, numbers)
	}
}

// Unsynced is the number of operations that are not durable yet.
func (d *Disk) Unsynced() int {
	n := len(d.names)
	for _, i := range d.dirty {
		n += len(i.pending)
	}
	return n
}

// Crash simulates a loss of power: unsynced operations that the fate keeps
// become durable, the rest never happened. Open files are closed, locks are
// released.
func (d *Disk) Crash(f Fate) {
	for _, i := range d.dirty {
		i.settle(f)
		i.now = i.safe.clone()
		i.listed = false
	}
	d.dirty = nil
	for k := range d.names {
		o := &d.names[k]
		if f.Keep(Piece{What: NamePiece, File: o.dir.id, Name: o.name}, []uint64{o.n}) == 1 {
			apply(o, durable)
		}
	}
	d.names = nil
	d.used = 0
	d.crashes++
	d.restore(d.root, map[*inode]bool{})
}

// restore resets the names to the durable ones.
func (d *Disk) restore(dir *inode, seen map[*inode]bool) {
	clear(dir.entries)
	for name, i := range dir.durable {
		dir.entries[name] = i
		i.lock = nil
		switch {
		case seen[i]:
		case i.dir():
			seen[i] = true
			d.restore(i, seen)
		default:
			seen[i] = true
			d.used += i.now.size
		}
	}
}

// Clone returns an equal disk without copying content; later changes of one do
// not show in the other. Open files and locks stay with the original.
func (d *Disk) Clone() *Disk {
	c := &Disk{inodes: d.inodes, ops: d.ops, capacity: d.capacity, used: d.used}
	copies := map[*inode]*inode{}
	var twin func(i *inode) *inode
	twin = func(i *inode) *inode {
		if i == nil {
			return nil
		}
		if t := copies[i]; t != nil {
			return t
		}
		t := &inode{id: i.id, listed: i.listed}
		copies[i] = t
		if i.dir() {
			t.entries, t.durable = make(map[string]*inode, len(i.entries)), make(map[string]*inode, len(i.durable))
			for name, x := range i.entries {
				t.entries[name] = twin(x)
			}
			for name, x := range i.durable {
				t.durable[name] = twin(x)
			}
			return t
		}
		t.now, t.safe = i.now.clone(), i.safe.clone()
		t.pending = i.share()
		return t
	}
	c.root = twin(d.root)
	for _, i := range d.dirty {
		c.dirty = append(c.dirty, twin(i))
	}
	for _, o := range d.names {
		o.dir, o.to, o.from, o.removed = twin(o.dir), twin(o.to), twin(o.from), twin(o.removed)
		c.names = append(c.names, o)
	}
	return c
}
