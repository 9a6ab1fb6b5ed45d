// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
)

// operator is a Go method generated from an operator for particular shapes.
type operator struct {
	name   string
	result *shape.Shape
}

// call compiles the application of a definition.
func (f *fn) call(e *core.Call) val {
	d := e.Def
	if s := f.g.givenShape(d); s != nil {
		return val{f.constants + "." + f.g.given[d.Name], s, precAtom}
	}
	if l := f.lets[d]; l != nil {
		return f.callLet(e, l)
	}
	if d.Native {
		if v, ok := f.native(e); ok {
			return v
		}
	}
	sc := f.sc.Callee(e)
	if d.Body == nil || sc == nil {
		return f.refuse(e, Unsupported, fmt.Sprintf("the operator %s has no compiled form", d.Name), "")
	}
	pass := f.passings(d, e.Args)
	op := f.g.operator(sc, pass)
	args := f.arguments(e, sc, pass)
	return val{f.constants + "." + op.name + "(" + strings.Join(args, ", ") + ")", op.result, precAtom}
}

// passing describes how a generated operator receives an argument: as a value;
// as a function that computes the value on demand; or, if the argument is an
// operator, how that operator receives its own arguments.
type passing struct {
	lazy bool
	args []passing
}

func (p passing) String() string {
	if p.args != nil {
		return fmt.Sprint(p.args)
	}
	if p.lazy {
		return "lazy"
	}
	return "value"
}

// passings decides how to pass each argument of a call. An argument that may
// not be needed and whose evaluation may fail must not be evaluated in advance.
func (f *fn) passings(d *core.Def, args []core.Expr) []passing {
	out := make([]passing, len(args))
	for i, a := range args {
		if n := d.Params[i].Arity; n > 0 {
			out[i].args = f.operatorPassing(a, n)
		} else {
			out[i].lazy = !f.total(a) && !f.g.strict.param(d, i)
		}
	}
	return out
}

// operatorPassing decides how an operator passed as an argument receives its
// own arguments.
func (f *fn) operatorPassing(a core.Expr, arity int) []passing {
	out := make([]passing, arity)
	for i := range out {
		switch a := a.(type) {
		case *core.Lambda:
			out[i].lazy = !f.g.strict.local(a.Body, a.Params[i])
		case *core.OpRef:
			if a.Def.Params[i].Arity == 0 && !(a.Def.Native && f.sc.Callee(a) == nil) {
				out[i].lazy = !f.g.strict.param(a.Def, i)
			}
		case *core.LocalRef:
			if op, ok := f.ops[a.Local]; ok {
				out[i] = op.args[i]
			}
		}
	}
	return out
}

// arguments writes the arguments of a call of an operator instance.
func (f *fn) arguments(e *core.Call, sc *shape.Scope, pass []passing) []string {
	params := sc.Params()
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		if params[i] == nil {
			ps, r := sc.Operator(e.Def.Params[i])
			args[i] = f.operatorArg(a, ps, r, pass[i].args)
			continue
		}
		args[i] = f.argument(a, params[i], pass[i].lazy)
	}
	return args
}

func (f *fn) argument(a core.Expr, want *shape.Shape, lazy bool) string {
	if !lazy {
		return f.as(a, want)
	}
	body := f.closure(nil, f.g.typeOf(want).name, func() string { return f.as(a, want) })
	if f.total(a) {
		return body
	}
	return "typed.Lazy(" + body + ")"
}

