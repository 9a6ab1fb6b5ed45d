// SPDX-License-Identifier: Apache-2.0

// Package load brings a specification from files to the core language: it
// reads the root module, finds what it extends and instantiates, translates an
// algorithm that has no translation, resolves and lowers.
//
// In: a Files, the path of a root module, and how algorithms are translated.
// Out: a Loaded, and the diagnostics of all passes. The package opens no files
// itself and knows no algorithm's meaning.
//
// A module is looked for beside the root, then in the root's file after it, then
// in the libraries in their order, then among the standard modules that come with
// the tool. It promises that places in the user's files stay as they are: what an
// algorithm declares has places in the algorithm, and is known from where its
// translation stands, or would stand behind the algorithm.
package load

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/lower"
	"github.com/ashlar-dev/ashlar/internal/tla/module"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/resolve"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// Files is where modules are read from.
type Files interface {
	// ReadFile returns the content of a file. Where there is no such file the
	// error satisfies errors.Is(err, fs.ErrNotExist).
	ReadFile(name string) ([]byte, error)
}

// Lister is a Files that knows what is there; it makes messages about missing
// modules better.
type Lister interface {
	// List returns the names of the files in a directory.
	List(dir string) ([]string, error)
}

// Untranslated is an algorithm for Options.Translate: the root module, resolved
// up to the place of the translation.
type Untranslated struct {
	Module *syntax.Module
	// Program is the lowering of the module, and Scope what the algorithm's
	// expressions may use of what stands before the translation.
	Program *lower.Program
	Scope   *lower.Scope
}

// Translation is what an algorithm becomes.
type Translation struct {
	// Declares is what the algorithm adds to the module, over the Program of the
	// Untranslated.
	Declares lower.Declared
	// Print writes it as TLA+.
	Print func() []Printed
	// Algorithm is the algorithm as it is written, and Plain what it expands to:
	// its variables and labels have the names that they are declared with.
	Algorithm, Plain *pcal.Algorithm
}

// Printed is a unit of a translation as text; Name is that of a definition. Compared
// is set for those that say what the algorithm does: the initial predicate, the actions
// of labels and crashes, and the bound of crashes.
type Printed struct {
	Name, Text string
	Compared   bool
}

// Options change what Load does. The zero value loads TLA+ and the
// translations that stand in the files.
type Options struct {
	// Translate translates the root module's algorithm. Load calls it when the
	// algorithm is a modular one, or has no translation in the file. Errors go
	// to diags, which is the list of the Program; the result is not used then.
	Translate func(u *Untranslated, diags *source.List) Translation
	// TranslateOnly stops behind the algorithm: there is no Loaded.
	TranslateOnly bool
	// Retranslate calls Translate for a plain algorithm that has a translation
	// in the file, too, and uses what it makes.
	Retranslate bool
	// Libraries are directories in which modules are looked for that are not beside
	// the root, in order. A directory that does not exist has no modules.
	Libraries []string
	// WarnStale compares the translation in the file with the one that
	// Translate makes, and warns where they say different things. The warning
	// says which of the two is used.
	WarnStale bool
}

// Loaded is a specification.
type Loaded struct {
	Root *syntax.Module // as parsed, without a translation that is not used
	// Modules are all modules that the root reaches, it too.
	Modules []*resolve.Module
	Info    *resolve.Info
	Program *lower.Program
	Spec    *core.Spec
	// Algorithm and Plain are what Translate made, nil when it was not called.
	Algorithm, Plain *pcal.Algorithm
}

// Load loads the module in the file at path. The Loaded is nil when the list
// has errors, or with TranslateOnly. The error says that a file could not be read.
func Load(files Files, path string, options Options) (*Loaded, *source.List, error) {
	diags := new(source.List)
	text, err := files.ReadFile(path)
	if err != nil {
		return nil, diags, fmt.Errorf("read module: %w", err)
	}
	l := &loader{files: files, dir: filepath.Dir(path), options: options, diags: diags, found: map[string]*found{}}
	out := l.root(path, text)
	if l.err != nil {
		return nil, diags, l.err
	}
	if diags.HasErrors() {
		return nil, diags, nil
	}
	return out, diags, nil
}

// loader is the work on one root; it is the resolver's library.
type loader struct {
	files   Files
	dir     string
	file    *source.File   // the root's
	further map[string]int // the modules after the root in its file
	options Options
	diags   *source.List
	found   map[string]*found
	err     error // the first file that could not be read
}

// found is a module that was looked for; module is nil where there is none.
type found struct {
	module   *syntax.Module
	standard bool
	diags    *source.List
}

