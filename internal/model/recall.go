package model

import (
	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// An operator that goes through all functions between two sets, or through all
// subsets of one, takes much longer than to compare its arguments. Where it
// depends on nothing else, its results are remembered by them.

// recalledMax is how many results each application remembers.
const recalledMax = 64

// recalled are results of one application by the hash of the arguments.
type recalled map[uint64]result

type result struct {
	args []value.Value
	val  value.Value
}

// recall compiles the application of an operator whose results are remembered;
// inner is that application. It is inner where that would not pay.
func (c *compiler) recall(d *core.Def, args []core.Expr, x site, inner compiled) compiled {
	if inner.known || len(args) == 0 || c.m.profile != nil || !c.laborious(d) {
		return inner
	}
	var given []expr
	for i, a := range args {
		if d.Params[i].Arity > 0 || c.facts(a, x).volatile {
			return inner
		}
		given = append(given, c.expr(a, x).run)
	}
	at := c.memoSites
	c.memoSites++
	return code(func(m *machine) value.Value {
		if at >= len(m.memos.calls) {
			return inner.run(m)
		}
		vals, hash := make([]value.Value, len(given)), uint64(0)
		known, found := result{}, false
		err := value.Catch(func() {
			for i, a := range given {
				if vals[i] = a(m); vals[i].Kind() == value.KindSet && !value.AtMost(vals[i], recalledMax) {
					value.Fail("an argument is too large to be compared")
				}
				vals[i] = vals[i].Normal()
				hash = hash*31 + value.Hash(vals[i])
			}
			known = m.memos.calls[at][hash]
			found = known.of(vals)
		})
		if found {
			return known.val
		}
		v := inner.run(m) // also tells what is wrong with the arguments
		if err == nil {
			if m.memos.calls[at] == nil {
				m.memos.calls[at] = make(recalled)
			}
			if len(m.memos.calls[at]) < recalledMax {
				m.memos.calls[at][hash] = result{vals, v}
			}
		}
		return v
	})
}

// of reports whether the result is that of these arguments.
func (r *result) of(vals []value.Value) bool {
	if len(r.args) != len(vals) {
		return false
	}
	for i, v := range vals {
		if r.args[i].Kind() != v.Kind() || !value.Equal(r.args[i], v) {
			return false
		}
	}
	return true
}

// laborious reports whether the value of an operator takes long and depends on its
// arguments only.
func (c *compiler) laborious(d *core.Def) bool {
	f := c.p.defFacts(d)
	if d.Body == nil || d.Recursive || f.level != core.ConstantLevel || f.volatile || f.locals {
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
