// SPDX-License-Identifier: Apache-2.0

package value

import (
	"fmt"
	"strings"
)

// parseDepthMax limits the nesting depth of the text that Parse reads.
const parseDepthMax = 500

// Parse reads the text of a constant value: numbers, strings, TRUE and FALSE,
// identifiers as model values, {a, b}, <<a, b>>, [f |-> a], a :> b @@ c :> d,
// a..b, SUBSET S, [S -> T], [f : S], S \X T, S \cup T, Seq(S), BOOLEAN and the
// named sets. It reads what String writes. It is safe on any text.
func Parse(text string) (v Value, err error) {
	p := parser{src: text}
	caught := Catch(func() {
		v = p.expr(0)
		if p.skip(); p.err == nil && p.pos < len(p.src) {
			p.fail("the end of the value")
		}
	})
	if p.err != nil {
		return Value{}, p.err
	}
	if caught != nil {
		return Value{}, caught
	}
	return v, nil
}

// parser reads from pos until err is set, and then reads nothing more.
type parser struct {
	src   string
	pos   int
	depth int
	err   error
}

func (p *parser) fail(expected string) Value {
	if p.err == nil {
		found := "the end"
		if p.pos < len(p.src) {
			found = fmt.Sprintf("%.20q", p.src[p.pos:])
		}
		p.err = fmt.Errorf("byte %d of the value: expected %s, found %s", p.pos, expected, found)
	}
	p.pos = len(p.src)
	return Value{}
}

func (p *parser) skip() {
	for p.pos < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.pos]) >= 0 {
		p.pos++
	}
}

// take reads token if it is next. An operator made of letters must not be a
// prefix of a longer word.
func (p *parser) take(token string) bool {
	p.skip()
	rest := p.src[p.pos:]
	if !strings.HasPrefix(rest, token) {
		return false
	}
	if last := token[len(token)-1]; isIdentByte(last) && len(rest) > len(token) && isIdentByte(rest[len(token)]) {
		return false
	}
	p.pos += len(token)
	return true
}

func isIdentByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func (p *parser) want(token string) {
	if !p.take(token) {
		p.fail(fmt.Sprintf("%q", token))
	}
}

// ident reads an identifier, or nothing.
func (p *parser) ident() string {
	p.skip()
	end := p.pos
	for end < len(p.src) && isIdentByte(p.src[end]) {
		end++
	}
	if name := p.src[p.pos:end]; isIdent(name) && (name[0] < '0' || name[0] > '9') {
		p.pos = end
		return name
	}
	return ""
}

// The precedences of the infix operators, loosest first.
const (
	precMerge = iota
	precPair
	precCup
	precRange
	precTimes
	precUnary
)

// expr reads an expression whose operators bind at least as tightly as prec.
func (p *parser) expr(prec int) Value {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > parseDepthMax {
		p.err = fmt.Errorf("byte %d of the value: nested deeper than %d", p.pos, parseDepthMax)
		p.pos = len(p.src)
		return Value{}
	}
	if prec == precUnary {
		return p.unary()
	}
	v := p.expr(prec + 1)
	switch prec {
	case precMerge:
		return p.merge(v)
	case precPair:
		if p.err == nil && p.take(":>") {
			val := p.expr(precCup)
			if p.err != nil {
				return Value{}
			}
			return Fn([]Pair{{v, val}})
		}
	case precCup:
		for p.err == nil && p.take("\\cup") {
			if w := p.expr(precRange); p.err == nil {
				v = Union(v, w)
			}
		}
	case precRange:
		if p.err == nil && p.take("..") {
			if w := p.expr(precTimes); p.err == nil {
				v = Range(v, w)
			}
		}
	case precTimes:
		sets := []Value{v}
		for p.err == nil && p.take("\\X") {
			sets = append(sets, p.expr(precUnary))
		}
		if p.err == nil && len(sets) > 1 {
			v = Times(sets...)
		}
	}
	return v
}

// merge reads f @@ g @@ ... and merges all of them at once.
func (p *parser) merge(first Value) Value {
	if p.err != nil || !p.take("@@") {
		return first
	}
	fs := []Value{first, p.expr(precPair)}
	for p.err == nil && p.take("@@") {
		fs = append(fs, p.expr(precPair))
	}
	if p.err != nil {
		return Value{}
	}
	return Merge(fs...)
}

