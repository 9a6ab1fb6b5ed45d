// SPDX-License-Identifier: Apache-2.0

package prove

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/file"
	"github.com/ashlar-dev/ashlar/internal/goose"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// translateOptions are the flags of prove translate.
type translateOptions struct {
	out    string
	prefix string
	check  bool
	json   bool
}

const translateHelp = `Translate writes a Coq file for each package, and for each package of the same
module that it imports. The file of package M/a/b of the module M is
proofs/gen/a/b.v in the module's folder.

Code outside the subset is refused with its place, a code and, where possible, a
suggestion of what to write instead. All refusals are reported at once, and then no
file is written.

The files are those that the go command builds: GOOS, GOARCH, CGO_ENABLED and
GOFLAGS=-tags=... choose them. Files that build constraints exclude are warnings, and
if the choice matters, the head of the Coq file names the configuration.

Exit codes: 0 translated; 150 something was refused; 1 files, or the go command;
2 usage. With --check: 20 a file is missing or does not match the Go.`

func newTranslateCommand(t *console.Terminal) *cobra.Command {
	var o translateOptions
	cmd := &cobra.Command{
		Use:   "translate PACKAGE...",
		Short: "Write the Coq of Go packages",
		Long:  translateHelp,
		Example: `  ashlar prove translate ./examples/wal
  ashlar prove translate --out proofs/gen ./...
  ashlar prove translate --check ./mail/mailboat`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runTranslate(t, o, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.out, "out", "", "folder for the Coq files (default proofs/gen of the module)")
	f.StringVar(&o.prefix, "prefix", "", "logical path of that folder in Coq (default the module's name and .gen)")
	f.BoolVar(&o.check, "check", false, "write nothing; report whether the files match the Go")
	f.BoolVar(&o.json, "json", false, "write what was done, and diagnostics, as JSON")
	return cmd
}

// translated is what prove translate reports to machines.
type translated struct {
	Schema      string          `json:"schema"`
	Packages    []provedPackage `json:"packages"`
	ExitCode    int             `json:"exitCode"`
	Diagnostics []source.Report `json:"diagnostics"`
}

type provedPackage struct {
	Path    string `json:"path"`
	File    string `json:"file"`
	Changed bool   `json:"changed"`
}

// translateGo translates packages; names in diagnostics are relative to the
// current folder.
func translateGo(prefix string, patterns []string) ([]goose.Output, *source.List, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, nil, err
	}
	return goose.Translate(goose.Config{Dir: dir, Patterns: patterns, Prefix: prefix, ReadFile: os.ReadFile, Go: runGo,
		Show: func(name string) string { return relative(dir, name) }})
}

// runGo runs the go command in dir.
func runGo(dir string, args ...string) (stdout, stderr []byte, err error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var failure bytes.Buffer
	cmd.Stderr = &failure
	stdout, err = cmd.Output()
	return stdout, failure.Bytes(), err
}

// relative returns a path relative to dir, as a user in dir would write it.
func relative(dir, name string) string {
	rel, err := filepath.Rel(dir, name)
	if err != nil || strings.HasPrefix(rel, ".."+string(filepath.Separator)+"..") {
		return name
	}
	return rel
}

func runTranslate(t *console.Terminal, o translateOptions, patterns []string) error {
	result := translated{Schema: "ashlar-prove-translate-1", Packages: []provedPackage{}, Diagnostics: []source.Report{}}
	out, diags, err := translateGo(o.prefix, patterns)
	if err != nil && o.json {
		// A program that reads only the document must not mistake it for a
		// success.
		result.ExitCode = exit.World
		result.Diagnostics = append(result.Diagnostics, source.Report{Severity: "error", Code: string(goose.GoError), Message: err.Error()})
		return tellTranslated(t, o, result, new(source.List))
	}
	if err != nil {
		return exit.Failed(err)
	}
	if diags.HasErrors() {
		result.ExitCode = exit.Spec
		return tellTranslated(t, o, result, diags)
	}
	dir, err := os.Getwd()
	if err != nil {
		return exit.Failed(err)
	}
	for _, p := range out {
		root := o.out
		if root == "" {
			if p.ModuleDir == "" {
				return exit.With(exit.Usage, fmt.Errorf("package %s is not in a module: name the output folder with --out", p.Path))
			}
			root = filepath.Join(p.ModuleDir, "proofs", "gen")
		}
		name := filepath.Join(root, filepath.FromSlash(p.File))
		done := provedPackage{Path: p.Path, File: relative(dir, name)}
		done.Changed, err = writeChanged(name, []byte(p.Text), o.check)
		if err != nil {
			return exit.Failed(fmt.Errorf("write the translation of %s: %w", p.Path, err))
		}
		if done.Changed && o.check {
			result.ExitCode = exit.NotChecked
		}
		result.Packages = append(result.Packages, done)
	}
	return tellTranslated(t, o, result, diags)
}

// writeChanged writes a file if its content differs, unless it may only check,
// and reports whether the content differed.
func writeChanged(name string, content []byte, look bool) (bool, error) {
	old, err := os.ReadFile(name)
	switch {
	case err == nil && string(old) == string(content):
		return false, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, err
	case look:
		return true, nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return false, err
	}
	return true, file.Write(name, content, 0o644)
}

func tellTranslated(t *console.Terminal, o translateOptions, result translated, diags *source.List) error {
	if o.json {
		result.Diagnostics = append(result.Diagnostics, diags.Reports()...)
		if err := t.JSON(result); err != nil {
			return err
		}
	} else {
		diags.Print(t.Err)
		for _, p := range result.Packages {
			switch {
			case !p.Changed:
				fmt.Fprintf(t.Out, "%s: up to date\n", p.File)
			case o.check:
				fmt.Fprintf(t.Out, "%s: does not match %s\n", p.File, p.Path)
			default:
				fmt.Fprintf(t.Out, "%s: written\n", p.File)
			}
		}
	}
	if result.ExitCode != 0 {
		return exit.With(result.ExitCode, nil)
	}
	return nil
}
