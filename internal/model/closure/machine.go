// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"github.com/ashlar-dev/ashlar/internal/model/memo"
	"github.com/ashlar-dev/ashlar/internal/model/profile"
	"github.com/ashlar-dev/ashlar/internal/model/rule"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Machine runs compiled code for one goroutine.
type Machine struct {
	cur, nxt []value.Value
	// curIDs has the numbers, plus one, of the values in cur; it is nil if they
	// are not known. nxtIDs receives those of the values in nxt; 0 means that a
	// number is not known.
	curIDs, nxtIDs []uint32
	memos          memo.Sites
	slots          []value.Value // those of the activation
	frame          *activation
	run            *tlcget.Run
	asker          *tlcget.Run // see memo.Cell
	depth          int
	polls          uint32 // see poll
	vars           []*core.Variable

	action int         // the action being enumerated
	alone  int         // successors found by steps that are taken alone
	place  source.Span // of the statement of an algorithm being executed
	found  func(action int) bool

	code *Code
	free []*activation
	// profiled counts evaluations if the model was compiled with a Profile.
	profiled *profile.Counter
	vectors  [][]value.Value // scratch states
	// targets has the next states of the enclosing A \cdot B, composed the
	// states in which they begin, the innermost last.
	targets, composed [][]value.Value
}

// activation is the memory of a running function.
type activation struct {
	slots  []value.Value
	thunks []thunk // arguments that are not computed yet, by parameter
	ops    []operator
	lists  [][]value.Value // elements being collected
	up     *activation     // of the function that this one was defined in
	// k is the continuation of a recursive action; it runs in the activation
	// kFrame.
	k      act
	kFrame *activation
	// pinned: a lazy function still refers to the activation, so it must not be
	// reused.
	pinned bool
}

// thunk is an argument that is computed when it is needed.
type thunk struct {
	run   expr
	frame *activation
	keep  bool // whether its value may be kept
}

// operator is an operator that was passed as an argument.
type operator struct {
	fn *function
	up *activation
}

// function is the layout of an activation and the code that runs in it.
type function struct {
	up     *function
	slots  int
	lists  int
	params []*core.Local
	strict []bool // parameters that every call computes first
	body   expr
	pred   pred
	act    act
	// folding: the function is an application that is being evaluated at
	// compile time.
	folding bool
}

func (f *function) slot() int {
	f.slots++
	return f.slots - 1
}

// NewMachine returns a Machine that runs the code for one goroutine.
func (c *Code) NewMachine(r *tlcget.Run) *Machine {
	n := &Machine{run: r, asker: r, vars: c.vars, code: c, memos: memo.NewSites(c.memoSites)}
	if c.profile != nil {
		n.profiled = c.profile.Join()
	}
	return n
}

// poll is called in every iteration of a loop whose length depends on the
// specification. Now and then it checks whether the run must stop.
func (m *Machine) poll() {
	if m.polls++; m.polls%tlcget.PollEvery == 0 {
		m.run.AskStop()
	}
}

// apart returns a machine outside any state and any activation, for values that
// are computed once. An error in the middle does not corrupt m.
func (m *Machine) apart() *Machine {
	return &Machine{run: m.run, asker: m.asker, vars: m.vars, code: m.code, depth: m.depth}
}

// runApart runs the code of fn on such a machine.
func (m *Machine) runApart(fn *function, run expr) value.Value {
	apart := m.apart()
	apart.push(fn, nil)
	return run(apart)
}

// attempt runs code that may fail. If it fails, attempt restores the machine,
// so that the caller can catch the error and continue.
func (m *Machine) attempt(run expr) value.Value {
	was, done := *m, false
	defer func() {
		if !done {
			m.cur, m.nxt, m.curIDs, m.nxtIDs = was.cur, was.nxt, was.curIDs, was.nxtIDs
			m.slots, m.frame, m.asker, m.depth = was.slots, was.frame, was.asker, was.depth
			m.action, m.alone, m.place, m.found = was.action, was.alone, was.place, was.found
			m.targets, m.composed = was.targets, was.composed
		}
	}()
	v := run(m)
	done = true
	return v
}

// push makes an activation for fn the running one and returns the one before.
func (m *Machine) push(fn *function, up *activation) (before *activation) {
	before = m.frame
	m.enter(m.activation(fn, up))
	return before
}

// activation makes an activation for fn, not yet running.
func (m *Machine) activation(fn *function, up *activation) *activation {
	m.poll()
	m.depth++
	if m.depth > rule.CallDepthMax {
		value.Fail("operators call each other more than %d deep: does a recursion not end?", rule.CallDepthMax)
	}
	var a *activation
	if n := len(m.free); n > 0 {
		a = m.free[n-1]
		m.free = m.free[:n-1]
	} else {
		a = &activation{}
	}
	if cap(a.slots) < fn.slots {
		a.slots = make([]value.Value, fn.slots)
	}
	a.slots = a.slots[:fn.slots]
	a.up = up
	return a
}

