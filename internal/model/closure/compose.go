// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"github.com/ashlar-dev/ashlar/internal/model/rule"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// compose compiles A \cdot B: it executes B in every state that A reaches.
func (c *compiler) compose(e *core.Op, x site, k act) act {
	if x.mode.primed {
		return c.guard(e, x, k)
	}
	c.epochs++
	inner := x
	inner.mode.epoch = c.epochs
	second := c.act(e.Args[1], inner, func(m *Machine) bool {
		// From here on the numbers of values are not known, so k caches
		// nothing. k is rarely long.
		mid := m.cur
		m.cur = m.composed[len(m.composed)-1]
		top := m.composed
		m.composed = top[:len(top)-1]
		ok := k(m)
		m.composed = top
		m.cur = mid
		return ok
	})
	first := c.act(e.Args[0], x, func(m *Machine) bool {
		rule.Complete(m.nxt, m.vars)
		cur, mid := m.cur, m.nxt
		target := m.targets[len(m.targets)-1]
		m.composed = append(m.composed, cur)
		m.cur, m.nxt = mid, target
		ok := second(m)
		m.cur, m.nxt = cur, mid
		m.composed = m.composed[:len(m.composed)-1]
		return ok
	})
	return func(m *Machine) bool {
		target := m.nxt
		m.targets = append(m.targets, target)
		mid := m.vector()
		curIDs, nxtIDs := m.curIDs, m.nxtIDs
		m.nxt, m.curIDs, m.nxtIDs = mid, nil, nil
		ok := first(m)
		m.nxt, m.curIDs, m.nxtIDs = target, curIDs, nxtIDs
		m.done(mid)
		m.targets = m.targets[:len(m.targets)-1]
		return ok
	}
}

// enabled compiles ENABLED A: a search for a next state.
func (c *compiler) enabled(e core.Expr, x site) pred {
	inner := x
	moved := x.mode.primed
	if moved {
		c.epochs++
		inner.mode = mode{epoch: c.epochs}
	}
	search := c.act(e, inner, func(*Machine) bool { return false })
	return func(m *Machine) bool {
		cur, nxt, action := m.cur, m.nxt, m.action
		curIDs, nxtIDs := m.curIDs, m.nxtIDs
		m.nxtIDs = nil
		if moved {
			if nxt == nil {
				value.Fail("a primed expression has no value here: there is no next state")
			}
			rule.Complete(nxt, m.vars)
			m.cur, m.curIDs = nxt, nil
		}
		scratch := m.vector()
		m.nxt = scratch
		found := !search(m)
		m.done(scratch)
		m.cur, m.nxt, m.action = cur, nxt, action
		m.curIDs, m.nxtIDs = curIDs, nxtIDs
		return found
	}
}

// composedPred compiles A \cdot B as a test: a search for an intermediate
// state.
func (c *compiler) composedPred(e *core.Op, x site) pred {
	if x.mode.primed {
		return func(*Machine) bool {
			value.Fail("a primed expression cannot be primed again")
			return false
		}
	}
	c.epochs++
	inner := x
	inner.mode.epoch = c.epochs
	second := c.pred(e.Args[1], inner)
	first := c.act(e.Args[0], x, func(m *Machine) bool {
		rule.Complete(m.nxt, m.vars)
		cur, mid := m.cur, m.nxt
		m.cur, m.nxt = mid, m.targets[len(m.targets)-1]
		ok := second(m)
		m.cur, m.nxt = cur, mid
		return !ok
	})
	return func(m *Machine) bool {
		target := m.nxt
		m.targets = append(m.targets, target)
		mid := m.vector()
		curIDs, nxtIDs := m.curIDs, m.nxtIDs
		m.nxt, m.curIDs, m.nxtIDs = mid, nil, nil
		found := !first(m)
		m.nxt, m.curIDs, m.nxtIDs = target, curIDs, nxtIDs
		m.done(mid)
		m.targets = m.targets[:len(m.targets)-1]
		return found
	}
}
