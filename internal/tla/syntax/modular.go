// SPDX-License-Identifier: Apache-2.0

package syntax

import "github.com/ashlar-dev/ashlar/internal/source"

// The additions of Modular PlusCal to the grammar: mapping macros, archetypes
// with durable variables, and instances.

// processInstance reads `== instance A(args) mapping ... ;`.
func (p *parser) processInstance(start int32, pr *Process) *ProcessInstance {
	in := &ProcessInstance{Fairness: pr.Fairness, Name: pr.Name, In: pr.In, Set: pr.Set}
	p.advance() // ==
	p.wantWord("instance", "after `==`")
	in.Archetype = p.name("the name of an archetype")
	in.Args = p.callArgs("after the name of the archetype")
	for p.atWord("mapping") {
		in.Mappings = append(in.Mappings, p.mappingClause())
	}
	in.place = p.since(start)
	if !p.got(";") {
		p.noSemicolon("after an instance")
	}
	return in
}

// callArgs reads the arguments of an instance or a call, some of which may be
// refs in Modular PlusCal.
func (p *parser) callArgs(where string) []Expr {
	br, ok := p.paren(where)
	if !ok {
		return nil
	}
	var args []Expr
	for !p.broken && !p.at(")") {
		if t := p.tok(); p.gotWord("ref") {
			r := &RefArg{Name: p.name("the name of a variable or parameter")}
			r.Indices = p.refSuffix()
			r.place = p.since(t.start)
			args = append(args, r)
		} else {
			args = append(args, p.expr())
		}
		if !p.got(",") {
			break
		}
	}
	p.close(br, ")")
	return args
}

// mappingClause reads `mapping x[_] via M` or `mapping @2[_] via M`.
func (p *parser) mappingClause() *Mapping {
	start := p.start()
	p.advance()
	m := &Mapping{}
	if p.got("@") {
		t := p.tok()
		n := 0
		if t.kind == kindNumber {
			n = smallNumber(t.text)
		}
		if n == 0 {
			p.unexpected(NameExpected, "the position of an argument, counted from 1, after `@`", "")
		} else {
			p.advance()
		}
		m.Position = n
	} else {
		m.Target = p.name("the name of an argument, or `@` and its position")
	}
	m.Indices = p.refSuffix()
	p.wantWord("via", "and the name of a mapping macro")
	m.Macro = p.name("the name of a mapping macro")
	m.place = p.since(start)
	return m
}

// smallNumber is the value of a short decimal number that does not start with
// 0, otherwise 0.
func smallNumber(text string) int {
	if len(text) > 6 || text[0] == '0' {
		return 0
	}
	n := 0
	for i := range len(text) {
		if !isDigit(text[i]) {
			return 0
		}
		n = 10*n + int(text[i]-'0')
	}
	return n
}

// mappingMacro reads `mapping macro M { read {...} write {...} crash {...} }`,
// of which the last part may be absent.
func (p *parser) mappingMacro() *MappingMacro {
	start := p.start()
	p.advance()
	p.wantWord("macro", "after mapping")
	m := &MappingMacro{Name: p.name("the name of the mapping macro")}
	p.want("{", "after the name of the mapping macro")
	p.mapping = true
	p.earlyCrash(m)
	p.wantWord("read", "and its body first in a mapping macro")
	m.Read = p.body("")
	p.earlyCrash(m)
	p.wantWord("write", "and its body after the one of read")
	m.Write = p.body("")
	for p.crashAt() {
		if m.Crash != nil {
			p.crashOrder("a mapping macro has one crash part", "join the two")
		}
		p.advance()
		m.Crash = p.body("")
	}
	p.mapping = false
	p.want("}", "after the bodies of a mapping macro")
	m.place = p.since(start)
	p.got(";")
	return m
}

// crashAt reports whether the crash part of a mapping macro is next.
func (p *parser) crashAt() bool {
	return p.tok().is(kindIdent, "crash")
}

func (p *parser) crashOrder(message, repair string) {
	p.report(source.Diagnostic{Code: CrashOrder, Span: p.spanOf(p.tok()), Message: message, Repair: repair})
}

// earlyCrash reads a crash part before read or write, and reports the wrong
// order.
func (p *parser) earlyCrash(m *MappingMacro) {
	if p.crashAt() {
		p.crashOrder("the crash part of a mapping macro must come last, after read and write", "move it after the write part")
		p.advance()
		m.Crash = p.body("")
	}
}

// archetypeVariables reads `durable variables ...; variables ...;`, either of
// which may be absent.
func (p *parser) archetypeVariables(a *Archetype) {
	for !p.broken {
		switch {
		case p.tok().is(kindIdent, "durable"):
			what := ""
			switch {
			case len(a.Durable) > 0:
				what = "an archetype declares its durable variables once"
			case len(a.Variables) > 0:
				what = "the durable variables of an archetype must come before its other variables"
			}
			if what != "" {
				p.report(source.Diagnostic{Code: DurableOrder, Span: p.spanOf(p.tok()), Message: what,
					Repair: "move them; the order is durable variables, variables, body"})
			}
			p.advance()
			if !p.atWord("variable") && !p.atWord("variables") {
				p.unexpected(TokenExpected, "`variables` after durable", "write durable variables")
				return
			}
			a.Durable = append(a.Durable, p.plusVars(true)...)
		case len(a.Variables) == 0 && (p.atWord("variable") || p.atWord("variables")):
			a.Variables = p.plusVars(true)
		default:
			return
		}
	}
}

// archetype reads
// `archetype A(ref x[_], y) durable variables ...; variables ...; body`.
func (p *parser) archetype() *Archetype {
	start := p.start()
	p.advance()
	a := &Archetype{Name: p.name("the name of the archetype")}
	a.Params = p.paramList(true, "after the name of the archetype")
	p.archetypeVariables(a)
	a.Body = p.body("")
	a.place = p.since(start)
	p.got(";")
	return a
}

// durableAt reports whether token i is the `durable` before variables; it is an
// ordinary name elsewhere.
func (p *parser) durableAt(i int) bool {
	if !p.toks[i].is(kindIdent, "durable") || i+1 >= len(p.toks) {
		return false
	}
	next := &p.toks[i+1]
	return next.is(kindWord, "variables") || next.is(kindWord, "variable")
}

// noDurable reports `durable` before the variables of something that does not
// crash, and skips the word.
func (p *parser) noDurable(of string) {
	if !p.durableAt(p.i) {
		return
	}
	p.report(source.Diagnostic{
		Code: DurablePlace, Span: p.spanOf(p.tok()),
		Message: "only an archetype has durable variables, " + of + " has none: expected `variables`",
		Repair:  "remove durable, or declare the variables in an archetype of a Modular algorithm",
	})
	p.advance()
}
