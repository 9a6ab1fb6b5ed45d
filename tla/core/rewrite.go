package core

import "github.com/ashlar-dev/ashlar/internal/invariant"

// Rewrite returns e with parts replaced. It calls replace for every node from
// the outside in; where replace returns an expression, that stands in the
// node's place and is not looked at again; where it returns nil, the parts of
// the node are rewritten. What does not change is shared with e. Definitions
// of a LET in e that change become new ones, and the calls of them follow.
func Rewrite(e Expr, replace func(Expr) Expr) Expr {
	return Transform(e, func(x Expr, _ func(Expr) Expr) Expr { return replace(x) })
}

// Transform is Rewrite with a replace that keeps parts of the node in what it
// returns: it passes those to again, so that they are rewritten too.
func Transform(e Expr, replace func(x Expr, again func(Expr) Expr) Expr) Expr {
	r := &rewriter{replace: replace}
	return r.expr(e)
}

// Rename gives every name bound in e a fresh Local, and every definition of a
// LET in e a fresh Def, so that the result can stand inside a copy of itself.
func Rename(e Expr) Expr {
	r := &rewriter{replace: keep, locals: map[*Local]*Local{}}
	return r.expr(e)
}

// Substitute returns e with names replaced by expressions. An operator
// parameter is replaced by an OpRef, a Lambda, or a LocalRef or ConstRef that
// stands for an operator; its applications become calls, and a Lambda is
// applied on the spot.
func Substitute(e Expr, values map[*Local]Expr) Expr {
	if len(values) == 0 {
		return e
	}
	return Transform(e, func(x Expr, again func(Expr) Expr) Expr {
		ref, ok := x.(*LocalRef)
		if !ok {
			return nil
		}
		v, ok := values[ref.Local]
		if !ok {
			return nil
		}
		if len(ref.Args) == 0 {
			return v
		}
		args := make([]Expr, len(ref.Args))
		for i, a := range ref.Args {
			args[i] = again(a)
		}
		return ApplyOperator(v, args, ref.At)
	})
}

func keep(Expr, func(Expr) Expr) Expr { return nil }

// ApplyOperator applies op, an expression that stands for an operator, to arguments.
func ApplyOperator(op Expr, args []Expr, at At) Expr {
	switch op := op.(type) {
	case *OpRef:
		return &Call{At: at, Def: op.Def, Args: args}
	case *LocalRef:
		return &LocalRef{At: at, Local: op.Local, Args: args}
	case *ConstRef:
		return &ConstRef{At: at, Const: op.Const, Args: args}
	case *Lambda:
		r := &rewriter{replace: keep, locals: map[*Local]*Local{}}
		values := map[*Local]Expr{}
		for i, p := range op.Params {
			values[r.fresh(p)] = args[i]
		}
		return Substitute(r.expr(op.Body), values)
	case *Bad:
		return op
	}
	invariant.Unreachable(op)
	return nil
}

type rewriter struct {
	replace func(Expr, func(Expr) Expr) Expr
	// locals, when not nil, asks for fresh names.
	locals map[*Local]*Local
	defs   map[*Def]*Def
	// changes counts replacements, and led what was led to copies of
	// definitions, so that a LET knows whether it has any.
	changes int
	led     map[*Def]int
}

// lead is the copy of a LET's definition, if d is one.
func (r *rewriter) lead(d *Def) (*Def, bool) {
	to, ok := r.defs[d]
	if ok {
		r.led[d]++
	}
	return to, ok
}

// ledElsewhere counts what was led to copies of definitions other than these.
func (r *rewriter) ledElsewhere(defs []*Def) int {
	n := 0
	for _, k := range r.led {
		n += k
	}
	for _, d := range defs {
		n -= r.led[d]
	}
	return n
}

func (r *rewriter) fresh(l *Local) *Local {
	if r.locals == nil {
		return l
	}
	n := &Local{Name: l.Name, Arity: l.Arity, Span: l.Span}
	r.locals[l] = n
	r.changes++
	return n
}

func (r *rewriter) freshAll(ls []*Local) []*Local {
	if r.locals == nil {
		return ls
	}
	out := make([]*Local, len(ls))
	for i, l := range ls {
		out[i] = r.fresh(l)
	}
	return out
}

