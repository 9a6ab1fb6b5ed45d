package model

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/model/memo"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/model/rule"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// The compiled evaluator turns expressions into closures. An expression
// becomes a func(*machine) value.Value, a predicate a func(*machine) bool, and
// an action a func(*machine) bool in continuation-passing style: the closure
// of A /\ B, with k to run afterwards, is that of A with the closure of B with
// k as its continuation. An action gives variables of the next state values,
// calls its continuation for every way to be true, and takes the values back;
// it is false when the enumeration is to stop.
//
// How to compile against a state (for those who add front ends, such as the
// direct execution of algorithms): make a function for the activation with
// c.newFunction(nil); a site {fn, nil, mode{}} in which unprimed variables
// are read from machine.cur and primed ones from machine.nxt; bind names with
// scope.slot(local, fn.slot()) and store their values in machine.slots before
// running; then c.expr, c.pred, or c.act with a continuation. machine.enter
// runs a function in a new activation. To enumerate, store the state in
// machine.cur, an Undefined vector in machine.nxt, and run the action; its
// last continuation sees the completed vector.
//
// Names are resolved when compiling. A bound variable is a slot of the
// activation; an operator is compiled into its caller, its parameters standing
// for the argument expressions, which are computed when they are first used and
// kept in a slot; a constant is folded. Operators that are recursive, or large,
// are functions with an activation of their own, and their arguments thunks.

type (
	expr func(*machine) value.Value
	pred func(*machine) bool
	act  func(*machine) bool
)

// machine runs compiled code for one goroutine.
type machine struct {
	cur, nxt []value.Value
	// curIDs are the numbers, plus one, of the values in cur, or nil where they
	// are not known; nxtIDs takes those of the values in nxt, where 0 means that
	// the number is not known.
	curIDs, nxtIDs []uint32
	memos          memo.Sites
	slots          []value.Value // those of the activation
	frame          *activation
	run            *tlcget.Run
	asker          *tlcget.Run // see cell
	depth          int
	polls          uint32 // see poll
	vars           []*core.Variable

	action int         // the action being enumerated
	alone  int         // successors found by steps that are taken alone
	place  source.Span // of the statement of an algorithm being executed
	found  func(action int) bool

	code *closures
	free []*activation
	// profiled counts, where the model is compiled to be profiled.
	profiled *profiled
	vectors  [][]value.Value // scratch states
	// targets are the next states that A \cdot B is to reach, composed the
	// states it starts from, the innermost last.
	targets, composed [][]value.Value
}

// activation is the memory of a running function.
type activation struct {
	slots  []value.Value
	thunks []thunk // arguments that are not computed yet, by parameter
	ops    []operator
	lists  [][]value.Value // elements being collected
	up     *activation     // of the function that this one was defined in
	// k is what a recursive action goes on with, in the activation kFrame.
	k      act
	kFrame *activation
	// pinned reports that a lazy function still refers to it.
	pinned bool
}

// thunk is an argument that is computed when it is needed.
type thunk struct {
	run   expr
	frame *activation
	keep  bool // whether its value may be kept
}

// operator is an operator as an argument.
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
	// folding reports that the function is the application of a definition that
	// is being folded.
	folding bool
}

func (f *function) slot() int {
	f.slots++
	return f.slots - 1
}

// mode is the state in which an expression is compiled to be evaluated.
// primed: variables mean the next state. epoch tells apart the states that
// ENABLED moves to: what was kept in one must not be used in another.
type mode struct {
	primed bool
	epoch  int
}

// site is where an expression stands.
type site struct {
	fn   *function
	sc   *scope
	mode mode
	// unrolled is how many copies of this code there are.
	unrolled int
	// remembered reports that the value of what this is part of is remembered.
	remembered bool
	// open counts the definitions being compiled into this place.
	open *opened
}

// opened is a list of definitions.
type opened struct {
	up  *opened
	def *core.Def
}

func (o *opened) has(d *core.Def) bool {
	for ; o != nil; o = o.up {
		if o.def == d {
			return true
		}
	}
	return false
}

// scope is what names mean, the innermost first.
type scope struct {
	up    *scope
	local *core.Local
	def   *core.Def
	b     *meaning
}

// kind states what a name stands for.
type kind uint8

const (
	isSlot     kind = iota // a value in a slot of owner
	isKnown                // a value
	isName                 // an expression, to be evaluated where it is used
	isFunction             // a definition [x \in S |-> e]; slot keeps it as a lazy function
	isDefined              // a LET definition with parameters
	isOperator             // an operator argument: expr in scope
	isParam                // a parameter of a function: a slot, filled by a thunk
	isDynamic              // an operator parameter of a function
)

