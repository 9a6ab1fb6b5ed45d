// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/dedalus/cost"
)

// rejectedShown is the number of alternatives to a step that the text shows
// without --verbose.
const rejectedShown = 3

// writeOptimizeText writes the result of an optimization as text.
func writeOptimizeText(w io.Writer, d *optimizeDocument, p console.Palette, verbose bool) {
	fmt.Fprintf(w, "%s %s\n", p.Bold("as it is:"), estimateLine(d.Before))
	writeLoads(w, d.Before)
	if d.Validation != nil {
		writeValidation(w, d.Validation)
	}
	for i, s := range d.Steps {
		fmt.Fprintf(w, "\n%s\n", p.Bold(fmt.Sprintf("%d. %s", i+1, s.Step)))
		fmt.Fprintf(w, "  bottleneck:  %s, %.2f us a command on its busiest machine\n", s.Attacked, s.AttackedLoad)
		fmt.Fprintf(w, "  predicted:   %s -> %s commands/s, on %s\n", console.Count(int64(s.Before)), console.Count(int64(s.After)), many(s.Machines, "machine"))
		for _, r := range s.Moved {
			fmt.Fprintf(w, "  moves:       %s\n", r)
		}
		for _, r := range s.Copied {
			fmt.Fprintf(w, "  copies:      %s, which both sides read\n", r)
		}
		for _, r := range slices.Sorted(maps.Keys(s.Keys)) {
			fmt.Fprintf(w, "  divides:     %s by %s\n", r, s.Keys[r])
		}
		for _, a := range s.Assuming {
			fmt.Fprintf(w, "  assuming:    %s\n", a)
		}
		fmt.Fprintf(w, "  allowed by:  %s, certificate checked\n", strings.Fields(s.Step)[0])
		writeRejected(w, "  instead of:  ", s.Rejected, verbose)
	}
	fmt.Fprintf(w, "\n%s %s, %.2f times as many\n", p.Bold("after:"), estimateLine(d.After), d.gain())
	writeLoads(w, d.After)
	if d.Compared != nil {
		fmt.Fprintln(w, d.Compared)
	}
	if d.Why != "" {
		fmt.Fprintf(w, "no more, as %s\n", d.Why)
	}
	writeTies(w, d.Ties)
	if d.Stopped != "" {
		fmt.Fprintf(w, "%s %s\n", p.Warn("the search ended early:"), d.Stopped)
	}
	if verbose {
		writeRejected(w, "tried last: ", d.Left, true)
	}
	fmt.Fprintf(w, "\n%s\n", p.Bold("the highest throughput for each number of machines and of messages in sequence:"))
	for _, pt := range d.Points {
		fmt.Fprintf(w, "  %3d machines  %2d hops  %12s commands/s  %s\n", pt.Machines, pt.Hops, console.Count(int64(pt.Throughput)), many(len(pt.Steps), "step"))
	}
	for _, f := range d.Unknown {
		fmt.Fprintf(w, "%s the cost of function %s is unknown, and assumed to be %g us: 'ashlar dedalus calibrate' measures it\n", p.Warn("warning:"), f, d.Calibration.Call)
	}
	fmt.Fprintf(w, "\nmodelled, with costs of %s; %s profiled, %s refused\n", d.Calibration.Machine, many(d.Programs, "program"), many(d.Refused, "way"))
}

// writeTies writes what prevents splitting a component, and what its author can
// change.
func writeTies(w io.Writer, ties []cost.Tie) {
	for i, t := range ties {
		if i == 0 {
			fmt.Fprintf(w, "what holds %s together:\n", t.Component)
		}
		what := "what is kept in " + t.Relation
		if t.Timer {
			what = "timer " + t.Relation
		}
		fmt.Fprintf(w, "  %s, which %s %s from\n", what, list(t.Derives), verbOf(len(t.Derives)))
		// Print a repair once for all the ties that it removes.
		if i+1 == len(ties) || ties[i+1].Repair != t.Repair {
			fmt.Fprintf(w, "    %s\n", t.Repair)
		}
	}
}

func verbOf(n int) string {
	if n == 1 {
		return "is derived"
	}
	return "are derived"
}

func estimateLine(e *cost.Estimate) string {
	return fmt.Sprintf("%s commands/s on %s; %s is the bottleneck; an answer needs %s and %s (%.0f us)", console.Count(int64(e.Throughput)),
		many(e.Machines, "machine"), e.Bottleneck, many(e.Hops, "message"), many(e.Syncs, "sync"), e.Latency)
}

func writeLoads(w io.Writer, e *cost.Estimate) {
	width := 0
	for _, c := range e.Components {
		width = max(width, len(c.Name))
	}
	for i := range e.Components {
		c := &e.Components[i]
		machines := fmt.Sprintf("%d × %d", c.Instances, c.Partitions)
		if c.Outside {
			machines = "outside"
		}
		b := c.Busiest
		fmt.Fprintf(w, "  %-*s  %-7s  %6.2f us  receive %.2f  send %.2f  derive %.2f  functions %.2f  log %.2f", width, c.Name, machines,
			b.Total(), b.Receive, b.Send, b.Derive, b.Functions, b.Log)
		if c.Tied {
			fmt.Fprintf(w, "  all parts are needed")
		}
		fmt.Fprintln(w)
	}
}

// writeValidation writes the differences between predictions and measurements.
func writeValidation(w io.Writer, v *cost.Validation) {
	fmt.Fprintf(w, "measured on %s:\n", v.Where)
	for _, e := range v.Errors {
		fmt.Fprintf(w, "  %s %s: %.2f us; predicted %.2f (%+.0f%%), after fitting %.2f (%+.0f%%)\n", e.Program, e.Component, e.Measured,
			e.Predicted, 100*(e.Predicted/e.Measured-1), e.Calibrated, 100*(e.Calibrated/e.Measured-1))
	}
	fmt.Fprintf(w, "  mean error %.0f%%, after fitting %.0f%%\n", 100*v.Mean, 100*v.MeanCalibrated)
}

// writeRejected writes the alternatives: allowed ones first, best first.
func writeRejected(w io.Writer, head string, list []cost.Candidate, all bool) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b cost.Candidate) int {
		switch {
		case a.Throughput > b.Throughput:
			return -1
		case a.Throughput < b.Throughput:
			return 1
		case a.Allowed != b.Allowed && a.Allowed:
			return -1
		case a.Allowed != b.Allowed:
			return 1
		}
		return 0
	})
	allowed := 0
	for _, c := range list {
		if c.Allowed {
			allowed++
		}
	}
	shown := list
	if !all {
		shown = slices.Concat(list[:min(rejectedShown, allowed)], list[allowed:][:min(rejectedShown, len(list)-allowed)])
	}
	for _, c := range shown {
		fmt.Fprintf(w, "%s%s: %s\n", head, c.Step, candidateFate(c))
	}
	if n := len(list) - len(shown); n > 0 {
		fmt.Fprintf(w, "%sand %d more\n", head, n)
	}
}

func candidateFate(c cost.Candidate) string {
	switch {
	case c.Throughput > 0:
		return console.Count(int64(c.Throughput)) + " commands/s at most"
	case c.Reason != "":
		return "refused, " + c.Reason
	}
	return "allowed; likely to leave more work, and not profiled"
}
