// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// outline lists what a document declares.
func outline(a *analysis, l *lines) []documentSymbol {
	switch {
	case a.program != nil:
		return outlineDed(a.program, l)
	case a.module != nil:
		out := outlineUnits(a.module.Units, l)
		if a.module.Algorithm != nil {
			out = append(out, outlineAlgorithm(a.module.Algorithm, l))
		}
		return out
	}
	return []documentSymbol{}
}

// newSymbol makes an entry of an outline. The protocol requires a name, and its
// position must be inside the whole.
func newSymbol(l *lines, name, detail string, kind symbolKind, span, whole source.Span) documentSymbol {
	if name == "" {
		name = "?"
	}
	if !whole.IsValid() || whole.File != span.File {
		whole = span
	}
	return documentSymbol{Name: name, Detail: detail, Kind: kind, Range: l.rangeOf(whole.Join(span)), Selection: l.rangeOf(span)}
}

func outlineUnits(units []syntax.Unit, l *lines) []documentSymbol {
	out := []documentSymbol{}
	add := func(n syntax.Name, detail string, kind symbolKind, u syntax.Unit) {
		if !n.IsZero() {
			out = append(out, newSymbol(l, n.Text, detail, kind, n.Span(), u.Span()))
		}
	}
	for _, u := range units {
		switch u := u.(type) {
		case *syntax.ConstantDecl:
			for _, d := range u.Decls {
				out = append(out, newSymbol(l, d.Name.Text, "constant", kindConstant, d.Name.Span(), d.Span()))
			}
		case *syntax.VariableDecl:
			for _, n := range u.Names {
				out = append(out, newSymbol(l, n.Text, "variable", kindVariable, n.Span(), n.Span()))
			}
		case *syntax.OperatorDef:
			add(u.Name, "operator"+arguments(len(u.Params)), kindFunction, u)
		case *syntax.FunctionDef:
			add(u.Name, "function", kindFunction, u)
		case *syntax.Instance:
			add(u.Name, "instance of "+u.Module.Text, kindInterface, u)
		case *syntax.Assume:
			add(u.Name, "assumption", kindProperty, u)
		case *syntax.Theorem:
			add(u.Name, "theorem", kindProperty, u)
		case *syntax.Module:
			s := newSymbol(l, u.Name.Text, "module", kindModule, u.Name.Span(), u.Span())
			s.Children = outlineUnits(u.Units, l)
			out = append(out, s)
		}
	}
	return out
}

func outlineAlgorithm(a *syntax.Algorithm, l *lines) documentSymbol {
	symbol := func(n syntax.Name, detail string, kind symbolKind, whole syntax.Node, vars []*syntax.PlusVar, bodies ...*syntax.Block) documentSymbol {
		s := newSymbol(l, n.Text, detail, kind, n.Span(), whole.Span())
		for _, v := range vars {
			s.Children = append(s.Children, newSymbol(l, v.Name.Text, "variable", kindVariable, v.Name.Span(), v.Span()))
		}
		for _, b := range bodies {
			s.Children = append(s.Children, labels(b, l)...)
		}
		return s
	}
	out := symbol(a.Name, "algorithm", kindModule, a, a.Variables, a.Body)
	out.Children = append(out.Children, outlineUnits(a.Define, l)...)
	for _, m := range a.Macros {
		out.Children = append(out.Children, symbol(m.Name, "macro", kindMethod, m, nil, m.Body))
	}
	for _, p := range a.Procedures {
		out.Children = append(out.Children, symbol(p.Name, "procedure", kindMethod, p, p.Variables, p.Body))
	}
	for _, m := range a.MappingMacros {
		out.Children = append(out.Children, symbol(m.Name, "mapping macro", kindInterface, m, nil))
	}
	for _, p := range a.Archetypes {
		s := symbol(p.Name, "archetype", kindClass, p, p.Variables, p.Body)
		var durable []documentSymbol
		for _, v := range p.Durable {
			durable = append(durable, newSymbol(l, v.Name.Text, "durable variable", kindVariable, v.Name.Span(), v.Span()))
		}
		s.Children = append(durable, s.Children...)
		out.Children = append(out.Children, s)
	}
	for _, p := range a.Instances {
		out.Children = append(out.Children, symbol(p.Name, "instance of "+p.Archetype.Text, kindClass, p, nil))
	}
	for _, p := range a.Processes {
		out.Children = append(out.Children, symbol(p.Name, "process", kindClass, p, p.Variables, p.Body))
	}
	return out
}

// labels lists the labels of a body.
func labels(b *syntax.Block, l *lines) []documentSymbol {
	var out []documentSymbol
	if b == nil {
		return nil
	}
	syntax.Inspect(b, func(n syntax.Node) bool {
		if s, ok := n.(syntax.Stmt); ok && s.Label() != nil {
			name := s.Label().Name
			out = append(out, newSymbol(l, name.Text, "label", kindKey, name.Span(), s.Label().Span().Join(s.Span())))
		}
		return true
	})
	return out
}
