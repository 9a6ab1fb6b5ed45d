// SPDX-License-Identifier: Apache-2.0

// Package stdlib computes the operators of the standard and community modules
// in Go.
//
// In: the name of a module and of an operator, then values and operators as
// arguments. Out: a value; if the operator has none, it panics with a *value.Error
// as package value does. The text of the modules (internal/tla/module) defines the
// same operators in TLA+ wherever that is possible, and the two must agree: an
// operator that is not Primitive is only a faster form of its definition.
//
// Nothing here touches the outside world. An operator gets output, files,
// registers, random numbers and the clock from the Context; it fails if the
// Context lacks what it needs. Everything is safe for concurrent use if the
// Context is. value.MaxSetSize bounds results that could become too large.
package stdlib

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// Value is short for value.Value.
type Value = value.Value

// Operator is an operator passed as an argument. It does not retain args; the
// caller may reuse the slice.
type Operator func(args []Value) Value

// Arg is an argument of an operator: a value, or, if the parameter has an
// arity, an operator.
type Arg struct {
	Val Value
	Op  Operator
}

// Op is an operator with its implementation. Exactly one of the functions is
// set: F0, F1, F2 or F3, according to arity, if the result depends only on
// values; otherwise FN. FN accepts a nil Context unless Effects is set.
type Op struct {
	Module, Name string
	Arity        int
	// Params has the arity of each parameter that is an operator. It is nil if
	// all parameters are values.
	Params []int
	// Primitive reports that the module only declares the operator and has no
	// TLA+ definition of it.
	Primitive bool
	// Effects reports that the result depends on more than the arguments or that
	// the call has side effects: the operator prints, reads, writes or draws random
	// numbers.
	Effects bool
	// Lazy reports that the last argument is passed as an Operator without
	// parameters, which evaluates the argument when it is called.
	Lazy bool

	F0 func() Value
	F1 func(a Value) Value
	F2 func(a, b Value) Value
	F3 func(a, b, c Value) Value
	FN func(ctx *Context, args []Arg) Value
}

// Call applies the operator through whichever function is set.
func (o *Op) Call(ctx *Context, args []Arg) Value {
	if len(args) != o.Arity {
		value.Fail("%s!%s takes %d arguments, found %d", o.Module, o.Name, o.Arity, len(args))
	}
	switch {
	case o.F0 != nil:
		return o.F0()
	case o.F1 != nil:
		return o.F1(args[0].Val)
	case o.F2 != nil:
		return o.F2(args[0].Val, args[1].Val)
	case o.F3 != nil:
		return o.F3(args[0].Val, args[1].Val, args[2].Val)
	}
	if ctx == nil {
		ctx = &Context{}
	}
	return o.FN(ctx, args)
}

// Context gives operators access to the outside world. Any of the functions may
// be nil. An operator that needs a missing one fails with an error, except that
// output without Print is dropped.
type Context struct {
	// Print writes a line of text.
	Print func(line string)
	// Register reads a register, or a named property of the run, for TLCGet.
	Register func(key Value) (Value, bool)
	// SetRegister sets a register, or acts on a named property, for TLCSet.
	SetRegister func(key, val Value)
	// Random returns a uniform random number in 0..n-1; n must be positive.
	Random func(n int64) int64
	// Now returns the time for JavaTime.
	Now func() int32
	// Trace returns the behaviour so far as a sequence of records.
	Trace func() Value
	// Uncaught reports that an error ends the evaluation, so that AssertError
	// must not catch it.
	Uncaught func(err error) bool
	// Files is the file system that IOUtils, Json and CSV use.
	Files Files
	// Environment returns the environment variables for IOEnv.
	Environment func() map[string]string
	// Execute runs a command for IOExec.
	Execute func(command []string, environment map[string]string) (exit int, stdout, stderr string, err error)
}

// Files is a file system. It receives names as the specification writes them.
type Files interface {
	// ReadFile returns the content of a file. If the file does not exist, the
	// error satisfies errors.Is(err, fs.ErrNotExist).
	ReadFile(name string) ([]byte, error)
	// WriteFile replaces the file or appends to it.
	WriteFile(name string, data []byte, appending bool) error
}

type key struct{ module, name string }

// table has every operator; it is never changed.
var table = sync.OnceValue(func() map[key]*Op {
	out := map[key]*Op{}
	for _, ops := range [][]Op{
		naturals(), integers(), reals(), bitwise(), dyadic(),
		sequences(), sequencesExt(), subsequences(),
		finiteSets(), finiteSetsExt(), folds(), functions(), relation(),
		bags(), bagsExt(), tlc(), tlcExt(), randomization(),
		graphs(), undirectedGraphs(), ioUtils(), jsonModule(), csvModule(), svg(),
		vectorClocks(), apalache(), statistics(),
	} {
		for _, op := range ops {
			out[key{op.Module, op.Name}] = &op
		}
	}
	return out
})

// Lookup returns the implementation of an operator of a module, or nil. The
// name is the canonical spelling ("<=", "\o", "-.") or one of its usual
// synonyms.
func Lookup(module, name string) *Op {
	if op := table()[key{module, name}]; op != nil {
		return op
	}
	if canonical, ok := synonym(name); ok {
		return table()[key{module, canonical}]
	}
	return nil
}