// enter makes a the running activation.
func (m *Machine) enter(a *activation) {
	m.frame = a
	if a == nil {
		m.slots = nil
		return
	}
	m.slots = a.slots
}

// pop ends the running activation and goes back to the one before.
func (m *Machine) pop(before *activation) {
	m.release(m.frame)
	m.enter(before)
}

func (m *Machine) release(a *activation) {
	m.depth--
	if a.pinned {
		return
	}
	a.up, a.k, a.kFrame = nil, nil, nil
	m.free = append(m.free, a)
}

// outer is the activation n functions further out.
func (m *Machine) outer(n int) *activation {
	a := m.frame
	for range n {
		a = a.up
	}
	return a
}

// vector returns a scratch state without values, with room for the shadow
// variables that ENABLED binds. The caller returns it with done.
func (m *Machine) vector() []value.Value {
	if n := len(m.vectors); n > 0 {
		v := m.vectors[n-1]
		m.vectors = m.vectors[:n-1]
		clear(v)
		return v
	}
	return make([]value.Value, len(m.vars)+m.code.shadows)
}

func (m *Machine) done(v []value.Value) { m.vectors = append(m.vectors, v) }

// saved is the part of a machine's state that a nested call from outside saves
// and restores.
type saved struct {
	cur, nxt          []value.Value
	curIDs, nxtIDs    []uint32
	frame             *activation
	depth             int
	action            int
	targets, composed int
}

func (m *Machine) save() saved {
	return saved{m.cur, m.nxt, m.curIDs, m.nxtIDs, m.frame, m.depth, m.action, len(m.targets), len(m.composed)}
}

func (m *Machine) restore(s saved) {
	m.curIDs, m.nxtIDs = s.curIDs, s.nxtIDs
	m.cur, m.nxt, m.depth, m.action = s.cur, s.nxt, s.depth, s.action
	m.targets, m.composed = m.targets[:s.targets], m.composed[:s.composed]
	m.enter(s.frame)
}

// Init calls found for every assignment to nxt that satisfies the initial predicate. It
// stops when found returns false.
func (m *Machine) Init(nxt vector.Vector, found func(int) bool) {
	defer m.restore(m.save())
	m.load(vector.Vector{}, nxt)
	m.found, m.depth = found, 0
	before := m.push(m.code.init, nil)
	m.code.init.act(m)
	m.pop(before)
}

// Next does the same for the next-state relation, from cur. It passes the index of the
// action to found.
func (m *Machine) Next(cur, nxt vector.Vector, found func(int) bool) {
	defer m.restore(m.save())
	m.load(cur, nxt)
	m.found, m.depth = found, 0
	before := m.push(m.code.next, nil)
	m.code.next.act(m)
	m.pop(before)
}

func (m *Machine) load(cur, nxt vector.Vector) {
	m.cur, m.nxt, m.curIDs, m.nxtIDs = cur.Vals, nxt.Vals, cur.IDs, nxt.IDs
}

// Holds reports whether a predicate, given by its index in the Source, is true in a
// state or on a step.
func (m *Machine) Holds(id int, cur, nxt vector.Vector) bool {
	defer m.restore(m.save())
	m.load(cur, nxt)
	fn := m.code.formulas[id]
	before := m.push(fn, nil)
	ok := fn.pred(m)
	m.pop(before)
	return ok
}

// Value returns the value of a formula, given by its index in the Source.
func (m *Machine) Value(id int, cur, nxt vector.Vector) value.Value {
	defer m.restore(m.save())
	m.load(cur, nxt)
	fn := m.code.formulas[id]
	before := m.push(fn, nil)
	v := fn.body(m)
	m.pop(before)
	return v
}

// Place returns the source position of the algorithm's statement that is being
// executed.
func (m *Machine) Place() source.Span { return m.place }

// inOuter runs code in the activation n functions further out.
func inOuter(n int, run expr) expr {
	if n == 0 {
		return run
	}
	return func(m *Machine) value.Value {
		here := m.frame
		m.enter(m.outer(n))
		v := run(m)
		m.enter(here)
		return v
	}
}

// readSlot reads a slot of the activation n functions further out.
func readSlot(n, slot int) expr {
	switch n {
	case 0:
		return func(m *Machine) value.Value { return m.slots[slot] }
	case 1:
		return func(m *Machine) value.Value { return m.frame.up.slots[slot] }
	}
	return func(m *Machine) value.Value { return m.outer(n).slots[slot] }
}
