// SPDX-License-Identifier: Apache-2.0

package core

import (
	"errors"
	"fmt"
	"strings"
)

// problemsMax is the maximum number of problems that Validate reports.
const problemsMax = 10

// Validate checks what the types of a Spec cannot express. Every reference must
// lead to something in the Spec or in scope. Applications must have the right
// number of arguments. A definition must come after those that it uses, except
// in recursion. No name may be bound inside its own scope. Levels must not be
// lower than the bodies need. Validate returns nil or an error with the first
// problems. A problem is a bug in the code that built the Spec.
func Validate(s *Spec) error {
	v := &validator{constants: map[*Constant]bool{}, variables: map[*Variable]int{}, defs: map[*Def]int{}, bound: map[*Local]int{}}
	for i, x := range append(s.Variables[:len(s.Variables):len(s.Variables)], s.Shadows...) {
		if x.Index != i {
			v.problem("variable %s has index %d at place %d", x.Name, x.Index, i)
		}
		v.variables[x]++
		if v.variables[x] > 1 {
			v.problem("variable %s is listed twice", x.Name)
		}
	}
	for _, c := range s.Constants {
		if v.constants[c] {
			v.problem("constant %s is listed twice", c.Name)
		}
		v.constants[c] = true
	}
	for i, d := range s.Defs {
		if _, ok := v.defs[d]; ok {
			v.problem("definition %s is listed twice", d.FullName())
		}
		v.defs[d] = i
	}
	for i, d := range s.Defs {
		v.at, v.current = i, d
		v.def(d)
	}
	v.at, v.current = len(s.Defs), nil
	for name, d := range s.Names {
		if _, ok := v.defs[d]; !ok {
			v.problem("the definition for name %s is not listed", name)
		}
	}
	for _, a := range s.Assumes {
		v.expr(a.Body)
	}
	return v.err()
}

type validator struct {
	constants map[*Constant]bool
	variables map[*Variable]int
	defs      map[*Def]int // place in Spec.Defs; -1 for one of a LET in scope
	bound     map[*Local]int
	at        int // place of the definition being looked at
	current   *Def
	problems  []error
}

func (v *validator) problem(format string, args ...any) {
	if len(v.problems) >= problemsMax {
		return
	}
	where := ""
	if v.current != nil {
		where = fmt.Sprintf("%s: in %s of %s: ", v.current.Span, v.current.FullName(), v.current.Module)
	}
	v.problems = append(v.problems, errors.New(where+fmt.Sprintf(format, args...)))
}

func (v *validator) err() error {
	if len(v.problems) == 0 {
		return nil
	}
	return fmt.Errorf("core: %w", errors.Join(v.problems...))
}

func (v *validator) within(names []*Local, f func()) {
	for _, l := range names {
		if v.bound[l]++; v.bound[l] > 1 {
			v.problem("%s is bound inside its own scope", l.Name)
		}
	}
	f()
	for _, l := range names {
		v.bound[l]--
	}
}

func (v *validator) def(d *Def) {
	own := 0
	for _, s := range d.Path {
		own += s.Params
	}
	if own > len(d.Params) {
		v.problem("%s has fewer parameters than its instances", d.FullName())
	}
	if d.Body == nil {
		if !d.Native {
			v.problem("%s has no body and is not native", d.FullName())
		}
		return
	}
	v.within(d.Params, func() { v.expr(d.Body) })
	if len(v.problems) > 0 {
		return // the level of a tree with holes cannot be computed
	}
	if need := LevelOf(d.Body); need > d.Level {
		v.problem("%s has level %d, its body needs %d", d.FullName(), d.Level, need)
	}
}

func (v *validator) reference(d *Def) {
	place, ok := v.defs[d]
	switch {
	case !ok:
		v.problem("%s is neither listed nor in scope", d.FullName())
	case place > v.at && !d.Recursive && !(v.current != nil && v.current.Recursive):
		v.problem("%s is used before its place", d.FullName())
	case place == v.at && v.current == d && !d.Recursive:
		v.problem("%s uses itself and is not recursive", d.FullName())
	}
}

// arguments checks the arguments of a call. For an operator parameter or
// constant, params is nil and all arguments are values.
func (v *validator) arguments(name string, want int, params []*Local, args []Expr) {
	if len(args) != want {
		v.problem("%s takes %d arguments, not %d", name, want, len(args))
		return
	}
	for i, a := range args {
		if params == nil || params[i].Arity == 0 {
			v.expr(a)
		} else {
			v.operator(a, params[i].Arity)
		}
	}
}

// operator checks an expression that denotes an operator.
func (v *validator) operator(e Expr, arity int) {
	got := arity
	switch e := e.(type) {
	case *OpRef:
		v.reference(e.Def)
		got = len(e.Def.Params)
	case *Lambda:
		got = len(e.Params)
		v.within(e.Params, func() { v.expr(e.Body) })
	case *LocalRef:
		v.local(e.Local)
		got = e.Local.Arity
		if len(e.Args) > 0 {
			v.problem("%s is applied where the operator itself is expected", e.Local.Name)
		}
	case *ConstRef:
		got = e.Const.Arity
		if !v.constants[e.Const] {
			v.problem("constant %s is not listed", e.Const.Name)
		}
	default:
		v.problem("a %T is used where an operator is expected", e)
	}
	if got != arity {
		v.problem("an operator with %d arguments is expected, not with %d", arity, got)
	}
}

func (v *validator) local(l *Local) {
	if v.bound[l] == 0 {
		v.problem("%s is not in scope", l.Name)
	}
}

