// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// Operands and operators are kept on two stacks until the precedences decide
// how they combine (see operator.go). A prefix operator may occur wherever an
// operand may; its own operand then extends as far as its precedence reaches.

// pendingOp is an operator whose right operand is not complete.
type pendingOp struct {
	op   *Operator
	name Name
	path *Path // that leads to it, nil for an operator by itself
}

// operand is an expression with the extent of its text. Unlike the expression's
// span, the extent includes parentheses.
type operand struct {
	x          Expr
	start, end int32
	paren      bool
	dented     bool // a bulleted list that ended with a dedent
}

// expr reads an expression as far as it goes. It never returns nil.
func (p *parser) expr() Expr {
	if !p.enter() {
		return p.badExpr()
	}
	ops, args := len(p.ops), len(p.args)
	p.operands(ops)
	if p.broken {
		x := p.salvage(args)
		p.ops, p.args = p.ops[:ops], p.args[:args]
		p.leave()
		return x
	}
	for len(p.ops) > ops {
		p.reduce()
	}
	x := p.args[len(p.args)-1].x
	p.args = p.args[:args]
	p.leave()
	return x
}

// salvage returns the part of a broken expression that was read.
func (p *parser) salvage(args int) Expr {
	if len(p.args) > args {
		if b, ok := p.args[args].x.(*BadExpr); ok {
			return b
		}
		return &BadExpr{place{p.args[args].x.Span()}}
	}
	return p.badExpr()
}

func (p *parser) badExpr() Expr {
	t := &p.toks[p.i]
	return &BadExpr{place{source.Span{File: p.file, Start: t.start, End: t.start}}}
}

// operands reads operands and operators in turn. It reduces operators whose
// operands are decided, down to the given height of the operator stack.
func (p *parser) operands(base int) {
	count := 0
	for !p.broken {
		if op := p.prefixOp(); op != nil {
			t := p.tok()
			p.advance()
			name := p.nameOf(t)
			name.Text = op.Name
			p.ops = append(p.ops, pendingOp{op: op, name: name})
			if count++; count > NestingMax {
				p.tooLong(t)
			}
			continue
		}
		if q, ok := p.qualified(PrefixOp); ok {
			t := p.tok()
			p.pushQualified(q)
			if count++; count > NestingMax {
				p.tooLong(t)
			}
			continue
		}
		if !p.operand() {
			return
		}
		p.postfixOps()
		t := p.tok()
		if op := p.infixOp(); op != nil {
			p.misaligned(t)
			p.makeRoom(op, t, base)
			p.advance()
			p.ops = append(p.ops, pendingOp{op: op, name: p.nameOf(t)})
		} else if q, ok := p.qualified(InfixOp); ok {
			p.makeRoom(q.op, &p.toks[q.at], base)
			p.pushQualified(q)
		} else {
			return
		}
		if len(p.ops)-base > NestingMax {
			p.tooLong(t)
		}
	}
}

func (p *parser) tooLong(t *token) {
	p.fail(source.Diagnostic{
		Code: NestingTooDeep, Span: p.spanOf(t),
		Message: fmt.Sprintf("more than %d operators wait for their operands", NestingMax),
		Repair:  "define parts of it separately",
	})
}

// prefixOp is the prefix operator that is next, if any.
func (p *parser) prefixOp() *Operator {
	t := p.tok()
	switch t.kind {
	case kindOp:
		if t.text == "-" {
			return prefixes["-."]
		}
		return prefixes[t.text]
	case kindWord:
		return prefixes[t.text]
	}
	return nil
}

