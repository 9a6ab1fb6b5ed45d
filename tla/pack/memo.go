package pack

// Nodes are shared: what a set is filtered by is asked again wherever an
// element of the set is. A node that is used several times and depends on
// nothing but the state is computed once for it.

// memo is what a node gave in the state that had the number now.
type memo struct {
	now uint64
	v   int64
}

// memoSizeMin is the size from which on it pays to remember what a node gave.
const memoSizeMin = 10

// fresh begins with another state.
func (m *Machine) fresh() {
	m.last++
	m.now = m.last
}

func newCompiler(code *Code, uses map[*node]int, still bool) *compiler {
	return &compiler{nums: make(map[*node]num), tests: make(map[*node]test), execs: make(map[*stmt]exec), code: code, uses: uses, still: still}
}

// remembers says whether what n gives is remembered.
func (c *compiler) remembers(n *node) bool {
	return c.uses[n] > 1 && n.size >= memoSizeMin && len(n.free) == 0 && (c.still || !n.reads)
}

func (c *compiler) slot() int {
	c.code.memos++
	return c.code.memos - 1
}

func (c *compiler) memoNum(f num) num {
	slot := c.slot()
	return func(m *Machine) int64 {
		s := &m.memos[slot]
		if s.now != m.now {
			v := f(m)
			s.now, s.v = m.now, v
		}
		return s.v
	}
}

func (c *compiler) memoTest(f test) test {
	slot := c.slot()
	return func(m *Machine) bool {
		s := &m.memos[slot]
		if s.now != m.now {
			v := int64(0)
			if f(m) {
				v = 1
			}
			s.now, s.v = m.now, v
		}
		return s.v != 0
	}
}

// countUses counts how often each node is used.
func countUses(l *Lowered) map[*node]int {
	u := &useCounter{nodes: make(map[*node]int), stmts: make(map[*stmt]bool)}
	u.stmt(l.next)
	for _, p := range l.preds {
		u.node(p)
	}
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
