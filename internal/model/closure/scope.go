// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/model/memo"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// mode is the state in which an expression is compiled to be evaluated.
// primed: variables mean the next state. epoch distinguishes the states that
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

// hops is how many functions further out owner is.
func (x site) hops(owner *function) int {
	n := 0
	for f := x.fn; f != owner; f = f.up {
		invariant.Check(f != nil, "a name is used outside the function that binds it")
		n++
	}
	return n
}
