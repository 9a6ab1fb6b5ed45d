// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// slot is a type to be inferred: that of a column, a variable or a term. Slots that must have
// the same type are merged (union-find).
type slot struct {
	parent *slot
	kind   logic.TypeKind
	elem   *slot // of a set
	// number reports that the type is U64 or Int; U64 is the default.
	number bool
	// span is the place that determined the type.
	span source.Span
}

func (s *slot) root() *slot {
	for s.parent != nil {
		if s.parent.parent != nil {
			s.parent = s.parent.parent
		}
		s = s.parent
	}
	return s
}

func known(t logic.Type, span source.Span) *slot {
	s := &slot{kind: t.Kind, span: span}
	if t.Elem != nil {
		s.elem = known(*t.Elem, span)
	}
	return s
}

// unify merges two slots, or returns false if their types differ.
func unify(a, b *slot) bool {
	a, b = a.root(), b.root()
	if a == b {
		return true
	}
	if a.kind == logic.NoType {
		a, b = b, a
	}
	// Now b is unknown, or both are known.
	if b.kind != logic.NoType {
		if a.kind != b.kind {
			return false
		}
		if a.elem != nil && b.elem != nil && !unify(a.elem, b.elem) {
			return false
		}
	}
	if b.number && a.kind != logic.NoType && a.kind != logic.U64 && a.kind != logic.Int {
		return false
	}
	a.number = a.number || b.number
	if a.elem == nil {
		a.elem = b.elem
	}
	b.parent = a
	return true
}

// typ returns the slot's type, or false if it is unknown.
func (s *slot) typ() (logic.Type, bool) {
	s = s.root()
	if s.kind == logic.NoType && s.number {
		return logic.Type{Kind: logic.U64}, true
	}
	t := logic.Type{Kind: s.kind}
	if s.kind == logic.SetType {
		if s.elem == nil {
			return t, false
		}
		e, ok := s.elem.typ()
		t.Elem = &e
		return t, ok
	}
	return t, s.kind != logic.NoType
}

func (s *slot) String() string {
	t, _ := s.typ()
	if t.Kind == logic.NoType {
		return "of unknown type"
	}
	return t.String()
}

// same requires that two slots have the same type; span is the place of the second one.
func (l *lowerer) same(want, got *slot, span source.Span) {
	if unify(want, got) {
		return
	}
	d := source.Diagnostic{Code: TypeMismatch, Span: span,
		Message: "this is " + got.String() + ", expected " + want.String()}
	if g, ok := got.typ(); ok && g.Kind == logic.Text && want.root().kind == logic.Node {
		d.Repair = "write the name of a node as node \"NAME\""
	}
	if w := want.root(); w.span.IsValid() && w.span != span {
		d.Related = append(d.Related, source.Note{Span: w.span, Message: want.String() + " because of this"})
	}
	l.diags.Add(d)
}

// signature returns the types of a builtin's arguments and of its result.
func signature(name string) (args []*slot, result *slot) {
	is := func(k logic.TypeKind) *slot { return &slot{kind: k} }
	switch name {
	case "+", "-", "*", "/", "%":
		n := &slot{number: true}
		return []*slot{n, n}, n
	case "hash":
		return []*slot{{}}, is(logic.U64)
	case "len":
		return []*slot{is(logic.Bytes)}, is(logic.U64)
	case "concat":
		return []*slot{is(logic.Bytes), is(logic.Bytes)}, is(logic.Bytes)
	case "text":
		return []*slot{{}}, is(logic.Text)
	case "int":
		return []*slot{is(logic.U64)}, is(logic.Int)
	case "u64":
		return []*slot{is(logic.Int)}, is(logic.U64)
	case "contains":
		e := &slot{}
		return []*slot{{kind: logic.SetType, elem: e}, e}, is(logic.Bool)
	}
	return []*slot{{kind: logic.SetType, elem: &slot{}}}, is(logic.U64) // size
}
