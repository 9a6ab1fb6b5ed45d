// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// How the parser works. First all tokens of a stretch of text are scanned. The
// parser is a recursive descent over them, with a stack for operators (see
// expr.go).
//
// After an error the parser reads nothing more until it recovers. Until then
// tok returns kindStop, which no rule accepts, so every rule returns at once
// with Bad nodes for missing parts. The rules for lists of units and of
// statements can resume; they call recover.
//
// A fence implements the rule for bulleted lists. While the parser reads an
// item of a list whose bullets are in column c, tok returns kindDent instead of
// any token in a column up to c, so every rule ends there. Brackets suspend the
// fence up to the closing bracket.

// parser holds the state of one stretch of text: the module, or an algorithm.
type parser struct {
	file  *source.File
	errs  *source.List
	toks  []token
	i     int
	match []int32 // of a bracket: the index of the other half, or -1
	arrow []bool  // of a [: |-> is directly inside

	broken  bool  // an error was reported and not yet recovered from
	fence   int32 // tokens in columns up to this one are out of reach
	guard   guard
	depth   int
	boundAt int // the first token of the innermost set that names range over, or -1

	ops  []pendingOp // operator stack, shared by nested expressions
	args []operand   // operand stack

	style     Style
	algorithm bool // inside an algorithm's statements: || and := end expressions
	mapping   bool // inside a mapping macro
	assignOp  bool // the module defines := as an operator
}

// guard is the bullet of the innermost list around the innermost bracket.
type guard struct {
	column int32
	fence  int32 // the fence outside the bracket
}

// stopToken and dentToken are returned by tok instead of a token. They are
// never changed.
var (
	stopToken = token{kind: kindStop}
	dentToken = token{kind: kindDent}
)

// newParser makes a parser over tokens that end in kindEOF.
func newParser(f *source.File, toks []token, errs *source.List) *parser {
	p := &parser{file: f, errs: errs, toks: toks, fence: -1, guard: guard{column: -1}, boundAt: -1}
	p.pairBrackets()
	return p
}

// pairBrackets finds the partner of every bracket and records which brackets
// directly contain |->. If brackets do not match, some have no partner.
func (p *parser) pairBrackets() {
	p.match = make([]int32, len(p.toks))
	p.arrow = make([]bool, len(p.toks))
	var stack []int32
	for i := range p.toks {
		p.match[i] = -1
		t := &p.toks[i]
		if t.kind != kindPunct {
			if t.kind == kindRule || t.kind == kindEnd {
				stack = stack[:0]
			}
			continue
		}
		switch t.text {
		case "(", "[", "{", "<<":
			if i == 0 || !p.toks[i-1].is(kindPunct, "!") || t.text == "(" || t.text == "[" {
				stack = append(stack, int32(i))
			}
		case "|->":
			if len(stack) > 0 {
				p.arrow[stack[len(stack)-1]] = true
			}
		case ")", "]", "]_", "}", ">>", ">>_":
			if i > 0 && p.toks[i-1].is(kindPunct, "!") {
				continue
			}
			stack = p.closeBracket(stack, int32(i))
		}
	}
}

// strayBracketsMax is the maximum number of unclosed brackets that a closing
// one may skip to find its partner.
const strayBracketsMax = 4

func (p *parser) closeBracket(stack []int32, i int32) []int32 {
	for n := 1; n <= len(stack) && n <= strayBracketsMax; n++ {
		open := stack[len(stack)-n]
		if closes(p.toks[open].text, p.toks[i].text) {
			p.match[open], p.match[i] = i, open
			return stack[:len(stack)-n]
		}
	}
	return stack
}

func closes(open, close string) bool {
	switch open {
	case "(":
		return close == ")"
	case "[":
		return close == "]" || close == "]_"
	case "{":
		return close == "}"
	}
	return close == ">>" || close == ">>_"
}

// ---------------------------------------------------------------------------
// Tokens

// tok is the next token if the parser may read it.
func (p *parser) tok() *token {
	if p.broken {
		return &stopToken
	}
	t := &p.toks[p.i]
	if t.column <= p.fence {
		return &dentToken
	}
	return t
}

// peek returns the n-th token after the next and ignores fences.
func (p *parser) peek(n int) *token {
	return p.token(p.i + n)
}

// advance skips the next token, which must not be the last.
func (p *parser) advance() {
	if p.i < len(p.toks)-1 {
		p.i++
	}
}

// at reports whether the next token is that punctuation.
func (p *parser) at(text string) bool { return p.tok().is(kindPunct, text) }

