// SPDX-License-Identifier: Apache-2.0

package distsys

import (
	"github.com/ashlar-dev/ashlar/distsys/cell"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Resource is what a ref parameter of an archetype refers to.
//
// Within one section a resource sees any number of Read and Write, then either
// Abort, or PreCommit until it no longer returns ErrPending and then Commit or
// Abort. After Commit or Abort it must have dropped the Tx. The Tx is the
// identity of the instance: a resource shared by several instances uses it as
// the key for what it holds for each. Calls for one Tx come one at a time;
// calls for different ones may come concurrently from different goroutines. No
// call may block.
//
// Read and Write return ErrBlocked, ErrContended or an error that wraps
// ErrAbort to end the attempt; any other error ends the run. A resource must be
// comparable (a pointer), and must not retain idx.
type Resource interface {
	Read(tx *Tx, idx []value.Value) (value.Value, error)
	Write(tx *Tx, idx []value.Value, v value.Value) error
	// PreCommit returns nil if Commit can no longer fail, ErrPending, or the
	// reason why the section cannot commit (wrapping ErrAbort to retry it).
	// After nil it is not called again.
	PreCommit(tx *Tx) error
	Commit(tx *Tx)
	// Abort undoes everything since the section began.
	Abort(tx *Tx)
}

// Watched is a Resource on which a section can wait. Between Watch and Unwatch,
// every change that could alter the result of a blocked Read or Write wakes w.
// Watch precedes the Read, so that no change falls between them. W is watched
// at most once at a time.
type Watched interface {
	Resource
	Watch(w env.Waker)
	Unwatch(w env.Waker)
}

// Queued is a Resource that at pre-commit assigns the section a place in an
// order, behind undecided sections, without blocking later sections. For a
// section that takes a place in only one order, this is as good as a lock: the
// section acquired all its locks before, because Queued resources pre-commit
// last. With two orders, each of two sections could be first in one of them. So
// a section for which Tx.Alone is false must not be placed behind an undecided
// one.
type Queued interface {
	Resource
	// Queues reports whether the section is about to take a place.
	Queues(tx *Tx) bool
}

// Selector is a Resource that consists of other resources: an access goes to
// the resource that Select returns, with the remaining indices. The same index
// always selects the same resource. The engine does not call the other methods
// of a Selector.
type Selector interface {
	Resource
	Select(idx []value.Value) (sub Resource, rest []value.Value, err error)
}

// Stored is a Resource that keeps its value in a cell.Tree. The Read and Write
// of generated code use the tree in the code's own Go type and so convert
// nothing.
type Stored interface {
	Resource
	// Open returns the tree for one access of tx, under the rules of Read, or
	// of Write if write is true. Writes to a nil tree have no effect. Unless
	// Open returns an error, the caller must call Close afterwards.
	Open(tx *Tx, write bool) (*cell.Tree, error)
	Close()
	// Keeper must return the resource itself. A type that embeds a Stored and
	// overrides Read or Write does not count as Stored, because its Keeper
	// returns the embedded resource.
	Keeper() Resource
}

// stored returns the leaf as a Stored, or nil if it is not one.
func stored(leaf Resource) Stored {
	if s, ok := leaf.(Stored); ok && s.Keeper() == leaf {
		return s
	}
	return nil
}

// Shape converts between a Go type and values. From panics with a
// *value.Error for a value that is not of the type.
type Shape[T any] struct {
	To   func(T) value.Value
	From func(value.Value) T
}

// Ref is a parameter of an archetype together with the resource that it
// refers to. Copies are equal.
type Ref struct {
	name string
	res  Resource
}

// NewRef binds the parameter of that name.
func NewRef(name string, r Resource) Ref { return Ref{name, r} }

// Name is the parameter's name in the specification.
func (r Ref) Name() string { return r.name }

// Resource is what the parameter refers to.
func (r Ref) Resource() Resource { return r.res }

// Read reads a resource in the Go type that sh converts to. Generated code
// calls it.
func Read[T any](tx *Tx, r Ref, sh Shape[T], idx ...value.Value) (T, error) {
	return read(tx, r, sh, idx, tx.traced)
}

func read[T any](tx *Tx, r Ref, sh Shape[T], idx []value.Value, traced bool) (T, error) {
	defer tx.release(len(tx.indices))
	own := tx.hold(idx)
	leaf, rest, err := tx.reach(r, own)
	if err != nil {
		var zero T
		return zero, err
	}
	if s := stored(leaf); s != nil {
		x, err := get(tx, s, sh, rest)
		if err == nil && traced {
			tx.element(opRead, r, own, sh.To(x))
		}
		return x, err
	}
	v, err := leaf.Read(tx, rest)
	if err != nil {
		var zero T
		return zero, err
	}
	if traced {
		tx.element(opRead, r, own, v)
	}
	return sh.From(v), nil
}

// MustRead is Read for generated code inside an expression, which has no way to
// return an error: it unwinds to the section's caller. It is not traced,
// because how often it is called depends on how the expression is evaluated.
func MustRead[T any](tx *Tx, r Ref, sh Shape[T], idx ...value.Value) T {
	x, err := read(tx, r, sh, idx, false)
	if err != nil {
		panic(unwind{err})
	}
	return x
}

// unwind carries an error out of an expression.
type unwind struct{ err error }

// Write writes a Go value to a resource. Generated code calls it.
func Write[T any](tx *Tx, r Ref, sh Shape[T], x T, idx ...value.Value) error {
	defer tx.release(len(tx.indices))
	own := tx.hold(idx)
	leaf, rest, err := tx.reach(r, own)
	if err != nil {
		return err
	}
	if tx.traced {
		tx.element(opWrite, r, own, sh.To(x))
	}
	if s := stored(leaf); s != nil {
		return put(tx, s, sh, rest, x)
	}
	return leaf.Write(tx, rest, sh.To(x))
}

func get[T any](tx *Tx, s Stored, sh Shape[T], idx []value.Value) (x T, err error) {
	tree, err := s.Open(tx, false)
	if err != nil {
		return x, err
	}
	defer s.Close()
	return cell.Get(tree, idx, sh.To, sh.From), nil
}

func put[T any](tx *Tx, s Stored, sh Shape[T], idx []value.Value, x T) error {
	tree, err := s.Open(tx, true)
	if err != nil {
		return err
	}
	defer s.Close()
	if tree != nil {
		cell.Put(tree, idx, x, sh.To)
	}
	return nil
}
