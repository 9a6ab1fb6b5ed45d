// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
)

// stateBytesFrom is the number of states from which the bytes per state are
// meaningful.
const stateBytesFrom = 100_000

// textPropertyLines bounds the number of quoted lines of a violated property's
// definition.
const textPropertyLines = 20

// Text writes the document for people: the verdict, the reason, coverage, the
// statistics, and, prominently, what was not checked.
func (d *Document) Text(w io.Writer, p console.Palette) {
	headline := p.Bad
	switch {
	case d.Verdict == "ok" && d.Complete:
		headline = p.Good
	case d.Violation == nil:
		headline = p.Warn
	}
	if len(d.Violations) > 1 {
		writeViolations(w, d, p)
	} else {
		fmt.Fprintln(w, headline(d.Headline))
		if d.Violation != nil {
			writeViolation(w, d, p)
		}
		writeTrace(w, d, p)
		writeLoop(w, d, p)
	}
	writeCoverage(w, d, p)
	writeProfile(w, d, p)
	writeStatistics(w, d, p)
	if d.Checkpoint != "" {
		fmt.Fprintf(w, "The search can be resumed with --resume %s.\n", d.Checkpoint)
	}
	for _, g := range d.Warnings {
		fmt.Fprintf(w, "%s %s\n", p.Warn("warning:"), g)
	}
	for _, u := range d.Unchecked {
		fmt.Fprintf(w, "%s %s (%s)\n", p.Warn("NOT CHECKED:"), u.Property, u.Reason)
	}
	if d.Verdict == "incomplete" && len(d.Unchecked) > 0 {
		fmt.Fprintln(w, "Run with --safety-only to accept this.")
	}
}

// writeViolations writes a list of all violations of a search that continued
// after the first, and then each with its trace.
func writeViolations(w io.Writer, d *Document, p console.Palette) {
	fmt.Fprintln(w, p.Bad(fmt.Sprintf("%d violations were found.", len(d.Violations))))
	for i, v := range d.Violations {
		fmt.Fprintf(w, "  %d. %s\n", i+1, v.Headline)
	}
	for _, v := range d.Violations {
		fmt.Fprintf(w, "\n%s\n", p.Bad(v.Headline))
		one := &Document{Violation: &v.Violation, Trace: v.Trace, Loop: v.Loop}
		writeViolation(w, one, p)
		writeTrace(w, one, p)
		writeLoop(w, one, p)
	}
}

func writeViolation(w io.Writer, d *Document, p console.Palette) {
	v := d.Violation
	for _, a := range v.Assumptions {
		fmt.Fprintf(w, "  false: %s\n", a)
	}
	if v.Text != "" {
		fmt.Fprintln(w)
		for _, line := range strings.Split(excerpt(v.Text, textPropertyLines), "\n") {
			fmt.Fprintf(w, "    %s\n", line)
		}
		fmt.Fprintf(w, "    %s\n", p.Dim("at "+v.Place))
	}
	for i, place := range v.Places {
		word := "at"
		if i > 0 {
			word = "called at"
		}
		fmt.Fprintf(w, "  %s %s\n", word, place)
		if i < len(v.Lines) && v.Lines[i] != "" {
			fmt.Fprintf(w, "      %s\n", p.Dim(v.Lines[i]))
		}
	}
}

func writeTrace(w io.Writer, d *Document, p console.Palette) {
	if len(d.Trace) == 0 {
		return
	}
	states := fmt.Sprintf("%d states", len(d.Trace))
	if len(d.Trace) == 1 {
		states = "1 state"
	}
	what := "Shortest trace"
	if d.Loop != nil || d.Walks != nil {
		what = "Trace"
	}
	fmt.Fprintf(w, "\n%s: %s. After the first, only what changed is shown.\n", what, states)
	digits := len(fmt.Sprint(len(d.Trace)))
	for i, s := range d.Trace {
		fmt.Fprintf(w, "\n%*d  %s", digits, s.Number, p.Bold(s.Title()))
		if s.Place != "" {
			fmt.Fprintf(w, "  %s", p.Dim(s.Place))
		}
		fmt.Fprintln(w)
		if i == 0 {
			for _, v := range s.Variables {
				fmt.Fprintf(w, "%*s  %s = %s\n", digits+1, "", v.Name, v.Value)
			}
			continue
		}
		if len(s.Changes) == 0 {
			fmt.Fprintf(w, "%*s  %s\n", digits+1, "", p.Dim("nothing changes"))
		}
		for _, c := range s.Changes {
			fmt.Fprintf(w, "%*s  %s", digits+1, "", p.Change(c.String()))
			if c.Was != "" {
				fmt.Fprintf(w, "  %s", p.Dim("(was "+c.Was+")"))
			}
			fmt.Fprintln(w)
		}
	}
}

