// SPDX-License-Identifier: Apache-2.0

package logic

import (
	"time"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// Program is a set of components and the relations between them.
type Program struct {
	Name string
	// Relations lists all relations in the order of their declaration or first
	// use. Names are unique in the program.
	Relations []*Relation
	// Functions lists the functions that the program declares.
	Functions []*Function
	// Components lists the components in the order of the text.
	Components []*Component
	// Assumptions lists what the program's author asserts and no analysis
	// proves.
	Assumptions []Assumption
}

// Component is a set of rules that runs on one node. It has Count instances at
// least, each with the relations that its rules derive and the messages that it
// receives.
type Component struct {
	Name string
	// Of is the component of the original program that this one is a piece of:
	// itself, when no rewrite made it. Instance i of a piece stands for the
	// instance i/Partitions of Of, and its self is that instance's node.
	Of string
	// Instances is how many there are, of the original component, and Partitions
	// by how many this piece is multiplied.
	Instances, Partitions int
	Rules                 []*Rule
	Span                  source.Span
}

// RelationKind is the source of a relation's facts.
type RelationKind uint8

// The kinds.
const (
	// Derived: from rules.
	Derived RelationKind = iota
	// Input: from outside the program; no rule can send it elsewhere.
	Input
	// Output: sent to the outside of the program.
	Output
	// Static: known to every instance, and constant (the EDB).
	Static
	// Timer: the empty fact holds in each tick in which the timer has fired.
	Timer
)

// Relation is a set of facts.
type Relation struct {
	Name    string
	Kind    RelationKind
	Columns []Column
	// Durable facts survive the crash of their instance. They come from Next
	// rules, and are durable before the tick in which they hold.
	Durable bool
	// Every is the interval of a Timer. It is a hint: the timer may fire in any
	// tick.
	Every time.Duration
	// Facts are a Static relation's, where the program gives them; Nodes, where
	// it is not empty, says that they are the nodes of that component instead,
	// and Size that the one fact is how many instances that component has.
	Facts       [][]Value
	Nodes, Size string
	// Dependencies lists the functional dependencies that a Static relation
	// declares for its facts.
	Dependencies []Dependency
	Span         source.Span
}

// Column is an attribute of a relation.
type Column struct {
	Name    string
	Type    Type
	Lattice Lattice
}

// Lattice states how to merge facts that are equal in all columns without a
// lattice.
type Lattice uint8

// The lattices. A merged column only grows in its order.
const (
	NoLattice Lattice = iota
	MaxLattice
	MinLattice // grows downwards
	OrLattice
	SetLattice
)

// Dependency reports that the values of the columns From determine that of To; Func,
// where it is not empty, by that function.
type Dependency struct {
	From []int
	To   int
	Func string
}

// Function is a pure function of its arguments.
type Function struct {
	Name   string
	Params []Type
	Result Type
	// Body is the function's definition as a term over the parameters p0, p1, ...
	// It is nil for a function written in Go, in the package Import under the
	// name Symbol.
	Body           *Term
	Import, Symbol string
	Span           source.Span
}

// AssumptionKind is a kind of assertion.
type AssumptionKind uint8

// The kinds.
const (
	// Collected: the facts that a guarded persistence forgets would have made
	// no difference (garbage collection).
	Collected AssumptionKind = iota
	// Growing: the outputs do not depend on how far a threshold is exceeded.
	Growing
	// Timely: no observer can distinguish in which tick the relation changed,
	// among those without input.
	Timely
)

// Assumption is an assertion of the author about a relation.
type Assumption struct {
	Kind     AssumptionKind
	Relation string
	Span     source.Span
}

// RuleKind states where and when the head of a rule holds.
type RuleKind uint8

// The kinds.
const (
	Sync  RuleKind = iota // here, in the same tick
	Next                  // here, in the next tick
	Async                 // at the node Dest, at some later tick, once or more often
)

// Rule derives facts.
type Rule struct {
	Kind RuleKind
	Head Head
	// Dest is the destination of an Async rule's head, a term of type NodeType.
	Dest *Term
	Body []Literal
	// Origin names the rewrite that made the rule. It is empty for a rule from
	// the text.
	Origin string
	Span   source.Span
}

// Head is the atom that a rule derives.
type Head struct {
	Relation *Relation
	Args     []HeadArg
}

// HeadArg is an argument of a head: a term, or an aggregate of one.
type HeadArg struct {
	Aggregate Aggregate
	Term      *Term
}

// Aggregate is a function of all values of a term, for each group of what the
// head has besides: its arguments that are no aggregates.
type Aggregate uint8

// The aggregates. Only Sync rules have them.
const (
	NoAggregate Aggregate = iota
	Count                 // how many different values; 0 never appears
	Sum                   // over the different rows of all variables of the body
	Min
	Max
	// Choose is the value of one row, the least; several in a head choose the
	// same row.
	Choose
	// Index numbers the values of a group from 0, in their order. The term is a
	// variable that is an argument of the head as well, and does not group.
	Index
	// Collect is the set of all values.
	Collect
)

// Literal is a part of a body: one of Atom, Compare and Assign.
type Literal struct {
	// Negated and Atom: (no) fact of the relation matches.
	Negated bool
	Atom    *Atom
	// Compare holds between two terms.
	Compare *Compare
	// Assign binds a variable to the value of a term.
	Assign *Assign
	Span   source.Span
}

// Atom is a relation with arguments. In a body, an argument is a variable, a
// constant, Self or a wildcard.
type Atom struct {
	Relation *Relation
	Args     []*Term
}

// CompareOp is a comparison.
type CompareOp uint8

// The comparisons. Order is for numbers, bytes and text; equality for all.
const (
	Equal CompareOp = iota
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
)

// Compare compares two terms.
type Compare struct {
	Op          CompareOp
	Left, Right *Term
}

// Assign binds Var, which occurs in no literal before it.
type Assign struct {
	Var  string
	Term *Term
}