// meaning is what a name stands for.
type meaning struct {
	kind  kind
	owner *function
	slot  int // -1: not kept
	val   value.Value
	expr  core.Expr
	scope *scope
	mode  mode
	def   *core.Def
	// strict reports that a parameter's slot is always filled.
	strict bool
	// fresh reports that no code has undertaken to empty the slot yet.
	fresh bool
	// fn is the function expression of a named function; domain the slot that
	// keeps its domain, or -1; whole the function written out and memo its
	// values so far, where it is constant.
	fn     *core.Fn
	domain int
	whole  *memo.Cell
	memo   *memo.Function
	// open is what was being compiled where the name was bound.
	open *opened
	// known caches the facts of expr; asking says that they are being found.
	known  *program.Facts
	asking bool
	// acts is the definition as an action.
	acts *meaning
	// codes caches the code of expr in owner, by mode.
	codes map[mode]*compiled
	// folded is the code of a constant.
	folded *compiled
	// compiled holds the function of a definition, by mode.
	compiled map[mode]*function
}

func (s *scope) slotFor(l *core.Local, fn *function, slot int) *scope {
	return &scope{up: s, local: l, b: &meaning{kind: isSlot, owner: fn, slot: slot}}
}

func (s *scope) known(l *core.Local, v value.Value) *scope {
	return &scope{up: s, local: l, b: &meaning{kind: isKnown, val: v}}
}

func (s *scope) lookup(l *core.Local) *meaning {
	for ; s != nil; s = s.up {
		if s.local == l {
			return s.b
		}
	}
	return nil
}

func (s *scope) lookupDef(d *core.Def) *meaning {
	for ; s != nil; s = s.up {
		if s.def == d {
			return s.b
		}
	}
	return nil
}

// closures is a compiled model.
type closures struct {
	init, next *function
	formulas   []*function // by formula id
	memoSites  int
	shadows    int // how many variables ENABLED binds
}

// compiler compiles the formulas of a model.
type compiler struct {
	m      *Model
	p      *program.Program
	epochs int
	// global holds the functions of global definitions, by whether they are
	// compiled for primed variables.
	global, globalActs map[*core.Def]map[mode]*function
	fns                map[*core.Def]*meaning
	memoSites          int
	// counting is the expression that is being compiled to be counted, and
	// uncounted says that what is compiled was not asked for by the user: see
	// profile.
	counting  core.Expr
	uncounted bool
	// branching is what defBranches found.
	branching map[*core.Def]bool
	// actions is the split of the next-state relation while it is compiled.
	actions *program.Actions
}

func (m *Model) compile(o Options) *closures {
	if o.Profile {
		m.profile = &profile{index: map[source.Span]int32{}}
	}
	c := &compiler{m: m, p: m.program, global: make(map[*core.Def]map[mode]*function), globalActs: make(map[*core.Def]map[mode]*function), fns: make(map[*core.Def]*meaning),
		branching: make(map[*core.Def]bool)}
	out := &closures{formulas: make([]*function, len(m.formulas)), shadows: len(m.program.Spec.Shadows)}
	for i, f := range m.formulas {
		fn := c.newFunction(nil)
		x := site{fn: fn, unrolled: 1}
		c.uncounted = m.isAntecedent(f)
		switch f {
		case m.init:
			x.mode.primed = true
			fn.act = c.act(f.expr, x, func(m *machine) bool { return m.found(-1) })
			out.init = fn
		case m.next:
			if m.direct != nil {
				fn.act = c.algorithm(m.direct, x)
				out.next = fn
				break
			}
			c.actions = m.actions
			fn.act = c.split(f.expr, x, func(m *machine) bool { return m.found(m.action) })
			out.next = fn
		case m.view, m.alias:
			fn.body = c.expr(f.expr, x).run
		default:
			fn.pred = c.pred(f.expr, x)
		}
		out.formulas[i] = fn
	}
	out.memoSites = c.memoSites
	return out
}

func (c *compiler) newFunction(up *function) *function { return &function{up: up} }

func newMachine(m *Model, r *tlcget.Run) *machine {
	n := &machine{run: r, asker: r, vars: m.program.Spec.Variables, code: m.compiled, memos: memo.NewSites(m.compiled.memoSites)}
	if m.profile != nil {
		n.profiled = m.profile.join()
	}
	return n
}

// poll is called at every turn of a loop that the specification makes long.
func (m *machine) poll() {
	if m.polls++; m.polls%tlcget.PollEvery == 0 {
		m.run.AskStop()
	}
}

// apart is a machine outside any state and any activation, for what is computed
// once: it may fail in the middle without harm to m.
func (m *machine) apart() *machine {
	return &machine{run: m.run, asker: m.asker, vars: m.vars, code: m.code, depth: m.depth}
}

