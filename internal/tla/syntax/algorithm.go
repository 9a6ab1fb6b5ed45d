// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// algorithmOf reads the algorithm whose name is the first token.
func (p *parser) algorithmOf(h algorithmHead) *Algorithm {
	a := &Algorithm{Modular: h.modular, Fair: h.fair}
	a.Name = p.name("the name of the algorithm")
	p.algorithm = true
	open := -1
	if p.at("{") {
		open = p.i
		if h.modular {
			p.freeEnd(open)
		}
		p.advance()
	} else {
		p.style, a.Style = PStyle, PStyle
		if h.modular {
			p.unexpected(TokenExpected, "`{` after the name: Modular PlusCal has the syntax with braces only", "write `{`")
		}
	}
	s := sections{a: a, open: open}
	for !p.sectionsEnd(&s) {
		from := p.i
		p.section(&s)
		if p.broken {
			p.recoverSection(from, open)
		}
	}
	a.place = p.since(int32(h.start))
	if a.Body == nil && len(a.Processes) == 0 && !a.Modular && !p.errs.HasErrors() {
		p.report(source.Diagnostic{
			Code: AlgorithmEmpty, Span: a.Name.Span(),
			Message: fmt.Sprintf("algorithm %s has neither statements nor processes", a.Name.Text),
			Repair:  "write { skip }",
		})
	}
	return a
}

// freeEnd makes `end` an ordinary name inside the braces that open at a token.
// No Modular PlusCal syntax uses the word there.
func (p *parser) freeEnd(open int) {
	for i := open; i < int(p.match[open]); i++ {
		if t := &p.toks[i]; t.is(kindWord, "end") {
			t.kind = kindIdent
		}
	}
}

// sections tracks the order of an algorithm's sections. The grammar's order
// numbers the sections. The rank reached is twice the number of the last
// section, plus one if only one such section is allowed.
type sections struct {
	a    *Algorithm
	open int // token of the opening brace, -1 without
	rank int
	last string
}

// sectionsEnd skips the end of the algorithm if it is next.
func (p *parser) sectionsEnd(s *sections) bool {
	t := &p.toks[p.i]
	switch {
	case p.style == CStyle && p.got("}"):
		return true
	case p.style == PStyle && p.gotWord("end"):
		if p.tok().is(kindIdent, "algorithm") { // not a reserved word
			p.advance()
		} else {
			p.unexpected(TokenExpected, "`algorithm` after the last `end`", "write `end algorithm`")
		}
		p.broken = false
		return true
	case t.kind != kindEOF:
		return false
	case p.style == PStyle:
		p.unexpected(TokenExpected, "`end algorithm`", "write `end algorithm`")
	default:
		p.unclosed(&p.toks[max(s.open, 0)], "}")
	}
	p.broken = false
	return true
}

// recoverSection resumes at the next section of the algorithm after an error in
// the section that starts at token from.
func (p *parser) recoverSection(from, open int) {
	i := max(p.i, from+1)
	for i < len(p.toks)-1 {
		t := &p.toks[i]
		if t.is(kindPunct, "{") && int(p.match[i]) > i {
			i = int(p.match[i]) + 1
			continue
		}
		if t.is(kindPunct, "}") && open >= 0 && int(p.match[i]) == open {
			break
		}
		if t.is(kindWord, "end") && p.toks[i+1].text == "algorithm" || t.first && p.startsSection(i) {
			break
		}
		i++
	}
	p.recover(i)
}

// startsSection reports whether a section of an algorithm starts at token i.
func (p *parser) startsSection(i int) bool {
	t := &p.toks[i]
	if t.kind == kindIdent {
		return p.fairAt(i)
	}
	if t.kind != kindWord {
		return false
	}
	switch t.text {
	case "variable", "variables", "define", "macro", "procedure", "process", "archetype", "begin":
		return true
	case "mapping":
		return i+1 < len(p.toks) && p.toks[i+1].is(kindWord, "macro")
	}
	return false
}

// fairAt reports whether token i is the `fair` before a process; it is an
// ordinary name elsewhere.
func (p *parser) fairAt(i int) bool {
	if !p.toks[i].is(kindIdent, "fair") || i+2 >= len(p.toks) {
		return false
	}
	return p.toks[i+1].is(kindWord, "process") || p.toks[i+1].is(kindOp, "+") && p.toks[i+2].is(kindWord, "process")
}

// reach records that a section is being read and reports an error if it comes
// too late.
func (p *parser) reach(s *sections, t *token, number int, single bool, what string) {
	rank := 2 * number
	if rank < s.rank {
		p.report(source.Diagnostic{
			Code: SectionOrder, Span: p.spanOf(t),
			Message: fmt.Sprintf("%s must not come after %s", what, s.last),
			Repair:  "move it; the order is " + sectionOrder(s.a.Modular),
		})
		return
	}
	s.last = what
	s.rank = rank
	if single {
		s.rank++
	}
}

func sectionOrder(modular bool) string {
	if modular {
		return "define, macros, procedures with ref, mapping macros, archetypes, variables, instances, procedures, then processes or statements"
	}
	return "variables, define, macros, procedures, then processes or statements"
}

