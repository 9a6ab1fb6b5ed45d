// SPDX-License-Identifier: Apache-2.0

// Package closure is the compiled evaluator: it turns the formulas of a model, once, into
// closures over numbered slots.
//
// In: a Source, which has the formulas, what they are for, and what they are compiled
// with. Out: a Code, and from it a Machine for each goroutine, which enumerates initial
// states and successors and evaluates predicates and values. A next-state relation may
// have an algorithm in its place, whose steps are executed as they are written.
//
// Promised: the same states in the same order, and as often, as the reference evaluator
// (package tree) finds, and the same values; what one of the two has no value for has
// none for the other. A Machine leaves the vectors that it is given as they were.
// Refused: what has no value unwinds as a *value.Error, without its place, which the
// reference evaluator finds.
//
// The compiled evaluator turns expressions into closures. An expression
// becomes a func(*machine) value.Value, a predicate a func(*machine) bool, and
// an action a func(*machine) bool in continuation-passing style: the closure
// of A /\ B, with k to run afterwards, is that of A with the closure of B with
// k as its continuation. An action gives variables of the next state values,
// calls its continuation for every way to be true, and takes the values back;
// it is false when the enumeration is to stop.
//
// How to compile against a state, for a new front end such as the direct execution
// of algorithms: make a function for the activation with
// c.newFunction(nil); a site {fn, nil, mode{}} in which unprimed variables
// are read from machine.cur and primed ones from machine.nxt; bind names with
// scope.slot(local, fn.slot()) and store their values in machine.slots before
// running; then c.expr, c.pred, or c.act with a continuation. machine.enter
// runs a function in a new activation. To enumerate, store the state in
// Machine.cur, an Undefined vector in machine.nxt, and run the action; its
// last continuation sees the completed vector.
//
// Names are resolved when compiling. A bound variable is a slot of the
// activation; an operator is compiled into its caller, its parameters standing
// for the argument expressions, which are computed when they are first used and
// kept in a slot; a constant is folded. Operators that are recursive, or large,
// are functions with an activation of their own, and their arguments thunks.
package closure

import (
	"github.com/ashlar-dev/ashlar/internal/model/direct"
	"github.com/ashlar-dev/ashlar/internal/model/profile"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/model/reduce"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

type (
	expr func(*Machine) value.Value
	pred func(*Machine) bool
	act  func(*Machine) bool
)

// The limits of compilation.
const (
	// UnrollMax is how many elements a constant set of an action-level \E may
	// have for the compiler to make a copy of the action for each.
	UnrollMax = 32
	// InlineNodesMax is the size in tree nodes, calls expanded, up to which an
	// operator is compiled into each of its callers.
	InlineNodesMax = 400
)

// Code is a compiled model.
type Code struct {
	init, next *function
	formulas   []*function // by formula id
	memoSites  int
	vars       []*core.Variable
	shadows    int // how many variables ENABLED binds
	profile    *profile.Profile
}

// compiler compiles the formulas of a model.
type compiler struct {
	in     *Source
	p      *program.Program
	epochs int
	// global has the functions of global definitions, by mode; globalActs has
	// those compiled as actions.
	global, globalActs map[*core.Def]map[mode]*function
	fns                map[*core.Def]*meaning
	memoSites          int
	// counting is the expression that is being compiled with counting code.
	// uncounted: the user did not ask for the current formula, so a profile
	// does not count it.
	counting  core.Expr
	uncounted bool
	// branching caches the results of defBranches.
	branching map[*core.Def]bool
	// actions has the actions of the next-state relation while it is compiled.
	actions *program.Actions
}

// Kind is the purpose for which a formula is compiled.
type Kind uint8

const (
	// Predicate is a formula that is true or false.
	Predicate Kind = iota
	// Initial is an initial predicate, NextState a next-state relation. They are
	// executed as actions. A model has at most one of each.
	Initial
	NextState
	// Value is a formula whose value is needed: a view or an alias.
	Value
)

// Formula is a formula whose only free names are variables.
type Formula struct {
	Expr core.Expr
	Kind Kind
	// Uncounted excludes the formula from profiles, because the user did not
	// ask for it.
	Uncounted bool
}

// Source is the input of Compile. Formulas are identified by their indices in
// the list.
type Source struct {
	Program  *program.Program
	Shared   *tlcget.Shared
	Codec    *vector.Codec // whose numbers the states have
	Formulas []Formula
	// Actions are the actions of the next-state relation.
	Actions *program.Actions
	// Algorithm, if not nil, replaces the next-state relation. Reduction, if not nil,
	// has the blocks whose steps are taken alone.
	Algorithm *direct.Algorithm
	Reduction *reduce.Plan
	// Profile, if not nil, counts evaluations.
	Profile *profile.Profile
}

// Compile compiles the formulas of a model.
func Compile(in *Source) *Code {
	c := &compiler{in: in, p: in.Program, global: make(map[*core.Def]map[mode]*function), globalActs: make(map[*core.Def]map[mode]*function), fns: make(map[*core.Def]*meaning),
		branching: make(map[*core.Def]bool)}
	out := &Code{formulas: make([]*function, len(in.Formulas)), vars: in.Program.Spec.Variables, shadows: len(in.Program.Spec.Shadows), profile: in.Profile}
	for i, f := range in.Formulas {
		fn := c.newFunction(nil)
		x := site{fn: fn, unrolled: 1}
		c.uncounted = f.Uncounted
		switch f.Kind {
		case Initial:
			x.mode.primed = true
			fn.act = c.act(f.Expr, x, func(m *Machine) bool { return m.found(-1) })
			out.init = fn
		case NextState:
			out.next = fn
			if in.Algorithm != nil {
				fn.act = c.algorithm(in.Algorithm, x)
				break
			}
			c.actions = in.Actions
			fn.act = c.split(f.Expr, x, func(m *Machine) bool { return m.found(m.action) })
		case Value:
			fn.body = c.expr(f.Expr, x).run
		default:
			fn.pred = c.pred(f.Expr, x)
		}
		out.formulas[i] = fn
	}
	out.memoSites = c.memoSites
	return out
}

func (c *compiler) newFunction(up *function) *function { return &function{up: up} }
