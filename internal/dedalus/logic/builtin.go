// SPDX-License-Identifier: Apache-2.0

package logic

import (
	"hash/fnv"
	"slices"
	"strconv"
)

// Builtin is a function or operator of the language.
type Builtin struct {
	Name string
	// Arity is the number of arguments.
	Arity int
	// Apply computes the function for arguments of the right types. It returns
	// false if the function has no value, as for a division by zero; the rule then
	// does not fire.
	Apply func(args []Value) (Value, bool)
	// Result is the type of the value, or NoType if it is the type of the
	// arguments.
	Result TypeKind
}

// FindBuiltin returns the builtin of that name, or nil. Operators have the name
// that they are written with.
func FindBuiltin(name string) *Builtin {
	for _, b := range builtins() {
		if b.Name == name {
			return &b
		}
	}
	return nil
}

// IsOperator reports whether a name is an operator, written between its operands.
func IsOperator(name string) bool { return len(name) == 1 && name[0] < 'A' && name[0] != '_' }

func builtins() []Builtin {
	return []Builtin{
		{"+", 2, arithmetic(func(a, b uint64) uint64 { return a + b }), NoType},
		{"-", 2, arithmetic(func(a, b uint64) uint64 { return a - b }), NoType},
		{"*", 2, arithmetic(func(a, b uint64) uint64 { return a * b }), NoType},
		{"/", 2, divide(func(a, b uint64) uint64 { return a / b }, func(a, b int64) int64 { return a / b }), NoType},
		{"%", 2, divide(func(a, b uint64) uint64 { return a % b }, func(a, b int64) int64 { return a % b }), NoType},
		{"hash", 1, func(a []Value) (Value, bool) { return Value{Kind: U64, Num: Hash(a[0])}, true }, U64},
		{"len", 1, func(a []Value) (Value, bool) { return Value{Kind: U64, Num: uint64(len(a[0].Str))}, true }, U64},
		{"concat", 2, func(a []Value) (Value, bool) { return Value{Kind: Bytes, Str: a[0].Str + a[1].Str}, true }, Bytes},
		{"text", 1, func(a []Value) (Value, bool) { return Value{Kind: Text, Str: plain(a[0])}, true }, Text},
		{"int", 1, func(a []Value) (Value, bool) { return Value{Kind: Int, Num: a[0].Num}, true }, Int},
		{"u64", 1, func(a []Value) (Value, bool) { return Value{Kind: U64, Num: a[0].Num}, true }, U64},
		{"contains", 2, func(a []Value) (Value, bool) {
			_, found := slices.BinarySearchFunc(a[0].Set, a[1], Value.Compare)
			return truth(found), true
		}, Bool},
		{"size", 1, func(a []Value) (Value, bool) { return Value{Kind: U64, Num: uint64(len(a[0].Set))}, true }, U64},
	}
}

// Hash is the hash function of the language: FNV-1a over the value's key. It is
// the same on every machine and in every version.
func Hash(v Value) uint64 {
	h := fnv.New64a()
	h.Write(v.AppendKey(nil))
	return h.Sum64()
}

func plain(v Value) string {
	switch v.Kind {
	case Text, Bytes, Node:
		return v.Str
	case Int:
		return strconv.FormatInt(int64(v.Num), 10)
	}
	return v.String()
}

func truth(b bool) Value {
	if b {
		return Value{Kind: Bool, Num: 1}
	}
	return Value{Kind: Bool}
}

func arithmetic(f func(a, b uint64) uint64) func([]Value) (Value, bool) {
	return func(a []Value) (Value, bool) { return Value{Kind: a[0].Kind, Num: f(a[0].Num, a[1].Num)}, true }
}

func divide(f func(a, b uint64) uint64, g func(a, b int64) int64) func([]Value) (Value, bool) {
	return func(a []Value) (Value, bool) {
		if a[1].Num == 0 {
			return Value{}, false
		}
		if a[0].Kind == Int {
			return Value{Kind: Int, Num: uint64(g(int64(a[0].Num), int64(a[1].Num)))}, true
		}
		return Value{Kind: U64, Num: f(a[0].Num, a[1].Num)}, true
	}
}

// Holds reports whether a comparison of two values of one type holds.
func (op CompareOp) Holds(a, b Value) bool {
	c := a.Compare(b)
	switch op {
	case Equal:
		return c == 0
	case NotEqual:
		return c != 0
	case Less:
		return c < 0
	case LessEqual:
		return c <= 0
	case Greater:
		return c > 0
	}
	return c >= 0
}

// Join merges two values of a lattice column.
func (l Lattice) Join(a, b Value) Value {
	switch l {
	case MaxLattice:
		if a.Compare(b) < 0 {
			return b
		}
	case MinLattice:
		if a.Compare(b) > 0 {
			return b
		}
	case OrLattice:
		if b.Num != 0 {
			return b
		}
	case SetLattice:
		s := append(slices.Clone(a.Set), b.Set...)
		slices.SortFunc(s, Value.Compare)
		a.Set = slices.CompactFunc(s, func(x, y Value) bool { return x.Compare(y) == 0 })
	}
	return a
}
