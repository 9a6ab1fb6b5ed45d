// SPDX-License-Identifier: Apache-2.0

package system

import (
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// operators are the definitions that a configuration gives to constant operators,
// by the name of the constant. A running system takes its constants from its own
// configuration, which has values but no operators, so the compiler compiles the
// operators into the system.
type operators map[string]*core.Def

// operatorsOf finds the operators of a specification in its configuration.
func operatorsOf(spec *core.Spec, cfg *config.Config) operators {
	out := operators{}
	for _, c := range spec.Constants {
		for _, r := range cfg.Overrides {
			if d := spec.Names[r.Op.Text]; c.Arity > 0 && c.Name == r.Name.Text && d != nil && len(d.Params) == c.Arity {
				out[c.Name] = d
			}
		}
	}
	return out
}

// expr replaces the constant operators in an expression.
func (o operators) expr(e core.Expr) core.Expr {
	if e == nil {
		return nil
	}
	return core.Transform(e, func(x core.Expr, again func(core.Expr) core.Expr) core.Expr {
		c, ok := x.(*core.ConstRef)
		if !ok || o[c.Const.Name] == nil || c.Const.Arity == 0 {
			return nil
		}
		if len(c.Args) == 0 {
			return &core.OpRef{At: c.At, Def: o[c.Const.Name]}
		}
		args := make([]core.Expr, len(c.Args))
		for i, a := range c.Args {
			args[i] = again(a)
		}
		return &core.Call{At: c.At, Def: o[c.Const.Name], Args: args}
	})
}

// define replaces the constant operators in definitions.
func (o operators) define(defs []*core.Def) {
	for _, d := range defs {
		d.Body = o.expr(d.Body)
	}
}

// algorithm replaces the constant operators in the compiled parts of an
// algorithm.
func (o operators) algorithm(a *pcal.Algorithm) {
	r := &pcal.Rewriter{Expr: func(e core.Expr) core.Expr {
		if _, ok := e.(*core.ConstRef); ok {
			return o.expr(e)
		}
		return nil
	}}
	variables := func(list []*pcal.Variable) {
		for _, v := range list {
			v.Init = r.X(v.Init)
		}
	}
	params := func(list []*pcal.Param) {
		for _, p := range list {
			p.Init = r.X(p.Init)
		}
	}
	blocks := func(list []*pcal.Block) {
		for _, b := range list {
			b.Body = r.Stmts(b.Body)
		}
	}
	o.define(a.Define)
	variables(a.Globals)
	for _, p := range a.Procedures {
		params(p.Params)
		variables(p.Locals)
		blocks(p.Blocks)
	}
	for _, t := range a.Archetypes {
		params(t.Params)
		variables(t.Locals)
		blocks(t.Blocks)
	}
	for _, m := range a.Mappings {
		m.Read, m.Write = r.Stmts(m.Read), r.Stmts(m.Write)
	}
	for _, in := range a.Instances {
		in.Id = r.X(in.Id)
		for i := range in.Args {
			in.Args[i].X = r.X(in.Args[i].X)
		}
	}
}
