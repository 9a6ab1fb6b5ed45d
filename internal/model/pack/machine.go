// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"math/bits"
)

// Code is lowered code as closures. It is immutable and safe for concurrent use.
type Code struct {
	layout *Layout
	next   exec
	preds  []test
	view   *viewCode
	regs   int
	// hopeless marks the predicates whose code always stops.
	hopeless []bool
	memos    int
}

type (
	num  func(*Machine) int64
	test func(*Machine) bool
	exec func(*Machine) bool // false: the enumeration is to end
)

// Machine runs code for one goroutine.
type Machine struct {
	code     *Code
	cur, nxt []uint64
	regs     []int64
	stopped  bool
	emit     func(action int) bool
	// memos cache the values of shared nodes. An entry is valid if its state
	// number is now.
	memos     []memo
	now, last uint64
	// For nested ENABLED, spare has the next states and depth counts the
	// levels. The search of an ENABLED ends when a next state is complete.
	spare [][]uint64
	depth int
	find  func(action int) bool
	found bool
}

// Compile makes closures from lowered code.
func Compile(l *Lowered) *Code {
	out := &Code{layout: l.layout, regs: l.regs}
	uses := countUses(l)
	if l.next != nil {
		out.next = newCompiler(out, uses, false).exec(l.next)
	}
	c := newCompiler(out, uses, true)
	for _, p := range l.preds {
		out.preds = append(out.preds, c.test(p))
		out.hopeless = append(out.hopeless, p.op == oStop)
	}
	out.view = c.view(l.view)
	return out
}

// Layout returns the layout of the states.
func (c *Code) Layout() *Layout { return c.layout }

// NewMachine returns a machine with memory of its own.
func NewMachine(c *Code) *Machine {
	m := &Machine{code: c, regs: make([]int64, c.regs), nxt: make([]uint64, c.layout.words), memos: make([]memo, c.memos)}
	m.find = func(int) bool {
		m.found = true
		return false
	}
	return m
}

// Next calls emit for every successor of cur, with its action and words, until
// emit returns false. The words belong to the machine and are valid until emit
// returns. Next returns false if the code stopped: the successors reported so
// far are correct, but there may be more.
func (m *Machine) Next(cur []uint64, emit func(action int, words []uint64) bool) (whole bool) {
	m.cur, m.stopped = cur, false
	m.fresh()
	copy(m.nxt, cur)
	m.emit = func(action int) bool { return emit(action, m.nxt) }
	m.code.next(m)
	return !m.stopped
}

// Start prepares Run. Run is Next with an emit that does not change and that
// gets the words from Words.
func (m *Machine) Start(emit func(action int) bool) { m.emit = emit }

// Run calls the emit of Start for every successor of cur.
func (m *Machine) Run(cur []uint64) (whole bool) {
	m.cur, m.stopped = cur, false
	m.fresh()
	copy(m.nxt, cur)
	m.code.next(m)
	return !m.stopped
}

// Words returns the words of the successor that is being emitted.
func (m *Machine) Words() []uint64 { return m.nxt }

// Holds evaluates predicate i in a state or, for a predicate about a step, in a
// state and its successor. ok is false if the code stopped.
func (m *Machine) Holds(i int, cur, nxt []uint64) (holds, ok bool) {
	c, n, s, now := m.cur, m.nxt, m.stopped, m.now
	m.cur, m.nxt, m.stopped = cur, nxt, false
	m.fresh()
	holds = m.code.preds[i](m)
	ok = !m.stopped
	m.cur, m.nxt, m.stopped, m.now = c, n, s, now
	return holds, ok
}

func (m *Machine) stop() int64 {
	m.stopped = true
	return 0
}

// compiler makes closures. It compiles shared nodes once.
type compiler struct {
	nums  map[*node]num
	tests map[*node]test
	execs map[*stmt]exec
	code  *Code
	uses  map[*node]int
	still bool // the next state does not change while the code runs
}

func (c *compiler) num(n *node) num {
	if f := c.nums[n]; f != nil {
		return f
	}
	f := c.makeNum(n)
	if c.remembers(n) {
		f = c.memoNum(f, n.free)
	}
	c.nums[n] = f
	return f
}

