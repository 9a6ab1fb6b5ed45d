// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// module reads a module whose header line is next.
func (p *parser) module() *Module {
	m := &Module{}
	start := p.start()
	p.advance() // ----
	p.advance() // MODULE
	m.Name = p.name("the name of the module")
	if !p.broken && p.tok().kind == kindRule {
		p.advance()
	} else {
		p.unexpected(TokenExpected, "a line of dashes after the module's name", "write ----")
		p.recoverUnit(p.i, 1)
	}
	if p.gotWord("EXTENDS") {
		from := p.i
		if p.startsUnit(from) {
			p.unexpected(NameExpected, "the name of a module after EXTENDS", "write one, or remove EXTENDS")
		}
		m.Extends = append(m.Extends, p.name("the name of a module"))
		p.moreNames(func() { m.Extends = append(m.Extends, p.name("the name of a module")) })
		if p.broken {
			p.recoverUnit(from-1, 1)
		}
	}
	for {
		t := &p.toks[p.i]
		if t.kind == kindEnd {
			p.advance()
			break
		}
		if t.kind == kindEOF {
			if p.i > 0 && p.toks[p.i-1].is(kindBad, string(UnterminatedComment)) {
				break // a comment hides the end
			}
			p.report(source.Diagnostic{
				Code: ModuleEndMissing, Span: p.spanOf(t),
				Message: fmt.Sprintf("expected a line of four or more = that ends module %s", m.Name.Text),
				Repair:  "write ====",
				Related: []source.Note{{Span: m.Name.Span(), Message: "the module starts here"}},
			})
			break
		}
		from := p.i
		m.Units = append(m.Units, p.unit())
		if p.broken {
			p.recoverUnit(from, p.toks[from].column)
		}
	}
	m.place = p.since(start)
	return m
}

// recoverUnit resumes at the next unit after an error in the unit that starts
// at token from, in the given column.
func (p *parser) recoverUnit(from int, column int32) {
	i := max(p.i, from+1)
	for ; i < len(p.toks)-1; i++ {
		t := &p.toks[i]
		if t.kind == kindEnd || t.kind == kindRule {
			break
		}
		if t.first && t.column <= column && p.startsUnit(i) {
			break
		}
	}
	p.recover(i)
}

// startsUnit reports whether a unit of a module starts at token i.
func (p *parser) startsUnit(i int) bool {
	t := &p.toks[i]
	switch t.kind {
	case kindRule, kindEnd:
		return true
	case kindWord:
		switch t.text {
		case "VARIABLE", "VARIABLES", "CONSTANT", "CONSTANTS", "RECURSIVE", "LOCAL", "INSTANCE", "ASSUME",
			"ASSUMPTION", "AXIOM", "THEOREM", "LEMMA", "PROPOSITION", "COROLLARY", "USE", "HIDE":
			return true
		}
	case kindIdent, kindOp:
		return p.startsDefinition(i)
	}
	return false
}

// token is the i-th token, or the last.
func (p *parser) token(i int) *token { return &p.toks[min(i, len(p.toks)-1)] }

// startsDefinition reports whether tokens from i on are the left-hand side of a
// definition and `==`.
func (p *parser) startsDefinition(i int) bool {
	eq := func(n int) bool { return p.token(n).is(kindPunct, "==") }
	t, next := p.token(i), p.token(i+1)
	switch {
	case t.kind == kindOp:
		return t.text == "-." && next.kind == kindIdent && eq(i+2)
	case next.kind == kindOp && infixes[next.text] != nil:
		return p.token(i+2).kind == kindIdent && eq(i+3)
	case next.kind == kindOp && postfixes[next.text] != nil:
		return eq(i + 2)
	}
	return p.startsNonfix(i)
}

// startsNonfix reports whether a definition `f ==`, `f(x) ==` or `f[x \in S] ==`
// starts with the name at token i.
func (p *parser) startsNonfix(i int) bool {
	next := p.token(i + 1)
	if next.is(kindPunct, "(") || next.is(kindPunct, "[") {
		m := p.match[i+1]
		return m >= 0 && p.token(int(m)+1).is(kindPunct, "==")
	}
	return next.is(kindPunct, "==")
}