func (v *validator) binds(binds []Bind, unbounded bool) {
	for i, b := range binds {
		switch {
		case len(b.Vars) == 0 || !b.Tuple && len(b.Vars) != 1:
			v.problem("a bound with %d names", len(b.Vars))
		case b.Set == nil && (!unbounded || i > 0 && binds[0].Set != nil):
			v.problem("a bound without a set")
		case b.Set != nil && (i == 0 || binds[i-1].Set != b.Set):
			v.expr(b.Set)
		}
	}
	if len(binds) == 0 {
		v.problem("an expression that binds nothing")
	}
}

func (v *validator) atLeast(e Expr, got, want int) {
	if got < want {
		v.problem("a %T with %d parts", e, got)
	}
}

func (v *validator) expr(e Expr) {
	switch e := e.(type) {
	case nil:
		v.problem("an expression is missing")
		return
	case *Bad:
		v.problem("an expression that could not be lowered")
	case *VarRef:
		if v.variables[e.Var] == 0 {
			v.problem("variable %s is not listed", e.Var.Name)
		}
	case *ConstRef:
		if !v.constants[e.Const] {
			v.problem("constant %s is not listed", e.Const.Name)
		}
		v.arguments(e.Const.Name, e.Const.Arity, nil, e.Args)
	case *LocalRef:
		v.local(e.Local)
		v.arguments(e.Local.Name, e.Local.Arity, nil, e.Args)
	case *Call:
		v.reference(e.Def)
		v.arguments(e.Def.FullName(), len(e.Def.Params), e.Def.Params, e.Args)
	case *OpRef:
		v.problem("operator %s is used where a value is expected", e.Def.FullName())
	case *Lambda:
		v.problem("a LAMBDA is used where a value is expected")
	case *Op:
		if want := e.Op.Arity(); len(e.Args) != want {
			v.problem("%s with %d arguments", e.Op, len(e.Args))
		}
		v.all(e.Args)
	case *And:
		v.atLeast(e, len(e.List), 2)
		v.all(e.List)
	case *Or:
		v.atLeast(e, len(e.List), 2)
		v.all(e.List)
	case *Case:
		v.atLeast(e, len(e.Arms), 1)
		v.parts(e)
	case *Let:
		v.let(e)
	case *Quant, *Choose, *SetFilter, *SetMap, *Fn, *TemporalQuant, *Except:
		v.binder(e)
	case *Times:
		v.atLeast(e, len(e.Sets), 2)
		v.all(e.Sets)
	case *Record:
		v.fields(e, e.Fields)
	case *RecordSet:
		v.fields(e, e.Fields)
	default:
		v.parts(e)
	}
}

func (v *validator) all(list []Expr) {
	for _, x := range list {
		v.expr(x)
	}
}

func (v *validator) parts(e Expr) {
	for x := range Children(e, EvaluationOrder) {
		v.expr(x)
	}
}

func (v *validator) fields(e Expr, fields []Field) {
	v.atLeast(e, len(fields), 1)
	for _, f := range fields {
		if f.Name == "" || strings.Contains(f.Name, "!") {
			v.problem("a field with the name %q", f.Name)
		}
		v.expr(f.X)
	}
}

func (v *validator) let(e *Let) {
	v.atLeast(e, len(e.Defs), 1)
	for _, d := range e.Defs {
		if d.Recursive {
			v.defs[d] = -1
		}
	}
	for _, d := range e.Defs {
		v.def(d)
		v.defs[d] = -1
	}
	v.expr(e.Body)
	for _, d := range e.Defs {
		delete(v.defs, d)
	}
}

func (v *validator) binder(e Expr) {
	switch e := e.(type) {
	case *Quant:
		v.binds(e.Binds, true)
		v.within(boundBy(e.Binds), func() { v.expr(e.Body) })
	case *Choose:
		v.binds([]Bind{e.Bind}, true)
		v.within(e.Bind.Vars, func() { v.expr(e.Body) })
	case *SetFilter:
		v.binds([]Bind{e.Bind}, false)
		v.within(e.Bind.Vars, func() { v.expr(e.Pred) })
	case *SetMap:
		v.binds(e.Binds, false)
		v.within(boundBy(e.Binds), func() { v.expr(e.Body) })
	case *Fn:
		v.binds(e.Binds, false)
		names := boundBy(e.Binds)
		if e.Self != nil {
			names = append(names, e.Self)
		}
		v.within(names, func() { v.expr(e.Body) })
	case *TemporalQuant:
		for _, x := range e.Vars {
			v.variables[x]++
		}
		v.expr(e.Body)
		for _, x := range e.Vars {
			v.variables[x]--
		}
	case *Except:
		v.expr(e.Fn)
		v.atLeast(e, len(e.Updates), 1)
		for _, u := range e.Updates {
			v.atLeast(e, len(u.Path), 1)
			for _, i := range u.Path {
				if (i.X == nil) == (i.Field == "") {
					v.problem("a step of an EXCEPT that is neither an index nor a field")
				} else if i.X != nil {
					v.expr(i.X)
				}
			}
			if u.At == nil {
				v.expr(u.Value)
			} else {
				v.within([]*Local{u.At}, func() { v.expr(u.Value) })
			}
		}
	}
}

// Arity is the number of arguments that o takes.
func (o OpCode) Arity() int {
	switch o {
	case OpBoolean, OpString:
		return 0
	case OpNot, OpSubset, OpUnion, OpDomain, OpPrime, OpEnabled, OpUnchanged, OpAlways, OpEventually:
		return 1
	}
	return 2
}
