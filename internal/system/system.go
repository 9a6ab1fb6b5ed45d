// SPDX-License-Identifier: Apache-2.0

// Package system compiles the Modular PlusCal algorithm of a specification: it finds
// the values of the constants, calls the compiler, and builds an example
// configuration for the compiled system.
//
// In: files, a path, and the source of the constants' values. Out: the Go files and
// the example. An error in the input is a *specification.Error.
package system

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/internal/compile"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/specification"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Options of Compile. The zero value is the default.
type Options struct {
	compile.Options // but Constants, Whole and Plain, which Compile finds
	// Config gives the values of the constants. It is the path of a checker
	// configuration or, with the extension .json, of a running system's
	// configuration. If it is empty, Compile uses the .cfg file beside the module, if
	// there is one.
	Config string
	// Libraries are directories of modules; see load.Options.
	Libraries []string
	// Evaluation configures the evaluation of the constants' values; its
	// Constants are ignored.
	Evaluation model.Options
}

// Compiled is the result of Compile.
type Compiled struct {
	*compile.Package
	// Example is a configuration of the system as JSON: one node for each process, on
	// loopback. It is nil without Options.Main, and if the constants are unknown.
	Example []byte
	// Diagnostics are the warnings.
	Diagnostics *source.List
}

// Compile compiles the algorithm of the module at path, or at path.tla.
func Compile(files load.Files, path string, o Options) (*Compiled, error) {
	s := &algorithm{path: specification.File(path), files: files, evaluation: o.Evaluation}
	if err := s.load(o.Libraries); err != nil {
		return nil, err
	}
	if s.diags.HasErrors() {
		return nil, &specification.Error{Diagnostics: s.diags}
	}
	m, err := s.constants(o.Config)
	if err != nil {
		return nil, err
	}
	if s.diags.HasErrors() {
		return nil, &specification.Error{Diagnostics: s.diags, Configuration: true, File: o.Config}
	}
	if len(s.given) > 0 {
		s.given.define(s.spec.Defs)
		s.given.algorithm(s.made.Algorithm)
	}
	o.Constants, o.Whole, o.Plain = m.values, s.whole, s.made.Plain
	pkg, diags := compile.Compile(s.spec, s.made.Algorithm, o.Options)
	s.diags.Append(diags)
	if s.diags.HasErrors() {
		return nil, &specification.Error{Diagnostics: s.diags}
	}
	out := &Compiled{Package: pkg, Diagnostics: s.diags}
	if o.Main {
		if out.Example, err = s.example(m, pkg); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// example builds the example. If that is not possible, it returns nil and adds
// a warning.
func (s *algorithm) example(m *constantModel, pkg *compile.Package) ([]byte, error) {
	conf, err := exampleConfig(s, m, pkg)
	if err != nil {
		s.diags.Add(source.Diagnostic{Severity: source.Warning, Code: "CompileNoExample", Span: s.made.Algorithm.Span,
			Message: "no example configuration is written: " + err.Error(), Repair: "give the constants by --config"})
		return nil, nil
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // << and |-> are for people to read
	e.SetIndent("", "  ")
	err = e.Encode(conf)
	return text.Bytes(), err
}

// algorithm is a specification with a Modular algorithm, loaded.
type algorithm struct {
	path       string
	files      load.Files
	evaluation model.Options
	spec       *core.Spec // what the algorithm sees
	made       load.Translation
	whole      *core.Spec // with the translation
	diags      *source.List
	given      operators // the constant operators that the configuration gives
}

// load loads the specification and translates its algorithm in memory.
func (s *algorithm) load(libraries []string) error {
	loaded, diags, err := load.Load(s.files, s.path, load.Options{Retranslate: true, Libraries: libraries,
		Translate: func(u *load.Untranslated, list *source.List) load.Translation {
			s.made = trans.InMemory(u, list)
			s.spec = u.Program.Spec()
			return s.made
		}})
	if err != nil {
		return err
	}
	s.diags = diags
	if diags.HasErrors() {
		return nil
	}
	s.whole = loaded.Spec
	if s.made.Algorithm == nil {
		diags.Add(source.Diagnostic{Code: trans.NoAlgorithm, Span: loaded.Root.Name.Span(), Message: "the module has no algorithm: expected --mpcal in a comment"})
	}
	return nil
}

// constantModel holds what is known about the constants.
type constantModel struct {
	values map[string]value.Value
	model  *model.Model // evaluates expressions over them; nil: they are not known
}

// constants finds the values of the constants.
func (s *algorithm) constants(named string) (*constantModel, error) {
	if filepath.Ext(named) == ".json" {
		return s.systemConstants(named)
	}
	cfg, _, shown, err := specification.ReadConfig(s.files, s.path, named, s.whole, s.diags)
	if err != nil {
		return nil, err
	}
	if shown == "" {
		return s.evaluate(&config.Config{}, nil)
	}
	for _, d := range model.Constants(s.whole, cfg).Sorted() {
		if d.Severity == source.Warning {
			s.diags.Add(d) // errors are for the part that is compiled, below
		}
	}
	// The algorithm sees the module only up to its translation, so only that
	// part of the configuration applies.
	visible := &config.Config{File: cfg.File}
	known := map[string]bool{}
	for _, c := range s.spec.Constants {
		known[c.Name] = true
	}
	for _, c := range cfg.Constants {
		if known[c.Name.Text] || s.spec.Names[c.Name.Text] != nil {
			visible.Constants = append(visible.Constants, c)
		}
	}
	later := false
	for _, r := range cfg.Overrides {
		switch d := s.definition(r.Name.Text); {
		case !known[r.Name.Text] && d == nil:
		case known[r.Name.Text] && s.spec.Names[r.Op.Text] == nil:
			later = true
		case known[r.Name.Text]:
			visible.Overrides = append(visible.Overrides, r)
		case d.Native:
			// The checker's bounds of Nat and similar sets do not apply to the
			// system.
		default:
			s.diags.Add(source.Diagnostic{Severity: source.Warning, Code: "CompileOverride", Span: r.Name.Span,
				Message: fmt.Sprintf("%s is compiled as the module defines it, and not as %s", r.Name.Text, r.Op.Text),
				Repair:  "make it a constant, if it belongs to the configuration"})
		}
	}
	s.given = operatorsOf(s.spec, visible)
	if !later {
		return s.evaluate(visible, nil)
	}
	values, err := s.valuesOfWhole(cfg)
	if err != nil || s.diags.HasErrors() {
		return nil, err
	}
	return s.evaluate(visible, values)
}

// definition returns the definition that the algorithm sees under that name:
// one of the module or of its define block.
func (s *algorithm) definition(name string) *core.Def {
	for _, d := range s.made.Algorithm.Define {
		if d.Name == name {
			return d
		}
	}
	return s.spec.Names[name]
}

// valuesOfWhole evaluates the constants with all definitions of the module,
// including those after the translation.
func (s *algorithm) valuesOfWhole(cfg *config.Config) (map[string]value.Value, error) {
	m, err := model.New(s.whole, cfg, s.evaluation)
	var wrong *source.List
	switch {
	case errors.As(err, &wrong):
		s.diags.Append(wrong)
		return nil, nil
	case err != nil:
		return nil, err
	}
	out := map[string]value.Value{}
	for _, c := range s.whole.Constants {
		if c.Arity > 0 {
			continue
		}
		v, err := m.Evaluate(&core.ConstRef{At: core.At{Place: c.Span}, Const: c})
		if err != nil {
			return nil, fmt.Errorf("the value of %s: %w", c.Name, err)
		}
		out[c.Name] = v
	}
	return out, nil
}

// systemConstants converts the constants of a running system's configuration to
// a checker configuration.
func (s *algorithm) systemConstants(name string) (*constantModel, error) {
	text, err := s.files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	conf, err := distsys.LoadConfig(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var b strings.Builder
	for _, c := range s.spec.Constants {
		if v, ok := conf.Constants[c.Name]; ok {
			fmt.Fprintf(&b, "CONSTANT %s = %s\n", c.Name, v.Value)
		}
	}
	return s.evaluate(config.Parse(source.NewFile(name, []byte(b.String())), s.diags), nil)
}

// evaluate takes the constants from cfg, and those that cfg does not contain
// from given.
func (s *algorithm) evaluate(cfg *config.Config, given map[string]value.Value) (*constantModel, error) {
	out := &constantModel{values: map[string]value.Value{}}
	evaluation := s.evaluation
	evaluation.Constants = given
	m, err := model.New(s.spec, cfg, evaluation)
	var wrong *source.List
	switch {
	case errors.As(err, &wrong):
		if cfg.File != nil {
			s.diags.Append(wrong)
		}
		return out, nil // without values the constants are typed by their use
	case err != nil:
		return nil, err
	}
	out.model = m
	for _, c := range s.spec.Constants {
		if c.Arity > 0 {
			continue
		}
		if v, err := m.Evaluate(&core.ConstRef{At: core.At{Place: c.Span}, Const: c}); err == nil {
			out.values[c.Name] = v
		}
	}
	// A definition to which the configuration gives a value also counts as a
	// constant.
	for _, c := range cfg.Constants {
		if d := s.spec.Names[c.Name.Text]; d != nil && len(d.Params) == 0 {
			if v, err := m.Evaluate(&core.Call{At: core.At{Place: d.Span}, Def: d}); err == nil {
				out.values[d.Name] = v
			}
		}
	}
	return out, nil
}
