// SPDX-License-Identifier: Apache-2.0

// Package trunk is the upper part of the size-tiered Bε-tree: the nodes, which
// hold no data but lists of references to branches. Messages move down the tree
// by moving references; what is written again is only what a compaction
// merges.
//
// In: branches, newest first by their sequence numbers. Out: for a key the
// branches to ask, from the newest to the oldest; and the next piece of work
// worth doing, with its inputs. Promised: of one key, a branch that is found
// earlier on the way from the root down has only newer messages than one that
// is found later; the nodes that a reader holds never change, since an edit
// copies the path that it changes. Refused: I/O, locks, and clocks: a Trunk is
// edited by one goroutine at a time.
//
// Sources: VeriBetrKV (OSDI 2020), section 4, for the tree; SplinterDB (ATC
// 2020) for flushing by reference.
package trunk

import (
	"bytes"
	"sort"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// Keys says where in the order of keys a branch has messages.
type Keys interface {
	// Overlaps reports whether there may be messages in [lo, hi); hi nil is the
	// end of all keys.
	Overlaps(lo, hi []byte) bool
	// Span estimates how much is stored for [lo, hi).
	Span(lo, hi []byte) (bytes int64, blocks int)
	// Over is the number of the newest range tombstone that covers all of [lo, hi);
	// 0: none does.
	Over(lo, hi []byte) message.Seq
}

// Branch is a branch as the trunk refers to it. It is immutable but for a count
// of its users, which the owner of the trunk keeps.
type Branch struct {
	Meta  branch.Meta
	Index *branch.Index
	keys  Keys
	// The range tombstones stay in the index: here is how many there are, the least of
	// their numbers, and how much memory they take.
	tombstones     int
	firstTombstone message.Seq
	tombBytes      int64
	users          atomic.Int32
	heat           atomic.Int64
}

// tombstoneBytes is what reading a range tombstone takes of the Go heap, in bytes: that
// of a merge, in which all tombstones of its inputs are in memory.
const tombstoneBytes = 64

// Heat counts reads that had to ask other branches beside this one, a base;
// a merge makes them one again.
func (b *Branch) Heat(n int) { b.heat.Add(int64(n)) }

// Retain adds a user to the one that every new Branch has.
func (b *Branch) Retain() { b.users.Add(1) }

// Release takes a user away, and answers whether it was the last.
func (b *Branch) Release() (last bool) { return b.users.Add(-1) == 0 }

// NewBranch joins what is known of a branch and its index.
func NewBranch(meta branch.Meta, index *branch.Index) *Branch {
	b := &Branch{Meta: meta, Index: index, keys: index}
	b.users.Store(1)
	if meta.RangeDeletes == 0 {
		return b
	}
	b.firstTombstone = message.MaxSeq
	for t := range index.Ranges() {
		b.tombstones++
		b.tombBytes += int64(len(t.Lo) + len(t.Hi) + tombstoneBytes)
		b.firstTombstone = min(b.firstTombstone, t.Seq)
	}
	return b
}

// HasTombstones reports whether the branch has range tombstones.
func (b *Branch) HasTombstones() bool { return b.tombstones > 0 }

// Ref is a branch as far as it is within a pivot.
type Ref struct {
	Branch *Branch
	// Bytes is an estimate of what the branch has in the pivot's range.
	Bytes int64
	// Base marks the result of a compaction at the bottom.
	Base bool
}

// Pivot is the range of keys from Lo up to the next pivot's.
type Pivot struct {
	Lo    []byte
	Child *Node // nil at level 0
	Refs  []Ref // newest first
}

// Node is an immutable node.
type Node struct {
	ID     uint64
	Level  int // 0: no children
	Pivots []Pivot
}

// pivot is the number of the pivot whose range holds the key, in a node whose
// range does.
func (n *Node) pivot(key []byte) int {
	// The first pivot needs no look: the node's range begins there.
	lo, hi := 1, len(n.Pivots)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if bytes.Compare(n.Pivots[mid].Lo, key) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

// Find calls visit with the references to ask for a key, newest first, until it
// returns false.
func (n *Node) Find(key []byte, visit func(Ref) (more bool)) {
	for n != nil {
		p := &n.Pivots[n.pivot(key)]
		for _, r := range p.Refs {
			if !visit(r) {
				return
			}
		}
		n = p.Child
	}
}

// Path appends to refs those on the way to a key, newest first. It is Find
// without a function.
func (n *Node) Path(key []byte, refs []Ref) []Ref {
	for n != nil {
		p := &n.Pivots[n.pivot(key)]
		refs = append(refs, p.Refs...)
		n = p.Child
	}
	return refs
}

// Partition is a range [Lo, Hi) of keys that the same branches serve; Hi nil
// is the end.
type Partition struct {
	Lo, Hi []byte
	Refs   []Ref // newest first
}

// At is the partition of a key.
func (n *Node) At(key []byte) Partition { return n.partition(key, false) }

// Before is the partition that holds the greatest keys below key; nil: the
// last of all.
func (n *Node) Before(key []byte) Partition { return n.partition(key, true) }

func (n *Node) partition(key []byte, before bool) Partition {
	var p Partition
	for n != nil {
		i := 0
		switch {
		case !before:
			i = n.pivot(key)
		case key == nil:
			i = len(n.Pivots) - 1
		default:
			i = max(sort.Search(len(n.Pivots), func(i int) bool { return bytes.Compare(n.Pivots[i].Lo, key) >= 0 })-1, 0)
		}
		v := &n.Pivots[i]
		if i+1 < len(n.Pivots) {
			p.Hi = n.Pivots[i+1].Lo
		}
		p.Lo = v.Lo
		p.Refs = append(p.Refs, v.Refs...)
		n = v.Child
	}
	return p
}

// Walk calls visit with each pivot of the tree and its range, upper levels
// first.
func (n *Node) Walk(visit func(n *Node, i int, lo, hi []byte)) { n.walk(nil, visit) }

func (n *Node) walk(end []byte, visit func(n *Node, i int, lo, hi []byte)) {
	for i := range n.Pivots {
		hi := end
		if i+1 < len(n.Pivots) {
			hi = n.Pivots[i+1].Lo
		}
		visit(n, i, n.Pivots[i].Lo, hi)
		if c := n.Pivots[i].Child; c != nil {
			c.walk(hi, visit)
		}
	}
}

// Nodes calls visit with the nodes of a tree, which may be nil.
func (n *Node) Nodes(visit func(*Node)) {
	if n == nil {
		return
	}
	visit(n)
	for i := range n.Pivots {
		n.Pivots[i].Child.Nodes(visit)
	}
}

// Branches calls visit once with each branch that the tree refers to.
func (n *Node) Branches(visit func(*Branch)) {
	seen := map[uint64]bool{}
	n.Walk(func(n *Node, i int, _, _ []byte) {
		for _, r := range n.Pivots[i].Refs {
			if !seen[r.Branch.Meta.ID] {
				seen[r.Branch.Meta.ID] = true
				visit(r.Branch)
			}
		}
	})
}

// Shape are the sizes by which a Trunk is kept.
type Shape struct {
	// Fanout is what a node has of pivots at most, 4 or more.
	Fanout int
	// LeafBytes is what a partition at the bottom is meant to hold, as long as there are
	// not too many.
	LeafBytes int64
	// Partitions is from how many on partitions become larger, so that what a tree
	// takes in memory stays about the same as it grows; 0: there is no such number.
	Partitions int
	// Runs is how many references a pivot may collect before they are merged.
	Runs int
}

// Trunk is the tree that is edited. The zero Trunk is not one: see New and
// Load.
type Trunk struct {
	shape  Shape
	root   *Node
	refs   map[uint64]int // of each branch, how many pivots refer to it
	next   func() uint64  // numbers of new nodes
	gone   []*Branch
	held   int64 // bytes of the branches to which pivots refer
	tombs  int64 // bytes of memory that their range tombstones take
	uses   int   // references of pivots
	yields yields
}

// New returns a tree with one empty pivot. Next gives numbers that were never
// used.
func New(shape Shape, next func() uint64) *Trunk {
	return Load(shape, next, &Node{ID: next(), Pivots: []Pivot{{}}})
}

// Load returns the tree with that root.
func Load(shape Shape, next func() uint64, root *Node) *Trunk {
	invariant.Check(shape.Fanout >= 4 && shape.Runs >= 2 && shape.LeafBytes > 0, "trunk: invalid shape %+v", shape)
	t := &Trunk{shape: shape, root: root, refs: map[uint64]int{}, next: next}
	root.Walk(func(n *Node, i int, _, _ []byte) {
		t.retain(n.Pivots[i].Refs)
	})
	return t
}

// Root is the present tree; it does not change while a caller holds it.
func (t *Trunk) Root() *Node { return t.root }

// Gone returns the branches to which no pivot refers any more, and forgets
// them.
func (t *Trunk) Gone() []*Branch {
	gone := t.gone
	t.gone = nil
	return gone
}

// Counts are how many branches there are, and how many references of pivots to them.
func (t *Trunk) Counts() (branches, refs int) { return len(t.refs), t.uses }

// TombstoneBytes is the memory that the range tombstones of all branches take, about,
// and a merge of them.
func (t *Trunk) TombstoneBytes() int64 { return t.tombs }

func (t *Trunk) retain(refs []Ref) {
	t.uses += len(refs)
	for _, r := range refs {
		id := r.Branch.Meta.ID
		if t.refs[id]++; t.refs[id] == 1 {
			t.held += int64(r.Branch.Meta.Bytes)
			t.tombs += r.Branch.tombBytes
		}
	}
}

func (t *Trunk) release(refs []Ref) {
	t.uses -= len(refs)
	for _, r := range refs {
		id := r.Branch.Meta.ID
		t.refs[id]--
		invariant.Check(t.refs[id] >= 0, "trunk: branch %d has a negative number of references", id)
		if t.refs[id] == 0 {
			delete(t.refs, id)
			t.held -= int64(r.Branch.Meta.Bytes)
			t.tombs -= r.Branch.tombBytes
			t.gone = append(t.gone, r.Branch)
		}
	}
}
