// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// FileBytesMax is the size of the largest configuration that is read. The
// largest real ones have a few thousand bytes.
const FileBytesMax = 1 << 20

type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenName             // Spec, M!Inv, v1, \prec, +
	tokenNumber           // 17
	tokenString           // "a", text holds the unescaped string
	tokenPunct            // = <- { } ( ) [ ] << >> |-> ,
	tokenBad              // already reported
)

type token struct {
	kind tokenKind
	text string
	span source.Span
}

// is reports whether the token is the given punctuation.
func (t token) is(punct string) bool { return t.kind == tokenPunct && t.text == punct }

// puncts is in matching order: longer ones come first.
var puncts = [...]string{"|->", "<<", ">>", "<-", "=", "{", "}", "(", ")", "[", "]", ","}

// byteOrderMark is written by some editors at the start of a file.
const byteOrderMark = "\ufeff"

// circled are the operators with parentheses in their names.
var circled = [...]string{"(+)", "(-)", "(.)", "(/)", `(\X)`}

// operatorChars are the characters of an operator's name in an override: "+ <-
// Plus".
const operatorChars = "+-*/^&|<>=#$%?@:.~!"

type scanner struct {
	file  *source.File
	text  string
	at    int
	diags *source.List
	out   []token
}

// scan splits the file into tokens; the last one is a tokenEnd.
func scan(f *source.File, diags *source.List) []token {
	s := &scanner{file: f, text: string(f.Text), diags: diags}
	if len(s.text) > FileBytesMax {
		diags.Add(source.Diagnostic{Code: FileTooLarge, Span: s.span(0, 0),
			Message: "the configuration is larger than 1 MiB",
			Repair:  "check that the file is a configuration; define large constants in a module and write C <- Def"})
		s.text = ""
	}
	if strings.HasPrefix(s.text, byteOrderMark) {
		s.at = len(byteOrderMark)
	}
	for s.skipBlank(); s.at < len(s.text); s.skipBlank() {
		s.next()
	}
	s.out = append(s.out, token{kind: tokenEnd, span: s.span(len(s.text), len(s.text))})
	return s.out
}

func (s *scanner) span(from, to int) source.Span {
	return source.Span{File: s.file, Start: int32(from), End: int32(to)}
}

func (s *scanner) emit(kind tokenKind, from int, text string) {
	s.out = append(s.out, token{kind: kind, text: text, span: s.span(from, s.at)})
}

// skipBlank skips white space and comments.
func (s *scanner) skipBlank() {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch {
		case strings.IndexByte(" \t\r\n\f", rest[0]) >= 0:
			s.at++
		case strings.HasPrefix(rest, "\\*"):
			if end := strings.IndexByte(rest, '\n'); end >= 0 {
				s.at += end
			} else {
				s.at = len(s.text)
			}
		case strings.HasPrefix(rest, "(*"):
			s.skipComment()
		default:
			return
		}
	}
}

// skipComment skips a comment in (* and *). Such comments nest.
func (s *scanner) skipComment() {
	start, depth := s.at, 0
	for s.at < len(s.text) {
		switch rest := s.text[s.at:]; {
		case strings.HasPrefix(rest, "(*"):
			depth++
			s.at += 2
		case strings.HasPrefix(rest, "*)"):
			depth--
			s.at += 2
			if depth == 0 {
				return
			}
		default:
			s.at++
		}
	}
	s.diags.Add(source.Diagnostic{Code: UnterminatedComment, Span: s.span(start, start+2),
		Message: "the comment is not closed", Repair: "write *) where it ends"})
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// next scans one token; the current character must not be blank.
func (s *scanner) next() {
	start := s.at
	c := s.text[s.at]
	switch {
	case isLetter(c) || isDigit(c):
		s.nameOrNumber()
		return
	case c == '"':
		s.quoted()
		return
	case c == '\\' && s.at+1 < len(s.text) && isLetter(s.text[s.at+1]):
		s.at++
		for s.at < len(s.text) && isLetter(s.text[s.at]) {
			s.at++
		}
		s.emit(tokenName, start, s.text[start:s.at])
		return
	case c == '-' && s.at+1 < len(s.text) && isDigit(s.text[s.at+1]):
		s.at++
		for s.at < len(s.text) && isDigit(s.text[s.at]) {
			s.at++
		}
		s.emit(tokenNumber, start, s.text[start:s.at])
		return
	}
	for _, op := range circled {
		if strings.HasPrefix(s.text[s.at:], op) {
			s.at += len(op)
			s.emit(tokenName, start, op)
			return
		}
	}
	for _, p := range puncts {
		if strings.HasPrefix(s.text[s.at:], p) {
			s.at += len(p)
			s.emit(tokenPunct, start, p)
			return
		}
	}
	for s.at < len(s.text) && strings.IndexByte(operatorChars, s.text[s.at]) >= 0 &&
		!strings.HasPrefix(s.text[s.at:], "<-") {
		s.at++
	}
	if s.at > start {
		s.emit(tokenName, start, s.text[start:s.at])
		return
	}
	s.at++
	for s.at < len(s.text) && s.text[s.at]&0xC0 == 0x80 {
		s.at++
	}
	repair := ""
	if c == ';' {
		repair = "remove it"
	}
	s.diags.Add(source.Diagnostic{Code: UnexpectedCharacter, Span: s.span(start, s.at), Repair: repair,
		Message: "this character has no meaning in a configuration"})
	s.emit(tokenBad, start, "")
}

// nameOrNumber scans letters and digits, and "!" between two names.
func (s *scanner) nameOrNumber() {
	start := s.at
	for {
		for s.at < len(s.text) && (isLetter(s.text[s.at]) || isDigit(s.text[s.at])) {
			s.at++
		}
		if s.at+1 < len(s.text) && s.text[s.at] == '!' && isLetter(s.text[s.at+1]) {
			s.at++
			continue
		}
		break
	}
	word := s.text[start:s.at]
	if strings.Trim(word, "0123456789") == "" {
		s.emit(tokenNumber, start, word)
		return
	}
	s.emit(tokenName, start, word)
}

// quoted scans a string.
func (s *scanner) quoted() {
	start := s.at
	var b strings.Builder
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case '"':
			s.at++
			s.emit(tokenString, start, b.String())
			return
		case '\n':
			s.unterminated(start)
			return
		case '\\':
			if s.at+1 >= len(s.text) {
				s.at++
				s.unterminated(start)
				return
			}
			s.at++
			i := strings.IndexByte(`"\ntrf`, s.text[s.at])
			if i < 0 {
				s.diags.Add(source.Diagnostic{Code: UnknownEscape, Span: s.span(s.at-1, s.at+1),
					Message: "unknown escape in a string", Repair: `the escapes are \" \\ \n \t \r \f`})
				s.at-- // the character may be the line's end or a quote's first byte
				continue
			}
			b.WriteByte("\"\\\n\t\r\f"[i])
		default:
			b.WriteByte(c)
		}
	}
	s.unterminated(start)
}

func (s *scanner) unterminated(start int) {
	s.diags.Add(source.Diagnostic{Code: UnterminatedString, Span: s.span(start, s.at),
		Message: "the string is not closed on its line", Repair: `write " where it ends`})
	s.emit(tokenBad, start, "")
}
