// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// body reads `{ ... }` in C style, or `begin ... end what` in P style. It
// never returns nil.
func (p *parser) body(what string) *Block {
	start := p.start()
	b := &Block{}
	if p.style == CStyle {
		if p.at("{") {
			return p.braces()
		}
		p.want("{", "before the statements")
		b.place = p.since(start)
		return b
	}
	p.wantWord("begin", "before the statements")
	b.Body = p.stmts()
	if what != "" {
		p.wantWord("end", "after the statements")
		p.wantWord(what, "after `end`")
	}
	b.place = p.since(start)
	return b
}

// braces reads a compound statement, whose brace is next.
func (p *parser) braces() *Block {
	open := p.tok()
	b := &Block{}
	if !p.enter() {
		b.place = p.since(open.start)
		return b
	}
	p.advance()
	b.Body = p.stmts()
	if !p.got("}") {
		p.unclosed(open, "}")
	}
	b.place = p.since(open.start)
	p.leave()
	return b
}

// stmts reads statements up to what ends a sequence of them. After an error it
// continues with the next statement.
func (p *parser) stmts() []Stmt {
	var out []Stmt
	for {
		for p.at(";") { // an empty statement
			p.unexpected(StatementExpected, "a statement", "remove the `;`")
			p.recover(p.i + 1)
		}
		if p.broken || p.stmtsEnd() {
			return out
		}
		from := p.i
		out = append(out, p.stmt())
		switch {
		case p.broken:
			if !p.recoverStmt(from) {
				return out
			}
		case p.got(";"), p.stmtsEnd():
		case p.style == CStyle && p.toks[p.i-1].is(kindPunct, "}"):
			// A statement that ends with a brace needs no semicolon.
		case p.startsStmt(p.i):
			p.noSemicolon("between two statements")
		default:
			p.unexpected(SemicolonMissing, "`;` or the end of the statements", "write `;`")
			if !p.recoverStmt(from) {
				return out
			}
		}
	}
}

// stmtsEnd reports whether a sequence of statements ends here.
func (p *parser) stmtsEnd() bool {
	t := p.tok()
	switch t.kind {
	case kindEOF, kindStop:
		return true
	case kindPunct:
		return t.text == "}"
	case kindWord:
		switch t.text {
		case "end", "else", "elsif", "or":
			return p.style == PStyle
		}
	}
	return false
}

// startsStmt reports whether a statement may start with token i.
func (p *parser) startsStmt(i int) bool {
	t := &p.toks[i]
	switch t.kind {
	case kindIdent:
		return true
	case kindPunct:
		return t.text == "{" && p.style == CStyle
	case kindWord:
		switch t.text {
		case "if", "while", "either", "with", "await", "when", "print", "assert", "skip", "return", "goto",
			"call", "yield", "$variable":
			return true
		}
	}
	return false
}

// recoverStmt resumes after an error in the statement that starts at token
// from. It resumes after the next semicolon outside brackets, at the end of the
// enclosing sequence, or at a line that starts with a statement's keyword. It
// returns false if nothing of the sequence is left.
func (p *parser) recoverStmt(from int) bool {
	i := max(p.i, from+1)
	for i < len(p.toks)-1 {
		t := &p.toks[i]
		if t.kind == kindPunct {
			switch t.text {
			case "(", "[", "<<", "{":
				if int(p.match[i]) > i {
					i = int(p.match[i]) + 1
					continue
				}
			case ";":
				p.recover(i + 1)
				return true
			case "}":
				if int(p.match[i]) < from {
					p.recover(i)
					return true
				}
			}
		}
		if t.kind == kindWord && p.style == PStyle && (t.text == "end" || t.text == "else" || t.text == "elsif" || t.text == "or") {
			p.recover(i)
			return true
		}
		if t.first && (t.kind == kindWord && p.startsStmt(i) || p.labelAt(i)) {
			p.recover(i)
			return true
		}
		if t.first && p.startsSection(i) {
			break // the enclosing body was not closed
		}
		i++
	}
	p.i = i
	return false
}

// labelAt reports whether token i is a label.
func (p *parser) labelAt(i int) bool {
	return p.toks[i].kind == kindIdent && i+1 < len(p.toks) && p.toks[i+1].is(kindPunct, ":")
}

