package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// dedalusFmtOptions are the flags of dedalus fmt.
type dedalusFmtOptions struct{ write, check, json bool }

func newDedalusFmtCommand(t *term) *cobra.Command {
	var o dedalusFmtOptions
	cmd := &cobra.Command{
		Use:   "fmt FILE.ded...",
		Short: "Lay out programs in the one way that there is",
		Long: `Fmt writes a program as it is laid out to standard output, with --write into its
file, and with --check only says whether the file would change.

With --json it writes one document (ashlar-dedalus-fmt-1): of each file whether its
layout was another, whether it was written, the text where neither --write nor
--check is given, and what is wrong with it.

Exit codes: 0 it worked; with --check, 20 a file is not laid out; 150 errors in a
program; 1 files; 2 usage.`,
		Example: `  ashlar dedalus fmt voting.ded
  ashlar dedalus fmt --write examples/voting/*.ded
  ashlar dedalus fmt --check examples/voting/*.ded
  ashlar dedalus fmt --check --json *.ded | jq '.files[] | select(.changes).file'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if o.write && o.check {
				return &exit{exitUsage, errors.New("--write and --check exclude each other")}
			}
			return runDedalusFmt(t, args, o)
		},
	}
	cmd.Flags().BoolVarP(&o.write, "write", "w", false, "write the result into the file")
	cmd.Flags().BoolVar(&o.check, "check", false, "write nothing, and name the files that would change")
	cmd.Flags().BoolVar(&o.json, "json", false, "write the result as JSON")
	return cmd
}

// dedalusFormatted is what fmt reports to machines.
type dedalusFormatted struct {
	Schema   string          `json:"schema"`
	ExitCode int             `json:"exitCode"`
	Files    []formattedFile `json:"files"`
}

// formattedFile is a file: Changes says that its layout was another, Text is the
// right one where nothing else becomes of it.
type formattedFile struct {
	File        string          `json:"file"`
	Changes     bool            `json:"changes"`
	Written     bool            `json:"written"`
	Text        string          `json:"text,omitempty"`
	Diagnostics []source.Report `json:"diagnostics"`
}

func runDedalusFmt(t *term, paths []string, o dedalusFmtOptions) error {
	doc := dedalusFormatted{Schema: "ashlar-dedalus-fmt-1", Files: []formattedFile{}}
	for _, path := range paths {
		f, code, err := formatDedalus(t, path, o)
		if err != nil {
			return err
		}
		doc.Files = append(doc.Files, f)
		doc.ExitCode = max(doc.ExitCode, code)
	}
	if o.json {
		if err := writeJSON(t, doc); err != nil {
			return err
		}
	}
	if doc.ExitCode != 0 {
		return &exit{code: doc.ExitCode}
	}
	return nil
}

// formatDedalus lays out one file, and tells of it, but for --json.
func formatDedalus(t *term, path string, o dedalusFmtOptions) (formattedFile, int, error) {
	out := formattedFile{File: path, Diagnostics: []source.Report{}}
	var diags source.List
	f, err := readDedalus(path, &diags)
	if err != nil {
		return out, 0, err
	}
	if diags.HasErrors() {
		if o.json {
			out.Diagnostics = append(out.Diagnostics, diags.Reports()...)
		} else {
			diags.Print(t.err)
		}
		return out, exitSpec, nil
	}
	text := syntax.Format(f)
	out.Changes = text != string(f.Source.Text)
	switch {
	case o.write:
		if out.Written, err = replaceFile(path, []byte(text)); err != nil {
			return out, 0, failed(err)
		}
	case !o.check && o.json:
		out.Text = text
	case !o.check:
		_, err := io.WriteString(t.out, text)
		return out, 0, failed(err)
	}
	if out.Changes && !o.json {
		fmt.Fprintln(t.out, path)
	}
	if out.Changes && o.check {
		return out, exitNotChecked, nil
	}
	return out, 0, nil
}
