// SPDX-License-Identifier: Apache-2.0

// Package check explores the states of a Model, breadth first, exactly.
//
// It is independent of TLA+: a model yields initial states and successors as
// canonical byte strings and answers questions about the state being visited.
// The counts follow TLC's rules (generated: every successor computed, initial
// states included; distinct: states inside the constraints, each once; depth:
// the longest shortest path, counted in states), so that they can be compared.
// Results are exact: nothing is sampled, and anything not checked is reported
// as not checked. The figures do not depend on a memory bound, beyond which a
// search goes to disk, nor on an interruption after which it is resumed.
package check

import "errors"

// State is the canonical encoding of a state: two states are equal exactly when
// their bytes are. The checker copies the states that it keeps.
type State []byte

// Model is a transition system. It is immutable and safe for concurrent use.
type Model interface {
	// Info is the static description of the model.
	Info() Info
	// NewWorker returns an evaluator with its own scratch memory, for one
	// goroutine.
	NewWorker() Worker
	// Show decodes a state for people and machines.
	Show(s State) []Binding
	// Capabilities is what else the model supports.
	Capabilities() ModelCapabilities
}

// Info describes a model; the indices that a Worker reports point into it.
type Info struct {
	Name       string
	Actions    []Action
	Invariants []string // names, in the order of the configuration
	Steps      []string // action properties [][A]_v and implied actions
	// Deadlock states whether a state without a successor is an error.
	Deadlock bool
	// Unchecked names every property that the model has and the checker cannot
	// decide, with the reason. It makes a run incomplete.
	Unchecked []Unchecked
	// Warnings are remarks about the model that do not change the verdict.
	Warnings []string
}

// Unchecked is a property that was requested and not checked.
type Unchecked struct{ Property, Reason string }

// Action is a disjunct of the next-state relation, for coverage and traces.
type Action struct {
	Name  string
	Place string // file:line:column, empty if there is none
}

// Binding is a variable and its value in a state.
type Binding struct {
	Name  string
	Value string // in the model's own notation, on one line
	// JSON is the value for machines.
	JSON string
}

// Visit is called once per generated state. The worker owns the State, which is
// valid until Visit returns. An error stops the enumeration; Init or Next
// returns it unchanged.
type Visit func(a int, s State) error

// Worker enumerates states. Its errors are evaluation errors of the model (an
// *EvalError) or those that Visit returned.
type Worker interface {
	// Assumptions evaluates the assumptions of the model and returns the names
	// or places of the false ones.
	Assumptions() ([]string, error)
	// Init calls visit for every initial state; the action is -1.
	Init(visit Visit) error
	// Next calls visit for every successor of s, duplicates included, in a
	// deterministic order.
	Next(s State, visit Visit) error

	// The next three methods are about the candidate being visited, and the
	// state from which it was reached. They may be called only within visit.

	// InModel evaluates the constraints: a candidate outside is not explored.
	InModel() (bool, error)
	// BrokenInvariant returns the index of the first invariant that is false in
	// the candidate, or -1. With an error it is the one that has no value.
	BrokenInvariant() (int, error)
	// BrokenStep returns the index of the first action property that the step
	// to the candidate breaks, or -1. For an initial state it evaluates the
	// part of the property about initial states.
	BrokenStep() (int, error)

	// Capabilities is what else the worker supports.
	Capabilities() Capabilities
}

// ErrStopped is returned by a Visit, and by a worker that was asked to stop,
// when the search is over.
var ErrStopped = errors.New("check: search stopped")

// EvalError reports an error in the model: an expression has no value
// ("attempted to apply the function ... to ..., which is not in its domain").
type EvalError struct {
	Message string
	// Places is the chain of source places from the innermost outward.
	Places []string
}

func (e *EvalError) Error() string {
	if len(e.Places) > 0 {
		return e.Places[0] + ": " + e.Message
	}
	return e.Message
}
