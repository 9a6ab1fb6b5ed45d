// SPDX-License-Identifier: Apache-2.0

package analyze

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Part is some rules of a component: a candidate to become a component.
type Part struct {
	Program   *logic.Program
	Component *logic.Component
	Rules     []*logic.Rule
}

// Whole is the part that is all of a component.
func Whole(p *logic.Program, c *logic.Component) Part { return Part{p, c, c.Rules} }

// Rest is the component without the part.
func (p Part) Rest() Part {
	var rest []*logic.Rule
	for _, r := range p.Component.Rules {
		if !slices.Contains(p.Rules, r) {
			rest = append(rest, r)
		}
	}
	return Part{p.Program, p.Component, rest}
}

// Verdict is an answer.
type Verdict struct {
	Holds bool
	// Because is what stands in the way when it does not hold.
	Because []Blocker
	// Assuming are assertions of the author without which it would not hold.
	Assuming []logic.Assumption
}

// Blocker is a reason against.
type Blocker struct {
	// Rule and Literal are where the reason stands; Literal may be nil.
	Rule    *logic.Rule
	Literal *logic.Literal
	// Why states what is wrong there, Help what would change the verdict.
	Why, Help string
}

func (b Blocker) String() string {
	s := b.Why
	if b.Rule != nil {
		s += fmt.Sprintf(", in '%v'", b.Rule)
	}
	if b.Literal != nil {
		s += fmt.Sprintf(" at '%v'", b.Literal)
	}
	if b.Help != "" {
		s += "; " + b.Help
	}
	return s
}

func (v Verdict) String() string {
	if v.Holds {
		s := "yes"
		for _, a := range v.Assuming {
			s += ", assuming " + a.String()
		}
		return s
	}
	s := "no"
	for _, b := range v.Because {
		s += "\n  " + b.String()
	}
	return s
}

func yes() Verdict { return Verdict{Holds: true} }

// block makes it a no.
func (v *Verdict) block(r *logic.Rule, l *logic.Literal, why, help string) {
	v.Holds = false
	v.Because = append(v.Because, Blocker{r, l, why, help})
}

// set is a set of relations.
type set map[*logic.Relation]bool

// refs are the relations in bodies of the part, but static ones: refs(C).
func (p Part) refs() set {
	s := set{}
	for _, r := range p.Rules {
		for i := range r.Body {
			if a := r.Body[i].Atom; a != nil && a.Relation.Kind != logic.Static {
				s[a.Relation] = true
			}
		}
	}
	return s
}

// local are the relations that the part derives for its own instance.
func (p Part) local() set {
	s := set{}
	for _, r := range p.Rules {
		if r.Kind != logic.Async {
			s[r.Head.Relation] = true
		}
	}
	return s
}

// inputs are what the part reads and does not derive: in(C).
func (p Part) inputs() set {
	s := p.refs()
	for r := range p.local() {
		delete(s, r)
	}
	return s
}

// sent reports whether a rule of any component sends a relation: it may come to the part
// then even where the part derives it.
func (p Part) sent(rel *logic.Relation) bool {
	return slices.ContainsFunc(p.Program.Components, func(c *logic.Component) bool {
		return slices.ContainsFunc(c.Rules, func(r *logic.Rule) bool { return r.Kind == logic.Async && r.Head.Relation == rel })
	})
}

// outputs are what the part derives and does not read: out(C).
func (p Part) outputs() set {
	refs, s := p.refs(), set{}
	for _, r := range p.Rules {
		if !refs[r.Head.Relation] {
			s[r.Head.Relation] = true
		}
	}
	return s
}

// rulesOf are the rules of the part that derive a relation here.
func (p Part) rulesOf(rel *logic.Relation) []*logic.Rule {
	var out []*logic.Rule
	for _, r := range p.Rules {
		if r.Kind != logic.Async && r.Head.Relation == rel {
			out = append(out, r)
		}
	}
	return out
}

// reader is the first rule and literal of the part that reads a relation.
func (p Part) reader(rel *logic.Relation) (*logic.Rule, *logic.Literal) {
	for _, r := range p.Rules {
		for i := range r.Body {
			if a := r.Body[i].Atom; a != nil && a.Relation == rel {
				return r, &r.Body[i]
			}
		}
	}
	return nil, nil
}

// ordered lists a set in the order of the program.
func (p Part) ordered(s set) []*logic.Relation {
	var out []*logic.Relation
	for _, r := range p.Program.Relations {
		if s[r] {
			out = append(out, r)
		}
	}
	return out
}

// Inputs are the relations that the part reads and does not derive itself, in the
// order of the program.
func (p Part) Inputs() []*logic.Relation { return p.ordered(p.inputs()) }

// Outputs are the relations that the part derives and does not read.
func (p Part) Outputs() []*logic.Relation { return p.ordered(p.outputs()) }

// assumed is the author's assertion of a kind about a relation.
func (p Part) assumed(k logic.AssumptionKind, rel *logic.Relation) (logic.Assumption, bool) {
	for _, a := range p.Program.Assumptions {
		if a.Kind == k && a.Relation == rel.Name {
			return a, true
		}
	}
	return logic.Assumption{}, false
}

// Independent says whether part a does not depend on part b of the same
// component: they read nothing in common, and a reads nothing that b derives for
// others to read.
func Independent(a, b Part) Verdict {
	v := yes()
	refsB, outB := b.refs(), b.outputs()
	for _, rel := range a.ordered(a.refs()) {
		r, l := a.reader(rel)
		switch {
		case refsB[rel]:
			other, _ := b.reader(rel)
			v.block(r, l, fmt.Sprintf("%s is read on both sides, also in '%v'", rel.Name, other),
				"a copy of it for one side would do, if that side is monotonic or functional")
		case outB[rel]:
			v.block(r, l, fmt.Sprintf("%s is derived on the other side", rel.Name), "")
		}
	}
	return v
}
