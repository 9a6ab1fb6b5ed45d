package syntax

import (
	"fmt"
	"strconv"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// primary reads an operand with what selects from it. It never returns nil.
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

// atom reads what no operator and no selector is part of.
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
			Message: "LAMBDA stands only where an operator is an argument or is substituted for a constant",
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
			Message: "ref stands only before an argument of an instance or of a call",
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

// ---------------------------------------------------------------------------
// Brackets

// set reads what starts with {.
func (p *parser) set() Expr {
	start := p.start()
	br := p.open()
	if p.at("}") {
		p.close(br, "}")
		return &SetEnum{place: p.since(start)}
	}
	t := p.tok()
	at := p.boundAt
	p.boundAt = p.i
	first := p.expr()
	p.boundAt = at
	var x Expr
	switch {
	case p.at(":"):
		p.advance()
		if b, ok := filterBound(first); ok && !t.is(kindPunct, "(") {
			x = &SetFilter{Bound: b, Pred: p.expr()}
		} else {
			x = &SetMap{Elem: first, Bounds: p.bounds(false)}
		}
	default:
		elems := []Expr{first}
		for !p.broken && p.got(",") {
			elems = append(elems, p.expr())
		}
		x = &SetEnum{Elems: elems}
	}
	p.close(br, "}")
	switch x := x.(type) {
	case *SetFilter:
		x.place = p.since(start)
	case *SetMap:
		x.place = p.since(start)
	case *SetEnum:
		x.place = p.since(start)
	}
	return x
}

// filterBound turns `x \in S` or `<<x, y>> \in S` before the colon of a set
// into the bound that it is.
func filterBound(x Expr) (Bound, bool) {
	in, ok := x.(*Infix)
	if !ok || in.Op.Text != `\in` {
		return Bound{}, false
	}
	b := Bound{place: in.place, Set: in.Right}
	switch l := in.Left.(type) {
	case *Ident:
		b.Names = []Name{{l.place, l.Name}}
		return b, true
	case *Tuple:
		b.Tuple = true
		for _, e := range l.Elems {
			id, ok := e.(*Ident)
			if !ok {
				return Bound{}, false
			}
			b.Names = append(b.Names, Name{id.place, id.Name})
		}
		return b, len(b.Names) > 0
	}
	return Bound{}, false
}

// tuple reads <<a, b>> or <<A>>_v.
func (p *parser) tuple() Expr {
	start := p.start()
	br := p.open()
	var elems []Expr
	if !p.at(">>") && !p.at(">>_") {
		elems = p.exprList()
	}
	if p.close(br, ">>", ">>_") != ">>_" {
		return &Tuple{place: p.since(start), Elems: elems}
	}
	if len(elems) != 1 {
		p.fail(source.Diagnostic{
			Code: ExpressionExpected, Span: p.since(start).at,
			Message: fmt.Sprintf("expected one action between << and >>_, found %d expressions", len(elems)),
		})
		return p.badExpr()
	}
	vars := p.subscript()
	return &Action{place: p.since(start), Angle: true, Body: elems[0], Vars: vars}
}

// square reads what starts with [: a function, a record, a set of either, an
// EXCEPT or an action.
func (p *parser) square() Expr {
	start := p.start()
	arrow := p.arrow[p.i]
	br := p.open()
	named := p.tok().kind == kindIdent || isFieldWord(p.tok())
	switch {
	case named && p.peek(1).is(kindPunct, "|->"):
		fields := p.fields("|->")
		p.close(br, "]")
		return &Record{place: p.since(start), Fields: fields}
	case named && p.peek(1).is(kindPunct, ":"):
		fields := p.fields(":")
		p.close(br, "]")
		return &RecordSet{place: p.since(start), Fields: fields}
	case arrow:
		f := &Fn{Bounds: p.bounds(false)}
		p.want("|->", "after the bounds of a function")
		f.Body = p.expr()
		p.close(br, "]")
		f.place = p.since(start)
		return f
	}
	first := p.expr()
	switch {
	case p.at("->"):
		p.advance()
		to := p.expr()
		p.close(br, "]")
		return &FnSet{place: p.since(start), Domain: first, Range: to}
	case p.atWord("EXCEPT"):
		p.advance()
		updates := []Update{p.update()}
		for !p.broken && p.got(",") {
			updates = append(updates, p.update())
		}
		p.close(br, "]")
		return &Except{place: p.since(start), X: first, Updates: updates}
	case p.at("]_"):
		p.close(br, "]_")
		vars := p.subscript()
		return &Action{place: p.since(start), Body: first, Vars: vars}
	case p.at("]"):
		p.unexpected(TokenExpected, "`->`, `|->`, EXCEPT or a subscript `]_v` in square brackets", "write [x \\in S |-> e], [S -> T], [f EXCEPT ![x] = e] or [A]_v")
	}
	p.close(br, "]")
	return p.badExpr()
}

// fields reads `a |-> e, b |-> f` or the same with colons.
func (p *parser) fields(sep string) []RecordField {
	var out []RecordField
	for {
		start := p.start()
		f := RecordField{Name: p.fieldName("the name of a field")}
		p.want(sep, "after the name of a field")
		f.Value = p.expr()
		f.place = p.since(start)
		out = append(out, f)
		if p.broken || !p.got(",") {
			return out
		}
	}
}

// fieldName reads the name of a field. A word that only PlusCal reserves may be
// one, for no statement can stand there.
func (p *parser) fieldName(what string) Name {
	if t := p.tok(); isFieldWord(t) {
		p.advance()
		return p.nameOf(t)
	}
	return p.name(what)
}

func isFieldWord(t *token) bool {
	return t.kind == kindWord && (isAlgorithmWord(t.text) || isModularWord(t.text))
}

// update reads `!.a[b] = e`.
func (p *parser) update() Update {
	start := p.start()
	p.want("!", "before what EXCEPT changes")
	u := Update{Path: p.accessors()}
	if len(u.Path) == 0 {
		p.unexpected(TokenExpected, "`[` or `.` after `!`", "")
	}
	if p.atOp("=") {
		p.advance()
	} else {
		p.unexpected(TokenExpected, "`=` and the new value", "write `=`")
	}
	u.Value = p.expr()
	u.place = p.since(start)
	return u
}

// accessors reads a sequence of [i, j] and .f, perhaps empty.
func (p *parser) accessors() []Accessor {
	var out []Accessor
	for !p.broken {
		start := p.start()
		var a Accessor
		switch {
		case p.at("["):
			br := p.open()
			a.Index = p.exprList()
			p.close(br, "]")
		case p.at("."):
			p.advance()
			a.Field = p.fieldName("the name of a record's field")
		default:
			return out
		}
		a.place = p.since(start)
		out = append(out, a)
	}
	return out
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

// quant reads \A x \in S : P and its kin.
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
