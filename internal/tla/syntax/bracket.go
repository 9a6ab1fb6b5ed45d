// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// ---------------------------------------------------------------------------
// Brackets

// set reads a construct that starts with {.
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

// filterBound converts `x \in S` or `<<x, y>> \in S` before the colon of a set
// to a bound.
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

// square reads a construct that starts with [: a function, a record, a set of
// either, an EXCEPT or an action.
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

// fieldName reads the name of a field. A word that is reserved only in PlusCal
// is allowed, because no statement can occur there.
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
