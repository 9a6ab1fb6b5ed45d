// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"slices"
	"strconv"
	"strings"
)

func (p *parser) literal() Literal {
	start := p.peek()
	var l Literal
	switch {
	case p.accept("not"), p.accept("!"):
		l.Not, l.IsAtom = true, true
		l.Relation = p.name("a relation")
		l.Args = p.terms()
	case start.kind == tokName && p.toks[p.at+1].text == ":=" && p.toks[p.at+1].kind == tokSymbol:
		l.Var, l.Op = p.name("a variable"), p.next().text
		l.Right = p.term()
	default:
		left := p.term()
		if op := p.peek(); op.kind == tokSymbol && slices.Contains([]string{"==", "!=", "<", "<=", ">", ">="}, op.text) {
			l.Op, l.Left = p.next().text, left
			l.Right = p.term()
		} else if left.Kind == CallTerm && !isOperator(left.Text) {
			l.IsAtom, l.Relation, l.Args = true, Name{left.Text, left.nameSpan()}, left.Args
		} else {
			p.wanted("a comparison")
		}
	}
	l.Span = p.until(start)
	return l
}

func isOperator(s string) bool { return len(s) == 1 && strings.Contains("+-*/%", s) }

func (p *parser) term() *Term { return p.sum([]string{"+", "-"}) }

// sum parses operands with operators of one precedence between them. The operands of + and -
// are products.
func (p *parser) sum(ops []string) *Term {
	start := p.peek()
	operand := p.primary
	if ops[0] == "+" {
		operand = func() *Term { return p.sum([]string{"*", "/", "%"}) }
	}
	left := operand()
	for !p.lost && p.peek().kind == tokSymbol && slices.Contains(ops, p.peek().text) {
		op := p.next().text
		left = &Term{Kind: CallTerm, Text: op, Args: []*Term{left, operand()}}
		left.Span = p.until(start)
	}
	return left
}

// primary parses a term that needs no brackets.
func (p *parser) primary() *Term {
	start := p.peek()
	if !p.deeper() {
		return &Term{Span: start.span}
	}
	defer func() { p.depth-- }()
	t := &Term{Span: start.span, Text: start.text}
	switch {
	case start.kind == tokNumber:
		t.Kind = NumberTerm
		p.next()
	case start.kind == tokString:
		t.Kind = StringTerm
		p.next()
	case start.kind == tokBytes:
		t.Kind = BytesTerm
		p.next()
	case p.is("_"):
		t.Kind = WildcardTerm
		p.next()
	case p.is("-") && p.toks[p.at+1].kind == tokNumber:
		p.next()
		t.Kind, t.Text = NumberTerm, "-"+p.next().text
	case p.accept("("):
		t = p.term()
		p.expect(")")
		return t
	case p.is("node") && p.toks[p.at+1].kind == tokString:
		p.next()
		t.Kind, t.Text = NodeTerm, p.next().text
	case start.kind == tokName:
		p.next()
		if p.is("(") && !p.peek().line {
			t.Kind, t.Args = CallTerm, p.terms()
		}
	default:
		p.wanted("a term")
	}
	t.Span = p.until(start)
	return t
}

// count parses a number.
func (p *parser) count(what string) uint64 {
	t := p.peek()
	if t.kind != tokNumber {
		p.wanted(what)
		return 0
	}
	p.next()
	n, err := strconv.ParseUint(t.text, 10, 64)
	if err != nil {
		p.diags.Errorf(t.span, BadNumber, "this number does not fit into 64 bits")
	}
	return n
}
