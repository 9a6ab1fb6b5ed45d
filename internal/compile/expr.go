// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
)

// The precedences of Go's operators, for inserting parentheses.
const (
	precOr = iota + 1
	precAnd
	precCompare
	precAdd
	precMul
	precAtom
)

// val is a Go expression with the shape of its value.
type val struct {
	code  string
	shape *shape.Shape
	prec  int
}

// atom returns the expression in a form that can be an operand of any operator.
func (v val) atom() string { return v.under(precAtom) }

// under returns the expression as an operand of an operator with that
// precedence.
func (v val) under(prec int) string {
	if v.prec < prec {
		return "(" + v.code + ")"
	}
	return v.code
}

// simple reports whether the generated code may repeat the expression.
func (v val) simple() bool {
	for _, r := range v.code {
		if !(r == '_' || r == '.' || r == '"' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return false
		}
	}
	return true
}

// local is a bound name.
type local struct {
	val
	used bool
}

// fn is a Go function, or a closure in it, being generated.
type fn struct {
	g     *generator
	sc    *shape.Scope
	out   *writer
	names *names
	bound map[*core.Local]*local
	ops   map[*core.Local]opParam
	lets  map[*core.Def]*letDef
	// self holds the Go functions that apply a recursive function.
	self map[*core.Local]string
	// constants is the Go expression for the *Constants in scope.
	constants string
	// vars returns the Go expression of a variable; nil if no variables are in
	// scope.
	vars func(*core.Variable) (val, bool)
	// resource returns the Go expression of a ref parameter in the code of a
	// section.
	resource func(*pcal.Param) string
}

func (g *generator) newFn(sc *shape.Scope, constants string) *fn {
	return &fn{
		g: g, sc: sc, out: &writer{}, names: newNames(g.names), bound: map[*core.Local]*local{}, ops: map[*core.Local]opParam{},
		lets: map[*core.Def]*letDef{}, self: map[*core.Local]string{}, constants: constants,
	}
}

// within runs f with the scope set to sc.
func (f *fn) within(sc *shape.Scope, do func()) {
	old := f.sc
	f.sc = sc
	do()
	f.sc = old
}

// capture collects the statements that do emits in a separate Go block.
func (f *fn) capture(do func()) *writer {
	out, ns := f.out, f.names
	f.out, f.names = &writer{}, newNames(ns)
	do()
	w := f.out
	f.out, f.names = out, ns
	return w
}

// shapeOf returns the inferred shape of e.
func (f *fn) shapeOf(e core.Expr) *shape.Shape {
	if s := f.sc.Expr(e); s != nil {
		return s
	}
	if l, ok := e.(*core.LocalRef); ok && f.bound[l.Local] != nil {
		return f.bound[l.Local].shape
	}
	return f.g.any
}

// as compiles e to the Go type of want, for use as an argument or right-hand
// side.
func (f *fn) as(e core.Expr, want *shape.Shape) string { return f.asVal(e, want).code }

func (f *fn) asVal(e core.Expr, want *shape.Shape) val {
	if want.Kind == shape.Any {
		if v, ok := f.symbolic(e); ok {
			return v
		}
	}
	if v, ok := f.literalAs(e, want); ok {
		return v
	}
	return f.coerce(f.expr(e), want)
}

// literalAs writes an empty collection with the required type.
func (f *fn) literalAs(e core.Expr, want *shape.Shape) (val, bool) {
	t, isTuple := e.(*core.Tuple)
	s, isSet := e.(*core.SetEnum)
	if isTuple && len(t.Elems) == 0 && want.Kind == shape.Seq && !want.Model || isSet && len(s.Elems) == 0 && want.Kind == shape.Set && !want.Model {
		return val{f.g.typeOf(want).zero, want, precAtom}, true
	}
	return val{}, false
}

// boolean is e as a Go bool.
func (f *fn) boolean(e core.Expr) val { return f.asVal(e, f.g.bool) }