// number is the position of a plain section in the order, which differs in
// Modular PlusCal.
func (s *sections) number(plain, modular int) int {
	if s.a.Modular {
		return modular
	}
	return plain
}

// section reads one section of the algorithm.
func (p *parser) section(s *sections) {
	p.noDurable("an algorithm")
	t := p.tok()
	switch {
	case p.atWord("variable") || p.atWord("variables"):
		p.reach(s, t, s.number(1, 6), true, "the algorithm's variables")
		s.a.Variables = append(s.a.Variables, p.plusVars(s.a.Modular)...)
	case p.atWord("define"):
		p.reach(s, t, s.number(2, 1), true, "the define block")
		p.defineBlock(s.a)
	case p.atWord("macro"):
		p.reach(s, t, s.number(3, 2), false, "a macro")
		s.a.Macros = append(s.a.Macros, p.macro())
	case p.atWord("procedure"):
		p.procedure(s)
	case p.atWord("process") || t.kind == kindIdent && p.fairAt(p.i):
		p.process(s)
	case s.a.Modular && p.atWord("mapping"):
		p.reach(s, t, 4, false, "a mapping macro")
		s.a.MappingMacros = append(s.a.MappingMacros, p.mappingMacro())
	case s.a.Modular && p.atWord("archetype"):
		p.reach(s, t, 5, false, "an archetype")
		s.a.Archetypes = append(s.a.Archetypes, p.archetype())
	case p.style == CStyle && p.at("{") || p.style == PStyle && p.atWord("begin"):
		p.reach(s, t, s.number(5, 9), true, "the algorithm's body")
		if len(s.a.Processes) > 0 {
			p.report(source.Diagnostic{
				Code: SectionOrder, Span: p.spanOf(t),
				Message: "an algorithm has either processes or a body",
				Repair:  "make the body a process",
			})
		}
		s.a.Body = p.body("")
		p.got(";")
	default:
		p.unexpected(SectionExpected, "a section of the algorithm", "the order is "+sectionOrder(s.a.Modular))
	}
}

// declares reports whether the next token is a name that is declared as a
// variable, and not a PlusCal keyword that is an ordinary name elsewhere.
func (p *parser) declares() bool {
	return p.tok().kind == kindIdent && !p.fairAt(p.i) && !p.durableAt(p.i)
}

// plusVars reads `variables x = 1, y \in S;`. Every declaration ends with a
// separator. Unless strict is set, the separator after the last one may be
// missing.
func (p *parser) plusVars(strict bool) []*PlusVar {
	p.advance()
	var out []*PlusVar
	for !p.broken && (p.declares() || p.reservedVar() || len(out) == 0 && !strict) {
		v := p.plusVar("the name of a variable")
		out = append(out, v)
		if p.broken || p.got(";") || p.got(",") {
			continue
		}
		if strict || p.declares() {
			p.noSemicolon("after the declaration of a variable")
		}
	}
	return out
}

// reservedVar reports a reserved word that is declared like a variable.
func (p *parser) reservedVar() bool {
	if p.tok().kind != kindWord || p.i+1 >= len(p.toks) {
		return false
	}
	next := &p.toks[p.i+1]
	return next.is(kindOp, "=") || next.is(kindOp, `\in`)
}

// noSemicolon reports that a semicolon is missing after the last token.
func (p *parser) noSemicolon(where string) {
	last := &p.toks[max(p.i-1, 0)]
	repair := "write `;`"
	if p.at("{") && p.afterCallOf("for") {
		repair = "write while, or with for any one element: there is no for"
	}
	p.report(source.Diagnostic{
		Code: SemicolonMissing, Span: source.Span{File: p.file, Start: last.end, End: last.end},
		Message: fmt.Sprintf("expected `;` %s, found %s", where, p.describe(&p.toks[p.i])),
		Repair:  repair,
	})
}

// plusVar reads x, x = e or x \in S.
func (p *parser) plusVar(what string) *PlusVar {
	start := p.start()
	v := &PlusVar{Name: p.name(what)}
	switch {
	case p.atOp("="):
		p.advance()
		v.Init = p.expr()
	case p.atOp(`\in`):
		p.advance()
		v.In = true
		v.Init = p.expr()
	}
	v.place = p.since(start)
	return v
}

// defineBlock reads `define { ... }` or `define ... end define`.
func (p *parser) defineBlock(a *Algorithm) {
	start := p.start()
	p.advance()
	p.algorithm = false
	end := len(p.toks) - 1
	if p.style == CStyle {
		if m := p.match[p.i]; p.at("{") && m >= 0 {
			end = int(m)
		}
		p.want("{", "after define")
	}
	atEnd := func() bool {
		t := &p.toks[p.i]
		return t.kind == kindEOF || p.i >= end || t.is(kindWord, "end") || p.style == CStyle && t.is(kindPunct, "}")
	}
	for !p.broken && !atEnd() {
		from := p.i
		a.Define = append(a.Define, p.unit())
		if p.broken {
			i := max(p.i, from+1)
			for i < end && !p.toks[i].is(kindWord, "end") && !(p.toks[i].first && p.startsUnit(i)) {
				i++
			}
			p.recover(i)
		}
	}
	p.algorithm = true
	if p.style == CStyle {
		p.want("}", "after the definitions")
	} else {
		p.wantWord("end", "after the definitions")
		p.wantWord("define", "after `end`")
	}
	a.DefineSpan = p.since(start).at
	p.got(";")
}

