// SPDX-License-Identifier: Apache-2.0

package coq

import (
	"strings"
	"unicode/utf8"
)

// widthMax is how long a line may become before a term is laid out over
// several; indentMax is where indentation stops.
const (
	widthMax  = 100
	indentMax = 60
)

// String prints the file.
func (f File) String() string {
	var b strings.Builder
	for _, h := range f.Header {
		b.WriteString(Comment(h) + "\n")
	}
	for _, r := range f.Requires {
		b.WriteString(r + "\n")
	}
	for _, d := range f.Defs {
		b.WriteString("\n" + d.String())
	}
	return b.String()
}

// String prints the definition with its comments.
func (d Def) String() string {
	var b strings.Builder
	if d.Doc != "" {
		doc := strings.ReplaceAll(strings.ReplaceAll(d.Doc, "\n", "\n    "), "\n    \n", "\n\n")
		b.WriteString(DocComment(doc) + "\n")
	}
	if d.Place != "" {
		b.WriteString(Comment(d.Place) + "\n")
	}
	b.WriteString("Definition " + d.Name + " : " + d.Type + " :=")
	switch {
	case d.Value == nil && !strings.Contains(d.Body, "\n"):
		b.WriteString(" " + d.Body)
	case d.Value == nil:
		b.WriteString("\n  " + strings.ReplaceAll(d.Body, "\n", "\n  "))
	default:
		head, end := "λ: ", ","
		if d.Self != "" {
			head, end = "rec: "+d.Self+" ", " :="
		}
		p := printer{indent: 4}
		p.expr(d.Value, 200)
		b.WriteString("\n  " + head + strings.Join(d.Params, " ") + end + "\n    " + p.b.String())
	}
	b.WriteString(".\n")
	return b.String()
}

// Print prints a term on its own, as the tests and messages show it.
func Print(e Expr) string {
	p := printer{}
	p.expr(e, 200)
	return p.b.String()
}

type printer struct {
	b      strings.Builder
	indent int
}

func (p *printer) newline() {
	p.b.WriteString("\n" + strings.Repeat(" ", min(p.indent, indentMax)))
}

// nested prints what f prints, further to the right by n.
func (p *printer) nested(n int, f func()) {
	p.indent += n
	f()
	p.indent -= n
}

// column is how much of the current line is used.
func (p *printer) column() int {
	s := p.b.String()
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		return utf8.RuneCountInString(s[i+1:])
	}
	return p.indent + utf8.RuneCountInString(s)
}

// The levels of the notations: a term printed at a level has no operator of a
// higher one outside parentheses.
const (
	levelAtom   = 2   // arguments
	levelField  = 5   // fields, for which parentheses are good style
	levelApp    = 10  // applications, loads
	levelInfix  = 70  // operands of a store
	levelStore  = 80  // "l <-[t] v"
	levelSeq    = 99  // left of ";;"
	levelReturn = 190 // "return: e"
	levelAll    = 200
)

// level is the level of the outermost symbol of e.
func level(e Expr) int {
	switch e := e.(type) {
	case Atom, Tuple:
		return levelAtom
	case Field:
		return levelField
	case Raw, App, Prefix:
		return levelApp
	case Infix:
		if strings.HasPrefix(e.Op, "<-") {
			return levelStore
		}
		return levelInfix
	case Not:
		return levelStore
	case Return:
		return levelReturn
	case Seq, Then:
		return levelSeq + 1
	case Let, If, Lam, Note:
		return levelAll
	}
	panic("coq: unknown term")
}

// flat prints e in one line, or reports that this is not possible.
func flat(e Expr, max int) (string, bool) {
	switch e := e.(type) {
	case Atom:
		return string(e), true
	case Raw:
		return paren(string(e), levelApp > max), true
	case App:
		s, ok := flat(e.Fun, levelAtom)
		for _, a := range e.Args {
			t, ok1 := flat(a, levelAtom)
			s, ok = s+" "+t, ok && ok1
		}
		return paren(s, levelApp > max), ok
	case Infix:
		l := level(e)
		side := levelApp
		if l == levelStore {
			side = levelInfix
		}
		x, ok1 := flat(e.X, min(side, levelApp))
		y, ok2 := flat(e.Y, side)
		return paren(x+" "+e.Op+" "+y, l > max), ok1 && ok2
	case Prefix:
		x, ok := flat(e.X, 1)
		return paren(e.Op+" "+x, levelApp > max), ok
	case Not:
		x, ok := flat(e.X, levelAtom)
		return paren("~ "+x, levelStore > max), ok
	case Field:
		x, ok := flat(e.X, 1)
		return paren(x+".["+e.Struct+", "+Quote(e.Name)+"]", levelField > max), ok
	case Tuple:
		var parts []string
		ok := true
		for _, x := range e {
			s, ok1 := flat(x, levelInfix)
			parts, ok = append(parts, s), ok && ok1
		}
		return "(" + strings.Join(parts, ", ") + ")", ok
	case If:
		c, ok1 := flat(e.Cond, levelStore)
		y, ok2 := flat(e.Yes, levelReturn)
		n, ok3 := flat(e.No, levelReturn)
		_, chain := e.No.(If)
		return paren("if: "+c+" then "+y+" else "+n, levelAll > max), ok1 && ok2 && ok3 && !chain
	case Lam:
		s, ok := flat(e.Body, levelAll)
		return paren("λ: "+strings.Join(e.Params, " ")+", "+s, levelAll > max), ok
	case Return:
		s, ok := flat(e.X, levelInfix)
		return paren("return: "+s, levelReturn > max), ok
	}
	return "", false // Let, Seq, Then, Note: one line each
}