// atWord reports whether the next token is that word.
func (p *parser) atWord(word string) bool { return p.tok().is(kindWord, word) }

// atOp reports whether the next token is that operator.
func (p *parser) atOp(name string) bool { return p.tok().is(kindOp, name) }

// got skips the punctuation if it is next.
func (p *parser) got(text string) bool {
	if p.at(text) {
		p.advance()
		return true
	}
	return false
}

// gotWord skips the word if it is next.
func (p *parser) gotWord(word string) bool {
	if p.atWord(word) {
		p.advance()
		return true
	}
	return false
}

// want skips the punctuation or reports that it is missing.
func (p *parser) want(text, where string) bool {
	if p.got(text) || text == ":" && p.barMeant() {
		return !p.broken
	}
	p.unexpected(TokenExpected, fmt.Sprintf("`%s` %s", text, where), fmt.Sprintf("write `%s`", text))
	return false
}

// wantWord skips the word or reports that it is missing.
func (p *parser) wantWord(word, where string) bool {
	if p.gotWord(word) {
		return true
	}
	p.unexpected(TokenExpected, fmt.Sprintf("%s %s", word, where), "write "+word)
	return false
}

// start is where the next token starts; with since it makes spans.
func (p *parser) start() int32 { return p.toks[p.i].start }

// since is the span from start to the end of the last token read.
func (p *parser) since(start int32) place {
	end := start
	if p.i > 0 {
		end = max(end, p.toks[p.i-1].end)
	}
	return place{source.Span{File: p.file, Start: start, End: end}}
}

func (p *parser) spanOf(t *token) source.Span {
	return source.Span{File: p.file, Start: t.start, End: t.end}
}

// nameOf is the token as a name.
func (p *parser) nameOf(t *token) Name { return Name{place{p.spanOf(t)}, t.text} }

// name reads an identifier.
func (p *parser) name(what string) Name {
	t := p.tok()
	if t.kind == kindIdent {
		p.advance()
		return p.nameOf(t)
	}
	if t.kind == kindWord {
		p.fail(source.Diagnostic{
			Code: NameReserved, Span: p.spanOf(t),
			Message: fmt.Sprintf("expected %s, but `%s` is a reserved word", what, t.text),
			Repair:  "choose another name",
		})
		return Name{}
	}
	p.unexpected(NameExpected, what, "")
	return Name{}
}

// ---------------------------------------------------------------------------
// Errors

// fail reports d and stops reading until the next recover. Until then no other
// error is reported.
func (p *parser) fail(d source.Diagnostic) {
	if p.broken {
		return
	}
	p.errs.Add(d)
	p.broken = true
}

// report reports d and continues.
func (p *parser) report(d source.Diagnostic) {
	if !p.broken {
		p.errs.Add(d)
	}
}

// unexpected fails at the next token because another one was expected.
func (p *parser) unexpected(code source.Code, expected, repair string) {
	if p.broken {
		return
	}
	t := &p.toks[p.i]
	span := p.spanOf(t)
	if t.kind == kindBad {
		p.fail(p.lexical(t))
		return
	}
	if meant := p.habit(code, t); meant != "" {
		repair = meant
	}
	d := source.Diagnostic{Code: code, Span: span, Repair: repair}
	found := p.describe(t)
	if t.column <= p.fence && t.kind != kindEOF && t.kind != kindEnd {
		found += ", which is left of the list's bullets and so ends the list"
	}
	if t.kind == kindPunct && closesAny(t.text) && code == ExpressionExpected && p.match[p.i] < 0 {
		p.unmatched(t)
		return
	}
	d.Message = fmt.Sprintf("expected %s, found %s", expected, found)
	p.fail(d)
}

// unmatched fails because t closes a bracket that is not open.
func (p *parser) unmatched(t *token) {
	d := source.Diagnostic{
		Code: BracketUnmatched, Span: p.spanOf(t),
		Message: fmt.Sprintf("nothing is open that `%s` could close", t.text),
		Repair:  "remove it or open it before",
	}
	if star := p.before(1); t.text == ")" && star.is(kindOp, "*") && star.end == t.start {
		d.Span.Start = star.start
		d.Message, d.Repair = "no comment is open that `*)` could close", "remove it, or write (* where the comment starts"
	}
	p.fail(d)
}

func closesAny(text string) bool {
	switch text {
	case ")", "]", "]_", "}", ">>", ">>_":
		return true
	}
	return false
}

