// SPDX-License-Identifier: Apache-2.0

package ashlar

import (
	"github.com/ashlar-dev/ashlar/internal/compile"
	"github.com/ashlar-dev/ashlar/internal/specification"
	"github.com/ashlar-dev/ashlar/internal/system"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
)

// Translation is what Translate makes.
type Translation struct {
	// Content is the module's file with the translation between its markers, which are
	// added where they are missing; everything else is as it was, to the byte.
	Content []byte
	// PlusCal is what a Modular PlusCal algorithm expands to, "" for a plain one.
	PlusCal  string
	Warnings Diagnostics
}

// Translate translates the algorithm of the module at path, or at path.tla, to TLA+.
// It does not write the file. Options.Config, Print and Environment do not matter.
func Translate(path string, o Options) (*Translation, error) {
	f, diags, err := trans.Translate(o.files(), specification.File(path), o.Libraries)
	if err != nil {
		return nil, err
	}
	if diags.HasErrors() {
		return nil, inputError(&specification.Error{Diagnostics: diags})
	}
	return &Translation{Content: f.Content, PlusCal: f.PlusCal, Warnings: diagnostics(diags)}, nil
}

// CompileOptions are options of Compile. The zero value makes a package that is
// named as the algorithm, in lower case.
type CompileOptions struct {
	Options
	// Package is the name of the Go package.
	Package string
	// Main makes a command of the package, and an example of its configuration.
	Main bool
	// Invariants are the names of definitions that the compiled code evaluates before
	// each step commits.
	Invariants []string
}

// Program is what Compile makes.
type Program struct {
	Files []File
	// Example is a configuration of the system (sys.json): one node for each process,
	// on loopback. It is nil without CompileOptions.Main, and where the values of the
	// constants are not known.
	Example []byte
	// Explain says, one line each, what has which Go type, and what has none and why.
	Explain  []string
	Warnings Diagnostics
}

// File is a file of a program.
type File struct {
	Name string // without a directory
	Text []byte
}

// Compile compiles the Modular PlusCal algorithm of the module at path, or at
// path.tla, to Go that runs on package distsys. It writes no files. Options.Config
// gives the values of constants; with the ending .json it is the configuration of a
// running system.
func Compile(path string, o CompileOptions) (*Program, error) {
	made, err := system.Compile(o.files(), path, system.Options{
		Options: compile.Options{Package: o.Package, Main: o.Main, Invariants: o.Invariants},
		Config:  o.Config, Libraries: o.Libraries, Evaluation: o.evaluation()})
	if err != nil {
		return nil, inputError(err)
	}
	out := &Program{Example: made.Example, Explain: made.Explain, Warnings: diagnostics(made.Diagnostics)}
	for _, f := range made.Files {
		out.Files = append(out.Files, File{f.Name, f.Text})
	}
	return out, nil
}
