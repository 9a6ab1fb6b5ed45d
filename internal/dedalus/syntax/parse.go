// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// Parse parses a program. If it adds errors to diags, the File has only the parts that it could
// parse, which is useful only for tools that inspect broken programs.
func Parse(f *source.File, diags *source.List) *File {
	if len(f.Text) > source.FileBytesMax {
		diags.Errorf(source.Span{File: f}, TooLong, "the file is longer than %d bytes", source.FileBytesMax)
		return &File{Source: f}
	}
	p := &parser{file: f, diags: diags, toks: lex(f, diags)}
	return p.program()
}

type parser struct {
	file  *source.File
	diags *source.List
	toks  []token
	at    int
	depth int
	// lost reports that there was an error, and no statement has begun since.
	lost bool
}

func (p *parser) peek() *token { return &p.toks[p.at] }

func (p *parser) next() *token {
	t := &p.toks[p.at]
	if t.kind != tokEnd {
		p.at++
	}
	return t
}

// is reports whether the next token is that word or symbol.
func (p *parser) is(text string) bool {
	t := p.peek()
	return (t.kind == tokSymbol || t.kind == tokName) && t.text == text
}

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(text string) bool {
	if p.accept(text) {
		return true
	}
	p.wanted("'" + text + "'")
	return false
}

// wanted reports, once for each statement, what was expected here, and possibly what to write
// instead.
func (p *parser) wanted(what string, repair ...string) {
	if p.lost {
		return
	}
	p.lost = true
	t := p.peek()
	found := "the end of the file"
	if t.kind != tokEnd {
		found = "'" + t.span.Text() + "'"
	}
	p.diags.Add(source.Diagnostic{Code: Expected, Span: t.span, Message: "expected " + what + ", found " + found, Repair: strings.Join(repair, "")})
}

func (p *parser) name(what string) Name {
	t := p.peek()
	if t.kind != tokName {
		p.wanted(what)
		return Name{Span: t.span}
	}
	p.next()
	return Name{t.text, t.span}
}

// until returns the span from a token to the last token read.
func (p *parser) until(start *token) source.Span {
	s := start.span
	if p.at > 0 && p.toks[p.at-1].span.End > s.Start {
		s.End = p.toks[p.at-1].span.End
	}
	return s
}

// comments returns the comments around the item that began with a token and has just ended.
func (p *parser) comments(start *token) Comments {
	c := Comments{Lead: start.lead, Blank: start.blank}
	if p.at > 0 {
		c.Trail = p.toks[p.at-1].trail
	}
	return c
}

// skip continues at a line that begins with a word of the list, or at a closing brace.
func (p *parser) skip(words []string) {
	p.lost = false
	for depth := 0; ; p.next() {
		t := p.peek()
		switch {
		case t.kind == tokEnd:
			return
		case t.kind == tokSymbol && t.text == "{":
			depth++
		case t.kind == tokSymbol && t.text == "}":
			if depth == 0 {
				return
			}
			depth--
		case depth == 0 && t.line && t.kind == tokName && slices.Contains(words, t.text):
			return
		}
	}
}

func (p *parser) program() *File {
	f := &File{Source: p.file, Lead: p.peek().lead}
	if p.expect("program") {
		f.Name = p.name("the program's name")
	}
	items := []string{"fn", "component", "deploy", "assume"}
	if p.lost {
		p.skip(items)
	}
	for p.peek().kind != tokEnd {
		before := p.at
		if item := p.item(); !p.lost {
			f.Items = append(f.Items, item)
		} else {
			if p.at == before {
				p.next()
			}
			p.skip(items)
			p.accept("}")
		}
	}
	f.Last = p.peek().lead
	return f
}

func (p *parser) item() Item {
	start := p.peek()
	var i Item
	switch {
	case p.accept("fn"):
		i.Function = p.function()
	case p.accept("component"):
		i.Component = p.component()
	case p.accept("deploy"):
		i.Deploy = p.deploy()
	case p.accept("assume"):
		i.Assume = &Assume{p.name("'collected', 'growing' or 'timely'"), p.name("a relation")}
	default:
		p.wanted("'fn', 'component', 'deploy' or 'assume'")
	}
	i.Span, i.Comments = p.until(start), p.comments(start)
	return i
}