// describe names a token for a message.
func (p *parser) describe(t *token) string {
	switch t.kind {
	case kindEOF:
		if p.algorithm {
			return "the end of the comment"
		}
		return "the end of the text"
	case kindEnd:
		return "the end of the module"
	case kindRule:
		return "a line of dashes"
	case kindString:
		return "a string"
	case kindNumber:
		return "the number " + t.text
	}
	text := p.spanOf(t).Text()
	if len(text) > describeBytesMax {
		text = strings.ToValidUTF8(text[:describeBytesMax], "") + "..."
	}
	return "`" + text + "`"
}

// describeBytesMax is the number of bytes of a token that a message quotes.
const describeBytesMax = 40

// lexical is the diagnostic of a token that could not be read.
func (p *parser) lexical(t *token) source.Diagnostic {
	d := source.Diagnostic{Code: source.Code(t.text), Span: p.spanOf(t)}
	switch d.Code {
	case FileTooLarge:
		d.Message = fmt.Sprintf("the text continues after %d tokens, more than the tool accepts", TokensMax)
	case UnterminatedComment:
		d.Message, d.Repair = "this comment is not closed: expected *)", "write *)"
	case UnterminatedString:
		d.Message, d.Repair = "this string does not end on its line", `write " at its end`
	case BadEscape:
		d.Message = `a backslash in a string must be followed by one of " \ t n f r`
		d.Repair = `write \\ for a backslash`
	default:
		d.Message = p.describe(t) + " is not a symbol of the language"
		d.Repair = lookalike(d.Span.Text())
	}
	return d
}

// unclosed fails because the bracket opened by open is not closed here.
func (p *parser) unclosed(open *token, close string) {
	if p.broken {
		return
	}
	t := &p.toks[p.i]
	if t.kind == kindBad {
		p.fail(p.lexical(t))
		return
	}
	if open.text == "{" && p.barMeant() {
		return
	}
	p.fail(source.Diagnostic{
		Code: BracketUnclosed, Span: p.spanOf(t),
		Message: fmt.Sprintf("expected `%s`, found %s", close, p.describe(t)),
		Repair:  p.bracketRepair(open, t, close),
		Related: []source.Note{{Span: p.spanOf(open), Message: fmt.Sprintf("`%s` was opened here", open.text)}},
	})
}

// ---------------------------------------------------------------------------
// Brackets and depth

// bracket is what open saves for close.
type bracket struct {
	open  *token
	fence int32
	guard guard
}

// open skips an opening bracket, which must be next, and suspends the fence.
func (p *parser) open() bracket {
	b := bracket{open: p.tok(), fence: p.fence, guard: p.guard}
	closed := p.match[p.i] >= 0
	p.advance()
	if closed {
		// Between matching brackets, tokens may be in any column.
		p.guard.column = -1
	} else if p.fence >= 0 {
		p.guard.fence = p.fence
		p.guard.column = p.fence
	}
	p.fence = -1
	return b
}

// close skips one of the closing brackets and returns which one it was, or
// reports that the bracket is not closed.
func (p *parser) close(b bracket, texts ...string) string {
	got := ""
	for _, text := range texts {
		if p.got(text) {
			got = text
			break
		}
	}
	if got == "" {
		p.unclosed(b.open, texts[0])
	}
	p.fence, p.guard = b.fence, b.guard
	return got
}

// atGuard reports whether the next token is a bullet of the list that encloses
// the open bracket. If so, the bracket was not closed.
func (p *parser) atGuard() bool {
	t := p.tok()
	return t.kind == kindOp && t.first && t.column == p.guard.column && (t.text == `/\` || t.text == `\/`)
}

// enter enters one level of nesting; leave ends it. If enter fails, the caller
// must return at once without calling leave.
func (p *parser) enter() bool {
	if p.depth >= NestingMax {
		t := &p.toks[p.i]
		p.fail(source.Diagnostic{
			Code: NestingTooDeep, Span: p.spanOf(t),
			Message: fmt.Sprintf("nested more than %d levels deep", NestingMax),
			Repair:  "define parts of it separately",
		})
		return false
	}
	p.depth++
	return true
}

func (p *parser) leave() { p.depth-- }

// recover starts reading again at token i with no list or bracket open.
func (p *parser) recover(i int) {
	p.broken = false
	p.fence, p.guard = -1, guard{column: -1}
	p.ops, p.args = p.ops[:0], p.args[:0]
	p.boundAt = -1
	p.i = min(max(i, 0), len(p.toks)-1)
}
