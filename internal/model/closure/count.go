// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// countPred compiles a predicate with code that counts its evaluations.
func (c *compiler) countPred(e core.Expr, x site) pred {
	n := c.counted(e, true)
	defer c.inside(e)()
	run := c.predicate(e, x)
	if n < 0 {
		return run
	}
	return func(m *Machine) bool {
		if m.profiled == nil {
			return run(m)
		}
		before := m.profiled.Enter(n)
		ok := run(m)
		m.profiled.Set(before)
		if ok {
			m.profiled.Pass(n)
		}
		return ok
	}
}

// countExpr adds code that counts the evaluations of an expression.
func (c *compiler) countExpr(e core.Expr, run expr) expr {
	n := c.counted(e, false)
	if n < 0 {
		return run
	}
	return func(m *Machine) value.Value {
		if m.profiled == nil {
			return run(m)
		}
		before := m.profiled.Enter(n)
		v := run(m)
		m.profiled.Set(before)
		return v
	}
}

// countAct compiles a part of an action with code that counts its evaluations.
func (c *compiler) countAct(e core.Expr, x site, k act) act {
	n := c.counted(e, true)
	if n < 0 {
		return c.plainAct(e, x, k)
	}
	defer c.inside(e)()
	run := c.plainAct(e, x, func(m *Machine) bool {
		if m.profiled == nil {
			return k(m)
		}
		m.profiled.Pass(n)
		m.profiled.Set(0) // what follows is not a part of it
		ok := k(m)
		m.profiled.Set(n + 1)
		return ok
	})
	return func(m *Machine) bool {
		if m.profiled == nil {
			return run(m)
		}
		before := m.profiled.Enter(n)
		ok := run(m)
		m.profiled.Set(before)
		return ok
	}
}

// counted returns the profile's site of an expression, or -1 if the expression
// is not counted.
func (c *compiler) counted(e core.Expr, predicate bool) int32 {
	if c.in.Profile == nil || c.uncounted || e == c.counting {
		return -1
	}
	return c.in.Profile.Site(e, predicate)
}

// inside marks an expression as already counted while it is compiled, so that
// compiling it in another form does not count it again. The returned function
// ends that.
func (c *compiler) inside(e core.Expr) (end func()) {
	before := c.counting
	c.counting = e
	return func() { c.counting = before }
}
