// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// Reads and writes as plain statements.
//
// A Read whose body yields on one path becomes that path, with the rest of the
// Read at its end. The value replaces its name if that means the same;
// otherwise a "with" binds it. If the body has several yields, a small rest is
// copied under each. A larger one comes after the body, and the yields assign
// the value to a variable that exists only in the text, which flatten turns
// into names.

// inlineSizeMax is the maximum size, in nodes, of an expression that replaces a
// name used more than once.
const inlineSizeMax = 4

// inline removes Reads and Writes from a list of statements. It adds the
// variables that it makes to passing.
func inline(list []pcal.Stmt, passing varSet) []pcal.Stmt {
	r := &pcal.Rewriter{}
	r.Stmt = func(s pcal.Stmt) ([]pcal.Stmt, bool) {
		switch s := s.(type) {
		case *pcal.Read:
			body, rest := r.Stmts(s.Body), r.Stmts(s.Rest)
			copied := fold(continueWith(body, func(value core.Expr) []pcal.Stmt {
				return let(s.Dst, value, rest, s.At)
			}))
			if countYields(body) > 1 && weight(copied) > weight(body)+weight(rest)+copiedMax {
				return pass(s, body, rest, passing), true
			}
			return copied, true
		case *pcal.Write:
			return let(s.Value, s.X, r.Stmts(s.Body), s.At), true
		}
		return nil, false
	}
	return fold(r.Stmts(list))
}

// fold keeps only the taken branch of an if with a constant condition, and
// drops statements that wait for TRUE.
func fold(list []pcal.Stmt) []pcal.Stmt {
	r := &pcal.Rewriter{}
	r.Stmt = func(s pcal.Stmt) ([]pcal.Stmt, bool) {
		switch s := s.(type) {
		case *pcal.If:
			if c, ok := s.Cond.(*core.Bool); ok {
				if c.Val {
					return r.Stmts(s.Then), true
				}
				return r.Stmts(s.Else), true
			}
		case *pcal.Await:
			if c, ok := s.Cond.(*core.Bool); ok && c.Val {
				return nil, true
			}
		}
		return nil, false
	}
	return r.Stmts(list)
}

// weight is the number of statements, nested ones included.
func weight(list []pcal.Stmt) int {
	n := 0
	pcal.InspectStmts(list, func(pcal.Stmt) { n++ }, nil)
	return n
}

func countYields(list []pcal.Stmt) int {
	n := 0
	pcal.InspectStmts(list, func(s pcal.Stmt) {
		if _, ok := s.(*pcal.Yield); ok {
			n++
		}
	}, nil)
	return n
}

// pass hands on the value of a read in a variable.
func pass(s *pcal.Read, body, rest []pcal.Stmt, passing varSet) []pcal.Stmt {
	v := &core.Variable{Name: s.Dst.Name, Index: -1, Span: s.Dst.Span}
	passing[v] = true
	assign := &pcal.Rewriter{}
	assign.Stmt = func(t pcal.Stmt) ([]pcal.Stmt, bool) {
		y, ok := t.(*pcal.Yield)
		if !ok {
			return nil, false
		}
		return []pcal.Stmt{&pcal.Assign{At: y.At, Pairs: []pcal.Assignment{{Target: v, Value: y.X, Span: y.Span()}}}}, true
	}
	use := &pcal.Rewriter{Expr: func(e core.Expr) core.Expr {
		if l, ok := e.(*core.LocalRef); ok && l.Local == s.Dst {
			return &core.VarRef{At: l.At, Var: v}
		}
		return nil
	}}
	return append(assign.Stmts(body), use.Stmts(rest)...)
}

