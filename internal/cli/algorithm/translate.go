// SPDX-License-Identifier: Apache-2.0

// Package algorithm implements the commands translate and compile. They process the
// algorithm of a module: translate produces its TLA+ and PlusCal, compile the Go code of
// its archetypes.
//
// In: a module with an algorithm. Out: the module with its translation, or a Go package.
package algorithm

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/file"
	"github.com/ashlar-dev/ashlar/internal/cli/library"
	"github.com/ashlar-dev/ashlar/internal/specification"
)

// translateOptions are the flags of translate.
type translateOptions struct {
	stdout      bool
	pluscalOnly bool
	json        bool
	library     library.Dirs
}

const translateHelp = `Translate writes the translation of the module's algorithm between its markers:

  \* BEGIN TRANSLATION            the TLA+ of a PlusCal or Modular PlusCal algorithm
  \* BEGIN PLUSCAL TRANSLATION    the PlusCal of a Modular PlusCal algorithm

Missing markers are added after the comment that contains the algorithm. No other
byte of the file changes. The file is replaced atomically, and only after the result
was parsed again and found correct.

check needs no translation in the file: it translates the algorithm itself if there is none.

Exit codes: 0 translated; 150 errors in the specification; 1 files; 2 usage.`

// NewTranslate makes the command.
func NewTranslate(t *console.Terminal) *cobra.Command {
	var o translateOptions
	cmd := &cobra.Command{
		Use:   "translate FILE.tla",
		Short: "Write the TLA+ (and PlusCal) of an algorithm into its file",
		Long:  translateHelp,
		Example: `  ashlar translate specs/lockservice/lockservice.tla
  ashlar translate --stdout Spec.tla > Translated.tla
  ashlar translate --stdout --pluscal-only specs/lockservice/lockservice.tla`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runTranslate(t, o, args[0]) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&o.stdout, "stdout", false, "write the result to standard output and do not change the file")
	f.BoolVar(&o.pluscalOnly, "pluscal-only", false, "with --stdout: write only the PlusCal that a Modular PlusCal algorithm expands to")
	o.library.AddTo(cmd)
	f.BoolVar(&o.json, "json", false, "write what was done, and diagnostics, as JSON")
	return cmd
}

// translated is what translate reports to machines.
type translated struct {
	Schema      string              `json:"schema"`
	Spec        string              `json:"spec"`
	Changed     bool                `json:"changed"`
	ExitCode    int                 `json:"exitCode"`
	Diagnostics []ashlar.Diagnostic `json:"diagnostics"`
}

func runTranslate(t *console.Terminal, o translateOptions, path string) error {
	if o.pluscalOnly && !o.stdout {
		return exit.With(exit.Usage, errors.New("--pluscal-only needs --stdout: a file has both translations"))
	}
	if o.json && o.stdout {
		return exit.With(exit.Usage, errors.New("--json and --stdout both write to standard output"))
	}
	path = specification.File(path)
	out := translated{Schema: "ashlar-translate-1", Spec: path, Diagnostics: []ashlar.Diagnostic{}}
	f, err := ashlar.Translate(path, o.library.Options(""))
	var wrong *ashlar.InputError
	switch {
	case errors.As(err, &wrong):
		out.ExitCode = exit.Spec
		return tellTranslated(t, o, out, wrong.Diagnostics)
	case err != nil:
		return exit.Failed(err)
	}
	if o.stdout {
		content := f.Content
		if o.pluscalOnly {
			if f.PlusCal == "" {
				return exit.With(exit.Usage, fmt.Errorf("%s: the algorithm is plain PlusCal already", path))
			}
			content = []byte(f.PlusCal)
		}
		f.Warnings.Print(t.Err)
		_, err := t.Out.Write(content)
		return exit.Failed(err)
	}
	out.Changed, err = file.Replace(path, f.Content)
	if err != nil {
		return exit.Failed(fmt.Errorf("write the translation: %w", err))
	}
	return tellTranslated(t, o, out, f.Warnings)
}

func tellTranslated(t *console.Terminal, o translateOptions, out translated, diags ashlar.Diagnostics) error {
	if o.json {
		out.Diagnostics = append(out.Diagnostics, diags.List...)
		if err := t.JSON(out); err != nil {
			return err
		}
	} else {
		diags.Print(t.Err)
		switch {
		case out.ExitCode != 0:
		case out.Changed:
			fmt.Fprintf(t.Out, "%s: translated\n", out.Spec)
		default:
			fmt.Fprintf(t.Out, "%s: the translation is up to date\n", out.Spec)
		}
	}
	if out.ExitCode != 0 {
		return exit.With(out.ExitCode, nil)
	}
	return nil
}
