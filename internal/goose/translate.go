// SPDX-License-Identifier: Apache-2.0

package goose

import "github.com/ashlar-dev/ashlar/internal/source"

// Output is the translation of one package.
type Output struct {
	// Path is the import path of the package, and Module that of its module, whose
	// directory is ModuleDir.
	Path, Module, ModuleDir string
	// File is where the text goes, below the folder of translations.
	File string
	// Imports are the paths of the translated packages that it needs.
	Imports []string
	Text    string
}

// Translate finds packages and translates them and those that they import,
// callees first. If any construct must be refused, it returns no translation,
// and the diagnostics report all such constructs. An error means that the go
// command failed.
func Translate(c Config) ([]Output, *source.List, error) {
	units, diags, err := Find(c)
	if err != nil {
		return nil, nil, err
	}
	var out []Output
	files := map[string]*Unit{}
	for _, u := range units {
		if other := files[File(u.Module, u.Pkg.Path())]; other != nil && len(u.Files) > 0 && len(other.Files) > 0 {
			diags.Add(source.Diagnostic{Code: NameClash, Span: u.span(u.Files[0].Name),
				Message: "package " + u.Pkg.Path() + " and package " + other.Pkg.Path() + " have one name in Coq", Repair: "rename one of them",
				Related: []source.Note{{Span: other.span(other.Files[0].Name), Message: "the other one"}}})
		}
		files[File(u.Module, u.Pkg.Path())] = u
		p, more := Lower(u)
		diags.Append(more)
		if more.HasErrors() {
			continue
		}
		o := Output{Path: p.Path, Module: u.Module, ModuleDir: u.ModuleDir, File: File(u.Module, p.Path), Text: Encode(p).String()}
		for _, i := range p.Imports {
			o.Imports = append(o.Imports, i.Path)
		}
		out = append(out, o)
	}
	if diags.HasErrors() {
		return nil, diags, nil
	}
	return out, diags, nil
}
