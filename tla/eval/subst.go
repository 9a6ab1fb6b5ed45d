package eval

import "github.com/ashlar-dev/ashlar/tla/core"

// instantiate returns the body of d with args for its parameters. Names that
// the body binds are renamed, so that nothing in args is captured.
func instantiate(d *core.Def, args []core.Expr) core.Expr {
	if len(d.Params) == 0 {
		return d.Body
	}
	s := &substitution{locals: make(map[*core.Local]core.Expr), defs: make(map[*core.Def]*core.Def)}
	for i, l := range d.Params {
		s.locals[l] = args[i]
	}
	return s.expr(d.Body)
}

// substitution replaces names by expressions.
type substitution struct {
	locals map[*core.Local]core.Expr
	defs   map[*core.Def]*core.Def // LET definitions that were copied
}

func (s *substitution) fresh(l *core.Local) *core.Local {
	if l == nil {
		return nil
	}
	n := *l
	s.locals[l] = &core.LocalRef{At: core.At{Place: l.Span}, Local: &n}
	return &n
}

func (s *substitution) freshAll(ls []*core.Local) []*core.Local {
	out := make([]*core.Local, len(ls))
	for i, l := range ls {
		out[i] = s.fresh(l)
	}
	return out
}

func (s *substitution) list(es []core.Expr) []core.Expr {
	if len(es) == 0 {
		return nil
	}
	out := make([]core.Expr, len(es))
	for i, e := range es {
		out[i] = s.expr(e)
	}
	return out
}

// binds substitutes in the sets first: none of them sees the bound names.
func (s *substitution) binds(bs []core.Bind) []core.Bind {
	out := make([]core.Bind, len(bs))
	for i, b := range bs {
		out[i] = b
		if b.Set != nil {
			if i > 0 && bs[i-1].Set == b.Set {
				out[i].Set = out[i-1].Set
			} else {
				out[i].Set = s.expr(b.Set)
			}
		}
	}
	for i, b := range bs {
		out[i].Vars = s.freshAll(b.Vars)
	}
	return out
}

func (s *substitution) bind(b core.Bind) core.Bind { return s.binds([]core.Bind{b})[0] }

func (s *substitution) fields(fs []core.Field) []core.Field {
	out := make([]core.Field, len(fs))
	for i, f := range fs {
		out[i] = core.Field{Name: f.Name, X: s.expr(f.X)}
	}
	return out
}

// localRef replaces a name; where it is an operator that is applied, the
// application is made of the replacement.
func (s *substitution) localRef(e *core.LocalRef) core.Expr {
	x, ok := s.locals[e.Local]
	args := s.list(e.Args)
	if !ok {
		return &core.LocalRef{At: e.At, Local: e.Local, Args: args}
	}
	if len(args) == 0 {
		if r, ok := x.(*core.LocalRef); ok {
			return &core.LocalRef{At: e.At, Local: r.Local, Args: r.Args}
		}
		return x
	}
	switch x := x.(type) {
	case *core.OpRef:
		return &core.Call{At: e.At, Def: x.Def, Args: args}
	case *core.LocalRef:
		return &core.LocalRef{At: e.At, Local: x.Local, Args: args}
	case *core.ConstRef:
		return &core.ConstRef{At: e.At, Const: x.Const, Args: args}
	case *core.Lambda:
		return instantiate(&core.Def{Params: x.Params, Body: x.Body}, args)
	}
	return &core.Bad{At: e.At}
}

func (s *substitution) let(e *core.Let) core.Expr {
	defs := make([]*core.Def, len(e.Defs))
	for i, d := range e.Defs {
		c := *d
		defs[i] = &c
		s.defs[d] = &c
	}
	for i, d := range e.Defs {
		defs[i].Params = s.freshAll(d.Params)
		if d.Body != nil {
			defs[i].Body = s.expr(d.Body)
		}
	}
	return &core.Let{At: e.At, Defs: defs, Body: s.expr(e.Body)}
}

func (s *substitution) except(e *core.Except) core.Expr {
	out := &core.Except{At: e.At, Fn: s.expr(e.Fn)}
	for _, u := range e.Updates {
		n := core.Update{}
		for _, ix := range u.Path {
			if ix.X != nil {
				ix.X = s.expr(ix.X)
			}
			n.Path = append(n.Path, ix)
		}
		n.At = s.fresh(u.At)
		n.Value = s.expr(u.Value)
		out.Updates = append(out.Updates, n)
	}
	return out
}