func (p *parser) function() *Function {
	f := &Function{Name: p.name("the function's name")}
	f.Params = p.columns()
	p.expect("->")
	f.Result = p.typ()
	switch {
	case p.accept("="):
		f.Body = p.term()
	case p.accept("from"):
		f.From = p.primary()
	default:
		p.wanted("'=' and a term, or 'from' and a Go function")
	}
	return f
}

func (p *parser) deploy() *Deploy {
	d := &Deploy{}
	p.expect("{")
	for !p.lost && !p.is("}") {
		s := Size{Component: p.name("a component")}
		p.expect(":")
		s.Count = p.count("the number of instances")
		d.Sizes = append(d.Sizes, s)
		if !p.accept(",") {
			break
		}
	}
	if !p.accept("}") {
		p.wanted("',' or '}'")
	}
	return d
}

func (p *parser) component() *Component {
	c := &Component{Name: p.name("the component's name"), Times: 1}
	if p.accept("of") {
		c.Of = p.name("the component of which it is a piece")
	}
	if p.accept("times") {
		c.Times = p.count("the number of partitions")
	}
	p.expect("{")
	for !p.lost && !p.is("}") && p.peek().kind != tokEnd {
		before := p.at
		s := p.statement()
		if !p.lost {
			c.Statements = append(c.Statements, s)
			p.accept(";")
			if !p.lost && !p.is("}") && !p.peek().line && p.toks[p.at-1].text != ";" {
				p.wanted("the end of the line")
			}
		}
		if p.lost {
			if p.at == before {
				p.next()
			}
			p.skip(statementWords())
		}
	}
	c.Last = p.peek().lead
	p.expect("}")
	return c
}

func statementWords() []string {
	return append(relationWords(), "sync", "next", "async", "component", "deploy", "fn", "assume")
}

func relationWords() []string {
	return []string{"input", "output", "table", "log", "var", "durable", "static", "timer"}
}

func (p *parser) statement() Statement {
	start := p.peek()
	var s Statement
	switch t := start; {
	case t.kind != tokName:
		p.wanted("a declaration or a rule")
	case t.text == "sync" || t.text == "next" || t.text == "async":
		p.next()
		s.Rule = p.rule(t.text)
	case t.text == "log" && p.logRule():
		p.next()
		s.Rule = p.rule("log")
	case slices.Contains(relationWords(), t.text):
		p.next()
		s.Relation = p.relation(t.text)
	default:
		s.Rule = p.rule("")
	}
	s.Span, s.Comments = p.until(start), p.comments(start)
	return s
}

// logRule reports whether a statement that begins with "log" is a rule: an arrow follows its
// brackets.
func (p *parser) logRule() bool {
	depth := 0
	for _, t := range p.toks[p.at+1:] {
		if t.kind != tokSymbol {
			if t.kind == tokEnd || (depth == 0 && t.line) {
				return false
			}
			continue
		}
		switch t.text {
		case "(":
			depth++
		case ")":
			depth--
		case "<-":
			return true
		case "{", "}":
			return false
		}
	}
	return false
}

func (p *parser) relation(word string) *Relation {
	r := &Relation{Word: word, Name: p.name("the relation's name")}
	if word == "timer" {
		if p.is("(") {
			p.wanted("'every'", "a timer has no columns; write timer "+r.Name.Text+" every 100ms")
		}
		p.expect("every")
		t := p.next()
		r.Every = Name{t.text, t.span}
		return r
	}
	r.Columns = p.columns()
	if (word == "table" || word == "log") && p.accept("delete") {
		p.expect("when")
		r.Delete = p.body()
	}
	if word != "static" {
		return r
	}
	if p.accept("=") {
		switch {
		case p.accept("nodes"):
			r.Nodes = p.name("a component")
		case p.accept("size"):
			r.Size = p.name("a component")
		default:
			r.HasFacts = true
			r.Facts = p.facts()
		}
	}
	for p.is("fd") {
		start := p.next()
		var d Dependency
		for !p.lost && !p.is("->") {
			d.From = append(d.From, p.name("a column"))
		}
		p.expect("->")
		d.To = p.name("a column")
		d.Span = p.until(start)
		r.Deps = append(r.Deps, d)
	}
	return r
}

