// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// The printer writes a tree so that parsing the result gives the same tree. Two
// things need care. An operand gets parentheses unless the operator table shows
// that they are not needed (see parenthesize). The bullets of a list are
// recognized by their columns, so no line of a construct may start to the left
// of its first character.

// Format writes a node as text in the ASCII spelling. A module ends with a
// newline, other nodes do not. Proofs are copied from the source.
func Format(n Node) string {
	pr := &printer{}
	pr.node(n)
	return pr.b.String()
}

// printColumnsMax is the column after which the printer prefers a new line,
// where the construct allows one.
const printColumnsMax = 100

type printer struct {
	b      strings.Builder
	column int
	last   byte
}

// put writes text without line ends. It separates characters that would
// otherwise start or end a comment.
func (pr *printer) put(parts ...string) {
	for _, s := range parts {
		if s == "" {
			continue
		}
		if pr.last == '(' && s[0] == '*' || pr.last == '*' && s[0] == ')' {
			pr.b.WriteByte(' ')
			pr.column++
		}
		pr.b.WriteString(s)
		pr.column += utf8.RuneCountInString(s)
		pr.last = s[len(s)-1]
	}
}

// line starts a new line at a column counted from 0.
func (pr *printer) line(column int) {
	pr.b.WriteByte('\n')
	pr.b.WriteString(strings.Repeat(" ", column))
	pr.column, pr.last = column, ' '
}

// raw copies the source text of a span.
func (pr *printer) raw(s source.Span) {
	text := s.Text()
	pr.b.WriteString(text)
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		pr.column = 0
		text = text[i+1:]
	}
	pr.column += utf8.RuneCountInString(text)
	pr.last = ' '
}