func (s *substitution) def(d *core.Def) *core.Def {
	if c, ok := s.defs[d]; ok {
		return c
	}
	return d
}

func (s *substitution) expr(e core.Expr) core.Expr {
	switch e := e.(type) {
	case *core.LocalRef:
		return s.localRef(e)
	case *core.ConstRef:
		return &core.ConstRef{At: e.At, Const: e.Const, Args: s.list(e.Args)}
	case *core.Call:
		return &core.Call{At: e.At, Def: s.def(e.Def), Args: s.list(e.Args)}
	case *core.OpRef:
		return &core.OpRef{At: e.At, Def: s.def(e.Def)}
	case *core.Lambda:
		return &core.Lambda{At: e.At, Params: s.freshAll(e.Params), Body: s.expr(e.Body)}
	case *core.Op:
		return &core.Op{At: e.At, Op: e.Op, Args: s.list(e.Args)}
	case *core.And:
		return &core.And{At: e.At, List: s.list(e.List)}
	case *core.Or:
		return &core.Or{At: e.At, List: s.list(e.List)}
	case *core.If:
		return &core.If{At: e.At, Cond: s.expr(e.Cond), Then: s.expr(e.Then), Else: s.expr(e.Else)}
	case *core.Case:
		out := &core.Case{At: e.At}
		for _, a := range e.Arms {
			out.Arms = append(out.Arms, core.Arm{Cond: s.expr(a.Cond), Body: s.expr(a.Body)})
		}
		if e.Other != nil {
			out.Other = s.expr(e.Other)
		}
		return out
	case *core.Let:
		return s.let(e)
	case *core.Quant:
		bs := s.binds(e.Binds)
		return &core.Quant{At: e.At, Exists: e.Exists, Binds: bs, Body: s.expr(e.Body)}
	case *core.TemporalQuant:
		return &core.TemporalQuant{At: e.At, Exists: e.Exists, Vars: e.Vars, Body: s.expr(e.Body)}
	case *core.Choose:
		b := s.bind(e.Bind)
		return &core.Choose{At: e.At, Bind: b, Body: s.expr(e.Body)}
	case *core.Box:
		return &core.Box{At: e.At, Action: s.expr(e.Action), Sub: s.expr(e.Sub)}
	case *core.Angle:
		return &core.Angle{At: e.At, Action: s.expr(e.Action), Sub: s.expr(e.Sub)}
	case *core.Fair:
		f := &core.Fair{At: e.At, Strong: e.Strong, Sub: s.expr(e.Sub), Action: s.expr(e.Action)}
		if e.Possible != nil {
			f.Possible = s.expr(e.Possible)
		}
		return f
	}
	return s.term(e)
}

// term substitutes in the forms that make sets, functions and records.
func (s *substitution) term(e core.Expr) core.Expr {
	switch e := e.(type) {
	case *core.SetEnum:
		return &core.SetEnum{At: e.At, Elems: s.list(e.Elems)}
	case *core.SetFilter:
		b := s.bind(e.Bind)
		return &core.SetFilter{At: e.At, Bind: b, Pred: s.expr(e.Pred)}
	case *core.SetMap:
		bs := s.binds(e.Binds)
		return &core.SetMap{At: e.At, Binds: bs, Body: s.expr(e.Body)}
	case *core.Fn:
		bs := s.binds(e.Binds)
		self := s.fresh(e.Self)
		return &core.Fn{At: e.At, Self: self, Binds: bs, Body: s.expr(e.Body)}
	case *core.FnSet:
		return &core.FnSet{At: e.At, Dom: s.expr(e.Dom), Rng: s.expr(e.Rng)}
	case *core.Apply:
		return &core.Apply{At: e.At, Fn: s.expr(e.Fn), Arg: s.expr(e.Arg)}
	case *core.Record:
		return &core.Record{At: e.At, Fields: s.fields(e.Fields)}
	case *core.RecordSet:
		return &core.RecordSet{At: e.At, Fields: s.fields(e.Fields)}
	case *core.Select:
		return &core.Select{At: e.At, X: s.expr(e.X), Field: e.Field}
	case *core.Except:
		return s.except(e)
	case *core.Tuple:
		return &core.Tuple{At: e.At, Elems: s.list(e.Elems)}
	case *core.Times:
		return &core.Times{At: e.At, Sets: s.list(e.Sets)}
	}
	return e
}
