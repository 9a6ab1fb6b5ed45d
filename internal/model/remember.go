package model

import (
	"math/bits"

	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// States are tuples of numbered values, and most of what is evaluated depends
// on one variable only: guards, the conjuncts of invariants, the right sides
// of assignments. Its result is remembered by the number of that variable's
// value, so that it is computed once per value and not once per state.

// memoBytesMax bounds what a machine remembers.
const memoBytesMax = 96 << 20

// memoNodesMin is the size from which on remembering pays.
const memoNodesMin = 4

// memos is what a machine remembers, by site: for predicates 0 (not known), 1
// (false) or 2 (true), for assignments the number of the result plus one.
type memos struct {
	preds  [][]uint8
	assign [][]uint32
	calls  []recalled
	bytes  int
}

func newMemos(sites int) memos {
	return memos{preds: make([][]uint8, sites), assign: make([][]uint32, sites), calls: make([]recalled, sites)}
}

// grown is a table with room for index n, or the table as it is where there is
// no memory left for it.
func grown[T uint8 | uint32](m *memos, table []T, n, size int) []T {
	const least = 64
	want := max(least, 1<<bits.Len(uint(n)))
	if m.bytes+(want-len(table))*size > memoBytesMax {
		return table
	}
	m.bytes += (want - len(table)) * size
	out := make([]T, want)
	copy(out, table)
	return out
}

// onlyVariable is the variable that e depends on alone, so that its value may
// be remembered; -1 where there is no such variable.
func (c *compiler) onlyVariable(e core.Expr, x site) int {
	if x.mode.primed || x.mode.epoch != 0 || x.remembered {
		return -1
	}
	f := c.facts(e, x)
	if f.level != core.StateLevel || f.volatile || f.locals || f.nodes < memoNodesMin || bits.OnesCount64(f.vars) != 1 {
		return -1
	}
	i := bits.TrailingZeros64(f.vars)
	if i >= varBits {
		return -1
	}
	return i
}

// rememberPred compiles a predicate of one variable; nil where e is none.
func (c *compiler) rememberPred(e core.Expr, x site) pred {
	i := c.onlyVariable(e, x)
	if i < 0 {
		return nil
	}
	x.remembered = true
	p := c.pred(e, x)
	site := c.memoSites
	c.memoSites++
	return func(m *machine) bool {
		if m.curIDs == nil {
			return p(m)
		}
		id := int(m.curIDs[i])
		if table := m.memos.preds[site]; id < len(table) {
			switch table[id] {
			case 1:
				return false
			case 2:
				return true
			}
		}
		ok := p(m)
		m.rememberPred(site, id, ok)
		return ok
	}
}

func (m *machine) rememberPred(site, id int, ok bool) {
	if ok {
		m.rememberNumber(site, id, 2)
	} else {
		m.rememberNumber(site, id, 1)
	}
}

// rememberNumber remembers a small number that is not 0.
func (m *machine) rememberNumber(site, id int, n uint8) {
	if id == 0 || site >= len(m.memos.preds) {
		return
	}
	table := m.memos.preds[site]
	if id >= len(table) {
		table = grown(&m.memos, table, id, 1)
		m.memos.preds[site] = table
		if id >= len(table) {
			return
		}
	}
	table[id] = n
}

// assignOne compiles v' = e where e depends on one variable; nil where it does
// not.
func (c *compiler) assignOne(v *core.Variable, e core.Expr, x site, k act) act {
	if v.Index >= len(c.p.spec.Variables) {
		return nil // a shadow: no state has it, and it has no table
	}
	j := c.onlyVariable(e, x)
	if j < 0 {
		return nil
	}
	x.remembered = true
	run := c.expr(e, x).run
	slow := assignTo(v, compiled{run: run}, k)
	site, i, table := c.memoSites, v.Index, c.m.codec.Vars[v.Index]
	c.memoSites++
	return func(m *machine) bool {
		if m.curIDs == nil || m.nxtIDs == nil || !m.nxt[i].IsUndefined() {
			return slow(m)
		}
		from, to := int(m.curIDs[j]), uint32(0)
		if known := m.memos.assign[site]; from < len(known) {
			to = known[from]
		}
		if to == 0 {
			y := run(m).Normal()
			if to = m.rememberAssign(site, from, table, y); to == 0 {
				m.nxt[i] = y
			}
		}
		if to != 0 {
			m.nxt[i] = table.At(to - 1)
		}
		m.nxtIDs[i] = to
		ok := k(m)
		m.nxt[i], m.nxtIDs[i] = value.Value{}, 0
		return ok
	}
}

// rememberAssign numbers y and remembers it as what the value numbered from
// leads to; 0 where it cannot.
func (m *machine) rememberAssign(site, from int, table *vector.Table, y value.Value) uint32 {
	if from == 0 || site >= len(m.memos.assign) {
		return 0
	}
	h := value.Hash(y)
	id, ok := table.Find(y, h)
	if !ok {
		// It is numbered when the successor is encoded, and remembered the next
		// time.
		return 0
	}
	known := m.memos.assign[site]
	if from >= len(known) {
		const size = 4
		known = grown(&m.memos, known, from, size)
		m.memos.assign[site] = known
		if from >= len(known) {
			return id + 1
		}
	}
	known[from] = id + 1
	return id + 1
}
