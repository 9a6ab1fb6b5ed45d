package trans

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/pcal"
)

// Names of bound variables.
//
// Expansion can put a with inside another of the same name, and it makes names
// of its own. In the text every name must be free where it is bound: a name
// that the user wrote is kept unless it is bound around already, and one that
// we made must not occur in the file at all. A number makes it so.

// settleNames renames what statements bind.
func settleNames(a *pcal.Algorithm, reserved func(string) bool) *pcal.Algorithm {
	n := &namer{reserved: reserved, around: map[string]bool{}}
	for _, v := range a.Globals {
		n.around[v.Var.Name] = true
	}
	for _, p := range a.Procedures {
		for _, v := range p.Variables() {
			n.around[v.Var.Name] = true
		}
	}
	for _, p := range a.Processes {
		for _, v := range p.Locals {
			n.around[v.Var.Name] = true
		}
	}
	out := *a
	out.Procedures, out.Processes = nil, nil
	same := map[*pcal.Procedure]*pcal.Procedure{}
	for _, p := range a.Procedures {
		c := *p
		same[p] = &c
		out.Procedures = append(out.Procedures, &c)
	}
	for _, p := range out.Procedures {
		p.Blocks = n.blocks(p.Blocks, same)
	}
	for _, p := range a.Processes {
		c := *p
		c.Blocks = n.blocks(p.Blocks, same)
		out.Processes = append(out.Processes, &c)
	}
	return &out
}

type namer struct {
	reserved func(string) bool
	around   map[string]bool
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
	r := &pcal.Rewriter{}
	r.Stmt = func(s pcal.Stmt) ([]pcal.Stmt, bool) {
		switch s := s.(type) {
		case *pcal.With:
			x := r.X(s.X)
			v := n.choose(s.Var)
			r.Rename(s.Var, v)
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

// choose returns a name for what l binds.
func (n *namer) choose(l *core.Local) *core.Local {
	written := l.Span.Text() == l.Name
	name := l.Name
	for i := 0; n.around[name] || (n.reserved(name) && !(written && name == l.Name)); i++ {
		name = fmt.Sprintf("%s%d", l.Name, i)
	}
	if name == l.Name {
		return l
	}
	return &core.Local{Name: name, Span: l.Span}
}