func (c *compiler) test(n *node) test {
	if f := c.tests[n]; f != nil {
		return f
	}
	f := c.makeTest(n)
	if c.remembers(n) {
		f = c.memoTest(f, n.free)
	}
	c.tests[n] = f
	return f
}

func (c *compiler) all(ns []*node) []num {
	out := make([]num, len(ns))
	for i, n := range ns {
		out[i] = c.num(n)
	}
	return out
}

func fromTest(t test) num {
	return func(m *Machine) int64 {
		if t(m) {
			return 1
		}
		return 0
	}
}

func (c *compiler) makeNum(n *node) num {
	switch n.op {
	case oConst:
		k := n.k
		return func(*Machine) int64 { return k }
	case oLoad:
		return loadNum(n)
	case oReg:
		r := n.k
		return func(m *Machine) int64 { return m.regs[r] }
	case oAdd, oSub, oMul:
		return c.sum(n)
	case oDiv, oMod:
		a, b, o := c.num(n.a), c.num(n.b), n.op
		return func(m *Machine) int64 {
			x, y := a(m), b(m)
			v, ok := arithmetic(o, x, y)
			if !ok {
				return m.stop()
			}
			return v
		}
	case oIf:
		p, a, b := c.test(n.a), c.num(n.b), c.num(n.c)
		return func(m *Machine) int64 {
			if p(m) {
				return a(m)
			}
			return b(m)
		}
	case oBand, oBor, oBdiff, oShl, oBit, oPop, oFilter, oRange:
		return c.word(n)
	case oTab:
		a, tab := c.num(n.a), n.tab
		return func(m *Machine) int64 {
			i := a(m)
			if uint64(i) >= uint64(len(tab)) || tab[i] == missing {
				return m.stop()
			}
			return tab[i]
		}
	case oSel:
		a, list := c.num(n.a), c.all(n.list)
		return func(m *Machine) int64 {
			i := a(m)
			if uint64(i) >= uint64(len(list)) {
				return m.stop()
			}
			return list[i](m)
		}
	case oFirst:
		return c.first(n)
	case oIn:
		a, lo, hi := c.num(n.a), n.lo, n.hi
		return func(m *Machine) int64 {
			v := a(m)
			if v < lo || v > hi {
				return m.stop()
			}
			return v
		}
	case oStop:
		return (*Machine).stop
	}
	return fromTest(c.test(n))
}

func loadNum(n *node) num {
	w, shift, mask, k := n.f.word, n.f.shift, n.f.mask(), n.k
	switch {
	case n.next:
		return func(m *Machine) int64 { return int64(m.nxt[w]>>shift&mask) + k }
	case k != 0:
		return func(m *Machine) int64 { return int64(m.cur[w]>>shift&mask) + k }
	}
	return func(m *Machine) int64 { return int64(m.cur[w] >> shift & mask) }
}

func (c *compiler) sum(n *node) num {
	a, b := c.num(n.a), c.num(n.b)
	var f func(x, y int64) int64
	switch n.op {
	case oAdd:
		if n.b.known() && n.pure {
			k := n.b.k
			return func(m *Machine) int64 { return a(m) + k }
		}
		f = func(x, y int64) int64 { return x + y }
	case oSub:
		if n.b.known() && n.pure {
			k := n.b.k
			return func(m *Machine) int64 { return a(m) - k }
		}
		f = func(x, y int64) int64 { return x - y }
	default:
		f = func(x, y int64) int64 { return x * y }
	}
	return func(m *Machine) int64 {
		x := a(m)
		v := f(x, b(m))
		if v != int64(int32(v)) {
			return m.stop()
		}
		return v
	}
}