// operatorArg writes an operator passed as an argument as a Go function.
func (f *fn) operatorArg(a core.Expr, params []*shape.Shape, result *shape.Shape, pass []passing) string {
	g := f.g
	if l, ok := a.(*core.LocalRef); ok {
		if op, ok := f.ops[l.Local]; ok {
			return op.name
		}
	}
	names := make([]string, len(params))
	list := make([]string, len(params))
	saved := f.names
	f.names = newNames(saved)
	defer func() { f.names = saved }()
	for i, p := range params {
		want := "x"
		if l, ok := a.(*core.Lambda); ok {
			want = l.Params[i].Name
		}
		names[i] = f.names.fresh(want)
		list[i] = names[i] + " " + g.typeOf(p).name
		if pass[i].lazy {
			list[i] = names[i] + " func() " + g.typeOf(p).name
		}
	}
	given := func(i int) val {
		if pass[i].lazy {
			return val{names[i] + "()", params[i], precAtom}
		}
		return val{names[i], params[i], precAtom}
	}
	resultType := g.typeOf(result).name
	switch a := a.(type) {
	case *core.Lambda:
		for i, p := range a.Params {
			f.bind(p, f.coerce(given(i), f.sc.Local(p)))
		}
		return f.closure(list, resultType, func() string { return f.as(a.Body, result) })
	case *core.OpRef:
		return f.closure(list, resultType, func() string {
			return f.coerce(f.callRef(a, params, names, pass, given), result).code
		})
	}
	f.refuse(a, Unsupported, "this operator cannot be passed in compiled code", "write it as a LAMBDA")
	return "nil"
}

// callRef calls the operator that an OpRef names. Names are the Go names of the
// arguments, which are passed as pass says.
func (f *fn) callRef(a *core.OpRef, params []*shape.Shape, names []string, pass []passing, given func(int) val) val {
	sc := f.sc.Callee(a)
	if sc == nil {
		// For an operator implemented in Go, compile a call applied to the
		// parameters.
		args := make([]core.Expr, len(params))
		for i := range params {
			l := &core.Local{Name: names[i], Span: a.Span()}
			f.bind(l, given(i))
			args[i] = &core.LocalRef{At: a.At, Local: l}
		}
		if v, ok := f.native(&core.Call{At: a.At, Def: a.Def, Args: args}); ok && a.Def.Native {
			return v
		}
		return f.refuse(a, Unsupported, fmt.Sprintf("the operator %s has no compiled form", a.Def.Name), "")
	}
	arg := func(i int) string {
		if pass[i].lazy {
			return names[i]
		}
		return f.coerce(given(i), sc.Params()[i]).code
	}
	if l := f.lets[a.Def]; l != nil {
		return f.applyLet(l, sc, pass, arg)
	}
	op := f.g.operator(sc, pass)
	list := make([]string, len(names))
	for i := range names {
		list[i] = arg(i)
	}
	return val{f.constants + "." + op.name + "(" + strings.Join(list, ", ") + ")", op.result, precAtom}
}

// operator returns the method for an instance of a module's operator, and
// generates it on first use.
func (g *generator) operator(sc *shape.Scope, pass []passing) *operator {
	d := sc.Def
	key := instanceKey(sc, pass)
	if op, ok := g.operators[key]; ok {
		return op
	}
	op := &operator{name: g.constantNames.fresh(d.Name), result: sc.Result()}
	g.operators[key] = op
	defer func(last string) { g.last = last }(g.last)
	f := g.newFn(sc, "c")
	list := f.parameters(sc, pass)
	t := g.typeOf(op.result)
	w := &writer{}
	w.emit("")
	g.last = ""
	g.comment(w, d.Span.Join(d.Body.Span()))
	name := op.name
	if len(d.Params) == 0 && heavy(op.result) {
		// A definition without parameters is a constant value: the code
		// computes it once.
		name = g.constantNames.fresh("compute" + upperFirst(op.name))
		g.cached = append(g.cached, cachedDef{field: op.name, compute: name, typ: t.name})
	}
	w.emit("func (c *Constants) %s(%s) %s {", name, strings.Join(list, ", "), t.name)
	f.into(d.Body, op.result, func(x string) { f.out.emit("return %s", x) })
	w.append(f.out)
	w.emit("}")
	g.ops.append(w)
	return op
}

// heavy reports whether values of the shape are worth caching.
func heavy(s *shape.Shape) bool {
	switch s.Kind {
	case shape.Bool, shape.Int, shape.Str, shape.None:
		return false
	}
	return true
}