// unit reads one unit of a module.
func (p *parser) unit() Unit {
	from := p.i
	u := p.oneUnit()
	if _, nested := u.(*Module); !nested && p.i-from > TreeDepthMax {
		// A deep tree needs many tokens, so most units need no depth check. The
		// units of a nested module were checked one by one.
		if d := depthOf(u); d > TreeDepthMax {
			p.fail(source.Diagnostic{
				Code: NestingTooDeep, Span: u.Span(),
				Message: fmt.Sprintf("this is nested %d levels deep, more than %d", d, TreeDepthMax),
				Repair:  "define parts of it separately",
			})
			return &BadUnit{place{u.Span()}}
		}
	}
	return u
}

func (p *parser) oneUnit() Unit {
	t := p.tok()
	switch t.kind {
	case kindRule:
		if p.peek(1).is(kindWord, "MODULE") {
			return p.nested()
		}
		p.advance()
		return &Separator{place{p.spanOf(t)}}
	case kindIdent, kindOp:
		return p.definition(t.start, false)
	case kindWord:
		if u := p.wordedUnit(t); u != nil {
			return u
		}
	}
	if t.kind == kindPunct && closesAny(t.text) {
		p.unmatched(t)
	}
	if !p.meantBefore() {
		p.unexpected(UnitExpected, "a declaration, a definition or the end of the module", "")
	}
	return p.badUnit(t.start)
}

// wordedUnit reads a unit that starts with a reserved word. It returns nil if t
// does not start one.
func (p *parser) wordedUnit(t *token) Unit {
	switch t.text {
	case "VARIABLE", "VARIABLES":
		p.advance()
		d := &VariableDecl{Names: []Name{p.name("the name of a variable")}}
		p.moreNames(func() { d.Names = append(d.Names, p.name("the name of a variable")) })
		d.place = p.since(t.start)
		return d
	case "CONSTANT", "CONSTANTS":
		p.advance()
		decls := []OpDecl{p.opDecl("the name of a constant")}
		p.moreNames(func() { decls = append(decls, p.opDecl("the name of a constant")) })
		return &ConstantDecl{place: p.since(t.start), Decls: decls}
	case "RECURSIVE":
		return p.recursive()
	case "LOCAL":
		p.advance()
		if p.atWord("INSTANCE") {
			return p.instance(t.start, true, Name{}, nil)
		}
		if w := p.tok(); w.kind == kindWord {
			p.fail(source.Diagnostic{
				Code: UnitExpected, Span: p.spanOf(w),
				Message: fmt.Sprintf("expected a definition or INSTANCE after LOCAL, found `%s`", w.text),
				Repair:  "remove LOCAL: what a module declares belongs to all that extend it",
			})
			return p.badUnit(t.start)
		}
		return p.definition(t.start, true)
	case "INSTANCE":
		return p.instance(t.start, false, Name{}, nil)
	case "ASSUME", "ASSUMPTION", "AXIOM":
		p.advance()
		a := &Assume{Keyword: t.text, Name: p.factName()}
		a.Body = p.statement()
		a.place = p.since(t.start)
		return a
	case "THEOREM", "LEMMA", "PROPOSITION", "COROLLARY":
		return p.theorem(t)
	case "USE", "HIDE":
		p.skipLeaf()
		return &UseHide{place: p.since(t.start), Hide: t.text == "HIDE"}
	}
	return nil
}

func (p *parser) badUnit(start int32) Unit { return &BadUnit{p.since(start)} }

// nested reads a module inside a module.
func (p *parser) nested() Unit {
	if !p.enter() {
		return p.badUnit(p.start())
	}
	defer p.leave()
	return p.module()
}

// factName reads the `name ==` of an assumption or a theorem, if it is there.
func (p *parser) factName() Name {
	t := p.tok()
	if t.kind == kindIdent && p.peek(1).is(kindPunct, "==") {
		p.advance()
		p.advance()
		return p.nameOf(t)
	}
	return Name{}
}

