// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"math"
	"math/bits"
)

// op is the operation of a node. Every node yields a number; booleans are 0 and
// 1.
type op uint8

const (
	oConst   op = iota // k
	oLoad              // field f of the state, or of the next one, plus k
	oReg               // register k
	oAdd               // of numbers of 32 bits: the code stops where it overflows
	oSub               //
	oMul               //
	oDiv               // the code stops at a divisor 0, as do the following
	oMod               //
	oEq                // of all 64 bits
	oLt                //
	oLe                //
	oAnd               // list, from the left, until one is 0
	oOr                // list, until one is not
	oNot               //
	oIf                // a ? b : c
	oBand              // of all bits
	oBor               //
	oBdiff             // a and not b
	oShl               // a << k
	oBit               // bit number a of words k*64 and on: 1<<(a-64k) or 0
	oTest              // whether bit number a of list is set
	oPop               // how many bits of list are set
	oTab               // tab[a]; the code stops at missing, and where a is outside
	oSel               // list[a]
	oAny               // whether a holds for some set bit of list, its number in register k
	oAll               // whether a holds for all
	oFilter            // the bits of b, whose first has the number k>>32*64, for which a holds, number in register uint32(k)
	oFirst             // the least set bit of list for which a holds; the code stops where there is none
	oIn                // a; the code stops where it is not between lo and hi
	oRange             // word k of the set of numbers from a to b: the number i of a bit stands for i + c
	oEnabled           // whether body emits something, when the next state is the state at first
	oStop              // the code stops
)

// missing is the entry of a table for which there is no value.
const missing = -1 << 62

// node is an expression over words. Nodes are immutable and may be shared.
type node struct {
	op      op
	next    bool // oLoad: of the next state
	f       field
	a, b, c *node
	list    []*node
	body    *stmt
	k       int64
	tab     []int64
	// The value is from lo to hi, as a signed number.
	lo, hi int64
	size   int
	// pure: evaluating the node never stops the code.
	pure bool
	// may has the bits that may be set in a word.
	may int64
	// free has the registers that the node reads and does not set, sorted.
	// reads: the node reads a variable of the next state.
	free  []int64
	reads bool
}

// build makes nodes; it bounds the sum of their sizes.
type build struct {
	bits        map[bitKey]*node
	nodes, regs int
	limit       int
	full        bool // there was no room
}

func (b *build) node(n node) *node {
	b.nodes++
	if b.nodes > b.limit {
		b.full = true
		giveUp("it is too large to be packed")
	}
	n.size = 1
	n.pure = true
	switch n.op {
	case oBand, oBor, oBdiff, oShl, oBit, oFilter, oRange:
		n.lo, n.hi = math.MinInt64, math.MaxInt64
	case oAdd, oSub, oMul:
		n.pure = n.lo >= intMin && n.hi <= intMax
	case oDiv, oMod:
		n.pure = n.b.known() && n.b.k > 0
	case oSel:
		n.pure = n.a.lo >= 0 && n.a.hi < int64(len(n.list))
	case oFirst, oStop, oIn, oEnabled:
		n.pure = false
	case oTab:
		n.pure = n.k == 0
	}
	for _, x := range [...]*node{n.a, n.b, n.c} {
		if x != nil {
			n.size += x.size
			n.pure = n.pure && x.pure
		}
	}
	for _, x := range n.list {
		n.size += x.size
		n.pure = n.pure && x.pure
	}
	n.may = possible(&n)
	n.scope()
	return &n
}

// Limits on the size of the code of a next-state relation and of a predicate.
const (
	nextNodesMax = 300_000
	predNodesMax = 60_000
	// predNodesLeast is the size that every predicate may have.
	predNodesLeast = 3_000
)

func (b *build) k(v int64) *node { return b.node(node{op: oConst, k: v, lo: v, hi: v}) }

func (b *build) bool(v bool) *node {
	if v {
		return b.k(1)
	}
	return b.k(0)
}

func (n *node) known() bool     { return n.op == oConst }
func (n *node) is(v int64) bool { return n.op == oConst && n.k == v }