// stmt reads a statement with its label, if it has one. It never returns nil.
func (p *parser) stmt() Stmt {
	var label *StmtLabel
	if t := p.tok(); t.kind == kindIdent && p.labelAt(p.i) {
		p.advance()
		p.advance()
		label = &StmtLabel{Name: p.nameOf(t)}
		switch {
		case p.atOp("+"):
			label.Modifier = '+'
			p.advance()
		case p.atOp("-"):
			label.Modifier = '-'
			p.advance()
		}
		label.place = p.since(t.start)
		if p.stmtsEnd() || p.labelAt(p.i) {
			p.unexpected(StatementExpected, "a statement after the label", "write skip")
		}
	}
	s := p.unlabelled()
	s.setLabel(label)
	return s
}

// unlabelled reads a statement.
func (p *parser) unlabelled() Stmt {
	start := p.start()
	t := p.tok()
	at := func() labeled { return labeled{place: p.since(start)} }
	switch t.kind {
	case kindIdent:
		return p.assignOrMacro()
	case kindPunct:
		if t.text == "{" && p.style == CStyle {
			return p.braces()
		}
	case kindWord:
		switch t.text {
		case "if":
			return p.ifStmt()
		case "while":
			return p.while()
		case "either":
			return p.either()
		case "with":
			return p.with()
		case "$variable":
			return p.assign()
		case "await", "when":
			p.advance()
			x := p.expr()
			return &Await{at(), x}
		case "print":
			p.advance()
			x := p.expr()
			return &Print{at(), x}
		case "assert":
			p.advance()
			x := p.expr()
			return &Assert{at(), x}
		case "skip":
			p.advance()
			return &Skip{at()}
		case "return":
			p.advance()
			return &Return{at()}
		case "goto":
			p.advance()
			target := p.name("the label to go to")
			return &Goto{at(), target}
		case "call":
			p.advance()
			c := &Call{Procedure: p.name("the name of a procedure")}
			c.Args = p.callArgs("after the name of the procedure")
			c.labeled = at()
			return c
		case "yield":
			return p.yield()
		}
	}
	p.unexpected(StatementExpected, "a statement", "")
	return &BadStmt{at()}
}

// yield reads `yield e`, which only a mapping macro may have.
func (p *parser) yield() Stmt {
	t := p.tok()
	if !p.mapping {
		p.report(source.Diagnostic{
			Code: MappingPlace, Span: p.spanOf(t),
			Message: "yield is allowed only in the bodies of a mapping macro",
		})
	}
	p.advance()
	x := p.expr()
	return &Yield{labeled{place: p.since(t.start)}, x}
}

// assignOrMacro reads a statement that starts with a name.
func (p *parser) assignOrMacro() Stmt {
	t := p.tok()
	if !p.peek(1).is(kindPunct, "(") {
		return p.assign()
	}
	p.advance()
	m := &MacroCall{Macro: p.nameOf(t)}
	br := p.open()
	for !p.broken && !p.at(")") {
		m.Args = append(m.Args, p.expr())
		if !p.got(",") {
			break
		}
	}
	p.close(br, ")")
	m.place = p.since(t.start)
	return m
}

// assign reads `x[i].f := e || y := g`.
func (p *parser) assign() Stmt {
	start := p.start()
	a := &Assign{Parts: []Assignment{p.assignment()}}
	for p.atOp("||") {
		p.advance()
		a.Parts = append(a.Parts, p.assignment())
	}
	a.place = p.since(start)
	return a
}

func (p *parser) assignment() Assignment {
	start := p.start()
	var a Assignment
	if t := p.tok(); t.is(kindWord, "$variable") {
		p.advance()
		a.Target = p.nameOf(t)
		if !p.mapping {
			p.report(source.Diagnostic{
				Code: MappingPlace, Span: p.spanOf(t),
				Message: "`$variable` exists only in the bodies of a mapping macro",
			})
		}
	} else {
		a.Target = p.name("the variable that is assigned")
	}
	a.Path = p.accessors()
	switch {
	case p.atOp(":="):
		p.advance()
		a.Value = p.expr()
	case p.atOp("="):
		p.unexpected(TokenExpected, "`:=` in an assignment", "write :=")
		a.Value = p.badExpr()
	default:
		p.unexpected(StatementExpected, "`:=` of an assignment, or another statement", "write :=")
		a.Value = p.badExpr()
	}
	a.place = p.since(start)
	return a
}

// condition reads the (e) of if and while in C style, the e in P style.
func (p *parser) condition(after string) Expr {
	if p.style == PStyle {
		return p.expr()
	}
	br, ok := p.paren("around the condition after " + after)
	if !ok {
		return p.badExpr()
	}
	x := p.expr()
	p.close(br, ")")
	return x
}

