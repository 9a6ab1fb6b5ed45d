// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"unicode/utf8"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// kind classifies tokens.
type kind uint8

const (
	kindEOF   kind = iota
	kindStop       // no token: the parser is unwinding from an error
	kindDent       // no token: the next one is to the left of the current bullet
	kindBad        // a lexical error; text is its code
	kindIdent      // text is the name
	kindWord       // a word of TLA+ in capitals, or of PlusCal inside an algorithm
	kindNumber
	kindString
	kindOp    // text is canonical
	kindPunct // text is canonical
	kindRule  // ----
	kindEnd   // ====
	kindStep  // <1> <*> <+> in a proof; text is the part inside
)

// token is one token and its place.
type token struct {
	kind       kind
	first      bool  // it is the first of its line
	start, end int32 // bytes in the file
	column     int32 // from 1, in code points; a tab goes to the next multiple of 8
	text       string
}

func (t *token) is(k kind, text string) bool { return t.kind == k && t.text == text }

// dialect selects the set of reserved words.
type dialect uint8

const (
	plainTLA dialect = iota
	plusCal
	modularPlusCal
)

// tabColumns is the distance between tab stops. It is the same as in other TLA+
// tools, because bullets are aligned by column.
const tabColumns = 8

// scanner splits a stretch of a file into tokens, all at once. It skips
// comments and records where one contains an algorithm.
type scanner struct {
	file    *source.File
	text    []byte // file.Text up to the end of the stretch
	pos     int
	column  int // of pos, from 0
	first   bool
	dialect dialect
	skip    []*Region // regions whose inner text is not read
	words   map[string]string
	tokens  []token
	heads   []algorithmHead
}

// algorithmHead is a place where an algorithm may start.
type algorithmHead struct {
	start   int // of the two dashes
	after   int // where the name is expected
	end     int // where the enclosing comment closes
	modular bool
	fair    bool
}

// TokensMax is the maximum number of tokens in a stretch. It limits the memory
// that the parser needs for a large file; real modules have far fewer tokens.
const TokensMax = 2_000_000

// full reports whether there are too many tokens. If so, it appends a final
// token that reports it.
func (s *scanner) full() bool {
	if len(s.tokens) < TokensMax {
		return false
	}
	here := token{start: int32(s.pos), end: int32(s.pos), column: int32(s.column + 1)}
	here.kind, here.text = kindBad, string(FileTooLarge)
	s.tokens = append(s.tokens, here, token{kind: kindEOF, start: here.start, end: here.end})
	return true
}

// scanModule reads from the header at start to the end of the outermost
// module, or to the end of the file.
func (s *scanner) scanModule(start int) {
	s.seek(start)
	depth := 0
	for !s.full() {
		t := s.next()
		s.tokens = append(s.tokens, t)
		switch {
		case t.kind == kindEOF:
			return
		case t.is(kindWord, "MODULE") && len(s.tokens) > 1 && s.tokens[len(s.tokens)-2].kind == kindRule:
			depth++
		case t.kind == kindEnd:
			if depth--; depth <= 0 {
				s.tokens = append(s.tokens, token{kind: kindEOF, start: int32(s.pos), end: int32(s.pos)})
				return
			}
		}
	}
}

// scanAll reads from start to the end of the stretch.
func (s *scanner) scanAll(start int) {
	s.seek(start)
	for !s.full() {
		t := s.next()
		s.tokens = append(s.tokens, t)
		if t.kind == kindEOF {
			return
		}
	}
}

// seek goes to an offset in the middle of the text and computes its column.
func (s *scanner) seek(offset int) {
	line := offset
	for line > 0 && s.text[line-1] != '\n' {
		line--
	}
	s.pos, s.column, s.first = line, 0, true
	for s.pos < offset {
		if c := s.text[s.pos]; c != ' ' && c != '\t' && c != '\r' {
			s.first = false
		}
		s.step()
	}
}

// step moves over one byte and keeps the column.
func (s *scanner) step() {
	switch c := s.text[s.pos]; {
	case c == '\n':
		s.column, s.first = 0, true
	case c == '\t':
		s.column += tabColumns - s.column%tabColumns
	case c&0xC0 != 0x80: // not a continuation byte of UTF-8
		s.column++
	}
	s.pos++
}

// at returns the byte at distance n, 0 outside the stretch.
func (s *scanner) at(n int) byte {
	if s.pos+n < len(s.text) {
		return s.text[s.pos+n]
	}
	return 0
}

// bad makes a token for a lexical error from start to here.
func (s *scanner) bad(t token, code source.Code) token {
	t.kind, t.text, t.end = kindBad, string(code), int32(s.pos)
	return t
}

