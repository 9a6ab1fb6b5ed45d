// SPDX-License-Identifier: Apache-2.0

package distsys

import "github.com/ashlar-dev/ashlar/tla/value"

// Label is the number of a section: an index into Archetype.Sections, or one
// of the labels below.
type Label int32

// The labels that every archetype has.
const (
	// Done ends the instance.
	Done Label = -1
	// Error ends it with ErrProcedureFallthrough.
	Error Label = -2

	starting Label = -3 // before Init
)

// Section is the code of one label.
//
// Run executes the section on s, a copy that is discarded unless the section
// commits, and returns the label to continue at. The copy shares what s points
// to with the previous state, so Run must replace slices and maps, never change
// them in place. Run may be called many times for one step, must behave
// identically when it reads and chooses the same, must not block, and must
// return every error that a Tx returns. If it panics with a *value.Error, the
// run ends with that error.
//
// For the step "l: await q # <<>>; network[Head(q)] := 7; q := Tail(q);" it is
//
//	func (s *server) l(tx *distsys.Tx) (distsys.Label, error) {
//		if len(s.q) == 0 {
//			return distsys.Blocked()
//		}
//		if err := distsys.Write(tx, s.network, distsys.Int(), 7, value.Int(s.q[0])); err != nil {
//			return 0, err
//		}
//		s.q = s.q[1:]
//		return labelM, nil
//	}
type Section[S any] struct {
	Name  string // the label
	Place string // file:line:column in the specification
	Run   func(s *S, tx *Tx) (Label, error)
}

// Blocked is what a section returns if an await is false.
func Blocked() (Label, error) { return 0, ErrBlocked }

// Invariant is a compiled invariant over the state of one instance. The engine
// evaluates Holds as part of a section, on the state that the section is about
// to commit. Holds must only read.
type Invariant[S any] struct {
	Name  string
	Place string
	Holds func(s *S, tx *Tx) (bool, error)
}

// Var is a variable and its value.
type Var struct {
	Name  string
	Value value.Value
}

// Archetype is the code of an archetype whose variables have the type S.
// Generated code builds one Archetype for each set of constants. It is
// immutable.
type Archetype[S any] struct {
	Name     string
	Sections []Section[S] // the first is where an instance starts
	// Init sets the variables to their initial values. S holds what the caller
	// passed to New (self, parameters). Nil means that there is nothing to set.
	// Init runs as a section: it may make choices, and a choice from an empty
	// set blocks it.
	Init func(s *S, tx *Tx) error
	// Crash describes how an instance continues after a crash. Nil means that
	// the specification has no crash for this archetype; the instance then ends
	// with its process.
	Crash *Crash[S]
	// Invariants are checked before each commit, in order.
	Invariants []Invariant[S]
	// Vars lists the variables in the order of their declaration, for traces
	// and error messages. If it is nil, traces and messages show no variables.
	Vars func(s *S) []Var
	// Where is called while a *value.Error unwinds a section, before the
	// section's functions have returned. It returns the places in the
	// specification that are being evaluated, innermost first. If Where is nil,
	// only the place of the label is known.
	Where func() []string
}
