// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// An invariant v \in S or v \subseteq S gives the variable v its type, if the
// sample's values are of that type.

// declared returns the type that the invariants give to each variable, or nil.
func (l *lowerer) declared(invariants []core.Expr, n int) []*typ {
	out := make([]*typ, n)
	var walk func(e core.Expr, x ctx)
	walk = func(e core.Expr, x ctx) {
		l.step()
		switch e := e.(type) {
		case *core.And:
			for _, f := range e.List {
				walk(f, x)
			}
		case *core.Call:
			if d, _ := l.p.Definition(e.Def); d != nil && d.Body != nil && !d.Recursive && !d.Native && l.calls < callsMax {
				l.calls++
				walk(d.Body, x.in(l.arguments(d.Params, e.Args, x, nil)))
				l.calls--
			}
		case *core.Op:
			if e.Op != core.OpIn && e.Op != core.OpSubseteq {
				return
			}
			v, ok := e.Args[0].(*core.VarRef)
			if !ok || v.Var.Index >= n || out[v.Var.Index] != nil {
				return
			}
			l.try(func() {
				if e.Op == core.OpIn {
					out[v.Var.Index] = l.setType(e.Args[1], x)
				} else {
					out[v.Var.Index] = l.subsetType(e.Args[1], x)
				}
			})
		}
	}
	for _, e := range invariants {
		walk(e, ctx{})
	}
	return out
}

// combine returns a, completed from b; nil if b does not have the missing part
// either.
func combine(a, b *typ) *typ {
	if a == nil || a.kind != kFn {
		if a == nil {
			return b
		}
		return a
	}
	out := fnType(a.dom)
	same := b != nil && b.kind == kFn && len(b.keys) == len(a.keys) && value.Equal(a.dom, b.dom)
	for i, e := range a.elems {
		var other *typ
		if same {
			other = b.elems[i]
		}
		if e = combine(e, other); e == nil {
			return nil
		}
		out.elems = append(out.elems, e)
	}
	return out
}

// setType returns the type of the elements of a set, or nil. Types of its parts
// may also be nil.
func (l *lowerer) setType(e core.Expr, x ctx) *typ {
	l.step()
	switch e := e.(type) {
	case *core.FnSet:
		dom := l.settle(l.expr(e.Dom, x, nil))
		elem := l.setType(e.Rng, x)
		if !dom.known || !value.IsFinite(dom.v) || value.IsEmpty(dom.v) || !value.AtMost(dom.v, keysMax) {
			return nil
		}
		t := fnType(value.Enumerate(dom.v))
		for range t.keys {
			t.elems = append(t.elems, elem)
		}
		return t
	case *core.RecordSet:
		fields, types := make([]value.Field, len(e.Fields)), make(map[string]*typ)
		for i, f := range e.Fields {
			fields[i] = value.Field{Name: f.Name, Val: value.Int(0)}
			types[f.Name] = l.setType(f.X, x)
		}
		t := fnType(value.Record(fields).Domain())
		for _, k := range t.keys {
			t.elems = append(t.elems, types[k.AsString()])
		}
		return t
	case *core.Times:
		t := fnType(value.Interval(1, int32(len(e.Sets))))
		for _, s := range e.Sets {
			t.elems = append(t.elems, l.setType(s, x))
		}
		return t
	case *core.Op:
		if e.Op == core.OpSubset {
			return l.subsetType(e.Args[0], x)
		}
	case *core.SetFilter:
		return l.setType(e.Bind.Set, x)
	case *core.Call:
		d, _ := l.p.Definition(e.Def)
		if d == nil || d.Body == nil || d.Recursive || len(e.Args) > 0 {
			break
		}
		if d.Name == "Seq" && d.Module == "Sequences" {
			return nil // its length is not declared
		}
		if _, native, _ := l.p.Native(d); !native {
			return l.setType(d.Body, x.in(nil))
		}
	}
	s := l.settle(l.expr(e, x, nil))
	if !s.known || s.v.Kind() != value.KindSet {
		return nil
	}
	return l.elementType(s.v)
}

// elementType returns the type of the elements of a constant set, or nil.
func (l *lowerer) elementType(s value.Value) *typ {
	if lo, hi, ok := s.AsInterval(); ok && lo <= hi {
		return intType(int64(lo), int64(hi))
	}
	if !value.IsFinite(s) {
		return nil // what is seen of Nat is narrower
	}
	u := l.us.of(s)
	if u == nil || len(u.vals) == 0 {
		return nil
	}
	g := &guesser{us: l.us}
	return g.of(u.vals, true, 0)
}

// subsetType returns the type of the subsets of a set, or nil.
func (l *lowerer) subsetType(e core.Expr, x ctx) *typ {
	s := l.settle(l.expr(e, x, nil))
	if !s.known || !value.IsFinite(s.v) || !value.AtMost(s.v, setElementsMax) {
		return nil
	}
	if u := l.us.of(s.v); u != nil && len(u.vals) > 0 {
		return &typ{kind: kSet, u: u}
	}
	return nil
}

// fits reports whether all values are of the type.
func fits(t *typ, vals []value.Value) bool {
	lay := newLayout([]*typ{t})
	if lay == nil {
		return false
	}
	words := make([]uint64, lay.words)
	for _, v := range vals {
		if !lay.Encode(words, []value.Value{v}) {
			return false
		}
	}
	return true
}