// typed is e in the Go type of its own shape.
func (f *fn) typed(e core.Expr) val { return f.asVal(e, f.shapeOf(e)) }

// coerce converts v to the Go type of another shape. If it cannot do so at
// compile time, the code checks the value at run time.
func (f *fn) coerce(v val, want *shape.Shape) val {
	have := v.shape
	if have == want || want == nil {
		return v
	}
	g := f.g
	to := g.typeOf(want)
	switch {
	case want.Kind == shape.Any:
		return val{g.toValue(v.code, g.typeOf(have)), want, precAtom}
	case have.Kind == shape.Any:
		return val{g.fromValue(v.atom(), to), want, precAtom}
	case want.Kind == shape.Sum && f.alternative(want, have) >= 0:
		field := to.fields[f.alternative(want, have)]
		return val{fmt.Sprintf("%s{Is: %s, %s: %s}", to.name, g.sumTag(to, field), field, v.code), want, precAtom}
	case have.Kind == shape.Sum && f.alternative(have, want) >= 0:
		return val{v.atom() + ".As" + g.typeOf(have).fields[f.alternative(have, want)] + "()", want, precAtom}
	case isOptional(want) && have == g.model:
		return val{fmt.Sprintf("typed.Only[%s](%s)", g.typeOf(g.withoutModel(want)).name, v.code), want, precAtom}
	case isOptional(want) && g.withoutModel(want) == have:
		return val{fmt.Sprintf("typed.Just[%s](%s)", g.typeOf(have).name, v.code), want, precAtom}
	case isOptional(have) && g.withoutModel(have) == want:
		return val{fmt.Sprintf("typed.Get[%s](%s)", to.kind, v.code), want, precAtom}
	}
	return val{g.fromValue(g.toValue(v.code, g.typeOf(have)), to), want, precAtom}
}

// alternative returns the index of a shape among the alternatives of another,
// or -1.
func (f *fn) alternative(of, s *shape.Shape) int {
	for i, a := range f.g.alternatives(of) {
		if a == s {
			return i
		}
	}
	return -1
}

// base returns the shape of a value of one of the kinds: the shape itself, or
// its only alternative of that kind.
func (f *fn) base(s *shape.Shape, kinds ...shape.Kind) *shape.Shape {
	var found *shape.Shape
	for _, a := range f.g.alternatives(s) {
		for _, k := range kinds {
			if a.Kind != k {
				continue
			}
			if found != nil {
				return f.g.any
			}
			found = a
		}
	}
	if found != nil {
		return found
	}
	return s
}

// plain returns v converted to one of the kinds. If the value has none of them
// at run time, that is an error.
func (f *fn) plain(v val, kinds ...shape.Kind) val {
	return f.coerce(v, f.base(v.shape, kinds...))
}

// temp stores v in a variable unless it is simple.
func (f *fn) temp(v val, hint string) val {
	if v.simple() {
		return v
	}
	name := f.names.fresh(hint)
	if isUntyped(v.code) {
		f.out.emit("var %s %s = %s", name, f.g.typeOf(v.shape).name, v.code)
	} else {
		f.out.emit("%s := %s", name, v.code)
	}
	return val{name, v.shape, precAtom}
}

// intCode is the literal of Go.
func intCode(n int64) string { return strconv.FormatInt(n, 10) }

