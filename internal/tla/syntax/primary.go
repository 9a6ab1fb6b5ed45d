// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"strconv"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// primary reads an operand with its selectors. It never returns nil.
func (p *parser) primary() Expr {
	start := p.start()
	x := p.atom()
	if p.broken {
		return x
	}
	return p.suffixes(x, start)
}

// suffixes reads the [i] and .f after an operand.
func (p *parser) suffixes(x Expr, start int32) Expr {
	for !p.broken {
		switch {
		case p.at("["):
			br := p.open()
			args := p.exprList()
			p.close(br, "]")
			x = &Index{place: p.since(start), Fn: x, Args: args}
		case p.at("."):
			p.advance()
			field := p.fieldName("the name of a record's field")
			x = &Field{place: p.since(start), X: x, Name: field}
		default:
			return x
		}
	}
	return x
}

// atom reads an operand without operators and selectors.
func (p *parser) atom() Expr {
	t := p.tok()
	switch t.kind {
	case kindIdent:
		if t.first && p.startsNonfix(p.i) {
			break // the expression before it is not complete
		}
		return p.identifier()
	case kindNumber:
		p.advance()
		return p.numberOf(t)
	case kindString:
		p.advance()
		return &String{place{p.spanOf(t)}, t.text}
	case kindOp:
		if (t.text == `/\` || t.text == `\/`) && !p.atGuard() {
			return p.junction()
		}
		if x := p.nonfix(t); x != nil {
			return x
		}
	case kindPunct:
		if x := p.punctuated(t); x != nil {
			return x
		}
	case kindWord:
		if x := p.worded(t); x != nil {
			return x
		}
	}
	p.noExpression()
	return p.badExpr()
}

// noExpression reports that an expression was expected here.
func (p *parser) noExpression() {
	if p.broken {
		return
	}
	t := &p.toks[p.i]
	switch {
	case t.kind == kindWord && t.text != "" && t.column > p.fence && (isAlgorithmWord(t.text) || isModularWord(t.text)):
		p.fail(source.Diagnostic{
			Code: NameReserved, Span: p.spanOf(t),
			Message: fmt.Sprintf("expected an expression, but `%s` is a reserved word of PlusCal", t.text),
			Repair:  "choose another name",
		})
	case p.halfTuple():
	case t.kind == kindIdent && t.column > p.fence:
		p.unexpected(ExpressionExpected, "an expression before the next definition", "")
	case p.atGuard() && p.guard.column >= 0:
		p.unexpected(BracketUnclosed, "the rest of the expression in brackets", "close the bracket before this line")
	default:
		p.unexpected(ExpressionExpected, "an expression", "")
	}
}

// punctuated reads an operand that starts with punctuation, nil if t starts
// none.
func (p *parser) punctuated(t *token) Expr {
	switch t.text {
	case "(":
		br := p.open()
		x := p.expr()
		p.close(br, ")")
		return x
	case "{":
		return p.set()
	case "[":
		return p.square()
	case "<<":
		return p.tuple()
	case "@":
		p.advance()
		return &At{place{p.spanOf(t)}}
	case `\A`, `\E`, `\AA`, `\EE`:
		return p.quant(t)
	}
	return nil
}

// worded reads an operand that starts with a reserved word, nil if t starts
// none.
func (p *parser) worded(t *token) Expr {
	switch t.text {
	case "IF":
		return p.ifExpr()
	case "CASE":
		return p.caseExpr()
	case "LET":
		return p.let()
	case "CHOOSE":
		return p.choose()
	case "WF_", "SF_":
		return p.fairness(t)
	case "LAMBDA":
		p.report(source.Diagnostic{
			Code: LambdaPlace, Span: p.spanOf(t),
			Message: "LAMBDA is allowed only where an operator is an argument or is substituted for a constant",
			Repair:  "define the operator with LET and use its name",
		})
		return p.lambda()
	case "$variable", "$value":
		p.advance()
		if !p.mapping {
			p.report(source.Diagnostic{
				Code: MappingPlace, Span: p.spanOf(t),
				Message: fmt.Sprintf("`%s` exists only in the bodies of a mapping macro", t.text),
			})
		}
		return &Dollar{place{p.spanOf(t)}, t.text}
	case "ref":
		p.fail(source.Diagnostic{
			Code: RefPlace, Span: p.spanOf(t),
			Message: "ref is allowed only before an argument of an instance or of a call",
			Repair:  "remove ref",
		})
		return p.badExpr()
	}
	return nil
}

// ---------------------------------------------------------------------------
// Names and literals

// identifier reads a name with its arguments, a path, or a label.
func (p *parser) identifier() Expr {
	t := p.tok()
	p.advance()
	var args []Expr
	if p.at("(") {
		args = p.arguments()
	}
	switch {
	case p.at("!"):
		return p.path(t, args)
	case p.at("::"):
		return p.label(t, args)
	case args != nil:
		return &Apply{place: p.since(t.start), Op: p.nameOf(t), Args: args}
	}
	return &Ident{place{p.spanOf(t)}, t.text}
}

// label reads the rest of `name(params) :: e`.
func (p *parser) label(t *token, args []Expr) Expr {
	if !p.enter() {
		return p.badExpr()
	}
	defer p.leave()
	l := &Label{Name: p.nameOf(t)}
	for _, a := range args {
		id, ok := a.(*Ident)
		if !ok {
			p.fail(source.Diagnostic{
				Code: NameExpected, Span: a.Span(),
				Message: "expected a name: the parameters of a label are the bound names that its expression uses",
			})
			return p.badExpr()
		}
		l.Params = append(l.Params, Name{id.place, id.Name})
	}
	p.advance()
	l.Body = p.expr()
	l.place = p.since(t.start)
	return l
}

// path reads the steps after a first name; a `!` is next.
func (p *parser) path(t *token, args []Expr) Expr {
	x := &Path{Steps: []Step{{place: p.since(t.start), Kind: StepName, Name: t.text, Args: args}}}
	for p.at("!") {
		p.advance()
		x.Steps = append(x.Steps, p.step())
	}
	x.place = p.since(t.start)
	return x
}

// step reads one step of a path.
func (p *parser) step() Step {
	start := p.start()
	t := p.tok()
	var s Step
	switch {
	case t.kind == kindIdent, t.kind == kindOp, t.kind == kindWord && prefixes[t.text] != nil:
		p.advance()
		s.Name = t.text
		if p.at("(") {
			s.Args = p.arguments()
		}
	case t.kind == kindNumber:
		n, err := strconv.Atoi(t.text)
		if err != nil || n < 1 {
			p.unexpected(NameExpected, "a positive number that selects an operand", "")
			break
		}
		s.Kind, s.Index = StepIndex, n
		p.advance()
	case p.at("("):
		s.Kind, s.Args = StepArgs, p.arguments()
	case p.got("<<"):
		s.Kind = StepLeft
	case p.got(">>"):
		s.Kind = StepRight
	case p.got(":"):
		s.Kind = StepColon
	case p.got("@"):
		s.Kind = StepAt
	default:
		p.unexpected(NameExpected, "a name or a selector after `!`", "")
	}
	s.place = p.since(start)
	return s
}

// numberOf makes a number of its token.
func (p *parser) numberOf(t *token) Expr {
	n := &Number{place: place{p.spanOf(t)}, Base: 10, Digits: t.text}
	if t.text[0] == '\\' {
		n.Digits = t.text[2:]
		switch t.text[1] {
		case 'b', 'B':
			n.Base = 2
		case 'o', 'O':
			n.Base = 8
		default:
			n.Base = 16
		}
		return n
	}
	for i := range t.text {
		if t.text[i] == '.' {
			n.Digits, n.Fraction = t.text[:i], t.text[i+1:]
			if n.Digits == "" {
				n.Digits = "0"
			}
			break
		}
	}
	return n
}

// subscript reads the v of [A]_v.
func (p *parser) subscript() Expr {
	t := p.tok()
	if t.kind == kindIdent || t.kind == kindPunct && (t.text == "<<" || t.text == "(" || t.text == "[" || t.text == "{" || t.text == "@") {
		return p.primary()
	}
	p.unexpected(ExpressionExpected, "the variables of the subscript", "write a name or a tuple in << >>")
	return p.badExpr()
}

// fairness reads WF_v(A); the last parenthesised group is the action.
func (p *parser) fairness(t *token) Expr {
	p.advance()
	f := &Fairness{Strong: t.text == "SF_"}
	f.Vars = p.fairVars()
	if !p.at("(") {
		p.unexpected(TokenExpected, "an action in parentheses after the subscript", "write (Action)")
		f.Body = p.badExpr()
		return f
	}
	br := p.open()
	f.Body = p.expr()
	p.close(br, ")")
	f.place = p.since(t.start)
	return f
}

// fairVars reads the subscript of WF_ and SF_: a name takes a group in
// parentheses as its arguments only when another group or a `!` follows.
func (p *parser) fairVars() Expr {
	t := p.tok()
	if t.kind != kindIdent {
		return p.subscript()
	}
	start := p.start()
	more := func() bool {
		if !p.at("(") {
			return false
		}
		m := p.match[p.i]
		if m < 0 || int(m)+1 >= len(p.toks) {
			return false
		}
		next := &p.toks[m+1]
		return next.is(kindPunct, "(") || next.is(kindPunct, "!")
	}
	p.advance()
	var args []Expr
	if more() {
		args = p.arguments()
	}
	var x Expr
	switch {
	case p.at("!"):
		path := &Path{Steps: []Step{{place: p.since(start), Kind: StepName, Name: t.text, Args: args}}}
		for p.at("!") {
			p.advance()
			n := p.name("a name after `!`")
			s := Step{place: n.place, Kind: StepName, Name: n.Text}
			if more() {
				s.Args = p.arguments()
				s.place = p.since(n.Span().Start)
			}
			path.Steps = append(path.Steps, s)
		}
		path.place = p.since(start)
		x = path
	case args != nil:
		x = &Apply{place: p.since(start), Op: p.nameOf(t), Args: args}
	default:
		x = &Ident{place{p.spanOf(t)}, t.text}
	}
	return p.suffixes(x, start)
}

// ---------------------------------------------------------------------------
// Constructs that extend as far as they can

// quant reads \A x \in S : P and similar forms.
func (p *parser) quant(t *token) Expr {
	p.advance()
	q := &Quant{Kind: Forall}
	switch t.text {
	case `\E`:
		q.Kind = Exists
	case `\AA`:
		q.Kind = TemporalForall
	case `\EE`:
		q.Kind = TemporalExists
	}
	q.Bounds = p.bounds(true)
	p.want(":", "after what the quantifier binds")
	q.Body = p.expr()
	q.place = p.since(t.start)
	return q
}

// choose reads CHOOSE x \in S : P.
func (p *parser) choose() Expr {
	start := p.start()
	p.advance()
	c := &Choose{}
	from := p.start()
	if p.at("<<") {
		c.Bound.Names, c.Bound.Tuple = p.tuplePattern(), true
	} else {
		c.Bound.Names = []Name{p.name("a name to bind")}
	}
	if p.atOp(`\in`) {
		p.advance()
		at := p.i
		p.boundAt = at
		c.Bound.Set = p.expr()
		p.boundAt = at
	}
	c.Bound.place = p.since(from)
	p.want(":", "after what CHOOSE binds")
	c.Body = p.expr()
	c.place = p.since(start)
	return c
}

// ifExpr reads IF THEN ELSE.
func (p *parser) ifExpr() Expr {
	start := p.start()
	p.advance()
	x := &If{Cond: p.expr()}
	p.wantWord("THEN", "after the condition of IF")
	x.Then = p.expr()
	p.wantWord("ELSE", "after the THEN part: every IF has both parts")
	x.Else = p.expr()
	x.place = p.since(start)
	return x
}

// caseExpr reads CASE a -> b [] c -> d [] OTHER -> e.
func (p *parser) caseExpr() Expr {
	start := p.start()
	p.advance()
	x := &Case{}
	for {
		from := p.start()
		if p.gotWord("OTHER") {
			p.want("->", "after OTHER")
			x.Other = p.expr()
			break
		}
		a := Arm{Guard: p.expr()}
		p.want("->", "after the condition of a CASE arm")
		a.Value = p.expr()
		a.place = p.since(from)
		x.Arms = append(x.Arms, a)
		if !p.atOp("[]") {
			break
		}
		p.advance()
	}
	if len(x.Arms) == 0 && !p.broken {
		p.fail(source.Diagnostic{
			Code: ExpressionExpected, Span: p.since(start).at,
			Message: "a CASE needs an arm before OTHER", Repair: "write CASE condition -> value",
		})
	}
	x.place = p.since(start)
	return x
}

// let reads LET definitions IN e.
func (p *parser) let() Expr {
	start := p.start()
	p.advance()
	x := &Let{}
	for !p.broken && !p.atWord("IN") {
		x.Units = append(x.Units, p.letUnit())
	}
	p.wantWord("IN", "after the definitions of LET")
	x.Body = p.expr()
	x.place = p.since(start)
	return x
}
