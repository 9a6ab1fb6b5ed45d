// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
)

// section is the Go method of one label being generated.
type section struct {
	*fn
	m  *machine
	at *routine
	// yields are the actions of the enclosing Yields, innermost last.
	yields []func(x core.Expr)
}

func (s *section) stmts(list []pcal.Stmt) {
	for _, st := range list {
		s.stmt(st)
	}
}

// nested writes statements in a separate Go block.
func (s *section) nested(list []pcal.Stmt) { s.block(func() { s.stmts(list) }) }

func (s *section) block(do func()) {
	s.out.append(s.capture(do))
}

func (s *section) stmt(st pcal.Stmt) {
	switch st.(type) {
	case *pcal.Goto, *pcal.Skip, *pcal.Yield:
	default:
		s.g.comment(s.out, st.Span())
	}
	switch st := st.(type) {
	case *pcal.Assign:
		s.assign(st)
	case *pcal.If:
		s.ifElse(st)
	case *pcal.Either:
		s.either(st)
	case *pcal.With:
		s.with(st)
	case *pcal.Await:
		s.out.emit("if %s {", header(s.not(s.boolean(st.Cond)).code))
		s.out.emit("return distsys.Blocked()")
		s.out.emit("}")
	case *pcal.Assert:
		s.out.emit("if %s {", header(s.not(s.boolean(st.Cond)).code))
		s.out.emit("return 0, tx.Assert(false, %q, %q)", oneLine(st.Cond.Span().Text()), placeOf(st.Span()))
		s.out.emit("}")
	case *pcal.Print:
		s.out.emit("tx.Print(%s)", s.as(st.X, s.g.any))
	case *pcal.Skip:
	case *pcal.Goto:
		s.out.emit("return %s, nil", s.label(st.Label))
	case *pcal.Call:
		s.call(st)
	case *pcal.Return:
		s.leave()
	case *pcal.Yield:
		invariant.Check(len(s.yields) > 0, "a yield outside a read")
		s.yields[len(s.yields)-1](st.X)
	case *pcal.Read:
		s.read(st)
	case *pcal.Write:
		s.write(st)
	default:
		invariant.Unreachable(st)
	}
}

// oneLine removes the line breaks of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func (s *section) label(name string) string {
	switch name {
	case pcal.LabelDone:
		return "distsys.Done"
	case pcal.LabelError:
		return "distsys.Error"
	}
	return s.at.labels[name]
}

func (s *section) ifElse(st *pcal.If) {
	s.out.emit("if %s {", header(s.boolean(st.Cond).code))
	s.nested(st.Then)
	for len(st.Else) > 0 {
		next, ok := single1(st.Else).(*pcal.If)
		if !ok {
			s.out.emit("} else {")
			s.nested(st.Else)
			break
		}
		var cond val
		w := s.capture(func() { cond = s.boolean(next.Cond) })
		if !w.empty() {
			s.out.emit("} else {")
			s.nested(st.Else)
			break
		}
		s.out.emit("} else if %s { %s", header(cond.code), s.g.commentText(next.Span()))
		s.nested(next.Then)
		st = next
	}
	s.out.emit("}")
}

func (s *section) either(st *pcal.Either) {
	name := s.names.fresh("branch")
	s.out.emit("%s, err := tx.Choose(%d)", name, len(st.Branches))
	s.out.emit("if err != nil {")
	s.out.emit("return 0, err")
	s.out.emit("}")
	s.out.emit("switch %s {", name)
	for i, b := range st.Branches {
		if i == len(st.Branches)-1 {
			s.out.emit("default:")
		} else {
			s.out.emit("case %d:", i)
		}
		s.nested(b)
	}
	s.out.emit("}")
}

// with opens no Go block, because its names are fresh.
func (s *section) with(st *pcal.With) {
	want := s.sc.Local(st.Var)
	if want == nil {
		want = s.g.any
	}
	name := s.names.fresh(st.Var.Name)
	if !st.In {
		if x := s.asVal(st.X, want); x.simple() && isLocal(st.X) {
			s.bind(st.Var, x)
			s.stmts(st.Body)
		} else {
			s.declareTyped(name, x.code, want)
			s.scoped(st.Var, name, want, func() { s.stmts(st.Body) })
		}
		return
	}
	if lo, hi, ok := s.isInterval(core.Bind{Vars: []*core.Local{st.Var}, Set: st.X}); ok {
		i := s.names.fresh("i")
		lo = s.temp(val{lo, s.g.int, precAtom}, "low").code
		s.choose(i, fmt.Sprintf("typed.Count(%s, %s)", lo, hi))
		base := s.coerce(val{fmt.Sprintf("%s + int32(%s)", lo, i), s.g.int, precAdd}, want)
		s.declareTyped(name, base.code, want)
	} else {
		s.declareTyped(name, s.coerce(s.branch(st.X), want).code, want)
	}
	s.scoped(st.Var, name, want, func() { s.stmts(st.Body) })
}

