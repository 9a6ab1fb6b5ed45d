// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/file"
	"github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// fmtOptions are the flags of dedalus fmt.
type fmtOptions struct{ write, check, json bool }

func newFmtCommand(t *console.Terminal) *cobra.Command {
	var o fmtOptions
	cmd := &cobra.Command{
		Use:   "fmt FILE.ded...",
		Short: "Format programs in the standard layout",
		Long: `Fmt writes the formatted program to standard output, or with --write into its file.
With --check it only reports whether the file would change.

With --json it writes one document (ashlar-dedalus-fmt-1): for each file whether its
layout differs, whether it was written, the text if neither --write nor --check is
given, and its errors.

Exit codes: 0 success; with --check, 20 a file is not formatted; 150 errors in a
program; 1 files; 2 usage.`,
		Example: `  ashlar dedalus fmt voting.ded
  ashlar dedalus fmt --write examples/voting/*.ded
  ashlar dedalus fmt --check examples/voting/*.ded
  ashlar dedalus fmt --check --json *.ded | jq '.files[] | select(.changes).file'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if o.write && o.check {
				return exit.With(exit.Usage, errors.New("--write and --check exclude each other"))
			}
			return runFmt(t, args, o)
		},
	}
	cmd.Flags().BoolVarP(&o.write, "write", "w", false, "write the result into the file")
	cmd.Flags().BoolVar(&o.check, "check", false, "write nothing, and name the files that would change")
	cmd.Flags().BoolVar(&o.json, "json", false, "write the result as JSON")
	return cmd
}

// formatted is what fmt reports to machines.
type formatted struct {
	Schema   string          `json:"schema"`
	ExitCode int             `json:"exitCode"`
	Files    []formattedFile `json:"files"`
}

// formattedFile describes a file. Changes reports that its layout was different.
// Text is the formatted text, if it is not written elsewhere.
type formattedFile struct {
	File        string          `json:"file"`
	Changes     bool            `json:"changes"`
	Written     bool            `json:"written"`
	Text        string          `json:"text,omitempty"`
	Diagnostics []source.Report `json:"diagnostics"`
}

func runFmt(t *console.Terminal, paths []string, o fmtOptions) error {
	doc := formatted{Schema: "ashlar-dedalus-fmt-1", Files: []formattedFile{}}
	for _, path := range paths {
		f, code, err := formatFile(t, path, o)
		if err != nil {
			return err
		}
		doc.Files = append(doc.Files, f)
		doc.ExitCode = max(doc.ExitCode, code)
	}
	if o.json {
		if err := t.JSON(doc); err != nil {
			return err
		}
	}
	if doc.ExitCode != 0 {
		return exit.With(doc.ExitCode, nil)
	}
	return nil
}

// formatFile formats one file. It reports the file unless --json will do so
// later.
func formatFile(t *console.Terminal, path string, o fmtOptions) (formattedFile, int, error) {
	out := formattedFile{File: path, Diagnostics: []source.Report{}}
	var diags source.List
	f, err := read(path, &diags)
	if err != nil {
		return out, 0, err
	}
	if diags.HasErrors() {
		if o.json {
			out.Diagnostics = append(out.Diagnostics, diags.Reports()...)
		} else {
			diags.Print(t.Err)
		}
		return out, exit.Spec, nil
	}
	text := syntax.Format(f)
	out.Changes = text != string(f.Source.Text)
	switch {
	case o.write:
		if out.Written, err = file.Replace(path, []byte(text)); err != nil {
			return out, 0, failed(err)
		}
	case !o.check && o.json:
		out.Text = text
	case !o.check:
		_, err := io.WriteString(t.Out, text)
		return out, 0, failed(err)
	}
	if out.Changes && !o.json {
		fmt.Fprintln(t.Out, path)
	}
	if out.Changes && o.check {
		return out, exit.NotChecked, nil
	}
	return out, 0, nil
}
