// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// Validate checks that a package of the IR is one: names are bound where they
// are used, jumps are inside loops, and no node leaves open which of two calls
// comes first. Lowering makes nothing else; a fault here is ours.
func Validate(p *Package) error {
	for _, f := range p.Funcs {
		v := &validator{bound: map[string]int{}}
		for _, name := range f.Params {
			v.bind(name)
		}
		v.stmts(f.Body, false)
		if v.err != nil {
			return fmt.Errorf("function %s (%s): %w", f.Name, f.Place, v.err)
		}
	}
	return nil
}

// validator walks one function.
type validator struct {
	bound map[string]int // how often a name is bound around here
	err   error
}

func (v *validator) failf(format string, args ...any) {
	if v.err == nil {
		v.err = fmt.Errorf(format, args...)
	}
}

func (v *validator) bind(name string) {
	if name != "" {
		v.bound[name]++
	}
}

func (v *validator) unbind(names []string) {
	for _, n := range names {
		if n != "" {
			v.bound[n]--
		}
	}
}

// stmts checks a list of statements; what they bind ends with it.
func (v *validator) stmts(list []Stmt, inLoop bool) { v.unbind(v.open(list, inLoop)) }

// open checks statements and gives the names that they have bound.
func (v *validator) open(list []Stmt, inLoop bool) []string {
	var names []string
	bind := func(name string) {
		v.bind(name)
		names = append(names, name)
	}
	for _, s := range list {
		switch s := s.(type) {
		case Let:
			v.expr(s.X)
			bind(s.Name)
		case LetTuple:
			v.expr(s.X)
			if len(s.Names) < 2 {
				v.failf("a tuple of %d", len(s.Names))
			}
			for _, n := range s.Names {
				bind(n)
			}
		case Do:
			v.expr(s.X)
		case Store:
			v.operands(s.Addr, s.X)
		case If:
			v.expr(s.Cond)
			v.stmts(s.Then, inLoop)
			v.stmts(s.Else, inLoop)
		case For:
			if s.Cond != nil {
				v.expr(s.Cond)
			}
			v.stmts(s.Post, false)
			v.stmts(s.Body, true)
		case RangeInt:
			v.expr(s.N)
			v.bind(s.Name)
			v.stmts(s.Body, true)
			v.unbind([]string{s.Name})
		case RangeMap:
			v.expr(s.M)
			v.bind(s.Key)
			v.bind(s.Value)
			v.stmts(s.Body, true)
			v.unbind([]string{s.Key, s.Value})
		case Return:
			if s.X != nil {
				v.expr(s.X)
			}
		case Break, Continue:
			if !inLoop {
				v.failf("%T outside a loop", s)
			}
		case Go:
			v.stmts(s.Body, false)
		case Panic:
			v.expr(s.X)
		case Note:
		default:
			v.failf("statement %T", s)
		}
	}
	return names
}

// operands checks expressions that one node evaluates in any order.
func (v *validator) operands(list ...Expr) {
	calls := 0
	for _, x := range list {
		v.expr(x)
		if callsIn(x) {
			calls++
		}
	}
	if calls > 1 {
		v.failf("%d operands of one node have calls", calls)
	}
}

func (v *validator) expr(e Expr) {
	switch e := e.(type) {
	case Lit, Nil, Zero, Func, RefZero:
	case Local:
		if v.bound[e.Name] <= 0 {
			v.failf("%s is not bound", e.Name)
		}
	case Logic: // left before right
		v.expr(e.X)
		v.expr(e.Y)
	case Closure:
		for _, p := range e.Params {
			v.bind(p)
		}
		v.stmts(e.Body, false)
		v.unbind(e.Params)
	case Block:
		names := v.open(e.Stmts, false)
		v.expr(e.X)
		v.unbind(names)
	case nil:
		v.failf("no expression")
	default:
		v.operands(operandsOf(e)...)
	}
}

// operandsOf are the expressions that a node evaluates in any order.
func operandsOf(e Expr) []Expr {
	switch e := e.(type) {
	case Lit, Nil, Zero, Func, RefZero, Local, Closure:
		return nil
	case Unary:
		return []Expr{e.X}
	case Binary:
		return []Expr{e.X, e.Y}
	case Logic:
		return []Expr{e.X, e.Y}
	case Convert:
		return []Expr{e.X}
	case Call:
		return append([]Expr{e.Fun}, e.Args...)
	case Lib:
		return e.Args
	case Load:
		return []Expr{e.Addr}
	case FieldAddr:
		return []Expr{e.X}
	case FieldGet:
		return []Expr{e.X}
	case StructVal:
		return e.Fields
	case Ref:
		return []Expr{e.X}
	case Interface:
		return []Expr{e.X}
	case Tuple:
		return e.Xs
	case Block:
		return []Expr{e.X}
	}
	invariant.Unreachable(e)
	return nil
}

// callsIn reports whether evaluating e calls something whose order among other
// calls can be seen.
func callsIn(e Expr) bool {
	switch e := e.(type) {
	case Call:
		return true
	case Block:
		for _, s := range e.Stmts {
			switch s := s.(type) {
			case Let:
				if callsIn(s.X) {
					return true
				}
			case Do, Store:
				return true
			}
		}
	case Lib:
		if effectful(e.Name) {
			return true
		}
	}
	for _, x := range operandsOf(e) {
		if callsIn(x) {
			return true
		}
	}
	return false
}

// effectful reports whether a library function does more than read and allocate.
func effectful(name string) bool {
	switch name {
	case "slice_ptr", "slice_len", "slice_cap", "slice_get", "slice_ref", "slice_sub", "slice_take", "slice_drop",
		"make_slice", "make_slice_cap", "new_map", "map_get1", "map_get2", "map_len", "new_cond",
		"std.min", "std.max", "std.slice_full", "std.array_ref", "std.array_get", "std.array_slice", "std.compare", "std.or", "std.clip", "std.interface_is_nil",
		"std.ones_count", "std.bit_len", "std.leading_zeros", "std.trailing_zeros", "std.mul64",
		"string_len", "string_get", "string_sub", "string_to_slice", "string_to_bytes", "slice_to_string":
		return false
	}
	return true
}
