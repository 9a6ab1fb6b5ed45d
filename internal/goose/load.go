// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// primitivePath is where the packages live that proofs/trusted/primitive.v
// describes; their Go is not translated.
const primitivePath = "github.com/ashlar-dev/ashlar/goose/primitive/"

// Unit is a package with types, as Lower wants it.
type Unit struct {
	Fset  *token.FileSet
	Files []*ast.File
	Pkg   *types.Package
	Info  *types.Info
	// Texts are the files' contents by name, and Names how messages call them.
	Texts map[string]*source.File
	// Module is the path of the module whose packages are translated together.
	Module string
	// ModuleDir is the folder of the module.
	ModuleDir string
	// Prefix is the logical path of Coq under which they are.
	Prefix string
	// Configuration is the build's configuration, if it decides which files the
	// package has; Left are the Go files that it excludes.
	Configuration string
	Left          []string
	// Directives are the functions of all loaded packages that have one, by their
	// full names.
	Directives map[string]string
	// Quiet has the full names of the functions in previously translated packages
	// that have no visible effects.
	Quiet map[string]bool
	// Errors has the full names of the package variables in these packages that hold
	// a distinct error.
	Errors map[string]bool
}

// Config says what to load.
type Config struct {
	// Dir is where patterns are relative to, "" for the current directory.
	Dir string
	// Patterns are as the go command takes them.
	Patterns []string
	// Prefix is the logical path of the output in Coq; "" derives it from the
	// module's path, see Prefix.
	Prefix string
	// ReadFile reads the text of a file for messages.
	ReadFile func(name string) ([]byte, error)
	// Go runs the go command in a folder and returns its output. The error is that
	// of the process; its message is on stderr.
	Go func(dir string, args ...string) (stdout, stderr []byte, err error)
	// Show turns the name of a file into the one that messages use.
	Show func(name string) string
}

// Prefix is the logical path under which the packages of a module are in Coq:
// the last element of its path, and gen.
func Prefix(module string) string {
	elements := strings.Split(module, "/")
	last := elements[len(elements)-1]
	if n := len(elements); n > 1 && len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		last = elements[n-2] // a major version
	}
	return moduleName(last) + ".gen"
}

// Find finds the packages that match the patterns, and those of the same module
// that they import, which are also translated, callees first. Diagnostics report
// what the compiler would reject, and warn of files that build constraints
// exclude. An error means that the go command failed, and has its message, or
// that a pattern matches nothing.
func Find(c Config) ([]*Unit, *source.List, error) {
	fset := token.NewFileSet()
	patterns := c.Patterns
	var roots map[string]bool // what the patterns name
	diags := new(source.List)
	for {
		loaded, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
				packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule,
			Dir: c.Dir, Fset: fset,
		}, patterns...)
		if err != nil {
			return nil, nil, fmt.Errorf("load packages: %w", err)
		}
		sort.Slice(loaded, func(i, j int) bool { return loaded[i].PkgPath < loaded[j].PkgPath })
		if roots == nil {
			roots = map[string]bool{}
			for _, p := range loaded {
				roots[p.PkgPath] = true
			}
		}
		missing := missingImports(loaded)
		if len(missing) > 0 {
			patterns = append(append([]string(nil), patterns...), missing...)
			continue
		}
		all, err := c.list(patterns)
		if err != nil {
			return nil, nil, err
		}
		byPath := map[string]listed{}
		for _, p := range all {
			byPath[p.path] = p
		}
		for _, p := range loaded {
			delete(byPath, p.PkgPath)
		}
		for path := range byPath {
			return nil, nil, fmt.Errorf("the go command lists package %s but does not load it", path)
		}
		units, err := c.units(fset, loaded, diags)
		if err != nil {
			return nil, nil, err
		}
		names, quiet, errs := map[string]string{}, map[string]bool{}, map[string]bool{}
		for _, u := range units {
			u.Directives, u.Quiet, u.Errors = names, quiet, errs
			directives(u, names)
		}
		units = needed(units, roots)
		return units, diags, c.configure(units, all, patterns, diags)
	}
}

// configure writes into the units under which configuration they have their
// files, and adds warnings of what it leaves out.
func (c Config) configure(units []*Unit, all []listed, patterns []string, diags *source.List) error {
	settings := ""
	byPath := map[string]listed{}
	for _, p := range all {
		byPath[p.path], settings = p, p.settings
		if !wide(p.arch) {
			return fmt.Errorf("GOARCH=%s: int has 64 bits in the translation, but fewer on this architecture", p.arch)
		}
	}
	for _, u := range units {
		p := byPath[u.Pkg.Path()]
		depends := len(p.left) > 0
		for _, f := range u.Files {
			depends = depends || constrained(u.Fset.File(f.Package).Name(), f)
		}
		if !depends {
			continue
		}
		u.Configuration, u.Left = p.settings, p.left
		for _, name := range p.left {
			name = filepath.Join(p.dir, name)
			text, err := c.ReadFile(name)
			if err != nil {
				return err
			}
			diags.Warnf(spanAt(source.NewFile(c.Show(name), text), 1, 1), LeftOut, "build constraints leave this file out for %s: it is not translated", p.settings)
		}
	}
	if diags.HasErrors() {
		return nil
	}
	folders, err := c.leftOut(patterns, all)
	for _, dir := range folders {
		diags.Warnf(source.Span{}, LeftOut, "build constraints leave out every file of %s for %s: it is not translated", c.Show(dir), settings)
	}
	return err
}

