// SPDX-License-Identifier: Apache-2.0

package rule

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// CallDepthMax bounds recursive operators and functions.
const CallDepthMax = 20_000

// NextValue returns the value that a variable has in the next state so far.
func NextValue(nxt []value.Value, v *core.Variable) value.Value {
	x := nxt[v.Index]
	if x.IsUndefined() {
		value.Fail("the variable %s is used before it has a value in the state being built", v.Name)
	}
	return x
}

// DecimalLiteral fails: a decimal has no value.
func DecimalLiteral(e *core.Decimal) value.Value {
	value.Fail("the number %s is not an integer: real numbers cannot be computed with", e.Text)
	return value.Value{}
}

// TupleElems returns the elements of a value that is matched with a tuple
// pattern.
func TupleElems(b core.Bind, x value.Value) []value.Value {
	es := x.Elements()
	if len(es) != len(b.Vars) {
		value.Fail("the pattern has %d names, but the element %s has length %d", len(b.Vars), value.Brief(x), len(es))
	}
	return es
}

// FailUnboundedChoose is the error of CHOOSE without a set.
func FailUnboundedChoose() {
	value.Fail("an unbounded CHOOSE cannot be evaluated; the configuration can replace the definition that contains it by a model value")
}

// FailChoose is the error of a CHOOSE that no element of its set satisfies.
func FailChoose(set value.Value) {
	value.Fail("no element of %s satisfies the condition of the CHOOSE", value.Brief(set))
}

// Follow applies f to each index of path in turn.
func Follow(f value.Value, path []value.Value) (value.Value, bool) {
	ok := true
	for _, x := range path {
		if f, ok = f.Lookup(x); !ok {
			return value.Value{}, false
		}
	}
	return f, true
}

// Complete fails if a variable has no value.
func Complete(nxt []value.Value, vars []*core.Variable) {
	for _, v := range vars {
		NextValue(nxt, v)
	}
}

// SetOperation returns the function of \cup, \cap or \; nil for other
// operators.
func SetOperation(op core.OpCode) func(a, b value.Value) value.Value {
	switch op {
	case core.OpCup:
		return value.Union
	case core.OpCap:
		return value.Intersect
	case core.OpDiff:
		return value.Diff
	}
	return nil
}
