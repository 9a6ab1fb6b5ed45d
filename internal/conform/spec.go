// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Spec states what the sections of a system may do. It is used by one goroutine.
type Spec interface {
	// Init returns the initial states.
	Init() ([]check.State, error)
	// Actor returns the number of an instance of an archetype, or an error that
	// says which instances there are.
	Actor(archetype string, self value.Value) (int, error)
	// Step calls yield for every state that the section may lead to from s:
	// actor executes label, makes exactly the accesses, and goes on at next
	// with variables as given. Where there is none it returns what blocked the
	// execution that got furthest. The empty label is the initialisation: it
	// leads to s itself when the variables are as given, or to what a crash leaves.
	Step(s check.State, actor int, want Section, yield func(check.State) error) (*Obstacle, error)
	// Survives reports whether an actor starts again after a crash.
	Survives(actor int) bool
	// Hidden calls yield for every state that processes other than the given
	// actors may lead to in one step: those that were not logged.
	Hidden(s check.State, logged []int, yield func(check.State) error) error
	// Show decodes a state for the report.
	Show(s check.State) []check.Binding
}

// Section is a logged critical section in terms of values.
type Section struct {
	Label, Next string
	// Crash says that the process has crashed, and starts again: there is no Label.
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
	// Matched is how many accesses agreed before the obstacle.
	Matched int
	// Place is file:line:column of the statement or conjunct that blocked.
	Place string
	// Text is that statement in the specification's words.
	Text string
	// Reason states what it came to: "the condition is false", "the
	// specification reads 3 here, the log has 4".
	Reason string
}
