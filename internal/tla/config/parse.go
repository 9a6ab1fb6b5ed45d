// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// NestingMax limits the nesting depth of the sets, tuples and records in a
// value.
const NestingMax = 200

// Parse reads a configuration. It reports every error in the file to diags and
// returns what it understood, never nil. After an error it continues with the
// next assignment or section.
func Parse(f *source.File, diags *source.List) *Config {
	p := &parser{diags: diags, tokens: scan(f, diags), c: &Config{File: f, Deadlock: true}}
	p.sections = p.sectionTable()
	p.file()
	p.checkBehaviour()
	return p.c
}

type parser struct {
	diags    *source.List
	tokens   []token // ends with a tokenEnd
	at       int
	c        *Config
	sections map[string]section
	// behaviour is the position of the last SPECIFICATION, INIT or NEXT.
	// behaviourLost reports that one of them has no name.
	behaviour     source.Span
	behaviourLost bool
	depth         int
}

// section reads the text after its keyword.
type section func(keyword token)

// sectionTable maps each keyword to the method that reads its section.
func (p *parser) sectionTable() map[string]section {
	t := map[string]section{
		"CHECK_DEADLOCK": p.deadlock,
		"CONSTANT":       p.constants,
		"CONSTANTS":      p.constants,
	}
	one := func(into *Name, keywords ...string) {
		for _, k := range keywords {
			t[k] = func(kw token) { p.single(kw, into) }
		}
	}
	many := func(into *[]Name, keywords ...string) {
		for _, k := range keywords {
			t[k] = func(kw token) { p.list(kw, into) }
		}
	}
	one(&p.c.Specification, "SPECIFICATION")
	one(&p.c.Init, "INIT")
	one(&p.c.Next, "NEXT")
	one(&p.c.Symmetry, "SYMMETRY")
	one(&p.c.View, "VIEW")
	one(&p.c.Alias, "ALIAS")
	one(&p.c.Postcondition, "POSTCONDITION")
	one(&p.c.Periodic, "_PERIODIC")
	one(&p.c.Reward, "_RL_REWARD")
	many(&p.c.Possible, "_POSSIBLE")
	many(&p.c.Invariants, "INVARIANT", "INVARIANTS")
	many(&p.c.Properties, "PROPERTY", "PROPERTIES")
	many(&p.c.Constraints, "CONSTRAINT", "CONSTRAINTS")
	many(&p.c.ActionConstraints, "ACTION_CONSTRAINT", "ACTION_CONSTRAINTS")
	return t
}

// keywords is in the order in which messages list them.
const keywords = "SPECIFICATION, INIT, NEXT, CONSTANTS, INVARIANTS, PROPERTIES, CONSTRAINTS, ACTION_CONSTRAINTS, " +
	"SYMMETRY, VIEW, ALIAS, POSTCONDITION, CHECK_DEADLOCK, _POSSIBLE, _PERIODIC, _RL_REWARD"

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) peekAt(n int) token {
	return p.tokens[min(p.at+n, len(p.tokens)-1)]
}

func (p *parser) take() token {
	t := p.tokens[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

func (p *parser) report(at source.Span, code source.Code, repair, format string, args ...any) {
	p.diags.Add(source.Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...), Repair: repair})
}

// describe returns the text for a token in a message.
func (t token) describe() string {
	switch t.kind {
	case tokenEnd:
		return "the end of the file"
	case tokenString:
		return "a string"
	}
	return strconv.Quote(t.span.Text())
}

// atSection reports whether the next token opens a section.
func (p *parser) atSection() bool {
	t := p.peek()
	if t.kind != tokenName {
		return false
	}
	_, ok := p.sections[t.text]
	return ok
}

func (p *parser) file() {
	for p.peek().kind != tokenEnd {
		if !p.atSection() {
			p.unknownSection()
			continue
		}
		kw := p.take()
		p.sections[kw.text](kw)
	}
}

// unknownSection reports a token that is not a keyword although one is
// expected, and skips to the next keyword.
func (p *parser) unknownSection() {
	t := p.peek()
	if t.kind != tokenBad {
		repair := "the sections are " + keywords
		if near := nearestKeyword(t.text, p.sections); near != "" {
			repair = "write " + near
		}
		if strings.HasPrefix(t.text, "#") || strings.HasPrefix(t.text, "//") || strings.HasPrefix(t.text, "--") {
			repair = `write \* before a comment`
		}
		p.report(t.span, UnknownSection, repair, "%s is not a section of a configuration", t.describe())
	}
	for p.peek().kind != tokenEnd && !p.atSection() {
		p.take()
	}
}

