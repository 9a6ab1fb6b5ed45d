// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// flat is a calibration with round numbers: a message costs a microsecond on each side, and a
// derived row costs a tenth.
func flat() *Calibration {
	return &Calibration{Machine: "flat", Cores: 1, Receive: 1, Send: 1, Firing: 0.1, UnderWay: 256, Row: 2, Hop: 110, Sync: 500,
		Functions: map[string]float64{}, Call: 1, Up: 0.999}
}

func example(t *testing.T, name string) (*logic.Program, *Load) {
	t.Helper()
	text, err := os.ReadFile("../../../examples/dedalus/" + name + ".ded")
	if err != nil {
		t.Fatal(err)
	}
	load, err := os.ReadFile("../../../examples/dedalus/" + name + ".load")
	if err != nil {
		t.Fatal(err)
	}
	p := given.Program(t, string(text))
	return p, readLoad(t, p, name+".load", string(load))
}

func readLoad(t *testing.T, p *logic.Program, name, text string) *Load {
	t.Helper()
	l, errs := parseLoad(p, name, text)
	if l == nil {
		t.Fatal(errs)
	}
	return l
}

func parseLoad(p *logic.Program, name, text string) (*Load, string) {
	var diags source.List
	l := ParseLoad(source.NewFile(name, []byte(text)), p, &diags)
	var b strings.Builder
	diags.Print(&b)
	return l, b.String()
}

// TestData runs scripts: "program" reads a program, "load" reads a load and prints it,
// "profile" runs the program under the load, "rewrite" first applies steps, "estimate" prints
// the cost, and "optimize" prints the result of the search, with round costs or the default
// ones.
func TestData(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var p *logic.Program
		var l *Load
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "program":
				p = given.Program(t, d.Input)
				l = DefaultLoad(p)
				return ""
			case "example":
				p, l = example(t, d.CmdArgs[0].Key)
				return ""
			case "load":
				got, errs := parseLoad(p, "p.load", d.Input)
				if got == nil {
					return errs
				}
				l = got
				return fmt.Sprintf("%d clients, %d commands, warm %v, outside %v, functions %v\nsend %v\nwait %v\n",
					l.Clients, l.Commands, l.Warm, l.Outside, l.Functions, sends(l), waits(l))
			case "rewrite":
				for _, line := range strings.Split(d.Input, "\n") {
					s, err := rewrite.ParseStep(line)
					if err != nil {
						return err.Error() + "\n"
					}
					q, _, refused := apply(p, s)
					if refused != "" {
						return refused + "\n"
					}
					p = q
				}
				return ""
			case "profile":
				pr, err := Run(t.Context(), p, l)
				if err != nil {
					return err.Error() + "\n"
				}
				return showProfile(pr)
			case "estimate":
				pr, err := Run(t.Context(), p, l)
				if err != nil {
					return err.Error() + "\n"
				}
				e, unknown := Measure(p, l, flat(), pr)
				return showEstimate(e) + fmt.Sprintf("functions of unknown cost: %v\n", unknown)
			case "optimize":
				o := Options{}
				d.MaybeScanArgs(t, "machines", &o.Machines)
				d.MaybeScanArgs(t, "width", &o.Width)
				d.MaybeScanArgs(t, "profiled", &o.Profiled)
				d.MaybeScanArgs(t, "depth", &o.Depth)
				costs := flat()
				if d.HasArg("costs") {
					costs = DefaultCalibration()
				}
				r, err := Optimize(t.Context(), p, l, costs, o)
				if err != nil {
					return err.Error() + "\n"
				}
				return showResult(t, r)
			case "cuts":
				c := p.Component(d.CmdArgs[0].Key)
				var b strings.Builder
				for _, s := range cuts(p, c) {
					fmt.Fprintln(&b, s.rules())
				}
				return b.String()
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

func sends(l *Load) string {
	var out []string
	for _, s := range l.Sends {
		out = append(out, fmt.Sprintf("%s%v to %s/%d", s.Input, s.Args, s.Component, s.Instance))
	}
	return strings.Join(out, "; ")
}

func waits(l *Load) string {
	var out []string
	for _, w := range l.Waits {
		out = append(out, fmt.Sprintf("%s%v", w.Output, w.Args))
	}
	return strings.Join(out, "; ")
}

func showProfile(pr *Profile) string {
	var b strings.Builder
	for _, n := range pr.Nodes {
		fmt.Fprintf(&b, "%s: %d received, %d sent, %d ticks, %d rows to the disk in %d, firings %v", n.Node, n.Received, n.Sent, n.Ticks, n.Durable, n.Syncs, n.Firings)
		if len(n.Calls) > 0 {
			fmt.Fprintf(&b, ", calls %v", n.Calls)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "outputs %v, by %s, %d syncs\n", pr.Outputs, strings.Join(pr.Path, " "), pr.Syncs)
	return b.String()
}

func showEstimate(e *Estimate) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.0f commands/s, %s is the bottleneck, %d machines, %d hops, %d syncs, %.0f us, up %.4f\n", e.Throughput, e.Bottleneck, e.Machines, e.Hops, e.Syncs, e.Latency, e.Up)
	for _, c := range e.Components {
		p := c.Busiest
		fmt.Fprintf(&b, "  %s %d × %d: %.2f us: receive %.2f, send %.2f, derive %.2f, functions %.2f, log %.2f\n", c.Name, c.Instances, c.Partitions,
			p.Total(), p.Receive, p.Send, p.Derive, p.Functions, p.Log)
	}
	return b.String()
}

// showResult prints a result, and checks that its steps lead to its program.
func showResult(t *testing.T, r *Result) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "before: %s", showEstimate(r.Before))
	p := r.Original
	for _, d := range r.Steps {
		fmt.Fprintf(&b, "%s\n  against %s (%.2f us): %.0f to %.0f on %d machines\n", d.Step, d.Attacked, d.AttackedLoad, d.Before, d.After, d.Machines)
		s, err := rewrite.ParseStep(d.Step)
		if err != nil {
			t.Errorf("%s: %v", d.Step, err)
			continue
		}
		if p, _, err = rewrite.Apply(p, s); err != nil {
			t.Fatalf("%s: %v", d.Step, err)
		}
	}
	if p.String() != r.Program.String() {
		t.Error("the steps do not make the program of the result")
	}
	fmt.Fprintf(&b, "after: %s%s\n", showEstimate(r.After), r.Why)
	for _, tie := range r.Ties {
		fmt.Fprintf(&b, "  held by %s (timer %v) for %s: %s\n", tie.Relation, tie.Timer, strings.Join(tie.Derives, ", "), tie.Repair)
	}
	for _, p := range r.Points {
		fmt.Fprintf(&b, "  %d machines, %d hops: %.0f\n", p.Machines, p.Hops, p.Throughput)
	}
	return b.String()
}
