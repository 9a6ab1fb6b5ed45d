// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/resolve"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// tlaIndex builds the index of a module.
type tlaIndex struct {
	index
	info     *resolve.Info
	root     *syntax.Module
	entities map[*resolve.Symbol]*entity
	modules  map[*resolve.Module]*entity
	// algorithm has the entities of the algorithm that its translation defines
	// under the same name: global variables, labels, procedures and processes.
	algorithm map[string]*entity
	// wholes are the definitions of symbols, by the position of the name.
	wholes map[source.Span]source.Span
}

// indexTLA returns the index of the module root, in its own file.
func indexTLA(info *resolve.Info, root *syntax.Module) *index {
	x := &tlaIndex{
		index: index{file: root.Span().File}, info: info, root: root,
		entities: map[*resolve.Symbol]*entity{}, modules: map[*resolve.Module]*entity{},
		algorithm: map[string]*entity{},
		wholes:    map[source.Span]source.Span{},
	}
	for _, m := range info.Modules {
		x.wholesOf(m.Syntax)
	}
	x.wholesOf(root)
	delete(x.wholes, source.Span{}) // nodes without a name, such as INSTANCE M
	if root.Algorithm != nil {
		x.algorithms(root.Algorithm)
	}
	x.modulesOf()
	x.declarations()
	for n, s := range info.Uses {
		x.add(nameSpan(n), x.entity(s))
	}
	for p, use := range info.Paths {
		x.path(p, use)
	}
	x.guess()
	x.settle()
	return &x.index
}

// wholesOf records the whole text of the definitions of a module.
func (x *tlaIndex) wholesOf(m *syntax.Module) {
	syntax.Inspect(m, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.OperatorDef:
			x.wholes[n.Name.Span()] = n.Span()
		case *syntax.FunctionDef:
			x.wholes[n.Name.Span()] = n.Span()
		case *syntax.Instance:
			x.wholes[n.Name.Span()] = n.Span()
		case *syntax.Assume:
			x.wholes[n.Name.Span()] = n.Span()
		case *syntax.Theorem:
			x.wholes[n.Name.Span()] = n.Span()
		case *syntax.ConstantDecl:
			for _, d := range n.Decls {
				x.wholes[d.Name.Span()] = n.Span()
			}
		case *syntax.VariableDecl:
			for _, d := range n.Names {
				x.wholes[d.Span()] = n.Span()
			}
		}
		return true
	})
}

// nameSpan returns the position of the name in a node that uses one.
func nameSpan(n syntax.Node) source.Span {
	switch n := n.(type) {
	case *syntax.Ident, *syntax.OpRef, *syntax.Dollar:
		return n.Span()
	case *syntax.Apply:
		return n.Op.Span()
	case *syntax.Prefix:
		return n.Op.Span()
	case *syntax.Infix:
		return n.Op.Span()
	case *syntax.Postfix:
		return n.Op.Span()
	}
	return source.Span{}
}

// entity returns the entity of a symbol. A definition that an INSTANCE without
// a name imports has the entity of the definition in the other module. A
// definition that a translation makes has the entity of the algorithm.
func (x *tlaIndex) entity(s *resolve.Symbol) *entity {
	for s.Origin != nil {
		s = s.Origin
	}
	if e := x.entities[s]; e != nil {
		return e
	}
	if e := x.algorithm[s.Name]; e != nil && e.span == s.Span && s.Node != nil {
		x.entities[s] = e // of the define block
		return e
	}
	e := &entity{name: s.Name, kind: kindOf(s), span: s.Span, whole: x.wholes[s.Span]}
	if s.Module != nil {
		e.hidden = s.Module.Standard
		e.global = s.Module.Outer == nil && !s.Local && s.Module.Names != nil && s.Module.Names.Lookup(s.Name) == s
	}
	if x.translated(s) {
		if a := x.algorithm[s.Name]; a != nil {
			e = a
		} else {
			e.algorithmic = true
			e.span = x.root.Algorithm.Name.Span()
		}
	}
	x.entities[s] = e
	return e
}

// translated reports whether the translation of the algorithm declared a symbol
// at the top level. Such a symbol has no text, or its text is in the
// translation in the file.
func (x *tlaIndex) translated(s *resolve.Symbol) bool {
	if x.root.Algorithm == nil || !s.Span.IsValid() || s.Kind == resolve.Bound {
		return false
	}
	a := x.root.Algorithm.Span()
	if s.Node == nil && s.Span.File == a.File && a.Start <= s.Span.Start && s.Span.End <= a.End {
		return true
	}
	r := x.root.Translation
	return r != nil && s.Span.File == x.file && r.Contains(s.Span)
}