func (b *build) load(f field, lo int64, next bool) *node {
	if f.bits == 0 {
		return b.k(lo)
	}
	if f.bits == 64 {
		return b.node(node{op: oLoad, f: f, next: next, lo: math.MinInt64, hi: math.MaxInt64})
	}
	hi := lo + (1<<f.bits - 1)
	return b.node(node{op: oLoad, f: f, k: lo, next: next, lo: lo, hi: hi})
}

func (b *build) reg(lo, hi int64) (r int64, n *node) {
	r = int64(b.regs)
	b.regs++
	return r, b.node(node{op: oReg, k: r, lo: lo, hi: hi})
}

func (b *build) stop() *node { return b.node(node{op: oStop, lo: intMin, hi: intMax}) }

// arith makes an operation on 32-bit numbers.
func (b *build) arith(o op, x, y *node) *node {
	n := node{op: o, a: x, b: y}
	switch o {
	case oAdd:
		n.lo, n.hi = x.lo+y.lo, x.hi+y.hi
	case oSub:
		n.lo, n.hi = x.lo-y.hi, x.hi-y.lo
	case oMul:
		p := [4]int64{x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi}
		n.lo, n.hi = min(p[0], p[1], p[2], p[3]), max(p[0], p[1], p[2], p[3])
	case oDiv:
		n.lo, n.hi = intMin, intMax
		if x.lo >= 0 && y.lo >= 0 {
			n.lo, n.hi = 0, x.hi
		}
	case oMod:
		n.lo, n.hi = 0, max(y.hi-1, 0)
	}
	out := b.node(n)
	if x.known() && y.known() {
		if v, ok := arithmetic(o, x.k, y.k); ok {
			return b.k(v)
		}
		return b.stop()
	}
	if o == oAdd || o == oSub || o == oMul {
		out.lo, out.hi = max(out.lo, intMin), min(out.hi, intMax)
	}
	return out
}

// arithmetic computes an operation on 32-bit numbers; false if it has no value.
func arithmetic(o op, x, y int64) (int64, bool) {
	var v int64
	switch o {
	case oAdd:
		v = x + y
	case oSub:
		v = x - y
	case oMul:
		v = x * y
	default:
		if o == oDiv && y == 0 || o == oMod && y <= 0 {
			return 0, false
		}
		q, r := x/y, x%y
		if r != 0 && (r < 0) != (y < 0) {
			q, r = q-1, r+y
		}
		if v = q; o == oMod {
			v = r
		}
	}
	return v, v >= intMin && v <= intMax
}

func (b *build) eq(x, y *node) *node {
	if x.known() && y.known() {
		return b.bool(x.k == y.k)
	}
	if x.known() {
		x, y = y, x
	}
	if (x.hi < y.lo || y.hi < x.lo) && x.pure && y.pure {
		return b.k(0)
	}
	if x.lo == 0 && x.hi == 1 { // a boolean
		switch {
		case y.is(1):
			return x
		case y.is(0):
			return b.not(x)
		}
	}
	return b.node(node{op: oEq, a: x, b: y, hi: 1})
}

func (b *build) less(x, y *node) *node {
	switch {
	case x.known() && y.known():
		return b.bool(x.k < y.k)
	case x.pure && y.pure && x.hi < y.lo:
		return b.k(1)
	case x.pure && y.pure && x.lo >= y.hi:
		return b.k(0)
	}
	return b.node(node{op: oLt, a: x, b: y, hi: 1})
}

func (b *build) not(x *node) *node {
	switch {
	case x.known():
		return b.bool(x.k == 0)
	case x.op == oNot:
		return x.a
	}
	return b.node(node{op: oNot, a: x, hi: 1})
}

// and joins from left to right. It drops what follows a constant FALSE, because
// that is not evaluated.
func (b *build) and(list ...*node) *node { return b.junction(oAnd, 0, list) }

func (b *build) or(list ...*node) *node { return b.junction(oOr, 1, list) }