func (p *parser) facts() [][]*Term {
	var rows [][]*Term
	if !p.accept("{") {
		p.wanted("'nodes', 'size' or '{'", "write facts as { (1), (2) }")
		return nil
	}
	for !p.lost && !p.is("}") {
		rows = append(rows, p.terms())
		if !p.accept(",") {
			break
		}
	}
	p.expect("}")
	return rows
}

// terms parses terms in brackets.
func (p *parser) terms() []*Term {
	var ts []*Term
	p.expect("(")
	for !p.lost && !p.is(")") {
		ts = append(ts, p.term())
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return ts
}

func (p *parser) columns() []Column {
	var cols []Column
	p.expect("(")
	for !p.lost && !p.is(")") {
		c := Column{Name: p.name("a column's name")}
		p.expect(":")
		switch {
		case p.is("max") || p.is("min"):
			c.Lattice = p.next().text
			p.expect("<")
			c.Type = p.typ()
			p.expect(">")
		case p.is("or"):
			c.Lattice, c.Type = "or", &Type{Name: "bool", Span: p.next().span}
		default:
			c.Type = p.typ()
			if p.accept("lattice") {
				c.Lattice = "set"
			}
		}
		cols = append(cols, c)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return cols
}

func (p *parser) typ() *Type {
	start := p.peek()
	if !p.deeper() {
		return &Type{Span: start.span}
	}
	defer func() { p.depth-- }()
	t := &Type{Name: p.name("a type").Text}
	if t.Name == "set" {
		p.expect("<")
		t.Elem = p.typ()
		p.expect(">")
	}
	t.Span = p.until(start)
	return t
}

func (p *parser) deeper() bool {
	if p.depth++; p.depth > DepthMax {
		if !p.lost {
			p.diags.Errorf(p.peek().span, TooDeep, "nested more than %d times", DepthMax)
		}
		p.lost = true
		p.depth--
		return false
	}
	return true
}

func (p *parser) rule(word string) *Rule {
	r := &Rule{Word: word, Head: p.name("the relation of the head")}
	if p.accept("@") {
		r.Dest = p.destination()
	}
	r.Args = p.headArgs()
	arrows := map[string]string{":-": "sync", ":+": "next", ":~": "async"}
	if w := arrows[p.peek().text]; word == "" && w != "" {
		p.next()
		r.Word, r.Arrow = w, true
	} else if p.is("@") {
		p.wanted("'<-'", "write the node before the arguments: "+r.Head.Text+"@node(...)")
	} else if word == "" {
		p.wanted("':-', ':+' or ':~', or 'sync', 'next' or 'async' before the head")
	} else {
		p.expect("<-")
	}
	r.Body = p.body()
	return r
}

// destination parses a variable, a node, or any term in brackets: a name before the arguments
// of the head is not a call.
func (p *parser) destination() *Term {
	t := p.peek()
	if t.kind == tokName && !(t.text == "node" && p.toks[p.at+1].kind == tokString) {
		p.next()
		return &Term{Text: t.text, Span: t.span}
	}
	return p.primary()
}

func (p *parser) headArgs() []HeadArg {
	var args []HeadArg
	p.expect("(")
	for !p.lost && !p.is(")") {
		var a HeadArg
		t := p.peek()
		if t.kind == tokName && slices.Contains(aggregateWords(), t.text) && p.toks[p.at+1].text == "<" {
			a.Aggregate = Name{t.text, t.span}
			p.next()
			p.next()
			a.Terms = append(a.Terms, p.primary())
			for p.accept(",") {
				a.Terms = append(a.Terms, p.primary())
			}
			p.expect(">")
		} else {
			a.Terms = []*Term{p.term()}
		}
		args = append(args, a)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return args
}

func aggregateWords() []string {
	return []string{"count", "sum", "min", "max", "choose", "index", "collect"}
}

func (p *parser) body() []Literal {
	var body []Literal
	for !p.lost {
		body = append(body, p.literal())
		if !p.accept(",") {
			break
		}
	}
	return body
}

// nameSpan returns the place of a call's name.
func (t *Term) nameSpan() source.Span {
	s := t.Span
	s.End = s.Start + int32(len(t.Text))
	return s
}
