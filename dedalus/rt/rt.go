// SPDX-License-Identifier: Apache-2.0

// Package rt is what compiled Dedalus programs are made against: the shape of a
// compiled program, of a component in it, and of what a tick leaves behind.
//
// In: messages, as bytes, and timers. Out: messages for nodes, as bytes, and
// what must be durable before the next tick.
//
// Promised: a Component has no goroutine, no clock and no input or output of its
// own; given the same calls it does the same. Package host gives it the world.
//
// Refused: when messages arrive, and whether; that is for its caller.
package rt

import (
	"fmt"
	"time"
)

// Program is a compiled program: what a generated package exports.
type Program struct {
	Name string
	// Hash is of the program's text; peers with another one are refused.
	Hash uint64
	// Relations are those that cross the border of an instance: messages, inputs,
	// outputs and what is durable. A relation's place is its number on the wire and
	// on the disk.
	Relations []Relation
	// Static are the relations of which the deployment may give facts.
	Static []Relation
	// Components are in the order of the program.
	Components []ComponentType
}

// RelationKind states how a relation crosses the border of an instance.
type RelationKind uint8

// The kinds.
const (
	Message RelationKind = iota // between instances
	Input                       // from outside
	Output                      // to outside
	Durable                     // to the disk and back
)

// Relation is a relation that crosses the border of an instance. One that is both
// sent and durable is there twice.
type Relation struct {
	Name    string
	Kind    RelationKind
	Columns []Column
}

// Column is a column of a relation.
type Column struct {
	Name string
	Type Type
}

// Type is the type of a column, as package logic numbers them; Elem is a set's.
type Type struct {
	Kind uint8
	Elem *Type
}

// ComponentType is a component of a program.
type ComponentType struct {
	Name string
	// Of is the component of the program as it was written that this is a piece of;
	// Instances and Partitions are as in package logic.
	Of                    string
	Instances, Partitions int
	Timers                []Timer
	// Durable reports that the component has something to keep.
	Durable bool
	// New is an instance before its first tick. Static are the facts of static
	// relations that the deployment gives and not the program, each as AppendRow
	// writes it, by the relation's name.
	New func(who Identity, static map[string][][]byte) (Component, error)
}

// Timer is a timer of a component, known by its place.
type Timer struct {
	Name  string
	Every time.Duration
}

// Identity is who an instance is: Node is where messages to it go, Self the node
// that it stands for.
type Identity struct{ Node, Self string }

// TurnsMax is how many facts recursive rules may be applied to in a tick. Facts that rules
// derive of each other within a tick have to come to an end; a program in which they do
// not is wrong, and would take all memory.
const TurnsMax = 1 << 23

// EndlessError is what Tick panics with when TurnsMax is reached: what is half of a tick
// can be neither undone nor reported. The Component is of no use any more.
type EndlessError struct {
	Component string
	// Relations are those that the rules derive of each other.
	Relations string
}

func (e *EndlessError) Error() string {
	return fmt.Sprintf("a tick of %s does not end: the rules of %s have been applied to TurnsMax, %d facts", e.Component, e.Relations, TurnsMax)
}

// Component is one instance of a component. Its methods are called by one
// goroutine at a time.
type Component interface {
	// Deliver adds a message to what arrives in the next tick. The row is the
	// caller's again when Deliver returns. The error says what is wrong with it:
	// a relation that does not come here, or bytes that are no row of it.
	Deliver(relation int, row []byte) error
	// Timer has a timer run out in the next tick.
	Timer(timer int)
	// Tick goes through one tick. What it sends and what must be durable before
	// the next tick is appended to out.
	Tick(out *Out)
	// Pending reports whether a tick in which nothing arrives would do something.
	Pending() bool
	// Resend appends to out all that holds now and is sent while it holds: a tick
	// sends a fact when it begins to hold, and a message that was lost with a
	// connection or a crash is sent again by this.
	Resend(out *Out)
	// Restore adds, before the first tick, a change that an Out of an earlier life
	// has made durable, in the order in which it did.
	Restore(c Change) error
	// Snapshot appends to out what is durable, as changes that add.
	Snapshot(out *Out)
}

// Out is what a tick leaves behind. Its slices grow; Reset empties them.
type Out struct {
	Sent    []Sent
	Changes []Change
	// rows holds the rows of both, the last ones.
	rows []byte
}

// Sent is a message on its way to a node. Row is valid until the Out is reset.
type Sent struct {
	To       string
	Relation int
	Row      []byte
}

// Change is a change to what is durable: a row that is there from now on, or no
// longer. Row is valid until the Out is reset.
type Change struct {
	Relation int
	Gone     bool
	Row      []byte
}
