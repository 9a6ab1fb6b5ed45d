// Package shape finds out what every variable, constant, operator and
// expression of a specification holds: numbers, strings, sets of records,
// functions from numbers to sequences.
//
// In: a resolved specification and its algorithm. Out: a Shape for everything
// that has a value, and for what has none the reason and the places, so that
// a person can be told ("holds a number at L12 and a string at L20").
//
// The method is unification in one pass over the program, as in ML, with what
// TLA+ needs beside it: a tuple may turn out to be a sequence, a function on
// 1..n too, a record may lack fields that others of its kind have, and
// everything may be a model value besides. An operator is inferred anew at
// each call, so that it may be used at many shapes. What assigns or binds
// unifies; what only compares (=, \in, application) unifies at the end and
// only where that meets no conflict.
//
// Promises: a Shape covers every value that the specification lets flow to the
// place. Whatever is not certain is Any. A Shape says nothing of values that
// come from outside (constants, resources): who reads them checks them.
//
// Method: Damas-Milner unification; record shapes with optional fields in
// place of rows, since a closed program needs no open ones.
package shape

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Kind is the constructor of a Shape.
type Kind uint8

// The kinds. None holds no value but model values; Any holds anything.
const (
	None Kind = iota
	Bool
	Int
	Str
	Set
	Seq
	Tuple
	Record
	Fn
	// Sum holds values of several of the kinds above, at most one shape of
	// each.
	Sum
	Any
)

var kindNames = [...]string{
	None: "nothing", Bool: "a boolean", Int: "a number", Str: "a string", Set: "a set", Seq: "a sequence",
	Tuple: "a tuple", Record: "a record", Fn: "a function",
	Sum: "values of several kinds", Any: "anything",
}

// String is the noun of the kind for messages: "a number".
func (k Kind) String() string { return kindNames[k] }

// Shape says what a place may hold. Shapes of one Result are interned: equal
// shapes are the same pointer. They are immutable.
type Shape struct {
	Kind Kind
	// Model says that model values may stand here too. None with Model is a
	// place that holds model values only.
	Model bool
	// Elem is what a Set or Seq holds, and what a Fn maps to.
	Elem *Shape
	// Key is what a Fn maps from.
	Key *Shape
	// Elems are the components of a Tuple, one or more.
	Elems []*Shape
	// Fields are the fields of a Record, by name.
	Fields []Field
	// Alts are the shapes of a Sum, by kind.
	Alts []*Shape
	// Hint is a name that the specification gives to what has this shape, for
	// naming types. It takes no part in equality.
	Hint string

	rank int8 // of the hint
	key  string
}

// Field is a field of a record shape. Not every record of the shape has an
// Optional field.
type Field struct {
	Name     string
	Shape    *Shape
	Optional bool
}

// HasOptional says whether records of the shape may lack fields.
func (s *Shape) HasOptional() bool {
	for _, f := range s.Fields {
		if f.Optional {
			return true
		}
	}
	return false
}

// Field returns the field of that name, or nil.
func (s *Shape) Field(name string) *Field {
	i := sort.Search(len(s.Fields), func(i int) bool { return s.Fields[i].Name >= name })
	if i < len(s.Fields) && s.Fields[i].Name == name {
		return &s.Fields[i]
	}
	return nil
}

// Mixed says whether values of several kinds can meet in a place of the shape,
// so that comparing them may be an error.
func (s *Shape) Mixed() bool {
	if s == nil {
		return false
	}
	if s.Kind >= Sum || s.Elem.Mixed() || s.Key.Mixed() {
		return true
	}
	for _, e := range s.Elems {
		if e.Mixed() {
			return true
		}
	}
	for _, f := range s.Fields {
		if f.Shape.Mixed() {
			return true
		}
	}
	return false
}

// String writes the shape in a notation close to TLA+'s sets: "Int",
// "Seq([from: Int, type: STRING])", "[Int -> Set(MODEL)]", "Int | MODEL". An
// optional field carries a question mark.
func (s *Shape) String() string { return s.key }

// describe computes the text that is the identity of a shape.
func (s *Shape) describe() string {
	var t string
	switch s.Kind {
	case None:
		if s.Model {
			return "MODEL"
		}
		return "NONE"
	case Bool:
		t = "BOOLEAN"
	case Int:
		t = "Int"
	case Str:
		t = "STRING"
	case Any:
		return "ANY"
	case Set:
		t = "Set(" + s.Elem.key + ")"
	case Seq:
		t = "Seq(" + s.Elem.key + ")"
	case Fn:
		t = "[" + s.Key.key + " -> " + s.Elem.key + "]"
	case Tuple:
		parts := make([]string, len(s.Elems))
		for i, e := range s.Elems {
			parts[i] = e.key
		}
		t = "<<" + strings.Join(parts, ", ") + ">>"
	case Sum:
		parts := make([]string, len(s.Alts))
		for i, a := range s.Alts {
			parts[i] = a.key
		}
		t = strings.Join(parts, " | ")
	case Record:
		parts := make([]string, len(s.Fields))
		for i, f := range s.Fields {
			q := ""
			if f.Optional {
				q = "?"
			}
			parts[i] = f.Name + q + ": " + f.Shape.key
		}
		t = "[" + strings.Join(parts, ", ") + "]"
	default:
		panic("shape: kind " + strconv.Itoa(int(s.Kind)))
	}
	if s.Model {
		t += " | MODEL"
	}
	return t
}

// table interns shapes.
type table map[string]*Shape

func (t table) intern(s Shape) *Shape {
	s.key = s.describe()
	if old, ok := t[s.key]; ok {
		if s.rank > old.rank {
			old.Hint, old.rank = s.Hint, s.rank
		}
		return old
	}
	t[s.key] = &s
	return &s
}

// Domain is what is known of the values behind a shape beyond the shape: the
// range of numbers, the spellings of strings and model values. Its tree
// follows that of the Shape.
type Domain struct {
	// Lo and Hi bound the numbers where Ranged.
	Ranged bool
	Lo, Hi int64
	// Names are the strings and model values that occur, sorted, where Listed.
	Listed bool
	Names  []string

	Key, Elem *Domain
	Elems     []*Domain
	Fields    []*Domain // in the order of the shape's fields
}

// String writes the domain's own part: "0..3", "{a, b}" or "".
func (d *Domain) String() string {
	switch {
	case d == nil:
		return ""
	case d.Ranged:
		return fmt.Sprintf("%d..%d", d.Lo, d.Hi)
	case d.Listed:
		return "{" + strings.Join(d.Names, ", ") + "}"
	}
	return ""
}
