// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
)

func TestPositionCountsCharacters(t *testing.T) {
	f := source.NewFile("a.tla", []byte("x ∈ S\r\n\ty == 1\nlast"))
	for _, c := range []struct {
		offset int
		want   string
	}{
		{0, "1:1"},
		{2, "1:3"},  // ∈ starts here
		{5, "1:4"},  // ... and is three bytes wide
		{9, "2:1"},  // the tab
		{10, "2:2"}, // y
		{17, "3:1"},
		{21, "3:5"},
		{99, "3:5"}, // past the end
		{-1, "1:1"},
	} {
		if got := f.Position(c.offset).String(); got != c.want {
			t.Errorf("Position(%d) = %s, want %s", c.offset, got, c.want)
		}
	}
	if got := f.Line(1); got != "x ∈ S" {
		t.Errorf("Line(1) = %q: the line end belongs to no line", got)
	}
	if got := f.Line(4); got != "" || f.Lines() != 3 {
		t.Errorf("Line(4) = %q of %d lines", got, f.Lines())
	}
}

func TestSpanJoin(t *testing.T) {
	f, g := source.NewFile("f", []byte("abcdef")), source.NewFile("g", []byte("abcdef"))
	a, b := source.Span{File: f, Start: 1, End: 2}, source.Span{File: f, Start: 4, End: 5}
	if got := b.Join(a).Text(); got != "bcde" {
		t.Errorf("Join = %q, want bcde", got)
	}
	if got := a.Join(source.Span{}); got != a {
		t.Errorf("joining no place moved the span: %v", got)
	}
	if got := a.Join(source.Span{File: g, Start: 0, End: 6}); got != a {
		t.Errorf("joining another file's span moved the span: %v", got)
	}
	if got := (source.Span{}).String(); got != "-" {
		t.Errorf("no place prints as %q", got)
	}
}

// The caret stands under the characters it means, whatever their width.
func TestPrintPutsTheCaretUnderTheSpan(t *testing.T) {
	f := source.NewFile("m.tla", []byte("\tA == 日本 + oops\nB == 2\n"))
	at := strings.Index(string(f.Text), "oops")
	d := source.Diagnostic{
		Code: "UnknownName", Span: source.Span{File: f, Start: int32(at), End: int32(at + 4)},
		Message: "oops is not defined", Repair: "define it, or EXTEND the module that does",
		Related: []source.Note{{Span: source.Span{File: f, Start: 20, End: 21}, Message: "did you mean B?"}},
	}
	var b strings.Builder
	d.Print(&b)
	want := "m.tla:1:12: error: oops is not defined [UnknownName]\n" +
		"    \tA == 日本 + oops\n" +
		"    \t            ^^^^\n" +
		"    repair: define it, or EXTEND the module that does\n" +
		"  m.tla:2:1: did you mean B?\n" +
		"    B == 2\n" +
		"    ^\n"
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

func TestPrintCutsLongLinesAndManyLines(t *testing.T) {
	f := source.NewFile("m", []byte(strings.Repeat("x", 1000)+"\nsecond"))
	d := source.Diagnostic{Span: source.Span{File: f, Start: 900, End: 1005}, Message: "far out"}
	var b strings.Builder
	d.Print(&b)
	for _, line := range strings.Split(b.String(), "\n") {
		if len(line) > 200 {
			t.Errorf("a line of %d characters was printed", len(line))
		}
	}
}

func TestListSortsCountsAndCaps(t *testing.T) {
	f := source.NewFile("m", []byte(strings.Repeat("a\n", 200)))
	at := func(i int32) source.Span { return source.Span{File: f, Start: i, End: i + 1} }
	var l source.List
	if l.Err() != nil {
		t.Error("an empty list is an error")
	}
	l.Warnf(at(8), "W", "only a warning")
	if l.Err() != nil || l.HasErrors() {
		t.Error("a warning made an error")
	}
	l.Errorf(at(4), "E", "second")
	l.Errorf(at(0), "E", "first")
	l.Errorf(at(0), "E", "first")
	if got, want := l.Error(), "m:1:1: error: first [E]\nm:3:1: error: second [E]\nm:5:1: warning: only a warning [W]"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	for i := range int32(100) {
		l.Errorf(at(i), "E", "one of many")
	}
	if l.Len() != source.DiagnosticsMax {
		t.Errorf("the list keeps %d, want %d", l.Len(), source.DiagnosticsMax)
	}
	if !strings.HasSuffix(l.Error(), "(54 more)") {
		t.Errorf("the dropped ones are not counted: %q", l.Error()[len(l.Error())-20:])
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct{ want, offers, repair string }{
		{"Inw", "Init Inv Next", "did you mean Inv?"},
		{"typeok", "TypeOK TypeInv", "did you mean TypeOK?"},
		{"Nxet", "Next Net", "did you mean Net?"},
		{"Ab", "Aa Ac", "did you mean Aa?"}, // of two the first in the alphabet
		{"Completely", "Different Init", ""},
		{"x", "y", ""},
		{"++", "+- --", ""},
	} {
		n := source.NewNearest(c.want)
		for _, o := range strings.Fields(c.offers) {
			n.Offer(o)
		}
		if got := n.Repair(); got != c.repair {
			t.Errorf("%s among %s: got %q, want %q", c.want, c.offers, got, c.repair)
		}
	}
}