func (c *compiler) word(n *node) num {
	switch n.op {
	case oBand:
		a, b := c.num(n.a), c.num(n.b)
		return func(m *Machine) int64 { return a(m) & b(m) }
	case oBor:
		if n.b.known() {
			a, k := c.num(n.a), n.b.k
			return func(m *Machine) int64 { return a(m) | k }
		}
		a, b := c.num(n.a), c.num(n.b)
		return func(m *Machine) int64 { return a(m) | b(m) }
	case oBdiff:
		a, b := c.num(n.a), c.num(n.b)
		return func(m *Machine) int64 { return a(m) &^ b(m) }
	case oShl:
		a, k := c.num(n.a), n.k
		if k < 0 {
			return func(m *Machine) int64 { return int64(uint64(a(m)) >> -k) }
		}
		return func(m *Machine) int64 { return a(m) << k }
	case oBit:
		a, k := c.num(n.a), n.k
		return func(m *Machine) int64 {
			i := a(m)
			if i < 0 || i>>6 != k {
				return 0
			}
			return 1 << (i & 63)
		}
	case oPop:
		list := c.all(n.list)
		return func(m *Machine) int64 {
			sum := 0
			for _, w := range list {
				sum += bits.OnesCount64(uint64(w(m)))
			}
			return int64(sum)
		}
	}
	if n.op == oRange {
		a, b, base := c.num(n.a), c.num(n.b), n.c.k+64*n.k
		return func(m *Machine) int64 {
			lo := a(m)
			return span(lo-base, b(m)-base)
		}
	}
	word, body, base, r := c.num(n.b), c.test(n.a), n.k>>32*64, int(uint32(n.k))
	return func(m *Machine) int64 {
		out := uint64(0)
		for w := uint64(word(m)); w != 0; w &= w - 1 {
			i := bits.TrailingZeros64(w)
			m.regs[r] = base + int64(i)
			if body(m) {
				out |= 1 << i
			}
		}
		return int64(out)
	}
}

// scan calls body for the set bits of list until body returns false. It returns
// true if body never did.
func (c *compiler) scan(list []*node, r int64) func(m *Machine, body test) bool {
	words := c.all(list)
	return func(m *Machine, body test) bool {
		for k, word := range words {
			for w := uint64(word(m)); w != 0; w &= w - 1 {
				m.regs[r] = int64(64*k + bits.TrailingZeros64(w))
				if !body(m) {
					return false
				}
			}
		}
		return true
	}
}

func (c *compiler) first(n *node) num {
	scan, body, r := c.scan(n.list, n.k), c.test(n.a), n.k
	miss := func(m *Machine) bool { return !body(m) }
	return func(m *Machine) int64 {
		if scan(m, miss) {
			return m.stop()
		}
		return m.regs[r]
	}
}

func (c *compiler) makeTest(n *node) test {
	switch n.op {
	case oConst:
		v := n.k != 0
		return func(*Machine) bool { return v }
	case oLoad:
		w, bit := n.f.word, uint64(1)<<n.f.shift
		if n.f.bits != 1 || n.k != 0 {
			break
		}
		if n.next {
			return func(m *Machine) bool { return m.nxt[w]&bit != 0 }
		}
		return func(m *Machine) bool { return m.cur[w]&bit != 0 }
	case oEq:
		return c.eq(n)
	case oLt:
		a, b := c.num(n.a), c.num(n.b)
		if n.a.known() {
			k := n.a.k
			return func(m *Machine) bool { return k < b(m) }
		}
		if n.b.known() {
			k := n.b.k
			return func(m *Machine) bool { return a(m) < k }
		}
		return func(m *Machine) bool {
			x := a(m)
			return x < b(m)
		}
	case oAnd, oOr:
		return c.junction(n)
	case oNot:
		a := c.test(n.a)
		return func(m *Machine) bool { return !a(m) }
	case oTest:
		return c.testBit(n)
	case oAny:
		scan, body := c.scan(n.list, n.k), c.test(n.a)
		miss := func(m *Machine) bool { return !body(m) }
		return func(m *Machine) bool { return !scan(m, miss) }
	case oAll:
		scan, body := c.scan(n.list, n.k), c.test(n.a)
		return func(m *Machine) bool { return scan(m, body) }
	case oIf:
		p, a, b := c.test(n.a), c.test(n.b), c.test(n.c)
		return func(m *Machine) bool {
			if p(m) {
				return a(m)
			}
			return b(m)
		}
	case oEnabled:
		return c.enabled(n.body)
	case oStop:
		return func(m *Machine) bool {
			m.stopped = true
			return false
		}
	}
	a := c.num(n)
	return func(m *Machine) bool { return a(m) != 0 }
}

