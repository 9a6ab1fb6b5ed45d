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
	// Relations are all relations of the component, including those that the plan adds.
	Relations []*Relation
	// Groups are in the order of evaluation.
	Groups []*Group
	// Later are the next and async rules, which run after all groups.
	Later []*Rule
}

// Class states how the facts of a relation are kept.
type Class uint8

// The classes.
const (
	// Static facts are the same forever.
	Static Class = iota
	// Passing facts hold for one tick, and are then deleted.
	Passing
	// Tracked facts are kept, each with the number of its derivations, whether it holds, and
	// whether it held in the tick before.
	Tracked
)

// Relation is a relation within a component.
type Relation struct {
	// Name is unique in the component, and consists of letters, digits and '_'.
	Name    string
	Columns []logic.Column
	// Logic is the relation of the program whose facts arrive, are carried or are durable here;
	// nil for one that the plan has added.
	Logic *logic.Relation
	Class Class
	// Pulse reports that no fact outlives the tick of the fact that caused it.
	Pulse bool
	// Arrives reports that messages or timers bring facts of it, Carried that next rules derive
	// facts of it, and Durable that the carried facts survive a crash.
	Arrives, Carried, Durable bool
	// Merges reports that facts that are equal in the columns without a lattice merge into one.
	Merges bool
	// Recursive reports that it is in a recursive group.
	Recursive bool
	// Indexes are the sets of columns, in ascending order, by which it is looked up,
	// besides all of them.
	Indexes [][]int
	// Late reports of each index that no rule uses it while the relation is derived. The relation
	// is recursive and may get many facts in a tick, so the index is updated only when a rule
	// uses it.
	Late []bool
	// Bag reports that arrivals need not be distinguished from earlier arrivals
	// of the same tick: no rule looks them up or counts them.
	Bag bool
	// Inline reports that the relation stores no facts: the aggregate passes each change of a
	// group's result to the rules that read it.
	Inline bool
	// Made states why the plan has added it.
	Made string
}

// Key returns the columns without a lattice.
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

// Union joins sets; columns with the lattice of sets merge by it.
const Union = logic.Collect + 1

// Arg is an argument of a head.
type Arg struct {
	Aggregate Aggregate
	Term      *logic.Term
}

// Rule is a rule of the plan.
type Rule struct {
	Kind logic.RuleKind
	// Head is the derived relation. For an async rule it is the relation of the program, which
	// need not be one of the component.
	Head *Relation
	Args []Arg
	// Dest and Sent are set for async rules.
	Dest *logic.Term
	Sent *logic.Relation
	Body []Literal
	// Pulse reports that the rule is evaluated in each tick from the facts that arrived. Other
	// rules are evaluated when a relation that they read has changed.
	Pulse bool
	// Recursive reports that the rule reads a relation of its own group.
	Recursive bool
	// Begins reports that the rule must be evaluated in the first tick, because no relation that
	// it reads can begin to hold.
	Begins bool
	// Grouping is set for heads with aggregates.
	Grouping *Grouping
	// Variants are the ways to evaluate it.
	Variants []*Variant
	// Source is the rule of the program, or nil.
	Source *logic.Rule
	// Made states why the plan has added it.
	Made string
}

// Literal is a literal of a body: an atom, a comparison or an assignment.
type Literal struct {
	Negated  bool
	Relation *Relation
	Args     []*logic.Term
	Compare  *logic.Compare
	Assign   *logic.Assign
}

// Grouping states how the aggregates of a head are computed.
type Grouping struct {
	// Group has the arguments that identify a group.
	Group []int
	// Index is the argument that is an index, or -1. Numbered are the arguments that are the
	// variable that it numbers.
	Index    int
	Numbered []int
	// Kept reports that the rows of the body must be kept, without duplicates, because the
	// aggregate cannot be updated by adding and subtracting. Rows are the terms that identify a
	// row.
	Kept bool
	Rows []*logic.Term
	// Simple reports that there is one aggregate, a count, sum, min or max, which is updated with
	// the changes of the rows. Otherwise a changed group is recomputed.
	Simple bool
}

// Start is what a variant starts from.
type Start uint8

// The starts.
const (
	// FromAll starts from all facts of the literal that hold now.
	FromAll Start = iota
	// FromChanges starts from the changes of the literal: facts that began to hold, and facts
	// that no longer hold, whose derivations are removed. For a negated literal the two are
	// exchanged.
	FromChanges
	// FromWork starts from one new fact of the literal's relation, which is recursive.
	FromWork
	// FromNothing evaluates the rule in the first tick.
	FromNothing
)

// Variant is a way to evaluate a rule.
type Variant struct {
	Start Start
	// Literal is the literal that the variant starts from, or -1 for FromNothing.
	Literal int
	// Steps are the other literals, in the order of evaluation.
	Steps []Step
}

// Step is a literal within a variant.
type Step struct {
	Literal int
	// Bound are the columns whose values are known, in ascending order.
	Bound []int
	// Before reports that the step reads what held in the tick before.
	Before bool
	// Known reports that the variable of the assignment already has a value, to which the result
	// is compared.
	Known bool
	// Once reports that one matching fact is enough.
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
