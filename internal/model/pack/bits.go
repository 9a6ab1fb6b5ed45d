// SPDX-License-Identifier: Apache-2.0

package pack

import "slices"

// possible returns the bits that may be set in n as a word.
func possible(n *node) int64 {
	switch n.op {
	case oConst:
		return n.k
	case oLoad:
		if n.k == 0 {
			return int64(n.f.mask())
		}
	case oBand:
		return n.a.may & n.b.may
	case oBor:
		return n.a.may | n.b.may
	case oBdiff:
		return n.a.may
	case oIf:
		return n.b.may | n.c.may
	case oFilter:
		return n.b.may
	case oShl:
		if n.k >= 0 {
			return n.a.may << n.k
		}
		return int64(uint64(n.a.may) >> -n.k)
	case oBit:
		return span(n.a.lo-64*n.k, n.a.hi-64*n.k)
	case oRange:
		at := n.c.k + 64*n.k
		return span(n.a.lo-at, n.b.hi-at)
	}
	return -1
}

// span returns a word with the bits from lo to hi set.
func span(lo, hi int64) int64 {
	lo, hi = max(lo, 0), min(hi, 63)
	if lo > hi {
		return 0
	}
	return int64(^uint64(0) >> (63 - (hi - lo)) << lo)
}

// scope records the registers and next-state reads on which n depends.
func (n *node) scope() {
	if n.op == oLoad {
		n.reads = n.next
	}
	if n.op == oReg {
		n.free = []int64{n.k}
		return
	}
	bound := int64(-1)
	switch n.op {
	case oAny, oAll, oFirst:
		bound = n.k
	case oFilter:
		bound = int64(uint32(n.k))
	}
	add := func(x *node) {
		if x == nil {
			return
		}
		n.reads = n.reads || x.reads
		switch {
		case len(x.free) == 0:
		case len(n.free) == 0 && !slices.Contains(x.free, bound):
			n.free = x.free
		default:
			for _, r := range x.free {
				if r != bound && !slices.Contains(n.free, r) {
					n.free = append(n.free[:len(n.free):len(n.free)], r)
				}
			}
		}
	}
	add(n.a)
	add(n.b)
	add(n.c)
	for _, x := range n.list {
		add(x)
	}
	if n.body != nil {
		n.body.scope(make(map[*stmt]bool), add)
		n.reads = false // what is read there is another next state
		n.size += memoSizeMin
	}
}

// scope calls add with all nodes of a statement. It counts registers that the
// statement sets as read. That is safe: it only means that less is cached.
func (s *stmt) scope(seen map[*stmt]bool, add func(*node)) {
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	add(s.a)
	for _, x := range s.words {
		add(x)
	}
	s.next.scope(seen, add)
	for _, x := range s.list {
		x.scope(seen, add)
	}
}

// bitKey identifies a bit of a word.
type bitKey struct {
	w *node
	i int
}

// bitOf returns a test of bit i of a word. It looks into a composed word,
// because most parts of such a word do not affect a single bit. whole returns a
// test of the whole word; bitOf uses it for a word that may stop, because all
// of that must be evaluated.
func (b *build) bitOf(w *node, i int, whole func() *node) *node {
	if !w.pure {
		return whole()
	}
	if w.may>>i&1 == 0 {
		return b.k(0)
	}
	switch w.op {
	case oBand, oBor, oBdiff, oIf, oShl, oBit, oTab, oRange, oSel:
	default:
		return whole()
	}
	key := bitKey{w, i}
	if n := b.bits[key]; n != nil {
		return n
	}
	n := b.partBit(w, i)
	if b.bits == nil {
		b.bits = make(map[bitKey]*node)
	}
	b.bits[key] = n
	return n
}

// partBit returns bit i of a composed word that never stops.
func (b *build) partBit(w *node, i int) *node {
	bit := func(x *node) *node { return b.test([]*node{x}, b.k(int64(i))) }
	switch w.op {
	case oBand:
		return b.and(bit(w.a), bit(w.b))
	case oBor:
		return b.or(bit(w.a), bit(w.b))
	case oBdiff:
		return b.and(bit(w.a), b.not(bit(w.b)))
	case oIf:
		return b.choice(w.a, bit(w.b), bit(w.c))
	case oShl:
		return b.test([]*node{w.a}, b.k(int64(i)-w.k))
	case oBit:
		return b.eq(w.a, b.k(64*w.k+int64(i)))
	case oRange:
		x := b.k(w.c.k + 64*w.k + int64(i))
		return b.and(b.not(b.less(x, w.a)), b.not(b.less(w.b, x)))
	case oTab:
		tab := make([]int64, len(w.tab))
		for j, x := range w.tab {
			tab[j] = x >> i & 1
		}
		return b.table(tab, w.a)
	}
	list := make([]*node, len(w.list))
	tab, known := make([]int64, len(list)), true
	for j, x := range w.list {
		list[j] = bit(x)
		tab[j], known = list[j].k, known && list[j].known()
	}
	if known {
		return b.table(tab, w.a)
	}
	return b.node(node{op: oSel, a: w.a, list: list, hi: 1})
}

// choice returns c ? x : y of booleans.
func (b *build) choice(c, x, y *node) *node {
	switch {
	case x.is(1) && y.is(0):
		return c
	case x.is(0) && y.is(1):
		return b.not(c)
	case x.is(1):
		return b.or(c, y)
	case y.is(0):
		return b.and(c, x)
	case x.is(0):
		return b.and(b.not(c), y)
	case y.is(1):
		return b.or(b.not(c), x)
	}
	return b.cond(c, x, y)
}