// infixOp is the infix operator that is next, if any.
func (p *parser) infixOp() *Operator {
	t := p.tok()
	if t.kind != kindOp {
		return nil
	}
	op := infixes[t.text]
	if op == nil {
		return nil
	}
	if t.text == `/\` || t.text == `\/` {
		if p.atGuard() {
			return nil // the enclosing bracket is not closed and will report it
		}
	}
	if t.text == "||" || t.text == ":=" {
		if p.algorithm {
			return nil
		}
		if t.text == ":=" && !p.assignOp {
			p.report(source.Diagnostic{
				Severity: source.Warning, Code: AssignPlace, Span: p.spanOf(t),
				Message: "`:=` assigns in PlusCal only; here it is an operator that some module must define",
				Repair:  "write = or ==",
			})
		}
	}
	return op
}

// misaligned warns of a bullet that looks like another item of the list just
// ended but is in another column. Such a bullet becomes an operator whose left
// operand is the whole list.
func (p *parser) misaligned(t *token) {
	if !t.first || t.text != `/\` && t.text != `\/` || len(p.args) == 0 {
		return
	}
	top := &p.args[len(p.args)-1]
	j, ok := top.x.(*Junction)
	if !ok || top.paren || !top.dented || j.Op.Text != t.text {
		return
	}
	p.report(source.Diagnostic{
		Severity: source.Warning, Code: BulletMisaligned, Span: p.spanOf(t),
		Message: fmt.Sprintf("this `%s` is not an item of the list before it, because it is in another column; it applies to the whole list", t.text),
		Repair:  "align it with the list's bullets, or put the list in parentheses",
		Related: []source.Note{{Span: j.Op.Span(), Message: "the list starts here"}},
	})
}

// operand reads one operand onto the stack.
func (p *parser) operand() bool {
	t := p.tok()
	start := p.start()
	paren := t.is(kindPunct, "(")
	x := p.primary()
	if p.broken {
		return false
	}
	_, list := x.(*Junction)
	end := start
	if p.i > 0 {
		end = p.toks[p.i-1].end
	}
	if paren && !p.toks[p.i-1].is(kindPunct, ")") {
		paren = false
	}
	p.args = append(p.args, operand{x: x, start: start, end: end, paren: paren, dented: list && !paren})
	return true
}

// postfixOps applies the postfix operators after the top operand. They bind
// tighter than every operator that can be on the stack.
func (p *parser) postfixOps() {
	for {
		last := len(p.args) - 1
		start := p.args[last].start
		var x Expr
		if t := p.tok(); t.kind == kindOp && postfixes[t.text] != nil {
			p.advance()
			x = &Postfix{place: p.since(start), Op: p.nameOf(t), X: p.args[last].x}
		} else if q, ok := p.qualified(PostfixOp); ok {
			path := p.qualifier(q)
			x = path.applied(p.since(start), p.args[last].x)
		} else {
			return
		}
		x = p.suffixes(x, start)
		p.args[last] = operand{x: x, start: start, end: p.toks[p.i-1].end}
	}
}

// makeRoom reduces the operators that bind tighter than op, which is next.
func (p *parser) makeRoom(op *Operator, t *token, base int) {
	for len(p.ops) > base {
		top := p.ops[len(p.ops)-1]
		switch {
		case top.op.Low > op.High:
		case top.op.High < op.Low:
			return
		case top.op == op && op.LeftAssociative:
		case top.op.Fixity == PrefixOp && top.op.Low == op.Low && top.op.High == op.High:
			// `UNION a \cup b` is `(UNION a) \cup b`: because nothing precedes
			// a prefix operator, there is no other way to read it.
		default:
			if d, ok := p.conjoined(); ok {
				p.report(d)
				break
			}
			if p.barMeant() {
				return
			}
			p.report(source.Diagnostic{
				Code: PrecedenceConflict, Span: p.spanOf(t),
				Message: p.conflict(top, t),
				Repair:  "put one of the two in parentheses",
				Related: []source.Note{{Span: top.name.Span(), Message: "the other operator"}},
			})
		}
		p.reduce()
	}
}

func (p *parser) conflict(top pendingOp, t *token) string {
	a, b := top.name.Span().Text(), p.spanOf(t).Text()
	if top.op.Name == t.text {
		return fmt.Sprintf("`%s` after `%s` without parentheses: it does not associate", b, a)
	}
	return fmt.Sprintf("`%s` after `%s` without parentheses: their precedences conflict", b, a)
}

// reduce applies the top operator to its operands.
func (p *parser) reduce() {
	top := p.ops[len(p.ops)-1]
	p.ops = p.ops[:len(p.ops)-1]
	right := p.args[len(p.args)-1]
	span := func(from int32) place {
		return place{source.Span{File: p.file, Start: from, End: right.end}}
	}
	if top.op.Fixity == PrefixOp {
		from := top.name.Span().Start
		var x Expr
		if top.path != nil {
			from = top.path.Span().Start
			x = top.path.applied(span(from), right.x)
		} else {
			x = &Prefix{place: span(from), Op: top.name, X: right.x}
		}
		p.args[len(p.args)-1] = operand{x: x, start: from, end: right.end}
		return
	}
	left := p.args[len(p.args)-2]
	p.args = p.args[:len(p.args)-1]
	var x Expr
	switch {
	case top.path != nil:
		x = top.path.applied(span(left.start), left.x, right.x)
	case top.op.Name == `\X`:
		x = p.product(left, right, span(left.start))
	default:
		x = &Infix{place: span(left.start), Op: top.name, Left: left.x, Right: right.x}
	}
	p.args[len(p.args)-1] = operand{x: x, start: left.start, end: right.end}
}

// product joins the factors of `S \X T \X U` into one node. A product in
// parentheses remains one factor.
func (p *parser) product(left, right operand, at place) Expr {
	if l, ok := left.x.(*Product); ok && !left.paren {
		factors := append(l.Factors[:len(l.Factors):len(l.Factors)], right.x)
		return &Product{place: at, Factors: factors}
	}
	return &Product{place: at, Factors: []Expr{left.x, right.x}}
}

// junction reads a bulleted list; its first bullet is next.
func (p *parser) junction() Expr {
	first := p.tok()
	outer := p.fence
	j := &Junction{Op: p.nameOf(first)}
	for {
		p.advance()
		p.fence = first.column
		j.Items = append(j.Items, p.expr())
		p.fence = outer
		if p.broken {
			break
		}
		t := &p.toks[p.i]
		if t.kind != kindOp || t.text != first.text || t.column != first.column {
			break
		}
	}
	j.place = p.since(first.start)
	return j
}

// bounds reads `x, y \in S, <<a, b>> \in T`, or names alone where the
// unbounded form is allowed.
func (p *parser) bounds(unbounded bool) []Bound {
	var out []Bound
	for {
		b := p.bound(unbounded && len(out) == 0)
		out = append(out, b)
		if p.broken || !p.got(",") {
			return out
		}
	}
}

func (p *parser) bound(unbounded bool) Bound {
	start := p.start()
	var b Bound
	if p.at("<<") {
		b.Names, b.Tuple = p.tuplePattern(), true
	} else {
		b.Names = append(b.Names, p.name("a name to bind"))
		for !p.broken && p.got(",") {
			b.Names = append(b.Names, p.name("a name to bind"))
		}
	}
	switch {
	case p.atOp(`\in`):
		p.advance()
		from := p.i
		p.boundAt = from
		b.Set = p.expr()
		p.boundAt = from // that of a set inside it is complete
	case unbounded && (p.at(":") || p.broken):
	default:
		repair := "write `\\in` and the set that the name ranges over"
		if comma := p.before(2); comma.is(kindPunct, ",") && !p.at(":") && !p.at("|->") {
			repair += ", or `:` in place of the comma before it"
		}
		p.unexpected(TokenExpected, "`\\in` and a set", repair)
		b.Set = p.badExpr()
	}
	b.place = p.since(start)
	return b
}

// tuplePattern reads <<a, b>>.
func (p *parser) tuplePattern() []Name {
	br := p.open()
	names := []Name{p.name("a name to bind")}
	for !p.broken && p.got(",") {
		names = append(names, p.name("a name to bind"))
	}
	p.close(br, ">>")
	return names
}

// exprList reads expressions with commas between.
func (p *parser) exprList() []Expr {
	list := []Expr{p.expr()}
	for !p.broken && p.got(",") {
		list = append(list, p.expr())
	}
	return list
}

// argument reads an argument or a substitution's value: an expression, an
// operator symbol, or a LAMBDA.
func (p *parser) argument() Expr {
	t := p.tok()
	if t.kind == kindOp || t.kind == kindWord && prefixes[t.text] != nil {
		n := p.peek(1)
		lone := n.is(kindPunct, ",") || n.is(kindPunct, ")") || n.kind == kindRule || n.kind == kindEnd ||
			n.kind == kindEOF || n.is(kindWord, "IN") || p.startsUnit(min(p.i+1, len(p.toks)-1))
		if lone {
			p.advance()
			return &OpRef{place{p.spanOf(t)}, t.text}
		}
	}
	if p.atWord("LAMBDA") {
		return p.lambda()
	}
	return p.expr()
}

// lambda reads LAMBDA x, y : e.
func (p *parser) lambda() Expr {
	if !p.enter() {
		return p.badExpr()
	}
	defer p.leave()
	start := p.start()
	p.advance()
	l := &Lambda{Params: []Name{p.name("a parameter of LAMBDA")}}
	for !p.broken && p.got(",") {
		l.Params = append(l.Params, p.name("a parameter of LAMBDA"))
	}
	p.want(":", "after the parameters of LAMBDA")
	l.Body = p.expr()
	l.place = p.since(start)
	return l
}

// arguments reads `(a, b)`, whose parenthesis is next.
func (p *parser) arguments() []Expr {
	br := p.open()
	args := []Expr{p.argument()}
	for !p.broken && p.got(",") {
		args = append(args, p.argument())
	}
	p.close(br, ")")
	return args
}