// expr compiles e. It writes the statements that e needs before the current
// statement.
func (f *fn) expr(e core.Expr) val {
	g := f.g
	switch e := e.(type) {
	case *core.Int:
		if e.Val < -1<<31 || e.Val >= 1<<31 {
			g.unsupported(e, NumberTooLarge, fmt.Sprintf("the number %d does not fit 32 bits", e.Val), "")
		}
		p := precAtom
		if e.Val < 0 {
			p = precMul
		}
		return val{intCode(e.Val), g.int, p}
	case *core.Str:
		return val{strconv.Quote(e.Val), g.str, precAtom}
	case *core.Bool:
		return val{strconv.FormatBool(e.Val), g.bool, precAtom}
	case *core.VarRef:
		return f.variable(e)
	case *core.ConstRef:
		if e.Const.Arity > 0 {
			return f.refuse(e, ConstantOperator, fmt.Sprintf("the constant operator %s has no definition to compile", e.Const.Name),
				"give it in the configuration, F <- Op, where Op is defined before the algorithm, or make it a constant function")
		}
		return val{f.constants + "." + g.constants[e.Const.Name], g.shapes.Const(e.Const), precAtom}
	case *core.LocalRef:
		return f.localRef(e)
	case *core.Call:
		return f.call(e)
	case *core.Op:
		return f.op(e)
	case *core.And:
		return f.junction(e.List, "&&", precAnd)
	case *core.Or:
		return f.junction(e.List, "||", precOr)
	case *core.If, *core.Case:
		return f.branch(e)
	case *core.Let:
		var v val
		f.let(e, func() { v = f.typed(e.Body) })
		return v
	case *core.Quant:
		return f.quant(e)
	case *core.Choose:
		return f.choose(e)
	case *core.SetEnum, *core.SetFilter, *core.SetMap, *core.FnSet, *core.RecordSet, *core.Times:
		return f.set(e)
	case *core.Fn:
		return f.function(e)
	case *core.Apply:
		return f.apply(e)
	case *core.Record:
		return f.record(e)
	case *core.Select:
		return f.selectField(f.typed(e.X), e.Field, f.shapeOf(e))
	case *core.Except:
		return f.except(e)
	case *core.Tuple:
		return f.tuple(e)
	case *core.Decimal:
		return f.refuse(e, Unsupported, "numbers with a fraction cannot be compiled", "scale them to whole numbers")
	case *core.Box, *core.Angle, *core.Fair, *core.TemporalQuant:
		return f.refuse(e, NotAValue, "an action or temporal formula has no value that code could compute", "")
	case *core.OpRef, *core.Lambda:
		return f.refuse(e, NotAValue, "an operator is not a value", "")
	case *core.Bad:
		return val{"value.Value{}", g.any, precAtom}
	}
	invariant.Unreachable(e)
	return val{}
}

// refuse reports an expression that cannot be compiled.
func (f *fn) refuse(e core.Expr, code source.Code, message, repair string) val {
	f.g.unsupported(e, code, message, repair)
	return val{"value.Value{}", f.g.any, precAtom}
}

func (f *fn) variable(e *core.VarRef) val {
	if f.vars != nil {
		if v, ok := f.vars(e.Var); ok {
			return v
		}
	}
	if v, ok := f.readInPlace(e); ok {
		return v
	}
	return f.refuse(e, NotVisible, fmt.Sprintf("the variable %s is not in reach of compiled code", e.Var.Name),
		"pass it to the archetype as a ref parameter")
}

// readInPlace reads a resource at the place of its name. That is necessary if
// the index depends on a bound name. A blocked read unwinds the section.
func (f *fn) readInPlace(e core.Expr) (val, bool) {
	v, index := shape.RefAccess(f.sc, e)
	if v == nil || f.resource == nil {
		return val{}, false
	}
	ref := f.sc.Ref(v)
	args := []string{"tx", f.resource(ref.Param), f.g.shapeVar(ref.Read)}
	for _, x := range index {
		args = append(args, f.as(x, f.g.any))
	}
	return val{"distsys.MustRead(" + strings.Join(args, ", ") + ")", ref.Read, precAtom}, true
}

func (f *fn) localRef(e *core.LocalRef) val {
	if op, ok := f.ops[e.Local]; ok {
		params, result := f.sc.Operator(e.Local)
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = f.argument(a, params[i], op.args[i].lazy)
		}
		return val{op.name + "(" + strings.Join(args, ", ") + ")", result, precAtom}
	}
	l, ok := f.bound[e.Local]
	if !ok {
		return f.refuse(e, Unsupported, fmt.Sprintf("the function %s is used as a value inside its own definition", e.Local.Name),
			"apply it to an argument")
	}
	l.used = true
	return l.val
}

