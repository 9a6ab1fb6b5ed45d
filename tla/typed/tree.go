// SPDX-License-Identifier: Apache-2.0

package typed

// Sequences, sets and functions that are long are trees of slices, which they
// share: an operation makes new nodes on the way to what it changes and never
// changes an old one. Dropping a value, as after a section that aborts, costs
// nothing, and a copy is a pointer.

// leafMax is the maximum length of a slice in a tree, and kidsMax that of the
// list of a node's children. Both are compromises: an update copies one slice
// and one node for each level.
const (
	leafMax = 32
	kidsMax = 16
)

// node is an immutable tree of slices: the elements of its leaves from left to
// right. All leaves have the same depth. Nodes are at least half full, the root
// excepted. A nil node has no elements.
//
// F is T in an ordered tree, whose nodes hold the first element of each child
// to search by; it is struct{} in one whose elements are found by their places.
type node[T, F any] struct {
	height int         // 0 for a leaf
	leaf   []T         // of a leaf
	kids   []kid[T, F] // of the others
}

type kid[T, F any] struct {
	first F
	end   int32 // number of elements in this child and in those before it
	sub   *node[T, F]
}

func (t *node[T, F]) len() int {
	switch {
	case t == nil:
		return 0
	case t.height == 0:
		return len(t.leaf)
	}
	return t.start(len(t.kids))
}

// small reports whether t is too small for a node below the root.
func (t *node[T, F]) small() bool {
	if t.height == 0 {
		return len(t.leaf) < leafMax/2
	}
	return len(t.kids) < kidsMax/2
}

// leaf is the tree of one slice.
func leaf[T, F any](s []T) *node[T, F] {
	if len(s) == 0 {
		return nil
	}
	return &node[T, F]{leaf: s}
}

// fork is a node with room for its children, in one piece of memory.
func fork[T, F any](height int) *node[T, F] {
	t := &struct {
		node[T, F]
		room [kidsMax]kid[T, F]
	}{}
	t.height = height
	t.kids = t.room[:0]
	return &t.node
}

// over is the entry for sub in the list of children, behind before elements.
func over[T, F any](sub *node[T, F], before int32) kid[T, F] {
	k := kid[T, F]{sub: sub, end: before + int32(sub.len())}
	if sub.height > 0 {
		k.first = sub.kids[0].first
	} else if f, ordered := any(sub.leaf[0]).(F); ordered {
		k.first = f
	}
	return k
}

// above is a tree of subs, which have the same height: nil for none, and the
// tree itself for one.
func above[T, F any](subs ...*node[T, F]) *node[T, F] {
	for len(subs) > 1 {
		n := (len(subs) + kidsMax - 1) / kidsMax
		next := make([]*node[T, F], n)
		for i := range next {
			part := subs[i*len(subs)/n : (i+1)*len(subs)/n]
			next[i] = fork[T, F](part[0].height + 1)
			for _, sub := range part {
				next[i].kids = append(next[i].kids, over(sub, int32(next[i].len())))
			}
		}
		subs = next
	}
	if len(subs) == 0 {
		return nil
	}
	return subs[0]
}

// build makes a tree of slices of s.
func build[T, F any](s []T) *node[T, F] {
	n := (len(s) + leafMax - 1) / leafMax
	leaves := make([]*node[T, F], n)
	for i := range leaves {
		from, to := i*len(s)/n, (i+1)*len(s)/n
		leaves[i] = leaf[T, F](s[from:to:to])
	}
	return above(leaves...)
}

// run is the part of a leaf that begins at element i.
func (t *node[T, F]) run(i int) []T {
	for t.height > 0 {
		k := t.find(i)
		i -= t.start(k)
		t = t.kids[k].sub
	}
	return t.leaf[i:]
}

// find is the index of the child that holds element i; the place after the end
// belongs to the last child.
func (t *node[T, F]) find(i int) int {
	k := 0
	for k < len(t.kids)-1 && int(t.kids[k].end) <= i {
		k++
	}
	return k
}

// start is the place of the first element of child k.
func (t *node[T, F]) start(k int) int {
	if k == 0 {
		return 0
	}
	return int(t.kids[k-1].end)
}

// splice is t with the children from i to j replaced by a and b; either may be
// nil. If there are too many for one node, they are two.
func (t *node[T, F]) splice(i, j int, a, b *node[T, F]) (x, y *node[T, F]) {
	var room [kidsMax + 1]kid[T, F]
	var middle [2]kid[T, F]
	between := middle[:0]
	end := int32(t.start(i))
	for _, sub := range [2]*node[T, F]{a, b} {
		if sub != nil {
			between = append(between, over(sub, end))
			end = between[len(between)-1].end
		}
	}
	kids := append(append(room[:0], t.kids[:i]...), between...)
	shift := end - int32(t.start(j))
	for _, k := range t.kids[j:] {
		k.end += shift
		kids = append(kids, k)
	}
	return forks(t.height, kids)
}

// forks is a node of kids, or two if they are too many for one.
func forks[T, F any](height int, kids []kid[T, F]) (x, y *node[T, F]) {
	if len(kids) == 0 {
		return nil, nil
	}
	first := len(kids)
	if first > kidsMax {
		first /= 2
		y = fork[T, F](height)
		y.kids = append(y.kids, kids[first:]...)
		for i := range y.kids {
			y.kids[i].end -= kids[first-1].end
		}
	}
	x = fork[T, F](height)
	x.kids = append(x.kids, kids[:first]...)
	return x, y
}

