// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	ded "github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// dedIndex builds the index of a program.
type dedIndex struct {
	index
	relations, components, functions map[string]*entity
	// program is nil if there are errors; types are the types of variables.
	program *logic.Program
	types   map[*entity]string
	// vars are the variables of the current rule, and columns those of the
	// relation.
	vars map[string]*entity
}

// indexDed returns the index of a program. It stores types in types, as far as
// program knows them; program is nil if there are errors.
func indexDed(f *ded.File, file *source.File, program *logic.Program, types map[*entity]string) *index {
	x := &dedIndex{index: index{file: file}, program: program, types: types,
		relations: map[string]*entity{}, components: map[string]*entity{}, functions: map[string]*entity{}}
	x.add(f.Name.Span, &entity{name: f.Name.Text, kind: "program", span: f.Name.Span})
	x.declare(f)
	for i := range f.Items {
		x.item(&f.Items[i])
	}
	x.settle()
	return &x.index
}

func (x *dedIndex) declare(f *ded.File) {
	for _, i := range f.Items {
		if i.Function != nil {
			n := i.Function.Name
			x.put(x.functions, n, "function"+arguments(len(i.Function.Params)), i.Span)
		}
		if i.Component == nil {
			continue
		}
		x.put(x.components, i.Component.Name, "component", i.Component.Name.Span)
		for _, s := range i.Component.Statements {
			if s.Relation != nil {
				e := x.put(x.relations, s.Relation.Name, s.Relation.Word, s.Span)
				e.kind += x.columns(e.name)
			}
		}
	}
	// Relations without a declaration are the ones that rules derive.
	for _, i := range f.Items {
		if i.Component == nil {
			continue
		}
		for _, s := range i.Component.Statements {
			if s.Rule != nil && x.relations[s.Rule.Head.Text] == nil {
				e := x.put(x.relations, s.Rule.Head, "derived relation", s.Span)
				e.kind += x.columns(e.name)
			}
		}
	}
}

func (x *dedIndex) put(to map[string]*entity, n ded.Name, kind string, whole source.Span) *entity {
	if e := to[n.Text]; e != nil {
		return e
	}
	e := &entity{name: n.Text, kind: kind, span: n.Span, whole: whole}
	to[n.Text] = e
	return e
}

// columns returns the types of a relation's columns, as far as they are known.
func (x *dedIndex) columns(name string) string {
	if x.program == nil {
		return ""
	}
	r := x.program.Find(name)
	if r == nil {
		return ""
	}
	types := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		types[i] = c.Type.String()
	}
	return " (" + strings.Join(types, ", ") + ")"
}

func (x *dedIndex) refer(to map[string]*entity, n ded.Name) { x.add(n.Span, to[n.Text]) }

func (x *dedIndex) item(i *ded.Item) {
	x.vars = map[string]*entity{}
	switch {
	case i.Function != nil:
		x.refer(x.functions, i.Function.Name)
		for _, p := range i.Function.Params {
			x.variable(p.Name, "parameter", typeName(p.Type))
		}
		x.term(i.Function.Body, "")
	case i.Component != nil:
		x.refer(x.components, i.Component.Name)
		x.refer(x.components, i.Component.Of)
		for s := range i.Component.Statements {
			x.statement(&i.Component.Statements[s])
		}
	case i.Deploy != nil:
		for _, s := range i.Deploy.Sizes {
			x.refer(x.components, s.Component)
		}
	case i.Assume != nil:
		x.refer(x.relations, i.Assume.Relation)
	}
}

func typeName(t *ded.Type) string {
	if t == nil {
		return ""
	}
	return t.String()
}

func (x *dedIndex) statement(s *ded.Statement) {
	x.vars = map[string]*entity{}
	switch {
	case s.Relation != nil:
		r := s.Relation
		x.refer(x.relations, r.Name)
		x.refer(x.components, r.Nodes)
		x.refer(x.components, r.Size)
		for _, c := range r.Columns {
			x.variable(c.Name, "column", typeName(c.Type))
		}
		for _, d := range r.Deps {
			for _, n := range append([]ded.Name{d.To}, d.From...) {
				x.variable(n, "column", "")
			}
		}
		x.literals(r.Delete)
	case s.Rule != nil:
		r := s.Rule
		x.refer(x.relations, r.Head)
		x.term(r.Dest, "node")
		for i, a := range r.Args {
			for _, t := range a.Terms {
				want := x.columnType(r.Head.Text, i)
				if a.Aggregate.Text != "" {
					want = ""
				}
				x.term(t, want)
			}
		}
		x.literals(r.Body)
	}
}

func (x *dedIndex) literals(list []ded.Literal) {
	for i := range list {
		l := &list[i]
		if l.IsAtom {
			x.refer(x.relations, l.Relation)
			for n, t := range l.Args {
				x.term(t, x.columnType(l.Relation.Text, n))
			}
			continue
		}
		if l.Var.Text != "" {
			x.variable(l.Var, "variable", "")
		}
		x.term(l.Left, "")
		x.term(l.Right, "")
	}
}

func (x *dedIndex) columnType(relation string, n int) string {
	if x.program == nil {
		return ""
	}
	r := x.program.Find(relation)
	if r == nil || n >= len(r.Columns) {
		return ""
	}
	return r.Columns[n].Type.String()
}

// variable adds a variable of the current rule, or a column of the relation.
func (x *dedIndex) variable(n ded.Name, kind, typ string) {
	if n.Text == "" {
		return
	}
	e := x.put(x.vars, n, kind, source.Span{})
	if typ != "" && x.types[e] == "" {
		x.types[e] = typ
	}
	x.add(n.Span, e)
}

func (x *dedIndex) term(t *ded.Term, typ string) {
	if t == nil {
		return
	}
	switch t.Kind {
	case ded.NameTerm:
		switch t.Text {
		case "self", "true", "false":
		default:
			x.variable(ded.Name{Text: t.Text, Span: t.Span}, "variable", typ)
		}
	case ded.CallTerm:
		span := t.Span
		span.End = span.Start + int32(len(t.Text))
		if int(span.End) <= len(x.file.Text) && span.Text() == t.Text {
			x.refer(x.functions, ded.Name{Text: t.Text, Span: span})
		}
		for _, a := range t.Args {
			x.term(a, "")
		}
	}
}

// outlineDed lists the declarations of a program.
func outlineDed(f *ded.File, l *lines) []documentSymbol {
	out := []documentSymbol{}
	symbol := func(n ded.Name, whole source.Span, kind symbolKind, detail string) documentSymbol {
		return newSymbol(l, n.Text, detail, kind, n.Span, whole)
	}
	for _, i := range f.Items {
		switch {
		case i.Function != nil:
			out = append(out, symbol(i.Function.Name, i.Span, kindFunction, "function"))
		case i.Component != nil:
			c := symbol(i.Component.Name, i.Span, kindClass, "component")
			rules := map[string]int{}
			for _, s := range i.Component.Statements {
				switch {
				case s.Relation != nil:
					c.Children = append(c.Children, symbol(s.Relation.Name, s.Span, kindStruct, s.Relation.Word))
				case s.Rule != nil:
					rules[s.Rule.Head.Text]++
					c.Children = append(c.Children, symbol(s.Rule.Head, s.Span, kindEvent, fmt.Sprintf("%s rule %d", s.Rule.Word, rules[s.Rule.Head.Text])))
				}
			}
			out = append(out, c)
		}
	}
	return out
}
