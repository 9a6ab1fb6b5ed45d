// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// assignTo compiles v' = e.
func assignTo(v *core.Variable, e compiled, k act) act {
	i, run := v.Index, e.run
	return func(m *Machine) bool {
		x := run(m)
		if old := m.nxt[i]; !old.IsUndefined() {
			return !value.Equal(old, x) || k(m)
		}
		m.nxt[i] = x.Normal()
		ok := k(m)
		m.nxt[i] = value.Value{}
		return ok
	}
}

// assignIn compiles v' \in S.
func (c *compiler) assignIn(v *core.Variable, set core.Expr, x site, k act) act {
	i := v.Index
	current := code(func(m *Machine) value.Value { return m.nxt[i] })
	test := c.member(current, set, x)
	run := c.expr(set, x).run
	return func(m *Machine) bool {
		if !m.nxt[i].IsUndefined() {
			return !test(m) || k(m)
		}
		for y := range run(m).Each {
			m.poll()
			m.nxt[i] = y.Normal()
			ok := k(m)
			m.nxt[i] = value.Value{}
			if !ok {
				return false
			}
		}
		return true
	}
}

// assignable returns the variable whose next value e denotes, or nil.
func (c *compiler) assignable(e core.Expr, x site) *core.Variable {
	switch e := e.(type) {
	case *core.VarRef:
		if x.mode.primed {
			return e.Var
		}
	case *core.Op:
		if e.Op == core.OpPrime && !x.mode.primed {
			x.mode.primed = true
			return c.assignable(e.Args[0], x)
		}
	case *core.LocalRef:
		if b := x.sc.lookup(e.Local); b != nil && b.kind == isName && len(e.Args) == 0 {
			return c.assignable(b.expr, site{fn: b.owner, sc: b.scope, mode: x.mode})
		}
	case *core.Call:
		if len(e.Args) > 0 {
			return nil
		}
		if b := x.sc.lookupDef(e.Def); b != nil {
			if b.kind != isName {
				return nil
			}
			return c.assignable(b.expr, site{fn: b.owner, sc: b.scope, mode: x.mode})
		}
		if d, _ := c.p.Resolve(e.Def); d != nil && d.Body != nil && !d.Recursive && !c.p.IsNative(d) {
			return c.assignable(d.Body, site{fn: x.fn, mode: x.mode})
		}
	}
	return nil
}

// unchangedAct compiles UNCHANGED e. It decomposes tuples and definitions into
// variables.
func (c *compiler) unchangedAct(e core.Expr, x site, k act) act {
	if !x.mode.primed {
		if vars := c.variables(e, x, nil); len(vars) > 0 {
			return unchangedVars(vars, k)
		}
		switch e := e.(type) {
		case *core.Tuple:
			for i := len(e.Elems) - 1; i >= 0; i-- {
				k = c.unchangedAct(e.Elems[i], x, k)
			}
			return k
		case *core.Call:
			if len(e.Args) > 0 {
				break
			}
			if b := x.sc.lookupDef(e.Def); b != nil {
				if b.kind == isName && b.owner == x.fn {
					return c.unchangedAct(b.expr, site{fn: x.fn, sc: b.scope, mode: x.mode, unrolled: x.unrolled, open: b.open}, k)
				}
				break
			}
			if d, _ := c.p.Resolve(e.Def); d != nil && d.Body != nil && !d.Recursive && !c.p.IsNative(d) {
				return c.unchangedAct(d.Body, site{fn: x.fn, mode: x.mode, unrolled: x.unrolled, open: x.open}, k)
			}
		case *core.LocalRef:
			if b := x.sc.lookup(e.Local); b != nil && b.kind == isName && b.owner == x.fn && len(e.Args) == 0 {
				return c.unchangedAct(b.expr, site{fn: x.fn, sc: b.scope, mode: x.mode, unrolled: x.unrolled, open: b.open}, k)
			}
		}
	}
	same := c.unchangedPred(e, x)
	return func(m *Machine) bool { return !same(m) || k(m) }
}

// unchangedVars gives variables their old values if they have no new ones yet.
func unchangedVars(vars []*core.Variable, k act) act {
	if len(vars) > unchangedMax {
		k, vars = unchangedVars(vars[unchangedMax:], k), vars[:unchangedMax]
	}
	places := make([]int, len(vars))
	for j, v := range vars {
		places[j] = v.Index
	}
	return func(m *Machine) bool {
		var assigned uint64
		same := true
		for j, i := range places {
			if old := m.nxt[i]; !old.IsUndefined() {
				if !value.Equal(old, m.cur[i]) {
					same = false
					break
				}
				continue
			}
			m.nxt[i] = m.cur[i]
			assigned |= 1 << j
		}
		ok := !same || k(m)
		for j, i := range places {
			if assigned&(1<<j) != 0 {
				m.nxt[i] = value.Value{}
			}
		}
		return ok
	}
}