// branch chooses an element of a set.
func (s *section) branch(from core.Expr) val {
	i := s.names.fresh("i")
	set := s.temp(s.source(from), "set")
	size, nth := "int("+set.code+".Size())", fmt.Sprintf("%s.Nth(%s)", set.code, i)
	if set.shape.Kind == shape.Any {
		elems := s.names.fresh("elems")
		s.out.emit("%s := %s.Elems()", elems, set.code)
		size, nth = "len("+elems+")", fmt.Sprintf("%s[%s]", elems, i)
	}
	s.choose(i, size)
	return val{nth, s.elemOf(set), precAtom}
}

// isLocal reports whether e is a bound name.
func isLocal(e core.Expr) bool {
	_, ok := e.(*core.LocalRef)
	return ok
}

// define declares a Go variable that may be unused.
func (s *section) define(name, code string, want *shape.Shape) {
	s.declareTyped(name, code, want)
	s.out.emit("_ = %s", name)
}

func (s *section) declareTyped(name, code string, want *shape.Shape) {
	if isUntyped(code) {
		s.out.emit("var %s %s = %s", name, s.g.typeOf(want).name, code)
	} else {
		s.out.emit("%s := %s", name, code)
	}
}

// scoped binds l to the Go variable name while it writes body. If body does not
// use the variable, it adds an assignment to _, as Go requires.
func (s *section) scoped(l *core.Local, name string, want *shape.Shape, body func()) {
	slot := s.out.slot()
	b := s.bind(l, val{name, want, precAtom})
	body()
	if !b.used {
		slot.emit("_ = %s", name)
	}
}

func (s *section) choose(i, n string) {
	s.out.emit("%s, err := tx.Choose(%s)", i, n)
	s.out.emit("if err != nil {")
	s.out.emit("return 0, err")
	s.out.emit("}")
}

// place returns the Go expression of a variable and the variable's shape.
func (s *section) place(v *core.Variable) val {
	x, ok := s.vars(v)
	if !ok {
		s.g.unsupportedAt(v.Span, NotVisible, fmt.Sprintf("the variable %s is not in reach of compiled code", v.Name), "pass it as a ref parameter")
		return val{"_", s.g.any, precAtom}
	}
	return x
}

// assign compiles x[i] := e || y := f. The code evaluates all right-hand sides
// before it makes any of the assignments.
func (s *section) assign(st *pcal.Assign) {
	type ready struct {
		target val
		v      *core.Variable
		path   []core.Index
		value  newValue
	}
	var list []ready
	for _, p := range st.Pairs {
		r := ready{target: s.place(p.Target), v: p.Target, path: p.Path}
		r.value = newValue{p.At, func(want *shape.Shape) string { return s.as(p.Value, want) }, s.total(p.Value)}
		if len(st.Pairs) == 1 {
			list = append(list, r)
			break
		}
		r.path = s.frozen(p.Path)
		want := s.g.any
		if len(p.Path) == 0 {
			want = r.target.shape
		} else if x := s.shapeOf(p.Value); x != nil {
			want = x
		}
		if p.At != nil {
			// @ refers to the old value, before any of the assignments.
			old := s.temp(s.lookup(r.target, p.Path), "old")
			s.bind(p.At, old)
		}
		name := s.names.fresh("new" + upperFirst(goName(p.Target.Name)))
		s.declareTyped(name, s.as(p.Value, want), want)
		r.value = newValue{nil, func(to *shape.Shape) string { return s.coerce(val{name, want, precAtom}, to).code }, true}
		list = append(list, r)
	}
	for _, r := range list {
		r.target, r.path = s.inside(r.target, r.path)
		if len(r.path) == 0 && r.value.at == nil && len(st.Pairs) == 1 {
			s.into(st.Pairs[0].Value, r.target.shape, func(x string) { s.out.emit("%s = %s", r.target.code, x) })
		} else {
			s.out.emit("%s = %s", r.target.code, s.update(r.target, r.path, r.value).code)
		}
		if ref := s.sc.Ref(r.v); ref != nil && ref.Variable != nil {
			r.v = ref.Variable // of the caller
		}
		s.m.assigned(s.out, r.v)
	}
}

