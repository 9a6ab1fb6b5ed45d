// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/resolve"
)

// context makes the definitions of one INSTANCE. The definitions of the
// instantiated module mention its constants and variables. A copy of a
// definition has those replaced, and calls the copies of the definitions that
// the original called. A definition that reaches nothing that is replaced is
// shared, not copied.
type context struct {
	p         *Program
	step      []core.Step // the instance's name and parameters; empty when unnamed
	params    []*core.Local
	constants map[*core.Constant]core.Expr
	variables map[*core.Variable]core.Expr
	order     []*core.Variable // those of variables, as the module has them
	copies    map[*core.Def]*core.Def
	// depends records for each definition whether it reaches something
	// replaced.
	depends map[*core.Def]bool
	// let receives the copies if the instance is in a LET.
	let *core.Let
	// possible is the context for expressions below ENABLED. next, in such a
	// context, is the context for expressions that are primed there. separate is
	// the context in which all variables have shadows, and all reports that this
	// is that context. See enabled.go.
	possible, next, separate *context
	all                      bool
}

// origin says which definition an instance's definition is a copy of.
type origin struct {
	context *context
	def     *core.Def
}

// context returns the context of an instance. The context of an instance in a
// LET is made when the LET is lowered.
func (p *Program) context(inst *resolve.Instance) *context {
	c := p.contexts[inst]
	if c == nil {
		c = p.newContext(inst, nil)
	}
	return c
}

func (p *Program) newContext(inst *resolve.Instance, let *core.Let) *context {
	// A LET cannot be extended later by definitions that are apart, so in a LET
	// all variables have shadows from the start.
	c := &context{p: p, let: let, all: let != nil,
		constants: map[*core.Constant]core.Expr{},
		variables: map[*core.Variable]core.Expr{},
		copies:    map[*core.Def]*core.Def{},
		depends:   map[*core.Def]bool{},
	}
	p.contexts[inst] = c
	c.params = p.bindAll(inst.Params)
	if name := inst.Node.Name; !name.IsZero() {
		c.step = []core.Step{{Name: name.Text, Params: len(c.params)}}
	}
	r := p.reader()
	for _, s := range inst.Subs {
		var value core.Expr
		switch {
		case s.Value == nil:
			value = r.standsFor(s.Symbol, s.Param.Arity(), inst.Node.Module.Span())
		case s.Param.Arity() > 0:
			value = r.operator(s.Value, s.Param.Arity())
		default:
			value = r.expr(s.Value)
		}
		if s.Param.Kind == resolve.Variable {
			v := p.variable(s.Param)
			c.variables[v] = value
			c.order = append(c.order, v)
		} else {
			c.constants[p.constant(s.Param)] = value
		}
	}
	return c
}

// instanceOf returns the instance that an Instanced symbol names in the text.
func instanceOf(s *resolve.Symbol) *resolve.Instance {
	for s.Origin != nil {
		s = s.Origin
	}
	return s.Instance
}

// seenThrough returns the definition d of an instantiated module as the
// instance s presents it. If unnamed instances brought s itself, they change
// the definition further.
func (p *Program) seenThrough(s *resolve.Symbol, d *core.Def) *core.Def {
	if s.Origin == nil {
		return p.context(s.Instance).copy(d)
	}
	return p.context(s.Instance).copy(p.seenThrough(s.Origin, d))
}

// copy returns the instance's copy of d. The body of the copy may be made
// later.
func (c *context) copy(d *core.Def) *core.Def {
	if out := c.copies[d]; out != nil {
		return out
	}
	out := &core.Def{Name: d.Name, Module: d.Module, Native: d.Native, Recursive: d.Recursive, Local: d.Local, Span: d.Span,
		Path:   append(append([]core.Step(nil), c.step...), d.Path...),
		Params: append(append([]*core.Local(nil), c.params...), d.Params...)}
	c.copies[d] = out
	c.p.origins[out] = origin{c, d}
	t := &task{build: func() { c.fill(out, d) }, nested: c.let != nil}
	c.p.addTask(out, t)
	if c.let != nil {
		// The LET lists the copy after the copies that it calls.
		t.begun = true
		t.build()
		c.let.Defs = append(c.let.Defs, out)
	}
	return out
}

