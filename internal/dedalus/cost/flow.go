// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Clients is the name of the clients in flows.
const Clients = "clients"

// Flow is the number of messages of a relation for each command, from one
// component to another, or from or to Clients.
type Flow struct {
	From     string  `json:"from"`
	To       string  `json:"to"`
	Relation string  `json:"relation"`
	Messages float64 `json:"messages"`
}

// flows returns the messages of a profile, in the order of the program.
func flows(p *logic.Program, pr *Profile) []Flow {
	var out []Flow
	sent := map[string]map[*logic.Relation]float64{}
	came := map[string]map[*logic.Relation]float64{}
	for _, c := range p.Components {
		sent[c.Name], came[c.Name] = map[*logic.Relation]float64{}, map[*logic.Relation]float64{}
		for i := range pr.Nodes {
			n := &pr.Nodes[i]
			if n.Component != c.Name {
				continue
			}
			for k, r := range c.Rules {
				if r.Kind == logic.Async {
					sent[c.Name][r.Head.Relation] += float64(n.Firings[k]) / float64(pr.Commands)
				}
			}
			for rel, a := range n.arrived {
				came[c.Name][rel] += float64(a.rows) / float64(pr.Commands)
			}
		}
	}
	for _, from := range p.Components {
		for _, rel := range p.Out(from) {
			n := sent[from.Name][rel]
			if n == 0 {
				continue
			}
			inside := false
			for _, to := range p.Components {
				if came[to.Name][rel] > 0 {
					inside = true
					out = append(out, Flow{from.Name, to.Name, rel.Name, min(n, came[to.Name][rel])})
				}
			}
			if !inside {
				out = append(out, Flow{from.Name, Clients, rel.Name, n})
			}
		}
	}
	for _, to := range p.Components {
		for _, rel := range p.Refs(to) {
			if n := came[to.Name][rel]; n > 0 && rel.Kind == logic.Input {
				out = append(out, Flow{Clients, to.Name, rel.Name, n})
			}
		}
	}
	return slices.Clip(out)
}