// parameters declares the parameters of an operator instance.
func (f *fn) parameters(sc *shape.Scope, pass []passing) []string {
	var list []string
	for i, s := range sc.Params() {
		p := sc.Def.Params[i]
		name := f.names.fresh(p.Name)
		switch {
		case s == nil:
			ps, r := sc.Operator(p)
			f.ops[p] = opParam{name, pass[i].args}
			list = append(list, name+" "+f.funcType(ps, r, pass[i].args))
		case pass[i].lazy:
			list = append(list, name+" func() "+f.g.typeOf(s).name)
			f.bind(p, val{name + "()", s, precAtom})
		default:
			list = append(list, name+" "+f.g.typeOf(s).name)
			f.bind(p, val{name, s, precAtom})
		}
	}
	return list
}

// opParam is an operator parameter in the generated code.
type opParam struct {
	name string
	args []passing
}

func (f *fn) funcType(params []*shape.Shape, result *shape.Shape, pass []passing) string {
	list := make([]string, len(params))
	for i, p := range params {
		list[i] = f.g.typeOf(p).name
		if pass[i].lazy {
			list[i] = "func() " + list[i]
		}
	}
	return "func(" + strings.Join(list, ", ") + ") " + f.g.typeOf(result).name
}

// instanceKey returns the same key for instances that have the same Go code.
func instanceKey(sc *shape.Scope, pass []passing) string {
	var k strings.Builder
	fmt.Fprintf(&k, "%p", sc.Def)
	for i, s := range sc.Params() {
		if s != nil {
			fmt.Fprintf(&k, " %d", s.ID())
		} else {
			ps, r := sc.Operator(sc.Def.Params[i])
			k.WriteString(" (")
			for _, p := range ps {
				fmt.Fprintf(&k, "%d,", p.ID())
			}
			fmt.Fprintf(&k, "%d)", r.ID())
		}
		k.WriteString(" " + pass[i].String())
	}
	fmt.Fprintf(&k, " -> %d", sc.Result().ID())
	return k.String()
}

// letDef is a definition of an enclosing LET.
type letDef struct {
	d *core.Def
	// at is the slot for the definition's Go code; names are the names in scope
	// there.
	at    *writer
	names *names
	// code is the Go expression of a definition without parameters, once it has
	// been generated.
	code  string
	shape *shape.Shape
	// inline means that the definition is compiled at the place of its use.
	inline bool
	insts  map[string]*operator
}

// let writes the definitions of a LET and then its body.
func (f *fn) let(e *core.Let, body func()) {
	for _, d := range e.Defs {
		l := &letDef{d: d, at: f.out.slot(), names: f.names, insts: map[string]*operator{}}
		f.lets[d] = l
		if len(d.Params) == 0 {
			f.letValue(e, l)
		}
	}
	body()
}

// letValue decides when to evaluate a definition without parameters. It is
// evaluated at once if that cannot fail or must happen anyway; at the place of
// its use if there is only one; and otherwise at its first use.
func (f *fn) letValue(e *core.Let, l *letDef) {
	sc := f.sc.LetValue(l.d)
	if sc == nil {
		return // nothing uses it
	}
	l.shape = sc.Result()
	if r, ok := l.d.Body.(*core.Fn); ok && r.Self == nil && f.onlyApplied(e, l.d) || ok && r.Self != nil {
		// A function that is only applied becomes code, not a table; see
		// applyDefined.
		if f.onlyApplied(e, l.d) {
			l.inline = true
			return
		}
	}
	t := f.g.typeOf(l.shape)
	name := f.names.fresh(l.d.Name)
	if f.totalIn(sc, l.d.Body) || f.g.strict.value(e.Body, l.d) {
		f.at(l, sc, func() { f.declare(name, t.name, l.d.Body, l.shape) })
		l.code = name
		if !f.g.strict.value(e.Body, l.d) {
			f.at(l, sc, func() { f.out.emit("_ = %s", name) })
		}
		return
	}
	f.at(l, sc, func() {
		body := f.closure(nil, t.name, func() string { return f.as(l.d.Body, l.shape) })
		f.out.emit("%s := typed.Lazy(%s)", name, body)
		f.out.emit("_ = %s", name)
	})
	l.code = name + "()"
}

