package check

import "io"

// ModelCapabilities is what a model supports beside what every Model does. What is nil
// it does not support.
type ModelCapabilities struct {
	// Remarks returns what is odd about the states, though nothing is wrong with them.
	// It is called after every state was visited, with the workers that did it.
	Remarks func(workers []Worker) []string
	// ShowAt is Show for a state of a trace.
	ShowAt func(at Shown) []Binding
	// Live is what the model asks of whole behaviours. Its workers evaluate atoms.
	Live *Live
	// Durable is what the model keeps in checkpoints.
	Durable Durable
}

// Shown is a state of a trace.
type Shown struct {
	// State is the state, and Next the one after it, which is the state itself at
	// the end of the trace.
	State, Next State
	// Number counts the states of the trace from 1; 0 where there is none.
	Number int
	// Action led to the state: see Step.
	Action int
	// Path are the states of the trace up to State, which is the last; nil where
	// there is none.
	Path []State
}

// Durable is a model that a search can be resumed with in another process: what its
// workers have learned, and what states mean, can be kept.
type Durable interface {
	// Durable returns why a search of this model cannot be kept, or nil.
	Durable() error
	// Save writes what Restore needs. No worker is at work meanwhile.
	Save(w io.Writer, workers []Worker) error
	// Restore makes states and fingerprints mean what they meant to the model
	// that was saved. It is called before any worker is made.
	Restore(r io.Reader) error
}

// Capabilities is what a worker supports beside what every Worker does. What is nil it
// does not support. The checker asks once, before anything else.
type Capabilities struct {
	// Key returns the key of the candidate that is being visited. A model has keys
	// where it tells states apart by less than their bytes, as a view or a symmetry
	// does: two states are one exactly when their keys are equal, and the one that is
	// found first is explored. The key is the worker's and is valid until the visit
	// ends. Key may be called only within visit.
	Key func() (State, error)
	// Further names every property that is broken, and not only the first.
	Further Further
	// AtLevel is for models that may ask how deep a state is. It is called before
	// Next, whenever the number of states on the shortest path to the states that
	// follow has changed; the worker assumes 0 until then.
	AtLevel func(states int)
	// AskPath is for models that may ask how a state was reached. It is called once,
	// before Next. Within Next, path returns the states from an initial one to that
	// of which the successors are computed, and within Init none; they are the
	// model's. Where path fails, the evaluation must end with ErrStopped.
	AskPath func(path func() ([]State, error))
	// EndWhen is for workers that can leave an evaluation in its middle: those whose
	// states have few or endless expressions between them. It is called once, before
	// anything is evaluated. From then on the worker calls stop now and then, and once
	// stop returns true, returns ErrStopped from what it is doing.
	EndWhen func(stop func() bool)
	// Atom is the value of an atom of ModelCapabilities.Live in the state s or, if it
	// is about steps, on the step from s to t, two states that Init and Next have
	// visited. Where it has none, the error is an *AtomError.
	Atom func(i int, s, t State) (bool, error)
	// Later returns a judge that answers questions about candidates after their
	// visits, and whether there are constraints: without them InModel is true for
	// every successor. It is called once, after EndWhen.
	Later func() (j Judge, constrained bool)
}

// Further names the properties that are broken behind one.
type Further interface {
	// BrokenInvariantAfter and BrokenStepAfter are BrokenInvariant and BrokenStep for
	// the properties whose index is greater than i.
	BrokenInvariantAfter(i int) (int, error)
	BrokenStepAfter(i int) (int, error)
}

// Judge answers questions about candidates that were visited by the worker that it
// belongs to, also while that one is in the midst of an enumeration. It is used by the
// goroutine of its worker.
type Judge interface {
	// See makes s, which is the caller's, the candidate that the other methods
	// speak of.
	See(s State)
	// BrokenInvariant is that of Worker.
	BrokenInvariant() (int, error)
	Further
}
