// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"strconv"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/resolve"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
	"github.com/ashlar-dev/ashlar/tla/stdlib"
)

// reader lowers the expressions of one definition.
type reader struct {
	*Program
	// selves maps the functions whose definitions enclose the expression to the
	// names that denote them there.
	selves map[*resolve.Symbol]*self
	// at is the stack of meanings of @, innermost last.
	at []*self
}

// self is a name that is bound only if it is used.
type self struct {
	local *core.Local
	used  bool
}

func (p *Program) reader() *reader {
	return &reader{Program: p, selves: map[*resolve.Symbol]*self{}}
}

// body lowers the definition of s into d.
func (p *Program) body(s *resolve.Symbol, d *core.Def) { p.reader().body(s, d) }

func (r *reader) body(s *resolve.Symbol, d *core.Def) {
	if d.Native && stdlib.Lookup(d.Module, d.Name).Primitive {
		return // the text of the module is only a placeholder
	}
	switch n := s.Node.(type) {
	case *syntax.OperatorDef:
		d.Body = r.expr(n.Body)
	case *syntax.Theorem:
		d.Body = r.expr(n.Body)
	case *syntax.Assume:
		d.Body = r.expr(n.Body)
	case *syntax.FunctionDef:
		own := &self{local: &core.Local{Name: s.Name, Span: s.Span}}
		r.selves[s] = own
		fn := &core.Fn{At: core.At{Place: n.Span()}}
		fn.Binds = r.binds(n.Bounds, n)
		fn.Body = r.expr(n.Body)
		if own.used {
			fn.Self = own.local
		}
		delete(r.selves, s)
		d.Body = fn
	default:
		invariant.Unreachable(s.Node)
	}
}

func at(n syntax.Node) core.At { return core.At{Place: n.Span()} }

func (r *reader) exprs(list []syntax.Expr) []core.Expr {
	out := make([]core.Expr, len(list))
	for i, x := range list {
		out[i] = r.expr(x)
	}
	return out
}

// expr lowers an expression that has a value.
func (r *reader) expr(e syntax.Expr) core.Expr {
	switch e := e.(type) {
	case *syntax.Ident:
		return r.apply(r.info.Uses[e], nil, at(e))
	case *syntax.Dollar:
		return r.apply(r.info.Uses[e], nil, at(e))
	case *syntax.Apply:
		return r.apply(r.info.Uses[e], e.Args, at(e))
	case *syntax.Prefix:
		return r.apply(r.info.Uses[e], []syntax.Expr{e.X}, at(e))
	case *syntax.Postfix:
		return r.apply(r.info.Uses[e], []syntax.Expr{e.X}, at(e))
	case *syntax.Infix:
		return r.infix(e)
	case *syntax.Path:
		return r.path(e)
	case *syntax.Junction:
		return r.junction(e.Op.Text, r.exprs(e.Items), at(e))
	case *syntax.Product:
		return &core.Times{At: at(e), Sets: r.exprs(e.Factors)}
	case *syntax.SetEnum:
		return &core.SetEnum{At: at(e), Elems: r.exprs(e.Elems)}
	case *syntax.Tuple:
		return &core.Tuple{At: at(e), Elems: r.exprs(e.Elems)}
	case *syntax.FnSet:
		return &core.FnSet{At: at(e), Dom: r.expr(e.Domain), Rng: r.expr(e.Range)}
	case *syntax.Index:
		return &core.Apply{At: at(e), Fn: r.expr(e.Fn), Arg: r.index(e.Args, e)}
	case *syntax.Record:
		return &core.Record{At: at(e), Fields: r.fields(e.Fields)}
	case *syntax.RecordSet:
		return &core.RecordSet{At: at(e), Fields: r.fields(e.Fields)}
	case *syntax.Field:
		return &core.Select{At: at(e), X: r.expr(e.X), Field: e.Name.Text}
	case *syntax.If:
		return &core.If{At: at(e), Cond: r.expr(e.Cond), Then: r.expr(e.Then), Else: r.expr(e.Else)}
	case *syntax.Case:
		out := &core.Case{At: at(e)}
		for _, a := range e.Arms {
			out.Arms = append(out.Arms, core.Arm{Cond: r.expr(a.Guard), Body: r.expr(a.Value)})
		}
		if e.Other != nil {
			out.Other = r.expr(e.Other)
		}
		return out
	case *syntax.Label:
		return r.expr(e.Body)
	case *syntax.Action:
		if e.Angle {
			return &core.Angle{At: at(e), Action: r.expr(e.Body), Sub: r.expr(e.Vars)}
		}
		return &core.Box{At: at(e), Action: r.expr(e.Body), Sub: r.expr(e.Vars)}
	case *syntax.Fairness:
		return &core.Fair{At: at(e), Strong: e.Strong, Sub: r.expr(e.Vars), Action: r.expr(e.Body)}
	case *syntax.Number:
		return r.number(e)
	case *syntax.String:
		return &core.Str{At: at(e), Val: e.Value}
	}
	return r.binder(e)
}

