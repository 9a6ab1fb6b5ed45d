// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// State is a state of a specification, which only its Spec understands. It is
// immutable.
type State any

// Spec defines what the sections of a system may do. Only one goroutine uses it.
type Spec interface {
	// Init returns the initial states.
	Init() ([]State, error)
	// Key appends bytes that are the same for two states exactly if the states are.
	Key(to []byte, s State) []byte
	// Instances returns the names of the instances of archetypes, as processes with a
	// log are named.
	Instances() []string
	// Actor returns the number of an instance of an archetype. If there is no
	// such instance, the error lists the existing ones.
	Actor(archetype string, self value.Value) (int, error)
	// Step calls yield for every state to which the section may lead from s: the
	// actor executes label, makes exactly the given accesses, and continues at next
	// with the given variables. If there is none, Step returns what blocked the
	// execution that got furthest. The empty label is the initialisation: it leads
	// to s itself if the variables match, or, after a crash, to a state that the
	// crash allows.
	Step(s State, actor int, want *Section, yield func(State) error) (*Obstacle, error)
	// Survives reports whether an actor starts again after a crash.
	Survives(actor int) bool
	// Hidden calls yield for every state that one step of a process other than
	// the given actors can reach: these are the processes without a log.
	Hidden(s State, logged []int, yield func(State) error) error
	// Footprint returns what a section of an actor can access outside of the
	// process; false if that is not known.
	Footprint(actor int, of *Section) ([]Cell, bool)
	// Waits returns the label at which an actor is, and what keeps it from
	// continuing; nil if nothing does.
	Waits(s State, actor int) (label string, why *Obstacle)
	// Broken returns an invariant that is false in a state, or nil.
	Broken(s State) (*Invariant, error)
	// Show decodes a state for the report.
	Show(s State) []check.Binding
}

// Invariant is an invariant of the configuration.
type Invariant struct {
	Name  string
	Place string // of its definition, file:line:column
	Text  string // of its definition
}

// Section is a logged critical section in terms of values.
type Section struct {
	Label, Next string
	// Crash means that the process crashed and starts again; there is no Label.
	Crash    bool
	Accesses []Access
	Vars     []Var // the variables that the section set, by their value after it
}

// Access is a read or write of an archetype's ref parameter.
type Access struct {
	Write   bool
	Param   string
	Indices []value.Value
	Value   value.Value
}

// Var is a variable of an archetype and its value.
type Var struct {
	Name  string
	Value value.Value
}

// Obstacle states why a section cannot be executed in a state.
type Obstacle struct {
	// Matched is the number of accesses that matched before the obstacle.
	Matched int
	// Place is file:line:column of the statement or conjunct that blocked.
	Place string
	// Text is that statement as written in the specification.
	Text string
	// Reason describes the mismatch: "the condition is false", "the
	// specification reads 3 here, the log has 4".
	Reason string
}
