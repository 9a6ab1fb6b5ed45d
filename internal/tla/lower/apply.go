// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/resolve"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// apply lowers the use of a symbol with arguments.
func (r *reader) apply(s *resolve.Symbol, args []syntax.Expr, a core.At) core.Expr {
	return r.applyTo(s, nil, args, a)
}

// applyTo is apply for a call whose first arguments are already lowered; those
// are values.
func (r *reader) applyTo(s *resolve.Symbol, done []core.Expr, args []syntax.Expr, a core.At) core.Expr {
	if s == nil {
		return &core.Bad{At: a} // an error was reported for the name
	}
	list := append([]core.Expr(nil), done...)
	for i := len(done); i < len(args); i++ {
		list = append(list, r.argument(args[i], s.Params[i]))
	}
	return r.applied(s, list, a)
}

func (r *reader) argument(e syntax.Expr, arity int) core.Expr {
	if arity > 0 {
		return r.operator(e, arity)
	}
	return r.expr(e)
}

// applied applies s to lowered arguments.
func (r *reader) applied(s *resolve.Symbol, args []core.Expr, a core.At) core.Expr {
	switch s.Kind {
	case resolve.Builtin:
		return builtin(s.Name, args, a)
	case resolve.Constant:
		return &core.ConstRef{At: a, Const: r.constant(s), Args: args}
	case resolve.Variable:
		return &core.VarRef{At: a, Var: r.variable(s)}
	case resolve.Bound:
		if x, ok := r.meanings[s]; ok {
			if len(args) > 0 {
				return core.ApplyOperator(x, args, a)
			}
			return x
		}
		return &core.LocalRef{At: a, Local: r.local(s), Args: args}
	case resolve.Operator, resolve.Function, resolve.Fact:
		if own := r.selves[s]; own != nil {
			own.used = true
			return &core.LocalRef{At: a, Local: own.local}
		}
		return &core.Call{At: a, Def: r.def(s), Args: args}
	}
	invariant.Unreachable(s)
	return nil
}

// operator lowers an argument for an operator parameter.
func (r *reader) operator(e syntax.Expr, arity int) core.Expr {
	switch e := e.(type) {
	case *syntax.Ident:
		return r.standsFor(r.info.Uses[e], arity, e.Span())
	case *syntax.OpRef:
		return r.standsFor(r.info.Uses[e], arity, e.Span())
	case *syntax.Lambda:
		params := r.bindAll(r.info.Binds[e])
		return &core.Lambda{At: at(e), Params: params, Body: r.expr(e.Body)}
	case *syntax.Path:
		use := r.info.Paths[e]
		if use == nil {
			break
		}
		d, first := r.target(use)
		return closure(d, first, at(e))
	}
	return &core.Bad{At: at(e)}
}

// standsFor returns a symbol as an operator or, if arity is 0, as a value.
func (r *reader) standsFor(s *resolve.Symbol, arity int, span source.Span) core.Expr {
	a := core.At{Place: span}
	switch {
	case s == nil:
		return &core.Bad{At: a}
	case arity == 0:
		return r.applied(s, nil, a)
	case s.Kind == resolve.Builtin:
		l := &core.Lambda{At: a}
		var args []core.Expr
		for i := range arity {
			p := &core.Local{Name: string(rune('a' + i)), Span: span}
			l.Params = append(l.Params, p)
			args = append(args, &core.LocalRef{At: a, Local: p})
		}
		l.Body = builtin(s.Name, args, a)
		return l
	case s.Kind == resolve.Operator:
		return &core.OpRef{At: a, Def: r.def(s)}
	}
	return r.applied(s, nil, a) // a constant operator or an operator parameter
}