// bind assigns a Go name to a name of the specification.
func (f *fn) bind(l *core.Local, v val) *local {
	b := &local{val: v}
	f.bound[l] = b
	return b
}

// junction compiles a conjunction or disjunction, evaluated from left to right
// with short-circuiting.
func (f *fn) junction(list []core.Expr, op string, prec int) val {
	j := &joined{op: op, prec: prec}
	j.add(f.boolean(list[0]))
	for _, x := range list[1:] {
		var right val
		w := f.capture(func() { right = f.boolean(x) })
		if w.empty() {
			j.add(right)
			continue
		}
		t := f.names.fresh("ok")
		f.out.emit("%s := %s", t, j.val(f.g.bool).code)
		cond := val{t, f.g.bool, precAtom}
		if op == "||" {
			f.out.emit("if !%s {", t)
		} else {
			f.out.emit("if %s {", t)
		}
		f.out.append(w)
		f.out.emit("%s = %s", t, right.code)
		f.out.emit("}")
		j = &joined{op: op, prec: prec}
		j.add(cond)
	}
	return j.val(f.g.bool)
}

// joined joins conditions with && or ||. It omits redundant conditions, as go
// vet requires.
type joined struct {
	op    string
	prec  int
	parts []val
	ended bool // a literal decides: what follows is not evaluated
}

func (j *joined) add(v val) {
	neutral, decides := "true", "false"
	if j.op == "||" {
		neutral, decides = decides, neutral
	}
	if j.ended || v.code == neutral {
		return
	}
	for _, p := range j.parts {
		if p.code == v.code {
			return
		}
	}
	j.parts = append(j.parts, v)
	j.ended = v.code == decides
}

func (j *joined) val(boolean *shape.Shape) val {
	switch len(j.parts) {
	case 0:
		return val{map[string]string{"&&": "true", "||": "false"}[j.op], boolean, precAtom}
	case 1:
		return j.parts[0]
	}
	code := j.parts[0].under(j.prec)
	for _, p := range j.parts[1:] {
		code += " " + j.op + " " + p.under(j.prec+1)
	}
	return val{code, boolean, j.prec}
}

// branch compiles IF or CASE as a value.
func (f *fn) branch(e core.Expr) val {
	s := f.shapeOf(e)
	t := f.names.fresh("t")
	f.out.emit("var %s %s", t, f.g.typeOf(s).name)
	f.into(e, s, func(x string) { f.out.emit("%s = %s", t, x) })
	return val{t, s, precAtom}
}

// into compiles e to statements; put writes the final statement of each branch.
func (f *fn) into(e core.Expr, want *shape.Shape, put func(code string)) {
	switch e := e.(type) {
	case *core.If:
		cond := f.boolean(e.Cond)
		f.out.emit("if %s {", header(cond.code))
		f.out.append(f.capture(func() { f.into(e.Then, want, put) }))
		f.out.emit("} else {")
		f.out.append(f.capture(func() { f.into(e.Else, want, put) }))
		f.out.emit("}")
	case *core.Case:
		f.cases(e.Arms, e.Other, want, put)
	case *core.Let:
		f.let(e, func() { f.into(e.Body, want, put) })
	default:
		put(f.as(e, want))
	}
}

func (f *fn) cases(arms []core.Arm, other core.Expr, want *shape.Shape, put func(string)) {
	if len(arms) == 0 {
		if other != nil {
			f.into(other, want, put)
			return
		}
		f.out.emit("typed.NoCase()")
		f.out.emit(`panic("unreachable")`)
		return
	}
	cond := f.boolean(arms[0].Cond)
	f.out.emit("if %s {", header(cond.code))
	f.out.append(f.capture(func() { f.into(arms[0].Body, want, put) }))
	f.out.emit("} else {")
	f.out.append(f.capture(func() { f.cases(arms[1:], other, want, put) }))
	f.out.emit("}")
}