// theorem reads a theorem; its proof is skipped.
func (p *parser) theorem(t *token) Unit {
	p.advance()
	th := &Theorem{Keyword: t.text, Name: p.factName()}
	th.Body = p.statement()
	if !p.broken {
		start := p.start()
		from := p.i
		p.skipProof()
		if p.i > from {
			th.Proof = p.since(start).at
		}
	}
	th.place = p.since(t.start)
	return th
}

// statement reads what a theorem states: an expression or ASSUME ... PROVE.
func (p *parser) statement() Expr {
	t := p.tok()
	if t.kind == kindIdent && p.peek(1).is(kindPunct, "::") && p.peek(2).is(kindWord, "ASSUME") {
		p.advance()
		p.advance()
		body := p.statement()
		return &Label{place: p.since(t.start), Name: p.nameOf(t), Body: body}
	}
	if !p.atWord("ASSUME") {
		return p.expr()
	}
	if !p.enter() {
		return p.badExpr()
	}
	defer p.leave()
	p.advance()
	ap := &AssumeProve{Items: []Node{p.assumption()}}
	for !p.broken && p.got(",") {
		ap.Items = append(ap.Items, p.assumption())
	}
	p.wantWord("PROVE", "after the assumptions")
	ap.Prove = p.expr()
	ap.place = p.since(t.start)
	return ap
}

// assumption reads one item of ASSUME: a declaration or a statement.
func (p *parser) assumption() Node {
	t := p.tok()
	kind := "CONSTANT"
	isNew := p.gotWord("NEW")
	switch w := p.tok(); {
	case w.kind == kindWord && (w.text == "CONSTANT" || w.text == "VARIABLE" || w.text == "STATE" || w.text == "ACTION" || w.text == "TEMPORAL"):
		kind = w.text
		p.advance()
	case !isNew:
		return p.statement()
	}
	d := &NewDecl{Kind: kind, Decl: p.opDecl("the name that is new")}
	if p.atOp(`\in`) {
		p.advance()
		d.Set = p.expr()
	}
	d.place = p.since(t.start)
	return d
}

// ---------------------------------------------------------------------------
// Definitions

// recursive reads RECURSIVE f(_), g.
func (p *parser) recursive() Unit {
	start := p.start()
	p.advance()
	decls := p.opDecls("the name of an operator")
	return &Recursive{place: p.since(start), Decls: decls}
}

func (p *parser) opDecls(what string) []OpDecl {
	out := []OpDecl{p.opDecl(what)}
	for !p.broken && p.got(",") {
		out = append(out, p.opDecl(what))
	}
	return out
}

// opDecl reads f, f(_, _), _+_, -._ or _^+.
func (p *parser) opDecl(what string) OpDecl {
	start := p.start()
	var d OpDecl
	t := p.tok()
	switch {
	case p.at("_"):
		p.advance()
		op := p.tok()
		if op.kind != kindOp || infixes[op.text] == nil && postfixes[op.text] == nil {
			p.unexpected(NameExpected, "an infix or postfix operator after `_`", "")
			break
		}
		p.advance()
		d.Name, d.Arity, d.Fixity = p.nameOf(op), 1, PostfixOp
		if infixes[op.text] != nil {
			d.Arity, d.Fixity = 2, InfixOp
			p.want("_", "after the infix operator")
		}
	case t.kind == kindOp && prefixes[t.text] != nil:
		p.advance()
		d.Name, d.Arity, d.Fixity = p.nameOf(t), 1, PrefixOp
		p.want("_", "after the prefix operator")
	default:
		d.Name = p.name(what)
		if p.at("(") {
			br := p.open()
			for {
				p.want("_", "for each argument of the operator")
				d.Arity++
				if p.broken || !p.got(",") {
					break
				}
			}
			p.close(br, ")")
		}
	}
	d.place = p.since(start)
	return d
}

// letUnit reads one definition of a LET.
func (p *parser) letUnit() Unit {
	t := p.tok()
	switch {
	case p.atWord("RECURSIVE"):
		return p.recursive()
	case p.atWord("LOCAL"):
		p.advance()
		return p.definition(t.start, true)
	case t.kind == kindIdent || t.kind == kindOp:
		return p.definition(t.start, false)
	}
	start := p.start()
	p.unexpected(TokenExpected, "a definition or IN", "write IN")
	return p.badUnit(start)
}

