// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Severity reports whether a diagnostic stops the work.
type Severity uint8

// The severities. An Error means that no result is produced.
const (
	Error Severity = iota
	Warning
)

func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Code names a kind of diagnostic, in the words of the language at hand:
// "LabelRequired", "UnknownName". A package that reports lists its codes as
// constants, each with a comment that shows a failing input.
type Code string

// Diagnostic is one error or warning about the user's input.
type Diagnostic struct {
	Severity Severity
	Code     Code
	Span     Span
	// Message states what is wrong and what was expected: lower case, no full stop.
	Message string
	// Repair states what to write instead, if that is known.
	Repair string
	// Related points at further places: "other declaration here".
	Related []Note
}

// Note is a second place that explains a diagnostic.
type Note struct {
	Span    Span
	Message string
}

// DiagnosticsMax is how many diagnostics a List keeps; it only counts the rest.
const DiagnosticsMax = 50

// List collects the diagnostics of a run. The zero List is empty and ready.
// A List is an error value when it holds an Error; use Err to return it.
type List struct {
	items   []Diagnostic
	dropped int
	errors  int
}

// Add records d.
func (l *List) Add(d Diagnostic) {
	if d.Severity == Error {
		l.errors++
	}
	if len(l.items) >= DiagnosticsMax {
		l.dropped++
		return
	}
	l.items = append(l.items, d)
}

// Errorf records an error of the given code at span.
func (l *List) Errorf(span Span, code Code, format string, args ...any) {
	l.Add(Diagnostic{Code: code, Span: span, Message: fmt.Sprintf(format, args...)})
}

// Warnf records a warning of the given code at span.
func (l *List) Warnf(span Span, code Code, format string, args ...any) {
	l.Add(Diagnostic{Severity: Warning, Code: code, Span: span, Message: fmt.Sprintf(format, args...)})
}

// HasErrors reports whether an Error was recorded.
func (l *List) HasErrors() bool { return l.errors > 0 }

// Len is the number of diagnostics kept.
func (l *List) Len() int { return len(l.items) }

// Dropped is the number of diagnostics that were counted and not kept.
func (l *List) Dropped() int { return l.dropped }

// Append moves all of other's diagnostics to l.
func (l *List) Append(other *List) {
	errors := l.errors + other.errors
	for _, d := range other.items {
		l.Add(d)
	}
	l.dropped += other.dropped
	l.errors = errors // with those that other has dropped
}

// Sorted returns the diagnostics by file and place, duplicates removed.
func (l *List) Sorted() []Diagnostic {
	out := append([]Diagnostic(nil), l.items...)
	name := func(s Span) string {
		if s.File == nil {
			return ""
		}
		return s.File.Name
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i].Span, out[j].Span
		if name(a) != name(b) {
			return name(a) < name(b)
		}
		return a.Start < b.Start
	})
	kept := out[:0]
	for i, d := range out {
		if i > 0 {
			p := kept[len(kept)-1]
			if p.Span == d.Span && p.Message == d.Message {
				continue
			}
		}
		kept = append(kept, d)
	}
	return kept
}

// Err returns l as an error when it has errors, nil otherwise.
func (l *List) Err() error {
	if l.HasErrors() {
		return l
	}
	return nil
}

// Error returns one line per diagnostic.
func (l *List) Error() string {
	var b strings.Builder
	for i, d := range l.Sorted() {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(Visible(fmt.Sprintf("%s: %s: %s [%s]", d.Span, d.Severity, d.Message, d.Code)))
	}
	if l.dropped > 0 {
		fmt.Fprintf(&b, "\n(%d more)", l.dropped)
	}
	return b.String()
}

// Print writes every diagnostic for a person: the place and the message, the
// source line with a caret under the span, the repair, related places.
func (l *List) Print(w io.Writer) {
	for _, d := range l.Sorted() {
		d.Print(w)
	}
	if l.dropped > 0 {
		fmt.Fprintf(w, "(%d more diagnostics are not shown)\n", l.dropped)
	}
}

// Print writes one diagnostic in the form that List.Print uses. Characters that
// would control a terminal are written as Visible does.
func (d Diagnostic) Print(w io.Writer) {
	fmt.Fprintf(w, "%s\n", Visible(fmt.Sprintf("%s: %s: %s [%s]", d.Span, d.Severity, d.Message, d.Code)))
	d.Span.printExcerpt(w)
	if d.Repair != "" {
		fmt.Fprintf(w, "    repair: %s\n", Visible(d.Repair))
	}
	for _, n := range d.Related {
		fmt.Fprintf(w, "  %s\n", Visible(fmt.Sprintf("%s: %s", n.Span, n.Message)))
		n.Span.printExcerpt(w)
	}
}

// excerptColumnsMax bounds the width of a quoted source line.
const excerptColumnsMax = 160

// printExcerpt writes the first line of the span and a row of carets below it.
// Wide characters and tabs keep the carets aligned.
func (s Span) printExcerpt(w io.Writer) {
	if !s.IsValid() {
		return
	}
	from, to := s.From(), s.To()
	line := characters(s.File.Line(from.Line))
	start := min(from.Column-1, len(line))
	end := len(line)
	if to.Line == from.Line {
		end = min(to.Column-1, len(line))
	}
	shown := line
	if len(shown) > excerptColumnsMax {
		shown = shown[:excerptColumnsMax]
		start, end = min(start, len(shown)), min(end, len(shown))
	}
	var pad strings.Builder
	for _, c := range shown[:start] {
		if c == "\t" {
			pad.WriteByte('\t')
		} else {
			pad.WriteString(strings.Repeat(" ", runewidth.StringWidth(c)))
		}
	}
	width := max(runewidth.StringWidth(strings.Join(shown[start:max(start, end)], "")), 1)
	fmt.Fprintf(w, "    %s\n    %s%s\n", strings.Join(shown, ""), pad.String(), strings.Repeat("^", width))
}

// characters splits a line into the units in which it is shown.
func characters(line string) []string {
	var list []string
	for len(line) > 0 {
		_, n := utf8.DecodeRuneInString(line)
		list = append(list, Visible(line[:n]))
		line = line[n:]
	}
	return list
}

// Report is a diagnostic for machines: its place in numbers, and no second places.
type Report struct {
	Severity string `json:"severity"` // error, warning, or note: more diagnostics than a List keeps
	Code     string `json:"code"`
	File     string `json:"file"`   // "" where there is no place
	Line     int    `json:"line"`   // from 1
	Column   int    `json:"column"` // from 1
	Message  string `json:"message"`
	Repair   string `json:"repair,omitempty"`
}

// Reports returns the diagnostics as Sorted does.
func (l *List) Reports() []Report {
	var out []Report
	for _, d := range l.Sorted() {
		r := Report{Severity: d.Severity.String(), Code: string(d.Code), Message: d.Message, Repair: d.Repair}
		if d.Span.IsValid() {
			at := d.Span.From()
			r.File, r.Line, r.Column = d.Span.File.Name, at.Line, at.Column
		}
		out = append(out, r)
	}
	if n := l.Dropped(); n > 0 {
		out = append(out, Report{Severity: "note", Code: "DiagnosticsMax", Message: fmt.Sprintf("%d more diagnostics are not shown", n)})
	}
	return out
}
