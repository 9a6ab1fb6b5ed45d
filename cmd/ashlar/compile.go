package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/compile"
	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/source"
	"github.com/ashlar-dev/ashlar/tla/config"
	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/eval"
	"github.com/ashlar-dev/ashlar/tla/load"
	"github.com/ashlar-dev/ashlar/tla/trans"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// compileOptions are the flags of compile.
type compileOptions struct {
	out        string
	pkg        string
	main       bool
	explain    bool
	invariants []string
	config     string
	library    libraries
	json       bool
}

const compileHelp = `Compile writes a Go package with the archetypes of a Modular PlusCal algorithm: a
function for each label, structs for records, slices for sequences, and comments
that lead back to the specification. The package runs on distsys, which executes
each label as one atomic section over the resources behind the ref parameters.

With --main the package is a command that runs a part of the system as a
configuration file says, and an example of such a file, sys.json, is written from
the instances of the specification: one node for each process, on loopback.

  go run DIR -config DIR/sys.json -node server
  go run DIR -config DIR/sys.json -archetype AClient -self 2

With ASHLAR_TRACE_DIR set the command writes traces; see 'ashlar trace check'.

The constants in the configuration (a .cfg as for check, or a sys.json) tell the
types of what they give. Without --config, the .cfg beside the specification is used
if there is one. The compiled system takes its constants when it starts, and
refuses values that are not of those types.

--check-invariants compiles invariants that speak of what one process sees: they
are evaluated before each step commits, and a step that breaks one ends the process.

Exit codes: 0 compiled; 150 errors in the specification; 151 errors in the
configuration; 1 files; 2 usage.`

func newCompileCommand(t *term) *cobra.Command {
	var o compileOptions
	cmd := &cobra.Command{
		Use:   "compile FILE.tla -o DIR",
		Short: "Compile archetypes to a Go package",
		Long:  compileHelp,
		Example: `  ashlar compile specs/lockservice/lockservice.tla -o build/lockservice --main
  ashlar compile Spec.tla -o internal/spec --package spec --explain`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runCompile(t, o, args[0]) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.out, "out", "o", "", "the directory to write the package to (needed)")
	f.StringVar(&o.pkg, "package", "", "the package's name (default: the algorithm's, in lower case)")
	f.BoolVar(&o.main, "main", false, "write a command and an example configuration")
	f.BoolVar(&o.explain, "explain", false, "say what has which type, and what has none and why")
	f.StringSliceVar(&o.invariants, "check-invariants", nil, "invariants to check while the system runs: Inv1,Inv2")
	f.StringVar(&o.config, "config", "", "where the values of the constants are (.cfg or .json)")
	o.library.addTo(cmd)
	f.BoolVar(&o.json, "json", false, "write what was done, and diagnostics, as JSON")
	return cmd
}

// compiled is what compile reports to machines.
type compiled struct {
	Schema      string   `json:"schema"`
	Spec        string   `json:"spec"`
	Files       []string `json:"files"`
	Explain     []string `json:"explain,omitempty"`
	ExitCode    int      `json:"exitCode"`
	Diagnostics []report `json:"diagnostics"`
}

// algorithmSpec is a specification with a Modular algorithm, loaded.
type algorithmSpec struct {
	path  string
	spec  *core.Spec // what the algorithm sees
	text  trans.Text
	whole *core.Spec // with the translation
	diags *source.List
}

func runCompile(t *term, o compileOptions, path string) error {
	if o.out == "" {
		return &exit{exitUsage, errors.New("compile needs -o DIR")}
	}
	if filepath.Ext(path) == "" {
		path += ".tla"
	}
	out := compiled{Schema: "ashlar-compile-1", Spec: path, Files: []string{}, Diagnostics: []report{}}
	s, err := loadForCompile(path, o.library)
	if err != nil {
		return failed(err)
	}
	if s.diags.HasErrors() {
		out.ExitCode = exitSpec
		return tellCompiled(t, o, out, s.diags)
	}
	model, err := s.constants(o.config)
	if err != nil {
		return failed(err)
	}
	if s.diags.HasErrors() {
		out.ExitCode = exitConfig
		return tellCompiled(t, o, out, s.diags)
	}
	pkg, diags := compile.Compile(s.spec, s.text.Algorithm, compile.Options{
		Package: o.pkg, Main: o.main, Constants: model.values, Invariants: o.invariants, Whole: s.whole, Plain: s.text.Plain,
	})
	s.diags.Append(diags)
	if s.diags.HasErrors() {
		out.ExitCode = exitSpec
		return tellCompiled(t, o, out, s.diags)
	}
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return failed(err)
	}
	for _, f := range pkg.Files {
		name := filepath.Join(o.out, f.Name)
		if err := writeOutput(name, f.Text, 0o666); err != nil {
			return failed(err)
		}
		out.Files = append(out.Files, name)
	}
	if o.main {
		if err := writeExample(o.out, s, model, &out); err != nil {
			return failed(err)
		}
	}
	if o.explain {
		out.Explain = pkg.Explain
	}
	return tellCompiled(t, o, out, s.diags)
}

