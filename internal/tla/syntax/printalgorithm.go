// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// indentColumns is the indentation of a body.
const indentColumns = 2

// algorithm writes an algorithm in its own style, sections in the order of
// the grammar.
func (pr *printer) algorithm(a *Algorithm) {
	column := pr.column
	switch {
	case a.Modular:
		pr.put("--mpcal ")
	case a.Fair:
		pr.put("--fair algorithm ")
	default:
		pr.put("--algorithm ")
	}
	pr.put(a.Name.Text)
	in := column
	if a.Style == CStyle {
		pr.put(" {")
		in += indentColumns
	}
	vars := func() {
		if len(a.Variables) > 0 {
			pr.line(in)
			pr.plusVars("variables", a.Variables)
		}
	}
	if !a.Modular {
		vars()
	}
	pr.define(a, in)
	decl := func(n Node) {
		pr.line(in)
		pr.declaration(n, a.Style)
	}
	for _, m := range a.Macros {
		decl(m)
	}
	for _, p := range a.Procedures {
		if p.Modular {
			decl(p)
		}
	}
	for _, m := range a.MappingMacros {
		decl(m)
	}
	for _, x := range a.Archetypes {
		decl(x)
	}
	if a.Modular {
		vars()
	}
	for _, i := range a.Instances {
		decl(i)
	}
	for _, p := range a.Procedures {
		if !p.Modular {
			decl(p)
		}
	}
	for _, p := range a.Processes {
		decl(p)
	}
	if a.Body != nil {
		pr.line(in)
		pr.block(a.Body, a.Style, "", in)
	}
	pr.line(column)
	if a.Style == CStyle {
		pr.put("}")
	} else {
		pr.put("end algorithm")
	}
}

func (pr *printer) define(a *Algorithm, column int) {
	if !a.DefineSpan.IsValid() {
		return
	}
	pr.line(column)
	pr.put("define")
	if a.Style == CStyle {
		pr.put(" {")
	}
	for _, u := range a.Define {
		pr.line(column + indentColumns)
		pr.unit(u)
	}
	pr.line(column)
	if a.Style == CStyle {
		pr.put("}")
	} else {
		pr.put("end define;")
	}
}

// plusVars writes declarations after a head, one per line.
func (pr *printer) plusVars(head string, vars []*PlusVar) {
	column := pr.column
	pr.put(head)
	for _, v := range vars {
		pr.line(column + indentColumns)
		pr.plusVar(v)
		pr.put(";")
	}
}

func (pr *printer) plusVar(v *PlusVar) {
	pr.put(v.Name.Text)
	if v.Init == nil {
		return
	}
	if v.In {
		pr.put(` \in `)
	} else {
		pr.put(" = ")
	}
	pr.expr(v.Init)
}

// declaration writes a section of an algorithm or a part of one.
func (pr *printer) declaration(n Node, style Style) {
	column := pr.column
	switch n := n.(type) {
	case *PlusVar:
		pr.plusVar(n)
	case *Macro:
		pr.put("macro ", n.Name.Text, "(")
		pr.names(n.Params)
		pr.put(") ")
		pr.block(n.Body, style, "macro", column)
	case *Param:
		pr.param(n)
	case *Procedure:
		pr.put("procedure ", n.Name.Text)
		pr.paramList(n.Params)
		pr.varsAndBody(column, n.Variables, n.Body, style, "procedure")
	case *Process:
		pr.processHead(n.Fairness, n.Name, n.In, n.Set, style)
		pr.varsAndBody(column, n.Variables, n.Body, style, "process")
	case *MappingMacro:
		pr.put("mapping macro ", n.Name.Text, " {")
		pr.line(column + indentColumns)
		pr.put("read ")
		pr.block(n.Read, CStyle, "", column+indentColumns)
		pr.line(column + indentColumns)
		pr.put("write ")
		pr.block(n.Write, CStyle, "", column+indentColumns)
		if n.Crash != nil {
			pr.line(column + indentColumns)
			pr.put("crash ")
			pr.block(n.Crash, CStyle, "", column+indentColumns)
		}
		pr.line(column)
		pr.put("}")
	case *Archetype:
		pr.put("archetype ", n.Name.Text)
		pr.paramList(n.Params)
		if len(n.Durable) > 0 {
			pr.line(column + indentColumns)
			pr.plusVars("durable variables", n.Durable)
		}
		pr.varsAndBody(column, n.Variables, n.Body, CStyle, "")
	case *ProcessInstance:
		pr.processHead(n.Fairness, n.Name, n.In, n.Set, CStyle)
		pr.put(" ==")
		pr.line(column + indentColumns)
		pr.put("instance ", n.Archetype.Text, "(")
		pr.exprs(n.Args, true)
		pr.put(")")
		for _, m := range n.Mappings {
			pr.line(column + 2*indentColumns)
			pr.mapping(m)
		}
		pr.put(";")
	case *Mapping:
		pr.mapping(n)
	case *NewDecl:
		pr.newDecl(n)
	case *StmtLabel:
		pr.label(n)
	default:
		invariant.Unreachable(n)
	}
}

