// SPDX-License-Identifier: Apache-2.0

package core

import (
	"iter"
	"reflect"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// The forms of expressions: the parts of each in order, the names that it binds
// in them, which parts are always evaluated, and the level that it adds. This
// is the only list of them. All generic traversals of trees (Children, Walk,
// Scoped, Rewrite, LevelOf, and the analyses of the evaluators) read it here.
// Printers and evaluators have a case for each form, because they treat each
// form differently; a test compares their cases with the types.

// Order is an order of the parts of an expression.
type Order uint8

// The orders differ for {e : x \in S}, in which e is written first and evaluated
// last.
const (
	TextOrder Order = iota
	EvaluationOrder
)

// Part is a direct subexpression.
type Part struct {
	Expr Expr
	// Names are the names that the form binds in this part only.
	Names []*Local
	// Sure reports that every evaluation of the form also evaluates this part,
	// to a value. It is false for arguments, because the operator decides
	// whether to evaluate them.
	Sure bool
}

// Foreign is an expression that a back end inserts into its own trees. It has
// no parts and the level of a constant.
type Foreign interface {
	Expr
	Foreign()
}

// Children are the direct subexpressions of e, the bodies of a LET's
// definitions included.
func Children(e Expr, order Order) iter.Seq[Expr] {
	return func(yield func(Expr) bool) {
		form(e, order, func(p place) bool { return yield(*p.at) })
	}
}

// Parts are the Children of e with the properties that the form gives to each.
func Parts(e Expr, order Order) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		form(e, order, func(p place) bool {
			return yield(Part{Expr: *p.at, Names: p.bound(), Sure: p.sure})
		})
	}
}

// place is the location of a part in its node.
type place struct {
	at    *Expr
	names []**Local
	sure  bool
	// shared are the later bounds with the same set.
	shared []Bind
}

func (p place) bound() []*Local {
	var out []*Local
	for _, l := range p.names {
		out = append(out, *l)
	}
	return out
}

// visitor is called for the location of each part of a node; if it returns
// false, the visit ends.
type visitor func(place) bool

// Whether a part is always evaluated.
const (
	sure  = true
	maybe = false
)

// form is the table. It visits the parts of e and returns false if the visitor
// ended the visit.
func form(e Expr, order Order, v visitor) bool {
	switch e := e.(type) {
	case *Int, *Decimal, *Str, *Bool, *VarRef, *OpRef, *Bad, Foreign:
		return true
	case *ConstRef:
		return v.list(e.Args, maybe)
	case *LocalRef:
		return v.list(e.Args, maybe)
	case *Call:
		return v.list(e.Args, maybe)
	case *Lambda:
		return v.scope(&e.Body, maybe, slots(nil, e.Params))
	case *Op:
		return v.operands(e)
	case *And:
		return v.junction(e.List)
	case *Or:
		return v.junction(e.List)
	case *If:
		return v.part(&e.Cond, sure) && v.part(&e.Then, maybe) && v.part(&e.Else, maybe)
	case *Case:
		for i := range e.Arms {
			if !v.part(&e.Arms[i].Cond, i == 0) || !v.part(&e.Arms[i].Body, maybe) {
				return false
			}
		}
		return v.option(&e.Other, maybe)
	case *Let:
		for _, d := range e.Defs {
			if d.Body != nil && !v.scope(&d.Body, maybe, slots(nil, d.Params)) {
				return false
			}
		}
		return v.part(&e.Body, sure)
	case *Quant:
		return v.sets(e.Binds) && v.scope(&e.Body, maybe, bound(e.Binds))
	case *TemporalQuant:
		return v.part(&e.Body, maybe)
	case *Choose:
		return v.option(&e.Bind.Set, sure) && v.scope(&e.Body, maybe, slots(nil, e.Bind.Vars))
	case *SetEnum:
		return v.list(e.Elems, sure)
	case *SetFilter:
		return v.option(&e.Bind.Set, sure) && v.scope(&e.Pred, maybe, slots(nil, e.Bind.Vars))
	case *SetMap:
		if order == TextOrder {
			return v.scope(&e.Body, maybe, bound(e.Binds)) && v.sets(e.Binds)
		}
		return v.sets(e.Binds) && v.scope(&e.Body, maybe, bound(e.Binds))
	case *Fn:
		names := bound(e.Binds)
		if e.Self != nil {
			names = append(names, &e.Self)
		}
		return v.sets(e.Binds) && v.scope(&e.Body, maybe, names)
	case *FnSet:
		return v.part(&e.Dom, sure) && v.part(&e.Rng, sure)
	case *Apply:
		return v.part(&e.Fn, sure) && v.part(&e.Arg, sure)
	case *Record:
		return v.fields(e.Fields)
	case *RecordSet:
		return v.fields(e.Fields)
	case *Select:
		return v.part(&e.X, sure)
	case *Except:
		return v.part(&e.Fn, sure) && v.updates(e.Updates)
	case *Tuple:
		return v.list(e.Elems, sure)
	case *Times:
		return v.list(e.Sets, sure)
	case *Box:
		return v.part(&e.Action, maybe) && v.part(&e.Sub, maybe)
	case *Angle:
		return v.part(&e.Action, maybe) && v.part(&e.Sub, maybe)
	case *Fair:
		return v.part(&e.Sub, maybe) && v.part(&e.Action, maybe) && v.option(&e.Possible, maybe)
	}
	invariant.Unreachable(e)
	return false
}

