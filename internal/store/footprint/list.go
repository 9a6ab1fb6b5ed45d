// SPDX-License-Identifier: Apache-2.0

package footprint

import "bytes"

// listed is what a List has: ordered by its key, and of some size in memory.
type listed interface {
	key() []byte
	bytes() int
}

// List is items in ascending order of their keys, each key once. A List never changes:
// a change makes another one that shares all but a few nodes with it. So handing one
// out costs nothing, and all else takes time by the logarithm of its length. It is a
// tree that is balanced by the number of items below each node.
type List[T listed] struct{ root *node[T] }

type node[T listed] struct {
	left, right *node[T]
	item        T
	count, size int // of the items here and below, and their bytes
}

// nodeOverhead is the memory of a node besides its item.
const nodeOverhead = 48

// Len is the number of items.
func (l List[T]) Len() int { return l.root.len() }

// At is item number i.
func (l List[T]) At(i int) T {
	n := l.root
	for {
		switch left := n.left.len(); {
		case i < left:
			n = n.left
		case i == left:
			return n.item
		default:
			n, i = n.right, i-left-1
		}
	}
}

// Search is the index of the first item with a key at or above key.
func (l List[T]) Search(key []byte) int {
	at := 0
	for n := l.root; n != nil; {
		if bytes.Compare(n.item.key(), key) < 0 {
			at += n.left.len() + 1
			n = n.right
		} else {
			n = n.left
		}
	}
	return at
}

// Within returns the items with keys in [lo, hi). A nil hi means no bound.
func (l List[T]) Within(lo, hi []byte) List[T] {
	_, rest := split(l.root, lo)
	if hi != nil {
		rest, _ = split(rest, hi)
	}
	return List[T]{rest}
}

// get returns the item with the key.
func (l List[T]) get(key []byte) (item T, ok bool) {
	item, ok = l.last(key)
	return item, ok && bytes.Equal(item.key(), key)
}

// last returns the last item with a key at or below key.
func (l List[T]) last(key []byte) (item T, ok bool) {
	for n := l.root; n != nil; {
		if bytes.Compare(n.item.key(), key) <= 0 {
			item, ok, n = n.item, true, n.right
		} else {
			n = n.left
		}
	}
	return item, ok
}

// without is the list but for the items with keys in [lo, hi), and the bytes of those.
func (l List[T]) without(lo, hi []byte) (List[T], int) {
	below, rest := split(l.root, lo)
	gone, above := split(rest, hi)
	return List[T]{unite(below, above)}, gone.bytes()
}

// with is the list with the item, and the bytes of the one with its key before.
func (l List[T]) with(item T) (List[T], int) {
	below, rest := split(l.root, item.key())
	gone, above := split(rest, append(bytes.Clone(item.key()), 0))
	return List[T]{link(below, item, above)}, gone.bytes()
}

func (n *node[T]) len() int {
	if n == nil {
		return 0
	}
	return n.count
}

func (n *node[T]) bytes() int {
	if n == nil {
		return 0
	}
	return n.size
}

// newNode is a node over two trees that are in balance.
func newNode[T listed](left *node[T], item T, right *node[T]) *node[T] {
	return &node[T]{
		left, right, item, left.len() + right.len() + 1,
		left.bytes() + right.bytes() + item.bytes() + nodeOverhead,
	}
}

// Of two trees below a node none has more than heavy times the items of the other,
// unless together they have one. A rotation is single where the inner of the trees
// that it moves has less than inner times the items of the outer one. That these two
// numbers are enough is proved by Hirai and Yamamoto (Balancing weight-balanced trees,
// JFP 2011).
const (
	heavy = 3
	inner = 2
)

// balanced is a tree of two trees, one of which has lost or won an item.
func balanced[T listed](left *node[T], item T, right *node[T]) *node[T] {
	a, b := left.len(), right.len()
	switch {
	case a+b <= 1:
	case b > heavy*a:
		if right.left.len() < inner*right.right.len() {
			return newNode(newNode(left, item, right.left), right.item, right.right)
		}
		mid := right.left
		return newNode(newNode(left, item, mid.left), mid.item, newNode(mid.right, right.item, right.right))
	case a > heavy*b:
		if left.right.len() < inner*left.left.len() {
			return newNode(left.left, left.item, newNode(left.right, item, right))
		}
		mid := left.right
		return newNode(newNode(left.left, left.item, mid.left), mid.item, newNode(mid.right, item, right))
	}
	return newNode(left, item, right)
}

// link is a tree of two trees of any sizes and an item between them.
func link[T listed](left *node[T], item T, right *node[T]) *node[T] {
	a, b := left.len(), right.len()
	switch {
	case a+b <= 1:
	case b > heavy*a:
		return balanced(link(left, item, right.left), right.item, right.right)
	case a > heavy*b:
		return balanced(left.left, left.item, link(left.right, item, right))
	}
	return newNode(left, item, right)
}

// unite is a tree of two trees of any sizes, all keys of the first being below those of
// the second.
func unite[T listed](left, right *node[T]) *node[T] {
	if right == nil {
		return left
	}
	first, rest := pop(right)
	return link(left, first, rest)
}

// pop takes the first item off a tree.
func pop[T listed](n *node[T]) (T, *node[T]) {
	if n.left == nil {
		return n.item, n.right
	}
	first, rest := pop(n.left)
	return first, balanced(rest, n.item, n.right)
}

// split divides a tree into what is below key and what is not.
func split[T listed](n *node[T], key []byte) (below, rest *node[T]) {
	if n == nil {
		return nil, nil
	}
	if bytes.Compare(n.item.key(), key) < 0 {
		right, rest := split(n.right, key)
		return link(n.left, n.item, right), rest
	}
	below, left := split(n.left, key)
	return below, link(left, n.item, n.right)
}