func (b *build) junction(o op, end int64, list []*node) *node {
	var out []*node
	for _, n := range list {
		if n.is(1 - end) {
			continue
		}
		if n.op == o {
			out = append(out, n.list...)
		} else {
			out = append(out, n)
		}
		if n.is(end) {
			break
		}
	}
	switch {
	case len(out) == 0:
		return b.k(1 - end)
	case len(out) == 1:
		return out[0]
	}
	if last := out[len(out)-1]; last.is(end) {
		pure := true
		for _, n := range out {
			pure = pure && n.pure
		}
		if pure {
			return last
		}
	}
	return b.node(node{op: o, list: out, hi: 1})
}

func (b *build) cond(c, x, y *node) *node {
	if c.known() {
		if c.k != 0 {
			return x
		}
		return y
	}
	if x.known() && y.known() && x.k == y.k && c.pure {
		return x
	}
	return b.node(node{op: oIf, a: c, b: x, c: y, lo: min(x.lo, y.lo), hi: max(x.hi, y.hi)})
}

// word operations

func (b *build) band(x, y *node) *node {
	switch {
	case x.known() && y.known():
		return b.k(x.k & y.k)
	case x.is(0) && y.pure || y.is(0) && x.pure:
		return b.k(0)
	case x.is(-1):
		return y
	case y.is(-1):
		return x
	}
	return b.node(node{op: oBand, a: x, b: y})
}

func (b *build) bor(x, y *node) *node {
	switch {
	case x.known() && y.known():
		return b.k(x.k | y.k)
	case x.is(0):
		return y
	case y.is(0):
		return x
	}
	return b.node(node{op: oBor, a: x, b: y})
}

func (b *build) bdiff(x, y *node) *node {
	switch {
	case x.known() && y.known():
		return b.k(x.k &^ y.k)
	case x.is(0) && y.pure:
		return x
	case y.is(0):
		return x
	}
	return b.node(node{op: oBdiff, a: x, b: y})
}

// bit returns word k of the set that has only the bit i.
func (b *build) bit(i *node, k int) *node {
	if i.known() {
		if i.k < 0 || int(i.k>>6) != k {
			return b.k(0)
		}
		return b.k(1 << (i.k & 63))
	}
	return b.node(node{op: oBit, a: i, k: int64(k)})
}

// test returns a test whether bit i of the words is set; there is no bit -1.
func (b *build) test(words []*node, i *node) *node {
	if i.known() {
		if i.k < 0 || int(i.k>>6) >= len(words) {
			return b.k(0)
		}
		w := words[i.k>>6]
		if len(words) > 1 && !pureNodes(words) {
			return b.after(b.test([]*node{w}, b.k(i.k&63)), words)
		}
		if w.known() {
			return b.k(w.k >> (i.k & 63) & 1)
		}
		return b.bitOf(w, int(i.k&63), func() *node { return b.node(node{op: oTest, list: words, a: i, hi: 1}) })
	}
	n := b.node(node{op: oTest, list: words, a: i, hi: 1})
	if len(words) > 1 {
		return b.after(n, words)
	}
	return n
}

func (b *build) pop(words []*node) *node {
	n, known := 0, true
	for _, w := range words {
		known = known && w.known()
		n += bits.OnesCount64(uint64(w.k))
	}
	if known {
		return b.k(int64(n))
	}
	return b.node(node{op: oPop, list: words, hi: int64(64 * len(words))})
}

// table returns tab[i]; the code stops at missing entries.
func (b *build) table(tab []int64, i *node) *node {
	if i.known() {
		if i.k < 0 || i.k >= int64(len(tab)) || tab[i.k] == missing {
			return b.stop()
		}
		return b.k(tab[i.k])
	}
	lo, hi, partial := int64(1<<62), int64(-1<<62), i.lo < 0 || i.hi >= int64(len(tab))
	identity := true
	for j, v := range tab {
		if v == missing {
			partial, identity = true, false
			continue
		}
		identity = identity && v == int64(j)
		lo, hi = min(lo, v), max(hi, v)
	}
	if lo > hi {
		return b.stop()
	}
	if !partial && lo == hi && i.pure {
		return b.k(lo)
	}
	if !partial && identity {
		return i
	}
	n := node{op: oTab, a: i, tab: tab, lo: lo, hi: hi}
	if partial {
		n.k = 1
	}
	return b.node(n)
}
