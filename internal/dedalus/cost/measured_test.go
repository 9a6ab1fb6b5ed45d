// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"math"
	"strings"
	"testing"
)

// TestFit: with measurements that other costs explain, the fitting comes close to them,
// and says how far off it was.
func TestFit(t *testing.T) {
	p, l := example(t, "voting")
	pr, err := Run(t.Context(), p, l)
	if err != nil {
		t.Fatal(err)
	}
	truth := flat()
	truth.Receive, truth.Send, truth.Firing = 2, 0.5, 0.1
	e, _ := Measure(p, l, truth, pr)
	m := &Measured{Where: "a test", Nodes: map[string]float64{}}
	for _, c := range e.Components {
		m.Nodes[c.Name] = c.Busiest.Total()
	}
	guess, _ := Measure(p, l, flat(), pr)
	fitted, v, err := flat().Fit([]Observation{{"voting", guess, m}})
	if err != nil {
		t.Fatal(err)
	}
	if v.Mean < 0.1 || v.MeanCalibrated > 0.05 || len(v.Errors) != 2 {
		t.Errorf("errors %+v", v)
	}
	after, _ := Measure(p, l, fitted, pr)
	if d := math.Abs(after.Throughput/e.Throughput - 1); d > 0.05 {
		t.Errorf("%.0f commands/s with fitted costs, want about %.0f", after.Throughput, e.Throughput)
	}
	m.Nodes["nobody/3"] = 1
	if _, _, err := flat().Fit([]Observation{{"voting", guess, m}}); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("want an error that names the component: %v", err)
	}
	for _, bad := range []string{`{}`, `{"nodes": {"a": -1}}`, `[`} {
		if _, err := ReadMeasured([]byte(bad)); err == nil {
			t.Errorf("%s: want an error", bad)
		}
	}
}

// TestFitRules: what rules cost is found from what nodes took.
func TestFitRules(t *testing.T) {
	truth := flat()
	truth.Firing, truth.Keep, truth.Group, truth.Join, truth.Tick = 0.2, 0.5, 0.05, 0.3, 3
	var runs []Compiled
	for _, name := range []string{"voting", "mutual", "storage", "commit", "twophase", "paxos"} {
		p, l := example(t, name)
		pr, err := Run(t.Context(), p, l)
		if err != nil {
			t.Fatal(err)
		}
		r := Compiled{Program: p, Profile: pr, Micros: map[string]float64{}}
		for i := range pr.Nodes {
			n := &pr.Nodes[i]
			x := work(p, n)
			for k, cost := range truth.rules() {
				r.Micros[n.Node] += cost * x[k] / float64(pr.Commands)
			}
			for _, k := range n.Calls {
				r.Micros[n.Node] += float64(k) / float64(pr.Commands)
			}
		}
		runs = append(runs, r)
	}
	c := DefaultCalibration()
	for _, r := range runs {
		for _, f := range r.Program.Functions {
			if f.Import != "" {
				c.Functions[f.Import+"."+f.Symbol] = 1
			}
		}
	}
	fitted, errs := c.FitRules(runs)
	for _, e := range errs {
		if e.off() > 0.1 {
			t.Errorf("%s %s: %.2f us predicted, %.2f measured", e.Program, e.Node, e.Predicted, e.Measured)
		}
	}
	got, want := fitted.rules(), truth.rules()
	for k := range got {
		if math.Abs(got[k]-want[k]) > 0.25*want[k]+0.05 {
			t.Errorf("work %d costs %.3f, want %.3f", k, got[k], want[k])
		}
	}
}
