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
// Run executes the section on s, a copy that is thrown away unless the section
// commits, and returns the label to go on at. What s points to is shared with
// the state before: slices and maps in it are replaced, never changed in
// place. Run may be called many times for one step, must do the same when it
// reads and chooses the same, must not block, and must hand on every error
// that a Tx gives it. A *value.Error that it panics with ends the run as an
// error.
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

// Blocked is what a section returns where an await is false.
func Blocked() (Label, error) { return 0, ErrBlocked }

// Invariant is a compiled invariant of what one instance can see. Holds is
// evaluated on the state that a section is about to commit, as part of the
// section; it only reads.
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

// Archetype is the code of an archetype whose variables are an S. Generated
// code makes one per set of constants; it is immutable.
type Archetype[S any] struct {
	Name     string
	Sections []Section[S] // the first is where an instance starts
	// Init sets the variables to what the specification starts with. S holds
	// what New was given (self, parameters). Nil: nothing to set. It runs as a
	// section: it may choose and is blocked by an empty choice.
	Init func(s *S, tx *Tx) error
	// Invariants are checked before each commit, in order.
	Invariants []Invariant[S]
	// Vars lists the variables in the order of their declaration, for traces
	// and error messages. Nil: none are shown.
	Vars func(s *S) []Var
	// Where is called while a *value.Error unwinds a section, before its
	// functions are left, and gives the places in the specification that are
	// being evaluated, innermost first. Nil: the label's place is all that is
	// known.
	Where func() []string
}