func kindOf(s *resolve.Symbol) string {
	switch s.Kind {
	case resolve.Builtin:
		return "built-in operator"
	case resolve.Constant:
		return "constant" + arguments(s.Arity())
	case resolve.Variable:
		return "variable"
	case resolve.Operator:
		return "operator" + arguments(s.Arity())
	case resolve.Function:
		return "function"
	case resolve.Bound:
		return "bound name" + arguments(s.Arity())
	case resolve.Instanced:
		return "instance" + arguments(s.Arity())
	case resolve.Nested:
		return "module"
	}
	return "fact"
}

func arguments(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", 1 argument"
	}
	return fmt.Sprintf(", %d arguments", n)
}

// declarations adds the places where names are declared.
func (x *tlaIndex) declarations() {
	declare := func(s *resolve.Symbol) {
		if s != nil && s.Origin == nil {
			x.add(s.Span, x.entity(s))
		}
	}
	for _, m := range x.info.Modules {
		for _, list := range [][]*resolve.Symbol{m.Constants, m.Variables, m.Defined} {
			for _, s := range list {
				declare(s)
			}
		}
	}
	for _, list := range x.info.Binds {
		for _, s := range list {
			declare(s)
		}
	}
	for _, s := range x.info.Defs {
		declare(s)
	}
	for _, m := range x.info.Modules {
		for _, u := range m.Syntax.Units {
			if r, ok := u.(*syntax.Recursive); ok && m.Names != nil {
				x.recursive(r, m.Names.Lookup)
			}
		}
	}
	syntax.Inspect(x.root, func(n syntax.Node) bool {
		if let, ok := n.(*syntax.Let); ok {
			x.let(let)
		}
		return true
	})
}

// let adds the names that RECURSIVE announces in a LET.
func (x *tlaIndex) let(let *syntax.Let) {
	for _, u := range let.Units {
		if r, ok := u.(*syntax.Recursive); ok {
			x.recursive(r, func(name string) *resolve.Symbol {
				for _, u := range let.Units {
					if s := x.info.Defs[u]; s != nil && s.Name == name {
						return s
					}
				}
				return nil
			})
		}
	}
}

func (x *tlaIndex) recursive(r *syntax.Recursive, lookup func(string) *resolve.Symbol) {
	for _, d := range r.Decls {
		if s := lookup(d.Name.Text); s != nil && s.Kind != resolve.Builtin {
			x.add(d.Name.Span(), x.entity(s))
		}
	}
}

// modulesOf adds the names of modules, and the names that WITH replaces.
func (x *tlaIndex) modulesOf() {
	named := map[string]*entity{}
	for _, m := range x.info.Modules {
		e := &entity{name: m.Name, kind: "module", span: m.Syntax.Name.Span(), whole: header(m.Syntax), hidden: m.Standard, global: true}
		x.modules[m] = e
		if m.Outer == nil {
			named[m.Name] = e
		}
		x.add(m.Syntax.Name.Span(), e)
	}
	for _, m := range x.info.Modules {
		for _, name := range m.Syntax.Extends {
			x.add(name.Span(), named[name.Text])
		}
	}
	for n, i := range x.info.Instances {
		x.add(n.Module.Span(), x.modules[i.Module])
		for _, w := range n.With {
			for _, sub := range i.Subs {
				if sub.Param.Name == w.Name.Text {
					x.add(w.Name.Span(), x.entity(sub.Param))
				}
			}
		}
	}
}

// header is the first line of a module.
func header(m *syntax.Module) source.Span {
	s := m.Span()
	if at := strings.IndexByte(s.Text(), '\n'); at >= 0 {
		s.End = s.Start + int32(at)
	}
	return s
}

// path adds the names of A!B!C.
func (x *tlaIndex) path(p *syntax.Path, use *resolve.PathUse) {
	step := func(i int, s *resolve.Symbol) {
		if i >= len(p.Steps) || s == nil || p.Steps[i].Kind != syntax.StepName {
			return
		}
		span := p.Steps[i].Span()
		span.End = span.Start + int32(len(p.Steps[i].Name))
		if int(span.End) <= len(span.File.Text) && span.Text() == p.Steps[i].Name {
			x.add(span, x.entity(s))
		}
	}
	for i, hop := range use.Through {
		step(i, hop.Instance)
	}
	step(len(use.Through), use.Target)
}

// guess resolves names after an algorithm that could not be translated: if the
// resolver does not know a name and the algorithm declares it, it is the
// algorithm's.
func (x *tlaIndex) guess() {
	if len(x.algorithm) == 0 {
		return
	}
	syntax.Inspect(x.root, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Ident:
			if x.info.Uses[n] == nil {
				x.add(n.Span(), x.algorithm[n.Name])
			}
		case *syntax.Apply:
			if x.info.Uses[n] == nil {
				x.add(n.Op.Span(), x.algorithm[n.Op.Text])
			}
		}
		return true
	})
}
