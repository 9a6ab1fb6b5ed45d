// SPDX-License-Identifier: Apache-2.0

package typed

// leafMax is the maximum length of a slice in the tree of a long sequence. An
// append copies half as many elements on average.
const leafMax = 32

// node is an immutable, height-balanced tree of slices: the elements of its
// leaves from left to right. A nil node has none; a leaf has no children.
type node[T any] struct {
	left, right *node[T]
	leaf        []T
	n           int
	height      int
}

func (t *node[T]) len() int {
	if t == nil {
		return 0
	}
	return t.n
}

// leaf is the tree of one slice.
func leaf[T any](s []T) *node[T] {
	if len(s) == 0 {
		return nil
	}
	return &node[T]{leaf: s, n: len(s)}
}

func fork[T any](l, r *node[T]) *node[T] {
	return &node[T]{left: l, right: r, n: l.n + r.n, height: 1 + max(l.height, r.height)}
}

// build makes a tree of slices of s.
func build[T any](s []T) *node[T] {
	if len(s) <= leafMax {
		return leaf(s)
	}
	half := (len(s)/leafMax + 1) / 2 * leafMax
	return join(build(s[:half:half]), build(s[half:]))
}

// join concatenates l and r. It descends on the side of the higher tree to the
// height of the other.
func join[T any](l, r *node[T]) *node[T] {
	switch {
	case l == nil:
		return r
	case r == nil:
		return l
	case l.height == 0 && r.height == 0 && l.n+r.n <= leafMax:
		return leaf(append(append(make([]T, 0, l.n+r.n), l.leaf...), r.leaf...))
	case l.height > r.height+1:
		return balance(l.left, join(l.right, r))
	case r.height > l.height+1:
		return balance(join(l, r.left), r.right)
	}
	return fork(l, r)
}

// balance makes a node of two trees whose heights differ by at most two.
func balance[T any](l, r *node[T]) *node[T] {
	switch {
	case l.height > r.height+1 && l.left.height >= l.right.height:
		return fork(l.left, fork(l.right, r))
	case l.height > r.height+1:
		return fork(fork(l.left, l.right.left), fork(l.right.right, r))
	case r.height > l.height+1 && r.right.height >= r.left.height:
		return fork(fork(l, r.left), r.right)
	case r.height > l.height+1:
		return fork(fork(l, r.left.left), fork(r.left.right, r.right))
	}
	return fork(l, r)
}

// at is element i, from 0.
func (t *node[T]) at(i int) T {
	for t.height > 0 {
		if i < t.left.n {
			t = t.left
		} else {
			i -= t.left.n
			t = t.right
		}
	}
	return t.leaf[i]
}

// with is the tree with x at i.
func (t *node[T]) with(i int, x T) *node[T] {
	c := *t
	switch {
	case t.height == 0:
		c.leaf = append([]T(nil), t.leaf...)
		c.leaf[i] = x
	case i < t.left.n:
		c.left = t.left.with(i, x)
	default:
		c.right = t.right.with(i-t.left.n, x)
	}
	return &c
}

// drop is the tree without its first k elements, and take is the tree of only
// those.
func (t *node[T]) drop(k int) *node[T] {
	switch {
	case t == nil || k <= 0:
		return t
	case k >= t.n:
		return nil
	case t.height == 0:
		return leaf(t.leaf[k:])
	case k < t.left.n:
		return join(t.left.drop(k), t.right)
	}
	return t.right.drop(k - t.left.n)
}

func (t *node[T]) take(k int) *node[T] {
	switch {
	case t == nil || k <= 0:
		return nil
	case k >= t.n:
		return t
	case t.height == 0:
		return leaf(t.leaf[:k:k])
	case k <= t.left.n:
		return t.left.take(k)
	}
	return join(t.left, t.right.take(k-t.left.n))
}

// appendTo appends the elements to s.
func (t *node[T]) appendTo(s []T) []T {
	if t.height == 0 {
		return append(s, t.leaf...)
	}
	return t.right.appendTo(t.left.appendTo(s))
}
