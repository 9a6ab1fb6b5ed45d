// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
)

// recursive builds a recursive function as a table.
func (f *fn) recursive(e *core.Fn, want *shape.Shape) val {
	g := f.g
	binds := single(e.Binds)
	base := f.base(want, shape.Fn)
	if len(binds) != 1 || base.Kind != shape.Fn {
		return f.refuse(e, Unsupported, fmt.Sprintf("the recursive function %s can be applied, but not used as a value, in compiled code", e.Self.Name),
			"apply it, or write it as a RECURSIVE operator")
	}
	t, k := g.typeOf(base.Elem), g.typeOf(base.Key)
	src := f.coerce(f.source(binds[0].Set), g.setOf(base.Key))
	saved := f.names
	f.names = newNames(saved)
	self := f.names.fresh(e.Self.Name)
	name := f.names.fresh(bindName(binds[0]))
	f.self[e.Self] = self
	code := f.closure([]string{self + " func(" + k.name + ") " + t.name, name + " " + k.name}, t.name, func() string {
		finish := f.enter(binds[0], val{name, base.Key, precAtom})
		code := f.as(e.Body, base.Elem)
		finish()
		return code
	})
	f.names = saved
	return f.coerce(val{fmt.Sprintf("typed.Recursive[%s](%s, %s)", t.kind, src.code, code), base, precAtom}, want)
}

func (f *fn) fnResult(sc *shape.Scope, def *core.Fn) *shape.Shape {
	if s := sc.Expr(def.Body); s != nil {
		return s
	}
	return f.g.any
}

// keyShapes returns the shapes of the bound names over which a function is
// defined.
func keyShapes(sc *shape.Scope, def *core.Fn) ([]*shape.Shape, bool) {
	var out []*shape.Shape
	for _, b := range single(def.Binds) {
		if b.Tuple || b.Set == nil {
			return nil, false
		}
		s := sc.Local(b.Vars[0])
		if s == nil {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

func (f *fn) keyArgs(arg core.Expr, keys []*shape.Shape) []string {
	if len(keys) == 1 {
		return []string{f.as(arg, keys[0])}
	}
	out := make([]string, len(keys))
	for i, x := range arg.(*core.Tuple).Elems {
		out[i] = f.as(x, keys[i])
	}
	return out
}

// selfKeys are the key shapes of the function being defined.
func (f *fn) selfKeys(l *core.Local, s *shape.Shape) []*shape.Shape {
	if keys, ok := f.g.selfKeys[l]; ok {
		return keys
	}
	return []*shape.Shape{s.Key}
}

// fnCode returns the Go function that applies a defined function, and generates
// it on first use.
func (f *fn) fnCode(sc *shape.Scope, def *core.Fn, keys []*shape.Shape, name string, l *letDef) string {
	if l != nil {
		if l.code == "" {
			l.code = l.names.fresh(name)
			f.at(l, sc, func() {
				types := make([]string, len(keys))
				for i, k := range keys {
					types[i] = f.g.typeOf(k).name
				}
				result := f.g.typeOf(f.fnResult(sc, def)).name
				f.out.emit("var %s func(%s) %s", l.code, strings.Join(types, ", "), result)
				head := f.out.slot()
				var params string
				f.out.append(f.capture(func() { params = f.fnBody(def, keys, name, l.code) }))
				head.emit("%s = func(%s) %s {", l.code, params, result)
				f.out.emit("}")
			})
		}
		return l.code
	}
	g := f.g
	var k strings.Builder
	fmt.Fprintf(&k, "%p apply", def)
	for _, s := range keys {
		fmt.Fprintf(&k, " %d", s.ID())
	}
	fmt.Fprintf(&k, " -> %d", f.fnResult(sc, def).ID())
	op, ok := g.operators[k.String()]
	if !ok {
		op = &operator{name: g.constantNames.fresh(name + "At")}
		g.operators[k.String()] = op
		m := g.newFn(sc, "c")
		params := m.fnBody(def, keys, name, "c."+op.name)
		w := &writer{}
		w.emit("")
		g.comment(w, def.Span())
		w.emit("func (c *Constants) %s(%s) %s {", op.name, params, g.typeOf(m.fnResult(sc, def)).name)
		w.append(m.out)
		w.emit("}")
		g.ops.append(w)
	}
	return f.constants + "." + op.name
}

// fnBody writes the body of a function that applies def, and returns its
// parameters.
func (f *fn) fnBody(def *core.Fn, keys []*shape.Shape, name, self string) string {
	var params []string
	var given []val
	for i, b := range single(def.Binds) {
		p := f.names.fresh(b.Vars[0].Name)
		params = append(params, p+" "+f.g.typeOf(keys[i]).name)
		x := val{p, keys[i], precAtom}
		f.bind(b.Vars[0], x)
		given = append(given, x)
	}
	if def.Self != nil {
		f.self[def.Self] = self
		f.g.selfKeys[def.Self] = keys
	}
	f.checkDomain(def, given, name)
	result := f.fnResult(f.sc, def)
	f.into(def.Body, result, func(x string) { f.out.emit("return %s", x) })
	return strings.Join(params, ", ")
}
