package pcal

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/tla/core"
)

// Rewriter copies expressions and statements, replacing parts of them. Leaves
// and the names bound in expressions are shared with the original.
type Rewriter struct {
	// Expr is asked about every expression before its parts are looked at; it
	// returns the replacement, or nil to go on with the parts.
	Expr func(core.Expr) core.Expr
	// Stmt is asked about every statement; it returns the replacement and true,
	// or false to go on with the parts.
	Stmt func(Stmt) ([]Stmt, bool)
	// Var renames the targets of assignments; nil keeps them. References in
	// expressions are for Expr.
	Var func(*core.Variable) *core.Variable
	// Fresh gives the names bound by statements new identities, so that the
	// copy may stand inside the scope of the original.
	Fresh bool

	locals map[*core.Local]*core.Local
	defs   map[*core.Def]*core.Def
}

// Rename makes every reference to from one to to.
func (r *Rewriter) Rename(from, to *core.Local) {
	if r.locals == nil {
		r.locals = map[*core.Local]*core.Local{}
	}
	r.locals[from] = to
}

// X rewrites an expression; nil stays nil.
func (r *Rewriter) X(e core.Expr) core.Expr {
	if e == nil {
		return nil
	}
	if r.Expr != nil {
		if x := r.Expr(e); x != nil {
			return x
		}
	}
	return r.Parts(e)
}

// Xs rewrites a list of expressions.
func (r *Rewriter) Xs(list []core.Expr) []core.Expr {
	out, changed := make([]core.Expr, len(list)), false
	for i, e := range list {
		out[i] = r.X(e)
		changed = changed || out[i] != e
	}
	if !changed {
		return list
	}
	return out
}

func (r *Rewriter) bind(b core.Bind) core.Bind {
	b.Set = r.X(b.Set)
	return b
}

func (r *Rewriter) binds(list []core.Bind) []core.Bind {
	out := make([]core.Bind, len(list))
	for i, b := range list {
		out[i] = r.bind(b)
	}
	return out
}

func (r *Rewriter) fields(list []core.Field) []core.Field {
	out := make([]core.Field, len(list))
	for i, f := range list {
		out[i] = core.Field{Name: f.Name, X: r.X(f.X)}
	}
	return out
}

func (r *Rewriter) path(list []core.Index) []core.Index {
	out := make([]core.Index, len(list))
	for i, ix := range list {
		out[i] = core.Index{X: r.X(ix.X), Field: ix.Field}
	}
	return out
}

// Parts rewrites the parts of an expression and not the expression itself.
func (r *Rewriter) Parts(e core.Expr) core.Expr {
	switch e := e.(type) {
	case *core.Int, *core.Decimal, *core.Str, *core.Bool, *core.VarRef, *core.Bad:
		return e
	case *core.LocalRef:
		to, renamed := r.locals[e.Local]
		if !renamed {
			to = e.Local
		}
		return &core.LocalRef{At: e.At, Local: to, Args: r.Xs(e.Args)}
	case *core.ConstRef:
		if len(e.Args) == 0 {
			return e
		}
		return &core.ConstRef{At: e.At, Const: e.Const, Args: r.Xs(e.Args)}
	case *core.Call:
		return &core.Call{At: e.At, Def: r.def(e.Def), Args: r.Xs(e.Args)}
	case *core.OpRef:
		return &core.OpRef{At: e.At, Def: r.def(e.Def)}
	case *core.Lambda:
		return &core.Lambda{At: e.At, Params: e.Params, Body: r.X(e.Body)}
	case *core.Op:
		return &core.Op{At: e.At, Op: e.Op, Args: r.Xs(e.Args)}
	case *core.And:
		return &core.And{At: e.At, List: r.Xs(e.List)}
	case *core.Or:
		return &core.Or{At: e.At, List: r.Xs(e.List)}
	case *core.If:
		return &core.If{At: e.At, Cond: r.X(e.Cond), Then: r.X(e.Then), Else: r.X(e.Else)}
	case *core.Case:
		arms := make([]core.Arm, len(e.Arms))
		for i, a := range e.Arms {
			arms[i] = core.Arm{Cond: r.X(a.Cond), Body: r.X(a.Body)}
		}
		return &core.Case{At: e.At, Arms: arms, Other: r.X(e.Other)}
	case *core.Let:
		return r.let(e)
	default:
		return r.bound(e)
	}
}

