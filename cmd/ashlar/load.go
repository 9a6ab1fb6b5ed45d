package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/check"
	"github.com/ashlar-dev/ashlar/source"
	"github.com/ashlar-dev/ashlar/tla/config"
	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/eval"
	"github.com/ashlar-dev/ashlar/tla/load"
	"github.com/ashlar-dev/ashlar/tla/native"
	"github.com/ashlar-dev/ashlar/tla/trans"
)

// files is the file system: modules come from it, and specifications may read
// and write there.
type files struct{}

var (
	_ load.Files   = files{}
	_ load.Lister  = files{}
	_ native.Files = files{}
)

// ReadFile reads a file that is not larger than a tool accepts.
func (files) ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, source.FileBytesMax+1))
	if err == nil && len(text) > source.FileBytesMax {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, source.FileBytesMax)
	}
	return text, err
}

// List lists the names in a directory.
func (files) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// WriteFile is for specifications that write files (IOUtils, Json, CSV).
func (files) WriteFile(name string, data []byte, appending bool) error {
	mode := os.O_TRUNC
	if appending {
		mode = os.O_APPEND
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|mode, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

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
	if filepath.Ext(path) == "" {
		path += ".tla"
	}
	loaded, diags, err := load.Load(files{}, path, loadOptions(o.library))
	if err != nil {
		return nil, err
	}
	if diags.HasErrors() {
		return nil, &loadError{diags: diags, code: exitSpec}
	}
	cfg, cfgText, shown, err := loadConfig(path, o.config, loaded.Spec, diags)
	if err != nil {
		return nil, err
	}
	if diags.HasErrors() {
		return nil, &loadError{diags: diags, code: exitConfig, config: shown}
	}
	start := time.Now()
	told, progress := o.told, o.progress
	if told.Mode == "" {
		told = eval.Configuration{Mode: eval.ModeSearch, Workers: o.workers, Deadlock: o.deadlock && cfg.Deadlock}
	}
	if progress == nil {
		progress = func() eval.Progress {
			s := m.Stats()
			return eval.Progress{Generated: s.Generated, Distinct: s.Distinct, Queue: s.Queue, Diameter: s.Depth}
		}
	}
	asked := new(ender)
	// A translation that was made in memory is explored as the algorithm that
	// it was made from.
	model, err := eval.NewDirect(loaded.Spec, loaded.Plain, cfg, eval.Options{
		Reference:   o.reference,
		Reduce:      o.por,
		Profile:     o.profile,
		SafetyOnly:  o.safetyOnly,
		Output:      print,
		Files:       files{},
		Environment: environment,
		Now:         func() int32 { return int32(time.Now().UnixMilli()) },
		Progress: func() eval.Progress {
			now := progress()
			now.DurationSeconds = int64(time.Since(start).Seconds())
			return now
		},
		Configuration: told,
		Exit:          asked.end,
	})
	var wrong *source.List
	switch {
	case errors.As(err, &wrong):
		// The specification is fine by itself; the configuration asks too much. What
		// the specification was warned of may be the reason: a misspelled algorithm.
		diags.Append(wrong)
		return nil, &loadError{diags: diags, code: exitConfig, config: shown}
	case err != nil:
		return nil, err
	}
	diags.Append(model.Warnings())
	p := newPlaces(loaded)
	return &subject{model: model, reduction: model.Reduction, profile: model.Profile, spec: path, config: shown, diags: *diags, after: model.Postcondition, asked: asked, places: p,
		files: moduleFiles(loaded), identity: identityOf(loaded, cfgText, o), span: spansOf(loaded, p),
		define: func(name string) (string, string) { return definition(loaded.Spec, name) }}, nil
}

// identityOf is what a search depends on: the modules, the configuration, and
// how both are evaluated.
func identityOf(l *load.Loaded, config []byte, o checkOptions) []check.IdentityPart {
	var parts []check.IdentityPart
	for _, m := range l.Modules {
		if f := m.Syntax.Span().File; f != nil && f != l.Translation && !m.Standard {
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

// loadConfig reads the configuration that is named, or the one beside the
// specification, or makes a default one; shown is the file's name.
func loadConfig(spec, named string, s *core.Spec, diags *source.List) (c *config.Config, text []byte, shown string, err error) {
	name := named
	if name == "" {
		name = strings.TrimSuffix(spec, filepath.Ext(spec)) + ".cfg"
	}
	text, err = files{}.ReadFile(name)
	switch {
	case err == nil:
		return config.Parse(source.NewFile(name, text), diags), text, name, nil
	case named == "" && errors.Is(err, fs.ErrNotExist):
		whole, err := files{}.ReadFile(spec)
		if err != nil {
			return nil, nil, "", fmt.Errorf("read configuration: %w", err)
		}
		if text = config.Section(whole, strings.TrimSuffix(filepath.Base(spec), ".tla")); text != nil {
			return config.Parse(source.NewFile(spec, text), diags), text, spec, nil
		}
		return config.Default(func(name string) bool { return s.Names[name] != nil }), nil, "", nil
	}
	return nil, nil, "", fmt.Errorf("read configuration: %w", err)
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