func paren(s string, needed bool) string {
	if needed {
		return "(" + s + ")"
	}
	return s
}

// expr prints e where no symbol above max may stand free.
func (p *printer) expr(e Expr, max int) {
	if s, ok := flat(e, max); ok && p.column()+utf8.RuneCountInString(s) <= widthMax {
		p.b.WriteString(s)
		return
	}
	if level(e) > max {
		p.b.WriteByte('(')
		p.nested(1, func() { p.broken(e) })
		p.b.WriteByte(')')
		return
	}
	p.broken(e)
}

// broken prints e over several lines.
func (p *printer) broken(e Expr) {
	switch e := e.(type) {
	case Atom:
		p.b.WriteString(string(e))
	case Raw:
		p.b.WriteString(string(e))
	case App:
		p.app(e)
	case Infix:
		side := levelApp
		if level(e) == levelStore {
			side = levelInfix
		}
		p.expr(e.X, min(side, levelApp))
		p.b.WriteString(" " + e.Op)
		p.nested(2, func() { p.newline(); p.expr(e.Y, side) })
	case Prefix:
		p.b.WriteString(e.Op + " ")
		p.expr(e.X, 1)
	case Not:
		p.b.WriteString("~ ")
		p.expr(e.X, levelAtom)
	case Field:
		p.expr(e.X, 1)
		p.b.WriteString(".[" + e.Struct + ", " + Quote(e.Name) + "]")
	case Tuple:
		p.b.WriteByte('(')
		p.nested(1, func() {
			for i, x := range e {
				if i > 0 {
					p.b.WriteByte(',')
					p.newline()
				}
				p.expr(x, levelInfix)
			}
		})
		p.b.WriteByte(')')
	case Let:
		p.let(e)
	case Seq:
		p.expr(e.X, levelSeq)
		p.b.WriteString(";;")
		p.newline()
		p.expr(e.Body, levelAll)
	case Then:
		p.expr(e.X, levelSeq)
		p.b.WriteString(";;;")
		p.newline()
		p.expr(e.Body, levelAll)
	case If:
		p.cond(e)
	case Lam:
		p.b.WriteString("λ: " + strings.Join(e.Params, " ") + ",")
		p.nested(2, func() { p.newline(); p.expr(e.Body, levelAll) })
	case Return:
		p.b.WriteString("return: ")
		p.nested(2, func() { p.expr(e.X, levelInfix) })
	case Note:
		for line := range strings.SplitSeq(Comment(e.Text), "\n") {
			p.b.WriteString(strings.TrimSpace(line))
			p.newline()
		}
		p.expr(e.Body, levelAll)
	default:
		panic("coq: unknown term")
	}
}

// app puts arguments that do not fit on separate lines.
func (p *printer) app(e App) {
	p.expr(e.Fun, levelAtom)
	// Short arguments stay beside the function, as in "map_range m".
	i := 0
	for ; i < len(e.Args); i++ {
		s, ok := flat(e.Args[i], levelAtom)
		if _, lam := e.Args[i].(Lam); lam || !ok || p.column()+utf8.RuneCountInString(s) >= widthMax {
			break
		}
		p.b.WriteString(" " + s)
	}
	p.nested(2, func() {
		for _, a := range e.Args[i:] {
			p.newline()
			p.expr(a, levelAtom)
		}
	})
}

func (p *printer) let(e Let) {
	head := "let: " + e.Name
	if e.Second != "" {
		head = "let2: " + e.Name + " " + e.Second
	}
	p.b.WriteString(head + " :=")
	if s, ok := flat(e.X, levelInfix); ok && p.column()+utf8.RuneCountInString(s)+4 <= widthMax {
		p.b.WriteString(" " + s + " in")
	} else {
		p.nested(2, func() { p.newline(); p.expr(e.X, levelInfix) })
		p.b.WriteString(" in")
	}
	p.newline()
	p.expr(e.Body, levelAll)
}

func (p *printer) cond(e If) {
	p.b.WriteString("if: ")
	p.nested(2, func() { p.expr(e.Cond, levelStore) })
	p.b.WriteString(" then")
	p.nested(2, func() { p.newline(); p.expr(e.Yes, levelAll) })
	p.newline()
	p.b.WriteString("else")
	if no, ok := e.No.(If); ok {
		p.b.WriteByte(' ')
		p.cond(no)
		return
	}
	// The text after a guard is not indented: it continues in the guard's
	// column.
	switch e.No.(type) {
	case Let, Seq, Then, Note:
		p.newline()
		p.expr(e.No, levelAll)
	default:
		if s, ok := flat(e.No, levelReturn); ok && p.column()+utf8.RuneCountInString(s) < widthMax {
			p.b.WriteString(" " + s)
			return
		}
		p.nested(2, func() { p.newline(); p.expr(e.No, levelAll) })
	}
}