func (p *parser) unary() Value {
	switch {
	case p.take("SUBSET"):
		if s := p.expr(precRange); p.err == nil {
			return Subsets(s)
		}
		return Value{}
	case p.take("-"):
		return p.integer(-1)
	}
	p.skip()
	if p.pos == len(p.src) {
		return p.fail("a value")
	}
	switch c := p.src[p.pos]; {
	case c == '"':
		return p.quoted()
	case p.take("<<"):
		return p.collect(">>", TupleOf)
	case p.take("{"):
		return p.collect("}", SetOf)
	case p.take("("):
		v := p.expr(precMerge)
		p.want(")")
		return v
	case p.take("["):
		return p.bracket()
	}
	if name := p.ident(); name != "" {
		return p.named(name)
	}
	if c := p.src[p.pos]; c >= '0' && c <= '9' {
		return p.integer(1)
	}
	return p.fail("a value")
}

func (p *parser) integer(sign int64) Value {
	p.skip()
	start, n := p.pos, int64(0)
	for p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
		if n = n*10 + int64(p.src[p.pos]-'0'); n > 1<<31 {
			return p.fail("an integer of 32 bits")
		}
		p.pos++
	}
	if n *= sign; p.pos == start || n != int64(int32(n)) {
		return p.fail("an integer of 32 bits")
	}
	return Int(int32(n))
}

func (p *parser) quoted() Value {
	var b strings.Builder
	for p.pos++; p.pos < len(p.src); p.pos++ {
		c := p.src[p.pos]
		switch c {
		case '"':
			p.pos++
			return String(b.String())
		case '\\':
			p.pos++
			if p.pos == len(p.src) {
				return p.fail("the end of a string")
			}
			at := strings.IndexByte(`"\ntrf`, p.src[p.pos])
			if at < 0 {
				return p.fail("an escape sequence")
			}
			c = "\"\\\n\t\r\f"[at]
		}
		b.WriteByte(c)
	}
	return p.fail("the end of a string")
}

// collect reads a list up to end.
func (p *parser) collect(end string, build func([]Value) Value) Value {
	var es []Value
	if p.take(end) {
		return build(nil)
	}
	for {
		es = append(es, p.expr(precMerge))
		if p.err != nil {
			return Value{}
		}
		if !p.take(",") {
			break
		}
	}
	if p.want(end); p.err != nil {
		return Value{}
	}
	return build(es)
}

// bracket reads a record, a set of records or a set of functions after "[".
func (p *parser) bracket() Value {
	start := p.pos
	name, ok := p.field()
	if p.err != nil {
		return Value{}
	}
	if ok && p.take("|->") {
		return p.fields(name, "|->", Record)
	}
	if ok && !p.take(":>") && p.take(":") {
		return p.fields(name, ":", RecordSet)
	}
	p.pos = start
	domain := p.expr(precMerge)
	p.want("->")
	codomain := p.expr(precMerge)
	if p.want("]"); p.err != nil {
		return Value{}
	}
	return FnSet(domain, codomain)
}

// field reads the name of a field, which is quoted if it is not an identifier.
func (p *parser) field() (string, bool) {
	p.skip()
	if p.pos < len(p.src) && p.src[p.pos] == '"' {
		if v := p.quoted(); p.err == nil {
			return v.text(), true
		}
		return "", false
	}
	end := p.pos
	for end < len(p.src) && isIdentByte(p.src[end]) {
		end++
	}
	name := p.src[p.pos:end]
	if !isIdent(name) {
		return "", false
	}
	p.pos = end
	return name, true
}

func (p *parser) fields(name, arrow string, build func([]Field) Value) Value {
	var fs []Field
	for {
		fs = append(fs, Field{name, p.expr(precMerge)})
		if p.err != nil {
			return Value{}
		}
		if !p.take(",") {
			break
		}
		var ok bool
		if name, ok = p.field(); !ok {
			return p.fail("the name of a field")
		}
		p.want(arrow)
	}
	if p.want("]"); p.err != nil {
		return Value{}
	}
	return build(fs)
}

// named returns what an identifier denotes: a named set or a model value.
func (p *parser) named(name string) Value {
	switch name {
	case "TRUE", "FALSE":
		return Bool(name == "TRUE")
	case "BOOLEAN":
		return Booleans()
	case "Nat":
		return Nat()
	case "Int":
		return Ints()
	case "Real":
		return Reals()
	case "STRING":
		return Strings()
	case "Any":
		return Anything()
	case "Seq":
		p.want("(")
		s := p.expr(precMerge)
		if p.want(")"); p.err != nil {
			return Value{}
		}
		return Seqs(s)
	}
	return Model(name)
}
