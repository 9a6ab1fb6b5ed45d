// SPDX-License-Identifier: Apache-2.0

// Package live decides whether a finite graph has a fair behaviour that
// violates a temporal formula, and shows one.
//
// In: a graph whose states and steps carry the values of numbered atoms, a
// formula that the behaviours are assumed to satisfy (fairness), and one that
// they should satisfy. Out: nothing, or a lasso: a path and a loop, which
// satisfies the assumption and not the formula.
//
// Behaviours are infinite; every state may be followed by itself (a stuttering
// step). It finds a lasso exactly if one exists. It refuses formulas beyond its
// limits, with the name of the limit, instead of deciding part of them.
//
// The method is the classical one (Vardi and Wolper, 1986; on the fly as Gerth,
// Peled, Vardi and Wolper, 1995): the negated formula becomes an automaton with
// acceptance on steps, its product with the graph is searched for strongly
// connected components that accept, and strong fairness is handled by removing
// states from a component and searching again (Emerson and Lei, 1985).
package live

import (
	"fmt"
	"strings"
)

// Op is the kind of a Formula.
type Op uint8

// The operators. A literal is about the first state or the first step of a
// behaviour.
const (
	True Op = iota
	False
	Atom
	Not
	And
	Or
	Always
	Eventually
)

// Formula is a temporal formula over numbered atoms. It is immutable.
type Formula struct {
	Op   Op
	Atom int // of Op Atom: its index in Problem.Atoms
	Args []*Formula
}

var (
	truth   = &Formula{Op: True}
	falsity = &Formula{Op: False}
)

// AtomOf is the atom with the number i.
func AtomOf(i int) *Formula { return &Formula{Op: Atom, Atom: i} }

// Negate is the negation of f.
func Negate(f *Formula) *Formula { return &Formula{Op: Not, Args: []*Formula{f}} }

// All is the conjunction of fs.
func All(fs ...*Formula) *Formula { return &Formula{Op: And, Args: fs} }

// Any is the disjunction of fs.
func Any(fs ...*Formula) *Formula { return &Formula{Op: Or, Args: fs} }

// AlwaysOf is []f.
func AlwaysOf(f *Formula) *Formula { return &Formula{Op: Always, Args: []*Formula{f}} }

// EventuallyOf is <>f.
func EventuallyOf(f *Formula) *Formula { return &Formula{Op: Eventually, Args: []*Formula{f}} }

// LeadsTo is f ~> g, which is [](f => <>g).
func LeadsTo(f, g *Formula) *Formula { return AlwaysOf(Any(Negate(f), EventuallyOf(g))) }

// Weak is weak fairness: infinitely often the action is taken or not enabled.
func Weak(enabled, taken *Formula) *Formula {
	return AlwaysOf(EventuallyOf(Any(Negate(enabled), taken)))
}

// Strong is strong fairness: if the action is enabled infinitely often, it is
// taken infinitely often.
func Strong(enabled, taken *Formula) *Formula {
	return Any(EventuallyOf(AlwaysOf(Negate(enabled))), AlwaysOf(EventuallyOf(taken)))
}

// Mentions reports whether the atom with the number i occurs in f.
func (f *Formula) Mentions(i int) bool {
	if f.Op == Atom {
		return f.Atom == i
	}
	for _, a := range f.Args {
		if a.Mentions(i) {
			return true
		}
	}
	return false
}

func (f *Formula) String() string {
	list := func(sep string) string {
		parts := make([]string, len(f.Args))
		for i, a := range f.Args {
			parts[i] = a.String()
		}
		return "(" + strings.Join(parts, sep) + ")"
	}
	switch f.Op {
	case True:
		return "TRUE"
	case False:
		return "FALSE"
	case Atom:
		return fmt.Sprintf("a%d", f.Atom)
	case Not:
		return "~" + f.Args[0].String()
	case And:
		return list(" /\\ ")
	case Or:
		return list(" \\/ ")
	case Always:
		return "[]" + f.Args[0].String()
	default:
		return "<>" + f.Args[0].String()
	}
}