// single reads one statement of C style as a block: a compound statement
// without a label is the block itself.
func (p *parser) single() *Block {
	if !p.enter() {
		return &Block{labeled: labeled{place: p.since(p.start())}}
	}
	defer p.leave()
	start := p.start()
	s := p.stmt()
	if b, ok := s.(*Block); ok && b.Label() == nil {
		return b
	}
	return &Block{labeled: labeled{place: p.since(start)}, Body: []Stmt{s}}
}

// sequence reads the statements of P style between two words as a block.
func (p *parser) sequence(after string) *Block {
	if !p.enter() {
		return &Block{labeled: labeled{place: p.since(p.start())}}
	}
	defer p.leave()
	start := p.start()
	b := &Block{Body: p.stmts()}
	if len(b.Body) == 0 {
		p.unexpected(StatementExpected, "a statement after "+after, "write skip")
	}
	b.place = p.since(start)
	return b
}

// orElse skips the word, and a semicolon before it, which C style allows.
func (p *parser) orElse(word string) bool {
	if p.style == CStyle && p.at(";") && p.peek(1).is(kindWord, word) {
		p.advance()
	}
	return p.gotWord(word)
}

// ifStmt reads an if with its elsifs; `if` or `elsif` is next.
func (p *parser) ifStmt() Stmt {
	start := p.start()
	p.advance()
	s := &IfStmt{Cond: p.condition("if")}
	if p.style == CStyle {
		s.Then = p.single()
		if p.orElse("else") {
			s.Else = p.single()
		}
		s.place = p.since(start)
		return s
	}
	p.wantWord("then", "after the condition of if")
	s.Then = p.sequence("then")
	switch {
	case p.atWord("elsif"):
		from := p.start()
		if !p.enter() {
			break
		}
		inner := p.ifStmt()
		p.leave()
		s.Else = &Block{labeled: labeled{place: p.since(from)}, Body: []Stmt{inner}}
		s.place = p.since(start)
		return s // the innermost elsif read the end
	case p.gotWord("else"):
		s.Else = p.sequence("else")
	}
	p.endOf("if")
	s.place = p.since(start)
	return s
}

// endOf goes past `end word`.
func (p *parser) endOf(word string) {
	p.wantWord("end", fmt.Sprintf("%s after the statements of %s", word, word))
	p.wantWord(word, "after `end`")
}

// while reads a loop.
func (p *parser) while() Stmt {
	start := p.start()
	p.advance()
	w := &While{Cond: p.condition("while")}
	if p.style == CStyle {
		w.Body = p.single()
	} else {
		p.wantWord("do", "after the condition of while")
		w.Body = p.sequence("do")
		p.endOf("while")
	}
	w.place = p.since(start)
	return w
}

// either reads a choice of branches.
func (p *parser) either() Stmt {
	start := p.start()
	p.advance()
	branch := func(after string) *Block {
		if p.style == CStyle {
			return p.single()
		}
		return p.sequence(after)
	}
	e := &Either{Branches: []*Block{branch("either")}}
	for !p.broken && p.orElse("or") {
		e.Branches = append(e.Branches, branch("or"))
	}
	if len(e.Branches) == 1 {
		p.unexpected(BranchMissing, "`or` and a second branch of either", "write or skip")
	}
	if p.style == PStyle {
		p.endOf("either")
	}
	e.place = p.since(start)
	return e
}

// with reads `with (x = e, y \in S) S`.
func (p *parser) with() Stmt {
	start := p.start()
	p.advance()
	w := &With{}
	if p.style == PStyle {
		w.Binds = p.withBinds("do")
		p.wantWord("do", "after what with binds")
		w.Body = p.sequence("do")
		p.endOf("with")
	} else {
		if br, ok := p.paren("after with"); ok {
			w.Binds = p.withBinds(")")
			p.close(br, ")")
		}
		w.Body = p.single()
	}
	w.place = p.since(start)
	return w
}

// withBinds reads bindings separated by commas or semicolons, and perhaps one
// more separator after the last.
func (p *parser) withBinds(end string) []*PlusVar {
	var out []*PlusVar
	for {
		v := p.plusVar("a name to bind")
		if v.Init == nil {
			p.unexpected(TokenExpected, "`=` or `\\in` after the name that with binds", "write = or \\in")
			v.Init = p.badExpr()
		}
		out = append(out, v)
		if p.broken || !p.got(",") && !p.got(";") || p.tok().text == end {
			return out
		}
	}
}