// writeExample writes sys.json where there is none.
func writeExample(dir string, s *algorithmSpec, m *constantModel, out *compiled) error {
	name := filepath.Join(dir, "sys.json")
	if _, err := os.Stat(name); err == nil {
		return nil // it may have been edited
	}
	conf, err := exampleConfig(s, m)
	if err != nil {
		s.diags.Add(source.Diagnostic{Severity: source.Warning, Code: "CompileNoExample", Span: s.text.Algorithm.Span,
			Message: "no example configuration is written: " + err.Error(), Repair: "give the constants by --config"})
		return nil
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // << and |-> are for people to read
	e.SetIndent("", "  ")
	if err := e.Encode(conf); err != nil {
		return err
	}
	if err := writeOutput(name, text.Bytes(), 0o666); err != nil {
		return err
	}
	out.Files = append(out.Files, name)
	return nil
}

// loadForCompile loads the specification and translates its algorithm in
// memory.
func loadForCompile(path string, l libraries) (*algorithmSpec, error) {
	s := &algorithmSpec{path: path}
	loaded, diags, err := load.Load(files{}, path, load.Options{Retranslate: true, Libraries: l.directories(),
		Translate: func(u *load.Untranslated, list *source.List) load.Translation {
			s.text = trans.Units(u, u.Module.Algorithm, list)
			s.spec = u.Program.Spec()
			return load.Translation{Text: []byte(s.text.TLA), Algorithm: s.text.Algorithm, Plain: s.text.Plain}
		}})
	if err != nil {
		return nil, err
	}
	s.diags = diags
	if diags.HasErrors() {
		return s, nil
	}
	s.whole = loaded.Spec
	if s.text.Algorithm == nil {
		diags.Add(source.Diagnostic{Code: trans.NoAlgorithm, Span: loaded.Root.Name.Span(), Message: "the module has no algorithm: expected --mpcal in a comment"})
	}
	return s, nil
}

// constantModel is what is known of the constants.
type constantModel struct {
	values map[string]value.Value
	model  *eval.Model // evaluates expressions over them; nil: they are not known
}

// constants finds the values of the constants.
func (s *algorithmSpec) constants(named string) (*constantModel, error) {
	if filepath.Ext(named) == ".json" {
		return s.systemConstants(named)
	}
	cfg, _, shown, err := loadConfig(s.path, named, s.whole, s.diags)
	if err != nil {
		return nil, err
	}
	if shown == "" {
		return s.evaluate(&config.Config{}, nil)
	}
	// The algorithm sees the module up to its translation, and only what the
	// configuration says of that.
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
			// The checker's limits of Nat and its like are not the system's.
		default:
			s.diags.Add(source.Diagnostic{Severity: source.Warning, Code: "CompileOverride", Span: r.Name.Span,
				Message: fmt.Sprintf("%s is compiled as the module defines it, and not as %s", r.Name.Text, r.Op.Text),
				Repair:  "make it a constant, if it belongs to the configuration"})
		}
	}
	if !later {
		return s.evaluate(visible, nil)
	}
	values, err := s.valuesOfWhole(cfg)
	if err != nil || s.diags.HasErrors() {
		return nil, err
	}
	return s.evaluate(visible, values)
}

// definition is what the algorithm sees by that name: a definition of the
// module or of its define block.
func (s *algorithmSpec) definition(name string) *core.Def {
	for _, d := range s.text.Algorithm.Define {
		if d.Name == name {
			return d
		}
	}
	return s.spec.Names[name]
}

// valuesOfWhole are the values of the constants by all that the module
// defines: by definitions after the translation, too.
func (s *algorithmSpec) valuesOfWhole(cfg *config.Config) (map[string]value.Value, error) {
	m, err := eval.New(s.whole, cfg, eval.Options{Files: files{}, Environment: environment})
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

// systemConstants takes the constants of a running system's configuration, as
// one for the checker.
func (s *algorithmSpec) systemConstants(name string) (*constantModel, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	conf, err := distsys.LoadConfig(f)
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

// evaluate takes the constants from cfg, and those that it does not give from
// given.
func (s *algorithmSpec) evaluate(cfg *config.Config, given map[string]value.Value) (*constantModel, error) {
	out := &constantModel{values: map[string]value.Value{}}
	m, err := eval.New(s.spec, cfg, eval.Options{Constants: given, Files: files{}, Environment: environment})
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
	// A definition that the configuration gives a value is a constant too.
	for _, c := range cfg.Constants {
		if d := s.spec.Names[c.Name.Text]; d != nil && len(d.Params) == 0 {
			if v, err := m.Evaluate(&core.Call{At: core.At{Place: d.Span}, Def: d}); err == nil {
				out.values[d.Name] = v
			}
		}
	}
	return out, nil
}

func tellCompiled(t *term, o compileOptions, out compiled, diags *source.List) error {
	if o.json {
		d := document{}
		d.addDiagnostics(diags)
		out.Diagnostics = append(out.Diagnostics, d.Diagnostics...)
		e := json.NewEncoder(t.out)
		e.SetIndent("", "  ")
		if err := e.Encode(out); err != nil {
			return failed(err)
		}
	} else {
		diags.Print(t.err)
		for _, f := range out.Files {
			fmt.Fprintln(t.out, f)
		}
		for _, line := range out.Explain {
			fmt.Fprintln(t.out, line)
		}
		if out.ExitCode == 0 && !insideModule(o.out) {
			fmt.Fprintf(t.out, "%s is in no Go module that has %s: run 'go mod init' there and 'go get %s'\n", o.out, modulePath, modulePath)
		}
	}
	if out.ExitCode != 0 {
		return &exit{code: out.ExitCode}
	}
	return nil
}

const modulePath = "github.com/ashlar-dev/ashlar"

// insideModule says whether Go would find the packages that generated code
// imports.
func insideModule(dir string) bool {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return true
	}
	for {
		if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			return strings.Contains(string(text), modulePath)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}