// binder lowers the expressions that bind names.
func (r *reader) binder(e syntax.Expr) core.Expr {
	switch e := e.(type) {
	case *syntax.Quant:
		if e.Kind == syntax.TemporalForall || e.Kind == syntax.TemporalExists {
			out := &core.TemporalQuant{At: at(e), Exists: e.Kind == syntax.TemporalExists}
			for _, s := range r.info.Binds[e] {
				v := &core.Variable{Name: s.Name, Index: -1, Span: s.Span}
				r.variables[s] = v
				out.Vars = append(out.Vars, v)
			}
			out.Body = r.expr(e.Body)
			return out
		}
		b := r.binds(e.Bounds, e)
		return &core.Quant{At: at(e), Exists: e.Kind == syntax.Exists, Binds: b, Body: r.expr(e.Body)}
	case *syntax.Choose:
		b := r.binds([]syntax.Bound{e.Bound}, e)
		return &core.Choose{At: at(e), Bind: b[0], Body: r.expr(e.Body)}
	case *syntax.SetFilter:
		b := r.binds([]syntax.Bound{e.Bound}, e)
		return &core.SetFilter{At: at(e), Bind: b[0], Pred: r.expr(e.Pred)}
	case *syntax.SetMap:
		b := r.binds(e.Bounds, e)
		return &core.SetMap{At: at(e), Binds: b, Body: r.expr(e.Elem)}
	case *syntax.Fn:
		b := r.binds(e.Bounds, e)
		return &core.Fn{At: at(e), Binds: b, Body: r.expr(e.Body)}
	case *syntax.Except:
		return r.except(e)
	case *syntax.At:
		a := r.at[len(r.at)-1]
		a.used = true
		return &core.LocalRef{At: at(e), Local: a.local}
	case *syntax.Let:
		return r.let(e)
	case *syntax.BadExpr:
		return &core.Bad{At: at(e)}
	}
	invariant.Unreachable(e)
	return nil
}

// index returns the argument of a function application; several arguments
// become one tuple.
func (r *reader) index(args []syntax.Expr, n syntax.Node) core.Expr {
	if len(args) == 1 {
		return r.expr(args[0])
	}
	out := &core.Tuple{At: at(n), Elems: r.exprs(args)}
	out.Place.Start, out.Place.End = args[0].Span().Start, args[len(args)-1].Span().End
	return out
}

func (r *reader) fields(list []syntax.RecordField) []core.Field {
	out := make([]core.Field, len(list))
	for i, f := range list {
		out[i] = core.Field{Name: f.Name.Text, X: r.expr(f.Value)}
	}
	return out
}

// binds lowers the sets of bounds and makes the names that node binds.
func (r *reader) binds(bounds []syntax.Bound, node syntax.Node) []core.Bind {
	var out []core.Bind
	sets := make([]core.Expr, len(bounds))
	for i, b := range bounds {
		if b.Set != nil {
			sets[i] = r.expr(b.Set)
		}
	}
	names := r.bindAll(r.info.Binds[node])
	for i, b := range bounds {
		mine := names[:len(b.Names)]
		names = names[len(b.Names):]
		if b.Tuple {
			out = append(out, core.Bind{Vars: mine, Tuple: true, Set: sets[i]})
			continue
		}
		for j := range mine {
			out = append(out, core.Bind{Vars: mine[j : j+1 : j+1], Set: sets[i]})
		}
	}
	return out
}

