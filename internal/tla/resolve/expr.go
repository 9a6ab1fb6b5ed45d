// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// enter counts the nesting depth. If it returns false, the node is too deep and
// the error was reported.
func (r *resolver) enter(n syntax.Node) bool {
	if r.depth >= DepthMax {
		r.error(n.Span(), TooDeep, "name a part of it by a definition", "the expression is nested deeper than %d", DepthMax)
		return false
	}
	r.depth++
	return true
}

func (r *resolver) leave() { r.depth-- }

// value resolves an expression that must have a value.
func (r *resolver) value(e syntax.Expr) {
	if !r.enter(e) {
		return
	}
	defer r.leave()
	switch e := e.(type) {
	case *syntax.Ident:
		r.use(e, e.Name, e.Span(), nil)
	case *syntax.Apply:
		r.use(e, e.Op.Text, e.Op.Span(), e.Args)
	case *syntax.Prefix:
		r.use(e, e.Op.Text, e.Op.Span(), []syntax.Expr{e.X})
	case *syntax.Infix:
		r.infix(e)
	case *syntax.Postfix:
		r.use(e, e.Op.Text, e.Op.Span(), []syntax.Expr{e.X})
	case *syntax.Path:
		if p := r.pathUse(e, -1); p != nil {
			r.info.Paths[e] = p
		}
	case *syntax.OpRef:
		r.error(e.Span(), ValueExpected, "give it its operands", "the operator %s is used where a value is expected", e.Op)
	case *syntax.Lambda:
		r.error(e.Span(), ValueExpected, "a LAMBDA may only be an argument of an operator, or replace one in WITH", "a LAMBDA is used where a value is expected")
	case *syntax.Quant:
		r.quant(e)
	case *syntax.Choose:
		r.bounds([]syntax.Bound{e.Bound}, e, func() { r.value(e.Body) })
	case *syntax.SetFilter:
		r.bounds([]syntax.Bound{e.Bound}, e, func() { r.value(e.Pred) })
	case *syntax.SetMap:
		r.bounds(e.Bounds, e, func() { r.value(e.Elem) })
	case *syntax.Fn:
		r.bounds(e.Bounds, e, func() { r.value(e.Body) })
	case *syntax.Except:
		r.exceptExpr(e)
	case *syntax.At:
		if r.except == 0 {
			r.error(e.Span(), AtOutsideExcept, "", "@ has a meaning only on the right of = in an EXCEPT")
		}
	case *syntax.Let:
		r.let(e)
	case *syntax.Label:
		r.label(e)
	case *syntax.AssumeProve:
		r.error(e.Span(), Misplaced, "", "ASSUME ... PROVE is allowed only in a theorem")
		r.inner(func() { r.assumeProve(e) })
	case *syntax.Dollar:
		if s := r.scope.Lookup(e.Name); s != nil {
			r.info.Uses[e] = s
		} else {
			r.error(e.Span(), Misplaced, "", "%s has a meaning only in a mapping macro", e.Name)
		}
	case *syntax.FnSet:
		if !r.functionMeant(e) {
			r.value(e.Domain)
			r.value(e.Range)
		}
	case *syntax.RefArg:
		r.error(e.Span(), Misplaced, "", "ref is allowed only before an argument of a call or of an instance")
	case *syntax.Record:
		r.fields(e.Fields)
	case *syntax.RecordSet:
		r.fields(e.Fields)
	default:
		for _, c := range children(e) {
			r.value(c)
		}
	}
}

// fields resolves the fields of a record, or of a set of records.
func (r *resolver) fields(fields []syntax.RecordField) {
	first := make(map[string]source.Span, len(fields))
	for _, f := range fields {
		if other, ok := first[f.Name.Text]; ok {
			r.diags.Add(source.Diagnostic{Code: FieldTwice, Span: f.Name.Span(), Message: "the field " + f.Name.Text + " occurs here twice",
				Repair: "remove one of the two", Related: []source.Note{{Span: other, Message: "the first one"}}})
		}
		first[f.Name.Text] = f.Name.Span()
		r.value(f.Value)
	}
}

