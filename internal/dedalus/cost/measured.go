// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Measured is a measurement of a program on machines.
type Measured struct {
	// Where names the machines.
	Where string `json:"where"`
	// Nodes has the processor time of each node for a command, in microseconds, by the name of
	// the node, such as leader/0, or by the name of its component for the busiest of its nodes.
	// A node with time 0 is not compared.
	Nodes map[string]float64 `json:"nodes"`
	// Throughput is in commands per second, or 0 if it was not measured.
	Throughput float64 `json:"throughput,omitempty"`
}

// ReadMeasured reads a measurement from JSON.
func ReadMeasured(text []byte) (*Measured, error) {
	m := &Measured{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("read measurements: %w", err)
	}
	if len(m.Nodes) == 0 {
		return nil, fmt.Errorf("read measurements: no nodes; want the microseconds that each node uses for a command")
	}
	for name, x := range m.Nodes {
		if x < 0 || x > 1e9 || math.IsNaN(x) {
			return nil, fmt.Errorf("read measurements: %s is %v; want microseconds, up to 1e9", name, x)
		}
	}
	return m, nil
}

// of returns the measurement of a component: that of its busiest node.
func (m *Measured) of(component string) float64 {
	most := 0.0
	for name, x := range m.Nodes {
		if name == component || strings.HasPrefix(name, component+"/") {
			most = max(most, x)
		}
	}
	return most
}

// Observation is a program's estimate and its measurement.
type Observation struct {
	Program  string
	Estimate *Estimate
	Measured *Measured
}

// Error compares a prediction with a measurement.
type Error struct {
	Program   string `json:"program"`
	Component string `json:"component"`
	// Predicted and Measured are the time of the busiest node for a command. Calibrated is the
	// prediction of the fitted calibration.
	Predicted  float64 `json:"predicted"`
	Measured   float64 `json:"measured"`
	Calibrated float64 `json:"calibrated"`
}

// Validation is a comparison of predictions with measurements.
type Validation struct {
	Where  string  `json:"where"`
	Errors []Error `json:"errors"`
	// Mean and MeanCalibrated are the mean errors, as a share of the measurements.
	Mean           float64 `json:"mean"`
	MeanCalibrated float64 `json:"meanCalibrated"`
	// Scale has the factors by which the fitting multiplied the costs.
	Scale Parts `json:"scale"`
}

// fitPull is the weight of the initial calibration in the fitting. Without it, fewer
// measurements than costs would not determine the costs.
const fitPull = 0.02

// Fit compares estimates of programs with measurements of them, and returns a calibration
// that is closer to the measurements: it multiplies the costs of receiving, sending,
// deriving, functions and the log by a factor each. The error names a measured component that
// a program does not have.
func (c *Calibration) Fit(seen []Observation) (*Calibration, *Validation, error) {
	v := &Validation{}
	var rows [][5]float64
	for _, o := range seen {
		for name := range o.Measured.Nodes {
			component, _, _ := strings.Cut(name, "/")
			if o.Estimate.component(component) == nil {
				return nil, nil, fmt.Errorf("measurements: the program has no component %s", component)
			}
		}
		v.Where = o.Measured.Where
		for i := range o.Estimate.Components {
			l := &o.Estimate.Components[i]
			y, b := o.Measured.of(l.Name), l.Busiest
			if y == 0 || b.Total() == 0 {
				continue
			}
			v.Errors = append(v.Errors, Error{Program: o.Program, Component: l.Name, Predicted: b.Total(), Measured: y})
			rows = append(rows, [5]float64{b.Receive / y, b.Send / y, b.Derive / y, b.Functions / y, b.Log / y})
		}
	}
	if len(rows) == 0 {
		return nil, nil, fmt.Errorf("measurements: none is of a component that does work in this load")
	}
	scale := fit(rows)
	for i := range v.Errors {
		x := &v.Errors[i]
		for k := range scale {
			x.Calibrated += scale[k] * rows[i][k] * x.Measured
		}
		v.Mean += math.Abs(x.Predicted-x.Measured) / x.Measured / float64(len(rows))
		v.MeanCalibrated += math.Abs(x.Calibrated-x.Measured) / x.Measured / float64(len(rows))
	}
	v.Scale = Parts{scale[0], scale[1], scale[2], scale[3], scale[4]}
	return c.scaled(v.Scale), v, nil
}

// fit finds factors, not negative, with which each row adds up to about one. Where the rows
// leave a choice, the factors are close to one.
func fit(rows [][5]float64) [5]float64 {
	scale := [5]float64{1, 1, 1, 1, 1}
	for range 500 {
		for k := range scale {
			num, den := fitPull, fitPull
			for _, r := range rows {
				rest := 1.0
				for j := range scale {
					if j != k {
						rest -= scale[j] * r[j]
					}
				}
				num += r[k] * rest
				den += r[k] * r[k]
			}
			scale[k] = max(0, num/den)
		}
	}
	return scale
}

// scaled returns the calibration with its costs multiplied.
func (c *Calibration) scaled(by Parts) *Calibration {
	d := *c
	d.Machine += ", fitted to measurements"
	for _, f := range []struct {
		x  []*float64
		by float64
	}{
		{[]*float64{&d.Receive, &d.ReceiveByte}, by.Receive},
		{[]*float64{&d.Send, &d.SendByte}, by.Send},
		{[]*float64{&d.Firing, &d.Keep, &d.Group, &d.Join, &d.Tick}, by.Derive},
		{[]*float64{&d.Call}, by.Functions},
		{[]*float64{&d.Row, &d.RowByte, &d.SyncCPU}, by.Log},
	} {
		for _, x := range f.x {
			*x *= f.by
		}
	}
	d.Functions = map[string]float64{}
	for name, x := range c.Functions {
		d.Functions[name] = x * by.Functions
	}
	return &d
}

// unknownFunctions returns the functions whose cost neither the load nor the calibration
// states.
func (c *Calibration) unknownFunctions(p *logic.Program, l *Load) []string {
	var out []string
	for _, f := range p.Functions {
		if f.Import == "" {
			continue
		}
		if _, known := c.function(p, l, f.Name); !known {
			out = append(out, f.Name)
		}
	}
	return slices.Clip(out)
}
