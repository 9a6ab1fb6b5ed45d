// SPDX-License-Identifier: Apache-2.0

package check

import "io"

// ModelCapabilities is what a model supports besides the methods of Model. A
// nil field is not supported.
type ModelCapabilities struct {
	// Remarks returns oddities of the states that are not errors. It is called
	// after every state was visited, with the workers that visited them.
	Remarks func(workers []Worker) []string
	// ShowAt is Show for a state of a trace.
	ShowAt func(at Shown) []Binding
	// Live has the model's properties of whole behaviours. Its workers evaluate
	// atoms.
	Live *Live
	// Durable is what the model keeps in checkpoints.
	Durable Durable
}

// Shown is a state of a trace.
type Shown struct {
	// State is the state, and Next the one after it; at the end of the trace
	// Next is the state itself.
	State, Next State
	// Number counts the states of the trace from 1; it is 0 outside a trace.
	Number int
	// Action led to the state: see Step.
	Action int
	// Path are the states of the trace up to and including State; nil outside a
	// trace.
	Path []State
}

// Durable is a model whose search can be resumed in another process: it can
// save what its workers have learned, and the meaning of states.
type Durable interface {
	// Durable returns the reason why a search of this model cannot be saved, or
	// nil.
	Durable() error
	// Save writes what Restore needs. No worker is running meanwhile.
	Save(w io.Writer, workers []Worker) error
	// Restore gives states and fingerprints the meaning that they had in the
	// saved model. It is called before any worker is made.
	Restore(r io.Reader) error
}

// Capabilities is what a worker supports besides the methods of Worker. A nil
// field is not supported. The checker asks once, before any other call.
type Capabilities struct {
	// Key returns the key of the candidate being visited. A model has keys if
	// it distinguishes states by less than their bytes, as with a view or a
	// symmetry: two states are the same exactly when their keys are equal, and
	// the one found first is explored. The worker owns the key, which is valid
	// until the visit ends. Key may be called only within visit.
	Key func() (State, error)
	// Further names all broken properties, not only the first.
	Further Further
	// AtLevel is for models that may use the depth of a state. It is called
	// before Next whenever the number of states on the shortest path to the
	// following states has changed; the worker assumes 0 until then.
	AtLevel func(states int)
	// AskPath is for models that may use the path to a state. It is called
	// once, before Next. Within Next, path returns the states from an initial
	// one to the state being expanded, and within Init none; they belong to the
	// model. If path fails, the evaluation must end with ErrStopped.
	AskPath func(path func() ([]State, error))
	// EndWhen is for workers that can interrupt an evaluation: those of models
	// with few states per expression, or endless expressions. It is called
	// once, before anything is evaluated. From then on the worker must call
	// stop from time to time and, once stop returns true, return ErrStopped.
	EndWhen func(stop func() bool)
	// Atom returns the value of an atom of ModelCapabilities.Live in the state
	// s or, if the atom is about steps, on the step from s to t, two states
	// that Init and Next have visited. If it has no value, the error is an
	// *AtomError.
	Atom func(i int, s, t State) (bool, error)
	// Later returns a judge that answers questions about candidates after their
	// visits, and whether there are constraints: without them InModel is true
	// for every successor. It is called once, after EndWhen.
	Later func() (j Judge, constrained bool)
}

// Further names the broken properties after a given one.
type Further interface {
	// BrokenInvariantAfter and BrokenStepAfter are BrokenInvariant and BrokenStep for
	// the properties whose index is greater than i.
	BrokenInvariantAfter(i int) (int, error)
	BrokenStepAfter(i int) (int, error)
}

// Judge answers questions about candidates that its worker has visited, even
// while the worker is enumerating. It is used by the goroutine of its worker.
type Judge interface {
	// See makes s, which the caller owns, the candidate for the other methods.
	See(s State)
	// BrokenInvariant is that of Worker.
	BrokenInvariant() (int, error)
	Further
}