func (c *compiler) eq(n *node) test {
	a, b := n.a, n.b
	if b.known() && a.op == oLoad {
		x := uint64(b.k - a.k)
		if x > a.f.mask() {
			return func(*Machine) bool { return false }
		}
		w, mask, want := a.f.word, a.f.mask()<<a.f.shift, x<<a.f.shift
		if a.next {
			return func(m *Machine) bool { return m.nxt[w]&mask == want }
		}
		return func(m *Machine) bool { return m.cur[w]&mask == want }
	}
	x := c.num(a)
	if b.known() {
		k := b.k
		return func(m *Machine) bool { return x(m) == k }
	}
	y := c.num(b)
	return func(m *Machine) bool {
		v := x(m)
		return v == y(m)
	}
}

func (c *compiler) junction(n *node) test {
	list := make([]test, len(n.list))
	for i, x := range n.list {
		list[i] = c.test(x)
	}
	end := n.op == oOr
	if len(list) == 2 {
		a, b := list[0], list[1]
		if end {
			return func(m *Machine) bool { return a(m) || b(m) }
		}
		return func(m *Machine) bool { return a(m) && b(m) }
	}
	return func(m *Machine) bool {
		for _, t := range list {
			if t(m) == end {
				return end
			}
		}
		return !end
	}
}

func (c *compiler) testBit(n *node) test {
	if n.a.known() {
		x, bit := n.list[n.a.k>>6], uint64(1)<<(n.a.k&63)
		if x.op == oLoad {
			w, at := x.f.word, bit<<x.f.shift
			if x.next {
				return func(m *Machine) bool { return m.nxt[w]&at != 0 }
			}
			return func(m *Machine) bool { return m.cur[w]&at != 0 }
		}
		word := c.num(x)
		return func(m *Machine) bool { return uint64(word(m))&bit != 0 }
	}
	a, words := c.num(n.a), c.all(n.list)
	return func(m *Machine) bool {
		i := a(m)
		if i < 0 || i>>6 >= int64(len(words)) {
			return false
		}
		return words[i>>6](m)>>(i&63)&1 != 0
	}
}

func (c *compiler) exec(s *stmt) exec {
	if f := c.execs[s]; f != nil {
		return f
	}
	f := c.makeExec(s)
	c.execs[s] = f
	return f
}

func (c *compiler) makeExec(s *stmt) exec {
	switch s.op {
	case sGuard:
		p, next := c.test(s.a), c.exec(s.next)
		return func(m *Machine) bool { return !p(m) || next(m) }
	case sStore:
		return c.storeExec(s)
	case sOr:
		list := make([]exec, len(s.list))
		for i, x := range s.list {
			list[i] = c.exec(x)
		}
		return func(m *Machine) bool {
			for _, x := range list {
				if !x(m) {
					return false
				}
			}
			return true
		}
	case sBits:
		words, next, r := c.all(s.words), c.exec(s.next), s.k
		return func(m *Machine) bool {
			for k, word := range words {
				for w := uint64(word(m)); w != 0; w &= w - 1 {
					m.regs[r] = int64(64*k + bits.TrailingZeros64(w))
					if !next(m) {
						return false
					}
				}
			}
			return true
		}
	case sEmit:
		action := int(s.k)
		return func(m *Machine) bool { return !m.stopped && m.emit(action) }
	case sStop:
		return func(m *Machine) bool {
			m.stopped = true
			return false
		}
	}
	return func(m *Machine) bool { return !m.stopped }
}

func (c *compiler) storeExec(s *stmt) exec {
	next, w, shift, low := c.exec(s.next), s.f.word, s.f.shift, s.k
	mask := s.f.mask() << shift
	if s.a.known() {
		bits := uint64(s.a.k-low) << shift & mask
		return func(m *Machine) bool {
			old := m.nxt[w]
			m.nxt[w] = old&^mask | bits
			ok := next(m)
			m.nxt[w] = old
			return ok
		}
	}
	a := c.num(s.a)
	return func(m *Machine) bool {
		old := m.nxt[w]
		m.nxt[w] = old&^mask | uint64(a(m)-low)<<shift&mask
		ok := next(m)
		m.nxt[w] = old
		return ok
	}
}

// Hopeless reports whether predicate i was not lowered, so that its code always
// stops.
func (c *Code) Hopeless(i int) bool { return c.hopeless[i] }
