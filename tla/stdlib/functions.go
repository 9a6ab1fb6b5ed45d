// SPDX-License-Identifier: Apache-2.0

package stdlib

import (
	"slices"

	"github.com/ashlar-dev/ashlar/tla/value"
)

func functions() []Op {
	m := module{name: "Functions"}
	m.f2("Restrict", func(f, s Value) Value { return restrict(f, s, "Restrict") })
	m.fn("RestrictDomain", func(_ *Context, args []Arg) Value {
		test := apply1{op: args[1].Op}
		f := wantFn(args[0].Val, "RestrictDomain")
		return restrict(f, value.Filter(f.Domain(), func(x Value) bool {
			return wantBool(test.call(x), "RestrictDomain")
		}), "RestrictDomain")
	}, 0, 1)
	m.fn("RestrictValues", func(_ *Context, args []Arg) Value {
		test := apply1{op: args[1].Op}
		f := wantFn(args[0].Val, "RestrictValues")
		return restrict(f, value.Filter(f.Domain(), func(x Value) bool {
			return wantBool(test.call(f.Apply(x)), "RestrictValues")
		}), "RestrictValues")
	}, 0, 1)
	m.f2("IsRestriction", func(f, g Value) Value {
		wantFn(f, "IsRestriction")
		wantFn(g, "IsRestriction")
		if !value.Subseteq(f.Domain(), g.Domain()) {
			return boolean(false)
		}
		for x := range f.Domain().Each {
			if !value.Equal(f.Apply(x), g.Apply(x)) {
				return boolean(false)
			}
		}
		return boolean(true)
	})
	m.f1("Range", func(f Value) Value { return value.SetOf(slices.Clone(wantFn(f, "Range").Values())) })
	m.fn("Pointwise", func(_ *Context, args []Arg) Value {
		op := apply2{op: args[2].Op}
		f, g := wantFn(args[0].Val, "Pointwise").Normal(), wantFn(args[1].Val, "Pointwise")
		h, vals := value.NewFn(f.Domain())
		i := 0
		for x := range f.Domain().Each {
			vals[i] = op.call(f.Apply(x), g.Apply(x))
			i++
		}
		return h
	}, 0, 0, 2)
	m.f3("Inverse", inverse)
	m.f1("AntiFunction", func(f Value) Value {
		wantFn(f, "AntiFunction")
		return inverse(f, f.Domain(), value.SetOf(slices.Clone(f.Values())))
	})
	m.f1("IsInjective", func(f Value) Value { return boolean(isInjective(wantFn(f, "IsInjective"))) })
	m.f2("Injection", func(s, t Value) Value { return mapsThat(s, t, isInjective) })
	m.f2("Surjection", func(s, t Value) Value {
		return mapsThat(s, t, func(f Value) bool { return isOnto(f, t) })
	})
	m.f2("Bijection", func(s, t Value) Value {
		return mapsThat(s, t, func(f Value) bool { return isInjective(f) && isOnto(f, t) })
	})
	m.f2("ExistsInjection", func(s, t Value) Value { return boolean(value.Cardinality(s) <= value.Cardinality(t)) })
	m.f2("ExistsSurjection", func(s, t Value) Value {
		n, k := value.Cardinality(s), value.Cardinality(t)
		return boolean(n >= k && (k > 0 || n == 0))
	})
	m.f2("ExistsBijection", func(s, t Value) Value { return boolean(value.Cardinality(s) == value.Cardinality(t)) })
	m.fn("FoldFunction", func(_ *Context, args []Arg) Value {
		op, acc := apply2{op: args[0].Op}, args[1].Val
		vals := wantFn(args[2].Val, "FoldFunction").Values()
		for i := len(vals); i > 0; i-- {
			acc = op.call(vals[i-1], acc)
		}
		return acc
	}, 2, 0, 0)
	m.fn("FoldFunctionOnSet", func(_ *Context, args []Arg) Value {
		op, acc := apply2{op: args[0].Op}, args[1].Val
		f := wantFn(args[2].Val, "FoldFunctionOnSet")
		keys := wantSet(args[3].Val, "FoldFunctionOnSet").Elems()
		for i := len(keys); i > 0; i-- {
			acc = op.call(f.Apply(keys[i-1]), acc)
		}
		return acc
	}, 2, 0, 0, 0)
	return m.ops
}

// restrict is f on the domain s.
func restrict(f, s Value, op string) Value {
	wantFn(f, op)
	g, vals := value.NewFn(value.Enumerate(wantSet(s, op)))
	for i, x := range s.Elems() {
		vals[i] = f.Apply(x)
	}
	return g
}

func isInjective(f Value) bool {
	vals := f.Values()
	return value.Size(value.SetOf(slices.Clone(vals))) == len(vals)
}

func isOnto(f, t Value) bool {
	return value.Subseteq(t, value.SetOf(slices.Clone(f.Values())))
}

// mapsThat is the set of functions from s to t that pass a test. The set is not
// enumerated.
func mapsThat(s, t Value, test func(Value) bool) Value {
	return value.LazyFilter(value.FnSet(s, t), test)
}

// inverse maps each element of t to an element of s that f maps to it. If there
// is none, it maps the element to the first element of s.
func inverse(f, s, t Value) Value {
	wantFn(f, "Inverse")
	from, to := wantSet(s, "Inverse").Elems(), wantSet(t, "Inverse")
	g, vals := value.NewFn(value.Enumerate(to))
	all := value.SetOf(slices.Clone(f.Values()))
	for i, y := range to.Elems() {
		for _, x := range from {
			if !value.Contains(all, y) || value.Equal(f.Apply(x), y) {
				vals[i] = x
				break
			}
		}
		if vals[i].IsUndefined() {
			value.Fail("Inverse: no element of %s is mapped to %s", value.Brief(s), value.Brief(y))
		}
	}
	return g
}

