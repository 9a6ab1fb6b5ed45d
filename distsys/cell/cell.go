// SPDX-License-Identifier: Apache-2.0

// Package cell stores the value of a variable in the Go types in which a
// program uses it, so that the sections of a compiled system read and write it
// without conversion.
//
// In: an initial value; reads and writes of the whole value or of a part, in
// any Go type that represents a TLA+ value; Commit or Abort at the end of a
// transaction. Out: the current value, converted only when the caller reads it
// in a Go type in which the tree does not hold it yet. Promised: reads and
// writes have the same results and errors as on a value.Value; Abort restores
// the value from before the first write since the last Commit or Abort.
//
// A tree is a cell that holds a value, with further cells for those parts that
// the program has accessed individually. After the first access to a part, each
// later read or write of it costs one index lookup, however large the rest of
// the value is. If the program uses the value as a whole too, in a Go type that
// has parts (indexed), a part is looked up and changed there.
package cell

import (
	"slices"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// formsMax is the number of Go types in which one cell stores its value at a
// time. One is enough if all users of a variable agree on its type; the others
// serve users that do not.
const formsMax = 3

// form is a value in one Go type: a *held[T].
type form interface {
	value() value.Value
	forget()
	place() any // a *T
	// copy returns a form of the same type and value, in the spare one if it is
	// of that type.
	copy(spare form) form
}

type held[T any] struct {
	x  T
	to func(T) value.Value
}

func (h *held[T]) value() value.Value { return h.to(h.x) }

// forget releases the memory of the held value.
func (h *held[T]) forget() {
	var zero T
	h.x = zero
}

func (h *held[T]) place() any { return &h.x }

func (h *held[T]) copy(spare form) form {
	c, ok := spare.(*held[T])
	if !ok {
		c = &held[T]{}
	}
	c.x, c.to = h.x, h.to
	return c
}

// indexed is a Go type whose parts have the type T, such as a typed.Fn. Both
// methods report whether there is a part at that index.
type indexed[T any] interface {
	Part(idx value.Value) (T, bool)
	SetPart(idx value.Value, x T) bool
}

// indexedForm returns a form of c whose parts have the type T, or nil.
func indexedForm[T any](c *cell) (form, indexed[T]) {
	for _, f := range c.forms {
		if f == nil {
			break
		}
		if p, ok := f.place().(indexed[T]); ok {
			return f, p
		}
	}
	return nil, nil
}

func same(v value.Value) value.Value { return v }

// content is a value: in one or more forms, in parts, or in both.
type content struct {
	forms [formsMax]form // the first nil ends the list
	parts *parts
}

// parts is a function split into one cell for each element of its domain.
type parts struct {
	fn    value.Value // as it was when it was taken apart
	cells []*cell     // by place; nil where fn has the value still
}

type cell struct {
	content
	saved bool // in the Tree's list of what Abort restores
	spare form // for the next write
}

// Tree holds the value of one variable. Only one goroutine may use it at a
// time, for reads too.
type Tree struct {
	root cell
	undo []saved
}

type saved struct {
	at  *cell
	was content
}

// New returns a tree that holds v.
func New(v value.Value) *Tree {
	t := &Tree{}
	t.root.forms[0] = &held[value.Value]{v, same}
	return t
}

// Get reads the part at idx as a T; an empty idx means the whole value. If from
// panics, the tree is unchanged.
func Get[T any](t *Tree, idx []value.Value, to func(T) value.Value, from func(value.Value) T) T {
	c := &t.root
	for i, x := range idx {
		if c.parts == nil && i == len(idx)-1 {
			if _, p := indexedForm[T](c); p != nil {
				if part, ok := p.Part(x); ok {
					return part
				}
			}
		}
		next := c.part(x)
		if next == nil {
			// The value is an infinite function or no function, or x is outside
			// of its domain. Apply gives the result or the error.
			v := c.value()
			for _, x := range idx[i:] {
				v = v.Apply(x)
			}
			return from(v)
		}
		c = next
	}
	free := formsMax - 1
	for i, f := range c.forms {
		if f == nil {
			free = i
			break
		}
		if h, ok := f.(*held[T]); ok {
			return h.x
		}
	}
	x := from(c.value())
	c.forms[free] = &held[T]{x, to}
	return x
}

// Put writes x to the part at idx. As in EXCEPT, it has no effect where the
// tree has nothing at idx.
func Put[T any](t *Tree, idx []value.Value, x T, to func(T) value.Value) {
	path := make([]*cell, 0, 4) // stays on the stack
	c := &t.root
	for i, k := range idx {
		path = append(path, c)
		if i == len(idx)-1 && putPart(t, c, k, x) {
			for _, above := range path[:i] {
				t.change(above)
			}
			return
		}
		next := c.part(k)
		if next == nil {
			v := c.value()
			if changed := v.Except(idx[i:], to(x)); !value.Same(v, changed) {
				panic("cell: a part exists that the lookup did not find")
			}
			return
		}
		c = next
	}
	for _, above := range path {
		t.change(above)
	}
	mine := c.saved
	t.save(c)
	if h, ok := c.forms[0].(*held[T]); ok && mine {
		h.x, h.to = x, to
		c.content = content{forms: [formsMax]form{h}}
		return
	}
	h, ok := c.spare.(*held[T])
	if !ok {
		h = &held[T]{}
	}
	h.x, h.to, c.spare = x, to, nil
	c.content = content{forms: [formsMax]form{h}}
}

// putPart changes a part of a value that c holds in a Go type of its own, and
// reports whether it has done so. From then on c holds the value as a whole: who
// uses it so need not put it together again after each change of a part.
func putPart[T any](t *Tree, c *cell, k value.Value, x T) bool {
	f, p := indexedForm[T](c)
	if p == nil {
		return false
	}
	if !c.saved { // Abort needs what f holds now
		f = f.copy(c.spare)
		c.spare = f
		p = f.place().(indexed[T])
	}
	if !p.SetPart(k, x) {
		return false
	}
	if !c.saved {
		t.save(c)
		c.spare = nil
	}
	c.content = content{forms: [formsMax]form{f}}
	return true
}

// Read and Write are Get and Put of a value.Value.
func (t *Tree) Read(idx []value.Value) value.Value { return Get(t, idx, same, same) }

// Write is Put of a value.Value.
func (t *Tree) Write(idx []value.Value, v value.Value) { Put(t, idx, v, same) }

// Commit keeps what was written.
func (t *Tree) Commit() {
	for i := range t.undo {
		u := &t.undo[i]
		u.at.reuse(u.was.forms[0])
	}
	clear(t.undo)
	t.undo = t.undo[:0]
}

// Abort restores what the last Commit or Abort left.
func (t *Tree) Abort() {
	for i := range t.undo {
		u := &t.undo[i]
		now := u.at.forms[0]
		u.at.content = u.was
		u.at.reuse(now)
	}
	clear(t.undo)
	t.undo = t.undo[:0]
}

// Committed is the value as the last Commit left it.
func (t *Tree) Committed() value.Value {
	t.swap()
	defer t.swap()
	return t.root.value()
}

func (t *Tree) swap() {
	for i := range t.undo {
		u := &t.undo[i]
		u.at.content, u.was = u.was, u.at.content
	}
}

func (t *Tree) save(c *cell) {
	if !c.saved {
		c.saved = true
		t.undo = append(t.undo, saved{c, c.content})
	}
}

// change prepares a cell for a change of one of its parts.
func (t *Tree) change(c *cell) {
	t.save(c)
	c.forms = [formsMax]form{}
}

// reuse clears a form that is no longer needed and keeps it for the next write.
func (c *cell) reuse(f form) {
	c.saved = false
	if f != nil {
		f.forget()
		c.spare = f
	}
}

func (c *cell) value() value.Value {
	if f := c.forms[0]; f != nil {
		return f.value()
	}
	vals := slices.Clone(c.parts.fn.Values())
	for i, part := range c.parts.cells {
		if part != nil {
			vals[i] = part.value()
		}
	}
	return value.FnOf(c.parts.fn.Domain(), vals)
}

// part returns the cell for the argument x, or nil if there is none.
func (c *cell) part(x value.Value) *cell {
	if c.parts == nil {
		if c.parts = split(c.value()); c.parts == nil {
			return nil
		}
	}
	p := c.parts
	i, ok := p.fn.Place(x)
	if !ok {
		return nil
	}
	if p.cells[i] == nil {
		p.cells[i] = &cell{}
		p.cells[i].forms[0] = &held[value.Value]{p.fn.Values()[i], same}
	}
	return p.cells[i]
}

// split splits a function into parts. It returns nil if v is not a finite
// function.
func split(v value.Value) *parts {
	if v.Kind() < value.KindTuple || v.Kind() > value.KindFn {
		return nil
	}
	if value.Catch(func() { v = v.Normal() }) != nil {
		return nil // it cannot be computed whole; the part that is asked for may be
	}
	return &parts{v, make([]*cell, len(v.Values()))}
}
