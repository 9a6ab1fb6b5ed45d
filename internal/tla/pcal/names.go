// SPDX-License-Identifier: Apache-2.0

package pcal

import (
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// Renaming is a name that Disambiguate changed.
type Renaming struct {
	From, To string
	// In is the process or procedure that the name belongs to.
	In    string
	Label bool
	Span  source.Span
}

// Disambiguate gives labels, procedures, processes and local variables names
// that are unique in the whole algorithm, as a translation to TLA+ needs. It
// follows the standard translator: a repeated name gets "_" and as many letters
// of the name of its process as needed, and the last occurrence keeps its name.
// Global variables keep their names. If nothing changes, Disambiguate returns a
// itself.
func Disambiguate(a *Algorithm) (*Algorithm, []Renaming) {
	t := &nameTable{uses: map[string]int{}}
	t.collect(a)
	t.settle()
	var renamed []Renaming
	for _, e := range t.entries {
		if e.use != e.id {
			r := Renaming{From: e.id, To: e.use, In: e.context}
			if b, ok := e.of.(*Block); ok {
				r.Label, r.Span = true, b.Span
			}
			renamed = append(renamed, r)
		}
	}
	if len(renamed) == 0 {
		return a, nil
	}
	return t.apply(a), renamed
}

// nameKind orders the entries: those of a lower kind are renamed first.
type nameKind uint8

const (
	nameGlobal nameKind = iota
	nameLabel
	nameProcedure
	nameProcess
	nameProcessVar
	nameProcedureVar
	nameParam
	nameKinds
)

type nameEntry struct {
	kind    nameKind
	id, use string
	context string
	of      any // *core.Variable, *Block, *Procedure, *Process
}

type nameTable struct {
	entries []*nameEntry
	uses    map[string]int
}

func (t *nameTable) add(kind nameKind, id, context string, of any) {
	t.entries = append(t.entries, &nameEntry{kind: kind, id: id, use: id, context: context, of: of})
	t.uses[id]++
}

func (t *nameTable) vars(kind nameKind, list []*Variable, context string) {
	for _, v := range list {
		t.add(kind, v.Var.Name, context, v.Var)
	}
}

func (t *nameTable) collect(a *Algorithm) {
	t.vars(nameGlobal, a.Globals, "")
	for _, p := range a.Procedures {
		t.add(nameProcedure, p.Name, "", p)
		for _, q := range p.Params {
			t.add(nameParam, q.Var.Name, p.Name, q.Var)
		}
		t.vars(nameProcedureVar, p.Locals, p.Name)
		for _, b := range p.Blocks {
			t.add(nameLabel, b.Label, p.Name, b)
		}
	}
	for _, p := range a.Processes {
		if p.Id != nil {
			t.add(nameProcess, p.Name, "", p)
		}
		t.vars(nameProcessVar, p.Locals, p.Name)
		for _, b := range p.Blocks {
			t.add(nameLabel, b.Label, p.Name, b)
		}
		if p.Crash != nil {
			t.add(nameLabel, p.Crash.Label, p.Name, p.Crash)
		}
	}
}

// settle chooses a name for every entry, kind by kind.
func (t *nameTable) settle() {
	for kind := nameLabel; kind < nameKinds; kind++ {
		for _, e := range t.entries {
			if e.kind != kind {
				continue
			}
			for n := 0; t.uses[e.use] > 1; n++ {
				t.uses[e.use]--
				e.use = e.id + "_" + e.context[:min(n, len(e.context))]
				for k := len(e.context); k < n; k++ {
					e.use += "_"
				}
				t.uses[e.use]++
			}
		}
	}
}

// apply copies a with the names that were found.
func (t *nameTable) apply(a *Algorithm) *Algorithm {
	names := map[any]string{}
	vars := map[*core.Variable]*core.Variable{}
	for _, e := range t.entries {
		names[e.of] = e.use
		if v, ok := e.of.(*core.Variable); ok && e.use != e.id {
			c := *v
			c.Name = e.use
			vars[v] = &c
		}
	}
	procs := map[*Procedure]*Procedure{}
	out := *a
	out.Procedures, out.Processes = nil, nil
	for _, p := range a.Procedures {
		c := *p
		c.Name, procs[p] = names[p], &c
		out.Procedures = append(out.Procedures, &c)
	}
	r := &Rewriter{}
	r.Var = func(v *core.Variable) *core.Variable {
		if to := vars[v]; to != nil {
			return to
		}
		return v
	}
	r.Expr = func(e core.Expr) core.Expr {
		if v, ok := e.(*core.VarRef); ok {
			return &core.VarRef{At: v.At, Var: r.Var(v.Var)}
		}
		return nil
	}
	variables := func(list []*Variable) []*Variable {
		out := make([]*Variable, len(list))
		for i, v := range list {
			out[i] = &Variable{Var: r.Var(v.Var), Init: r.X(v.Init), In: v.In, Durable: v.Durable, Span: v.Span}
		}
		return out
	}
	for _, p := range out.Procedures {
		params := make([]*Param, len(p.Params))
		for i, q := range p.Params {
			params[i] = &Param{Ref: q.Ref, Mapping: q.Mapping}
			params[i].Variable = Variable{Var: r.Var(q.Var), Init: r.X(q.Init), In: q.In, Span: q.Span}
		}
		p.Params, p.Locals = params, variables(p.Locals)
		p.Blocks = relabel(p.Blocks, names, procs, r)
	}
	for _, p := range a.Processes {
		c := *p
		if p.Id != nil {
			c.Name = names[p]
		}
		c.Id, c.Locals = r.X(p.Id), variables(p.Locals)
		c.Blocks = relabel(p.Blocks, names, procs, r)
		if p.Crash != nil {
			all := append(p.Blocks[:len(p.Blocks):len(p.Blocks)], p.Crash)
			c.Crash = relabel(all, names, procs, r)[len(p.Blocks)]
		}
		out.Processes = append(out.Processes, &c)
	}
	return &out
}

// relabel renames the labels of one process and the jumps to them.
func relabel(blocks []*Block, names map[any]string, procs map[*Procedure]*Procedure, r *Rewriter) []*Block {
	to := map[string]string{}
	for _, b := range blocks {
		to[b.Label] = names[b]
	}
	label := func(l string) string {
		if n, ok := to[l]; ok {
			return n
		}
		return l
	}
	r.Stmt = func(s Stmt) ([]Stmt, bool) {
		switch s := s.(type) {
		case *Goto:
			return []Stmt{&Goto{At: s.At, Label: label(s.Label)}}, true
		case *Restart:
			return []Stmt{&Restart{At: s.At, Label: label(s.Label)}}, true
		case *Call:
			c := r.StmtParts(s).(*Call)
			c.Proc, c.Return = procs[s.Proc], label(s.Return)
			return []Stmt{c}, true
		}
		return nil, false
	}
	out := make([]*Block, len(blocks))
	for i, b := range blocks {
		c := *b
		c.Label, c.Body = label(b.Label), r.Stmts(b.Body)
		out[i] = &c
	}
	return out
}