func (c *context) fill(out, d *core.Def) {
	if c.p.full {
		out.Body = &core.Bad{At: core.At{Place: d.Span}}
		return
	}
	c.p.complete(d)
	if d.Body == nil {
		return
	}
	out.Body = d.Body
	if c.dependent(d) {
		out.Body = c.p.bounded(core.Transform(d.Body, c.replace))
	}
}

// replace rewrites one node of a body.
func (c *context) replace(x core.Expr, again func(core.Expr) core.Expr) core.Expr {
	list := func(in []core.Expr) []core.Expr {
		out := make([]core.Expr, 0, len(c.params)+len(in))
		for _, l := range c.params {
			out = append(out, &core.LocalRef{Local: l, At: core.At{Place: x.Span()}})
		}
		for _, a := range in {
			out = append(out, again(a))
		}
		return out
	}
	if out := c.crossing(x, again); out != nil {
		return out
	}
	switch x := x.(type) {
	case *core.VarRef:
		return c.variables[x.Var]
	case *core.ConstRef:
		value := c.constants[x.Const]
		if value == nil || len(x.Args) == 0 {
			return value
		}
		return core.ApplyOperator(value, list(x.Args)[len(c.params):], x.At)
	case *core.Call:
		if c.dependent(x.Def) {
			return &core.Call{At: x.At, Def: c.copy(x.Def), Args: list(x.Args)}
		}
	case *core.OpRef:
		if c.dependent(x.Def) {
			return c.partial(x, c.copy(x.Def))
		}
	}
	return nil
}

// partial passes the copy d as an operator, with the parameters of the instance
// taken from this place.
func (c *context) partial(x *core.OpRef, d *core.Def) core.Expr {
	if len(c.params) == 0 {
		return &core.OpRef{At: x.At, Def: d}
	}
	first := make([]core.Expr, len(c.params))
	for i, l := range c.params {
		first[i] = &core.LocalRef{At: x.At, Local: l}
	}
	return closure(d, first, x.At)
}

// closure returns an operator that applies d with its first arguments fixed.
func closure(d *core.Def, first []core.Expr, at core.At) core.Expr {
	if len(first) == 0 {
		return &core.OpRef{At: at, Def: d}
	}
	return lambda(d, first, at)
}

// lambda is closure, written out.
func lambda(d *core.Def, first []core.Expr, at core.At) core.Expr {
	l := &core.Lambda{At: at}
	args := append([]core.Expr(nil), first...)
	for _, q := range d.Params[len(first):] {
		q = &core.Local{Name: q.Name, Span: q.Span}
		l.Params = append(l.Params, q)
		args = append(args, &core.LocalRef{At: at, Local: q})
	}
	l.Body = &core.Call{At: at, Def: d, Args: args}
	return l
}

// dependent reports whether d, which is complete, reaches something that the
// instance replaces.
func (c *context) dependent(d *core.Def) bool {
	if t := c.p.tasks[d]; t == nil || t.nested {
		return false // of a LET: its body is visible where it is called
	}
	if answer, ok := c.depends[d]; ok {
		return answer
	}
	users := map[*core.Def][]*core.Def{}
	var found, work []*core.Def
	seen := map[*core.Def]bool{d: true}
	for stack := []*core.Def{d}; len(stack) > 0; {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		found = append(found, x)
		if c.direct(x.Body) {
			work = append(work, x)
		}
		for _, y := range c.p.uses(x.Body) {
			users[y] = append(users[y], x)
			if answer, ok := c.depends[y]; ok {
				if answer {
					work = append(work, y)
				}
			} else if !seen[y] {
				seen[y] = true
				stack = append(stack, y)
			}
		}
	}
	yes := map[*core.Def]bool{}
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if !yes[x] {
			yes[x] = true
			work = append(work, users[x]...)
		}
	}
	for _, x := range found {
		c.depends[x] = yes[x]
	}
	return yes[d]
}

// direct reports whether e itself mentions something that is replaced.
func (c *context) direct(e core.Expr) bool {
	if e == nil {
		return false
	}
	found := false
	core.Walk(e, func(x core.Expr) bool {
		switch x := x.(type) {
		case *core.VarRef:
			_, ok := c.variables[x.Var]
			found = found || ok
		case *core.ConstRef:
			_, ok := c.constants[x.Const]
			found = found || ok
		}
		return !found
	})
	return found
}
