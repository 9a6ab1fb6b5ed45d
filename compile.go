// SPDX-License-Identifier: Apache-2.0

package ashlar

import (
	"github.com/ashlar-dev/ashlar/internal/compile"
	"github.com/ashlar-dev/ashlar/internal/specification"
	"github.com/ashlar-dev/ashlar/internal/system"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
)

// Translation is the result of Translate.
type Translation struct {
	// Content is the module's file with the translation between its markers. Translate
	// adds the markers if they are missing and leaves every other byte as it was.
	Content []byte
	// PlusCal is the plain PlusCal that a Modular PlusCal algorithm expands to,
	// or "" if the algorithm is already plain.
	PlusCal  string
	Warnings Diagnostics
}

// Translate translates the algorithm of the module at path, or at path.tla, to TLA+.
// It does not write the file. It ignores Options.Config, Print and Environment.
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

// CompileOptions are options of Compile. The zero value makes a package named
// after the algorithm, in lower case.
type CompileOptions struct {
	Options
	// Package is the name of the Go package.
	Package string
	// Main makes the package a command and adds an example of its
	// configuration.
	Main bool
	// Invariants are the names of definitions that the compiled code evaluates before
	// each step commits.
	Invariants []string
}

// Program is the result of Compile.
type Program struct {
	Files []File
	// Example is an example configuration of the system (sys.json): one node per
	// process, on the loopback interface. It is nil if CompileOptions.Main is false
	// or the values of the constants are unknown.
	Example []byte
	// Survive are the archetypes whose processes survive crashes. A node with one of
	// them needs a directory for its journal.
	Survive []string
	// Explain lists, one per line, the Go type found for each variable or definition,
	// or the reason why it has none.
	Explain  []string
	Warnings Diagnostics
}

// File is a file of a compiled program.
type File struct {
	Name string // without a directory
	Text []byte
}

// Compile compiles the Modular PlusCal algorithm of the module at path, or at
// path.tla, to Go code that uses package distsys. It writes no files.
// Options.Config gives the values of the constants; if its extension is .json, it
// is the configuration of a running system.
func Compile(path string, o CompileOptions) (*Program, error) {
	made, err := system.Compile(o.files(), path, system.Options{
		Options: compile.Options{Package: o.Package, Main: o.Main, Invariants: o.Invariants},
		Config:  o.Config, Libraries: o.Libraries, Evaluation: o.evaluation()})
	if err != nil {
		return nil, inputError(err)
	}
	out := &Program{Example: made.Example, Explain: made.Explain, Survive: made.Survive, Warnings: diagnostics(made.Diagnostics)}
	for _, f := range made.Files {
		out.Files = append(out.Files, File{f.Name, f.Text})
	}
	return out, nil
}
