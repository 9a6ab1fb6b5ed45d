// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
)

// The number of expressions that the text shows, and the length of each.
const (
	profileLines   = 20
	profileExcerpt = 50
)

// Profile holds the evaluation costs of expressions.
type Profile struct {
	// Samples is the number of all samples. Outside is the number of those
	// taken while no expression was being evaluated.
	Samples     int64        `json:"samples"`
	Outside     int64        `json:"outside"`
	Expressions []Expression `json:"expressions"`
	// Sources are the texts, by line, for the page.
	Sources []SourceText `json:"sources,omitempty"`
}

// Expression is one expression. Passed is absent for an expression that is
// neither a predicate nor part of an action.
type Expression struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
	Evaluated int64  `json:"evaluated"`
	Passed    *int64 `json:"passed,omitempty"`
	Samples   int64  `json:"samples"`
	Text      string
}

// SourceText is a file whose expressions are profiled.
type SourceText struct {
	File  string   `json:"file"`
	Lines []string `json:"lines"`
}

// writeProfile shows the expressions that took most of the time, and those that
// were never evaluated or never true.
func writeProfile(w io.Writer, d *Document, p console.Palette) {
	if d.Profile == nil {
		return
	}
	fmt.Fprintf(w, "\n%s\n", p.Bold(fmt.Sprintf("%6s  %15s  %15s  %s", "time", "evaluated", "true or passed", "expression")))
	list := slices.Clone(d.Profile.Expressions)
	slices.SortStableFunc(list, func(a, b Expression) int {
		return cmp.Or(cmp.Compare(b.Samples, a.Samples), cmp.Compare(b.Evaluated, a.Evaluated))
	})
	for _, e := range list[:min(len(list), profileLines)] {
		fmt.Fprintln(w, e.line(d.Profile.Samples, p))
	}
	fmt.Fprintf(w, "%5.1f%%  %15s  %15s  %s\n", 100*float64(d.Profile.Outside)/float64(max(d.Profile.Samples, 1)), "", "", p.Dim("between expressions: states, fingerprints, the queue"))
	var never []Expression
	for _, e := range d.Profile.Expressions {
		inside := len(never) > 0 && never[len(never)-1].contains(e)
		if !inside && e.Evaluated == 0 {
			never = append(never, e)
		}
	}
	if len(never) > 0 {
		fmt.Fprintln(w, p.Warn("Never evaluated:"))
	}
	for i, e := range never {
		if i == profileLines {
			fmt.Fprintf(w, "  and %d more\n", len(never)-i)
			break
		}
		fmt.Fprintf(w, "  %s  %s\n", e.excerpt(), p.Dim(e.place()))
	}
}

func (e Expression) contains(x Expression) bool {
	return e.File == x.File && (x.EndLine < e.EndLine || x.EndLine == e.EndLine && x.EndColumn <= e.EndColumn)
}

func (e Expression) place() string { return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column) }

// excerpt returns the beginning of the expression on one line.
func (e Expression) excerpt() string {
	text := []rune(strings.Join(strings.Fields(e.Text), " "))
	if len(text) > profileExcerpt {
		text = append(text[:profileExcerpt-1], '…')
	}
	return string(text)
}

func (e Expression) line(samples int64, p console.Palette) string {
	passed := ""
	if e.Passed != nil {
		passed = console.Count(*e.Passed)
	}
	return fmt.Sprintf("%5.1f%%  %15s  %15s  %s  %s", 100*float64(e.Samples)/float64(max(samples, 1)), console.Count(e.Evaluated), passed, e.excerpt(), p.Dim(e.place()))
}