// bound is Parts for the expressions that bind names and for data.
func (r *Rewriter) bound(e core.Expr) core.Expr {
	switch e := e.(type) {
	case *core.Quant:
		return &core.Quant{At: e.At, Exists: e.Exists, Binds: r.binds(e.Binds), Body: r.X(e.Body)}
	case *core.TemporalQuant:
		return &core.TemporalQuant{At: e.At, Exists: e.Exists, Vars: e.Vars, Body: r.X(e.Body)}
	case *core.Choose:
		return &core.Choose{At: e.At, Bind: r.bind(e.Bind), Body: r.X(e.Body)}
	case *core.SetEnum:
		return &core.SetEnum{At: e.At, Elems: r.Xs(e.Elems)}
	case *core.SetFilter:
		return &core.SetFilter{At: e.At, Bind: r.bind(e.Bind), Pred: r.X(e.Pred)}
	case *core.SetMap:
		return &core.SetMap{At: e.At, Body: r.X(e.Body), Binds: r.binds(e.Binds)}
	case *core.Fn:
		return &core.Fn{At: e.At, Self: e.Self, Binds: r.binds(e.Binds), Body: r.X(e.Body)}
	case *core.FnSet:
		return &core.FnSet{At: e.At, Dom: r.X(e.Dom), Rng: r.X(e.Rng)}
	case *core.Apply:
		return &core.Apply{At: e.At, Fn: r.X(e.Fn), Arg: r.X(e.Arg)}
	case *core.Record:
		return &core.Record{At: e.At, Fields: r.fields(e.Fields)}
	case *core.RecordSet:
		return &core.RecordSet{At: e.At, Fields: r.fields(e.Fields)}
	case *core.Select:
		return &core.Select{At: e.At, X: r.X(e.X), Field: e.Field}
	case *core.Except:
		updates := make([]core.Update, len(e.Updates))
		for i, u := range e.Updates {
			updates[i] = core.Update{Path: r.path(u.Path), At: u.At, Value: r.X(u.Value)}
		}
		return &core.Except{At: e.At, Fn: r.X(e.Fn), Updates: updates}
	case *core.Tuple:
		return &core.Tuple{At: e.At, Elems: r.Xs(e.Elems)}
	case *core.Times:
		return &core.Times{At: e.At, Sets: r.Xs(e.Sets)}
	case *core.Box:
		return &core.Box{At: e.At, Action: r.X(e.Action), Sub: r.X(e.Sub)}
	case *core.Angle:
		return &core.Angle{At: e.At, Action: r.X(e.Action), Sub: r.X(e.Sub)}
	case *core.Fair:
		return &core.Fair{At: e.At, Strong: e.Strong, Sub: r.X(e.Sub), Action: r.X(e.Action)}
	}
	invariant.Unreachable(e)
	return nil
}

func (r *Rewriter) def(d *core.Def) *core.Def {
	if to, ok := r.defs[d]; ok {
		return to
	}
	return d
}

// let copies the definitions of a LET, so that what they mention is rewritten
// too; a definition of a module stays what it is.
func (r *Rewriter) let(e *core.Let) core.Expr {
	if r.defs == nil {
		r.defs = map[*core.Def]*core.Def{}
	}
	defs := make([]*core.Def, len(e.Defs))
	for i, d := range e.Defs {
		c := *d
		defs[i], r.defs[d] = &c, &c
	}
	for _, d := range defs {
		d.Body = r.X(d.Body)
	}
	return &core.Let{At: e.At, Defs: defs, Body: r.X(e.Body)}
}