func (pr *printer) param(d *Param) {
	if d.Ref {
		pr.put("ref ")
	}
	pr.put(d.Name.Text, strings.Repeat("[_]", d.Indices))
	if d.Init != nil {
		pr.put(" = ")
		pr.expr(d.Init)
	}
}

func (pr *printer) paramList(params []*Param) {
	pr.put("(")
	pr.list(len(params), true, func(i int) { pr.param(params[i]) })
	pr.put(")")
}

func (pr *printer) mapping(m *Mapping) {
	pr.put("mapping ")
	if m.Position > 0 {
		pr.put("@")
		pr.put(strconv.Itoa(m.Position))
	} else {
		pr.put(m.Target.Text)
	}
	pr.put(strings.Repeat("[_]", m.Indices), " via ", m.Macro.Text)
}

func (pr *printer) processHead(fair FairnessKind, name Name, in bool, set Expr, style Style) {
	pr.put([...]string{"", "fair ", "fair+ "}[fair], "process ")
	if style == CStyle {
		pr.put("(")
	}
	pr.plusVar(&PlusVar{Name: name, In: in, Init: set})
	if style == CStyle {
		pr.put(")")
	}
}

// varsAndBody writes the text after the head of a procedure or a similar form.
func (pr *printer) varsAndBody(column int, vars []*PlusVar, body *Block, style Style, what string) {
	if len(vars) > 0 {
		pr.line(column + indentColumns)
		pr.plusVars("variables", vars)
	}
	pr.line(column)
	pr.block(body, style, what, column)
}

// block writes a body: in braces or, in P style, from begin to `end what`. what
// is "" for the algorithm, whose end the caller writes. column is the column of
// its last line.
func (pr *printer) block(b *Block, style Style, what string, column int) {
	if style == CStyle {
		pr.put("{")
		pr.stmts(b.Body, column+indentColumns, style)
		pr.line(column)
		pr.put("}")
		return
	}
	pr.put("begin")
	pr.stmts(b.Body, column+indentColumns, style)
	if what != "" {
		pr.line(column)
		pr.put("end ", what, ";")
	}
}

// stmts writes statements, each on its own lines.
func (pr *printer) stmts(list []Stmt, column int, style Style) {
	for _, s := range list {
		pr.line(column)
		pr.stmt(s, style)
		pr.put(";")
	}
}

func (pr *printer) label(l *StmtLabel) {
	pr.put(l.Name.Text, ":")
	if l.Modifier != 0 {
		pr.put(string(rune(l.Modifier)))
	}
}

