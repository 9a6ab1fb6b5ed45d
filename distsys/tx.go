// SPDX-License-Identifier: Apache-2.0

package distsys

import (
	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Tx is a critical section in progress, as sections and resources see it. An
// instance has one Tx for all its sections, so that the Tx's address is the
// instance's identity; it must not be used outside a section.
type Tx struct {
	run    *engine
	traced bool // keep elements and clocks

	joined  []Resource // touched in this attempt, in order of first access
	pending []Resource // of joined, not yet pre-committed, but for
	placing []Resource // ... those that take places: they pre-commit last
	watched []Watched  // watched until the next commit

	arming    bool // watch what is touched
	contended bool // this attempt met ErrContended

	indices []value.Value // of the accesses in progress

	elements []tracelog.Element
	seen     tracelog.Clock // merged from what was read
	stamp    tracelog.Clock // what a commit will carry
	printed  []string
}

// Self is the identity of the instance.
func (tx *Tx) Self() value.Value { return tx.run.self }

// Read reads a resource.
func (tx *Tx) Read(r Ref, idx ...value.Value) (value.Value, error) {
	defer tx.release(len(tx.indices))
	own := tx.hold(idx)
	leaf, rest, err := tx.reach(r, own)
	if err != nil {
		return value.Value{}, err
	}
	v, err := leaf.Read(tx, rest)
	if err != nil {
		return v, err
	}
	if tx.traced {
		tx.element(opRead, r, own, v)
	}
	return v, nil
}

// Write writes v to a resource.
func (tx *Tx) Write(r Ref, v value.Value, idx ...value.Value) error {
	defer tx.release(len(tx.indices))
	own := tx.hold(idx)
	leaf, rest, err := tx.reach(r, own)
	if err != nil {
		return err
	}
	if tx.traced {
		tx.element(opWrite, r, own, v)
	}
	return leaf.Write(tx, rest, v)
}

// Choose returns a branch for a branch point of n branches: the number of the
// branch of an either, or of the element of a set, in the set's order. With n =
// 0 it returns ErrBlocked.
func (tx *Tx) Choose(n int) (int, error) {
	if n <= 0 {
		return 0, ErrBlocked
	}
	k := tx.run.explore.choose(tx.run.pc, n)
	if k < 0 {
		return 0, ErrBlocked
	}
	return k, nil
}

// ChooseFrom returns the x of "with x \in s" for a finite set.
func (tx *Tx) ChooseFrom(s value.Value) (value.Value, error) {
	elems := s.Elems()
	k, err := tx.Choose(len(elems))
	if err != nil {
		return value.Value{}, err
	}
	return elems[k], nil
}

// Assert returns an *AssertionError if ok is false. Text is the asserted
// expression as the specification has it.
func (tx *Tx) Assert(ok bool, text, place string) error {
	if ok {
		return nil
	}
	return &AssertionError{Text: text, Place: place}
}

// Print prints v when the section commits.
func (tx *Tx) Print(v value.Value) {
	if tx.run.opt.Print != nil {
		tx.printed = append(tx.printed, v.String())
	}
}

// The methods below are for resources.

// Waker returns the Waker that a resource must wake, after it returned
// ErrContended, when the held item is free again.
func (tx *Tx) Waker() env.Waker { return tx.run.signal }

// Answered returns the Waker that a resource must wake, after its PreCommit
// returned ErrPending, when PreCommit is worth calling again.
func (tx *Tx) Answered() env.Waker { return tx.run.answered }

// Traced reports whether the instance maintains clocks. If not, Observe and
// Stamp do nothing.
func (tx *Tx) Traced() bool { return tx.traced }

// Observe records that the section has read data written under clock c.
func (tx *Tx) Observe(c tracelog.Clock) {
	if !tx.traced || len(c) == 0 {
		return
	}
	tx.seen = tx.seen.Merge(c)
	if tx.stamp != nil { // in PreCommit
		tx.stamp = tx.stamp.Merge(c)
	}
}

// Stamp returns the clock to attach to the data that the section writes. It is
// defined in PreCommit and Commit; without tracing it is nil. It grows when a
// resource observes a clock in its own PreCommit, so data that an earlier
// resource stamped at pre-commit may lack that clock: where a section reads and
// writes one set and sends to another queue, the message there may lack the
// clocks of senders that repeated, meanwhile, what the section has read.
func (tx *Tx) Stamp() tracelog.Clock { return tx.stamp }

// Alone reports whether r is the only Queued resource in which the section
// takes a place. It is defined in PreCommit.
func (tx *Tx) Alone(r Resource) bool {
	for _, other := range tx.joined {
		if q, ok := other.(Queued); ok && other != r && q.Queues(tx) {
			return false
		}
	}
	return true
}

// hold copies the indices of an access, so that those of the caller can be on its
// stack: a resource is an interface, to which the compiler would not pass them.
// The copy is valid until release of the number of indices that were held before.
func (tx *Tx) hold(idx []value.Value) []value.Value {
	n := len(tx.indices)
	tx.indices = append(tx.indices, idx...)
	return tx.indices[n:len(tx.indices):len(tx.indices)]
}

func (tx *Tx) release(n int) { tx.indices = tx.indices[:n] }

// reach finds the resource for an access and adds it to the section.
func (tx *Tx) reach(r Ref, idx []value.Value) (Resource, []value.Value, error) {
	leaf := r.res
	for {
		sel, ok := leaf.(Selector)
		if !ok {
			break
		}
		var err error
		if leaf, idx, err = sel.Select(idx); err != nil {
			return nil, nil, err
		}
	}
	tx.join(leaf)
	return leaf, idx, nil
}

func (tx *Tx) join(r Resource) {
	for _, have := range tx.joined {
		if have == r {
			return
		}
	}
	tx.joined = append(tx.joined, r)
	if tx.arming {
		tx.watch(r)
	}
}

func (tx *Tx) watch(r Resource) {
	w, ok := r.(Watched)
	if !ok {
		return
	}
	for _, have := range tx.watched {
		if have == w {
			return
		}
	}
	tx.watched = append(tx.watched, w)
	w.Watch(tx.run.signal)
}

func (tx *Tx) unwatch() {
	for _, w := range tx.watched {
		w.Unwatch(tx.run.signal)
	}
	tx.watched = clearTail(tx.watched)
	tx.arming = false
}

// abort undoes the attempt, the last touched resource first.
func (tx *Tx) abort() {
	for i := len(tx.joined) - 1; i >= 0; i-- {
		tx.joined[i].Abort(tx)
	}
	tx.forget()
}

func (tx *Tx) commit() {
	for _, r := range tx.joined {
		r.Commit(tx)
	}
}

// forget makes the Tx ready for the next attempt.
func (tx *Tx) forget() {
	if len(tx.joined) > 0 {
		tx.joined = clearTail(tx.joined)
		tx.pending, tx.placing = clearTail(tx.pending), clearTail(tx.placing)
	}
	if len(tx.printed) > 0 {
		tx.printed = clearTail(tx.printed)
	}
	if tx.traced {
		tx.elements, tx.seen, tx.stamp = nil, nil, nil
	}
	tx.contended = false
}

func clearTail[T any](s []T) []T {
	clear(s)
	return s[:0]
}

// order sorts the touched resources for pre-commit: those in which the section
// takes a place come last, when the section has all its locks. See Queued.
func (tx *Tx) order() {
	for _, r := range tx.joined {
		if q, ok := r.(Queued); ok && q.Queues(tx) {
			tx.placing = append(tx.placing, r)
		} else {
			tx.pending = append(tx.pending, r)
		}
	}
}

// preCommit calls PreCommit of the resources that have not pre-committed yet.
// It returns nil, ErrPending, or the reason why the section cannot commit.
func (tx *Tx) preCommit() error {
	if err := tx.ask(&tx.pending); err != nil {
		return err
	}
	return tx.ask(&tx.placing)
}

func (tx *Tx) ask(pending *[]Resource) error {
	rest := (*pending)[:0]
	for _, r := range *pending {
		switch err := r.PreCommit(tx); err {
		case nil:
		case ErrPending:
			rest = append(rest, r)
		default:
			return err
		}
	}
	clear((*pending)[len(rest):])
	*pending = rest
	if len(rest) > 0 {
		return ErrPending
	}
	return nil
}

const (
	opRead  = tracelog.Read
	opWrite = tracelog.Write
)

func (tx *Tx) element(op string, r Ref, idx []value.Value, v value.Value) {
	e := tracelog.Element{Op: op, Name: r.name, Value: v.String()}
	for _, i := range idx {
		e.Indices = append(e.Indices, i.String())
	}
	tx.elements = append(tx.elements, e)
}