// nearestKeyword finds the keyword that differs in at most two characters. If
// there are several, it returns the first in alphabetical order.
func nearestKeyword(word string, sections map[string]section) string {
	best, distance := "", 3
	for k := range sections {
		d := editDistance(strings.ToUpper(word), k)
		if d < distance || d == distance && d < 3 && k < best {
			best, distance = k, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions and replacements between two
// short words. If the lengths differ by more than 2, it returns 3 without
// counting.
func editDistance(a, b string) int {
	if len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return 3
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// assignmentFollows reports whether the next tokens are "name =", "name <-" or
// "name(", which cannot be part of a list of names.
func (p *parser) assignmentFollows() bool {
	n := p.peekAt(1)
	return p.peek().kind == tokenName && (n.is("=") || n.is("<-") || n.is("("))
}

// single reads the one name of a section.
func (p *parser) single(kw token, into *Name) {
	t := p.peek()
	behaviour := kw.text == "SPECIFICATION" || kw.text == "INIT" || kw.text == "NEXT"
	if t.kind != tokenName || p.atSection() {
		p.behaviourLost = p.behaviourLost || behaviour
		repair := kw.text + " " + example(kw.text)
		if next := p.peekAt(1); t.is("=") && next.kind == tokenName && p.sections[next.text] == nil {
			p.at += 2 // the user meant the name after it
			repair = "remove the ="
		}
		p.report(t.span, ExpectedName, repair, "expected a name after %s, found %s", kw.text, t.describe())
		p.skipJunk()
		return
	}
	p.take()
	if behaviour {
		p.behaviour = kw.span
	}
	if into.IsSet() {
		p.diags.Add(source.Diagnostic{Code: DuplicateSection, Span: kw.span,
			Message: fmt.Sprintf("%s was given before", kw.text), Repair: "keep one of the two",
			Related: []source.Note{{Span: into.Span, Message: "first given here"}}})
		return
	}
	*into = Name{Text: t.text, Span: t.span}
	p.skipJunk()
}

// example is a name often used after a keyword, for messages.
func example(keyword string) string {
	switch keyword {
	case "SPECIFICATION":
		return "Spec"
	case "INIT":
		return "Init"
	case "NEXT":
		return "Next"
	case "SYMMETRY":
		return "Symmetry"
	}
	return "Name"
}

// skipJunk reports and skips tokens after a complete section that do not start
// another section.
func (p *parser) skipJunk() {
	if p.peek().kind != tokenEnd && !p.atSection() {
		p.unknownSection()
	}
}

// list reads the names of a section, up to the next one.
func (p *parser) list(kw token, into *[]Name) {
	if p.peek().kind == tokenEnd || p.atSection() {
		p.diags.Warnf(kw.span, EmptySection, "%s names nothing", kw.text)
		return
	}
	for p.peek().kind != tokenEnd && !p.atSection() {
		t := p.peek()
		switch {
		case t.kind == tokenBad:
			p.take()
		case t.is(","):
			p.take()
			p.report(t.span, UnexpectedSeparator, "remove the comma", "separate the names of a list by spaces")
		case t.kind != tokenName:
			p.report(t.span, ExpectedName, "", "expected a name or a section, found %s", t.describe())
			p.skipToSection()
		case p.assignmentFollows():
			p.report(t.span, UnknownSection, "write CONSTANTS before it",
				"%s stands in the section %s, which has no assignments", t.describe(), kw.text)
			p.constants(kw)
		default:
			p.take()
			p.addName(kw, into, Name{Text: t.text, Span: t.span})
		}
	}
}

func (p *parser) addName(kw token, into *[]Name, n Name) {
	for _, o := range *into {
		if o.Text == n.Text {
			p.diags.Add(source.Diagnostic{Severity: source.Warning, Code: DuplicateName, Span: n.Span,
				Message: fmt.Sprintf("%s names %s twice", kw.text, n.Text),
				Related: []source.Note{{Span: o.Span, Message: "first named here"}}})
			return
		}
	}
	*into = append(*into, n)
}

func (p *parser) skipToSection() {
	for p.peek().kind != tokenEnd && !p.atSection() {
		p.take()
	}
}

// deadlock reads CHECK_DEADLOCK TRUE or FALSE.
func (p *parser) deadlock(kw token) {
	t := p.peek()
	if t.kind == tokenName && (t.text == "TRUE" || t.text == "FALSE") {
		p.take()
		p.c.Deadlock = t.text == "TRUE"
		p.skipJunk()
		return
	}
	p.report(t.span, ExpectedBoolean, "CHECK_DEADLOCK FALSE", "expected TRUE or FALSE after %s, found %s", kw.text, t.describe())
	if t.kind == tokenName && !p.atSection() {
		p.take()
	}
	p.skipJunk()
}

// constants reads assignments up to the next section.
func (p *parser) constants(token) {
	for p.peek().kind != tokenEnd && !p.atSection() {
		if !p.assignment() {
			for p.peek().kind != tokenEnd && !p.atSection() && !p.assignmentFollows() {
				p.take()
			}
		}
	}
}

// assignment reads "x = v", "F(v, w) = u", "x = [M] v", "x <- y" or "x <- [M]
// y". If it returns false, the caller must resynchronize.
func (p *parser) assignment() bool {
	t := p.peek()
	if t.is(",") {
		p.take()
		p.report(t.span, UnexpectedSeparator, "remove the comma", "separate assignments by spaces")
		return true
	}
	if t.kind != tokenName {
		if t.kind != tokenBad {
			code, repair := ExpectedName, "N = 3"
			if len(p.c.Constants) > 0 {
				code, repair = ExpressionInValue, expressionRepair
			}
			p.report(t.span, code, repair, "expected the name of a constant or a section, found %s", t.describe())
		}
		p.take()
		return false
	}
	p.take()
	name := Name{Text: t.text, Span: t.span}
	if !isLetter(t.text[0]) && !isDigit(t.text[0]) && t.text[0] != '\\' && !p.peek().is("=") && !p.peek().is("<-") && !p.peek().is("(") {
		p.report(t.span, ExpressionInValue, expressionRepair, "the value of a constant is not an expression; found %s", t.describe())
		return false
	}
	var args []Value
	if p.peek().is("(") {
		var ok bool
		open := p.take()
		if args, ok = p.values(open, ")"); !ok {
			return false
		}
	}
	switch op := p.peek(); {
	case op.is("="):
		p.take()
		module := p.module()
		v, ok := p.value()
		if ok {
			p.addConstant(Constant{Name: name, Args: args, Module: module, Value: v})
		}
		return ok
	case op.is("<-") && args == nil:
		p.take()
		module := p.module()
		t := p.peek()
		if t.kind != tokenName || p.atSection() {
			repair := name.Text + " <- Definition"
			if !module.IsSet() && (t.kind == tokenNumber || t.kind == tokenString || t.is("{")) {
				repair += "; a value follows =, as in " + name.Text + " = 3"
			}
			p.report(t.span, ExpectedName, repair, "expected the name of a definition after <-, found %s", t.describe())
			return false
		}
		p.take()
		p.addOverride(Override{Name: name, Module: module, Op: Name{Text: t.text, Span: t.span}})
		return true
	default:
		if op.kind != tokenBad {
			p.report(op.span, ExpectedAssignment, name.Text+" = 3 or "+name.Text+" <- Definition",
				"expected = or <- after %s, found %s", name.Text, op.describe())
		}
		return false
	}
}

const expressionRepair = "define it in the module, Def == ..., and write Name <- Def"

// module reads the optional [M] before a value or a definition. A record, [f
// |-> v], is not a module.
func (p *parser) module() Name {
	t := p.peekAt(1)
	if !p.peek().is("[") || t.kind != tokenName || !p.peekAt(2).is("]") {
		return Name{}
	}
	p.at += 3
	return Name{Text: t.text, Span: t.span}
}

func (p *parser) duplicate(n, first Name) {
	p.diags.Add(source.Diagnostic{Code: DuplicateConstant, Span: n.Span,
		Message: fmt.Sprintf("%s was given before", n.Text), Repair: "keep one of the two",
		Related: []source.Note{{Span: first.Span, Message: "first given here"}}})
}

func (p *parser) addConstant(c Constant) {
	if first, ok := p.given(c.Name.Text, c.Module.Text, c.Args != nil); ok {
		p.duplicate(c.Name, first)
		return
	}
	p.c.Constants = append(p.c.Constants, c)
}

func (p *parser) addOverride(o Override) {
	if first, ok := p.given(o.Name.Text, o.Module.Text, false); ok {
		p.duplicate(o.Name, first)
		return
	}
	p.c.Overrides = append(p.c.Overrides, o)
}

// given finds an earlier assignment to the name. Different rows of the table of
// a constant operator do not conflict.
func (p *parser) given(name, module string, row bool) (Name, bool) {
	for _, o := range p.c.Constants {
		if o.Name.Text == name && o.Module.Text == module && !(row && o.Args != nil) {
			return o.Name, true
		}
	}
	for _, o := range p.c.Overrides {
		if o.Name.Text == name && o.Module.Text == module {
			return o.Name, true
		}
	}
	return Name{}, false
}

// checkBehaviour reports a behaviour that is given twice or incompletely.
func (p *parser) checkBehaviour() {
	c := p.c
	switch {
	case c.Specification.IsSet() && (c.Init.IsSet() || c.Next.IsSet()):
		p.report(p.behaviour, ConflictingBehaviour, "keep SPECIFICATION, or INIT and NEXT",
			"SPECIFICATION and INIT or NEXT exclude each other")
	case c.Init.IsSet() != c.Next.IsSet() && !p.behaviourLost:
		repair := "add NEXT Next"
		if c.Next.IsSet() {
			repair = "add INIT Init"
		}
		p.report(p.behaviour, IncompleteBehaviour, repair, "INIT and NEXT go together")
	}
}