// builtin applies an operator of the language.
func builtin(name string, args []core.Expr, a core.At) core.Expr {
	switch name {
	case "TRUE", "FALSE":
		return &core.Bool{At: a, Val: name == "TRUE"}
	case `/\`:
		return &core.And{At: a, List: args}
	case `\/`:
		return &core.Or{At: a, List: args}
	case `\X`:
		return &core.Times{At: a, Sets: args}
	}
	op, ok := opCodes[name]
	invariant.Check(ok, "no operator %s", name)
	return &core.Op{At: a, Op: op, Args: args}
}

// opCodes maps the names of the language's operators to their codes. It is
// never changed.
var opCodes = map[string]core.OpCode{
	"~": core.OpNot, "=>": core.OpImplies, "<=>": core.OpEquiv, "=": core.OpEq, "/=": core.OpNe,
	`\in`: core.OpIn, `\notin`: core.OpNotIn, `\subseteq`: core.OpSubseteq, `\cup`: core.OpCup, `\cap`: core.OpCap, `\`: core.OpDiff,
	"SUBSET": core.OpSubset, "UNION": core.OpUnion, "DOMAIN": core.OpDomain, "BOOLEAN": core.OpBoolean, "STRING": core.OpString,
	"'": core.OpPrime, "ENABLED": core.OpEnabled, "UNCHANGED": core.OpUnchanged, `\cdot`: core.OpCompose,
	"[]": core.OpAlways, "<>": core.OpEventually, "~>": core.OpLeadsTo, "-+->": core.OpGuarantee,
}

// path lowers A!B(x)!C and the selection of a part of a definition.
func (r *reader) path(e *syntax.Path) core.Expr {
	use := r.info.Paths[e]
	if use == nil {
		return &core.Bad{At: at(e)}
	}
	if use.Part != nil {
		return r.part(use, at(e))
	}
	d, args := r.target(use)
	for i, x := range use.Args {
		args = append(args, r.argument(x, use.Target.Params[i]))
	}
	if own := r.selves[use.Target]; own != nil && len(use.Through) == 0 {
		own.used = true
		return &core.LocalRef{At: at(e), Local: own.local}
	}
	return &core.Call{At: at(e), Def: d, Args: args}
}

// target returns the definition that a path leads to and the arguments for the
// instances on the path.
func (r *reader) target(use *resolve.PathUse) (*core.Def, []core.Expr) {
	return r.alongPath(use, r.def(use.Target))
}

func (r *reader) alongPath(use *resolve.PathUse, d *core.Def) (*core.Def, []core.Expr) {
	for i := len(use.Through) - 1; i >= 0; i-- {
		d = r.seenThrough(use.Through[i].Instance, d)
	}
	var args []core.Expr
	for _, hop := range use.Through {
		for i, x := range hop.Args {
			args = append(args, r.argument(x, hop.Instance.Params[i]))
		}
	}
	return d, args
}

// part lowers a selected subexpression. It first makes the subexpression the
// body of a definition whose parameters are the names that the path gives
// values. Instances change that definition like any other. Then part
// substitutes the body.
func (r *reader) part(use *resolve.PathUse, a core.At) core.Expr {
	if r.full {
		return &core.Bad{At: a}
	}
	target := use.Target
	for target.Origin != nil {
		target = target.Origin
	}
	d := &core.Def{Name: target.Name, Module: target.Module.Name, Span: target.Span}
	var values []core.Expr
	for i, x := range use.Args {
		values = append(values, r.argument(x, target.Params[i]))
	}
	for _, g := range use.Part.Given {
		values = append(values, r.argument(g.Value, g.Name.Arity()))
	}
	inner := r.Program.reader()
	// A Fact has no Formals; the values come in the order of the parameters.
	d.Params = inner.bindAll(target.Formals)
	for _, g := range use.Part.Given {
		d.Params = append(d.Params, inner.bind(g.Name))
	}
	saved := map[*resolve.Symbol]*core.Local{}
	if base := r.defs[target]; base != nil {
		for i, f := range target.Formals {
			saved[f] = base.Params[i]
		}
	}
	d.Body = inner.inLets(use.Part.Lets, func() core.Expr {
		// A LET that defines the selected operator has bound its parameters anew.
		for i, g := range use.Part.Given {
			inner.locals[g.Name] = d.Params[len(target.Formals)+i]
		}
		return inner.expr(use.Part.Expr)
	})
	for f, l := range saved {
		r.locals[f] = l // the definition itself may still be waiting
	}
	r.addTask(d, &task{begun: true, build: func() {}})
	seen := d
	for s := use.Target; s.Origin != nil; s = s.Origin {
		seen = r.context(s.Instance).copy(seen)
	}
	seen, args := r.alongPath(use, seen)
	r.complete(seen)
	replace := map[*core.Local]core.Expr{}
	for i, x := range append(args, values...) {
		replace[seen.Params[i]] = x
	}
	return r.bounded(core.Substitute(core.Rename(seen.Body), replace))
}

// inLets lowers a part of a definition inside the LETs that are around it.
func (r *reader) inLets(lets []*syntax.Let, part func() core.Expr) core.Expr {
	if len(lets) == 0 {
		return part()
	}
	return r.letOf(lets[0], func() core.Expr { return r.inLets(lets[1:], part) })
}