func (r *reader) except(e *syntax.Except) core.Expr {
	out := &core.Except{At: at(e), Fn: r.expr(e.X)}
	for _, u := range e.Updates {
		v := core.Update{Path: r.accessors(u.Path)}
		old := &self{local: &core.Local{Name: "@", Span: u.Span()}}
		r.at = append(r.at, old)
		v.Value = r.expr(u.Value)
		r.at = r.at[:len(r.at)-1]
		if old.used {
			v.At = old.local
		}
		out.Updates = append(out.Updates, v)
	}
	return out
}

func (r *reader) accessors(path []syntax.Accessor) []core.Index {
	out := make([]core.Index, len(path))
	for i, a := range path {
		if a.Field.IsZero() {
			out[i].X = r.index(a.Index, a)
		} else {
			out[i].Field = a.Field.Text
		}
	}
	return out
}

// let lowers LET. If something calls a definition through an instance in the
// LET, that definition becomes one of the LET.
func (r *reader) let(e *syntax.Let) core.Expr {
	return r.letOf(e, func() core.Expr { return r.expr(e.Body) })
}

// letOf lowers the definitions of a LET around the result of body.
func (r *reader) letOf(e *syntax.Let, body func() core.Expr) core.Expr {
	out := &core.Let{At: at(e)}
	var todo []*resolve.Symbol
	for _, u := range e.Units {
		s := r.info.Defs[u]
		switch u := u.(type) {
		case *syntax.OperatorDef, *syntax.FunctionDef:
			d := r.newDef(s)
			d.Native = false // it only has the name of one
			r.defs[s] = d
			r.tasks[d] = &task{nested: true, begun: true}
			todo = append(todo, s)
		case *syntax.Instance:
			r.newContext(r.info.Instances[u], out)
		}
	}
	for _, s := range todo {
		d := r.defs[s]
		r.body(s, d)
		out.Defs = append(out.Defs, d)
	}
	out.Body = body()
	if len(out.Defs) == 0 {
		return out.Body
	}
	return out
}

func (r *reader) number(e *syntax.Number) core.Expr {
	if e.Fraction != "" {
		return &core.Decimal{At: at(e), Text: e.Digits + "." + e.Fraction}
	}
	n, err := strconv.ParseInt(e.Digits, e.Base, 64)
	if err != nil {
		r.diags.Errorf(e.Span(), NumberTooLarge, "the number does not fit 64 bits")
		return &core.Bad{At: at(e)}
	}
	return &core.Int{At: at(e), Val: n}
}

// infix lowers a chain of operators along its left spine, in a loop. Chains
// of one conjunction or disjunction become one list.
func (r *reader) infix(e *syntax.Infix) core.Expr {
	spine := []*syntax.Infix{e}
	for {
		left, ok := spine[len(spine)-1].Left.(*syntax.Infix)
		if !ok {
			break
		}
		spine = append(spine, left)
	}
	last := len(spine) - 1
	got := r.expr(spine[last].Left)
	for i := last; i >= 0; i-- {
		x := spine[i]
		s := r.info.Uses[x]
		if s == nil {
			got = &core.Bad{At: at(x)}
			continue
		}
		if s.Kind == resolve.Builtin && (s.Name == `/\` || s.Name == `\/`) {
			list := []core.Expr{got}
			for ; ; i-- {
				list = append(list, r.chain(s.Name, spine[i].Right)...)
				if i == 0 || r.info.Uses[spine[i-1]] != s {
					break
				}
			}
			got = r.junction(s.Name, list, at(spine[i]))
			continue
		}
		got = r.applyTo(s, []core.Expr{got}, []syntax.Expr{nil, x.Right}, at(x))
	}
	return got
}

// chain lowers the right side of a junction. If it has the same operator, its
// items join the list.
func (r *reader) chain(op string, e syntax.Expr) []core.Expr {
	x := r.expr(e)
	if _, ok := e.(*syntax.Infix); ok {
		switch x := x.(type) {
		case *core.And:
			if op == `/\` {
				return x.List
			}
		case *core.Or:
			if op == `\/` {
				return x.List
			}
		}
	}
	return []core.Expr{x}
}

func (r *reader) junction(op string, list []core.Expr, a core.At) core.Expr {
	switch {
	case len(list) == 1:
		return list[0]
	case op == `/\`:
		return &core.And{At: a, List: list}
	}
	return &core.Or{At: a, List: list}
}
