// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"cmp"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Tie is a relation that holds a component together: rules that wait for a timer can seldom be
// moved, and rules that read kept facts of other rules can be moved only if a copy of the
// facts is enough.
type Tie struct {
	Component string `json:"component"`
	Relation  string `json:"relation"`
	Timer     bool   `json:"timer"`
	// Derives lists the relations that rules derive from it, in the order of their rules.
	Derives []string `json:"derives"`
	// Repair states what the author of the program may do; no rewrite does it.
	Repair string `json:"repair"`
}

// tieHeads is the minimum number of relations derived from a kept one for it to count as read
// by several phases.
const tieHeads = 3

// TiesMax is the maximum number of ties of a result.
const TiesMax = 5

const (
	timerRepair = "a timer fires for everything that waits for it: relay and partial can divide such a component if all other relations have keys; otherwise let a client without an answer ask again by a message, and let the phase reply with what was decided"
	keptRepair  = "send each phase what it needs in the message that begins it, and let each phase keep only what it decides"
)

// ties returns the relations that hold an undivided component together: first its timers, then
// the kept relations that several phases read, those with the most derived relations first.
func ties(p *logic.Program, name string) []Tie {
	c := p.Component(name)
	if c == nil || c.Partitions > 1 {
		return nil
	}
	var out []Tie
	for _, r := range p.Refs(c) {
		t := Tie{Component: name, Relation: r.Name, Timer: r.Kind == logic.Timer, Repair: keptRepair}
		kept := false
		for _, rule := range c.Rules {
			head := rule.Head.Relation
			kept = kept || head == r && rule.Kind == logic.Next
			reads := slices.ContainsFunc(rule.Body, func(l logic.Literal) bool { return l.Atom != nil && l.Atom.Relation == r })
			if reads && head != r && !slices.Contains(t.Derives, head.Name) {
				t.Derives = append(t.Derives, head.Name)
			}
		}
		switch {
		case t.Timer:
			t.Repair = timerRepair
		case !kept || len(t.Derives) < tieHeads:
			continue
		}
		out = append(out, t)
	}
	slices.SortStableFunc(out, func(a, b Tie) int {
		switch {
		case a.Timer == b.Timer:
			return cmp.Compare(len(b.Derives), len(a.Derives))
		case a.Timer:
			return -1
		}
		return 1
	})
	return out[:min(len(out), TiesMax)]
}