// runApart runs the code of fn apart.
func (m *machine) runApart(fn *function, run expr) value.Value {
	apart := m.apart()
	apart.push(fn, nil)
	return run(apart)
}

// attempt runs code that may have no value; its caller can catch that and
// continue.
func (m *machine) attempt(run expr) value.Value {
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
func (m *machine) push(fn *function, up *activation) (before *activation) {
	before = m.frame
	m.enter(m.activation(fn, up))
	return before
}

// activation makes an activation for fn, not yet running.
func (m *machine) activation(fn *function, up *activation) *activation {
	m.poll()
	m.depth++
	if m.depth > rule.CallDepthMax {
		value.Fail("operators call each other more than %d deep: is a recursion without end?", rule.CallDepthMax)
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
func (m *machine) enter(a *activation) {
	m.frame = a
	if a == nil {
		m.slots = nil
		return
	}
	m.slots = a.slots
}

// pop ends the running activation and goes back to the one before.
func (m *machine) pop(before *activation) {
	m.release(m.frame)
	m.enter(before)
}

func (m *machine) release(a *activation) {
	m.depth--
	if a.pinned {
		return
	}
	a.up, a.k, a.kFrame = nil, nil, nil
	m.free = append(m.free, a)
}

// outer is the activation n functions further out.
func (m *machine) outer(n int) *activation {
	a := m.frame
	for range n {
		a = a.up
	}
	return a
}

// vector takes a scratch state without values, with room for the shadows that
// ENABLED binds; done gives it back.
func (m *machine) vector() []value.Value {
	if n := len(m.vectors); n > 0 {
		v := m.vectors[n-1]
		m.vectors = m.vectors[:n-1]
		clear(v)
		return v
	}
	return make([]value.Value, len(m.vars)+m.code.shadows)
}

func (m *machine) done(v []value.Value) { m.vectors = append(m.vectors, v) }

// saved is what an entry from outside puts aside.
type saved struct {
	cur, nxt          []value.Value
	curIDs, nxtIDs    []uint32
	frame             *activation
	depth             int
	action            int
	targets, composed int
}

func (m *machine) save() saved {
	return saved{m.cur, m.nxt, m.curIDs, m.nxtIDs, m.frame, m.depth, m.action, len(m.targets), len(m.composed)}
}

func (m *machine) restore(s saved) {
	m.curIDs, m.nxtIDs = s.curIDs, s.nxtIDs
	m.cur, m.nxt, m.depth, m.action = s.cur, s.nxt, s.depth, s.action
	m.targets, m.composed = m.targets[:s.targets], m.composed[:s.composed]
	m.enter(s.frame)
}

func (m *machine) init(nxt vector.Vector, found func(int) bool) {
	defer m.restore(m.save())
	m.load(vector.Vector{}, nxt)
	m.found, m.depth = found, 0
	before := m.push(m.code.init, nil)
	m.code.init.act(m)
	m.pop(before)
}

func (m *machine) next(cur, nxt vector.Vector, found func(int) bool) {
	defer m.restore(m.save())
	m.load(cur, nxt)
	m.found, m.depth = found, 0
	before := m.push(m.code.next, nil)
	m.code.next.act(m)
	m.pop(before)
}

func (m *machine) load(cur, nxt vector.Vector) {
	m.cur, m.nxt, m.curIDs, m.nxtIDs = cur.Vals, nxt.Vals, cur.IDs, nxt.IDs
}

func (m *machine) holds(f *formula, cur, nxt vector.Vector) bool {
	defer m.restore(m.save())
	m.load(cur, nxt)
	fn := m.code.formulas[f.id]
	before := m.push(fn, nil)
	ok := fn.pred(m)
	m.pop(before)
	return ok
}

func (m *machine) value(f *formula, cur, nxt vector.Vector) value.Value {
	defer m.restore(m.save())
	m.load(cur, nxt)
	fn := m.code.formulas[f.id]
	before := m.push(fn, nil)
	v := fn.body(m)
	m.pop(before)
	return v
}

// hops is how many functions further out owner is.
func (x site) hops(owner *function) int {
	n := 0
	for f := x.fn; f != owner; f = f.up {
		invariant.Check(f != nil, "a name is used outside the function that binds it")
		n++
	}
	return n
}

// inOuter runs code in the activation n functions further out.
func inOuter(n int, run expr) expr {
	if n == 0 {
		return run
	}
	return func(m *machine) value.Value {
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
		return func(m *machine) value.Value { return m.slots[slot] }
	case 1:
		return func(m *machine) value.Value { return m.frame.up.slots[slot] }
	}
	return func(m *machine) value.Value { return m.outer(n).slots[slot] }
}
