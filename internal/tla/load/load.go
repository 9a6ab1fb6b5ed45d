// SPDX-License-Identifier: Apache-2.0

// Package load reads a specification from files and lowers it to the core
// language. It reads the root module, finds the modules that it extends and
// instantiates, translates an algorithm that has no translation, resolves names
// and lowers the result.
//
// In: a Files, the path of a root module, and a function that translates
// algorithms. Out: a Loaded, and the diagnostics of all passes. The package opens
// no files itself and does not interpret algorithms.
//
// Load looks for a module beside the root, then after the root module in its
// file, then in the libraries in order, then among the built-in standard modules.
// Positions in the user's files never change. What an algorithm declares has its
// position in the algorithm, and is visible from the position of its translation
// or, if there is none, from the end of the algorithm.
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
	// ReadFile returns the content of a file. If the file does not exist, the
	// error satisfies errors.Is(err, fs.ErrNotExist).
	ReadFile(name string) ([]byte, error)
}

// Lister is a Files that can list its files. It improves messages about missing
// modules.
type Lister interface {
	// List returns the names of the files in a directory.
	List(dir string) ([]string, error)
}

// Untranslated is an algorithm for Options.Translate: the root module, resolved
// up to the position of the translation.
type Untranslated struct {
	Module *syntax.Module
	// Program is the lowering of the module. Scope has the names from before
	// the translation that the algorithm's expressions may use.
	Program *lower.Program
	Scope   *lower.Scope
}

// Translation is the translation of an algorithm.
type Translation struct {
	// Declares is what the algorithm adds to the module, in terms of the Program
	// of the Untranslated.
	Declares lower.Declared
	// Print writes the translation as TLA+.
	Print func() []Printed
	// Algorithm is the algorithm as written, and Plain the algorithm that it
	// expands to. The variables and labels of Plain have the names that they are
	// declared with.
	Algorithm, Plain *pcal.Algorithm
}

// Printed is a unit of a translation as text; Name is the name of a definition.
// Compared is set for the units that describe the algorithm's behaviour: the initial
// predicate, the actions of labels and crashes, and the bound on crashes.
type Printed struct {
	Name, Text string
	Compared   bool
}

// Options change what Load does. The zero value loads TLA+ and the translations
// in the files.
type Options struct {
	// Translate translates the root module's algorithm. Load calls it if the
	// algorithm is Modular PlusCal or has no translation in the file. Translate
	// reports errors to diags, which is the list of the Program; Load then
	// ignores the result.
	Translate func(u *Untranslated, diags *source.List) Translation
	// TranslateOnly makes Load stop after the algorithm and return no Loaded.
	TranslateOnly bool
	// Retranslate makes Load call Translate for a plain algorithm even if the
	// file has a translation, and use the result.
	Retranslate bool
	// Libraries are the directories to search, in order, for modules that are not
	// beside the root. A directory that does not exist has no modules.
	Libraries []string
	// WarnStale makes Load compare the translation in the file with the one
	// that Translate makes, and warn if they differ in meaning. The warning
	// says which of the two is used.
	WarnStale bool
}

// Loaded is a specification.
type Loaded struct {
	Root *syntax.Module // as parsed, without a translation that is not used
	// Modules are all modules that the root reaches, including the root.
	Modules []*resolve.Module
	Info    *resolve.Info
	Program *lower.Program
	Spec    *core.Spec
	// Algorithm and Plain come from the Translation. They are nil if Translate
	// was not called.
	Algorithm, Plain *pcal.Algorithm
}

// Load loads the module in the file at path. The Loaded is nil if the list has
// errors, or with TranslateOnly. A non-nil error means that a file could not be
// read.
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

// loader loads one root module. It is the resolver's library.
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

// found is the result of looking for a module; module is nil if there is none.
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
		// A stale translation must not matter, even if it does not parse.
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

// untranslated reports whether the module has no translation in the file: there
// are no markers, or nothing between them.
func untranslated(m *syntax.Module) bool {
	return m.Translation == nil || strings.TrimSpace(m.Translation.Inner.Text()) == ""
}

// translate resolves the module together with what its algorithm declares. The
// Translation is empty if there is an error in the text before the algorithm's
// translation.
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

// Find finds and parses a module. It looks beside the root, then after the root
// module in its file, then in the libraries, then among the standard modules.
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

// directories are the directories to search for modules, in order.
func (l *loader) directories() []string { return append([]string{l.dir}, l.options.Libraries...) }

// Searched describes where Find looks.
func (l *loader) Searched() []string {
	var places []string
	for _, dir := range l.directories() {
		places = append(places, "the directory "+dir)
	}
	return append(places, "the standard modules")
}

// Names lists the modules that Find could find.
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
