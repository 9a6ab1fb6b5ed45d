// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ashlar-dev/ashlar/internal/source"
)

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokName
	tokNumber
	tokString // with its value unquoted
	tokBytes
	tokDuration
	tokSymbol
)

type token struct {
	kind tokenKind
	// text is the name, symbol or number, or the value of a string.
	text string
	span source.Span
	// line reports that only space and comments precede it in its line.
	line bool
	// blank reports that an empty line precedes it or its comments.
	blank bool
	// lead are the comments in lines of their own before it, and trail is the one that
	// follows it in its line.
	lead  []string
	trail string
}

// lexer cuts a file into tokens.
type lexer struct {
	file  *source.File
	text  []byte
	at    int
	diags *source.List
	out   []token
}

// symbols, longest first.
func symbols() []string {
	return []string{"<-", ":-", ":+", ":~", ":=", "->", "==", "!=", "<=", ">=",
		"(", ")", "{", "}", "<", ">", ",", ":", ";", "@", "=", "+", "-", "*", "/", "%", "_", "!"}
}

func lex(f *source.File, diags *source.List) []token {
	l := &lexer{file: f, text: f.Text, diags: diags}
	all := symbols()
	var lead []string
	line, blank, newlines := true, false, 0
	for {
		start := l.at
		if c, ok := l.comment(); ok {
			if !line && len(l.out) > 0 {
				l.out[len(l.out)-1].trail = c
			} else {
				lead = append(lead, c)
				blank = blank || (newlines > 1 && len(lead) == 1)
			}
			newlines = 0
			continue
		}
		if l.at < len(l.text) && isSpace(l.text[l.at]) {
			if l.text[l.at] == '\n' {
				line = true
				newlines++
			}
			l.at++
			continue
		}
		t := l.token(all)
		t.line, t.lead, t.blank = line, lead, blank || (newlines > 1 && len(lead) == 0)
		t.span = l.span(start)
		lead, line, blank, newlines = nil, false, false, 0
		l.out = append(l.out, t)
		if t.kind == tokEnd {
			return l.out
		}
	}
}

// span returns the span from start to the current place. A file has at most source.FileBytesMax bytes.
func (l *lexer) span(start int) source.Span {
	return source.Span{File: l.file, Start: int32(start), End: int32(l.at)}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// comment reads a comment up to the end of its line, and returns it without its mark.
func (l *lexer) comment() (string, bool) {
	rest := l.text[l.at:]
	mark := 0
	switch {
	case len(rest) > 0 && rest[0] == '#':
		mark = 1
	case len(rest) > 1 && rest[0] == '/' && rest[1] == '/':
		mark = 2
	default:
		return "", false
	}
	end := bytes.IndexByte(rest, '\n')
	if end < 0 {
		end = len(rest)
	}
	l.at += end
	return strings.TrimRight(string(rest[mark:end]), " \t\r"), true
}

func (l *lexer) token(all []string) token {
	if l.at >= len(l.text) {
		return token{kind: tokEnd}
	}
	start := l.at
	c := l.text[l.at]
	switch {
	case c == '"' || (c == 'b' && l.at+1 < len(l.text) && l.text[l.at+1] == '"'):
		return l.quoted()
	case isLetter(c) || (c == '_' && l.at+1 < len(l.text) && isWord(l.text[l.at+1])):
		for l.at < len(l.text) && isWord(l.text[l.at]) {
			l.at++
		}
		return token{kind: tokName, text: string(l.text[start:l.at])}
	case isDigit(c):
		for l.at < len(l.text) && isWord(l.text[l.at]) {
			l.at++
		}
		text := string(l.text[start:l.at])
		if strings.Trim(text, "0123456789") == "" {
			return token{kind: tokNumber, text: text}
		}
		return token{kind: tokDuration, text: text}
	}
	for _, s := range all {
		if strings.HasPrefix(string(l.text[l.at:min(l.at+2, len(l.text))]), s) {
			l.at += len(s)
			return token{kind: tokSymbol, text: s}
		}
	}
	_, size := utf8.DecodeRune(l.text[l.at:])
	l.at += size
	span := l.span(start)
	l.diags.Errorf(span, BadCharacter, "unexpected character %q", l.text[start:l.at])
	return token{kind: tokSymbol, text: "?"}
}

// quoted reads a string in quotes, as in Go, within one line.
func (l *lexer) quoted() token {
	kind, start := tokString, l.at
	if l.text[l.at] == 'b' {
		kind = tokBytes
		l.at++
	}
	from := l.at
	for l.at++; l.at < len(l.text) && l.text[l.at] != '"' && l.text[l.at] != '\n'; l.at++ {
		if l.text[l.at] == '\\' {
			l.at++
		}
	}
	l.at = min(l.at+1, len(l.text))
	value, err := strconv.Unquote(string(l.text[from:l.at]))
	if err != nil {
		span := l.span(start)
		l.diags.Errorf(span, BadString, "malformed string; write it in double quotes, as in Go")
	}
	return token{kind: kind, text: value}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isWord(c byte) bool   { return isLetter(c) || isDigit(c) || c == '_' }