func (v visitor) part(x *Expr, sure bool) bool { return v(place{at: x, sure: sure}) }

// option visits an optional part.
func (v visitor) option(x *Expr, sure bool) bool { return *x == nil || v.part(x, sure) }

func (v visitor) scope(x *Expr, sure bool, names []**Local) bool {
	return v(place{at: x, sure: sure, names: names})
}

func (v visitor) list(xs []Expr, sure bool) bool {
	for i := range xs {
		if !v.part(&xs[i], sure) {
			return false
		}
	}
	return true
}

// junction visits conjuncts or disjuncts. Whether those after the first are
// evaluated depends on the first.
func (v visitor) junction(xs []Expr) bool {
	return len(xs) == 0 || v.part(&xs[0], sure) && v.list(xs[1:], maybe)
}

func (v visitor) operands(e *Op) bool {
	switch e.Op {
	case OpImplies:
		return v.junction(e.Args)
	case OpPrime, OpEnabled, OpUnchanged, OpCompose, OpAlways, OpEventually, OpLeadsTo, OpGuarantee:
		return v.list(e.Args, maybe) // of other states
	}
	return v.list(e.Args, sure)
}

// sets visits the sets of bounds. If the first set is empty, the others may not
// be evaluated.
func (v visitor) sets(binds []Bind) bool {
	for i := 0; i < len(binds); {
		b, next := &binds[i], i+1
		for next < len(binds) && binds[next].Set == b.Set {
			next++
		}
		if b.Set != nil && !v(place{at: &b.Set, sure: i == 0, shared: binds[i+1 : next]}) {
			return false
		}
		i = next
	}
	return true
}

func (v visitor) fields(fields []Field) bool {
	for i := range fields {
		if !v.part(&fields[i].X, sure) {
			return false
		}
	}
	return true
}

func (v visitor) updates(updates []Update) bool {
	for i := range updates {
		u := &updates[i]
		for j := range u.Path {
			if !v.option(&u.Path[j].X, maybe) {
				return false
			}
		}
		var at []**Local
		if u.At != nil {
			at = []**Local{&u.At}
		}
		if !v.scope(&u.Value, maybe, at) {
			return false
		}
	}
	return true
}

// slots are the places of names, after those in to.
func slots(to []**Local, names []*Local) []**Local {
	for i := range names {
		to = append(to, &names[i])
	}
	return to
}

func bound(binds []Bind) []**Local {
	var out []**Local
	for _, b := range binds {
		out = slots(out, b.Vars)
	}
	return out
}

// separate returns a copy of the node e with its own part locations: writing to
// them does not change e.
func separate(e Expr) Expr {
	node := reflect.New(reflect.TypeOf(e).Elem())
	node.Elem().Set(reflect.ValueOf(e).Elem())
	ownLists(node.Elem())
	return node.Interface().(Expr)
}

// Located returns e with the position at on every node that has none.
func Located(e Expr, at source.Span) Expr {
	return Transform(e, func(x Expr, again func(Expr) Expr) Expr {
		if x.Span().IsValid() || !at.IsValid() {
			return nil
		}
		x = separate(x)
		reflect.ValueOf(x).Elem().FieldByName("At").Set(reflect.ValueOf(At{at}))
		return again(x)
	})
}

// ownLists copies the lists in v, and those in their elements.
func ownLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range v.Fields() {
			ownLists(f)
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		v.Set(own)
		for i := range own.Len() {
			ownLists(own.Index(i))
		}
	}
}
