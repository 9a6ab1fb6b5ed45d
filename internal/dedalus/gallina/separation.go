// SPDX-License-Identifier: Apache-2.0

package gallina

import (
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Separation asks the extracted checker whether the rules of a component that derive or read some
// relations may become a component of their own, by the network.
func Separation(p *logic.Program, c *logic.Component, moves []string, as string) (string, error) {
	w := &writer{functions: true}
	if w.tooMany(p) {
		return "", w.err
	}
	var nodes []string
	var places []term
	for i := range c.Instances * c.Partitions {
		at := logic.NodeName(c.Name, i)
		nodes = append(nodes, at)
		places = append(places, both(both(node(at), nat(0)), node(logic.NodeName(as, i))))
	}
	of := call("Separation", list(moves, text), list(pulses(p, c), text), list(nodes, node), list(places, func(t term) term { return t }))
	return w.plain(call("may_decouple", of, w.program(p, "")))
}