// next returns the next token.
func (s *scanner) next() token {
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
			s.step()
			s.skipRegions()
		case c == '\\' && s.at(1) == '*':
			for s.pos < len(s.text) && s.text[s.pos] != '\n' {
				s.step()
			}
		case c == '(' && s.at(1) == '*':
			t := token{start: int32(s.pos), column: int32(s.column + 1), first: s.first}
			first := s.first
			if !s.comment() {
				t.end = t.start + 2
				t.kind, t.text = kindBad, string(UnterminatedComment)
				return t
			}
			// A comment before a bullet does not change whether the bullet is
			// first on its line.
			s.first = s.first || first
		default:
			return s.token()
		}
	}
	return token{kind: kindEOF, start: int32(s.pos), end: int32(s.pos), first: true}
}

// skipRegions skips the inner text of a region that must not be read.
func (s *scanner) skipRegions() {
	for _, r := range s.skip {
		if s.pos == int(r.Inner.Start) && s.pos < int(r.Inner.End) {
			s.pos = min(int(r.Inner.End), len(s.text))
		}
	}
}

// comment skips a block comment with everything inside it, and records the
// algorithms that start in it. It returns false at the end of the text.
func (s *scanner) comment() bool {
	depth := 0
	type open struct{ head, depth int }
	var heads []open // indices of s.heads whose comment is still open
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == '(' && s.at(1) == '*':
			depth++
			s.step()
			s.step()
		case c == '*' && s.at(1) == ')':
			for len(heads) > 0 && heads[len(heads)-1].depth == depth {
				s.heads[heads[len(heads)-1].head].end = s.pos
				heads = heads[:len(heads)-1]
			}
			depth--
			s.step()
			s.step()
			if depth == 0 {
				return true
			}
		case c == '-' && s.at(1) == '-' && (s.pos == 0 || s.text[s.pos-1] != '-'):
			if h, ok := algorithmHeadAt(s.text, s.pos); ok && len(s.heads) < algorithmHeadsMax {
				h.end = len(s.text)
				heads = append(heads, open{len(s.heads), depth})
				s.heads = append(s.heads, h)
			}
			s.step()
			s.step()
		default:
			s.step()
		}
	}
	return false
}

// token reads a token that starts here.
func (s *scanner) token() token {
	t := token{start: int32(s.pos), column: int32(s.column + 1), first: s.first}
	s.first = false
	c := s.text[s.pos]
	switch {
	case isNameByte(c):
		s.word(&t)
		return t
	case c == '"':
		return s.str(t)
	case c == '\\':
		return s.backslash(t)
	case c == '-' && s.run('-') >= 4:
		return s.take(t, kindRule, s.run('-'), "----")
	case c == '=' && s.run('=') >= 4:
		return s.take(t, kindEnd, s.run('='), "====")
	case c == '<':
		if n := s.stepMark(); n > 0 {
			return s.take(t, kindStep, n, string(s.text[s.pos+1:s.pos+n-1]))
		}
	case c == '.' && isDigit(s.at(1)) && !s.afterOperand():
		s.number(&t)
		return t
	case c == '$' && s.dialect == modularPlusCal:
		n := 1
		for isNameByte(s.at(n)) {
			n++
		}
		if name := string(s.text[s.pos : s.pos+n]); name == "$variable" || name == "$value" {
			return s.take(t, kindWord, n, name)
		}
	case c >= utf8.RuneSelf:
		return s.unicode(t)
	}
	for n := min(symbolBytesMax, len(s.text)-s.pos); n > 0; n-- {
		if sym, ok := symbols[string(s.text[s.pos:s.pos+n])]; ok {
			return s.take(t, sym.kind, n, sym.text)
		}
	}
	s.step()
	return s.bad(t, BadCharacter)
}

// take makes a token of the next n bytes.
func (s *scanner) take(t token, k kind, n int, text string) token {
	for range n {
		s.step()
	}
	t.kind, t.end, t.text = k, int32(s.pos), text
	return t
}

// run counts how often c is repeated at the current position.
func (s *scanner) run(c byte) int {
	n := 0
	for s.at(n) == c {
		n++
	}
	return n
}

// stepMark returns the length of <1>, <*> or <+> here, 0 if there is none.
func (s *scanner) stepMark() int {
	n := 1
	if c := s.at(1); c == '*' || c == '+' {
		n = 2
	} else {
		for isDigit(s.at(n)) {
			n++
		}
	}
	if n > 1 && s.at(n) == '>' && s.at(n+1) != '>' {
		return n + 1
	}
	return 0
}

// afterOperand reports whether a point here selects from the operand before it.
func (s *scanner) afterOperand() bool {
	if s.pos == 0 {
		return false
	}
	c := s.text[s.pos-1]
	return isNameByte(c) || c == ')' || c == ']' || c == '}' || c == '\'' || c == '>' || c == '.' || c == '!'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isNameByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }

// word reads an identifier, a reserved word, a number or an underscore.
func (s *scanner) word(t *token) {
	letters, digits := 0, 0
	n := 0
	for ; isNameByte(s.at(n)); n++ {
		if c := s.at(n); isDigit(c) {
			digits++
		} else if c != '_' {
			letters++
		}
		if n == 2 && s.at(2) == '_' && s.at(1) == 'F' && (s.at(0) == 'W' || s.at(0) == 'S') {
			*t = s.take(*t, kindWord, 3, string(s.text[s.pos:s.pos+3]))
			return
		}
	}
	switch {
	case digits == n:
		s.number(t)
		return
	case letters == 0 && n == 1:
		*t = s.take(*t, kindPunct, 1, "_")
		return
	case letters == 0:
		// The word consists only of underscores and digits. It is not a name,
		// whatever the user meant.
		*t = s.take(*t, kindBad, n, string(BadCharacter))
		return
	}
	text := s.intern(s.text[s.pos : s.pos+n])
	k := kindIdent
	if isReserved(text) ||
		s.dialect >= plusCal && isAlgorithmWord(text) ||
		s.dialect == modularPlusCal && isModularWord(text) {
		k = kindWord
	}
	*t = s.take(*t, k, n, text)
}

// intern keeps one string per different name.
func (s *scanner) intern(b []byte) string {
	if w, ok := s.words[string(b)]; ok {
		return w
	}
	if s.words == nil {
		s.words = make(map[string]string)
	}
	w := string(b)
	s.words[w] = w
	return w
}

// number reads digits with an optional fraction.
func (s *scanner) number(t *token) {
	n := 0
	for isDigit(s.at(n)) {
		n++
	}
	if s.at(n) == '.' && isDigit(s.at(n+1)) {
		n++
		for isDigit(s.at(n)) {
			n++
		}
	}
	*t = s.take(*t, kindNumber, n, string(s.text[s.pos:s.pos+n]))
}

// str reads a string literal; the token's text is the value.
func (s *scanner) str(t token) token {
	var value []byte
	s.step()
	code := source.Code("")
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch c {
		case '\n', '\r':
			return s.bad(t, UnterminatedString)
		case '"':
			s.step()
			if code != "" {
				return s.bad(t, code)
			}
			t.kind, t.text, t.end = kindString, string(value), int32(s.pos)
			return t
		case '\\':
			e, ok := unescape(s.at(1))
			if !ok {
				code = BadEscape
			}
			s.step()
			if s.pos < len(s.text) && s.text[s.pos] != '\n' && s.text[s.pos] != '\r' {
				value = append(value, e)
				s.step()
			}
		default:
			value = append(value, c)
			s.step()
		}
	}
	return s.bad(t, UnterminatedString)
}

func unescape(c byte) (byte, bool) {
	switch c {
	case '"', '\\':
		return c, true
	case 't':
		return '\t', true
	case 'n':
		return '\n', true
	case 'f':
		return '\f', true
	case 'r':
		return '\r', true
	}
	return c, false
}

// backslash reads \in, \/, \, or a number such as \b101.
func (s *scanner) backslash(t token) token {
	if s.at(1) == '/' {
		return s.take(t, kindOp, 2, `\/`)
	}
	if n := s.based(); n > 0 {
		return s.take(t, kindNumber, n, string(s.text[s.pos:s.pos+n]))
	}
	n := 1
	for isLetter(s.at(n)) {
		n++
	}
	// The longest spelling that is a symbol wins: `\Ax` is `\A` and `x`.
	for ; n > 1; n-- {
		if sym, ok := symbols[string(s.text[s.pos:s.pos+n])]; ok {
			return s.take(t, sym.kind, n, sym.text)
		}
	}
	if isLetter(s.at(1)) {
		s.step()
		for s.pos < len(s.text) && isLetter(s.text[s.pos]) {
			s.step()
		}
		return s.bad(t, BadCharacter)
	}
	return s.take(t, kindOp, 1, `\`)
}

// based returns the length of a number with a base prefix here, or 0.
func (s *scanner) based() int {
	var ok func(c byte) bool
	switch s.at(1) {
	case 'b', 'B':
		ok = func(c byte) bool { return c == '0' || c == '1' }
	case 'o', 'O':
		ok = func(c byte) bool { return '0' <= c && c <= '7' }
	case 'h', 'H':
		ok = func(c byte) bool { return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }
	default:
		return 0
	}
	n := 2
	for ok(s.at(n)) {
		n++
	}
	if n == 2 {
		return 0
	}
	return n
}

// unicode reads a symbol outside ASCII, or a name such as ℕ.
func (s *scanner) unicode(t token) token {
	_, n := utf8.DecodeRune(s.text[s.pos:])
	text := string(s.text[s.pos : s.pos+n])
	switch text {
	case "ℕ":
		return s.take(t, kindIdent, n, "Nat")
	case "ℤ":
		return s.take(t, kindIdent, n, "Int")
	case "ℝ":
		return s.take(t, kindIdent, n, "Real")
	case "⟩", "〉":
		if s.at(n) == '_' {
			return s.take(t, kindPunct, n+1, ">>_")
		}
	}
	if sym, ok := symbols[text]; ok {
		return s.take(t, sym.kind, n, sym.text)
	}
	for range n {
		s.step()
	}
	return s.bad(t, BadCharacter)
}
