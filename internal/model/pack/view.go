// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// A view identifies states by a value. That value is packed like a state, into a
// layout of its own with one variable, whose type is guessed from the values in
// the sample. A value that does not fit makes the code stop, and is then encoded
// in another form. So two states have equal names exactly if their views are
// equal, whichever worker computed them.

// view has the parts that a view stores in the fields of its layout.
type view struct {
	layout *Layout
	parts  []viewPart
}

// viewPart stores a, minus low, in a field.
type viewPart struct {
	f   field
	a   *node
	low int64
}

// view lowers a view. If it cannot, it returns nil and the reason.
func (l *lowerer) view(e core.Expr, values []value.Value) (out *view) {
	g := &guesser{us: l.us}
	t := g.of(values, false, 0)
	if t == nil || !fits(t, values) {
		l.why["the values of the view are of no type"]++
		return nil
	}
	lay := newLayout([]*typ{t})
	if lay == nil {
		l.why["the values of the view are too large"]++
		return nil
	}
	l.b.full, l.b.limit = false, l.b.nodes+predNodesMax
	l.calls, l.spread, l.spreadMax = 0, 1, spreadMax
	err := value.Catch(func() {
		out = &view{layout: lay}
		l.put(out, lay.vars[0], l.expr(e, ctx{}, t))
	})
	switch {
	case l.dead:
		giveUp("%v", ErrWork)
	case err != nil:
		l.why["the view: "+err.Error()]++
		return nil
	}
	return out
}

// put records that a view stores a value at a location.
func (l *lowerer) put(out *view, at *loc, v *val) {
	v = l.coerce(v, at.t)
	part := func(f field, n *node, low int64) {
		out.parts = append(out.parts, viewPart{f, n, low})
	}
	switch at.t.kind {
	case kInt:
		part(at.f, v.s, at.t.lo)
	case kSet:
		for j, f := range at.parts {
			part(f, v.ws[j], 0)
		}
	case kFn, kSeq:
		if at.t.kind == kSeq {
			part(at.f, v.s, 0)
		}
		for j, e := range at.elems {
			l.put(out, e, v.at(j))
		}
	default:
		part(at.f, v.s, 0)
	}
}

// viewCode is a view as closures.
type viewCode struct {
	layout *Layout
	parts  []viewPart
	nums   []num
}

func (c *compiler) view(v *view) *viewCode {
	if v == nil {
		return nil
	}
	out := &viewCode{layout: v.layout, parts: v.parts}
	for _, p := range v.parts {
		out.nums = append(out.nums, c.num(p.a))
	}
	return out
}

// ViewLayout returns the layout of the view's value in the words of a name, as
// a layout with one variable. It returns nil if the model has no view, or one
// without code.
func (c *Code) ViewLayout() *Layout {
	if c.view == nil {
		return nil
	}
	return c.view.layout
}

// View stores the view's value in state cur in name, which must have the length
// of ViewLayout. It returns false if the code stopped; then name is undefined.
// It may be called while the machine is emitting.
func (m *Machine) View(cur, name []uint64) (ok bool) {
	c, s, now := m.cur, m.stopped, m.now
	m.cur, m.stopped = cur, false
	m.fresh()
	clear(name)
	name[0] = 1
	v := m.code.view
	for i, p := range v.parts {
		name[p.f.word] |= uint64(v.nums[i](m)-p.low) & p.f.mask() << p.f.shift
	}
	ok = !m.stopped
	m.cur, m.stopped, m.now = c, s, now
	return ok
}