// fits estimates from the source whether n fits on the rest of the line.
func (pr *printer) fits(n Node) bool {
	span := n.Span()
	if span.End-span.Start > 4*printColumnsMax {
		return false
	}
	text := span.Text()
	if strings.Contains(text, "\n") {
		for _, s := range []string{`/\`, `\/`, "∧", "∨", "LET", `\*`, "(*"} {
			if strings.Contains(text, s) {
				return false
			}
		}
		text = strings.Join(strings.Fields(text), " ")
	}
	return pr.column+len(text) <= printColumnsMax
}

// list writes items separated by commas, each on its own line unless they fit.
func (pr *printer) list(n int, fits bool, item func(i int)) {
	column := pr.column
	for i := range n {
		if i > 0 {
			pr.put(",")
			if fits {
				pr.put(" ")
			} else {
				pr.line(column)
			}
		}
		item(i)
	}
}

func (pr *printer) names(names []Name) {
	pr.list(len(names), true, func(i int) { pr.put(names[i].Text) })
}

func (pr *printer) node(n Node) {
	switch n := n.(type) {
	case *Module:
		pr.module(n, true)
		pr.put("\n")
	case Unit:
		pr.unit(n)
	case Expr:
		pr.expr(n)
	case Stmt:
		pr.stmt(n, CStyle)
	case *Algorithm:
		pr.algorithm(n)
	default:
		pr.declaration(n, CStyle)
	}
}

// item is something between a module's header and its end, with its place.
type item struct {
	at    int32
	print func()
}

// module writes a module. It puts the algorithm and the markers of the
// outermost module among the units at their old positions.
func (pr *printer) module(m *Module, outermost bool) {
	column := pr.column
	pr.put("---- MODULE ", m.Name.Text, " ----")
	if len(m.Extends) > 0 {
		pr.line(column)
		pr.put("EXTENDS ")
		pr.names(m.Extends)
	}
	var items []item
	for _, u := range m.Units {
		items = append(items, item{u.Span().Start, func() { pr.unit(u) }})
	}
	if outermost {
		items = append(items, pr.comments(m)...)
	}
	sort.SliceStable(items, func(i, j int) bool { return items[i].at < items[j].at })
	for _, it := range items {
		pr.line(0)
		pr.line(column)
		it.print()
	}
	pr.line(0)
	pr.line(column)
	pr.put("====")
}

// comments returns the items that are written inside comments.
func (pr *printer) comments(m *Module) []item {
	var items []item
	marker := func(s source.Span, text string) {
		items = append(items, item{s.Start, func() { pr.put(`\* `, text) }})
	}
	if r := m.PlusCalTranslation; r != nil {
		marker(r.Begin, "BEGIN PLUSCAL TRANSLATION")
		marker(r.End, "END PLUSCAL TRANSLATION")
	}
	if r := m.Translation; r != nil {
		marker(r.Begin, "BEGIN TRANSLATION")
		marker(r.End, "END TRANSLATION")
	}
	for _, a := range []*Algorithm{m.Algorithm, m.Emitted} {
		if a == nil {
			continue
		}
		items = append(items, item{a.Span().Start, func() {
			column := pr.column
			pr.options(a.Options)
			pr.put("(*")
			pr.line(column)
			pr.algorithm(a)
			pr.line(column)
			pr.put("*)")
		}})
	}
	return items
}

func (pr *printer) options(options []Name) {
	if len(options) == 0 {
		return
	}
	column := pr.column
	pr.put("(* PlusCal options (")
	pr.list(len(options), true, func(i int) { pr.put("-", options[i].Text) })
	pr.put(") *)")
	pr.line(column)
}

func (pr *printer) unit(u Unit) {
	switch u := u.(type) {
	case *VariableDecl:
		pr.put("VARIABLES ")
		pr.names(u.Names)
	case *ConstantDecl:
		pr.put("CONSTANTS ")
		pr.opDecls(u.Decls)
	case *Recursive:
		pr.put("RECURSIVE ")
		pr.opDecls(u.Decls)
	case *OperatorDef:
		pr.operatorDef(u)
	case *FunctionDef:
		column := pr.local(u.Local)
		pr.put(u.Name.Text, "[")
		pr.bounds(u.Bounds)
		pr.put("] ==")
		pr.body(u.Body, column+2)
	case *Instance:
		pr.instance(u)
	case *Module:
		pr.module(u, false)
	case *Assume:
		pr.fact(u.Keyword, u.Name, u.Body)
	case *Theorem:
		column := pr.column
		pr.fact(u.Keyword, u.Name, u.Body)
		if u.Proof.IsValid() {
			pr.line(column + 2)
			pr.raw(u.Proof)
		}
	case *UseHide:
		pr.raw(u.Span())
	case *Separator:
		pr.put("----")
	case *BadUnit:
		pr.raw(u.Span())
	default:
		invariant.Unreachable(u)
	}
}

// local writes LOCAL if asked to, and returns the column before it.
func (pr *printer) local(local bool) int {
	column := pr.column
	if local {
		pr.put("LOCAL ")
	}
	return column
}

// body writes the right-hand side of a definition: on the same line if it fits,
// else on the next.
func (pr *printer) body(x Expr, column int) {
	switch x.(type) {
	case *Junction, *Let:
		pr.line(column)
	default:
		if pr.fits(x) {
			pr.put(" ")
		} else {
			pr.line(column)
		}
	}
	pr.expr(x)
}

func (pr *printer) fact(keyword string, name Name, body Expr) {
	column := pr.column
	pr.put(keyword)
	if !name.IsZero() {
		pr.put(" ", name.Text, " ==")
	}
	pr.body(body, column+2)
}

func (pr *printer) opDecls(decls []OpDecl) {
	pr.list(len(decls), true, func(i int) { pr.opDecl(decls[i]) })
}

func (pr *printer) opDecl(d OpDecl) {
	switch d.Fixity {
	case PrefixOp:
		pr.put(d.Name.Text, " _")
	case InfixOp:
		pr.put("_ ", d.Name.Text, " _")
	case PostfixOp:
		pr.put("_ ", d.Name.Text)
	case Nonfix:
		pr.put(d.Name.Text)
		if d.Arity > 0 {
			pr.put("(_", strings.Repeat(", _", d.Arity-1), ")")
		}
	}
}

func (pr *printer) operatorDef(d *OperatorDef) {
	column := pr.local(d.Local)
	switch d.Fixity {
	case PrefixOp:
		pr.put(d.Name.Text, " ", d.Params[0].Name.Text)
	case InfixOp:
		pr.put(d.Params[0].Name.Text, " ", d.Name.Text, " ", d.Params[1].Name.Text)
	case PostfixOp:
		pr.put(d.Params[0].Name.Text, " ", d.Name.Text)
	case Nonfix:
		pr.put(d.Name.Text)
		pr.params(d.Params)
	}
	pr.put(" ==")
	pr.body(d.Body, column+2)
}

func (pr *printer) params(params []OpDecl) {
	if len(params) > 0 {
		pr.put("(")
		pr.opDecls(params)
		pr.put(")")
	}
}

func (pr *printer) instance(in *Instance) {
	pr.local(in.Local)
	if !in.Name.IsZero() {
		pr.put(in.Name.Text)
		pr.params(in.Params)
		pr.put(" == ")
	}
	pr.put("INSTANCE ", in.Module.Text)
	if len(in.With) > 0 {
		pr.put(" WITH ")
		pr.list(len(in.With), pr.fits(in), func(i int) {
			pr.put(in.With[i].Name.Text, " <- ")
			pr.expr(in.With[i].Value)
		})
	}
}