// infix walks the left spine of operators in a loop, because the tree of a long
// sum is as deep as the sum is long.
func (r *resolver) infix(e *syntax.Infix) {
	var spine []*syntax.Infix
	for {
		spine = append(spine, e)
		left, ok := e.Left.(*syntax.Infix)
		if !ok {
			break
		}
		e = left
	}
	if len(spine) > DepthMax {
		r.error(e.Span(), TooDeep, "name a part of it by a definition", "the expression is nested deeper than %d", DepthMax)
		return
	}
	r.value(e.Left)
	for i := len(spine) - 1; i >= 0; i-- {
		x := spine[i]
		if s := r.symbolFor(x, x.Op.Text, x.Op.Span(), 2); s != nil && s.Arity() != 2 {
			r.count2(x.Op.Text, x.Op.Span(), s, 2)
		}
		r.value(x.Right)
	}
}

func (r *resolver) exceptExpr(e *syntax.Except) {
	r.value(e.X)
	for _, u := range e.Updates {
		for _, a := range u.Path {
			for _, i := range a.Index {
				r.value(i)
			}
		}
		r.except++
		r.value(u.Value)
		r.except--
	}
}

func (r *resolver) quant(e *syntax.Quant) {
	if e.Kind == syntax.Forall || e.Kind == syntax.Exists {
		r.bounds(e.Bounds, e, func() { r.value(e.Body) })
		return
	}
	r.inner(func() {
		var out []*Symbol
		for _, b := range e.Bounds {
			for _, n := range b.Names {
				s := &Symbol{Kind: Variable, Name: n.Text, Node: e, Span: n.Span()}
				r.declareParameter(s)
				out = append(out, s)
			}
		}
		r.info.Binds[e] = out
		r.value(e.Body)
	})
}

// bounds resolves the sets in the outer scope and then body in the scope of the
// names that node binds.
func (r *resolver) bounds(bounds []syntax.Bound, node syntax.Node, body func()) {
	for _, b := range bounds {
		if b.Set != nil {
			r.value(b.Set)
		}
	}
	r.inner(func() {
		var out []*Symbol
		for _, b := range bounds {
			for _, n := range b.Names {
				s := &Symbol{Kind: Bound, Name: n.Text, Node: node, Span: n.Span()}
				r.declareParameter(s)
				out = append(out, s)
			}
		}
		r.info.Binds[node] = out
		body()
	})
}

func (r *resolver) let(e *syntax.Let) {
	saved := r.announced
	defined := len(r.module.Defined)
	r.announced = nil
	r.inner(func() {
		for _, u := range e.Units {
			r.unit(u)
		}
		r.recursiveDone()
		r.value(e.Body)
	})
	r.announced = saved
	r.module.Defined = r.module.Defined[:defined]
}

// label resolves name(x, y) :: body; x and y are names bound around it.
func (r *resolver) label(e *syntax.Label) {
	var out []*Symbol
	for _, p := range e.Params {
		s := r.scope.Lookup(p.Text)
		if s == nil || s.Kind != Bound {
			r.error(p.Span(), UnknownName, "", "the parameter %s of label %s is not a name bound around it", p.Text, e.Name.Text)
			continue
		}
		out = append(out, s)
	}
	r.info.Binds[e] = out
	r.value(e.Body)
}

// use resolves the application of a name to arguments.
func (r *resolver) use(node syntax.Node, name string, at source.Span, args []syntax.Expr) {
	s := r.symbolFor(node, name, at, len(args))
	if s == nil {
		for _, a := range args {
			r.anyArgument(a)
		}
		return
	}
	switch {
	case s.Kind == Instanced:
		delete(r.info.Uses, node)
		r.error(at, InstanceAsValue, "name something in it: "+name+"!Op", "%s is %s, not a value", name, describe(s))
	case s.Kind == Fact && !s.IsFormula():
		delete(r.info.Uses, node)
		r.error(at, ValueExpected, "", "%s is the name of an ASSUME ... PROVE, which is not a value", name)
	case s.Arity() != len(args):
		delete(r.info.Uses, node)
		r.count2(name, at, s, len(args))
	default:
		r.arguments(name, s, args)
		return
	}
	for _, a := range args {
		r.anyArgument(a)
	}
}

// anyArgument resolves an argument of an unknown operator.
func (r *resolver) anyArgument(a syntax.Expr) {
	switch a := a.(type) {
	case *syntax.OpRef:
	case *syntax.Lambda:
		r.lambda(a)
	case *syntax.Ident:
		r.symbolFor(a, a.Name, a.Span(), 0)
	default:
		r.value(a)
	}
}

func (r *resolver) arguments(name string, s *Symbol, args []syntax.Expr) {
	for i, a := range args {
		r.argument(a, s.Params[i], func() string { return fmt.Sprintf("argument %d of %s", i+1, name) })
	}
}

