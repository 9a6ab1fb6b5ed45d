// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"maps"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
)

// A relaxed mailbox sends when it is written, not when the section commits.
// That is sound for a parameter if, on every path through every section that
// writes it, nothing after the write can block, refuse or fail, and the section
// writes it at most once. Then a section that has sent also commits. An earlier
// read may fail, because nothing has been sent yet. A resource that was touched
// before the send must also commit without failing. That holds for resources
// that refuse at the access (relaxed and local ones). A second write, to any
// resource, may be refused at commit and so counts as something that can fail.

// relaxedCheck follows the paths through one section for one parameter.
type relaxedCheck struct {
	m     *machine
	at    *routine
	param *pcal.Param
	sc    *shape.Scope
	// records contains the variables known to hold a record: further selections
	// from them cannot fail.
	records map[*core.Variable]bool
	why     string // the first thing that is wrong
}

// evaluated records what the successful evaluation of e has shown.
func (c *relaxedCheck) evaluated(e core.Expr) {
	core.Walk(e, func(x core.Expr) bool {
		if v := selectedFrom(x); v != nil && !c.records[v] {
			c.records[v] = c.m.g.strict.needs(e, func(y core.Expr) bool { return selectedFrom(y) == v })
		}
		return true
	})
}

// selectedFrom returns v if e is v.f.
func selectedFrom(e core.Expr) *core.Variable {
	s, ok := e.(*core.Select)
	if !ok {
		return nil
	}
	v, ok := s.X.(*core.VarRef)
	if !ok {
		return nil
	}
	return v.Var
}

// sure reports whether evaluating e cannot fail, given what is known.
func (c *relaxedCheck) sure(e core.Expr) bool {
	defer c.evaluated(e)
	if total(c.sc, e) {
		return true
	}
	r := &pcal.Rewriter{Expr: func(x core.Expr) core.Expr {
		v := selectedFrom(x)
		if v == nil || !c.records[v] {
			return nil
		}
		sel := x.(*core.Select)
		for _, alt := range append(c.m.g.alternatives(c.sc.Var(v)), c.sc.Var(v)) {
			if f := alt.Field(sel.Field); f != nil && !f.Optional {
				return &core.LocalRef{At: sel.At, Local: &core.Local{Name: sel.Field, Span: sel.Place}}
			}
		}
		return nil
	}}
	return total(c.sc, r.X(e))
}

// changed discards what is known about a variable.
func (c *relaxedCheck) changed(v *core.Variable) { delete(c.records, v) }

// checkRelaxed returns, for every ref parameter, the reason why a relaxed
// mailbox is not sound for it, or "" if it is sound.
func checkRelaxed(m *machine) map[*pcal.Param]string {
	out := map[*pcal.Param]string{}
	for _, p := range m.arch.Params {
		if !p.Ref {
			continue
		}
		for _, r := range m.routines {
			for _, b := range r.blocks {
				c := &relaxedCheck{m: m, at: r, param: p, sc: r.sc, records: map[*core.Variable]bool{}}
				c.stmts(b.Body, false)
				if c.why != "" && out[p] == "" {
					out[p] = fmt.Sprintf("label %s (%s): %s", b.Label, placeOf(b.Span), c.why)
				}
			}
		}
		if macro := m.distinct(p); out[p] == "" && macro != nil {
			out[p] = fmt.Sprintf("%s (%s) adds to a set, and a relaxed message may come when one like it has been read that was there when it was sent", macro.Name, placeOf(macro.Span))
		}
		if out[p] == "" && len(m.invs) > 0 {
			out[p] = "the invariants that are checked before a step commits may fail after the send"
		}
	}
	return out
}

// lossy reports whether all instances send and receive through p as lossy
// mailboxes do.
func (m *machine) lossy(p *pcal.Param) bool {
	found := false
	for _, in := range m.g.alg.Instances {
		for i, q := range m.arch.Params {
			if in.Archetype != m.arch || q != p {
				continue
			}
			if !Named(in.Args[i].Mapping, LossyMailbox) {
				return false
			}
			found = true
		}
	}
	return found
}

// distinct returns a mapping macro through which an instance adds to a set when
// it sends through p; nil if there is none.
func (m *machine) distinct(p *pcal.Param) *pcal.Mapping {
	for _, in := range m.g.alg.Instances {
		for i, q := range m.arch.Params {
			if in.Archetype != m.arch || q != p {
				continue
			}
			if macro := in.Args[i].Mapping; macro != nil && yields(macro.Write, unites) {
				return macro
			}
		}
	}
	return nil
}

