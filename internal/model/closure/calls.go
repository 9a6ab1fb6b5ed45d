// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"github.com/ashlar-dev/ashlar/internal/model/memo"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// An operator that enumerates all functions between two sets, or all subsets of
// a set, takes much longer than a comparison of its arguments. If it depends on
// nothing else, its results are cached by its arguments.

// recall compiles the application of an operator so that its results are
// cached. inner is the plain application; recall returns it if caching would
// not pay.
func (c *compiler) recall(d *core.Def, args []core.Expr, x site, inner compiled) compiled {
	if inner.known || len(args) == 0 || c.in.Profile != nil || !c.laborious(d) {
		return inner
	}
	var given []expr
	for i, a := range args {
		if d.Params[i].Arity > 0 || c.facts(a, x).Volatile {
			return inner
		}
		given = append(given, c.expr(a, x).run)
	}
	at := c.memoSites
	c.memoSites++
	return code(func(m *Machine) value.Value {
		if !m.memos.Has(at) {
			return inner.run(m)
		}
		vals, hash := make([]value.Value, len(given)), uint64(0)
		var known value.Value
		found := false
		err := value.Catch(func() {
			for i, a := range given {
				if vals[i] = a(m); vals[i].Kind() == value.KindSet && !value.AtMost(vals[i], memo.CallsMax) {
					value.Fail("an argument is too large to be compared")
				}
				vals[i] = vals[i].Normal()
				hash = hash*31 + value.Hash(vals[i])
			}
			known, found = m.memos.Call(at, hash, vals)
		})
		if found {
			return known
		}
		v := inner.run(m) // also reports what is wrong with the arguments
		if err == nil {
			m.memos.SetCall(at, hash, vals, v)
		}
		return v
	})
}

// laborious reports whether computing an operator takes long and depends on its
// arguments only.
func (c *compiler) laborious(d *core.Def) bool {
	f := c.p.DefFacts(d)
	if d.Body == nil || d.Recursive || f.Level != core.ConstantLevel || f.Volatile || f.Locals {
		return false
	}
	many := func(e core.Expr) bool {
		switch e := e.(type) {
		case *core.FnSet:
			return true
		case *core.Op:
			return e.Op == core.OpSubset
		}
		return false
	}
	found := false
	core.Walk(d.Body, func(e core.Expr) bool {
		switch e := e.(type) {
		case *core.SetFilter:
			found = found || many(e.Bind.Set)
		case *core.Choose:
			found = found || e.Bind.Set != nil && many(e.Bind.Set)
		}
		return !found
	})
	return found
}