// count2 reports a wrong number of arguments.
func (r *resolver) count2(name string, at source.Span, s *Symbol, got int) {
	d := source.Diagnostic{Code: ArgumentCount, Span: at, Message: fmt.Sprintf("%s takes %s, but has %d", name, arguments(s), got)}
	switch {
	case got == 0:
		d.Code = ValueExpected
		d.Message = fmt.Sprintf("%s takes %s and is used where a value is expected", name, arguments(s))
	case s.Arity() == 0 && s.Kind == Function:
		d.Repair = "a function is applied with brackets: " + name + "[...]"
	case s.Arity() == 0:
		d.Code = NotAnOperator
		d.Message = fmt.Sprintf("%s is %s without parameters, and cannot be applied to arguments", name, describe(s))
		d.Repair = "apply a function with brackets: " + name + "[...]"
	}
	if s.Span.IsValid() {
		d.Related = []source.Note{{Span: s.Span, Message: "declared here"}}
	}
	r.diags.Add(d)
}

// argument resolves an argument for a parameter that itself takes arity
// arguments; 0 means a value.
func (r *resolver) argument(a syntax.Expr, arity int, what func() string) {
	if arity == 0 {
		r.value(a)
		return
	}
	wrong := func(s *Symbol) {
		r.error(a.Span(), OperatorExpected, "", "%s must be an operator that takes %s; this one takes %s", what(), count(arity), arguments(s))
	}
	switch a := a.(type) {
	case *syntax.Ident:
		if s := r.symbolFor(a, a.Name, a.Span(), arity); s != nil {
			r.checkOperator(a, s, arity, wrong)
		}
	case *syntax.OpRef:
		if s := r.symbolFor(a, a.Op, a.Span(), arity); s != nil {
			r.checkOperator(a, s, arity, wrong)
		}
	case *syntax.Lambda:
		r.lambda(a)
		if len(a.Params) != arity {
			wrong(&Symbol{Params: make([]int, len(a.Params))})
		}
	case *syntax.Path:
		if p := r.pathUse(a, arity); p != nil {
			r.info.Paths[a] = p
		}
	case *syntax.BadExpr:
	default:
		r.error(a.Span(), OperatorExpected, "pass the name of an operator, or a LAMBDA", "%s must be an operator that takes %s, not a value", what(), count(arity))
		r.value(a)
	}
}

func (r *resolver) checkOperator(node syntax.Node, s *Symbol, arity int, wrong func(*Symbol)) {
	if s.Arity() == arity && maxOf(s.Params) > 0 {
		delete(r.info.Uses, node)
		r.error(node.Span(), OperatorExpected, "", "%s takes operators as arguments itself, and so cannot be passed as one", s.Name)
		return
	}
	if s.Kind == Instanced || s.Kind == Fact || s.Arity() != arity {
		delete(r.info.Uses, node)
		wrong(s)
	}
}

func (r *resolver) lambda(l *syntax.Lambda) {
	if !r.enter(l) {
		return
	}
	defer r.leave()
	r.inner(func() {
		var out []*Symbol
		for _, p := range l.Params {
			s := &Symbol{Kind: Bound, Name: p.Text, Node: l, Span: p.Span()}
			r.declareParameter(s)
			out = append(out, s)
		}
		r.info.Binds[l] = out
		r.value(l.Body)
	})
}

// symbolFor looks up a name and records the use. If there is no such name, it
// reports an error and returns nil.
func (r *resolver) symbolFor(node syntax.Node, name string, at source.Span, args int) *Symbol {
	if s := r.scope.Lookup(name); s != nil {
		r.info.Uses[node] = s
		return s
	}
	if r.module.broken {
		return nil
	}
	r.unknown(name, at, args)
	return nil
}

func (r *resolver) unknown(name string, at source.Span, args int) {
	d := source.Diagnostic{Code: UnknownName, Span: at, Message: "unknown name " + name}
	if !source.HasLetters(name) || name[0] == '\\' {
		d.Code, d.Message = UnknownOperator, "the operator "+name+" is not defined"
	}
	if later := r.definedLater(name); later.IsValid() {
		d.Code = UsedBeforeDefined
		d.Message = name + " is used before it is defined"
		d.Related = []source.Note{{Span: later, Message: "defined here"}}
		d.Repair = "move its definition before this"
		if r.operators[name] {
			d.Repair += ", or announce it: RECURSIVE " + name + blanks(args)
		}
	} else if meant := foreign[name]; meant != "" {
		d.Repair = "write " + meant
	} else if h := home(name); h != "" && r.files[h] != r.module {
		d.Repair = "add EXTENDS " + h
	} else if hex, ok := strings.CutPrefix(name, "0x"); ok {
		d.Repair = `write \h` + hex
	} else if r.diags.Len() >= source.DiagnosticsMax {
		// The diagnostic will be dropped, so do not spend time searching the
		// definitions.
	} else if m := definer(name); m != "" && r.files[m] != r.module {
		d.Repair = "add EXTENDS " + m
	} else {
		near := source.NewNearest(name)
		r.scope.all(func(n string, s *Symbol) { near.Offer(n) })
		d.Repair = near.Repair()
	}
	r.diags.Add(d)
}

