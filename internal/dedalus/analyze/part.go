// SPDX-License-Identifier: Apache-2.0

package analyze

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Part is a set of rules of a component that may become a component of its own.
type Part struct {
	Program   *logic.Program
	Component *logic.Component
	Rules     []*logic.Rule
}

// Whole returns the part that has all rules of a component.
func Whole(p *logic.Program, c *logic.Component) Part { return Part{p, c, c.Rules} }

// Rest returns the other rules of the component.
func (p Part) Rest() Part {
	var rest []*logic.Rule
	for _, r := range p.Component.Rules {
		if !slices.Contains(p.Rules, r) {
			rest = append(rest, r)
		}
	}
	return Part{p.Program, p.Component, rest}
}

// Verdict is the result of an analysis.
type Verdict struct {
	Holds bool
	// Because lists the reasons if the property does not hold.
	Because []Blocker
	// Assuming lists the author's assertions on which a positive verdict depends.
	Assuming []logic.Assumption
}

// Blocker is a reason why a property does not hold.
type Blocker struct {
	// Rule and Literal locate the reason. Literal may be nil.
	Rule    *logic.Rule
	Literal *logic.Literal
	// Why states the problem, and Help what would change the verdict.
	Why, Help string
}

func (b Blocker) String() string {
	s := b.Why
	if b.Rule != nil {
		s += fmt.Sprintf(": '%v'", b.Rule)
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

// block makes the verdict negative and adds a reason.
func (v *Verdict) block(r *logic.Rule, l *logic.Literal, why, help string) {
	v.Holds = false
	v.Because = append(v.Because, Blocker{r, l, why, help})
}

// set is a set of relations.
type set map[*logic.Relation]bool

// refs returns the relations in bodies of the part, except static ones: refs(C)
// of the paper.
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

// local returns the relations that the part derives on its own instance.
func (p Part) local() set {
	s := set{}
	for _, r := range p.Rules {
		if r.Kind != logic.Async {
			s[r.Head.Relation] = true
		}
	}
	return s
}

// inputs returns the relations that the part reads and does not derive: in(C)
// of the paper.
func (p Part) inputs() set {
	s := p.refs()
	for r := range p.local() {
		delete(s, r)
	}
	return s
}

// sent reports whether a rule of any component sends a relation. If so, facts may arrive
// at the part even if the part also derives the relation.
func (p Part) sent(rel *logic.Relation) bool {
	return slices.ContainsFunc(p.Program.Components, func(c *logic.Component) bool {
		return slices.ContainsFunc(c.Rules, func(r *logic.Rule) bool { return r.Kind == logic.Async && r.Head.Relation == rel })
	})
}

// outputs returns the relations that the part derives and does not read: out(C)
// of the paper.
func (p Part) outputs() set {
	refs, s := p.refs(), set{}
	for _, r := range p.Rules {
		if !refs[r.Head.Relation] {
			s[r.Head.Relation] = true
		}
	}
	return s
}

// rulesOf returns the rules of the part that derive a relation locally.
func (p Part) rulesOf(rel *logic.Relation) []*logic.Rule {
	var out []*logic.Rule
	for _, r := range p.Rules {
		if r.Kind != logic.Async && r.Head.Relation == rel {
			out = append(out, r)
		}
	}
	return out
}

// reader returns the first rule and literal of the part that read a relation.
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

// ordered returns the relations of a set in the order of the program.
func (p Part) ordered(s set) []*logic.Relation {
	var out []*logic.Relation
	for _, r := range p.Program.Relations {
		if s[r] {
			out = append(out, r)
		}
	}
	return out
}

// Inputs returns the relations that the part reads and does not derive itself, in
// the order of the program.
func (p Part) Inputs() []*logic.Relation { return p.ordered(p.inputs()) }

// Outputs returns the relations that the part derives and does not read, in the
// order of the program.
func (p Part) Outputs() []*logic.Relation { return p.ordered(p.outputs()) }

// assumed returns the author's assertion of this kind about a relation.
func (p Part) assumed(k logic.AssumptionKind, rel *logic.Relation) (logic.Assumption, bool) {
	for _, a := range p.Program.Assumptions {
		if a.Kind == k && a.Relation == rel.Name {
			return a, true
		}
	}
	return logic.Assumption{}, false
}

// Independent reports whether part a does not depend on part b of the same
// component: they read no relation in common, and a reads no output of b.
func Independent(a, b Part) Verdict {
	v := yes()
	refsB, outB := b.refs(), b.outputs()
	for _, rel := range a.ordered(a.refs()) {
		r, l := a.reader(rel)
		switch {
		case refsB[rel]:
			other, _ := b.reader(rel)
			v.block(r, l, fmt.Sprintf("%s is read on both sides, also in '%v'", rel.Name, other),
				"if one side is monotonic or functional, decouple it by that step, which sends the side a copy")
		case outB[rel]:
			v.block(r, l, fmt.Sprintf("%s is derived on the other side", rel.Name), "")
		}
	}
	return v
}