// stmt writes a statement with its label, without a semicolon.
func (pr *printer) stmt(s Stmt, style Style) {
	column := pr.column
	if l := s.Label(); l != nil {
		pr.label(l)
		pr.line(column + indentColumns)
		column = pr.column
	}
	switch s := s.(type) {
	case *Block:
		pr.block(s, CStyle, "", column)
	case *Assign:
		pr.assign(s)
	case *IfStmt:
		pr.ifStmt(s, style, column)
	case *While:
		pr.condition("while", s.Cond, style, " do")
		pr.branch(s.Body, style, column)
		pr.end("while", style)
	case *Either:
		pr.either(s, style, column)
	case *With:
		pr.with(s, style, column)
	case *Await:
		pr.put("await ")
		pr.expr(s.Cond)
	case *Print:
		pr.put("print ")
		pr.expr(s.Value)
	case *Assert:
		pr.put("assert ")
		pr.expr(s.Cond)
	case *Skip:
		pr.put("skip")
	case *Return:
		pr.put("return")
	case *Goto:
		pr.put("goto ", s.Target.Text)
	case *Call:
		pr.put("call ", s.Procedure.Text)
		pr.args(s.Args, pr.fits(s))
	case *MacroCall:
		pr.put(s.Macro.Text)
		pr.args(s.Args, pr.fits(s))
	case *Yield:
		pr.put("yield ")
		pr.expr(s.Value)
	case *BadStmt:
		pr.raw(s.Span())
	default:
		invariant.Unreachable(s)
	}
}

func (pr *printer) assign(s *Assign) {
	column := pr.column
	for i, a := range s.Parts {
		if i > 0 {
			pr.line(column)
			pr.put("|| ")
		}
		pr.put(a.Target.Text)
		pr.accessors(a.Path)
		pr.put(" := ")
		pr.expr(a.Value)
	}
}

// condition writes `word (e)` or, in P style, `word e` and the keyword after
// it.
func (pr *printer) condition(word string, x Expr, style Style, after string) {
	pr.put(word, " ")
	if style == CStyle {
		pr.put("(")
		pr.expr(x)
		pr.put(")")
	} else {
		pr.expr(x)
		pr.put(after)
	}
}

// branch writes the statements that a statement holds.
func (pr *printer) branch(b *Block, style Style, column int) {
	if style == CStyle {
		pr.put(" {")
	}
	pr.stmts(b.Body, column+indentColumns, style)
	pr.line(column)
	if style == CStyle {
		pr.put("}")
	}
}

func (pr *printer) end(word string, style Style) {
	if style == PStyle {
		pr.put("end ", word)
	}
}

func (pr *printer) ifStmt(s *IfStmt, style Style, column int) {
	pr.condition("if", s.Cond, style, " then")
	pr.branch(s.Then, style, column)
	for s.Else != nil {
		inner, ok := onlyIf(s.Else)
		if !ok {
			if style == CStyle {
				pr.put(" ")
			}
			pr.put("else")
			pr.branch(s.Else, style, column)
			break
		}
		s = inner
		if style == CStyle {
			pr.condition(" else if", s.Cond, style, "")
		} else {
			pr.condition("elsif", s.Cond, style, " then")
		}
		pr.branch(s.Then, style, column)
	}
	pr.end("if", style)
}

// onlyIf returns the if that is the only statement of a block and has no label.
func onlyIf(b *Block) (*IfStmt, bool) {
	if len(b.Body) != 1 || b.Body[0].Label() != nil {
		return nil, false
	}
	s, ok := b.Body[0].(*IfStmt)
	return s, ok
}

func (pr *printer) either(s *Either, style Style, column int) {
	for i, b := range s.Branches {
		switch {
		case i == 0:
			pr.put("either")
		case style == CStyle:
			pr.put(" or")
		default:
			pr.put("or")
		}
		pr.branch(b, style, column)
	}
	pr.end("either", style)
}

func (pr *printer) with(s *With, style Style, column int) {
	pr.put("with ")
	if style == CStyle {
		pr.put("(")
	}
	pr.list(len(s.Binds), pr.column+width(s.Binds) <= printColumnsMax, func(i int) { pr.plusVar(s.Binds[i]) })
	if style == CStyle {
		pr.put(")")
	} else {
		pr.put(" do")
	}
	pr.branch(s.Body, style, column)
	pr.end("with", style)
}

// width guesses how long declarations are on one line.
func width(vars []*PlusVar) int {
	n := 0
	for _, v := range vars {
		n += int(v.Span().End-v.Span().Start) + 2
	}
	return n
}
