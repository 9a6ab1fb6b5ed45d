package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/conform"
	"github.com/ashlar-dev/ashlar/internal/specification"
	"github.com/ashlar-dev/ashlar/source"
	"github.com/ashlar-dev/ashlar/tla/eval"
	"github.com/ashlar-dev/ashlar/tla/trans"
)

func newTraceCommand(t *term) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "Hold what a running system did against its specification",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTraceCheckCommand(t))
	return cmd
}

// traceOptions are the flags of trace check.
type traceOptions struct {
	config   string
	library  libraries
	json     bool
	stepsMax int
}

const traceCheckHelp = `Check reads the trace files that a compiled system wrote into a directory when it
ran with ASHLAR_TRACE_DIR set, one for each process, and says whether some
behaviour of the specification explains all of them: every critical section
with the values that it read and wrote, in an order that the vector clocks allow.

When none does, it names the step that no order gets past, the statement that
blocks it, and the values.

The configuration gives the constants that the system ran with.

Exit codes: 0 accepted; 12 rejected; 20 undecided: the search used up its budget,
see --max-steps; 75 a statement has no value; 130 interrupted; 150 errors in the
specification; 151 errors in the configuration; 1 files, malformed traces; 2 usage.`

func newTraceCheckCommand(t *term) *cobra.Command {
	var o traceOptions
	cmd := &cobra.Command{
		Use:   "check FILE.tla DIR",
		Short: "Does a behaviour of the specification explain these traces?",
		Long:  traceCheckHelp,
		Example: `  ASHLAR_TRACE_DIR=traces ./lockservice -config sys.json -node server
  ashlar trace check specs/lockservice/lockservice.tla traces`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTraceCheck(cmd.Context(), t, o, args[0], args[1])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.config, "config", "c", "", "the configuration `FILE` (default: FILE.cfg beside FILE.tla)")
	o.library.addTo(cmd)
	f.IntVar(&o.stepsMax, "max-steps", 0, fmt.Sprintf("give up after `N` search steps (default %d)", conform.StepsMax))
	f.BoolVar(&o.json, "json", false, "write the result as JSON")
	return cmd
}

// traceReport is what trace check tells machines.
type traceReport struct {
	Schema    string         `json:"schema"`
	Spec      string         `json:"spec"`
	Dir       string         `json:"dir"`
	Verdict   string         `json:"verdict"`
	ExitCode  int            `json:"exitCode"`
	Logs      int            `json:"logs"`
	Sections  int            `json:"sections"`
	Explained int            `json:"explained"`
	Trimmed   int            `json:"trimmed"`
	Steps     int            `json:"steps"`
	Blocked   []traceBlocked `json:"blocked,omitempty"`
	State     []traceBinding `json:"state,omitempty"`
}

// traceBlocked is a section that no order gets past.
type traceBlocked struct {
	Actor  string `json:"actor"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Label  string `json:"label"`
	Place  string `json:"place,omitempty"`
	Text   string `json:"text,omitempty"`
	Reason string `json:"reason"`
}

type traceBinding struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func runTraceCheck(ctx context.Context, t *term, o traceOptions, spec, dir string) error {
	if o.stepsMax < 0 {
		return &exit{exitUsage, fmt.Errorf("--max-steps %d: want a positive number", o.stepsMax)}
	}
	m, alg, err := loadAlgorithm(spec, o, t)
	var wrong *specification.Error
	switch {
	case errors.As(err, &wrong):
		wrong.Diagnostics.Print(t.err)
		return &exit{code: exitCodeOf(wrong)}
	case err != nil:
		return err
	}
	logs, err := conform.ReadDir(os.DirFS(dir), m.Info().Name)
	if err != nil {
		return failed(err)
	}
	a := conform.NewAlgorithm(m, alg)
	r, err := conform.Check(ctx, a, logs, conform.Options{StepsMax: o.stepsMax, Hidden: len(alg.Processes()) > len(logs)})
	var step *conform.StepError
	switch {
	case errors.As(err, &step):
		return &exit{code: exitEval, err: err}
	case err != nil:
		return failed(err)
	}
	code := map[conform.Verdict]int{conform.Accepted: exitOK, conform.Rejected: exitSafety, conform.Undecided: exitNotChecked}[r.Verdict]
	if r.Verdict == conform.Undecided && ctx.Err() != nil {
		code = exitInterrupted
	}
	if !o.json {
		r.Print(t.out)
	} else if err := writeTraceReport(t, spec, dir, r, code); err != nil {
		return failed(err)
	}
	if code == exitOK {
		return nil
	}
	return &exit{code: code}
}

func writeTraceReport(t *term, spec, dir string, r *conform.Report, code int) error {
	out := traceReport{Schema: "ashlar-trace-check/1", Spec: spec, Dir: dir, Verdict: r.Verdict.String(), ExitCode: code,
		Logs: len(r.Logs), Sections: r.Sections, Explained: r.Explained, Trimmed: r.Trimmed, Steps: r.Entered}
	for _, b := range r.Blocked {
		l := r.Logs[b.Log]
		e := l.Events[b.Event]
		out.Blocked = append(out.Blocked, traceBlocked{Actor: l.Actor, File: filepath.Join(dir, l.Name), Line: e.Line, Label: e.Label,
			Place: b.Obstacle.Place, Text: b.Obstacle.Text, Reason: b.Obstacle.Reason})
	}
	for _, b := range r.State {
		out.State = append(out.State, traceBinding{b.Name, b.Value})
	}
	e := json.NewEncoder(t.out)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

// loadAlgorithm loads a specification for the sake of its algorithm.
func loadAlgorithm(spec string, o traceOptions, t *term) (*eval.Model, *eval.Algorithm, error) {
	s, err := specification.Load(files{}, spec, specification.Options{Config: o.config, Libraries: o.library.directories(), Retranslate: true})
	var wrong *specification.Error
	switch {
	case errors.As(err, &wrong):
		return nil, nil, err
	case err != nil:
		return nil, nil, failed(err)
	}
	if s.Loaded.Plain == nil {
		s.Diagnostics.Add(source.Diagnostic{Code: trans.NoAlgorithm, Span: s.Loaded.Root.Name.Span(),
			Message: "the module has no algorithm: traces are those of Modular PlusCal archetypes"})
		return nil, nil, &specification.Error{Diagnostics: s.Diagnostics}
	}
	m, err := s.Model(eval.Options{})
	if err != nil {
		return nil, nil, err
	}
	s.Diagnostics.Print(t.err)
	alg, err := m.Algorithm()
	if err != nil {
		return nil, nil, &exit{code: exitEval, err: err}
	}
	return m, alg, nil
}