// missingImports are the packages that are imported, of the module of their
// importer, and not loaded with their syntax.
func missingImports(loaded []*packages.Package) []string {
	have := map[string]bool{}
	for _, p := range loaded {
		have[p.PkgPath] = true
	}
	var missing []string
	for _, p := range loaded {
		if p.Module == nil {
			continue
		}
		for path := range p.Imports {
			if Translated(p.Module.Path, path) && !have[path] {
				have[path] = true
				missing = append(missing, path)
			}
		}
	}
	sort.Strings(missing)
	return missing
}

// Translated reports whether a package of that import path is translated where it
// is imported in the module: it is of the module, and no primitive.
func Translated(module, path string) bool {
	return (path == module || strings.HasPrefix(path, module+"/")) && !strings.HasPrefix(path, primitivePath)
}

// units turns loaded packages into Units, callees first.
func (c Config) units(fset *token.FileSet, loaded []*packages.Package, diags *source.List) ([]*Unit, error) {
	byPath := map[string]*packages.Package{}
	for _, p := range loaded {
		byPath[p.PkgPath] = p
	}
	var out []*Unit
	done := map[string]bool{}
	var visit func(p *packages.Package) error
	visit = func(p *packages.Package) error {
		if done[p.PkgPath] {
			return nil
		}
		done[p.PkgPath] = true
		var paths []string
		for path := range p.Imports {
			paths = append(paths, path)
		}
		sort.Strings(paths)
		for _, path := range paths {
			if q := byPath[path]; q != nil {
				if err := visit(q); err != nil {
					return err
				}
			}
		}
		u, err := c.unit(fset, p, diags)
		if u != nil {
			out = append(out, u)
		}
		return err
	}
	for _, p := range loaded {
		if err := visit(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c Config) unit(fset *token.FileSet, p *packages.Package, diags *source.List) (*Unit, error) {
	u := &Unit{Fset: fset, Files: p.Syntax, Pkg: p.Types, Info: p.TypesInfo, Texts: map[string]*source.File{}, Prefix: c.Prefix}
	if p.Module != nil {
		u.Module, u.ModuleDir = p.Module.Path, p.Module.Dir
	}
	if u.Prefix == "" && u.Module != "" {
		u.Prefix = Prefix(u.Module)
	}
	for _, name := range p.CompiledGoFiles {
		text, err := c.ReadFile(name)
		if err != nil {
			return nil, err
		}
		u.Texts[name] = source.NewFile(c.Show(name), text)
	}
	if len(p.Errors) == 0 {
		return u, nil
	}
	placed := false
	for _, e := range p.Errors {
		placed = placed || u.errorSpan(e).IsValid()
	}
	for _, e := range p.Errors {
		// What the go command says about its build repeats what has a place.
		if span := u.errorSpan(e); span.IsValid() || !placed {
			diags.Errorf(span, GoError, "%s", e.Msg)
		}
	}
	return nil, nil
}

// errorSpan finds the place of an error of the go command: "file:line:column".
func (u *Unit) errorSpan(e packages.Error) source.Span {
	parts := strings.Split(e.Pos, ":")
	if len(parts) < 2 {
		return source.Span{}
	}
	f := u.Texts[parts[0]]
	if f == nil {
		return source.Span{}
	}
	var line, column int
	if _, err := fmt.Sscan(parts[1], &line); err != nil {
		return source.Span{}
	}
	if len(parts) > 2 {
		if _, err := fmt.Sscan(parts[2], &column); err != nil {
			column = 1
		}
	}
	return spanAt(f, line, max(column, 1))
}

// spanAt is the place of a byte in a line.
func spanAt(f *source.File, line, column int) source.Span {
	offset := 0
	for ; line > 1 && offset < len(f.Text); offset++ {
		if f.Text[offset] == '\n' {
			line--
		}
	}
	offset = min(offset+column-1, len(f.Text))
	return source.Span{File: f, Start: int32(offset), End: int32(min(offset+1, len(f.Text)))}
}

// span is the place of a node.
func (u *Unit) span(n ast.Node) source.Span { return u.spanOf(n.Pos(), n.End()) }

func (u *Unit) spanOf(from, to token.Pos) source.Span {
	tf := u.Fset.File(from)
	if tf == nil {
		return source.Span{}
	}
	f := u.Texts[tf.Name()]
	if f == nil {
		return source.Span{}
	}
	start := tf.Offset(from)
	end := start
	if to.IsValid() && int(to)-tf.Base() <= tf.Size() {
		end = tf.Offset(to)
	}
	size := len(f.Text)
	return source.Span{File: f, Start: int32(min(start, size)), End: int32(min(end, size))}
}
