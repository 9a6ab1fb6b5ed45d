// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/token"
	"go/types"
)

// constantFields finds the fields of a package that no code changes once their
// struct is made: not exported, never assigned, their address never taken, and
// their struct never overwritten as a whole. No call changes such a field, so it
// may be read beside any.
func constantFields(u *Unit) map[*types.Var]bool {
	w := &fieldWrites{info: u.Info, written: map[*types.Var]bool{}, overwritten: map[*types.Struct]bool{}}
	for _, f := range u.Files {
		ast.Inspect(f, w.see)
	}
	// An element of a slice may be overwritten by append and copy.
	for _, tv := range u.Info.Types {
		if tv.Type == nil {
			continue
		}
		switch t := tv.Type.Underlying().(type) {
		case *types.Slice:
			w.overwrite(t.Elem())
		case *types.Array:
			w.overwrite(t.Elem())
		}
	}
	constant := map[*types.Var]bool{}
	scope := u.Pkg.Scope()
	w.others(u.Pkg)
	for _, name := range scope.Names() {
		o, ok := scope.Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		s, ok := o.Type().Underlying().(*types.Struct)
		if !ok || w.overwritten[s] {
			continue
		}
		for f := range s.Fields() {
			if !f.Exported() && !f.Embedded() && !w.written[f] {
				constant[f] = true
			}
		}
	}
	return constant
}

type fieldWrites struct {
	info        *types.Info
	written     map[*types.Var]bool
	overwritten map[*types.Struct]bool
}

func (w *fieldWrites) see(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, lhs := range n.Lhs {
			if id, ok := lhs.(*ast.Ident); ok && w.info.Defs[id] != nil {
				continue
			}
			w.write(lhs)
		}
	case *ast.IncDecStmt:
		w.write(n.X)
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			w.write(n.Key)
			w.write(n.Value)
		}
	case *ast.UnaryExpr:
		if _, literal := ast.Unparen(n.X).(*ast.CompositeLit); n.Op == token.AND && !literal {
			w.fields(n.X)
		}
	case *ast.SliceExpr:
		if isArray(w.info.TypeOf(n.X)) {
			w.fields(n.X)
		}
	case *ast.SelectorExpr:
		// A method with a pointer receiver takes the address of what it is called on.
		s := w.info.Selections[n]
		if s == nil || s.Kind() != types.MethodVal || isPointer(s.Recv()) {
			break
		}
		if f, ok := s.Obj().(*types.Func); ok && f.Signature().Recv() != nil && isPointer(f.Signature().Recv().Type()) {
			w.fields(n.X)
		}
	}
	return true
}

// write notes that a place is assigned, with all that it holds and is a part of.
func (w *fieldWrites) write(e ast.Expr) {
	if e == nil {
		return
	}
	if t := w.info.TypeOf(e); t != nil {
		w.overwrite(t)
	}
	w.fields(e)
}

// fields notes that the fields on the way to a place may be written. Who has the
// address of a struct writes its fields, or all of it, by statements that are
// seen where they are.
func (w *fieldWrites) fields(e ast.Expr) {
	for {
		if ix, ok := ast.Unparen(e).(*ast.IndexExpr); ok && isArray(w.info.TypeOf(ix.X)) {
			e = ix.X
			continue
		}
		sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
		if !ok {
			return
		}
		s := w.info.Selections[sel]
		if s == nil || s.Kind() != types.FieldVal {
			return
		}
		if f, ok := s.Obj().(*types.Var); ok {
			w.written[f] = true
		}
		e = sel.X
	}
}

// overwrite notes that a value of a type is stored as a whole.
func (w *fieldWrites) overwrite(t types.Type) {
	s, ok := t.Underlying().(*types.Struct)
	if !ok || w.overwritten[s] {
		return
	}
	w.overwritten[s] = true
	for f := range s.Fields() {
		w.written[f] = true
		w.overwrite(f.Type())
	}
}

// others notes what other packages may overwrite: a struct that they get hold
// of, but not if there is a lock in it, and what its exported fields hold.
func (w *fieldWrites) others(p *types.Package) {
	seen := map[types.Type]bool{}
	var reach func(t types.Type)
	reach = func(t types.Type) {
		t = types.Unalias(t)
		if seen[t] {
			return
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Pointer:
			reach(t.Elem())
		case *types.Slice:
			reach(t.Elem())
		case *types.Map:
			reach(t.Key())
			reach(t.Elem())
		case *types.Signature:
			for v := range t.Params().Variables() {
				reach(v.Type())
			}
			for v := range t.Results().Variables() {
				reach(v.Type())
			}
		case *types.Named:
			if t.Obj().Pkg() != p {
				return
			}
			for m := range t.Methods() {
				if m.Exported() {
					reach(m.Type())
				}
			}
			reach(t.Underlying())
		case *types.Struct:
			if !holdsLock(t) {
				w.overwrite(t)
			}
			for f := range t.Fields() {
				if f.Exported() {
					w.overwrite(f.Type())
					reach(f.Type())
				}
			}
		}
	}
	for _, name := range p.Scope().Names() {
		if o := p.Scope().Lookup(name); o.Exported() {
			reach(o.Type())
		}
	}
}
