// SPDX-License-Identifier: Apache-2.0

package logic

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
)

// Type is the type of a column or term.
type Type struct {
	Kind TypeKind
	// Elem is the element type of a SetType.
	Elem *Type
}

// TypeKind is a kind of type.
type TypeKind uint8

// The types. Numbers are unsigned 64-bit and wrap around at their end, except
// that Int is signed.
const (
	NoType TypeKind = iota // not known yet
	U64
	Int
	Bool
	Text
	Bytes
	Node // the identity of an instance, or of a client
	SetType
)

var typeNames = [...]string{"?", "u64", "int", "bool", "text", "bytes", "node", "set"}

func (t Type) String() string {
	if t.Kind == SetType && t.Elem != nil {
		return "set<" + t.Elem.String() + ">"
	}
	return typeNames[t.Kind]
}

// Equal reports whether two types are the same.
func (t Type) Equal(u Type) bool {
	if t.Kind != u.Kind {
		return false
	}
	return t.Kind != SetType || t.Elem == nil || u.Elem == nil || t.Elem.Equal(*u.Elem)
}

// TermKind is a kind of term.
type TermKind uint8

// The kinds.
const (
	Var TermKind = iota
	Wildcard
	Const
	Self // the node of this instance: of the original's, in a piece
	Call // of a function or operator
)

// Term is a value that a rule speaks of.
type Term struct {
	Kind TermKind
	// Name is a Var's, or the function of a Call: declared, one of Builtins, or an
	// operator as written.
	Name  string
	Value Value
	Args  []*Term
	Type  Type
}

// Value is a value of a type. The zero Value is the unsigned number 0.
type Value struct {
	Kind TypeKind
	// Num is a U64, the bits of an Int, or 0 or 1 for a Bool.
	Num uint64
	// Str is a Text, Bytes or Node.
	Str string
	// Set is sorted and has no duplicates.
	Set []Value
}

// Compare orders values: those of different types by kind, those of one type by
// value.
func (v Value) Compare(w Value) int {
	if v.Kind != w.Kind {
		return cmp.Compare(v.Kind, w.Kind)
	}
	switch v.Kind {
	case Int:
		return cmp.Compare(int64(v.Num), int64(w.Num))
	case Text, Bytes, Node:
		return cmp.Compare(v.Str, w.Str)
	case SetType:
		return slices.CompareFunc(v.Set, w.Set, Value.Compare)
	}
	return cmp.Compare(v.Num, w.Num)
}

// AppendKey appends bytes that are equal for equal values only, also as parts of
// a longer sequence.
func (v Value) AppendKey(b []byte) []byte {
	b = append(b, byte(v.Kind))
	switch v.Kind {
	case Text, Bytes, Node:
		b = strconv.AppendInt(b, int64(len(v.Str)), 10)
		b = append(b, ':')
		return append(b, v.Str...)
	case SetType:
		b = strconv.AppendInt(b, int64(len(v.Set)), 10)
		b = append(b, '{')
		for _, e := range v.Set {
			b = e.AppendKey(b)
		}
		return b
	}
	b = strconv.AppendUint(b, v.Num, 16)
	return append(b, ';')
}

// String returns the value in the syntax of the language.
func (v Value) String() string {
	switch v.Kind {
	case Int:
		return strconv.FormatInt(int64(v.Num), 10)
	case Bool:
		return strconv.FormatBool(v.Num != 0)
	case Text:
		return strconv.Quote(v.Str)
	case Bytes:
		return "b" + strconv.Quote(v.Str)
	case Node:
		return "node " + strconv.Quote(v.Str)
	case SetType:
		var b bytes.Buffer
		b.WriteByte('{')
		for i, e := range v.Set {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(e.String())
		}
		b.WriteByte('}')
		return b.String()
	}
	return strconv.FormatUint(v.Num, 10)
}
