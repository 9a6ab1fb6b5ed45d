// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// target finds the variable on the left of an assignment, and the indices that
// a macro's argument inserts between the variable and the path in the text.
func (b *body) target(n syntax.Name) (*core.Variable, []core.Index) {
	m := b.scope.Lookup(n.Text)
	if m.Variable == nil && m.Expr == nil && !b.template {
		if f := b.scope.underlaid(b.foreign()).Lookup(n.Text); m == (Meaning{}) && f.Variable != nil {
			m = f
		}
	}
	bad := func(what string) {
		b.fail(n.Span(), PCalInvalidAssignment, "", "%s is %s: expected a variable on the left of :=", n.Text, what)
	}
	switch {
	case m.Variable == b.out.PC && m.Variable != nil:
		bad("the program counter, which goto sets")
	case m.Variable == b.out.Stack && m.Variable != nil:
		bad("the stack, which call and return set")
	case m.Variable != nil:
		return m.Variable, nil
	case m.Expr != nil:
		v, path, ok := lvalue(m.Expr)
		if !ok {
			b.fail(n.Span(), MacroExpandAssignmentLhs, "pass a variable", "the macro assigns its parameter %s, and the argument is not a variable", n.Text)
			return nil, nil
		}
		return v, path
	case m.Local != nil:
		bad("a name that with or a quantifier binds, not a variable")
	case m.Constant != nil:
		bad("a constant")
	case m.Def != nil:
		bad("a definition")
	case m.Other:
		bad("a module")
	case b.template && b.outsideGlobal(n.Text):
		b.fail(n.Span(), MPCalGlobalInArchetype, "add a parameter ref "+n.Text+" and pass the variable",
			"%s cannot see the global variable %s", b.what, n.Text)
	case b.via != nil:
		b.fail(n.Span(), UnboundFreeVariable, "", "there is no variable %s where the macro is used", n.Text)
	default:
		b.fail(n.Span(), DefinitionLookup, "declare it: variables "+n.Text, "there is no variable %s", n.Text)
	}
	return nil, nil
}

func (b *body) outsideGlobal(name string) bool {
	for _, v := range b.out.Globals {
		if v.Var.Name == name {
			return true
		}
	}
	return false
}

// lvalue splits x[i].f into its parts.
func lvalue(e core.Expr) (*core.Variable, []core.Index, bool) {
	switch e := e.(type) {
	case *core.VarRef:
		return e.Var, nil, true
	case *core.Apply:
		v, path, ok := lvalue(e.Fn)
		return v, append(path, core.Index{X: e.Arg}), ok
	case *core.Select:
		v, path, ok := lvalue(e.X)
		return v, append(path, core.Index{Field: e.Field}), ok
	}
	return nil, nil, false
}

func (b *body) assign(s *syntax.Assign) []*item {
	out := &pcal.Assign{At: pcal.At{Place: s.Span()}}
	whole := map[*core.Variable]bool{}
	for _, part := range s.Parts {
		v, prefix := b.target(part.Target)
		if v == nil {
			continue
		}
		p := pcal.Assignment{Target: v, Path: prefix, Span: part.Span()}
		if len(part.Path) > 0 && b.refs[v] == nil {
			b.updated(&p, part)
		} else {
			p.Path = append(p.Path, b.path(part.Path)...)
			p.Value = b.x(part.Value)
		}
		if old, seen := whole[v]; seen && (old || len(p.Path) == 0) {
			b.fail(part.Span(), MultipleAssignment, "", "%s is assigned twice in one statement", v.Name)
		}
		whole[v] = len(p.Path) == 0
		b.checkTarget(p)
		out.Pairs = append(out.Pairs, p)
	}
	if len(out.Pairs) == 0 {
		return nil
	}
	return b.leaf(out)
}

// updated reads the path and the value of an assignment to a part of a
// variable, as those of an EXCEPT: @ is the old value of the part.
func (b *body) updated(p *pcal.Assignment, part syntax.Assignment) {
	e := &syntax.Except{X: &syntax.Ident{Name: "TRUE"}, Updates: []syntax.Update{{Path: part.Path, Value: part.Value}}}
	x, ok := b.x(e).(*core.Except)
	if !ok {
		p.Value = &core.Bad{At: core.At{Place: part.Span()}}
		return
	}
	u := x.Updates[0]
	p.Path, p.At, p.Value = append(p.Path, u.Path...), u.At, u.Value
}

func (b *body) path(path []syntax.Accessor) []core.Index {
	out := make([]core.Index, len(path))
	for i, a := range path {
		if !a.Field.IsZero() {
			out[i].Field = a.Field.Text
			continue
		}
		list := make([]core.Expr, len(a.Index))
		for j, x := range a.Index {
			list[j] = b.x(x)
		}
		out[i].X = list[0]
		if len(list) > 1 {
			out[i].X = &core.Tuple{At: at(a), Elems: list}
		}
	}
	return out
}

// checkTarget checks that an assignment to a ref parameter has the right number
// of indices.
func (b *body) checkTarget(p pcal.Assignment) {
	param := b.refs[p.Target]
	if param == nil {
		return
	}
	n := 0
	for n < len(p.Path) && n < param.Mapping && p.Path[n].X != nil {
		n++
	}
	switch {
	case n < param.Mapping:
		b.fail(p.Span, MPCalKindMismatch, "index it: "+indexed(param), "%s is assigned with %d indices, and its parameter is ref %s", p.Target.Name, n, indexed(param))
	case len(p.Path) > param.Mapping:
		b.fail(p.Span, MPCalReadWriteAssignmentForbidden, "read it, change the value, and assign the whole of "+indexed(param),
			"assigning a part of %s would read it first: expected exactly %s", indexed(param), plural(param.Mapping, "index"))
	}
}
