// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/resolve"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// Scope is a set of names for the expressions of an algorithm: those of the
// root module at the position of the algorithm, and those added by the With
// methods. A Scope is immutable; inner names hide outer ones.
type Scope struct {
	p     *Program
	names *resolve.Scope
}

// AlgorithmScope has the names that the root module knows before its
// algorithm's translation. It excludes names that the translation or the text
// after it defines. If there is no translation, it has the names known before
// the end of the algorithm.
func (p *Program) AlgorithmScope() *Scope {
	root := p.info.Root
	return &Scope{p: p, names: root.Names.Until(root, TranslationPoint(root.Syntax))}
}

// TranslationPoint is the offset in the file of m at which the TLA+ translation
// of its algorithm is or would be. Without an algorithm it is the end of the
// module.
func TranslationPoint(m *syntax.Module) int32 {
	switch {
	case m.Translation != nil:
		return m.Translation.Begin.Start
	case m.Algorithm != nil:
		return m.Algorithm.Span().End
	}
	return m.Span().End
}

func (s *Scope) inner() *Scope { return &Scope{p: s.p, names: resolve.NewScope(s.names)} }

// WithVariables adds variables. A variable may be named "$variable".
func (s *Scope) WithVariables(list ...*core.Variable) *Scope {
	out := s.inner()
	for _, v := range list {
		sym := &resolve.Symbol{Kind: resolve.Variable, Name: v.Name, Span: v.Span, Module: s.p.info.Root}
		s.p.variables[sym] = v
		out.names.Put(v.Name, sym)
	}
	return out
}

// WithLocals adds bound names: self, the names of a with, "$value".
func (s *Scope) WithLocals(list ...*core.Local) *Scope {
	out := s.inner()
	for _, l := range list {
		sym := &resolve.Symbol{Kind: resolve.Bound, Name: l.Name, Params: make([]int, l.Arity), Span: l.Span, Module: s.p.info.Root}
		s.p.locals[sym] = l
		out.names.Put(l.Name, sym)
	}
	return out
}

// WithExpr makes name stand for e, as a macro parameter stands for its
// argument. Every use of the name shares the same e. If e binds names and is
// used more than once, the caller must rename them; see core.Rename.
func (s *Scope) WithExpr(name string, e core.Expr) *Scope {
	out := s.inner()
	sym := &resolve.Symbol{Kind: resolve.Bound, Name: name, Span: e.Span(), Module: s.p.info.Root}
	s.p.meanings[sym] = e
	out.names.Put(name, sym)
	return out
}

// Expr reads an expression. It reports errors to the Program's list and then
// returns a Bad.
func (s *Scope) Expr(e syntax.Expr) core.Expr {
	var list source.List
	if level := s.p.info.Expr(s.names, e, &list); level == resolve.TemporalLevel && !list.HasErrors() {
		list.Errorf(e.Span(), resolve.LevelTooHigh, "an algorithm cannot use a temporal formula")
	}
	if s.report(&list) {
		return &core.Bad{At: at(e)}
	}
	return s.p.completeExpr(s.p.reader().expr(e))
}

// Path reads the indices and fields on the left of an assignment; an index
// with an error is a Bad.
func (s *Scope) Path(path []syntax.Accessor) []core.Index {
	out := make([]core.Index, len(path))
	for i, a := range path {
		if !a.Field.IsZero() {
			out[i].Field = a.Field.Text
			continue
		}
		list := make([]core.Expr, len(a.Index))
		for j, x := range a.Index {
			list[j] = s.Expr(x)
		}
		out[i].X = list[0]
		if len(list) > 1 {
			out[i].X = &core.Tuple{At: at(a), Elems: list}
		}
	}
	return out
}

// Define reads the definitions of a define block, in order. It returns a Scope
// that includes them.
func (s *Scope) Define(units []syntax.Unit) (*Scope, []*core.Def) {
	out := s.inner()
	var list source.List
	s.p.info.Units(out.names, units, &list)
	if s.report(&list) {
		return out, nil
	}
	var defs []*core.Def
	for _, u := range units {
		switch u.(type) {
		case *syntax.OperatorDef, *syntax.FunctionDef:
			d := s.p.def(s.p.info.Defs[u])
			s.p.complete(d)
			defs = append(defs, d)
		}
	}
	return out, defs
}

func (s *Scope) report(list *source.List) bool {
	failed := list.HasErrors()
	s.p.diags.Append(list)
	return failed
}

// Meaning is what a plain name denotes in a Scope. Exactly one field is set, or
// none if the name is unknown. Other is an instance, a module or the name of a
// theorem.
type Meaning struct {
	Variable *core.Variable
	Local    *core.Local
	Expr     core.Expr // by WithExpr
	Constant *core.Constant
	Def      *core.Def
	Other    bool
}

// Lookup returns what a name denotes.
func (s *Scope) Lookup(name string) Meaning {
	sym := s.names.Lookup(name)
	if sym == nil {
		return Meaning{}
	}
	switch sym.Kind {
	case resolve.Variable:
		return Meaning{Variable: s.p.variable(sym)}
	case resolve.Constant:
		return Meaning{Constant: s.p.constant(sym)}
	case resolve.Operator, resolve.Function:
		d := s.p.def(sym)
		s.p.complete(d)
		return Meaning{Def: d}
	case resolve.Bound:
		if x, ok := s.p.meanings[sym]; ok {
			return Meaning{Expr: x}
		}
		return Meaning{Local: s.p.local(sym)}
	}
	return Meaning{Other: true}
}