// list rewrites a list, and returns it itself when nothing changed.
func (r *rewriter) list(in []Expr) []Expr {
	for i, x := range in {
		if y := r.expr(x); y != x {
			out := append([]Expr(nil), in[:i]...)
			out = append(out, y)
			for _, z := range in[i+1:] {
				out = append(out, r.expr(z))
			}
			return out
		}
	}
	return in
}

func same(a, b []Expr) bool { return len(a) == 0 || &a[0] == &b[0] }

func (r *rewriter) fields(in []Field) ([]Field, bool) {
	changed := false
	out := make([]Field, len(in))
	for i, f := range in {
		out[i] = Field{f.Name, r.expr(f.X)}
		changed = changed || out[i].X != f.X
	}
	return out, changed
}

// binds rewrites the sets, which do not see the names, and then renames.
func (r *rewriter) binds(in []Bind) ([]Bind, bool) {
	changed := r.locals != nil
	out := make([]Bind, len(in))
	for i, b := range in {
		out[i] = b
		switch {
		case b.Set == nil:
		case i > 0 && in[i-1].Set == b.Set:
			out[i].Set = out[i-1].Set
		default:
			out[i].Set = r.expr(b.Set)
			changed = changed || out[i].Set != b.Set
		}
	}
	for i := range out {
		out[i].Vars = r.freshAll(out[i].Vars)
	}
	return out, changed
}

func (r *rewriter) expr(e Expr) Expr {
	if x := r.replace(e, r.expr); x != nil {
		r.changes++
		return x
	}
	switch e := e.(type) {
	case *Int, *Decimal, *Str, *Bool, *VarRef, *Bad:
		return e
	case *ConstRef:
		if a := r.list(e.Args); !same(a, e.Args) {
			return &ConstRef{e.At, e.Const, a}
		}
	case *LocalRef:
		a := r.list(e.Args)
		if l, ok := r.locals[e.Local]; ok {
			return &LocalRef{e.At, l, a}
		}
		if !same(a, e.Args) {
			return &LocalRef{e.At, e.Local, a}
		}
	case *OpRef:
		if d, ok := r.lead(e.Def); ok {
			return &OpRef{e.At, d}
		}
	case *Call:
		a := r.list(e.Args)
		if d, ok := r.lead(e.Def); ok {
			return &Call{e.At, d, a}
		}
		if !same(a, e.Args) {
			return &Call{e.At, e.Def, a}
		}
	case *Op:
		if a := r.list(e.Args); !same(a, e.Args) {
			return &Op{e.At, e.Op, a}
		}
	case *And:
		if a := r.list(e.List); !same(a, e.List) {
			return &And{e.At, a}
		}
	case *Or:
		if a := r.list(e.List); !same(a, e.List) {
			return &Or{e.At, a}
		}
	case *If:
		c, t, f := r.expr(e.Cond), r.expr(e.Then), r.expr(e.Else)
		if c != e.Cond || t != e.Then || f != e.Else {
			return &If{e.At, c, t, f}
		}
	case *Case:
		return r.caseExpr(e)
	case *Let:
		return r.let(e)
	case *SetEnum:
		if a := r.list(e.Elems); !same(a, e.Elems) {
			return &SetEnum{e.At, a}
		}
	case *Tuple:
		if a := r.list(e.Elems); !same(a, e.Elems) {
			return &Tuple{e.At, a}
		}
	case *Times:
		if a := r.list(e.Sets); !same(a, e.Sets) {
			return &Times{e.At, a}
		}
	case *FnSet:
		d, g := r.expr(e.Dom), r.expr(e.Rng)
		if d != e.Dom || g != e.Rng {
			return &FnSet{e.At, d, g}
		}
	case *Apply:
		f, a := r.expr(e.Fn), r.expr(e.Arg)
		if f != e.Fn || a != e.Arg {
			return &Apply{e.At, f, a}
		}
	case *Record:
		if f, changed := r.fields(e.Fields); changed {
			return &Record{e.At, f}
		}
	case *RecordSet:
		if f, changed := r.fields(e.Fields); changed {
			return &RecordSet{e.At, f}
		}
	case *Select:
		if x := r.expr(e.X); x != e.X {
			return &Select{e.At, x, e.Field}
		}
	case *Box:
		a, s := r.expr(e.Action), r.expr(e.Sub)
		if a != e.Action || s != e.Sub {
			return &Box{e.At, a, s}
		}
	case *Angle:
		a, s := r.expr(e.Action), r.expr(e.Sub)
		if a != e.Action || s != e.Sub {
			return &Angle{e.At, a, s}
		}
	case *Fair:
		s, a, p := r.expr(e.Sub), r.expr(e.Action), e.Possible
		if p != nil {
			p = r.expr(p)
		}
		if a != e.Action || s != e.Sub || p != e.Possible {
			return &Fair{e.At, e.Strong, s, a, p}
		}
	default:
		return r.binder(e)
	}
	return e
}

