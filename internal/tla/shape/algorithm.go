// SPDX-License-Identifier: Apache-2.0

package shape

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// body infers the shapes in the statements of one archetype, process, procedure
// or mapping macro.
type body struct {
	in *inference
	sc *Scope
	// yields are the nodes that receive the values of enclosed Yields,
	// innermost last.
	yields []*node
}

// resource is what a ref parameter refers to: a resource of an archetype, or a
// variable passed by reference that belongs to the scope owner.
type resource struct {
	param       *pcal.Param
	read, write *node
	variable    *core.Variable
	owner       *Scope
}

func (in *inference) algorithm(a *pcal.Algorithm) {
	for _, v := range a.Globals {
		in.res.unset[v.Var] = true
		in.declare(in.root, v)
	}
	for _, ar := range a.Archetypes {
		in.archetype(ar)
	}
	for _, inst := range a.Instances {
		in.instantiate(inst)
	}
	for _, p := range a.Processes {
		sc := in.scope(in.root)
		sc.selfLocal = p.Self
		in.self(sc, p.Self, p.Id, p.Set)
		in.findUnset(p.Locals, p.Blocks)
		for _, v := range p.Locals {
			in.declare(sc, v)
		}
		in.blocks(&body{in: in, sc: sc}, p.Blocks)
	}
}

// DefaultInitValue is the model value of a variable that has no other value
// yet.
const DefaultInitValue = "defaultInitValue"

// findUnset records the variables that may be read before they are assigned.
func (in *inference) findUnset(vars []*pcal.Variable, blocks []*pcal.Block) {
	for v := range unassigned(vars, blocks) {
		in.res.unset[v] = true
	}
}

// declare infers the shape of a declaration.
func (in *inference) declare(sc *Scope, v *pcal.Variable) {
	n := in.variable(sc, v.Var)
	if v.Init == nil {
		if in.res.unset[v.Var] {
			in.unify(n, in.modelValue(DefaultInitValue, v.Span), v.Span)
		}
		return
	}
	init := in.expr(sc, v.Init)
	if v.In {
		in.unify(init, in.setOf(n, v.Span), v.Span)
	} else {
		in.unify(n, init, v.Span)
	}
}

// self binds the identity of a process.
func (in *inference) self(sc *Scope, self *core.Local, id core.Expr, set bool) {
	if self == nil || id == nil {
		return
	}
	n := sc.bind(self)
	x := in.expr(in.root, id)
	if set {
		in.unify(x, in.setOf(n, id.Span()), id.Span())
	} else {
		in.unify(n, x, id.Span())
	}
}

func (in *inference) archetype(a *pcal.Archetype) {
	sc := in.scope(in.root)
	in.res.archetypes[a] = sc
	sc.selfLocal = a.Self
	sc.bind(a.Self)
	for _, p := range a.Params {
		if p.Ref {
			r := &resource{param: p, read: in.fresh(p.Span), write: in.fresh(p.Span), owner: sc}
			r.read.hint, r.write.hint = hint{p.Var.Name, hintResource}, hint{p.Var.Name, hintResource}
			sc.refs[p.Var] = r
			continue
		}
		in.variable(sc, p.Var)
	}
	in.findUnset(a.Locals, in.res.Blocks(a))
	for _, v := range a.Locals {
		in.declare(sc, v)
	}
	in.blocks(&body{in: in, sc: sc}, in.res.Blocks(a))
}

// instantiate connects the parameters of an archetype with the arguments of an
// instance: the variable that the mapping macro accesses.
func (in *inference) instantiate(inst *pcal.Instance) {
	sc := in.res.archetypes[inst.Archetype]
	at := inst.Span
	// The identity of the instance is self in the archetype.
	own := in.scope(in.root)
	in.self(own, inst.Self, inst.Id, inst.Set)
	if inst.Self != nil {
		in.unify(own.bind(inst.Self), sc.bind(inst.Archetype.Self), at)
	}
	for i, arg := range inst.Args {
		p := inst.Archetype.Params[i]
		r := sc.refs[p.Var]
		var place *node
		if arg.Ref != nil {
			place = in.root.lookupVar(arg.Ref)
		} else {
			place = in.expr(own, arg.X)
		}
		if r == nil {
			in.unify(sc.vars[p.Var], place, at)
			continue
		}
		for range p.Mapping {
			cell := in.fresh(at)
			in.apply(place, in.fresh(at), nil, cell, at)
			place = cell
		}
		if arg.Mapping == nil {
			in.unify(place, r.read, at)
			in.unify(place, r.write, at)
			continue
		}
		in.mapping(arg.Mapping, place, r, sc.bind(inst.Archetype.Self))
	}
}

