// SPDX-License-Identifier: Apache-2.0

package extent

import "github.com/ashlar-dev/ashlar/internal/invariant"

// The free runs are the nodes of two search trees at once: one by address,
// which finds neighbours, one by size and then address, which finds the best
// fit. Both are treaps: binary search trees by their order and heaps by a
// priority that is a hash of the node's number, so that their expected depth is
// logarithmic for any order of calls, and the same calls give the same trees.
// Nodes are indices into one slice; index 0 is not a node, and freed slots are
// linked in a list, so that nothing is allocated while the number of free runs
// stays below its earlier maximum.

// order is the key by which a tree is searched.
type order int

const (
	byPage order = iota
	bySize
)

type node struct {
	run         Run
	left, right [2]uint32 // per order
}

type index struct {
	nodes []node
	roots [2]uint32
	spare uint32 // list of unused nodes, by left[byPage]
	count int
	// long is the number of pages in runs of at least unit pages.
	unit uint32
	long uint64
}

// longIn is how many pages of a run count as long.
func (x *index) longIn(r Run) uint64 {
	if r.Pages < x.unit {
		return 0
	}
	return uint64(r.Pages)
}

func newIndex() index { return index{nodes: make([]node, 1, 16)} }

// priority mixes the bits of a node's number.
func priority(n uint32) uint32 {
	n ^= n >> 16
	n *= 0x7feb352d
	n ^= n >> 15
	n *= 0x846ca68b
	return n ^ n>>16
}

func less(o order, a, b Run) bool {
	if o == bySize && a.Pages != b.Pages {
		return a.Pages < b.Pages
	}
	return a.Page < b.Page
}

// insert adds a run that is in no way in the index.
func (x *index) insert(r Run) {
	n := x.spare
	if n == 0 {
		n = uint32(len(x.nodes))
		x.nodes = append(x.nodes, node{})
	} else {
		x.spare = x.nodes[n].left[byPage]
	}
	x.nodes[n] = node{run: r}
	x.roots[byPage] = x.join(byPage, x.roots[byPage], n)
	x.roots[bySize] = x.join(bySize, x.roots[bySize], n)
	x.count++
	x.long += x.longIn(r)
}

// remove takes out a run that is in the index.
func (x *index) remove(r Run) {
	root, n := x.cut(byPage, x.roots[byPage], r)
	x.roots[byPage] = root
	x.roots[bySize], _ = x.cut(bySize, x.roots[bySize], r)
	x.nodes[n] = node{left: [2]uint32{x.spare, 0}}
	x.spare = n
	x.count--
	x.long -= x.longIn(r)
}

// resize gives a run that is in the index another extent that keeps its place
// among the neighbours: the tree by address stays as it is.
func (x *index) resize(old, r Run) {
	root, n := x.cut(bySize, x.roots[bySize], old)
	x.nodes[n].run = r
	x.nodes[n].left[bySize] = 0
	x.nodes[n].right[bySize] = 0
	x.roots[bySize] = x.join(bySize, root, n)
	x.long += x.longIn(r) - x.longIn(old)
}

// join puts node n into the tree below root and returns the tree's root.
func (x *index) join(o order, root, n uint32) uint32 {
	if root == 0 {
		return n
	}
	if priority(n) > priority(root) {
		left, right := x.split(o, root, x.nodes[n].run)
		x.nodes[n].left[o], x.nodes[n].right[o] = left, right
		return n
	}
	if less(o, x.nodes[n].run, x.nodes[root].run) {
		left := x.join(o, x.nodes[root].left[o], n)
		x.nodes[root].left[o] = left
	} else {
		right := x.join(o, x.nodes[root].right[o], n)
		x.nodes[root].right[o] = right
	}
	return root
}

// split makes two trees of one: what is below r, and the rest.
func (x *index) split(o order, root uint32, r Run) (low, high uint32) {
	if root == 0 {
		return 0, 0
	}
	if less(o, x.nodes[root].run, r) {
		low, high = x.split(o, x.nodes[root].right[o], r)
		x.nodes[root].right[o] = low
		return root, high
	}
	low, high = x.split(o, x.nodes[root].left[o], r)
	x.nodes[root].left[o] = high
	return low, root
}

// cut takes the node of r out of the tree below root; n is that node.
func (x *index) cut(o order, root uint32, r Run) (rest, n uint32) {
	if root == 0 {
		invariant.Check(false, "free %v are not in tree %d", r, o)
	}
	at := &x.nodes[root]
	switch {
	case less(o, r, at.run):
		at.left[o], n = x.cut(o, at.left[o], r)
	case less(o, at.run, r):
		at.right[o], n = x.cut(o, at.right[o], r)
	default:
		return x.merge(o, at.left[o], at.right[o]), root
	}
	return root, n
}

// merge makes one tree of two, of which all of low is below all of high.
func (x *index) merge(o order, low, high uint32) uint32 {
	switch {
	case low == 0:
		return high
	case high == 0:
		return low
	case priority(low) > priority(high):
		right := x.merge(o, x.nodes[low].right[o], high)
		x.nodes[low].right[o] = right
		return low
	}
	left := x.merge(o, low, x.nodes[high].left[o])
	x.nodes[high].left[o] = left
	return high
}

// fit finds the smallest run of at least so many pages, of equal ones the
// lowest.
func (x *index) fit(pages uint32) (best Run, ok bool) {
	for n := x.roots[bySize]; n != 0; {
		at := &x.nodes[n]
		if at.run.Pages < pages {
			n = at.right[bySize]
			continue
		}
		best, ok = at.run, true
		n = at.left[bySize]
	}
	return best, ok
}

// around finds the last run that starts at or before page and the first that
// starts after it. A run of no pages stands for none.
func (x *index) around(page uint32) (before, after Run) {
	for n := x.roots[byPage]; n != 0; {
		at := &x.nodes[n]
		if at.run.Page <= page {
			before = at.run
			n = at.right[byPage]
		} else {
			after = at.run
			n = at.left[byPage]
		}
	}
	return before, after
}

// walk appends the numbers of the nodes below root in the tree's order.
func (x *index) walk(o order, root uint32, dst []uint32) []uint32 {
	if root == 0 {
		return dst
	}
	dst = x.walk(o, x.nodes[root].left[o], dst)
	dst = append(dst, root)
	return x.walk(o, x.nodes[root].right[o], dst)
}
