// SPDX-License-Identifier: Apache-2.0

package pack

// Nodes are shared: for instance, the words of a set may be evaluated again for
// each element. A node that is used several times and depends only on the state
// is computed once per state.

// memo is the cached value of a node: it is valid in the state with number now,
// if the registers that the node reads have the values regs.
type memo struct {
	now     uint64
	regs, v int64
}

// memoSizeMin is the minimum size of a node for which caching pays.
const memoSizeMin = 10

// fresh begins a new state, which invalidates all cached values.
func (m *Machine) fresh() {
	m.last++
	m.now = m.last
}

func newCompiler(code *Code, uses map[*node]int, still bool) *compiler {
	return &compiler{nums: make(map[*node]num), tests: make(map[*node]test), execs: make(map[*stmt]exec), code: code, uses: uses, still: still}
}

// remembers reports whether the value of n is cached.
func (c *compiler) remembers(n *node) bool {
	return c.uses[n] > 1 && n.size >= memoSizeMin && len(n.free) <= 2 && (c.still || !n.reads)
}

func (c *compiler) slot() int {
	c.code.memos++
	return c.code.memos - 1
}

// registers combines the values of at most two registers into one number. The
// values are numbers of elements of universes, so they are small.
func registers(free []int64) num {
	switch len(free) {
	case 0:
		return func(*Machine) int64 { return 0 }
	case 1:
		r := free[0]
		return func(m *Machine) int64 { return m.regs[r] }
	}
	r, q := free[0], free[1]
	return func(m *Machine) int64 { return m.regs[r]<<32 | m.regs[q] }
}

func (c *compiler) memoNum(f num, free []int64) num {
	slot := c.slot()
	if len(free) > 0 {
		key := registers(free)
		return func(m *Machine) int64 {
			s, k := &m.memos[slot], key(m)
			if s.now != m.now || s.regs != k {
				v := f(m)
				*s = memo{m.now, k, v}
			}
			return s.v
		}
	}
	return func(m *Machine) int64 {
		s := &m.memos[slot]
		if s.now != m.now {
			v := f(m)
			s.now, s.v = m.now, v
		}
		return s.v
	}
}

func (c *compiler) memoTest(f test, free []int64) test {
	n := c.memoNum(fromTest(f), free)
	return func(m *Machine) bool { return n(m) != 0 }
}

// enabled compiles ENABLED A; body is the code of A, which emits when a next
// state is complete.
func (c *compiler) enabled(body *stmt) test {
	if c.still {
		c = newCompiler(c.code, c.uses, false)
	}
	run := c.exec(body)
	return func(m *Machine) bool {
		nxt, emit, found := m.nxt, m.emit, m.found
		if m.depth == len(m.spare) {
			m.spare = append(m.spare, make([]uint64, m.code.layout.words))
		}
		m.nxt, m.emit, m.found = m.spare[m.depth], m.find, false
		copy(m.nxt, m.cur)
		m.depth++
		run(m)
		m.depth--
		found, m.found = m.found, found
		m.nxt, m.emit = nxt, emit
		return found
	}
}

// countUses counts how often each node is used.
func countUses(l *Lowered) map[*node]int {
	u := &useCounter{nodes: make(map[*node]int), stmts: make(map[*stmt]bool)}
	u.stmt(l.next)
	for _, p := range l.preds {
		u.node(p)
	}
	u.view(l.view)
	return u.nodes
}

type useCounter struct {
	nodes map[*node]int
	stmts map[*stmt]bool
}

func (u *useCounter) node(n *node) {
	if n == nil || n.size < memoSizeMin {
		return
	}
	if u.nodes[n]++; u.nodes[n] > 1 {
		return
	}
	u.node(n.a)
	u.node(n.b)
	u.node(n.c)
	for _, x := range n.list {
		u.node(x)
	}
	u.stmt(n.body)
}

func (u *useCounter) view(v *view) {
	if v != nil {
		for _, p := range v.parts {
			u.node(p.a)
		}
	}
}

func (u *useCounter) stmt(s *stmt) {
	if s == nil || u.stmts[s] {
		return
	}
	u.stmts[s] = true
	u.node(s.a)
	for _, x := range s.words {
		u.node(x)
	}
	u.stmt(s.next)
	for _, x := range s.list {
		u.stmt(x)
	}
}
