// SPDX-License-Identifier: Apache-2.0

// Package shape determines what values every variable, constant, operator and
// expression of a specification holds: numbers, strings, sets of records,
// functions from numbers to sequences.
//
// In: a resolved specification and its algorithm. Out: a Shape for everything
// that has a value. For what has no shape of its own, the package gives the
// reason and the positions, for messages ("holds a number at L12 and a string at
// L20").
//
// The method is unification in one pass over the program, as in ML, with the
// additions that TLA+ needs. A tuple or a function on 1..n may turn out to be a
// sequence. A record may lack fields that other records of its kind have. Any
// place may also hold a model value. An operator is inferred separately at each
// call, so that it may be used at many shapes. Assignments and bindings unify at
// once. Comparisons (=, \in, application) unify at the end, and only if that
// causes no conflict.
//
// Promises: a Shape covers every value that the specification lets flow to the
// place. Whatever is uncertain is Any. A Shape says nothing about values from
// outside (constants, resources): the code that reads them checks them.
//
// Method: Damas-Milner unification, with optional fields of record shapes instead
// of row variables, because a closed program needs no open rows.
package shape

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Kind is the constructor of a Shape.
type Kind uint8

// The kinds. None has no values except model values; Any has all values.
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
	// Sum has values of several of the kinds above, with at most one shape of
	// each.
	Sum
	Any
)

var kindNames = [...]string{
	None: "nothing", Bool: "a boolean", Int: "a number", Str: "a string", Set: "a set", Seq: "a sequence",
	Tuple: "a tuple", Record: "a record", Fn: "a function",
	Sum: "values of several kinds", Any: "anything",
}

// Label is the name of the kind in one word.
func (k Kind) Label() string {
	return [...]string{None: "Model", Bool: "Bool", Int: "Int", Str: "String", Set: "Set", Seq: "Seq", Tuple: "Tuple", Record: "Record", Fn: "Fn",
		Sum: "Either", Any: "Value"}[k]
}

// String is the noun of the kind for messages: "a number".
func (k Kind) String() string { return kindNames[k] }

// Shape describes the values that a place may hold. Shapes of one Result are
// interned: equal shapes are the same pointer. They are immutable.
type Shape struct {
	Kind Kind
	// Model reports that the place may also hold model values. None with Model
	// is a place that holds only model values.
	Model bool
	// Elem is the shape of the elements of a Set or Seq and of the values of a
	// Fn.
	Elem *Shape
	// Key is the shape of the arguments of a Fn.
	Key *Shape
	// Elems are the components of a Tuple, one or more.
	Elems []*Shape
	// Fields are the fields of a Record, by name.
	Fields []Field
	// Alts are the shapes of a Sum, by kind.
	Alts []*Shape
	// Hint is a name that the specification uses for values of this shape; it
	// is used to name types. Equality ignores it.
	Hint string

	rank  int8 // of the hint
	id    int
	mixed int8 // Mixed, once known: 1 no, 2 yes
	// weight is the number of plain values that a Go value of the shape stores
	// inline.
	weight int
}

// WeightMax is the weight of the largest tuple or record, nested ones included,
// that has a shape of its own. Values stored inline are copied on every
// assignment.
const WeightMax = 500

// Field is a field of a record shape. Records of the shape may lack an Optional
// field.
type Field struct {
	Name     string
	Shape    *Shape
	Optional bool
}

// HasOptional reports whether records of the shape may lack fields.
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

// Mixed reports whether a place of the shape may hold values of several kinds, so
// that comparing them may be an error.
func (s *Shape) Mixed() bool {
	if s == nil {
		return false
	}
	if s.mixed == 0 {
		s.mixed = 1
		if s.holdsMixed() {
			s.mixed = 2
		}
	}
	return s.mixed == 2
}

func (s *Shape) holdsMixed() bool {
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

// textMax limits the length of a shape's text. Shapes share their parts, so a
// small program can have a shape whose text is exponentially long.
const textMax = 400

// String writes the shape in a notation similar to TLA+'s sets: "Int",
// "Seq([from: Int, type: STRING])", "[Int -> Set(MODEL)]", "Int | MODEL". An
// optional field has a question mark. A text that is too long ends in "...".
func (s *Shape) String() string {
	var b strings.Builder
	s.writeTo(&b)
	if b.Len() > textMax {
		return b.String()[:textMax] + "..."
	}
	return b.String()
}

// ID differs between shapes of one Result and is the same in every run.
func (s *Shape) ID() int { return s.id }

func (s *Shape) writeTo(b *strings.Builder) {
	if b.Len() > textMax {
		return
	}
	list := func(open string, parts []*Shape, sep, end string) {
		b.WriteString(open)
		for i, p := range parts {
			if i > 0 {
				b.WriteString(sep)
			}
			p.writeTo(b)
		}
		b.WriteString(end)
	}
	switch s.Kind {
	case None:
		if s.Model {
			b.WriteString("MODEL")
		} else {
			b.WriteString("NONE")
		}
		return
	case Bool:
		b.WriteString("BOOLEAN")
	case Int:
		b.WriteString("Int")
	case Str:
		b.WriteString("STRING")
	case Any:
		b.WriteString("ANY")
		return
	case Set:
		list("Set(", []*Shape{s.Elem}, "", ")")
	case Seq:
		list("Seq(", []*Shape{s.Elem}, "", ")")
	case Fn:
		list("[", []*Shape{s.Key, s.Elem}, " -> ", "]")
	case Tuple:
		list("<<", s.Elems, ", ", ">>")
	case Sum:
		list("", s.Alts, " | ", "")
	case Record:
		b.WriteByte('[')
		for i, f := range s.Fields {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(f.Name)
			if f.Optional {
				b.WriteByte('?')
			}
			b.WriteString(": ")
			f.Shape.writeTo(b)
		}
		b.WriteByte(']')
	default:
		panic("shape: kind " + strconv.Itoa(int(s.Kind)))
	}
	if s.Model {
		b.WriteString(" | MODEL")
	}
}

// key is a string that is equal for equal shapes with interned parts.
func (s *Shape) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %t", s.Kind, s.Model)
	part := func(p *Shape) {
		if p != nil {
			fmt.Fprintf(&b, " %d", p.id)
		}
	}
	part(s.Key)
	part(s.Elem)
	for _, e := range s.Elems {
		part(e)
	}
	for _, e := range s.Alts {
		part(e)
	}
	for _, f := range s.Fields {
		fmt.Fprintf(&b, " %s %t", f.Name, f.Optional)
		part(f.Shape)
	}
	return b.String()
}

// table interns shapes.
type table map[string]*Shape

func (t table) intern(s Shape) *Shape {
	key := s.key()
	if old, ok := t[key]; ok {
		if s.rank > old.rank {
			old.Hint, old.rank = s.Hint, s.rank
		}
		return old
	}
	s.id = len(t) + 1
	s.weight = 1
	for _, e := range s.Elems {
		s.weight += e.weight
	}
	for _, e := range s.Alts {
		s.weight += e.weight
	}
	for _, f := range s.Fields {
		s.weight += f.Shape.weight
	}
	t[key] = &s
	return &s
}

// Domain is what is known of the values at a place besides their shape: the
// range of numbers and the spellings of strings and model values. Its tree
// follows that of the Shape.
type Domain struct {
	// Lo and Hi bound the numbers if Ranged is set.
	Ranged bool
	Lo, Hi int64
	// Names are the strings and model values that occur, sorted, if Listed is
	// set.
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