// binder rewrites the expressions that bind names.
func (r *rewriter) binder(e Expr) Expr {
	switch e := e.(type) {
	case *Lambda:
		p := r.freshAll(e.Params)
		if b := r.expr(e.Body); b != e.Body || r.locals != nil {
			return &Lambda{e.At, p, b}
		}
	case *Quant:
		b, changed := r.binds(e.Binds)
		if x := r.expr(e.Body); changed || x != e.Body {
			return &Quant{e.At, e.Exists, b, x}
		}
	case *TemporalQuant:
		if x := r.expr(e.Body); x != e.Body {
			return &TemporalQuant{e.At, e.Exists, e.Vars, x}
		}
	case *Choose:
		b, changed := r.binds([]Bind{e.Bind})
		if x := r.expr(e.Body); changed || x != e.Body {
			return &Choose{e.At, b[0], x}
		}
	case *SetFilter:
		b, changed := r.binds([]Bind{e.Bind})
		if x := r.expr(e.Pred); changed || x != e.Pred {
			return &SetFilter{e.At, b[0], x}
		}
	case *SetMap:
		b, changed := r.binds(e.Binds)
		if x := r.expr(e.Body); changed || x != e.Body {
			return &SetMap{e.At, x, b}
		}
	case *Fn:
		b, changed := r.binds(e.Binds)
		self := e.Self
		if self != nil {
			self = r.fresh(self)
		}
		if x := r.expr(e.Body); changed || x != e.Body {
			return &Fn{e.At, self, b, x}
		}
	case *Except:
		return r.except(e)
	default:
		invariant.Unreachable(e)
	}
	return e
}

func (r *rewriter) caseExpr(e *Case) Expr {
	out := &Case{At: e.At, Arms: make([]Arm, len(e.Arms))}
	changed := false
	for i, a := range e.Arms {
		out.Arms[i] = Arm{r.expr(a.Cond), r.expr(a.Body)}
		changed = changed || out.Arms[i] != a
	}
	if e.Other != nil {
		out.Other = r.expr(e.Other)
		changed = changed || out.Other != e.Other
	}
	if !changed {
		return e
	}
	return out
}

func (r *rewriter) except(e *Except) Expr {
	out := &Except{At: e.At, Fn: r.expr(e.Fn), Updates: make([]Update, len(e.Updates))}
	changed := out.Fn != e.Fn
	for i, u := range e.Updates {
		v := Update{Path: make([]Index, len(u.Path)), At: u.At}
		for j, x := range u.Path {
			v.Path[j] = x
			if x.X != nil {
				v.Path[j].X = r.expr(x.X)
				changed = changed || v.Path[j].X != x.X
			}
		}
		if u.At != nil {
			v.At = r.fresh(u.At)
		}
		v.Value = r.expr(u.Value)
		changed = changed || v.Value != u.Value || v.At != u.At
		out.Updates[i] = v
	}
	if !changed {
		return e
	}
	return out
}

// let copies the definitions, rewrites them with calls led to the copies, and
// keeps the result only when something else changed than that.
func (r *rewriter) let(e *Let) Expr {
	if r.defs == nil {
		r.defs, r.led = map[*Def]*Def{}, map[*Def]int{}
	}
	changes, led := r.changes, r.ledElsewhere(e.Defs)
	out := &Let{At: e.At, Defs: make([]*Def, len(e.Defs))}
	for i, d := range e.Defs {
		c := *d
		out.Defs[i] = &c
		r.defs[d] = &c
	}
	for _, d := range out.Defs {
		d.Params = r.freshAll(d.Params)
		if d.Body != nil {
			d.Body = r.expr(d.Body)
		}
	}
	out.Body = r.expr(e.Body)
	kept := r.changes == changes && r.locals == nil && r.ledElsewhere(e.Defs) == led
	for _, d := range e.Defs {
		delete(r.defs, d)
		delete(r.led, d)
	}
	if kept {
		return e
	}
	return out
}