func (l *loader) root(path string, text []byte) *Loaded {
	file := source.NewFile(path, text)
	l.file, l.further = file, syntax.Further(file)
	m, list := syntax.ParseModule(file)
	whole, wholeList := m, list
	made := false
	if l.options.Translate != nil && m.Algorithm != nil && (m.Algorithm.Modular || untranslated(m) || l.options.Retranslate) {
		// A stale translation cannot matter, not even one that does not parse.
		m, list = syntax.ParseModuleMode(file, syntax.SkipTranslation)
		made = true
	}
	l.diags.Append(list)
	base := strings.TrimSuffix(filepath.Base(path), ".tla")
	if !l.diags.HasErrors() && m.Name.Text != base {
		l.diags.Add(source.Diagnostic{Code: resolve.ModuleName, Span: m.Name.Span(),
			Message: fmt.Sprintf("module %s stands in the file %s", m.Name.Text, filepath.Base(path)),
			Repair:  "name the file " + m.Name.Text + ".tla, or the module " + base})
	}
	if l.diags.HasErrors() {
		return nil
	}
	out := &Loaded{}
	if !made && l.options.WarnStale && l.options.Translate != nil && m.Algorithm != nil && !m.Algorithm.Modular {
		l.warnStale(m)
	}
	out.Root = m
	if made {
		var t Translation
		out.Info, out.Program, t = l.translate(m, l.options.TranslateOnly)
		out.Algorithm, out.Plain = t.Algorithm, t.Plain
		if t.Print != nil && l.options.WarnStale && !untranslated(whole) {
			l.warnUnused(whole, wholeList, t)
		}
	} else {
		out.Info = resolve.Resolve(m, l, resolve.Options{}, l.diags)
		out.Program = lower.New(out.Info, l.diags)
	}
	if l.err != nil || l.diags.HasErrors() || l.options.TranslateOnly {
		return nil
	}
	out.Modules = out.Info.Modules
	out.Spec = out.Program.Spec()
	return out
}

// untranslated reports whether the module has no translation in the file: no
// markers, or none with anything between them.
func untranslated(m *syntax.Module) bool {
	return m.Translation == nil || strings.TrimSpace(m.Translation.Inner.Text()) == ""
}

// translate resolves the module with what its algorithm declares. After an error
// the Translation is empty where the error stands in what comes before that.
func (l *loader) translate(m *syntax.Module, stop bool) (*resolve.Info, *lower.Program, Translation) {
	var p *lower.Program
	var out Translation
	info := resolve.Resolve(m, l, resolve.Options{At: lower.TranslationPoint(m), Stop: stop, Insert: func(info *resolve.Info) []*resolve.Symbol {
		p = lower.New(info, l.diags)
		made := l.options.Translate(&Untranslated{Module: m, Program: p, Scope: p.AlgorithmScope()}, l.diags)
		if l.err != nil || l.diags.HasErrors() {
			return nil
		}
		out = made
		return p.Declare(out.Declares)
	}}, l.diags)
	return info, p, out
}

// Find reads and parses a module: beside the root, then behind it in its file,
// then in the libraries, then a standard one.
func (l *loader) Find(name string) (*syntax.Module, bool, *source.List) {
	if f, ok := l.found[name]; ok {
		return f.module, f.standard, f.diags
	}
	f := &found{}
	l.found[name] = f
	for i, dir := range l.directories() {
		path := filepath.Join(dir, name+".tla")
		text, err := l.files.ReadFile(path)
		if err == nil {
			f.module, f.diags = syntax.ParseModule(source.NewFile(path, text))
			return f.module, false, f.diags
		}
		if !errors.Is(err, fs.ErrNotExist) {
			if l.err == nil {
				l.err = fmt.Errorf("read module: %w", err)
			}
			return nil, false, nil
		}
		if start, ok := l.further[name]; ok && i == 0 {
			f.module, f.diags = syntax.ParseFurther(l.file, start)
			return f.module, false, f.diags
		}
	}
	var text []byte
	if text, f.standard = module.Source(name); f.standard {
		f.module, f.diags = syntax.ParseModule(source.NewFile(name+".tla", text))
	}
	return f.module, f.standard, f.diags
}

// directories are where modules are looked for, in order.
func (l *loader) directories() []string { return append([]string{l.dir}, l.options.Libraries...) }

// Searched says where Find looks.
func (l *loader) Searched() []string {
	var places []string
	for _, dir := range l.directories() {
		places = append(places, "the directory "+dir)
	}
	return append(places, "the standard modules")
}

// Names lists the modules that Find would find.
func (l *loader) Names() []string {
	names := append(module.Names(), slices.Sorted(maps.Keys(l.further))...)
	if lister, ok := l.files.(Lister); ok {
		for _, dir := range l.directories() {
			list, err := lister.List(dir)
			if err != nil {
				continue // only a better message is lost
			}
			for _, n := range list {
				if name, ok := strings.CutSuffix(n, ".tla"); ok {
					names = append(names, name)
				}
			}
		}
	}
	return names
}
