// SPDX-License-Identifier: Apache-2.0

package syntax

import "github.com/ashlar-dev/ashlar/internal/source"

// File is the syntax tree of a program.
type File struct {
	Source *source.File
	Name   Name
	Items  []Item
	// Lead are the comments before "program", and Last those at the end.
	Lead, Last []string
}

// Comments are the comments of an item or a statement.
type Comments struct {
	// Lead are the comment lines before it, without the mark; Trail follows it in its last
	// line. Blank reports that an empty line precedes all that.
	Lead  []string
	Trail string
	Blank bool
}

// Name is a name and its place.
type Name struct {
	Text string
	Span source.Span
}

// Item is a function, a component, a deploy or an assume: exactly one is set.
type Item struct {
	Comments
	Function  *Function
	Component *Component
	Deploy    *Deploy
	Assume    *Assume
	Span      source.Span
}

// Function declares a function.
type Function struct {
	Name   Name
	Params []Column
	Result *Type
	// Body or From, "path.Symbol", is set.
	Body *Term
	From *Term
}

// Deploy states how many instances of components there are.
type Deploy struct{ Sizes []Size }

// Size is a number of instances.
type Size struct {
	Component Name
	Count     uint64
}

// Assume is an assertion of the author.
type Assume struct{ What, Relation Name }

// Component is the syntax tree of a component.
type Component struct {
	Name Name
	// Of and Times are set for a piece that a rewrite made: "of NAME times N".
	Of         Name
	Times      uint64
	Statements []Statement
	// Last are comments before the closing brace.
	Last []string
}

// Statement is a declaration of a relation or a rule.
type Statement struct {
	Comments
	Relation *Relation
	Rule     *Rule
	Span     source.Span
}

// Relation declares a relation.
type Relation struct {
	// Word is input, output, table, log, var, durable, static or timer.
	Word    string
	Name    Name
	Columns []Column
	// Delete is a table's or log's "delete when".
	Delete []Literal
	// A static's facts: Nodes and Size name a component, Facts are rows; HasFacts
	// distinguishes an empty set from none.
	Nodes, Size Name
	Facts       [][]*Term
	HasFacts    bool
	Deps        []Dependency
	// Every is the period of a timer, as written.
	Every Name
}

// Dependency is an "fd".
type Dependency struct {
	From []Name
	To   Name
	Span source.Span
}

// Column is a column or parameter.
type Column struct {
	Name Name
	Type *Type
	// Lattice is max, min, or, set, or empty.
	Lattice string
}

// Type is a type.
type Type struct {
	// Name is u64, int, bool, text, bytes, node or set.
	Name string
	Elem *Type
	Span source.Span
}

// Rule is a rule.
type Rule struct {
	// Word is sync, next, async or log. Arrow reports that it was written after the head, as
	// :-, :+ or :~.
	Word  string
	Arrow bool
	Head  Name
	Dest  *Term
	Args  []HeadArg
	Body  []Literal
}

// HeadArg is an argument of a head. Aggregate is empty for a plain term.
type HeadArg struct {
	Aggregate Name
	Terms     []*Term
}

// Literal is a part of a body.
type Literal struct {
	Not bool
	// Atom: Relation is its name, Args its arguments.
	Relation Name
	Args     []*Term
	IsAtom   bool
	// Compare: Left Op Right. Assign: Var := Right; Op is ":=".
	Op          string
	Var         Name
	Left, Right *Term
	Span        source.Span
}

// TermKind is a kind of term.
type TermKind uint8

// The kinds.
const (
	NameTerm TermKind = iota // a variable, "self", "true", "false"
	WildcardTerm
	NumberTerm // Text has its digits, with a sign
	StringTerm
	BytesTerm
	NodeTerm
	CallTerm // of a function, Text, or an operator
)

// Term is a term.
type Term struct {
	Kind TermKind
	Text string
	Args []*Term
	Span source.Span
}
