// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"math/bits"

	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// States are tuples of numbered values, and most guards, conjuncts of
// invariants and right-hand sides of assignments depend on one variable only.
// Their results are cached by the number of that variable's value, so that they
// are computed once per value and not once per state.

// memoNodesMin is the minimum size of an expression for which caching pays.
const memoNodesMin = 4

// onlyVariable returns the only variable on which e depends, so that the value
// of e can be cached; -1 if there is no such variable.
func (c *compiler) onlyVariable(e core.Expr, x site) int {
	if x.mode.primed || x.mode.epoch != 0 || x.remembered {
		return -1
	}
	f := c.facts(e, x)
	if f.Level != core.StateLevel || f.Volatile || f.Locals || f.Nodes < memoNodesMin || bits.OnesCount64(f.Vars) != 1 {
		return -1
	}
	i := bits.TrailingZeros64(f.Vars)
	if i >= program.VarBits {
		return -1
	}
	return i
}

// rememberPred compiles a predicate of one variable; nil if e is not such a
// predicate.
func (c *compiler) rememberPred(e core.Expr, x site) pred {
	i := c.onlyVariable(e, x)
	if i < 0 {
		return nil
	}
	x.remembered = true
	p := c.pred(e, x)
	site := c.memoSites
	c.memoSites++
	return func(m *Machine) bool {
		if m.curIDs == nil {
			return p(m)
		}
		id := int(m.curIDs[i])
		switch m.memos.Pred(site, id) {
		case isFalse:
			return false
		case isTrue:
			return true
		}
		ok := p(m)
		if ok {
			m.memos.SetPred(site, id, isTrue)
		} else {
			m.memos.SetPred(site, id, isFalse)
		}
		return ok
	}
}

// The cached results of a predicate; 0 means that none is cached.
const (
	isFalse = 1
	isTrue  = 2
)

// assignOne compiles v' = e if e depends on one variable; nil otherwise.
func (c *compiler) assignOne(v *core.Variable, e core.Expr, x site, k act) act {
	if v.Index >= len(c.p.Spec.Variables) {
		return nil // a shadow: no state has it, and it has no table
	}
	j := c.onlyVariable(e, x)
	if j < 0 {
		return nil
	}
	x.remembered = true
	run := c.expr(e, x).run
	slow := assignTo(v, compiled{run: run}, k)
	site, i, table := c.memoSites, v.Index, c.in.Codec.Vars[v.Index]
	c.memoSites++
	return func(m *Machine) bool {
		if m.curIDs == nil || m.nxtIDs == nil || !m.nxt[i].IsUndefined() {
			return slow(m)
		}
		from := int(m.curIDs[j])
		to := m.memos.Assigned(site, from)
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

// rememberAssign caches y's number as the result for the value with number
// from. It returns 0 if it cannot.
func (m *Machine) rememberAssign(site, from int, table *vector.Table, y value.Value) uint32 {
	if from == 0 || !m.memos.Has(site) {
		return 0
	}
	id, ok := table.Find(y, value.Hash(y))
	if !ok {
		// The successor's encoding will give y a number, and the next
		// evaluation will cache it.
		return 0
	}
	m.memos.SetAssigned(site, from, id+1)
	return id + 1
}
