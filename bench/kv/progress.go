// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"time"
)

// progress shows what is going on: one line that is overwritten on a
// terminal, elsewhere a line for each phase that is done.
type progress struct {
	out      io.Writer
	terminal bool
	now      func() time.Time
	start    time.Time
	stage    string
}

func newProgress(out io.Writer, terminal bool, now func() time.Time) *progress {
	return &progress{out: out, terminal: terminal, now: now, start: now()}
}

// line shows what a child says.
func (p *progress) line(round, rounds int, s spec, l line) {
	if l.Stage != "" {
		p.stage = l.Stage
	}
	if !p.terminal {
		return
	}
	percent := ""
	if p.stage == "run" && s.Ops > 0 {
		percent = fmt.Sprintf(" %d %%", min(100, 100*l.Progress/s.Ops))
	}
	fmt.Fprintf(p.out, "\r\x1b[K%s round %d/%d: %s %s: %s%s", p.elapsed(), round, rounds, s.Workload, s.Engine, p.stage, percent)
}

// result shows what a phase came to.
func (p *progress) result(r *result) {
	if p.terminal {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	what := ""
	switch {
	case r.Skipped != "":
		what = "not run: " + r.Skipped
	case r.Error != "":
		what = "failed: " + r.Error
	case r.Workload == "R":
		what = fmt.Sprintf("%.0f ms", r.OpenSeconds*1000)
	default:
		what = fmt.Sprintf("%s op/s%s", thousands(rate(r)), star(r.cut()))
	}
	fmt.Fprintf(p.out, "%s round %d: %-6s %-15s %s\n", p.elapsed(), r.Round, r.Workload, r.Engine, what)
}

// say shows a remark.
func (p *progress) say(format string, args ...any) {
	fmt.Fprintf(p.out, p.elapsed()+" "+format+"\n", args...)
}

func (p *progress) elapsed() string {
	return fmt.Sprintf("%6.1fs", p.now().Sub(p.start).Seconds())
}