// replace is t with sub as child k.
func (t *node[T, F]) replace(k int, sub *node[T, F]) *node[T, F] {
	c := fork[T, F](t.height)
	c.kids = append(c.kids, t.kids...)
	c.kids[k] = over(sub, int32(t.start(k)))
	if shift := c.kids[k].end - t.kids[k].end; shift != 0 {
		for i := k + 1; i < len(c.kids); i++ {
			c.kids[i].end += shift
		}
	}
	return c
}

// with is the tree with x at i.
func (t *node[T, F]) with(i int, x T) *node[T, F] {
	if t.height == 0 {
		s := append([]T(nil), t.leaf...)
		s[i] = x
		return leaf[T, F](s)
	}
	k := t.find(i)
	return t.replace(k, t.kids[k].sub.with(i-t.start(k), x))
}

// insert is the tree with x as element i, in one node or two.
func (t *node[T, F]) insert(i int, x T) (a, b *node[T, F]) {
	if t.height > 0 {
		k := t.find(i)
		a, b = t.kids[k].sub.insert(i-t.start(k), x)
		if b == nil {
			return t.replace(k, a), nil
		}
		return t.splice(k, k+1, a, b)
	}
	s := inserted(t.leaf, i, x)
	if len(s) <= leafMax {
		return leaf[T, F](s), nil
	}
	half := len(s) / 2
	return leaf[T, F](s[:half:half]), leaf[T, F](s[half:])
}

// remove is the tree without element i. It may be small.
func (t *node[T, F]) remove(i int) *node[T, F] {
	if t.height == 0 {
		return leaf[T, F](removed(t.leaf, i))
	}
	k := t.find(i)
	sub := t.kids[k].sub.remove(i - t.start(k))
	if !sub.small() {
		return t.replace(k, sub)
	}
	from := max(k-1, 0) // sub and its neighbour
	l, r := t.kids[from].sub, sub
	if k == 0 {
		l, r = sub, t.kids[1].sub
	}
	a, b := concat(l, r)
	t, _ = t.splice(from, from+2, a, b)
	return t
}

// inserted and removed are copies of s with x at i, and without what is at i.
func inserted[T any](s []T, i int, x T) []T {
	out := make([]T, len(s)+1)
	copy(out, s[:i])
	out[i] = x
	copy(out[i+1:], s[i:])
	return out
}

func removed[T any](s []T, i int) []T {
	out := make([]T, len(s)-1)
	copy(out, s[:i])
	copy(out[i:], s[i+1:])
	return out
}

// concat concatenates l and r to one or two nodes of the greater height. A node
// may be small only if it is the only one.
func concat[T, F any](l, r *node[T, F]) (a, b *node[T, F]) {
	switch {
	case l == nil || r == nil:
		if l == nil {
			l = r
		}
		return l, nil
	case l.height > r.height:
		last := len(l.kids) - 1
		a, b = concat(l.kids[last].sub, r)
		return l.splice(last, last+1, a, b)
	case l.height < r.height:
		a, b = concat(l, r.kids[0].sub)
		return r.splice(0, 1, a, b)
	case l.height == 0 && (l.small() || r.small() || len(l.leaf)+len(r.leaf) <= leafMax):
		s := append(append(make([]T, 0, len(l.leaf)+len(r.leaf)), l.leaf...), r.leaf...)
		if len(s) <= leafMax {
			return leaf[T, F](s), nil
		}
		half := len(s) / 2
		return leaf[T, F](s[:half:half]), leaf[T, F](s[half:])
	case l.small() || r.small():
		kids := append(make([]kid[T, F], 0, 2*kidsMax), l.kids...)
		for _, k := range r.kids {
			k.end += int32(l.len())
			kids = append(kids, k)
		}
		return forks(l.height, kids)
	}
	return l, r
}

// join concatenates l and r.
func join[T, F any](l, r *node[T, F]) *node[T, F] { return root(concat(l, r)) }

// root is the tree of one or two nodes, no higher than needed.
func root[T, F any](a, b *node[T, F]) *node[T, F] {
	if b != nil {
		return above(a, b)
	}
	for a != nil && a.height > 0 && len(a.kids) == 1 {
		a = a.kids[0].sub
	}
	return a
}

// drop is the tree without its first n elements, and take is the tree of only
// those.
func (t *node[T, F]) drop(n int) *node[T, F] {
	switch {
	case t == nil || n <= 0:
		return t
	case n >= t.len():
		return nil
	case t.height == 0:
		return leaf[T, F](t.leaf[n:])
	}
	k := t.find(n)
	sub := t.kids[k].sub
	cut := sub.drop(n - t.start(k))
	if cut.height == sub.height && !cut.small() {
		return root(t.splice(0, k+1, cut, nil))
	}
	rest, _ := t.splice(0, k+1, nil, nil)
	return join(cut, root(rest, nil))
}

func (t *node[T, F]) take(n int) *node[T, F] {
	switch {
	case t == nil || n <= 0:
		return nil
	case n >= t.len():
		return t
	case t.height == 0:
		return leaf[T, F](t.leaf[:n:n])
	}
	k := t.find(n)
	sub := t.kids[k].sub
	cut := sub.take(n - t.start(k))
	if cut != nil && cut.height == sub.height && !cut.small() {
		return root(t.splice(k, len(t.kids), cut, nil))
	}
	rest, _ := t.splice(k, len(t.kids), nil, nil)
	return join(root(rest, nil), cut)
}