func (c *relaxedCheck) later(at source.Span, what string, sent bool) {
	if sent && c.why == "" {
		c.why = fmt.Sprintf("after %s is written, %s at %s can fail or block", c.param.Var.Name, what, placeOf(at))
	}
}

// stmts follows a list of statements. sent says whether the parameter was
// written before. The result says whether it has been written on some path that
// continues after the list.
func (c *relaxedCheck) stmts(list []pcal.Stmt, sent bool) bool {
	for _, st := range list {
		sent = c.stmt(st, sent)
	}
	return sent
}

// branch follows statements that may not be executed, so it discards afterwards
// what they have shown.
func (c *relaxedCheck) branch(list []pcal.Stmt, sent bool) bool {
	known := maps.Clone(c.records)
	out := c.stmts(list, sent)
	maps.DeleteFunc(known, func(v *core.Variable, _ bool) bool { return !c.records[v] })
	c.records = known
	return out
}

func (c *relaxedCheck) stmt(st pcal.Stmt, sent bool) bool {
	at := st.Span()
	switch st := st.(type) {
	case *pcal.Assign:
		for _, p := range st.Pairs {
			for _, ix := range p.Path {
				if ix.X != nil && !c.sure(ix.X) {
					c.later(ix.X.Span(), "the index of an assignment", sent)
				}
			}
			if !c.sure(p.Value) {
				c.later(p.Value.Span(), "the expression "+oneLine(p.Value.Span().Text()), sent)
			}
		}
		for _, p := range st.Pairs {
			c.changed(p.Target)
		}
	case *pcal.If:
		if !c.sure(st.Cond) {
			c.later(st.Cond.Span(), "the condition "+oneLine(st.Cond.Span().Text()), sent)
		}
		a := c.branch(st.Then, sent)
		return c.branch(st.Else, sent) || a
	case *pcal.Either:
		c.later(at, "an either", sent)
		out := false
		for _, b := range st.Branches {
			out = c.branch(b, sent) || out
		}
		return out
	case *pcal.With:
		if st.In {
			c.later(at, "a choice from a set", sent)
		} else if !c.sure(st.X) {
			c.later(st.X.Span(), "the expression "+oneLine(st.X.Span().Text()), sent)
		}
		return c.stmts(st.Body, sent)
	case *pcal.Await:
		c.later(at, "an await", sent)
		c.evaluated(st.Cond)
	case *pcal.Assert:
		c.later(at, "an assertion", sent)
		c.evaluated(st.Cond)
	case *pcal.Print:
		if !c.sure(st.X) {
			c.later(st.X.Span(), "the expression "+oneLine(st.X.Span().Text()), sent)
		}
	case *pcal.Yield:
		if !c.sure(st.X) {
			c.later(st.X.Span(), "the expression "+oneLine(st.X.Span().Text()), sent)
		}
	case *pcal.Call:
		c.later(at, "a procedure call, which fails when the stack is full,", sent)
	case *pcal.Read:
		if st.Access != nil && c.resource(st.Access) != nil {
			c.later(at, "a read of "+st.Access.Param.Var.Name, sent)
		}
		return c.stmts(st.Rest, c.stmts(st.Body, sent))
	case *pcal.Write:
		return c.write(st, sent)
	}
	return sent
}

// resource returns the archetype's parameter behind an access; nil for a
// variable.
func (c *relaxedCheck) resource(a *pcal.Access) *pcal.Param {
	ref := c.sc.Ref(a.Param.Var)
	if ref == nil || ref.Variable != nil {
		return nil
	}
	return ref.Param
}

func (c *relaxedCheck) write(st *pcal.Write, sent bool) bool {
	for _, x := range append(st.Access.Index[:len(st.Access.Index):len(st.Access.Index)], st.X) {
		if !c.sure(x) {
			c.later(x.Span(), "the expression "+oneLine(x.Span().Text()), sent)
		}
	}
	p := c.resource(st.Access)
	switch {
	case p == nil:
		return sent
	case p == c.param && sent:
		if c.why == "" {
			c.why = fmt.Sprintf("%s is written a second time at %s", p.Var.Name, placeOf(st.Span()))
		}
		return true
	case p == c.param:
		return true
	}
	c.later(st.Span(), "a write of "+p.Var.Name, sent)
	return sent
}
