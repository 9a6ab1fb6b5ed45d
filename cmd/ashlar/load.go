package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/specification"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
)

// files is the file system: modules come from it, and specifications may read
// and write there.
type files = specification.Files

// environment is the process's own, for IOEnv.
func environment() map[string]string {
	out := map[string]string{}
	for _, e := range os.Environ() {
		if name, v, ok := strings.Cut(e, "="); ok {
			out[name] = v
		}
	}
	return out
}

// loadSpecification makes the subject of a specification and its
// configuration in files.
func loadSpecification(path string, o checkOptions, print func(string), m *check.Monitor) (*subject, error) {
	spec, err := specification.Load(files{}, path, specification.Options{Config: o.config, Libraries: o.library.directories()})
	if err != nil {
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
	asked := new(ender)
	model, err := spec.Model(model.Options{
		Reference:   o.reference,
		Reduce:      o.por,
		Profile:     o.profile,
		SafetyOnly:  o.safetyOnly,
		Output:      print,
		Files:       files{},
		Environment: environment,
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
	return &subject{model: model, tla: model, reduction: model.Reduction, profile: model.Profile, spec: spec.Path, config: spec.ConfigFile, diags: *spec.Diagnostics,
		after: model.Postcondition, asked: asked, places: p, files: moduleFiles(spec.Loaded), identity: identityOf(spec.Loaded, spec.ConfigText, o),
		span: spansOf(spec.Loaded), define: func(name string) (string, string) { return definition(spec.Loaded.Spec, name) }}, nil
}

// identityOf is what a search depends on: the modules, the configuration, and
// how both are evaluated.
func identityOf(l *load.Loaded, config []byte, o checkOptions) []check.IdentityPart {
	var parts []check.IdentityPart
	for _, m := range l.Modules {
		if f := m.Syntax.Span().File; f != nil && !m.Standard {
			parts = append(parts, check.IdentityPart{Name: filepath.Base(f.Name), Sum: sum([]byte(f.Text))})
		}
	}
	return append(parts, check.IdentityPart{Name: "the configuration", Sum: sum(config)},
		check.IdentityPart{Name: "the evaluator", Sum: fmt.Sprintf("reference=%v, packed, por=%v, safety only=%v", o.reference, o.por, o.por && o.safetyOnly)})
}

// loadOptions says how algorithms become TLA+, and where modules are looked for.
func loadOptions(l libraries) load.Options {
	return load.Options{Translate: trans.InMemory, WarnStale: true, Libraries: l.directories()}
}

// definition is the text of a definition and its place.
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
