// SPDX-License-Identifier: Apache-2.0

package pcal

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// Rewriter copies expressions and statements, replacing parts of them. Leaves
// and the names bound in expressions are shared with the original.
type Rewriter struct {
	// Expr is called for every expression before its parts are rewritten. It
	// returns the replacement, or nil to rewrite the parts.
	Expr func(core.Expr) core.Expr
	// Stmt is called for every statement. It returns the replacement and true,
	// or false to rewrite the parts.
	Stmt func(Stmt) ([]Stmt, bool)
	// Var renames the targets of assignments; nil keeps them. References in
	// expressions are for Expr.
	Var func(*core.Variable) *core.Variable
	// Fresh gives new identities to the names bound by statements, so that the
	// copy may be placed inside the scope of the original.
	Fresh bool

	locals map[*core.Local]*core.Local

	// again continues the current rewrite, which knows the enclosing LET
	// definitions. parts is the expression whose parts are rewritten but which
	// itself is not replaced.
	again func(core.Expr) core.Expr
	parts core.Expr
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
	if r.again != nil {
		return r.again(e)
	}
	return core.Transform(e, func(x core.Expr, again func(core.Expr) core.Expr) core.Expr {
		if x == r.parts {
			r.parts = nil
			return nil
		}
		around := r.again
		r.again = again
		out := r.replace(x)
		r.again = around
		return out
	})
}

// Parts rewrites the parts of an expression, from left to right, and not the
// expression itself.
func (r *Rewriter) Parts(e core.Expr) core.Expr {
	r.parts = e
	return r.X(e)
}

func (r *Rewriter) replace(e core.Expr) core.Expr {
	if r.Expr != nil {
		if x := r.Expr(e); x != nil {
			return x
		}
	}
	if l, ok := e.(*core.LocalRef); ok {
		if to, ok := r.locals[l.Local]; ok {
			return &core.LocalRef{At: l.At, Local: to, Args: r.Xs(l.Args)}
		}
	}
	return nil
}

// Xs rewrites a list of expressions.
func (r *Rewriter) Xs(list []core.Expr) []core.Expr {
	out := make([]core.Expr, len(list))
	for i, e := range list {
		out[i] = r.X(e)
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

// Local gives a new identity to a name bound by a statement if Fresh is set.
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
	case *Skip, *Goto, *Return, *Restart:
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

// InspectStmts calls stmt for every statement of the list and for nested ones,
// and expr for every expression in them. If expr returns true, it is also
// called for the subexpressions. Either function may be nil.
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