// foreign maps operators and constants of other languages to their TLA+ names.
var foreign = map[string]string{
	"&&": `/\`, "||": `\/`, "**": "^ for a power", "|": ": after what a name ranges over",
	"true": "TRUE", "True": "TRUE", "false": "FALSE", "False": "FALSE",
	"boolean": "BOOLEAN", "Boolean": "BOOLEAN", "bool": "BOOLEAN", "Bool": "BOOLEAN",
	"string": "STRING", "String": "STRING",
}

// functionMeant reports whether [i \in S -> e] uses an i that is not declared, so
// that the user probably meant a function. It reports that error instead of the
// unknown i.
func (r *resolver) functionMeant(e *syntax.FnSet) bool {
	in, ok := e.Domain.(*syntax.Infix)
	if !ok || in.Op.Text != `\in` {
		return false
	}
	name, ok := in.Left.(*syntax.Ident)
	if !ok || r.scope.Lookup(name.Name) != nil || r.module.broken {
		return false
	}
	r.error(e.Span(), UnknownName, "write |-> for a function", "unknown name %s in a set of functions [S -> T]", name.Name)
	return true
}

func blanks(n int) string {
	if n == 0 {
		return ""
	}
	out := "(_"
	for range n - 1 {
		out += ", _"
	}
	return out + ")"
}

// definedLater returns the position at which the module defines a name, before
// or after its use.
func (r *resolver) definedLater(name string) source.Span {
	if r.later == nil {
		r.later, r.operators = map[string]source.Span{}, map[string]bool{}
		for _, u := range r.module.Syntax.Units {
			switch u := u.(type) {
			case *syntax.OperatorDef:
				r.later[u.Name.Text] = u.Name.Span()
				r.operators[u.Name.Text] = true
			case *syntax.FunctionDef:
				r.later[u.Name.Text] = u.Name.Span()
			case *syntax.Instance:
				r.later[u.Name.Text] = u.Name.Span()
			case *syntax.VariableDecl:
				for _, n := range u.Names {
					r.later[n.Text] = n.Span()
				}
			case *syntax.ConstantDecl:
				for _, d := range u.Decls {
					r.later[d.Name.Text] = d.Name.Span()
				}
			}
		}
		delete(r.later, "")
	}
	return r.later[name]
}

// children returns the direct subexpressions of e, in text order, for forms
// that bind no names and are not applications.
func children(e syntax.Expr) []syntax.Expr {
	switch e := e.(type) {
	case *syntax.Junction:
		return e.Items
	case *syntax.Product:
		return e.Factors
	case *syntax.SetEnum:
		return e.Elems
	case *syntax.FnSet:
		return []syntax.Expr{e.Domain, e.Range}
	case *syntax.Index:
		return append([]syntax.Expr{e.Fn}, e.Args...)
	case *syntax.Record:
		return fieldValues(e.Fields)
	case *syntax.RecordSet:
		return fieldValues(e.Fields)
	case *syntax.Field:
		return []syntax.Expr{e.X}
	case *syntax.Tuple:
		return e.Elems
	case *syntax.If:
		return []syntax.Expr{e.Cond, e.Then, e.Else}
	case *syntax.Case:
		var out []syntax.Expr
		for _, a := range e.Arms {
			out = append(out, a.Guard, a.Value)
		}
		if e.Other != nil {
			out = append(out, e.Other)
		}
		return out
	case *syntax.Action:
		return []syntax.Expr{e.Body, e.Vars}
	case *syntax.Fairness:
		return []syntax.Expr{e.Vars, e.Body}
	}
	return nil // *Number, *String, *BadExpr and what value handles itself
}

func fieldValues(fields []syntax.RecordField) []syntax.Expr {
	out := make([]syntax.Expr, len(fields))
	for i, f := range fields {
		out[i] = f.Value
	}
	return out
}
