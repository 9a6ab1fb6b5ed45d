// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"plain, ü, 世界\tand\nlines": "plain, ü, 世界\tand\nlines",
		"\x1b[2Jgone":              `\x1b[2Jgone`,
		"a\rb\x00c\x7f":            `a\x0db\x00c\x7f`,
		"\u0085 \u009b31m":         `\u0085 \u009b31m`,
		"x\u202ey\u2066":           `x\u202ey\u2066`,
		"\xff\xc3(":                `\xff\xc3(`,
		"\ufffd":                   "\ufffd",
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := Visible(string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")))
		if !utf8.ValidString(s) || strings.ContainsFunc(s, hidden) || Visible(s) != s {
			t.Fatalf("%q", s)
		}
	})
}

// TestPrintEscapes: what a source has cannot write over what a diagnostic says, and the
// carets are under what is shown.
func TestPrintEscapes(t *testing.T) {
	f := NewFile("a\x1b[1A.ded", []byte("x \x1b[2J\xffbad y\n"))
	var l List
	at := int32(strings.Index(string(f.Text), "bad"))
	l.Add(Diagnostic{Span: Span{File: f, Start: at, End: at + 3}, Code: "E1", Message: "no such \x1b[31mname", Repair: "say \x07this",
		Related: []Note{{Span: Span{File: f, Start: 0, End: 1}, Message: "\x9bhere"}}})
	want := `a\x1b[1A.ded:1:8: error: no such \x1b[31mname [E1]
    x \x1b[2J\xffbad y
                 ^^^
    repair: say \x07this
  a\x1b[1A.ded:1:1: \x9bhere
    x \x1b[2J\xffbad y
    ^
`
	var b strings.Builder
	l.Print(&b)
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
	if e := l.Error(); e != `a\x1b[1A.ded:1:8: error: no such \x1b[31mname [E1]` {
		t.Errorf("%q", e)
	}
}