// synonym returns the canonical spelling of an operator name.
func synonym(name string) (string, bool) {
	switch name {
	case "=<", `\leq`:
		return "<=", true
	case `\geq`:
		return ">=", true
	case `\circ`:
		return `\o`, true
	case `\oplus`:
		return "(+)", true
	case `\ominus`:
		return "(-)", true
	}
	return "", false
}

// All returns every operator, sorted by module and name.
func All() []*Op {
	return slices.SortedFunc(maps.Values(table()), func(a, b *Op) int {
		return cmp.Or(strings.Compare(a.Module, b.Module), strings.Compare(a.Name, b.Name))
	})
}

// module collects the operators of one module.
type module struct {
	name string
	ops  []Op
}

func (m *module) add(op Op) *Op {
	op.Module = m.name
	m.ops = append(m.ops, op)
	return &m.ops[len(m.ops)-1]
}

func (m *module) f0(name string, f func() Value)        { m.add(Op{Name: name, F0: f}) }
func (m *module) f1(name string, f func(a Value) Value) { m.add(Op{Name: name, Arity: 1, F1: f}) }
func (m *module) f2(name string, f func(a, b Value) Value) {
	m.add(Op{Name: name, Arity: 2, F2: f})
}
func (m *module) f3(name string, f func(a, b, c Value) Value) {
	m.add(Op{Name: name, Arity: 3, F3: f})
}

// fn adds an operator whose parameters have these arities.
func (m *module) fn(name string, f func(ctx *Context, args []Arg) Value, params ...int) *Op {
	higher := false
	for _, p := range params {
		higher = higher || p > 0
	}
	op := Op{Name: name, Arity: len(params), FN: f}
	if higher {
		op.Params = params
	}
	return m.add(op)
}

// primitive marks the operators of the module with these names.
func (m *module) primitive(names string) {
	for _, name := range strings.Fields(names) {
		found := false
		for i := range m.ops {
			if m.ops[i].Name == name {
				m.ops[i].Primitive, found = true, true
			}
		}
		if !found {
			panic("stdlib: no operator " + name + " in " + m.name)
		}
	}
}

// effects marks the operators of the module with these names.
func (m *module) effects(names string) {
	for _, name := range strings.Fields(names) {
		for i := range m.ops {
			if m.ops[i].Name == name {
				m.ops[i].Effects = true
			}
		}
	}
}

func boolean(b bool) Value { return value.Bool(b) }

// apply1 and apply2 call an operator with one or two arguments through a reused
// buffer, so that a loop does not allocate on each call.
type apply1 struct {
	op  Operator
	buf [1]Value
}

func (a *apply1) call(x Value) Value {
	a.buf[0] = x
	return a.op(a.buf[:])
}

type apply2 struct {
	op  Operator
	buf [2]Value
}

func (a *apply2) call(x, y Value) Value {
	a.buf[0], a.buf[1] = x, y
	return a.op(a.buf[:])
}

// collector collects the elements of a result, up to MaxSetSize.
type collector struct {
	what  string
	elems []Value
}

func (c *collector) add(v Value) {
	if len(c.elems) >= value.MaxSetSize {
		value.Fail("%s has more than %d elements", c.what, value.MaxSetSize)
	}
	c.elems = append(c.elems, v)
}

// expect fails early if n elements are too many.
func (c *collector) expect(n *big.Int) {
	if n.Cmp(big.NewInt(value.MaxSetSize)) > 0 {
		value.Fail("%s has more than %d elements", c.what, value.MaxSetSize)
	}
}

func (c *collector) set() Value { return value.SetOf(c.elems) }

// wantSeq returns v if it is a sequence; otherwise it fails with an error that
// names the operator.
func wantSeq(v Value, op string) []Value {
	if n := v.Normal(); n.Kind() == value.KindTuple {
		return n.Elements()
	}
	value.Fail("%s: expected a sequence, found %s", op, value.Describe(v))
	return nil
}

func wantSet(v Value, op string) Value {
	if v.Kind() != value.KindSet {
		value.Fail("%s: expected a set, found %s", op, value.Describe(v))
	}
	return v
}

func wantInt(v Value, op string) int32 {
	if v.Kind() != value.KindInt {
		value.Fail("%s: expected an integer, found %s", op, value.Describe(v))
	}
	return v.AsInt()
}

func wantNat(v Value, op string) int32 {
	n := wantInt(v, op)
	if n < 0 {
		value.Fail("%s: expected a natural number, found %d", op, n)
	}
	return n
}

func wantString(v Value, op string) string {
	if v.Kind() != value.KindString {
		value.Fail("%s: expected a string, found %s", op, value.Describe(v))
	}
	return v.AsString()
}

func wantFn(v Value, op string) Value {
	switch v.Kind() {
	case value.KindTuple, value.KindRecord, value.KindFn:
		return v
	}
	value.Fail("%s: expected a function, found %s", op, value.Describe(v))
	return v
}

// wantBool returns the boolean that an operator argument returned, and fails on
// any other value.
func wantBool(v Value, op string) bool {
	if v.Kind() != value.KindBool {
		value.Fail("%s: its operator argument must give a boolean, found %s", op, value.Describe(v))
	}
	return v.IsTrue()
}
