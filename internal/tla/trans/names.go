// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// Names of bound variables.
//
// Expansion can put a with inside another of the same name, and it makes new
// names. In the text every name must be free where it is bound. A name that the
// user wrote is kept unless an enclosing form binds it already; a name that we
// made must not occur in the file at all. A number is added where needed.

// settleNames renames the names that statements and expressions bind.
func settleNames(a *pcal.Algorithm, reserved func(string) bool) *pcal.Algorithm {
	n := &namer{reserved: reserved, around: map[string]bool{}, to: map[*core.Local]*core.Local{}}
	n.declare(a)
	out := *a
	out.Globals = n.variables(a.Globals)
	out.Procedures, out.Processes = nil, nil
	same := map[*pcal.Procedure]*pcal.Procedure{}
	for _, p := range a.Procedures {
		c := *p
		same[p] = &c
		out.Procedures = append(out.Procedures, &c)
	}
	for _, p := range out.Procedures {
		p.Locals = n.variables(p.Locals)
		p.Blocks = n.blocks(p.Blocks, same)
	}
	for _, p := range a.Processes {
		c := *p
		if p.Id != nil {
			c.Id = n.expr(p.Id)
		}
		c.Locals = n.variables(p.Locals)
		c.Blocks = n.blocks(p.Blocks, same)
		if p.Crash != nil {
			c.Crash = n.blocks([]*pcal.Block{p.Crash}, same)[0]
		}
		out.Processes = append(out.Processes, &c)
	}
	return &out
}

type namer struct {
	reserved func(string) bool
	// around are the names that must not be bound: those that the module and
	// the translation declare or define, and those bound by enclosing forms.
	around map[string]bool
	to     map[*core.Local]*core.Local
}

// declare records the names of the translation.
func (n *namer) declare(a *pcal.Algorithm) {
	for _, name := range []string{a.PC.Name, a.Stack.Name, "vars", "ProcSet", "Init", "Terminating", pcal.DefaultInitValue} {
		n.around[name] = true
	}
	body := func(name string, vars []*pcal.Variable, blocks []*pcal.Block) {
		n.around[name] = true
		for _, v := range vars {
			n.around[v.Var.Name] = true
		}
		for _, b := range blocks {
			n.around[b.Label] = true
		}
	}
	body("", a.Globals, nil)
	for _, p := range a.Procedures {
		body(p.Name, p.Variables(), p.Blocks)
	}
	for _, p := range a.Processes {
		body(p.Name, p.Locals, p.Blocks)
		if p.Crash != nil {
			n.around[p.Crash.Label] = true
		}
	}
	if a.Crashes != nil {
		n.around[pcal.CrashBound] = true
	}
}

func (n *namer) variables(list []*pcal.Variable) []*pcal.Variable {
	out := make([]*pcal.Variable, len(list))
	for i, v := range list {
		c := *v
		c.Init = n.expr(v.Init)
		out[i] = &c
	}
	return out
}

func (n *namer) blocks(list []*pcal.Block, same map[*pcal.Procedure]*pcal.Procedure) []*pcal.Block {
	out := make([]*pcal.Block, len(list))
	for i, b := range list {
		c := *b
		c.Body = n.stmts(b.Body, same)
		out[i] = &c
	}
	return out
}

func (n *namer) stmts(list []pcal.Stmt, same map[*pcal.Procedure]*pcal.Procedure) []pcal.Stmt {
	r := &pcal.Rewriter{Expr: n.expr}
	r.Stmt = func(s pcal.Stmt) ([]pcal.Stmt, bool) {
		switch s := s.(type) {
		case *pcal.With:
			x := r.X(s.X)
			v := n.choose(s.Var)
			n.to[s.Var] = v
			n.around[v.Name] = true
			body := r.Stmts(s.Body)
			delete(n.around, v.Name)
			return []pcal.Stmt{&pcal.With{At: s.At, Var: v, In: s.In, X: x, Body: body}}, true
		case *pcal.Call:
			c := r.StmtParts(s).(*pcal.Call)
			c.Proc = same[s.Proc]
			return []pcal.Stmt{c}, true
		}
		return nil, false
	}
	return r.Stmts(list)
}

// choose returns a name for l.
func (n *namer) choose(l *core.Local) *core.Local {
	name := n.name(l.Name, l.Span)
	if name == l.Name {
		return l
	}
	return &core.Local{Name: name, Span: l.Span}
}

// name returns base or, if that is taken, base with the first number that makes
// it free.
func (n *namer) name(base string, at source.Span) string {
	written := at.Text() == base
	name := base
	for i := 0; n.around[name] || (n.reserved(name) && !(written && name == base)); i++ {
		name = fmt.Sprintf("%s%d", base, i)
	}
	return name
}

// expr settles the names in an expression that stands alone.
func (n *namer) expr(e core.Expr) core.Expr {
	if e == nil {
		return nil
	}
	e = core.Rewrite(e, func(x core.Expr) core.Expr {
		if l, ok := x.(*core.LocalRef); ok && len(l.Args) == 0 && n.to[l.Local] != nil {
			return &core.LocalRef{At: l.At, Local: n.to[l.Local]}
		}
		return nil
	})
	e = core.Rename(e)
	n.settle(e)
	return e
}

// settle names what e binds; e must not be shared.
func (n *namer) settle(e core.Expr) {
	if let, ok := e.(*core.Let); ok {
		n.let(let)
		return
	}
	for p := range core.Parts(e, core.EvaluationOrder) {
		n.within(p.Names, p.Expr)
	}
}

func (n *namer) bind(l *core.Local) {
	l.Name = n.name(l.Name, l.Span)
	n.around[l.Name] = true
}

func (n *namer) within(names []*core.Local, body core.Expr) {
	for _, l := range names {
		n.bind(l)
	}
	n.settle(body)
	for _, l := range names {
		delete(n.around, l.Name)
	}
}

func (n *namer) let(e *core.Let) {
	for _, d := range e.Defs {
		if isWord(d.Name[0]) {
			d.Name = n.name(d.Name, d.Span)
		}
		n.around[d.Name] = true
	}
	for _, d := range e.Defs {
		if d.Body != nil {
			n.within(d.Params, d.Body)
		}
	}
	n.settle(e.Body)
	for _, d := range e.Defs {
		delete(n.around, d.Name)
	}
}
