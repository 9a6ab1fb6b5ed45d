// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
)

// member is x \in set.
func (f *fn) member(x val, set core.Expr) val {
	g := f.g
	if x.shape.Kind == shape.Any {
		return val{fmt.Sprintf("value.Contains(%s, %s)", f.as(set, g.any), x.code), g.bool, precAtom}
	}
	if s := f.form(set); f.isFormula(set) {
		var v val
		ok := false
		f.within(s.sc, func() { v, ok = f.memberOf(x, s.e) })
		if ok {
			return v
		}
		return val{fmt.Sprintf("value.Contains(%s, %s)", f.as(set, g.any), f.coerce(x, g.any).code), g.bool, precAtom}
	}
	return f.has(f.typed(set), x)
}

// joins reports whether every value of one shape is also a value of the other.
func (f *fn) joins(part, whole *shape.Shape) bool {
	return f.alternative(whole, part) >= 0
}

// memberOf handles the forms of sets for which membership is a condition.
func (f *fn) memberOf(x val, set core.Expr) (val, bool) {
	g := f.g
	s := x.shape
	yes := val{"true", g.bool, precAtom}
	switch e := set.(type) {
	case *core.Call:
		if s == g.int {
			switch namedSet(e) {
			case "Nat":
				return val{x.under(precCompare+1) + " >= 0", g.bool, precCompare}, true
			case "Int", "Real":
				return f.keep(x, yes), true
			}
			if e.Def.Native && e.Def.Name == ".." {
				a, b := f.as(e.Args[0], g.int), f.as(e.Args[1], g.int)
				return val{fmt.Sprintf("typed.HasInt(%s, %s, %s)", x.code, a, b), g.bool, precAtom}, true
			}
		}
		if of, ok := seqOf(e); ok && s.Kind == shape.Seq && !s.Model {
			return f.each(val{x.code, s, precAtom}, s.Elem, of), true
		}
	case *core.Op:
		return f.memberOp(x, e)
	case *core.SetFilter:
		if e.Bind.Tuple || len(e.Bind.Vars) != 1 {
			break
		}
		return f.filtered(x, e, f.operand(e.Bind.Set)), true
	case *core.RecordSet:
		return f.memberRecord(x, e)
	case *core.Times:
		if s.Kind != shape.Tuple || s.Model || len(s.Elems) != len(e.Sets) {
			break
		}
		x = f.temp(x, "t")
		t := g.typeOf(s)
		list := make([]func() val, len(e.Sets))
		for i, set := range e.Sets {
			test := f.operand(set)
			list[i] = func() val { return test(val{x.code + "." + t.fields[i], s.Elems[i], precAtom}) }
		}
		return f.all(list), true
	case *core.FnSet:
		return f.memberFn(x, e)
	}
	return val{}, false
}

func (f *fn) memberOp(x val, e *core.Op) (val, bool) {
	g := f.g
	s := x.shape
	switch e.Op {
	case core.OpBoolean:
		if s == g.bool {
			return f.keep(x, val{"true", g.bool, precAtom}), true
		}
	case core.OpString:
		if s == g.str {
			return f.keep(x, val{"true", g.bool, precAtom}), true
		}
	case core.OpSubset:
		if s.Kind == shape.Set && !s.Model {
			return f.each(x, s.Elem, e.Args[0]), true
		}
	case core.OpCup, core.OpCap, core.OpDiff:
		x = f.temp(x, "x")
		left, right := f.operand(e.Args[0]), f.operand(e.Args[1])
		a := left(x)
		var b val
		w := f.capture(func() {
			b = right(x)
			if e.Op == core.OpDiff {
				b = f.not(b)
			}
		})
		if e.Op != core.OpCup {
			return f.guarded(a, w, b), true
		}
		if w.empty() {
			j := &joined{op: "||", prec: precOr}
			j.add(a)
			j.add(b)
			return j.val(g.bool), true
		}
		t := f.names.fresh("ok")
		f.out.emit("%s := %s", t, a.code)
		f.out.emit("if !%s {", t)
		f.out.append(w)
		f.out.emit("%s = %s", t, b.code)
		f.out.emit("}")
		return val{t, g.bool, precAtom}, true
	}
	return val{}, false
}

// memberRecord is r \in [a : S, b : T].
func (f *fn) memberRecord(x val, e *core.RecordSet) (val, bool) {
	s := x.shape
	if s.Kind != shape.Record || s.Model {
		return val{}, false
	}
	written := map[string]core.Expr{}
	for _, fl := range e.Fields {
		if fieldIndex(s, fl.Name) < 0 {
			return val{}, false
		}
		written[fl.Name] = fl.X
	}
	x = f.temp(x, "r")
	t := f.g.typeOf(s)
	for _, fl := range s.Fields {
		if _, ok := written[fl.Name]; !ok && !fl.Optional {
			return val{}, false
		}
	}
	tests := map[string]func(val) val{}
	for _, fl := range e.Fields {
		tests[fl.Name] = f.operand(fl.X)
	}
	var list []func() val
	for i, fl := range s.Fields {
		test, ok := tests[fl.Name]
		switch {
		case !ok:
			list = append(list, func() val { return val{"!" + x.code + "." + hasName(t.fields[i]), f.g.bool, precAtom} })
			continue
		case fl.Optional:
			list = append(list, func() val { return val{x.code + "." + hasName(t.fields[i]), f.g.bool, precAtom} })
		}
		list = append(list, func() val { return test(val{x.code + "." + t.fields[i], fl.Shape, precAtom}) })
	}
	return f.all(list), true
}

// memberFn is fn \in [S -> T].
func (f *fn) memberFn(x val, e *core.FnSet) (val, bool) {
	g := f.g
	s := x.shape
	if s.Model {
		return val{}, false
	}
	x = f.temp(x, "fn")
	switch s.Kind {
	case shape.Seq:
		lo, hi, sc, ok := f.interval(e.Dom)
		one, isInt := lo.(*core.Int)
		if !ok || !isInt || one.Val != 1 {
			return val{}, false
		}
		return f.all([]func() val{
			func() val {
				var n val
				f.within(sc, func() { n = f.asVal(hi, g.int) })
				return val{x.code + ".Len() == max(0, " + n.code + ")", g.bool, precCompare}
			},
			func() val { return f.each(x, s.Elem, e.Rng) },
		}), true
	case shape.Fn:
		dom := f.shapeOf(e.Dom)
		if dom.Kind != shape.Set || dom.Elem != s.Key {
			return val{}, false
		}
		t := g.typeOf(g.setOf(s.Key))
		return f.all([]func() val{
			func() val {
				return val{fmt.Sprintf("%s{}.Equal(%s.Domain(), %s)", t.kind, x.code, f.typed(e.Dom).code), g.bool, precAtom}
			},
			func() val { return f.each(val{x.code + ".Values()", s, precAtom}, s.Elem, e.Rng) },
		}), true
	}
	return val{}, false
}

// subset is a \subseteq b.
func (f *fn) subset(e *core.Op) val {
	g := f.g
	a := f.typed(e.Args[0])
	sa, sb := a.shape, f.shapeOf(e.Args[1])
	if sa.Kind == shape.Set && !sa.Model {
		if _, formula := f.symbolicForm(e.Args[1]); formula {
			return f.each(a, sa.Elem, e.Args[1])
		}
		if sb == sa {
			return val{a.atom() + ".In(" + f.typed(e.Args[1]).code + ")", g.bool, precAtom}
		}
	}
	return val{fmt.Sprintf("value.Subseteq(%s, %s)", f.coerce(a, g.any).code, f.as(e.Args[1], g.any)), g.bool, precAtom}
}
