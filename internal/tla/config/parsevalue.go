// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// value reads a value.
func (p *parser) value() (Value, bool) {
	t := p.peek()
	switch {
	case p.atSection():
	case t.kind == tokenNumber:
		return p.number()
	case t.kind == tokenString:
		p.take()
		return Value{Kind: Str, Text: t.text, Span: t.span}, true
	case t.kind == tokenName && (t.text == "TRUE" || t.text == "FALSE"):
		p.take()
		return Value{Kind: Bool, Bool: t.text == "TRUE", Span: t.span}, true
	case t.kind == tokenName && (isLetter(t.text[0]) || isDigit(t.text[0])) && !strings.Contains(t.text, "!"):
		p.take()
		p.warnSet(t)
		return Value{Kind: Model, Text: t.text, Span: t.span}, true
	case t.is("{"):
		return p.nested(Set, "}")
	case t.is("<<"):
		return p.nested(Tuple, ">>")
	case t.is("["):
		return p.record()
	case t.kind == tokenBad:
		p.take()
		return Value{}, false
	}
	p.report(t.span, ExpectedValue, `a value is 3, "a", TRUE, modelValue, {a, b}, <<a, b>> or [f |-> a]`,
		"expected a value, found %s", t.describe())
	return Value{}, false
}

// warnSet warns of a model value that has the same name as a built-in set.
func (p *parser) warnSet(t token) {
	repair := ""
	switch t.text {
	case "Nat", "Int", "Real":
		repair = "write C <- " + t.text
	case "BOOLEAN", "STRING":
		repair = "define it in the module, Def == " + t.text + ", and write C <- Def"
	default:
		return
	}
	p.diags.Add(source.Diagnostic{Severity: source.Warning, Code: ModelValueSet, Span: t.span, Repair: repair,
		Message: fmt.Sprintf("%s is a model value here, not the set of that name", t.text)})
}

func (p *parser) number() (Value, bool) {
	t := p.take()
	n, err := strconv.ParseInt(t.text, 10, 32)
	if err != nil {
		p.report(t.span, NumberTooLarge, "numbers must be between -2147483648 and 2147483647", "%s is too large", t.text)
	}
	return Value{Kind: Int, Int: int32(n), Span: t.span}, true
}

// enter limits the recursion of values. If it returns true, the caller must
// call leave.
func (p *parser) enter(t token) bool {
	if p.depth >= NestingMax {
		p.report(t.span, NestingTooDeep, "", "values nest deeper than %d", NestingMax)
		p.skipToSection()
		return false
	}
	p.depth++
	return true
}

func (p *parser) nested(kind Kind, closing string) (Value, bool) {
	open := p.take()
	if !p.enter(open) {
		return Value{}, false
	}
	defer func() { p.depth-- }()
	elems, ok := p.values(open, closing)
	return Value{Kind: kind, Elems: elems, Span: open.span.Join(p.tokens[p.at-1].span)}, ok
}

// values reads a list of values and the closing punctuation. The result of an
// empty but complete list is not nil.
func (p *parser) values(open token, closing string) ([]Value, bool) {
	out := []Value{}
	if p.peek().is(closing) {
		p.take()
		return out, true
	}
	for {
		v, ok := p.value()
		if !ok {
			return nil, false
		}
		out = append(out, v)
		if done, ok := p.separator(open, closing); done {
			return out, ok
		}
	}
}

// separator reads a comma, or the closing punctuation; done reports which of
// the two.
func (p *parser) separator(open token, closing string) (done, ok bool) {
	t := p.peek()
	switch {
	case t.is(","):
		p.take()
		return false, true
	case t.is(closing):
		p.take()
		return true, true
	}
	code, repair := ExpectedClosing, "write "+closing
	if t.kind == tokenName && !p.atSection() && !isLetter(t.text[0]) {
		code, repair = ExpressionInValue, expressionRepair
	}
	if t.kind != tokenBad {
		p.diags.Add(source.Diagnostic{Code: code, Span: t.span, Repair: repair,
			Message: fmt.Sprintf("expected a comma or %s, found %s", closing, t.describe()),
			Related: []source.Note{{Span: open.span, Message: "opened here"}}})
	}
	return true, false
}

func (p *parser) record() (Value, bool) {
	open := p.take()
	if !p.enter(open) {
		return Value{}, false
	}
	defer func() { p.depth-- }()
	v := Value{Kind: Record}
	for {
		t := p.peek()
		if t.kind != tokenName || !p.peekAt(1).is("|->") {
			p.report(t.span, ExpectedValue, "a record is [field |-> value, ...]", "expected a field and |->, found %s", t.describe())
			for p.peek().kind != tokenEnd && !p.atSection() && !p.take().is("]") {
			}
			return Value{}, false
		}
		p.at += 2
		x, ok := p.value()
		if !ok {
			return Value{}, false
		}
		name := Name{Text: t.text, Span: t.span}
		for _, f := range v.Fields {
			if f.Name.Text == name.Text {
				p.diags.Add(source.Diagnostic{Code: DuplicateField, Span: name.Span,
					Message: fmt.Sprintf("the record has the field %s twice", name.Text),
					Related: []source.Note{{Span: f.Name.Span, Message: "first given here"}}})
			}
		}
		v.Fields = append(v.Fields, Field{Name: name, Value: x})
		if done, ok := p.separator(open, "]"); done {
			v.Span = open.span.Join(p.tokens[p.at-1].span)
			return v, ok
		}
	}
}