// definition reads a definition of an operator, a function or a named
// instance.
func (p *parser) definition(start int32, local bool) Unit {
	t := p.tok()
	if t.kind == kindOp {
		return p.prefixDefinition(start, local)
	}
	name := p.name("the name that is defined")
	d := &OperatorDef{Local: local, Name: name}
	next := p.tok()
	switch {
	case p.at("["):
		br := p.open()
		bounds := p.bounds(false)
		p.close(br, "]")
		p.define()
		body := p.expr()
		return &FunctionDef{place: p.since(start), Local: local, Name: name, Bounds: bounds, Body: body}
	case p.at("("):
		d.Params = p.params()
	case next.kind == kindOp && infixes[next.text] != nil && p.startsDefinition(p.i-1):
		p.advance()
		second := p.name("the right operand of the operator that is defined")
		d.Name, d.Fixity = p.nameOf(next), InfixOp
		d.Params = []OpDecl{{place: name.place, Name: name}, {place: second.place, Name: second}}
	case next.kind == kindOp && postfixes[next.text] != nil:
		p.advance()
		d.Name, d.Fixity = p.nameOf(next), PostfixOp
		d.Params = []OpDecl{{place: name.place, Name: name}}
	}
	return p.defined(start, d)
}

// prefixDefinition reads `-. a == e`.
func (p *parser) prefixDefinition(start int32, local bool) Unit {
	t := p.tok()
	if t.text != "-." {
		repair := ""
		if t.text == "-" {
			repair = "write -. for the prefix operator"
		}
		p.unexpected(UnitExpected, "a declaration, a definition or the end of the module", repair)
		return p.badUnit(start)
	}
	p.advance()
	operand := p.name("the operand of the operator that is defined")
	d := &OperatorDef{Local: local, Name: p.nameOf(t), Fixity: PrefixOp}
	d.Params = []OpDecl{{place: operand.place, Name: operand}}
	return p.defined(start, d)
}

// defined reads the `== e` of a definition, which may be `== INSTANCE N`.
func (p *parser) defined(start int32, d *OperatorDef) Unit {
	p.define()
	if p.atWord("INSTANCE") && d.Fixity == Nonfix {
		return p.instance(start, d.Local, d.Name, d.Params)
	}
	d.Body = p.expr()
	if d.Name.IsZero() {
		return p.badUnit(start)
	}
	d.place = p.since(start)
	return d
}

// define skips ==. It reports a = in its place and treats it as ==.
func (p *parser) define() {
	if p.got("==") || p.wordsInRow() {
		return
	}
	if t := p.tok(); p.atOp("=") || p.atOp(":=") {
		p.report(source.Diagnostic{
			Code: DefineExpected, Span: p.spanOf(t),
			Message: fmt.Sprintf("expected `==` in a definition, found `%s`", t.text), Repair: "write ==",
		})
		p.advance()
		return
	}
	p.unexpected(DefineExpected, "`==` in a definition", "write ==")
}

// params reads the (a, F(_), _+_) of a definition.
func (p *parser) params() []OpDecl {
	br := p.open()
	out := p.opDecls("the name of a parameter")
	p.close(br, ")")
	return out
}

// instance reads INSTANCE N WITH a <- e, b <- f.
func (p *parser) instance(start int32, local bool, name Name, params []OpDecl) Unit {
	p.advance()
	in := &Instance{Local: local, Name: name, Params: params}
	in.Module = p.name("the name of a module")
	if p.gotWord("WITH") {
		in.With = append(in.With, p.substitution())
		for !p.broken && p.got(",") {
			in.With = append(in.With, p.substitution())
		}
	}
	in.place = p.since(start)
	return in
}

func (p *parser) substitution() Substitution {
	start := p.start()
	var s Substitution
	if t := p.tok(); t.kind == kindOp {
		p.advance()
		s.Name = p.nameOf(t)
	} else {
		s.Name = p.name("the name of a constant or variable")
	}
	p.want("<-", "between a name and what replaces it")
	s.Value = p.argument()
	s.place = p.since(start)
	return s
}
