// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// verdict is a target and whether it is met.
type verdict struct {
	Target string
	Found  float64
	Must   float64
	Unit   string
	Met    bool
}

// judge compares with the targets: those for which there are figures.
func (p *report) judge() (all []verdict) {
	atLeast := func(target string, found, must float64, unit string) {
		all = append(all, verdict{target, found, must, unit, found >= must})
	}
	ratio := func(op, mode string, clients int, must float64) {
		ours := p.find(cell{Engine: ashlar, Op: op, Mode: mode, Clients: clients, Procs: 1})
		peer := p.find(cell{Engine: etcd, Op: op, Mode: mode, Clients: clients, Procs: 1})
		if ours != nil && peer != nil && peer.Median > 0 {
			atLeast(fmt.Sprintf("register write against etcd's put, %s, %d clients", mode, clients), ours.Median/peer.Median, must, "x ops/s")
			if mode == inMemory && ours.CPU > 0 {
				all = append(all, verdict{fmt.Sprintf("the same by CPU of an operation, %d clients", clients), peer.CPU / ours.CPU, must, "x", peer.CPU/ours.CPU >= must})
			}
		}
	}
	for _, n := range p.Config.Clients {
		ratio("write", inMemory, n, 10)
	}
	ratio("write", durable, 64, 5)
	for _, c := range p.Counts {
		all = append(all, verdict{c.Op + ": round trips", c.Trips, c.Must, "", c.Trips <= c.Must})
	}
	for i := range variants[1:] {
		slow := p.find(cell{Engine: ashlar, Op: opTx, Variant: variants[i], Mode: inMemory, Clients: 1, Procs: 1})
		fast := p.find(cell{Engine: ashlar, Op: opTx, Variant: variants[i+1], Mode: inMemory, Clients: 1, Procs: 1})
		if slow != nil && fast != nil {
			all = append(all, verdict{"median latency of " + variants[i+1] + " below that of " + variants[i], fast.P50, slow.P50, "µs", fast.P50 < slow.P50})
		}
	}
	return all
}

func (p *report) targets() table {
	t := table{head: []string{"target", "found", "must", "unit", "verdict"}}
	for _, v := range p.Targets {
		word := "missed"
		if v.Met {
			word = "met"
		}
		t.rows = append(t.rows, []string{v.Target, fmt.Sprintf("%.2f", v.Found), fmt.Sprintf("%.2f", v.Must), v.Unit, word})
	}
	return t
}