// continueWith replaces every yield by the result of then for its value.
func continueWith(body []pcal.Stmt, then func(core.Expr) []pcal.Stmt) []pcal.Stmt {
	last := len(body) - 1
	var out []pcal.Stmt
	out = append(out, body[:last]...)
	r := &pcal.Rewriter{}
	r.Stmt = func(s pcal.Stmt) ([]pcal.Stmt, bool) {
		if y, ok := s.(*pcal.Yield); ok {
			c := &pcal.Rewriter{Fresh: true}
			return c.Stmts(then(y.X)), true
		}
		return nil, false
	}
	return append(out, r.Stmts(body[last:])...)
}

// let binds value to a name in rest. If substituting the value for the name
// means the same and does not make the text longer, let does that instead.
func let(name *core.Local, value core.Expr, rest []pcal.Stmt, at pcal.At) []pcal.Stmt {
	uses := 0
	count := func(e core.Expr) bool {
		if l, ok := e.(*core.LocalRef); ok && l.Local == name {
			uses++
		}
		return true
	}
	pcal.InspectStmts(rest, nil, count)
	if uses == 0 {
		return rest
	}
	vars := map[*core.Variable]bool{}
	size := 0
	core.Walk(value, func(e core.Expr) bool {
		size++
		switch e := e.(type) {
		case *core.VarRef:
			vars[e.Var] = true
		case *core.Call:
			// An operator may read any variable, with its value before the
			// step.
			if e.Def.Level != core.ConstantLevel {
				size += inlineSizeMax
			}
		}
		return true
	})
	s := &settling{name: name, vars: vars}
	s.stmts(rest, false)
	if s.late || ((s.binder || uses > 1) && size > inlineSizeMax) {
		return []pcal.Stmt{&pcal.With{At: at, Var: name, X: value, Body: rest}}
	}
	r := &pcal.Rewriter{Expr: func(e core.Expr) core.Expr {
		if l, ok := e.(*core.LocalRef); ok && l.Local == name {
			return value
		}
		return nil
	}}
	return r.Stmts(rest)
}

// settling determines whether a name is used after an assignment to a variable
// that its value depends on.
type settling struct {
	name *core.Local
	vars map[*core.Variable]bool
	late bool
	// binder reports that the name is used where its value would be computed
	// several times.
	binder bool
}

func (s *settling) x(e core.Expr, dirty bool) {
	if e == nil {
		return
	}
	depth := 0
	core.Scoped(e, func(names []*core.Local, by int) {
		if len(names) > 0 {
			depth += by
		}
	}, func(x core.Expr) {
		if l, ok := x.(*core.LocalRef); ok && l.Local == s.name {
			s.late = s.late || dirty
			s.binder = s.binder || (depth > 0 && len(s.vars) > 0)
		}
	})
}

// stmts reports whether, at the end of the list, some path has assigned a
// variable of the value.
func (s *settling) stmts(list []pcal.Stmt, dirty bool) bool {
	for _, st := range list {
		dirty = s.stmt(st, dirty)
	}
	return dirty
}

func (s *settling) stmt(st pcal.Stmt, dirty bool) bool {
	switch st := st.(type) {
	case *pcal.Assign:
		after := dirty
		for _, p := range st.Pairs {
			for _, ix := range p.Path {
				s.x(ix.X, dirty)
			}
			s.x(p.Value, dirty)
			after = after || s.vars[p.Target]
		}
		return after
	case *pcal.If:
		s.x(st.Cond, dirty)
		a, b := s.stmts(st.Then, dirty), s.stmts(st.Else, dirty)
		return a || b
	case *pcal.Either:
		after := dirty
		for _, b := range st.Branches {
			after = s.stmts(b, dirty) || after
		}
		return after
	case *pcal.With:
		s.x(st.X, dirty)
		return s.stmts(st.Body, dirty)
	case *pcal.Await:
		s.x(st.Cond, dirty)
	case *pcal.Assert:
		s.x(st.Cond, dirty)
	case *pcal.Print:
		s.x(st.X, dirty)
	case *pcal.Yield:
		s.x(st.X, dirty)
	case *pcal.Call:
		for _, a := range st.Args {
			s.x(a.X, dirty)
		}
	}
	return dirty
}