// normal is f, or its negation, with negations at the atoms only, constants
// folded, and no unnecessary nesting.
func (f *Formula) normal(negated bool) *Formula {
	switch f.Op {
	case True, False:
		if (f.Op == True) == negated {
			return falsity
		}
		return truth
	case Atom:
		if negated {
			return &Formula{Op: Not, Args: []*Formula{f}}
		}
		return f
	case Not:
		return f.Args[0].normal(!negated)
	case And, Or:
		op, unit, zero := And, truth, falsity
		if (f.Op == Or) != negated {
			op, unit, zero = Or, falsity, truth
		}
		var args []*Formula
		for _, a := range f.Args {
			n := a.normal(negated)
			switch n.Op {
			case unit.Op:
			case zero.Op:
				return zero
			case op:
				args = append(args, n.Args...)
			default:
				args = append(args, n)
			}
		}
		switch len(args) {
		case 0:
			return unit
		case 1:
			return args[0]
		}
		return &Formula{Op: op, Args: args}
	}
	op := f.Op
	if negated {
		op = Always + Eventually - op
	}
	a := f.Args[0].normal(negated)
	if a.Op == True || a.Op == False || a.Op == op {
		return a
	}
	// []<>[]f is <>[]f, and <>[]<>f is []<>f.
	if (a.Op == Always || a.Op == Eventually) && a.Args[0].Op == op {
		return a
	}
	return &Formula{Op: op, Args: []*Formula{a}}
}

// propositional reports whether f is about one step only.
func (f *Formula) propositional() bool {
	if f.Op == Always || f.Op == Eventually {
		return false
	}
	for _, a := range f.Args {
		if !a.propositional() {
			return false
		}
	}
	return true
}

// holds evaluates a propositional formula, asking for the atoms from the left
// until the value is known.
func (f *Formula) holds(ask func(atom int) bool) bool {
	switch f.Op {
	case True:
		return true
	case False:
		return false
	case Atom:
		return ask(f.Atom)
	case Not:
		return !f.Args[0].holds(ask)
	case And:
		for _, a := range f.Args {
			if !a.holds(ask) {
				return false
			}
		}
		return true
	default: // Or
		for _, a := range f.Args {
			if a.holds(ask) {
				return true
			}
		}
		return false
	}
}

// condition is what an infinite run must satisfy in the limit: infinitely many
// steps satisfy often, or all but finitely many satisfy ever. A nil formula is
// FALSE.
type condition struct{ often, ever *Formula }

// conditionOf recognises []<>p, <>[]q and []<>p \/ <>[]q, where p and q are
// about one step, in a normal formula.
func conditionOf(f *Formula) (condition, bool) {
	switch {
	case f.Op == Always && f.Args[0].Op == Eventually && f.Args[0].Args[0].propositional():
		return condition{often: f.Args[0].Args[0]}, true
	case f.Op == Eventually && f.Args[0].Op == Always && f.Args[0].Args[0].propositional():
		return condition{ever: f.Args[0].Args[0]}, true
	case f.Op == Or:
		var c condition
		for _, a := range f.Args {
			d, ok := conditionOf(a)
			// Several <>[]q cannot be joined into one.
			if !ok || d.ever != nil && c.ever != nil {
				return condition{}, false
			}
			if d.often != nil {
				if c.often != nil {
					d.often = Any(c.often, d.often)
				}
				c.often = d.often
			}
			if d.ever != nil {
				c.ever = d.ever
			}
		}
		return c, true
	}
	return condition{}, false
}

// choicesOf recognises a disjunction of conjunctions of conditions: each choice is
// one of these. It is nil for other normal formulas.
func choicesOf(f *Formula) [][]condition {
	if f.Op != Or {
		return nil
	}
	var choices [][]condition
	for _, a := range f.Args {
		var all []condition
		for _, g := range conjuncts(a) {
			c, ok := conditionOf(g)
			if !ok {
				return nil
			}
			all = append(all, c)
		}
		choices = append(choices, all)
	}
	return choices
}