// declare writes "name := e", or, if e has branches, a variable declaration
// followed by the branches.
func (f *fn) declare(name, typ string, e core.Expr, s *shape.Shape) {
	switch e.(type) {
	case *core.If, *core.Case:
		f.out.emit("var %s %s", name, typ)
		f.into(e, s, func(x string) { f.out.emit("%s = %s", name, x) })
	default:
		code := f.as(e, s)
		if isUntyped(code) {
			f.out.emit("var %s %s = %s", name, typ, code)
		} else {
			f.out.emit("%s := %s", name, code)
		}
	}
}

// isUntyped reports whether the code is an untyped Go constant.
func isUntyped(code string) bool {
	_, err := strconv.Atoi(strings.Trim(code, "()"))
	return err == nil
}

// at writes the code of a definition into the definition's slot.
func (f *fn) at(l *letDef, sc *shape.Scope, do func()) {
	out, ns := f.out, f.names
	f.out, f.names = l.at, l.names
	f.within(sc, do)
	f.out, f.names = out, ns
}

// onlyApplied reports whether every use of d in the LET applies it.
func (f *fn) onlyApplied(e *core.Let, d *core.Def) bool {
	ok := true
	var visit func(x core.Expr) bool
	visit = func(x core.Expr) bool {
		switch x := x.(type) {
		case *core.Apply:
			if c, call := x.Fn.(*core.Call); call && c.Def == d {
				return visit(x.Arg)
			}
		case *core.Call:
			if x.Def == d {
				ok = false
			}
		}
		for y := range core.Children(x, core.TextOrder) {
			if !visit(y) {
				break
			}
		}
		return true
	}
	visit(e)
	return ok
}

// callLet uses a definition of a LET.
func (f *fn) callLet(e *core.Call, l *letDef) val {
	if len(l.d.Params) == 0 {
		if l.code == "" {
			return f.refuse(e, Unsupported, fmt.Sprintf("the definition of %s cannot be used here", l.d.Name), "")
		}
		return val{l.code, l.shape, precAtom}
	}
	sc := f.sc.Callee(e)
	if sc == nil {
		return f.refuse(e, Unsupported, fmt.Sprintf("the operator %s has no compiled form", l.d.Name), "")
	}
	pass := f.passings(l.d, e.Args)
	args := f.arguments(e, sc, pass)
	return f.applyLet(l, sc, pass, func(i int) string { return args[i] })
}

// applyLet calls the Go function of a LET's operator, which it generates at the
// first call.
func (f *fn) applyLet(l *letDef, sc *shape.Scope, pass []passing, arg func(int) string) val {
	key := instanceKey(sc, pass)
	op := l.insts[key]
	if op == nil {
		op = &operator{name: l.names.fresh(l.d.Name), result: sc.Result()}
		l.insts[key] = op
		t := f.g.typeOf(op.result).name
		f.at(l, sc, func() {
			var list []string
			w := f.capture(func() {
				list = f.parameters(sc, pass)
				f.into(l.d.Body, op.result, func(x string) { f.out.emit("return %s", x) })
			})
			if l.d.Recursive {
				types := make([]string, len(list))
				for i, p := range list {
					types[i] = p[strings.Index(p, " ")+1:]
				}
				f.out.emit("var %s func(%s) %s", op.name, strings.Join(types, ", "), t)
				f.out.emit("%s = func(%s) %s {", op.name, strings.Join(list, ", "), t)
			} else {
				f.out.emit("%s := func(%s) %s {", op.name, strings.Join(list, ", "), t)
			}
			f.out.append(w)
			f.out.emit("}")
		})
	}
	args := make([]string, len(l.d.Params))
	for i := range args {
		args[i] = arg(i)
	}
	return val{op.name + "(" + strings.Join(args, ", ") + ")", op.result, precAtom}
}
