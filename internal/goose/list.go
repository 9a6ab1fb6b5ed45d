// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/types"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// The proved code must be the built code. packages.Load treats a failing go
// command as one that found nothing, a pattern that matches nothing is only a
// warning of the go command, and files excluded by build constraints disappear
// silently. So the go command runs a second time, for names only: its output is
// compared with the loaded packages, and its messages are the error.

// listed is a package as go list names it.
type listed struct {
	path, dir  string
	matches    []string // the patterns that it matches
	left       []string // Go files that build constraints leave out, without tests
	goos, arch string
	settings   string // GOOS/GOARCH, tags and cgo, for people
}

// listFormat prints a line for each package, its fields between tabs and their
// items between NUL characters.
const listFormat = `{{if not .DepOnly}}{{.ImportPath}}	{{.Dir}}	{{join .Match "\x00"}}	{{join .IgnoredGoFiles "\x00"}}	` +
	`{{context.GOOS}}	{{context.GOARCH}}	{{join context.BuildTags ","}}	{{context.CgoEnabled}}{{end}}`

// list asks the go command which packages the patterns match. It is an error
// where the command fails, and where a pattern matches nothing.
func (c Config) list(patterns []string) ([]listed, error) {
	// With the flags of packages.Load, so that what stops that stops this.
	args := append([]string{"list", "-e", "-deps", "-export", "-compiled", "-f", listFormat, "--"}, patterns...)
	stdout, stderr, err := c.Go(c.Dir, args...)
	words := strings.TrimSpace(string(stderr))
	if err != nil && words == "" {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []listed
	matched := map[string]bool{}
	for line := range strings.Lines(string(stdout)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 8 {
			continue // an empty line, of a package that is only imported
		}
		p := listed{path: fields[0], dir: fields[1], matches: items(fields[2]), goos: fields[4], arch: fields[5]}
		for _, name := range items(fields[3]) {
			if !strings.HasSuffix(name, "_test.go") {
				p.left = append(p.left, name)
			}
		}
		p.settings = p.goos + "/" + p.arch
		if fields[6] != "" {
			p.settings += ", tags " + strings.ReplaceAll(fields[6], ",", ", ")
		}
		if fields[7] == "false" {
			p.settings += ", without cgo"
		}
		for _, m := range p.matches {
			matched[m] = true
		}
		all = append(all, p)
	}
	switch {
	case len(all) == 0 && words != "":
		return nil, fmt.Errorf("no package is loaded: %s", words)
	case len(all) == 0:
		return nil, fmt.Errorf("no package is loaded: the go command lists none for %s", strings.Join(patterns, " "))
	}
	for _, pattern := range patterns {
		if !matched[pattern] {
			return nil, fmt.Errorf("%s matches no package: %s", pattern, words)
		}
	}
	return all, nil
}

func items(field string) []string {
	if field == "" {
		return nil
	}
	return strings.Split(field, "\x00")
}

// constrained reports whether it depends on the configuration that a file is built:
// by its name, or by a //go:build line.
func constrained(name string, file *ast.File) bool {
	// A system and a machine that do not exist: of names, only those without either
	// match.
	nowhere := build.Context{GOOS: "none", GOARCH: "none", Compiler: "gc",
		OpenFile: func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("package p\n")), nil }}
	match, err := nowhere.MatchFile("", filepath.Base(name))
	if err != nil || !match {
		return true
	}
	for _, g := range file.Comments {
		if g.Pos() > file.Package {
			break
		}
		for _, comment := range g.List {
			if constraint.IsGoBuild(comment.Text) || constraint.IsPlusBuild(comment.Text) {
				return true
			}
		}
	}
	return false
}

// wide reports whether int has the 64 bits that the translation gives it.
func wide(arch string) bool {
	sizes := types.SizesFor("gc", arch)
	return sizes != nil && sizes.Sizeof(types.Typ[types.Int]) == 8
}

// leftOut finds packages that a pattern of folders with "..." passes over
// because build constraints leave out each of their files: the go command says
// nothing of them.
func (c Config) leftOut(patterns []string, all []listed) ([]string, error) {
	have := map[string]bool{}
	for _, p := range all {
		have[p.dir] = true
	}
	var out []string
	for _, pattern := range patterns {
		before, _, dots := strings.Cut(filepath.ToSlash(pattern), "...")
		if !dots || !build.IsLocalImport(before) && !filepath.IsAbs(before) {
			continue
		}
		root := before
		if !filepath.IsAbs(root) {
			root = filepath.Join(c.Dir, root)
		}
		root, err := filepath.Abs(root)
		if err != nil {
			return nil, err
		}
		err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if base := filepath.Base(name); d.IsDir() {
				inner, _ := filepath.Glob(filepath.Join(name, "go.mod"))
				if name != root && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "vendor" || len(inner) > 0) {
					return fs.SkipDir
				}
				return nil
			} else if strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go") && !strings.HasPrefix(base, ".") && !strings.HasPrefix(base, "_") &&
				!have[filepath.Dir(name)] && !slices.Contains(out, filepath.Dir(name)) {
				out = append(out, filepath.Dir(name))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
