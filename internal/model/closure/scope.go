// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/model/memo"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// mode is the state for which an expression is compiled. primed: variables mean
// the next state. epoch distinguishes the states to which ENABLED moves: a
// value cached in one must not be used in another.
type mode struct {
	primed bool
	epoch  int
}

// site is the context in which an expression is compiled.
type site struct {
	fn   *function
	sc   *scope
	mode mode
	// unrolled is the number of copies of this code.
	unrolled int
	// remembered: the value of an enclosing expression is already cached.
	remembered bool
	// open lists the definitions that are being inlined here.
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

// scope maps names to meanings, the innermost first.
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
	// strict: the slot of this parameter is always filled.
	strict bool
	// fresh: no code clears the slot yet.
	fresh bool
	// fn is the function expression of a named function. domain is the slot
	// that caches its domain, or -1. If the function is constant, whole caches
	// all its values and memo those computed so far.
	fn     *core.Fn
	domain int
	whole  *memo.Cell
	memo   *memo.Function
	// open lists the definitions that were being inlined where the name was
	// bound.
	open *opened
	// known caches the facts about expr. asking: they are being computed.
	known  *program.Facts
	asking bool
	// acts is the meaning of the definition when it is executed as an action.
	acts *meaning
	// codes caches the code of expr in owner, by mode.
	codes map[mode]*compiled
	// folded is the code if the expression is constant.
	folded *compiled
	// compiled has the functions of a definition, by mode.
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

// hops returns how many functions further out owner is.
func (x site) hops(owner *function) int {
	n := 0
	for f := x.fn; f != owner; f = f.up {
		invariant.Check(f != nil, "a name is used outside the function that binds it")
		n++
	}
	return n
}