// Stmts rewrites a list of statements.
func (r *Rewriter) Stmts(list []Stmt) []Stmt {
	var out []Stmt
	for _, s := range list {
		if r.Stmt != nil {
			if repl, ok := r.Stmt(s); ok {
				out = append(out, repl...)
				continue
			}
		}
		out = append(out, r.StmtParts(s))
	}
	return out
}

// Local gives a name bound by a statement its new identity where Fresh asks
// for one.
func (r *Rewriter) Local(l *core.Local) *core.Local {
	if !r.Fresh || l == nil {
		return l
	}
	c := *l
	r.Rename(l, &c)
	return &c
}

// Assignments rewrites the pairs of an assignment.
func (r *Rewriter) Assignments(list []Assignment) []Assignment {
	out := make([]Assignment, len(list))
	for i, p := range list {
		if r.Var != nil {
			p.Target = r.Var(p.Target)
		}
		p.Path, p.Value = r.path(p.Path), r.X(p.Value)
		out[i] = p
	}
	return out
}

func (r *Rewriter) access(a *Access) *Access {
	if a == nil {
		return nil
	}
	return &Access{Param: a.Param, Index: r.Xs(a.Index)}
}

// StmtParts rewrites the parts of a statement and not the statement itself.
func (r *Rewriter) StmtParts(s Stmt) Stmt {
	switch s := s.(type) {
	case *Assign:
		return &Assign{At: s.At, Pairs: r.Assignments(s.Pairs)}
	case *If:
		return &If{At: s.At, Cond: r.X(s.Cond), Then: r.Stmts(s.Then), Else: r.Stmts(s.Else)}
	case *Either:
		branches := make([][]Stmt, len(s.Branches))
		for i, b := range s.Branches {
			branches[i] = r.Stmts(b)
		}
		return &Either{At: s.At, Branches: branches}
	case *With:
		x := r.X(s.X)
		return &With{At: s.At, Var: r.Local(s.Var), In: s.In, X: x, Body: r.Stmts(s.Body)}
	case *Await:
		return &Await{At: s.At, Cond: r.X(s.Cond)}
	case *Assert:
		return &Assert{At: s.At, Cond: r.X(s.Cond)}
	case *Print:
		return &Print{At: s.At, X: r.X(s.X)}
	case *Skip, *Goto, *Return:
		return s
	case *Call:
		args := make([]Arg, len(s.Args))
		for i, a := range s.Args {
			a.X = r.X(a.X)
			if a.Ref != nil && r.Var != nil {
				a.Ref = r.Var(a.Ref)
			}
			args[i] = a
		}
		return &Call{At: s.At, Proc: s.Proc, Args: args, Return: s.Return}
	case *Yield:
		return &Yield{At: s.At, X: r.X(s.X)}
	case *Read:
		access, body := r.access(s.Access), r.Stmts(s.Body)
		return &Read{At: s.At, Access: access, Body: body, Dst: r.Local(s.Dst), Rest: r.Stmts(s.Rest)}
	case *Write:
		access, x := r.access(s.Access), r.X(s.X)
		return &Write{At: s.At, Access: access, X: x, Value: r.Local(s.Value), Body: r.Stmts(s.Body)}
	}
	invariant.Unreachable(s)
	return nil
}

// Inspect calls f for e and, where f returns true, for every expression below
// it, definitions of LETs included.
func Inspect(e core.Expr, f func(core.Expr) bool) {
	r := &Rewriter{}
	r.Expr = func(x core.Expr) core.Expr {
		if !f(x) {
			return x
		}
		return nil
	}
	r.X(e)
}

// InspectStmts calls stmt for every statement of the list and of those below,
// and expr for every expression in them, as Inspect does. Either may be nil.
func InspectStmts(list []Stmt, stmt func(Stmt), expr func(core.Expr) bool) {
	r := &Rewriter{}
	if stmt != nil {
		r.Stmt = func(s Stmt) ([]Stmt, bool) { stmt(s); return nil, false }
	}
	r.Expr = func(x core.Expr) core.Expr {
		if expr == nil || !expr(x) {
			return x
		}
		return nil
	}
	r.Stmts(list)
}