// A relation on S is a function from S \X S to BOOLEAN.
func relation() []Op {
	m := module{name: "Relation"}
	add := func(name string, test func(r *matrix) bool) {
		m.f2(name, func(r, s Value) Value { return boolean(test(matrixOf(r, s, name))) })
		m.fn(name+"Under", func(_ *Context, args []Arg) Value {
			return boolean(test(matrixUnder(args[0].Op, args[1].Val, name+"Under")))
		}, 2, 0)
	}
	add("IsReflexive", (*matrix).reflexive)
	add("IsIrreflexive", (*matrix).irreflexive)
	add("IsSymmetric", (*matrix).symmetric)
	add("IsAntiSymmetric", (*matrix).antisymmetric)
	add("IsAsymmetric", func(r *matrix) bool { return r.antisymmetric() && r.irreflexive() })
	add("IsTransitive", (*matrix).transitive)
	add("IsPartiallyOrdered", func(r *matrix) bool { return r.reflexive() && r.antisymmetric() && r.transitive() })
	add("IsStrictlyPartiallyOrdered", func(r *matrix) bool {
		return r.irreflexive() && r.antisymmetric() && r.transitive()
	})
	add("IsTotallyOrdered", func(r *matrix) bool {
		return r.reflexive() && r.antisymmetric() && r.transitive() && r.total()
	})
	add("IsStrictlyTotallyOrdered", func(r *matrix) bool {
		return r.irreflexive() && r.antisymmetric() && r.transitive() && r.total()
	})
	m.f2("TransitiveClosure", func(r, s Value) Value { return matrixOf(r, s, "TransitiveClosure").close().value() })
	m.f2("ReflexiveTransitiveClosure", func(r, s Value) Value {
		return matrixOf(r, s, "ReflexiveTransitiveClosure").reflex().close().value()
	})
	m.f2("IsConnected", func(r, s Value) Value {
		c := matrixOf(r, s, "IsConnected").reflex().close()
		return boolean(!slices.Contains(c.holds, false))
	})
	return m.ops
}

// matrix is a relation on the elements of a set: holds[i*n+j] for elements i, j.
type matrix struct {
	elems []Value
	holds []bool
}

// relationMax limits the size of the sets whose relations are stored as
// matrices.
const relationMax = 2000

func newMatrix(s Value, op string, holds func(x, y Value) Value) *matrix {
	es := wantSet(s, op).Elems()
	if len(es) > relationMax {
		value.Fail("%s: the set has %d elements; at most %d are handled", op, len(es), relationMax)
	}
	m := &matrix{elems: es, holds: make([]bool, 0, len(es)*len(es))}
	for _, x := range es {
		for _, y := range es {
			m.holds = append(m.holds, wantBool(holds(x, y), op))
		}
	}
	return m
}

func matrixOf(r, s Value, op string) *matrix {
	wantFn(r, op)
	return newMatrix(s, op, func(x, y Value) Value { return r.Apply(value.Tuple(x, y)) })
}

func matrixUnder(f Operator, s Value, op string) *matrix {
	a := apply2{op: f}
	return newMatrix(s, op, a.call)
}

// all reports whether test holds for all pairs of elements.
func (m *matrix) all(test func(i, j int) bool) bool {
	for i := range m.elems {
		for j := range m.elems {
			if !test(i, j) {
				return false
			}
		}
	}
	return true
}

func (m *matrix) at(i, j int) bool { return m.holds[i*len(m.elems)+j] }

func (m *matrix) reflexive() bool {
	return m.all(func(i, j int) bool { return i != j || m.at(i, j) })
}

func (m *matrix) irreflexive() bool {
	return m.all(func(i, j int) bool { return i != j || !m.at(i, j) })
}

func (m *matrix) symmetric() bool {
	return m.all(func(i, j int) bool { return m.at(i, j) == m.at(j, i) })
}

func (m *matrix) antisymmetric() bool {
	return m.all(func(i, j int) bool { return i == j || !m.at(i, j) || !m.at(j, i) })
}

func (m *matrix) total() bool {
	return m.all(func(i, j int) bool { return i == j || m.at(i, j) || m.at(j, i) })
}

func (m *matrix) transitive() bool {
	closed := &matrix{m.elems, slices.Clone(m.holds)}
	return slices.Equal(closed.close().holds, m.holds)
}

// reflex makes the relation reflexive.
func (m *matrix) reflex() *matrix {
	for i := range m.elems {
		m.holds[i*len(m.elems)+i] = true
	}
	return m
}

// close makes the relation transitive (Warshall's algorithm).
func (m *matrix) close() *matrix {
	n := len(m.elems)
	for k := range n {
		for i := range n {
			if m.at(i, k) {
				for j := range n {
					if m.at(k, j) {
						m.holds[i*n+j] = true
					}
				}
			}
		}
	}
	return m
}

// value returns the relation as a function. It builds the pairs in canonical
// order, so they need no sorting.
func (m *matrix) value() Value {
	if len(m.elems) == 0 {
		return value.Tuple()
	}
	s := value.SetOf(slices.Clone(m.elems))
	f, vals := value.NewFn(value.Enumerate(value.Times(s, s)))
	for i, b := range m.holds {
		vals[i] = boolean(b)
	}
	return f
}
