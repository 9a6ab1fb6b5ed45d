// SPDX-License-Identifier: Apache-2.0

// Package rt is the runtime interface of compiled Dedalus programs: the types of
// a compiled program, of its components, and of the results of a tick.
//
// In: messages, as bytes, and timers. Out: messages for nodes, as bytes, and
// what must be durable before the next tick.
//
// Promised: a Component has no goroutine, no clock and no I/O of its own, and it
// is deterministic: the same calls have the same results. Package host connects
// it to the world.
//
// Refused: when and whether messages arrive; the caller decides that.
package rt

import (
	"fmt"
	"time"
)

// Program is a compiled program, which a generated package exports.
type Program struct {
	Name string
	// Hash is the hash of the program's text. Peers with another hash are
	// refused.
	Hash uint64
	// Relations lists the relations that cross the border of an instance: messages,
	// inputs, outputs and durable relations. The index of a relation is its number
	// on the wire and on the disk.
	Relations []Relation
	// Static lists the relations for which the deployment may provide facts.
	Static []Relation
	// Components lists the components in the order of the program.
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

// Relation is a relation that crosses the border of an instance. A relation that
// is both sent and durable has two entries.
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

// Type is the type of the column, with the numbers of package logic. Elem is
// the element type of a set.
type Type struct {
	Kind uint8
	Elem *Type
}

// ComponentType is a component of a program.
type ComponentType struct {
	Name string
	// Of names the component of the original program that a rewrite has divided
	// into pieces, of which this is one. Instances and Partitions are as in package
	// logic.
	Of                    string
	Instances, Partitions int
	Timers                []Timer
	// Durable reports whether the component has durable relations.
	Durable bool
	// New returns an instance before its first tick. static maps the name of
	// each static relation to the facts that the deployment, not the program,
	// provides; each is encoded as by AppendRow.
	New func(who Identity, static map[string][][]byte) (Component, error)
}

// Timer is a timer of a component. The index in ComponentType.Timers identifies
// it.
type Timer struct {
	Name  string
	Every time.Duration
}

// Identity identifies an instance: Node is the address for messages to it, and
// Self the logical node that it represents.
type Identity struct{ Node, Self string }

// TurnsMax limits the number of facts to which a tick may apply recursive rules.
// Derivation by recursive rules must end within a tick; a program in which it does not is
// wrong, and would use all memory.
const TurnsMax = 1 << 23

// EndlessError is the panic value of Tick when it reaches TurnsMax. A panic is needed
// because a half-finished tick can neither be undone nor continued. The Component is
// unusable afterwards.
type EndlessError struct {
	Component string
	// Relations lists the relations whose rules derive each other's facts.
	Relations string
}

func (e *EndlessError) Error() string {
	return fmt.Sprintf("a tick of %s does not end: the rules of %s have been applied to TurnsMax, %d facts", e.Component, e.Relations, TurnsMax)
}

// Component is one instance of a component. Only one goroutine may call its
// methods at a time.
type Component interface {
	// Deliver adds a message to the arrivals of the next tick. The caller may
	// reuse the row when Deliver returns. Deliver returns an error if the
	// component does not receive this relation, or if the bytes are not a row of
	// it.
	Deliver(relation int, row []byte) error
	// Timer makes a timer fire in the next tick.
	Timer(timer int)
	// Tick runs one tick. It appends to out the messages to send, and the
	// changes that must be durable before the next tick.
	Tick(out *Out)
	// Pending reports whether a tick without arrivals would change something.
	Pending() bool
	// Resend appends to out every message that is sent while a fact holds, for
	// all facts that hold now. A tick sends such a message only when the fact
	// begins to hold; Resend replaces the messages that were lost with a
	// connection or in a crash.
	Resend(out *Out)
	// Restore applies a durable change of an earlier life. The caller calls it
	// before the first tick, once for each change, in the order in which they were
	// logged.
	Restore(c Change) error
	// Snapshot appends all durable rows to out, as changes that add them.
	Snapshot(out *Out)
}

// Out collects the results of a tick. Its slices grow; Reset empties them.
type Out struct {
	Sent    []Sent
	Changes []Change
	// rows is the current buffer for the rows of Sent and Changes; older rows
	// may be in older buffers.
	rows []byte
}

// Sent is a message to a node. Row is valid until the Out is reset.
type Sent struct {
	To       string
	Relation int
	Row      []byte
}

// Change is a change of a durable row: the row was added, or, if Gone, removed.
// Row is valid until the Out is reset.
type Change struct {
	Relation int
	Gone     bool
	Row      []byte
}