// inside follows a path into the structs for records and tuples. The section
// owns these structs, so the code may assign their fields.
func (s *section) inside(v val, path []core.Index) (val, []core.Index) {
	for len(path) > 0 && v.code != "_" {
		t := v.shape
		i := -1
		switch {
		case t.Kind == shape.Record && !t.Model:
			if name, ok := fieldStep(path[0]); ok {
				i = fieldIndex(t, name)
			}
			if i < 0 || t.Fields[i].Optional {
				return v, path
			}
			v = val{v.code + "." + s.g.typeOf(t).fields[i], t.Fields[i].Shape, precAtom}
		case t.Kind == shape.Tuple && !t.Model:
			lit, ok := path[0].X.(*core.Int)
			if !ok || lit.Val < 1 || lit.Val > int64(len(t.Elems)) {
				return v, path
			}
			i = int(lit.Val - 1)
			v = val{v.code + "." + s.g.typeOf(t).fields[i], t.Elems[i], precAtom}
		default:
			return v, path
		}
		path = path[1:]
	}
	return v, path
}

// frozen writes code that computes the indices of a path now.
func (s *section) frozen(path []core.Index) []core.Index {
	out := make([]core.Index, len(path))
	for i, ix := range path {
		out[i] = ix
		switch ix.X.(type) {
		case nil, *core.Int, *core.Str, *core.LocalRef:
			continue
		}
		want := s.shapeOf(ix.X)
		name := s.names.fresh("index")
		s.declareTyped(name, s.as(ix.X, want), want)
		l := &core.Local{Name: "index", Span: ix.X.Span()}
		s.bind(l, val{name, want, precAtom})
		out[i].X = &core.LocalRef{At: core.At{Place: ix.X.Span()}, Local: l}
	}
	return out
}

// lookup is target[path].
func (s *section) lookup(v val, path []core.Index) val {
	for _, ix := range path {
		if ix.X == nil {
			v = s.selectField(v, ix.Field, s.fieldShape(v, ix.Field))
		} else {
			v = s.applyTo(v, ix.X, s.elemShape(v))
		}
	}
	return v
}

func (s *section) fieldShape(v val, name string) *shape.Shape {
	if b := s.base(v.shape, shape.Record); b.Kind == shape.Record && fieldIndex(b, name) >= 0 {
		return b.Fields[fieldIndex(b, name)].Shape
	}
	return s.g.any
}

func (s *section) elemShape(v val) *shape.Shape {
	if b := s.base(v.shape, shape.Seq, shape.Fn); b.Elem != nil {
		return b.Elem
	}
	return s.g.any
}

// read sets Dst to the value that the resource returns or that Body computes.
func (s *section) read(st *pcal.Read) {
	want := s.sc.Local(st.Dst)
	if want == nil {
		want = s.g.any
	}
	name := s.names.fresh(readName(st))
	switch {
	case st.Access == nil:
		if y, ok := single1(st.Body).(*pcal.Yield); ok {
			s.declareTyped(name, s.as(y.X, want), want)
			break
		}
		s.out.emit("var %s %s", name, s.g.typeOf(want).name)
		s.yields = append(s.yields, func(x core.Expr) {
			s.into(x, want, func(code string) { s.out.emit("%s = %s", name, code) })
		})
		s.block(func() { s.stmts(st.Body) })
		s.yields = s.yields[:len(s.yields)-1]
	default:
		s.access(st, name, want)
	}
	s.scoped(st.Dst, name, want, func() { s.stmts(st.Rest) })
}

// readName returns a name for the value of a read: that of the variable to
// which the value is assigned at once, or else that of the resource.
func readName(st *pcal.Read) string {
	if len(st.Rest) > 0 {
		switch next := st.Rest[0].(type) {
		case *pcal.With:
			if x, ok := next.X.(*core.LocalRef); ok && !next.In && x.Local == st.Dst {
				return next.Var.Name
			}
		case *pcal.Assign:
			if x, ok := next.Pairs[0].Value.(*core.LocalRef); ok && len(next.Pairs) == 1 && x.Local == st.Dst {
				return next.Pairs[0].Target.Name
			}
		}
	}
	if st.Access != nil {
		return st.Access.Param.Var.Name
	}
	return st.Dst.Name
}

func single1(list []pcal.Stmt) pcal.Stmt {
	if len(list) == 1 {
		return list[0]
	}
	return nil
}

// access compiles a read of a resource or of a variable passed by reference.
func (s *section) access(st *pcal.Read, name string, want *shape.Shape) {
	ref := s.sc.Ref(st.Access.Param.Var)
	if ref.Variable != nil {
		v := s.m.variable(ref.Owner, ref.Variable)
		path := make([]core.Index, len(st.Access.Index))
		for i, x := range st.Access.Index {
			path[i].X = x
		}
		s.declareTyped(name, s.coerce(s.lookup(v, path), want).code, want)
		return
	}
	have := ref.Read
	s.out.emit("%s, err := distsys.Read(tx, s.%s, %s%s)", name, s.m.refs[ref.Param], s.g.shapeVar(have), s.indices(st.Access.Index))
	s.out.emit("if err != nil {")
	s.out.emit("return 0, err")
	s.out.emit("}")
	invariant.Check(have == want, "a read of another shape than its resource")
}

