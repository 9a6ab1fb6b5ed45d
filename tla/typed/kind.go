// SPDX-License-Identifier: Apache-2.0

// Package typed holds TLA+ values as plain Go values, for compiled systems:
// int32, bool, string, structs for records, and sequences, sets and functions
// that are slices while they are short and trees of shared nodes when they are
// long.
//
// In and out: Go values of types that were found at compile time, and
// value.Value at the borders. Promises: equality, order, CHOOSE, overflow and
// errors are those of tla/value, with two exceptions: sets and functions have
// at most value.MaxSetSize elements here, however they were made, and sequences
// may be longer than value.LengthMax. Everything is immutable, so that slices
// may share their arrays. An operation without an answer panics with a
// *value.Error, as in tla/value.
//
// What a type needs in addition to its Go operations (equality, order,
// conversion) is in its Kind: a type without data whose methods are known at
// compile time.
package typed

import (
	"cmp"
	"strings"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// Kind is what the package must know about a Go type that holds TLA+ values.
// Its implementations are empty structs.
type Kind[T any] interface {
	// Equal is TLA+'s equality. Compare is the order of values; it is negative
	// if a comes first.
	Equal(a, b T) bool
	Compare(a, b T) int
	// Value converts a to the value that it represents.
	Value(a T) value.Value
	// Of is the inverse of Value. It panics with a *value.Error if the type
	// cannot represent the value.
	Of(v value.Value) T
}

// The kinds of the plain types.
type (
	Bools   struct{}
	Ints    struct{}
	Strings struct{}
	Models  struct{}
	// Values is the kind of places without a Go type of their own, which hold a
	// value.Value.
	Values struct{}
)

var (
	_ Kind[bool]        = Bools{}
	_ Kind[int32]       = Ints{}
	_ Kind[string]      = Strings{}
	_ Kind[Model]       = Models{}
	_ Kind[value.Value] = Values{}
)

func (Bools) Equal(a, b bool) bool { return a == b }
func (Bools) Compare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
func (Bools) Value(a bool) value.Value { return value.Bool(a) }
func (Bools) Of(v value.Value) bool    { return v.AsBool() }

func (Ints) Equal(a, b int32) bool     { return a == b }
func (Ints) Compare(a, b int32) int    { return cmp.Compare(a, b) }
func (Ints) Value(a int32) value.Value { return value.Int(a) }
func (Ints) Of(v value.Value) int32    { return v.AsInt() }

func (Strings) Equal(a, b string) bool     { return a == b }
func (Strings) Compare(a, b string) int    { return strings.Compare(a, b) }
func (Strings) Value(a string) value.Value { return value.String(a) }
func (Strings) Of(v value.Value) string    { return v.AsString() }

func (Values) Equal(a, b value.Value) bool     { return value.Equal(a, b) }
func (Values) Compare(a, b value.Value) int    { return value.Compare(a, b) }
func (Values) Value(a value.Value) value.Value { return a }
func (Values) Of(v value.Value) value.Value    { return v }

// Model is a model value, represented by its name.
type Model string

// class is the type of a typed model value ("A" of A_x), or 0.
func (m Model) class() byte {
	if len(m) > 2 && m[1] == '_' {
		return m[0]
	}
	return 0
}

func (Models) Equal(a, b Model) bool {
	if a == b {
		return true
	}
	if a.class() != b.class() && a.class() != 0 && b.class() != 0 {
		return value.Equal(value.Model(string(a)), value.Model(string(b)))
	}
	return false
}

func (k Models) Compare(a, b Model) int {
	if k.Equal(a, b) {
		return 0
	}
	return strings.Compare(string(a), string(b))
}
func (Models) Value(a Model) value.Value { return value.Model(string(a)) }
func (Models) Of(v value.Value) Model    { return Model(v.AsModel()) }

// Opt is a T or a model value. It is used for places that hold, say, a number
// or the model value None.
type Opt[T any] struct {
	Model Model // empty: Val counts
	Val   T
}

// Just is the Opt that holds x.
func Just[T any](x T) Opt[T] { return Opt[T]{Val: x} }

// Only is the Opt that holds a model value.
func Only[T any](m Model) Opt[T] { return Opt[T]{Model: m} }

// Opts is the kind of Opt[T].
type Opts[T any, K Kind[T]] struct{}

// Get converts o to a T; a model value in o must be one that T can represent. K
// is the first type parameter so that a caller can write Get[typed.Ints](o).
func Get[K Kind[T], T any](o Opt[T]) T {
	var k K
	if o.Model != "" {
		return k.Of(value.Model(string(o.Model)))
	}
	return o.Val
}

// ModelOf is the model value that o is.
func ModelOf[K Kind[T], T any](o Opt[T]) Model {
	if o.Model == "" {
		var k K
		return Models{}.Of(k.Value(o.Val))
	}
	return o.Model
}

func (Opts[T, K]) Equal(a, b Opt[T]) bool {
	var k K
	switch {
	case a.Model == "" && b.Model == "":
		return k.Equal(a.Val, b.Val)
	case a.Model != "" && b.Model != "":
		return Models{}.Equal(a.Model, b.Model)
	}
	return value.Equal(Opts[T, K]{}.Value(a), Opts[T, K]{}.Value(b))
}

func (Opts[T, K]) Compare(a, b Opt[T]) int {
	var k K
	switch {
	case a.Model == "" && b.Model == "":
		return k.Compare(a.Val, b.Val)
	case a.Model != "" && b.Model != "":
		return Models{}.Compare(a.Model, b.Model)
	}
	return value.Compare(Opts[T, K]{}.Value(a), Opts[T, K]{}.Value(b))
}

func (Opts[T, K]) Value(a Opt[T]) value.Value {
	if a.Model != "" {
		return value.Model(string(a.Model))
	}
	var k K
	return k.Value(a.Val)
}

func (Opts[T, K]) Of(v value.Value) Opt[T] {
	if v.Kind() == value.KindModel {
		return Opt[T]{Model: Model(v.AsModel())}
	}
	var k K
	return Opt[T]{Val: k.Of(v)}
}