func (f *fn) op(e *core.Op) val {
	g := f.g
	switch e.Op {
	case core.OpNot:
		return f.not(f.boolean(e.Args[0]))
	case core.OpImplies:
		not := &core.Op{At: e.At, Op: core.OpNot, Args: e.Args[:1]}
		return f.junction([]core.Expr{not, e.Args[1]}, "||", precOr)
	case core.OpEquiv:
		a, b := f.boolean(e.Args[0]), f.boolean(e.Args[1])
		return val{a.under(precCompare+1) + " == " + b.under(precCompare+1), g.bool, precCompare}
	case core.OpEq:
		return f.equality(e)
	case core.OpNe:
		return f.not(f.equality(e))
	case core.OpIn:
		return f.member(f.typed(e.Args[0]), e.Args[1])
	case core.OpNotIn:
		return f.not(f.member(f.typed(e.Args[0]), e.Args[1]))
	case core.OpSubseteq:
		return f.subset(e)
	case core.OpCup, core.OpCap, core.OpDiff:
		return f.setOp(e)
	case core.OpSubset:
		return f.powerset(e)
	case core.OpUnion:
		return f.bigUnion(e)
	case core.OpDomain:
		return f.domain(e)
	case core.OpBoolean:
		return val{"typed.Booleans()", f.shapeOf(e), precAtom}
	case core.OpString:
		return val{"value.Strings()", g.any, precAtom}
	}
	return f.refuse(e, NotAValue, fmt.Sprintf("%s is about steps or behaviours; code computes values of one state", e.Op), "")
}

func (f *fn) not(v val) val {
	if rest, ok := strings.CutPrefix(v.code, "!"); ok && v.prec == precAtom {
		return val{rest, v.shape, precAtom}
	}
	if v.prec == precCompare && strings.Count(v.code, " == ") == 1 && !strings.ContainsAny(v.code, "{\n&|\"") {
		return val{strings.Replace(v.code, " == ", " != ", 1), v.shape, precCompare}
	}
	return val{"!" + v.atom(), f.g.bool, precAtom}
}

// equality compiles a = b. It converts both sides to one Go type if they have
// one. Otherwise the code compares values, which follow TLA+'s rules for
// different kinds.
func (f *fn) equality(e *core.Op) val {
	g := f.g
	sa, sb := f.shapeOf(e.Args[0]), f.shapeOf(e.Args[1])
	for i, s := range []*shape.Shape{sa, sb} {
		if isEmpty(e.Args[1-i]) && !s.Model && (s.Kind == shape.Seq && isTuple(e.Args[1-i]) || s.Kind == shape.Set && !isTuple(e.Args[1-i])) {
			if s.Kind == shape.Seq {
				return val{f.typed(e.Args[i]).atom() + ".Len() == 0", g.bool, precCompare}
			}
			return val{f.typed(e.Args[i]).atom() + ".Size() == 0", g.bool, precCompare}
		}
	}
	want := sa
	switch {
	case sa == sb:
	case f.alternative(sa, sb) >= 0:
	case f.alternative(sb, sa) >= 0:
		want = sb
	default:
		a, b := f.as(e.Args[0], g.any), f.as(e.Args[1], g.any)
		return val{"value.Equal(" + a + ", " + b + ")", g.bool, precAtom}
	}
	t := g.typeOf(want)
	a, b := f.asVal(e.Args[0], want), f.asVal(e.Args[1], want)
	if t.plain {
		if want.Kind == shape.Bool {
			if b.code == "true" {
				return a
			}
			if b.code == "false" {
				return f.not(a)
			}
		}
		return val{a.under(precCompare+1) + " == " + b.under(precCompare+1), g.bool, precCompare}
	}
	return val{g.equal(a.code, b.code, t), g.bool, precAtom}
}

func isEmpty(e core.Expr) bool {
	switch e := e.(type) {
	case *core.Tuple:
		return len(e.Elems) == 0
	case *core.SetEnum:
		return len(e.Elems) == 0
	}
	return false
}

func isTuple(e core.Expr) bool { _, ok := e.(*core.Tuple); return ok }