func (s *section) indices(list []core.Expr) string {
	var b strings.Builder
	for _, x := range list {
		b.WriteString(", " + s.as(x, s.g.any))
	}
	return b.String()
}

// write compiles a write to a resource or to a variable passed by reference.
func (s *section) write(st *pcal.Write) {
	ref := s.sc.Ref(st.Access.Param.Var)
	if ref.Variable != nil {
		v := s.m.variable(ref.Owner, ref.Variable)
		path := make([]core.Index, len(st.Access.Index))
		for i, x := range st.Access.Index {
			path[i].X = x
		}
		x := s.update(v, path, newValue{nil, func(want *shape.Shape) string { return s.as(st.X, want) }, s.total(st.X)})
		s.out.emit("%s = %s", v.code, x.code)
		s.m.assigned(s.out, ref.Variable)
		return
	}
	x := s.as(st.X, ref.Write)
	index := s.indices(st.Access.Index)
	s.out.emit("if err := distsys.Write(tx, s.%s, %s, %s%s); err != nil {", s.m.refs[ref.Param], s.g.shapeVar(ref.Write), x, index)
	s.out.emit("return 0, err")
	s.out.emit("}")
}

// call saves the variables of the called procedure and sets them to the
// arguments and to their initial values.
func (s *section) call(st *pcal.Call) {
	to := s.m.routineOf(s.sc.Called(st))
	ret := "0"
	args := make([]string, len(st.Args))
	for i, p := range st.Proc.Params {
		if st.Args[i].X != nil {
			want := to.sc.Var(p.Var)
			name := s.names.fresh("arg")
			s.define(name, s.as(st.Args[i].X, want), want)
			args[i] = name
		}
	}
	if st.Return == "" {
		// A tail call returns to the caller of this procedure and restores this
		// procedure's variables from before its own call.
		invariant.Check(s.at.proc != nil, "a tail call outside a procedure")
		ret = s.pop()
	} else {
		ret = s.label(st.Return)
	}
	saved := "nil"
	if len(to.fields) > 0 {
		saved = "s." + to.field
	}
	stack := s.names.fresh("stack")
	s.out.emit("%s, err := s.stack.Push(%s, %s)", stack, ret, saved)
	s.out.emit("if err != nil {")
	s.out.emit("return 0, err")
	s.out.emit("}")
	s.out.emit("s.stack = %s", stack)
	for i, p := range st.Proc.Params {
		if args[i] != "" {
			s.out.emit("s.%s.%s = %s", to.field, to.fields[p.Var], args[i])
		}
	}
	s.procedureLocals(to)
	s.out.emit("return %s, nil", to.labels[to.blocks[0].Label])
}

// procedureLocals sets the variables of a procedure to their initial values.
func (s *section) procedureLocals(to *routine) {
	for _, v := range to.proc.Locals {
		field := "s." + to.field + "." + to.fields[v.Var]
		want := to.sc.Var(v.Var)
		if v.Init == nil {
			s.out.emit("%s = %s", field, s.g.initial(want))
			continue
		}
		s.within(to.sc, func() {
			vars := s.vars
			s.vars = s.m.varsOf(to)
			s.initialize(field, v, want)
			s.vars = vars
		})
	}
}

// initialize gives a variable its first value.
func (s *section) initialize(field string, v *pcal.Variable, want *shape.Shape) {
	if !v.In {
		s.into(v.Init, want, func(x string) { s.out.emit("%s = %s", field, x) })
		return
	}
	s.out.emit("%s = %s", field, s.coerce(s.branch(v.Init), want).code)
}

// pop removes the topmost call from the stack and restores the procedure's
// variables to their values before the call. It returns the name of the label
// at which to continue.
func (s *section) pop() string {
	back, rest := s.names.fresh("back"), s.names.fresh("rest")
	if len(s.at.fields) == 0 {
		s.out.emit("%s, _, %s := s.stack.Pop()", back, rest)
		s.out.emit("s.stack = %s", rest)
		return back
	}
	saved := s.names.fresh("saved")
	s.out.emit("%s, %s, %s := s.stack.Pop()", back, saved, rest)
	s.out.emit("s.stack = %s", rest)
	s.out.emit("if vars, ok := %s.(%s); ok {", saved, s.at.typ)
	s.out.emit("s.%s = vars", s.at.field)
	s.out.emit("}")
	return back
}

// leave is return.
func (s *section) leave() {
	s.out.emit("return %s, nil", s.pop())
}
