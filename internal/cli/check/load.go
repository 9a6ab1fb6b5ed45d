// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/cli/library"
	"github.com/ashlar-dev/ashlar/internal/cli/report"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/model/profile"
	"github.com/ashlar-dev/ashlar/internal/model/reduce"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/specification"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
)

// subject is a model with the data about its origin.
type subject struct {
	model check.Model
	tla   *model.Model // the model again, nil where it is none of TLA+
	report.Source
	// after evaluates the postcondition, if there is one.
	after func() (name string, holds, asked bool, err error)
	// asked ends the search when the specification requests it; nil if it never
	// does.
	asked *earlyExit
	// files are the modules' files. span returns the text range that begins at
	// a place.
	files []string
	// reduction describes the effect of --por.
	reduction func() reduce.Report
	// profile holds the evaluation costs of expressions.
	profile func() ([]profile.Cost, int64)
	// identity is a digest of everything that a search of the subject depends
	// on.
	identity []check.IdentityPart
	span     func(place string) source.Span
}

// describe makes the document of a finished search, with its postcondition.
func (s *subject) describe(r *check.Result, o checkOptions, elapsed time.Duration) *report.Document {
	d := report.Describe(&s.Source, r, report.Run{Workers: o.workers, Deadlock: o.deadlock, All: o.goOn, Elapsed: elapsed})
	if s.after == nil || d.Verdict != "ok" && d.Verdict != "incomplete" || d.Statistics.Queue > 0 && !s.asked.wasAsked() {
		return d
	}
	if name, holds, asked, err := s.after(); asked && (err != nil || !holds) {
		d.Concluded(&s.Source, name, err)
	}
	return d
}

// loadSpecification loads a specification and its configuration from files.
func loadSpecification(path string, o checkOptions, print func(string), m *check.Monitor) (*subject, error) {
	spec, err := specification.Load(specification.Files{}, path, specification.Options{Config: o.config, Libraries: o.library.All()})
	if err != nil {
		return nil, err
	}
	if err := o.crashes.allow(spec); err != nil {
		return nil, err
	}
	start := time.Now()
	told, progress := o.told, o.progress
	if told.Mode == "" {
		told = tlcget.Configuration{Mode: tlcget.Search, Workers: o.workers, Deadlock: o.deadlock && spec.Config.Deadlock}
	}
	if progress == nil {
		progress = func() tlcget.Progress {
			s := m.Stats()
			return tlcget.Progress{Generated: s.Generated, Distinct: s.Distinct, Queue: s.Queue, Diameter: s.Depth}
		}
	}
	asked := new(earlyExit)
	model, err := spec.Model(model.Options{
		Reference:   o.reference,
		Reduce:      o.por,
		Profile:     o.profile,
		SafetyOnly:  o.safetyOnly,
		Output:      print,
		Files:       specification.Files{},
		Environment: library.Environment,
		Now:         func() int32 { return int32(time.Now().UnixMilli()) },
		Progress: func() tlcget.Progress {
			now := progress()
			now.DurationSeconds = int64(time.Since(start).Seconds())
			return now
		},
		Configuration: told,
		Exit:          asked.end,
	})
	if err != nil {
		return nil, err
	}
	p := newPlaces(spec.Loaded)
	return &subject{model: model, tla: model, reduction: model.Reduction, profile: model.Profile,
		after: model.Postcondition, asked: asked, files: moduleFiles(spec.Loaded), identity: identityOf(spec.Loaded, spec.ConfigText, o),
		span: spansOf(spec.Loaded), Source: report.Source{Spec: spec.Path, Config: spec.ConfigFile, Crashes: o.crashes.most, Diags: *spec.Diagnostics, Line: p.line,
			Define: func(name string) (string, string) { return definition(spec.Loaded.Spec, name) }}}, nil
}

// identityOf computes the identity of a search from the modules, the
// configuration, and the way in which both are evaluated.
func identityOf(l *load.Loaded, config []byte, o checkOptions) []check.IdentityPart {
	var parts []check.IdentityPart
	for _, m := range l.Modules {
		if f := m.Syntax.Span().File; f != nil && !m.Standard {
			parts = append(parts, check.IdentityPart{Name: filepath.Base(f.Name), Sum: sum([]byte(f.Text))})
		}
	}
	return append(parts, check.IdentityPart{Name: "the configuration", Sum: sum(config)},
		check.IdentityPart{Name: "--crashes", Sum: o.crashes.String()},
		check.IdentityPart{Name: "the evaluator", Sum: fmt.Sprintf("reference=%v, packed, por=%v, safety only=%v", o.reference, o.por, o.por && o.safetyOnly)})
}

// definition returns the text of a definition and its place.
func definition(s *core.Spec, name string) (text, place string) {
	d := s.Names[name]
	if d == nil || d.Body == nil || !d.Span.IsValid() {
		return "", ""
	}
	whole := d.Span.Join(d.Body.Span())
	if d.Body.Span().File != d.Span.File {
		whole = d.Body.Span()
	}
	return whole.Text(), d.Span.String()
}

// moduleFiles returns the files of all modules except the standard ones, the
// root module's first.
func moduleFiles(l *load.Loaded) []string {
	var out []string
	for _, m := range l.Modules {
		if f := m.Syntax.Span().File; f != nil && !m.Standard {
			out = append(out, f.Name)
		}
	}
	return out
}

// spansOf maps the place at which an action begins to the action's full range.
// Actions are the operands of disjunctions, so the disjunctions themselves are
// skipped.
func spansOf(l *load.Loaded) func(place string) source.Span {
	var at map[string]source.Span
	note := func(s source.Span) {
		if old, ok := at[s.String()]; s.IsValid() && (!ok || old.End < s.End) {
			at[s.String()] = s
		}
	}
	return func(place string) source.Span {
		if at == nil {
			at = map[string]source.Span{}
			for _, d := range l.Spec.Defs {
				if d.Body == nil {
					continue
				}
				core.Walk(d.Body, func(e core.Expr) bool {
					if _, or := e.(*core.Or); !or {
						note(e.Span())
					}
					return true
				})
			}
			for _, a := range l.Spec.Assumes {
				note(a.Body.Span())
			}
		}
		return at[place]
	}
}