// mapping infers a mapping macro once more, with $variable at the given place.
func (in *inference) mapping(m *pcal.Mapping, place *node, r *resource, self *node) {
	sc := in.scope(in.root)
	sc.vars[m.Target] = place
	if m.Self != nil {
		sc.locals[m.Self] = self
	}
	b := &body{in: in, sc: sc, yields: []*node{r.read}}
	b.stmts(m.Read)
	w := in.scope(in.root)
	w.vars[m.Target] = place
	if m.Self != nil {
		w.locals[m.Self] = self
	}
	if m.Value != nil {
		w.locals[m.Value] = r.write
	}
	b = &body{in: in, sc: w, yields: []*node{place}}
	b.stmts(m.Write)
}

func (in *inference) blocks(b *body, blocks []*pcal.Block) {
	for _, l := range blocks {
		b.stmts(l.Body)
	}
}

func (b *body) stmts(list []pcal.Stmt) {
	for _, s := range list {
		b.stmt(s)
	}
}

func (b *body) stmt(s pcal.Stmt) {
	in, sc := b.in, b.sc
	switch s := s.(type) {
	case *pcal.Assign:
		for i := range s.Pairs {
			b.assign(&s.Pairs[i])
		}
	case *pcal.If:
		in.want(in.expr(sc, s.Cond), Bool, s.Cond.Span())
		b.stmts(s.Then)
		b.stmts(s.Else)
	case *pcal.Either:
		for _, br := range s.Branches {
			b.stmts(br)
		}
	case *pcal.With:
		n, x := sc.bind(s.Var), in.expr(sc, s.X)
		if s.In {
			in.unify(x, in.setOf(n, s.Span()), s.Span())
		} else {
			in.unify(n, x, s.Span())
		}
		b.stmts(s.Body)
	case *pcal.Await:
		in.want(in.expr(sc, s.Cond), Bool, s.Cond.Span())
	case *pcal.Assert:
		in.want(in.expr(sc, s.Cond), Bool, s.Cond.Span())
	case *pcal.Print:
		in.expr(sc, s.X)
	case *pcal.Yield:
		if len(b.yields) > 0 {
			in.unify(b.yields[len(b.yields)-1], in.expr(sc, s.X), s.Span())
		}
	case *pcal.Read:
		b.read(s)
	case *pcal.Write:
		x := in.expr(sc, s.X)
		if s.Value != nil {
			in.unify(sc.bind(s.Value), x, s.Span())
		}
		if _, write := b.access(s.Access); write != nil && len(s.Body) == 0 {
			in.unify(write, x, s.Span())
		}
		b.stmts(s.Body)
	case *pcal.Call:
		b.call(s)
	case *pcal.Skip, *pcal.Goto, *pcal.Return:
	default:
		panic(fmt.Sprintf("shape: statement %T", s))
	}
}

func (b *body) read(s *pcal.Read) {
	dst := b.sc.bind(s.Dst)
	if len(s.Body) == 0 && s.Access != nil {
		if read, _ := b.access(s.Access); read != nil {
			b.in.unify(dst, read, s.Span())
		}
	} else {
		b.yields = append(b.yields, dst)
		b.stmts(s.Body)
		b.yields = b.yields[:len(b.yields)-1]
	}
	b.stmts(s.Rest)
}

