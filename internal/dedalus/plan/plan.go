// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Program is the plan of a program.
type Program struct {
	Logic      *logic.Program
	Components []*Component
}

// Component is the plan of a component.
type Component struct {
	Logic *logic.Component
	// Relations are all that the component has to do with, those that the plan adds
	// included.
	Relations []*Relation
	// Groups are in the order of evaluation.
	Groups []*Group
	// Later are the next and async rules, for when all groups are done.
	Later []*Rule
}

// Class states how the facts of a relation are kept.
type Class uint8

// The classes.
const (
	// Static facts are the same forever.
	Static Class = iota
	// Passing facts are those of one tick, and forgotten after it.
	Passing
	// Tracked facts are kept, each with what supports it, whether it holds, and
	// whether it held in the tick before.
	Tracked
)

// Relation is a relation within a component.
type Relation struct {
	// Name is unique in the component, and of letters, digits and '_'.
	Name    string
	Columns []logic.Column
	// Logic is the relation of the program whose facts come in, are carried or are
	// durable here; nil for one that the plan has added.
	Logic *logic.Relation
	Class Class
	// Pulse reports that no fact outlives what it came from.
	Pulse bool
	// Arrives reports that messages or timers bring facts of it; Carried that next
	// rules do; Durable that what they carry survives a crash.
	Arrives, Carried, Durable bool
	// Merges reports that of the facts that are equal in the columns without a lattice
	// there is one.
	Merges bool
	// Recursive reports that it is in a recursive group.
	Recursive bool
	// Indexes are the sets of columns, in ascending order, by which it is looked up,
	// besides all of them.
	Indexes [][]int
	// Late says of each index that nothing looks it up while the relation is derived,
	// which is recursive and may get very many facts in a tick: it is brought up to
	// date when it is looked up, and perhaps never.
	Late []bool
	// Bag reports that arrivals need not be distinguished from earlier arrivals
	// of the same tick: no rule looks them up or counts them.
	Bag bool
	// Inline reports that the relation has no facts: what an aggregate says of a group,
	// and no longer says of it, is passed on to the rules that read it.
	Inline bool
	// Made states what the plan has added it for.
	Made string
}

// Key are the columns without a lattice.
func (r *Relation) Key() []int {
	var key []int
	for i, c := range r.Columns {
		if c.Lattice == logic.NoLattice {
			key = append(key, i)
		}
	}
	return key
}

// Group is a set of relations that depend on each other within a tick, and the
// sync rules that derive them.
type Group struct {
	Relations []*Relation
	Rules     []*Rule
	Recursive bool
}

// Aggregate is an aggregate of the language, or the union of sets.
type Aggregate = logic.Aggregate

// Union joins sets: what columns with the lattice of sets merge by.
const Union = logic.Collect + 1

// Arg is an argument of a head.
type Arg struct {
	Aggregate Aggregate
	Term      *logic.Term
}

// Rule is a rule of the plan.
type Rule struct {
	Kind logic.RuleKind
	// Head is what is derived; of an async rule, the relation as the program has
	// it, which need not be one of the component.
	Head *Relation
	Args []Arg
	// Dest and Sent are of async rules.
	Dest *logic.Term
	Sent *logic.Relation
	Body []Literal
	// Pulse reports that it is evaluated in each tick from what came in; otherwise
	// where what it reads has changed.
	Pulse bool
	// Recursive reports that it reads a relation of the group that it is in.
	Recursive bool
	// Begins reports that it is to be evaluated in the first tick, as nothing that it
	// reads could begin to hold.
	Begins bool
	// Grouping is for heads with aggregates.
	Grouping *Grouping
	// Variants are the ways to evaluate it.
	Variants []*Variant
	// Source is the rule of the program, or nil.
	Source *logic.Rule
	// Made states what the plan has added it for.
	Made string
}

// Literal is a literal of a body: of an atom, a comparison or an assignment.
type Literal struct {
	Negated  bool
	Relation *Relation
	Args     []*logic.Term
	Compare  *logic.Compare
	Assign   *logic.Assign
}

// Grouping states how the aggregates of a head are computed.
type Grouping struct {
	// Group are the arguments that make a group.
	Group []int
	// Index is the argument that is an index, or -1; Numbered are those that are
	// the variable that it numbers.
	Index    int
	Numbered []int
	// Kept reports that the rows of the body must be kept, without doubles, as the
	// aggregate cannot be computed by adding and taking away; Rows are the terms
	// that identify a row.
	Kept bool
	Rows []*logic.Term
	// Simple reports that there is one aggregate, a count, sum, min or max, which
	// goes with the changes of the rows; otherwise a group that has changed is
	// computed anew.
	Simple bool
}

// Start is what a variant starts from.
type Start uint8

// The starts.
const (
	// FromAll facts of the literal that hold now.
	FromAll Start = iota
	// FromChanges of the literal: its facts that began to hold, and those that no
	// longer do, for which what is derived is taken away. For a negated literal it
	// is the other way round.
	FromChanges
	// FromWork is one fact of the literal's relation, which is recursive and has
	// got a new fact.
	FromWork
	// FromNothing: in the first tick.
	FromNothing
)

// Variant is a way to evaluate a rule.
type Variant struct {
	Start Start
	// Literal is the one that it starts from; -1 for FromNothing.
	Literal int
	// Steps are the other literals, in the order of evaluation.
	Steps []Step
}

// Step is a literal within a variant.
type Step struct {
	Literal int
	// Bound are the columns whose values are known, in ascending order.
	Bound []int
	// Before reports that what held in the tick before is asked for.
	Before bool
	// Known reports that the variable of the assignment has a value, with which it is
	// compared.
	Known bool
	// Once reports that one fact that matches is enough.
	Once bool
}

// Refused is the error for a program that cannot be compiled.
type Refused struct {
	Rule *logic.Rule
	Why  string
}

func (e *Refused) Error() string { return fmt.Sprintf("%v: %s", e.Rule, e.Why) }

// New plans a program. The error is a *Refused.
func New(p *logic.Program) (*Program, error) {
	out := &Program{Logic: p}
	for _, c := range p.Components {
		d, err := component(p, c)
		if err != nil {
			return nil, err
		}
		out.Components = append(out.Components, d)
	}
	return out, nil
}
