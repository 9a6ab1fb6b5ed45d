// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
)

// Stir is a tick without inputs that changes the state or sends a message.
type Stir struct {
	// Machine is the machine, and Carried the facts that it carried before.
	Machine string
	Carried []interp.Fact
	// Lost and New are the carried facts that the tick removed and added; Sent are its
	// messages.
	Lost, New []interp.Fact
	Sent      []interp.Message
	// Path lists the steps that lead there.
	Path []string
}

func (s *Stir) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s changes state in a tick in which it receives nothing:", s.Machine)
	for _, f := range s.Lost {
		fmt.Fprintf(&b, "\n  deletes %v", f)
	}
	for _, f := range s.New {
		fmt.Fprintf(&b, "\n  derives %v", f)
	}
	for _, m := range s.Sent {
		fmt.Fprintf(&b, "\n  sends %v", m)
	}
	return b.String()
}

// Still visits the states of the model and runs, in each, a tick of the machines of a component
// in which nothing arrives and no timer fires. A state machine does not change and sends
// nothing in it: next(S, {}) = S and out(S, {}) = {}. Still returns the first tick that
// violates this, or nil, and the outcomes of the search.
func (m *Model) Still(ctx context.Context, component string) (*Stir, *Outcomes, error) {
	var found *Stir
	seen := map[string]bool{}
	m.each = func(s *state) bool {
		for i, n := range m.nodes {
			name, _, _ := strings.Cut(n.Node, "/")
			if name != component || seen[s.carried[i]] {
				continue
			}
			seen[s.carried[i]] = true
			t := m.node(i, s.carried[i], nil, 0)
			if t.carried == s.carried[i] && len(t.sent) == 0 {
				continue
			}
			found = &Stir{Machine: n.Node, Carried: m.codec.carried(s.carried[i])}
			after := m.codec.carried(t.carried)
			found.Lost, found.New = without(found.Carried, after), without(after, found.Carried)
			for _, x := range t.sent {
				found.Sent = append(found.Sent, m.codec.read(x.message))
			}
			return true
		}
		return false
	}
	defer func() { m.each = nil }()
	out, err := m.Find(ctx)
	if found != nil {
		found.Path = out.Path
	}
	return found, out, err
}

// without returns the facts that are not among the others.
func without(facts, others []interp.Fact) []interp.Fact {
	return slices.DeleteFunc(slices.Clone(facts), func(f interp.Fact) bool {
		return slices.ContainsFunc(others, func(o interp.Fact) bool { return o.String() == f.String() })
	})
}
