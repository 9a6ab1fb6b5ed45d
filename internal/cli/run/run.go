// SPDX-License-Identifier: Apache-2.0

// Package run implements the command run, which runs a system from its
// specification: it compiles, builds and starts the processes, checks their traces
// while they run, and stops them.
//
// In: a specification. Out: what the processes do and wait for, and a verdict on
// their traces. Promised: the processes listen on loopback only and end with the
// command, whatever it ends of. Refused: systems whose processes would have to share
// memory across a network.
package run

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/library"
	"github.com/ashlar-dev/ashlar/internal/cli/report"
	"github.com/ashlar-dev/ashlar/internal/cli/version"
)

// options are the flags of run.
type options struct {
	config, system, work, ashlar string
	library                      library.Dirs
	span                         time.Duration
	together, json               bool
}

const help = `Run compiles a Modular PlusCal system, builds it, starts a process for each of its
nodes on loopback, and checks their traces while they run: every critical section
must be a step of the specification, and every state must satisfy the invariants of
the configuration. It shows how many sections the processes execute, what each waits
for, and how many messages are in the mailboxes. It stops the processes when they
are all at their ends, after --for, when it is interrupted, or when a trace is
rejected.

Processes that share a variable run together on one node, and run says so. If they
also exchange messages, there would be no network between them: that is refused,
unless --together is given.

When the processes have ended, the check of what is left takes at most 30 seconds.

Exit codes: 0 the traces are accepted; 12 they are rejected, or an invariant is
violated; 20 undecided; 75 a statement has no value; 150 errors in the
specification; 151 errors in the configuration; 1 a process has failed, files, or the
go command; 2 usage.`

// New makes the command.
func New(t *console.Terminal) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "run FILE.tla",
		Short: "Run a system from its specification, and check what it does",
		Long:  help,
		Example: `  ashlar run specs/lockservice/lockservice.tla --for 5s
  ashlar run Spec.tla --system sys.json --json --for 1m`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), t, o, args[0]) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.config, "config", "c", "", "the configuration `FILE` (default: FILE.cfg beside FILE.tla)")
	f.DurationVar(&o.span, "for", 0, "stop after that (default: when interrupted, or when all processes have ended)")
	f.StringVar(&o.system, "system", "", "run the nodes of a sys.json `FILE` (default: one for each process, on free ports)")
	f.BoolVar(&o.together, "together", false, "run processes on one node that exchange messages and share a variable")
	f.StringVar(&o.work, "work", "", "keep the program and the traces in `DIR` (default: a temporary one, removed unless the traces are rejected)")
	f.StringVar(&o.ashlar, "ashlar", "", "the `DIR` of the sources of "+version.Module)
	o.library.AddTo(cmd)
	f.BoolVar(&o.json, "json", false, "write the result as JSON")
	return cmd
}

// failed is an error of the world.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return exit.Failed(err)
}

func run(ctx context.Context, t *console.Terminal, o options, spec string) (err error) {
	defer t.End.Over()
	s := &system{t: t, spec: spec, kept: o.work != ""}
	if !s.kept {
		dir, err := os.MkdirTemp("", "ashlar-run-")
		if err != nil {
			return failed(err)
		}
		o.work = dir
		defer func() {
			if !s.kept {
				os.RemoveAll(dir)
			}
		}()
	}
	s.o, s.traces = o, filepath.Join(o.work, "traces")
	if err := s.build(ctx); err != nil {
		if ctx.Err() != nil {
			return exit.Stopped(ctx)
		}
		return err
	}
	defer s.kill()
	defer t.End.Serve(0) // from here on, processes and files only go
	if err := s.start(ctx); err != nil {
		if ctx.Err() != nil {
			return exit.Stopped(ctx)
		}
		return failed(err)
	}
	r, err := s.follow(ctx)
	// An interrupt is one of the ways in which a run ends, so it is not one of the check.
	code, err := report.Replayed(context.WithoutCancel(ctx), t.Err, r, err)
	if err != nil {
		return err
	}
	// The report of a rejection names lines of the traces.
	s.kept = s.kept || code == exit.Safety
	return s.tell(r, code)
}

// result is what run reports as JSON.
type result struct {
	Schema   string   `json:"schema"`
	Spec     string   `json:"spec"`
	Nodes    []string `json:"nodes"`
	Together []string `json:"together,omitempty"`
	Seconds  float64  `json:"seconds"`
	Sections int      `json:"sections"`
	Trimmed  int      `json:"trimmed"`
	Verdict  string   `json:"verdict"`
	Broken   string   `json:"invariant,omitempty"`
	ExitCode int      `json:"exitCode"`
	Traces   string   `json:"traces,omitempty"` // where they are, if they were kept
}

// tell reports the verdict.
func (s *system) tell(r *ashlar.Replayed, code int) error {
	if s.o.json {
		out := result{Schema: "ashlar-run-1", Spec: s.spec, Nodes: s.conf.NodeNames(), Together: s.shared, Seconds: s.ran.Seconds(),
			Sections: r.Sections, Trimmed: r.Trimmed, Verdict: string(r.Verdict), Broken: r.Broken, ExitCode: code}
		if s.kept {
			out.Traces = s.traces
		}
		if err := s.t.JSON(out); err != nil {
			return err
		}
	} else {
		r.Print(s.t.Out)
		fmt.Fprintf(s.t.Out, "ran %.1f seconds, %.0f sections a second\n", s.ran.Seconds(), float64(r.Sections+r.Trimmed)/s.ran.Seconds())
		if s.kept {
			fmt.Fprintf(s.t.Out, "the traces are in %s\n", s.traces)
		}
	}
	if code == exit.OK {
		return nil
	}
	return exit.With(code, nil)
}
