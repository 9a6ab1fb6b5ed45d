// SPDX-License-Identifier: Apache-2.0

package core

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// The printer writes an expression on one line if it fits, and otherwise breaks
// it where a person would. Conjunctions and disjunctions become lists with
// aligned bullets. IF, CASE, LET and quantifiers are written over several
// lines. Long lists get one line per element. Parentheses are written where the
// precedences of TLA+ require them. A name that would be bound twice gets a
// number, so that the text means what the tree means.

// WidthMax is the line length that the printer tries to keep.
const WidthMax = 100

// Format writes e as TLA+. Its first character is in the given column, counted
// from 0, and later lines are indented to match.
func Format(e Expr, column int) string {
	p := newPrinter(column)
	p.mention(e)
	p.expr(e)
	return string(p.out)
}

// FormatParenthesized is Format with parentheses around every operand and the
// same line breaks. Its output has the same meaning whatever the precedences
// are.
func FormatParenthesized(e Expr, column int) string {
	q := newPrinter(column)
	q.mention(e)
	q.expr(e)
	p := newPrinter(column)
	p.all, p.replay = true, q.tried
	p.mention(e)
	p.expr(e)
	return string(p.out)
}

// FormatDef writes the definition d as TLA+, in column 0, preceded by RECURSIVE
// if needed. For a definition without a body it returns "".
func FormatDef(d *Def) string {
	if d.Body == nil {
		return ""
	}
	p := newPrinter(0)
	p.mention(d.Body)
	p.own(d)
	p.def(d)
	return string(p.out)
}

type printer struct {
	out []byte
	col int
	// flat reports that the text must go on one line of at most limit columns;
	// over reports that it did not fit.
	flat  bool
	limit int
	over  bool
	// all asks for parentheses around every operand. tried records the answers
	// of fits so far. replay has answers to reuse instead of trying.
	all    bool
	tried  []bool
	replay []bool

	names map[*Local]string
	taken map[string]int // names in scope or mentioned
	defs  map[*Def]string
}

func newPrinter(column int) *printer {
	return &printer{col: column, names: map[*Local]string{}, taken: map[string]int{}, defs: map[*Def]string{}}
}

// mention records the free names of e, so that no bound name is given one of
// them.
func (p *printer) mention(e Expr) {
	Walk(e, func(x Expr) bool {
		switch x := x.(type) {
		case *VarRef:
			p.taken[x.Var.Name] |= 1 << 20
		case *ConstRef:
			p.taken[x.Const.Name] |= 1 << 20
		case *Call:
			p.taken[x.Def.Name] |= 1 << 20
		case *OpRef:
			p.taken[x.Def.Name] |= 1 << 20
		}
		return true
	})
}

func (p *printer) emit(s string) {
	p.out = append(p.out, s...)
	p.col += utf8.RuneCountInString(s)
	if p.flat && p.col > p.limit {
		p.over = true
	}
}

func (p *printer) newline(column int) {
	p.out = append(p.out, '\n')
	p.out = append(p.out, strings.Repeat(" ", column)...)
	p.col = column
}

// fits reports whether the output of f fits on the line.
func (p *printer) fits(f func()) bool {
	if p.flat {
		return true
	}
	if len(p.replay) > 0 {
		ok := p.replay[0]
		p.replay = p.replay[1:]
		return ok
	}
	length, col := len(p.out), p.col
	p.flat, p.limit, p.over = true, max(WidthMax, p.col+20), false
	f()
	ok := !p.over
	p.out, p.col, p.flat, p.over = p.out[:length], col, false, false
	p.tried = append(p.tried, ok)
	return ok
}

// bind gives names to locals for the duration of f.
func (p *printer) bind(list []*Local, f func()) {
	type old struct {
		name string
		had  bool
	}
	before := make([]old, len(list))
	for i, l := range list {
		before[i].name, before[i].had = p.names[l]
		name := l.Name
		for n := 1; p.taken[name] > 0; n++ {
			name = mangled(l.Name) + "_" + strconv.Itoa(n)
		}
		p.taken[name]++
		p.names[l] = name
	}
	f()
	for i, l := range list {
		p.taken[p.names[l]]--
		if before[i].had {
			p.names[l] = before[i].name
		} else {
			delete(p.names, l)
		}
	}
}

func (p *printer) local(l *Local) string {
	if n, ok := p.names[l]; ok {
		return n
	}
	return l.Name
}

// defName is the name of a definition as its definition writes it.
func (p *printer) defName(d *Def) string {
	if n, ok := p.defs[d]; ok {
		return n
	}
	return d.Name
}

// own gives a definition of an instance a plain name for its definition.
func (p *printer) own(d *Def) {
	if len(d.Path) > 0 {
		p.defs[d] = mangled(d.FullName())
	}
}

// mangled makes a name of letters, digits and underscores.
func mangled(name string) string {
	var b strings.Builder
	for _, c := range name {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_':
			b.WriteRune(c)
		case c == '!':
			b.WriteByte('_')
		default:
			b.WriteString("op" + strconv.FormatInt(int64(c), 16))
		}
	}
	return b.String()
}

// def writes a definition at the current column.
func (p *printer) def(d *Def) {
	column := p.col
	name := p.defName(d)
	fn, isFn := d.Body.(*Fn)
	isFn = isFn && fn.Self != nil && len(d.Params) == 0
	if d.Recursive {
		p.emit("RECURSIVE " + declared(name, len(d.Params)))
		p.newline(column)
	}
	if isFn {
		p.emit(name + "[")
		p.names[fn.Self] = name
		p.bind(boundBy(fn.Binds), func() {
			p.bindTexts(fn.Binds)
			p.emit("] ==")
			p.body(fn.Body, column+2)
		})
		return
	}
	p.bind(d.Params, func() {
		p.head(name, d.Params)
		p.emit(" ==")
		p.body(d.Body, column+2)
	})
}

// declared writes a name with its number of arguments: F(_), _ + _.
func declared(name string, arity int) string {
	switch fix, _ := fixityOf(name, arity); fix {
	case prefix:
		return name + " _"
	case infix:
		return "_ " + name + " _"
	case postfix:
		return "_ " + name
	}
	return name + blanks(arity)
}

func blanks(n int) string {
	if n == 0 {
		return ""
	}
	return "(_" + strings.Repeat(", _", n-1) + ")"
}

// head writes the name and the parameters of a definition.
func (p *printer) head(name string, params []*Local) {
	fix, _ := fixityOf(name, len(params))
	switch fix {
	case prefix:
		p.emit(name + " " + p.local(params[0]))
		return
	case infix:
		p.emit(p.local(params[0]) + " " + name + " " + p.local(params[1]))
		return
	case postfix:
		p.emit(p.local(params[0]) + name)
		return
	}
	p.emit(name)
	for i, l := range params {
		if i == 0 {
			p.emit("(")
		} else {
			p.emit(", ")
		}
		p.emit(declared(p.local(l), l.Arity))
	}
	if len(params) > 0 {
		p.emit(")")
	}
}

// body writes the text after == or a colon. It writes it on the same line if it
// fits or starts with something that breaks well there, else on the next line.
func (p *printer) body(e Expr, column int) {
	if p.flat || p.fits(func() { p.emit(" "); p.expr(e) }) || p.col < column+8 {
		p.emit(" ")
	} else {
		p.newline(column)
	}
	p.expr(e)
}