// macro reads `macro m(a, b) body`.
func (p *parser) macro() *Macro {
	start := p.start()
	p.advance()
	m := &Macro{Name: p.name("the name of the macro")}
	if br, ok := p.paren("after the name of the macro"); ok {
		if !p.at(")") {
			m.Params = append(m.Params, p.name("a parameter"))
			for !p.broken && p.got(",") {
				m.Params = append(m.Params, p.name("a parameter"))
			}
		}
		p.close(br, ")")
	}
	m.Body = p.body("macro")
	m.place = p.since(start)
	p.got(";")
	return m
}

// paren skips an opening parenthesis.
func (p *parser) paren(where string) (bracket, bool) {
	if p.at("(") {
		return p.open(), true
	}
	p.want("(", where)
	return bracket{}, false
}

// procedure reads `procedure P(a, ref b[_]) variables ...; body`.
func (p *parser) procedure(s *sections) {
	t := p.tok()
	pr := &Procedure{Modular: s.a.Modular && s.rank <= 2*3}
	if pr.Modular {
		p.reach(s, t, 3, false, "a procedure of Modular PlusCal")
	} else {
		p.reach(s, t, s.number(4, 8), false, "a procedure")
	}
	p.advance()
	pr.Name = p.name("the name of the procedure")
	pr.Params = p.paramList(pr.Modular, "after the name of the procedure")
	p.noDurable("a procedure")
	if p.atWord("variable") || p.atWord("variables") {
		pr.Variables = p.plusVars(false)
	}
	pr.Body = p.body("procedure")
	pr.place = p.since(t.start)
	s.a.Procedures = append(s.a.Procedures, pr)
	p.got(";")
}

// paramList reads the parameters of a procedure or an archetype.
func (p *parser) paramList(modular bool, where string) []*Param {
	br, ok := p.paren(where)
	if !ok {
		return nil
	}
	var out []*Param
	for !p.broken && !p.at(")") {
		out = append(out, p.param(modular))
		if !p.got(",") {
			break
		}
	}
	p.close(br, ")")
	return out
}

func (p *parser) param(modular bool) *Param {
	start := p.start()
	d := &Param{}
	if t := p.tok(); p.gotWord("ref") {
		d.Ref = true
		if !modular {
			p.report(source.Diagnostic{
				Code: RefPlace, Span: p.spanOf(t),
				Message: "a plain procedure has no ref parameters",
				Repair:  "move the procedure before the mapping macros",
			})
		}
	}
	d.Name = p.name("the name of a parameter")
	if d.Ref {
		d.Indices = p.refSuffix()
	} else if p.atOp("=") && !modular {
		p.advance()
		d.Init = p.expr()
	}
	d.place = p.since(start)
	return d
}

// refSuffix counts the [_] after the name of a ref.
func (p *parser) refSuffix() int {
	if t := p.tok(); t.is(kindOp, "^") {
		p.report(source.Diagnostic{
			Code: RefCaret, Span: p.spanOf(t),
			Message: "`^` after a ref is not supported",
			Repair:  "write one [_] for each index",
		})
		p.advance()
	}
	n := 0
	for p.at("[") {
		br := p.open()
		p.want("_", "in the brackets after a ref")
		p.close(br, "]")
		if p.broken {
			break
		}
		n++
	}
	return n
}

// process reads a process or, in Modular PlusCal, an instance.
func (p *parser) process(s *sections) {
	start := p.start()
	first := p.tok()
	fair := Unfair
	if p.fairAt(p.i) {
		p.advance()
		fair = WeakFair
		if p.atOp("+") {
			p.advance()
			fair = StrongFair
		}
	}
	p.advance() // process
	pr := &Process{Fairness: fair}
	paren := p.at("(")
	var br bracket
	if paren || p.style == CStyle {
		br, paren = p.paren("after process")
	}
	v := p.plusVar("the name of the process")
	pr.Name, pr.In, pr.Set = v.Name, v.In, v.Init
	if pr.Set == nil {
		p.unexpected(TokenExpected, "`=` or `\\in` and the process's identifier or set of them", "write = or \\in")
		pr.Set = p.badExpr()
	}
	if paren {
		p.close(br, ")")
	}
	if s.a.Modular && p.at("==") {
		p.reach(s, first, 7, false, "an instance")
		s.a.Instances = append(s.a.Instances, p.processInstance(start, pr))
		return
	}
	p.reach(s, first, s.number(5, 9), false, "a process")
	p.noDurable("a process")
	if p.atWord("variable") || p.atWord("variables") {
		pr.Variables = p.plusVars(false)
	}
	pr.Body = p.body("process")
	pr.place = p.since(start)
	s.a.Processes = append(s.a.Processes, pr)
	p.got(";")
}
