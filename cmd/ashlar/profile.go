package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/internal/model"
)

// profileEvery is how often is looked at what is being evaluated.
const profileEvery = time.Millisecond

// How many expressions the text shows, and how much of each.
const (
	profileLines   = 20
	profileExcerpt = 50
)

// profiled is what expressions have cost.
type profiled struct {
	// Samples were taken in all, Outside of them where no expression was being
	// evaluated.
	Samples     int64          `json:"samples"`
	Outside     int64          `json:"outside"`
	Expressions []profiledExpr `json:"expressions"`
	// Sources are the texts, by line, for the page.
	Sources []profiledSource `json:"sources,omitempty"`
}

// profiledExpr is one expression. Passed is absent for what is no predicate and
// no part of an action.
type profiledExpr struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
	Evaluated int64  `json:"evaluated"`
	Passed    *int64 `json:"passed,omitempty"`
	Samples   int64  `json:"samples"`
	text      string
}

// profiledSource is a file of which expressions are counted.
type profiledSource struct {
	File  string   `json:"file"`
	Lines []string `json:"lines"`
}

// sampler looks now and then at what a model evaluates.
type sampler struct {
	stop chan struct{}
	done sync.WaitGroup
}

func sample(m *model.Model) *sampler {
	s := &sampler{stop: make(chan struct{})}
	s.done.Go(func() {
		tick := time.NewTicker(profileEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				m.Sample()
			case <-s.stop:
				return
			}
		}
	})
	return s
}

func (s *sampler) end() {
	close(s.stop)
	s.done.Wait()
}

// profileOf describes what the expressions in the user's files have cost.
func profileOf(s *subject, o checkOptions) *profiled {
	if !o.profile || s.profile == nil {
		return nil
	}
	costs, outside := s.profile()
	out := &profiled{Outside: outside, Samples: outside, Expressions: []profiledExpr{}}
	shown := map[string]bool{}
	for _, c := range costs {
		out.Samples += c.Samples
		if !slices.Contains(s.files, c.Span.File.Name) {
			continue // of a standard module, or of a translation
		}
		from, to := c.Span.From(), c.Span.To()
		e := profiledExpr{File: c.Span.File.Name, Line: from.Line, Column: from.Column, EndLine: to.Line, EndColumn: to.Column,
			Evaluated: c.Evaluated, Samples: c.Samples, text: c.Span.Text()}
		if c.Passed >= 0 {
			passed := c.Passed
			e.Passed = &passed
		}
		out.Expressions = append(out.Expressions, e)
		if o.html != "" && !shown[e.File] {
			shown[e.File] = true
			out.Sources = append(out.Sources, profiledSource{File: e.File, Lines: strings.Split(string(c.Span.File.Text), "\n")})
		}
	}
	return out
}

// writeProfile shows the expressions that took most of the time, and those that
// were never evaluated or never true.
func writeProfile(w io.Writer, d *document, p palette) {
	if d.Profile == nil {
		return
	}
	fmt.Fprintf(w, "\n%s\n", p.bold(fmt.Sprintf("%6s  %15s  %15s  %s", "time", "evaluated", "true or passed", "expression")))
	list := slices.Clone(d.Profile.Expressions)
	slices.SortStableFunc(list, func(a, b profiledExpr) int {
		return cmp.Or(cmp.Compare(b.Samples, a.Samples), cmp.Compare(b.Evaluated, a.Evaluated))
	})
	for _, e := range list[:min(len(list), profileLines)] {
		fmt.Fprintln(w, e.line(d.Profile.Samples, p))
	}
	fmt.Fprintf(w, "%5.1f%%  %15s  %15s  %s\n", 100*float64(d.Profile.Outside)/float64(max(d.Profile.Samples, 1)), "", "", p.dim("between expressions: states, fingerprints, the queue"))
	var never []profiledExpr
	for _, e := range d.Profile.Expressions {
		inside := len(never) > 0 && never[len(never)-1].contains(e)
		if !inside && e.Evaluated == 0 {
			never = append(never, e)
		}
	}
	if len(never) > 0 {
		fmt.Fprintln(w, p.warn("Never evaluated:"))
	}
	for i, e := range never {
		if i == profileLines {
			fmt.Fprintf(w, "  and %d more\n", len(never)-i)
			break
		}
		fmt.Fprintf(w, "  %s  %s\n", e.excerpt(), p.dim(e.place()))
	}
}

func (e profiledExpr) contains(x profiledExpr) bool {
	return e.File == x.File && (x.EndLine < e.EndLine || x.EndLine == e.EndLine && x.EndColumn <= e.EndColumn)
}

func (e profiledExpr) place() string { return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column) }

// excerpt is the beginning of the expression on one line.
func (e profiledExpr) excerpt() string {
	text := []rune(strings.Join(strings.Fields(e.text), " "))
	if len(text) > profileExcerpt {
		text = append(text[:profileExcerpt-1], '…')
	}
	return string(text)
}

func (e profiledExpr) line(samples int64, p palette) string {
	passed := ""
	if e.Passed != nil {
		passed = count(*e.Passed)
	}
	return fmt.Sprintf("%5.1f%%  %15s  %15s  %s  %s", 100*float64(e.Samples)/float64(max(samples, 1)), count(e.Evaluated), passed, e.excerpt(), p.dim(e.place()))
}
