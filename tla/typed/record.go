// SPDX-License-Identifier: Apache-2.0

package typed

import "github.com/ashlar-dev/ashlar/tla/value"

// Fields checks that v is a record that has every required field and no field
// beyond those and the optional ones. Both lists are sorted.
func Fields(v value.Value, required, optional []string) {
	if v.Kind() != value.KindRecord {
		value.Fail("expected a record, found %s", value.Describe(v))
	}
	found := 0
	v.Fields(func(name string, _ value.Value) bool {
		switch {
		case contains(required, name):
			found++
		case !contains(optional, name):
			value.Fail("the record %s has a field %s that the specification gives to none of its kind", value.Brief(v), name)
		}
		return true
	})
	if found < len(required) {
		for _, name := range required {
			if _, ok := Field(v, name); !ok {
				value.Fail("the record %s has no field %s", value.Brief(v), name)
			}
		}
	}
}

func contains(list []string, name string) bool {
	for _, s := range list {
		if s == name {
			return true
		}
	}
	return false
}

// Field looks up a field of a record.
func Field(v value.Value, name string) (value.Value, bool) {
	return v.Lookup(value.String(name))
}

// NoField panics because the record v has no field of that name.
func NoField(v value.Value, name string) { v.Field(name) }

// Elements are the components of a tuple of n.
func Elements(v value.Value, n int) []value.Value {
	v = sequence(v)
	if v.Len() != n {
		value.Fail("expected a tuple of %d components, found %s", n, value.Brief(v))
	}
	return v.Elements()
}

// Lazy returns the value of f, computed at the first call.
func Lazy[T any](f func() T) func() T {
	var x T
	done := false
	return func() T {
		if !done {
			x = f()
			done = true
		}
		return x
	}
}

// NoCase panics because no arm of a CASE applies.
func NoCase() { value.Fail("no arm of the CASE is true, and it has no OTHER") }

// AllValues is \A x \in s : p, for a set without a Go type of its own.
func AllValues(s value.Value, p func(value.Value) bool) bool {
	for x := range membersOf(s) {
		if !p(x) {
			return false
		}
	}
	return true
}

// SomeValue is \E x \in s : p.
func SomeValue(s value.Value, p func(value.Value) bool) bool {
	for x := range membersOf(s) {
		if p(x) {
			return true
		}
	}
	return false
}

func membersOf(s value.Value) func(func(value.Value) bool) {
	if s.Kind() != value.KindSet {
		value.Fail("expected a set, found %s", value.Describe(s))
	}
	return s.All()
}

// ChooseValue is CHOOSE x \in s : p.
func ChooseValue(s value.Value, p func(value.Value) bool) value.Value {
	x, ok := value.Choose(s, p)
	if !ok {
		value.Fail("no element of the set satisfies the CHOOSE")
	}
	return x
}

// MapValues is {f(x) : x \in s}, for a set without a Go type of its own.
func MapValues[K Kind[U], U any](s value.Value, f func(value.Value) U) Set[U, K] {
	var out []U
	for x := range membersOf(s) {
		out = append(out, f(x))
	}
	return NewSet[K](out...)
}

// NotInDomain panics because the function of that name is applied outside its
// domain.
func NotInDomain(name string, x value.Value) {
	value.Fail("the function %s is applied to %s, which is not in its domain", name, value.Brief(x))
}

// Assert is TLC's Assert(ok, message).
func Assert(ok bool, message value.Value) bool {
	if !ok {
		value.Fail("Assert: %s", message)
	}
	return true
}

// FnValue is [x \in s |-> rule(x)], for a function without a Go type of its
// own. If s is finite, the function is stored as a table.
func FnValue(s value.Value, rule func(value.Value) value.Value) value.Value {
	f := value.LazyFn(s, rule)
	if value.IsFinite(s) {
		return f.Normal()
	}
	return f
}

// UpdateValue is [x EXCEPT ![path] = f(@)], for a value without a Go type of
// its own. If x has nothing at path, the result is x itself.
func UpdateValue(x value.Value, f func(value.Value) value.Value, path ...value.Value) value.Value {
	if len(path) == 0 {
		return f(x)
	}
	old, ok := x.Lookup(path[0])
	if !ok {
		return x
	}
	return x.ExceptIndex(path[0], UpdateValue(old, f, path[1:]...))
}