// writeLoop writes how a behaviour continues after the last state of the trace.
func writeLoop(w io.Writer, d *Document, p console.Palette) {
	switch {
	case d.Loop == nil:
	case d.Loop.Stutters:
		fmt.Fprintf(w, "\n%s\n", p.Bold("Then nothing happens any more."))
	default:
		line := fmt.Sprintf("Back to state %d: %s", d.Loop.To, d.Loop.Action)
		fmt.Fprintf(w, "\n%s", p.Bold(line))
		if d.Loop.Place != "" {
			fmt.Fprintf(w, "  %s", p.Dim(d.Loop.Place))
		}
		fmt.Fprintln(w)
	}
}

// Title returns the step's action, with the process that takes it.
func (s Step) Title() string {
	if s.Process != "" {
		return s.Action + " (" + s.Process + ")"
	}
	return s.Action
}

// writeCoverage writes the contribution of each action.
func writeCoverage(w io.Writer, d *Document, p console.Palette) {
	if d.Statistics.Generated == 0 {
		return
	}
	name, place := 0, 0
	rows := append([]covered{d.Init}, d.Actions...)
	for _, a := range rows {
		name = max(name, runewidth.StringWidth(a.Name))
		place = max(place, runewidth.StringWidth(a.Place))
	}
	fmt.Fprintf(w, "\n%s\n", p.Bold(fmt.Sprintf("%s  %13s  %13s", runewidth.FillRight("Action", name), "generated", "new")))
	for _, a := range rows {
		line := fmt.Sprintf("%s  %13s  %13s", runewidth.FillRight(a.Name, name), console.Count(a.Generated), console.Count(a.Distinct))
		if a.Generated == 0 && a.Place != "" {
			line = p.Warn(line)
		}
		if a.Place != "" {
			line += "  " + p.Dim(a.Place)
		}
		fmt.Fprintln(w, line)
	}
	if idle := d.idle(); len(idle) > 0 {
		when := "so far"
		if d.Statistics.Queue == 0 && (d.Violation == nil || d.Complete) {
			when = "in any state"
		}
		fmt.Fprintf(w, "%s %s\n", p.Warn("never enabled "+when+":"), strings.Join(idle, ", "))
	}
}

func writeStatistics(w io.Writer, d *Document, p console.Palette) {
	s := d.Statistics
	if d.Walks != nil {
		writeWalks(w, d, p)
		return
	}
	if s.Generated == 0 {
		return
	}
	states := "states"
	if s.Generated == 1 {
		states = "state"
	}
	fmt.Fprintf(w, "\n%s %s generated, %s distinct, %s left in the queue, depth %d.\n",
		console.Count(s.Generated), states, console.Count(s.Distinct), console.Count(s.Queue), s.Depth)
	if s.Reduction != nil {
		fmt.Fprintln(w, s.Reduction.text())
	}
	if s.Deepening != nil {
		fmt.Fprintln(w, s.Deepening.text())
	}
	if s.LiveStates > 0 {
		fmt.Fprintf(w, "Properties of behaviours were decided on %s states and %s steps.\n", console.Count(s.LiveStates), console.Count(s.LiveSteps))
	}
	if s.LiveLooks > 0 {
		times := "times"
		if s.LiveLooks == 1 {
			times = "time"
		}
		fmt.Fprintf(w, "They were also decided %d %s during the search.\n", s.LiveLooks, times)
	}
	workers := "1 worker"
	if s.Workers != 1 {
		workers = fmt.Sprintf("%d workers", s.Workers)
	}
	room := fmt.Sprintf("%.1f MB", float64(s.Bytes)/1e6)
	if s.DiskBytes > 0 {
		room += fmt.Sprintf(" and %.1f MB on disk", float64(s.DiskBytes)/1e6)
	}
	if s.StateBytes > 0 && s.Distinct >= stateBytesFrom {
		room += fmt.Sprintf(", %.1f B/state without the queue", s.StateBytes)
	}
	fmt.Fprintln(w, p.Dim(fmt.Sprintf("%.2f s with %s: %s states/s, %s; two states were taken for one with probability < %.1e.",
		s.Seconds, workers, console.Count(int64(s.PerSecond)), room, max(s.Collision, 1e-19))))
}
