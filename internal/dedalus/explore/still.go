// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
)

// Stir is a tick in which nothing came in and something happened all the same.
type Stir struct {
	// Machine is where, and Carried what it carried before.
	Machine string
	Carried []interp.Fact
	// Lost and New are what it carries no longer and carries since; Sent is what it
	// sent.
	Lost, New []interp.Fact
	Sent      []interp.Message
	// Path are steps that lead there.
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

// Still visits the states of the model and has, in each, the machines of a component
// go through a tick in which nothing arrives and no timer runs out. Of a state
// machine nothing changes and nothing is sent then: next(S, {}) = S and
// out(S, {}) = {}. It answers the first tick of which that is not so, or nil; and what
// was visited.
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

// without are the facts that are not among others.
func without(facts, others []interp.Fact) []interp.Fact {
	return slices.DeleteFunc(slices.Clone(facts), func(f interp.Fact) bool {
		return slices.ContainsFunc(others, func(o interp.Fact) bool { return o.String() == f.String() })
	})
}