// access returns the places that a Read or a Write accesses.
func (b *body) access(a *pcal.Access) (read, write *node) {
	for _, x := range a.Index {
		b.in.expr(b.sc, x)
	}
	r := b.sc.lookupRef(a.Param.Var)
	if r == nil {
		return nil, nil
	}
	if r.variable == nil {
		return r.read, r.write
	}
	n := r.owner.lookupVar(r.variable)
	for _, x := range a.Index {
		cell := b.in.fresh(x.Span())
		b.in.apply(n, b.in.expr(b.sc, x), x, cell, x.Span())
		n = cell
	}
	return n, n
}

func (b *body) assign(p *pcal.Assignment) {
	in, sc := b.in, b.sc
	n := sc.lookupVar(p.Target)
	for _, ix := range p.Path {
		cell := in.fresh(p.Span)
		if ix.X == nil {
			in.selectField(n, ix.Field, cell, p.Span)
		} else {
			in.apply(n, in.expr(sc, ix.X), ix.X, cell, p.Span)
		}
		n = cell
	}
	if p.At != nil {
		in.unify(sc.bind(p.At), n, p.Span)
	}
	in.unify(n, in.expr(sc, p.Value), p.Value.Span())
}

// call infers a procedure once for each archetype and each combination of
// references.
func (b *body) call(s *pcal.Call) {
	key := callKey{proc: s.Proc, caller: b.archetypeScope(), refs: b.bindings(s)}
	sc := b.in.procs[key]
	if sc == nil {
		sc = b.in.procedure(b, s, key)
	}
	b.sc.procs[s] = sc
	for i, p := range s.Proc.Params {
		if arg := s.Args[i]; arg.X != nil {
			b.in.unify(sc.lookupVar(p.Var), b.in.expr(b.sc, arg.X), s.Span())
		}
	}
}

// callKey identifies a procedure with its references.
type callKey struct {
	proc   *pcal.Procedure
	caller *Scope
	refs   string
}

// bindings names what a call passes by reference.
func (b *body) bindings(s *pcal.Call) string {
	var k strings.Builder
	for i, p := range s.Proc.Params {
		v := s.Args[i].Ref
		if !p.Ref || v == nil {
			continue
		}
		r := b.target(v)
		fmt.Fprintf(&k, " %p.%s", r.owner, r.name())
	}
	return k.String()
}

func (r *resource) name() string {
	if r.variable != nil {
		return r.variable.Name
	}
	return "&" + r.param.Var.Name
}

// target returns what a variable that is passed by reference refers to.
func (b *body) target(v *core.Variable) *resource {
	if r := b.sc.lookupRef(v); r != nil {
		return r
	}
	owner := b.sc
	for s := b.sc; s != nil; s = s.parent {
		if _, ok := s.vars[v]; ok {
			owner = s
			break
		}
	}
	return &resource{variable: v, owner: owner}
}

// procedure infers a procedure as called from b.
func (in *inference) procedure(b *body, s *pcal.Call, key callKey) *Scope {
	p := s.Proc
	sc := in.scope(in.root)
	sc.Procedure = p
	sc.caller = key.caller
	in.procs[key] = sc
	if p.Self != nil {
		sc.locals[p.Self] = in.fresh(p.Span)
		if key.caller.selfLocal != nil {
			sc.locals[p.Self] = key.caller.bind(key.caller.selfLocal)
		}
	}
	for i, param := range p.Params {
		ref := s.Args[i].Ref
		if !param.Ref || ref == nil {
			in.variable(sc, param.Var)
			if param.Ref {
				sc.refs[param.Var] = &resource{param: param, variable: param.Var, owner: sc}
			}
			continue
		}
		r := *b.target(ref)
		if r.variable != nil {
			r.param = param
		}
		sc.refs[param.Var] = &r
	}
	in.findUnset(p.Locals, in.res.ProcedureBlocks(p))
	for _, v := range p.Locals {
		in.declare(sc, v)
	}
	in.blocks(&body{in: in, sc: sc}, in.res.ProcedureBlocks(p))
	return sc
}

// archetypeScope returns the scope of the archetype or process that b was
// called from.
func (b *body) archetypeScope() *Scope {
	if b.sc.caller != nil {
		return b.sc.caller
	}
	return b.sc
}
