// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// Crashes: which archetypes crash, where they restart, and what a mapping macro
// does at a crash.

// crashPart lowers the crash part of a mapping macro. A crash may happen at any
// time, so the part must neither wait nor return a value.
func (r *algorithm) crashPart(m *pcal.Mapping, s *syntax.Block, scope *Scope) []pcal.Stmt {
	b := &body{algorithm: r, scope: scope, what: "the crash part of mapping macro " + m.Name, many: true, yields: true}
	items := b.block(s)
	for _, it := range items {
		b.noJumps(it)
		b.noWaits(it)
	}
	return append([]pcal.Stmt{}, b.seq(items, "", "")...)
}

// noWaits reports statements that a read or a write part may contain but a
// crash part may not.
func (b *body) noWaits(it *item) {
	switch it.leaf.(type) {
	case *pcal.Await:
		b.fail(it.span, MPCalCrashPart, "replace await c by if (c) { ... }",
			"%s waits: expected statements that can always be executed, because a crash cannot wait", b.what)
	case *pcal.Yield:
		b.fail(it.span, MPCalCrashPart, "assign $variable := ...", "yield in %s: expected assignments to $variable; a crash part returns no value", b.what)
	}
	if _, ok := it.leaf.(*pcal.Yield); ok {
		it.leaf = &pcal.Skip{At: pcal.At{Place: it.span}}
	}
	for _, list := range it.branches {
		for _, x := range list {
			b.noWaits(x)
		}
	}
}

// restart finds the label at which an archetype restarts after a crash. An
// archetype crashes if it has durable variables or a label recover.
func (r *algorithm) restart(a *pcal.Archetype, s *syntax.Archetype) {
	durable := map[*core.Variable]bool{}
	for i, v := range a.Locals {
		v.Durable = i < len(s.Durable)
		durable[v.Var] = v.Durable
	}
	for _, v := range a.Locals[:len(s.Durable)] {
		for _, w := range mentions(v.Init) {
			if d, own := durable[w.Var]; own && !d {
				r.error(w.Span(), MPCalDurableInit, "make "+w.Var.Name+" durable, too, or write its initial value here",
					"the durable variable %s starts from %s, which is not durable", v.Var.Name, w.Var.Name)
			}
		}
	}
	if len(s.Durable) > 0 && len(a.Blocks) > 0 {
		a.Restart = a.Blocks[0].Label
	}
	for _, b := range a.Blocks {
		if b.Label == pcal.LabelRecover {
			a.Restart = b.Label
		}
	}
}

// mentions lists the variables that an expression names.
func mentions(e core.Expr) []*core.VarRef {
	var out []*core.VarRef
	if e == nil {
		return nil
	}
	core.Walk(e, func(x core.Expr) bool {
		if v, ok := x.(*core.VarRef); ok {
			out = append(out, v)
		}
		return true
	})
	return out
}

// checkCrashArguments reports an argument that depends on the state and that a crash would
// have to evaluate again. The restarted process cannot know the value that the argument had
// at the start.
func (r *algorithm) checkCrashArguments(in *pcal.Instance) {
	a := in.Archetype
	if a.Restart == "" {
		return
	}
	for i, p := range a.Params {
		arg := in.Args[i]
		switch {
		case arg.X == nil || !varies(arg.X):
		case arg.Mapping != nil && arg.Mapping.Crash != nil:
		case p.Ref || a.Assigns(p.Var):
			r.error(arg.Span, MPCalCrashArgument, "pass a constant, or pass the variable with ref",
				"archetype %s crashes and changes its parameter %s, which would start again with the value that it was given: expected an argument without variables", a.Name, p.Var.Name)
		}
	}
}

// varies reports whether an expression depends on the state.
func varies(e core.Expr) bool {
	found := false
	core.Walk(e, func(x core.Expr) bool {
		switch x := x.(type) {
		case *core.VarRef:
			found = true
		case *core.Call:
			found = found || x.Def.Level > core.ConstantLevel
		}
		return !found
	})
	return found
}

// crashes describes how the crashes of the algorithm are counted, if it has
// any.
func (r *algorithm) crashes() {
	var at source.Span
	for _, in := range r.out.Instances {
		if in.Archetype.Restart != "" && !at.IsValid() {
			at = in.Archetype.Span
		}
	}
	if !at.IsValid() {
		return
	}
	const what = "an archetype that crashes"
	r.needs("+", "Naturals", what, at)
	r.needs("<", "Naturals", what, at)
	if r.out.Fair != pcal.Unfair {
		r.error(at, MPCalCrashFairness, "ask for fairness of the processes: fair process, or PlusCal options (wf)",
			"wfNext requires that some step is taken, and a crash is a step: nothing may force a process to crash")
	}
	c := &pcal.Crashes{Less: r.outer.Lookup("<").Def, Plus: r.outer.Lookup("+").Def}
	place := core.At{Place: at}
	switch m := r.model.Lookup(pcal.CrashBound); {
	case m == (Meaning{}):
		c.Declared = &core.Def{Name: pcal.CrashBound, Module: r.p.info.Root.Syntax.Name.Text, Body: &core.Int{At: core.At{Place: at}}, Span: at}
		c.Bound = &core.Call{At: place, Def: c.Declared}
	case m.Constant != nil && m.Constant.Arity == 0:
		c.Bound = &core.ConstRef{At: place, Const: m.Constant}
	case m.Def != nil && len(m.Def.Params) == 0 && m.Def.Level <= core.ConstantLevel:
		c.Bound = &core.Call{At: place, Def: m.Def}
	default:
		r.error(at, MPCalCrashBound, "rename it",
			"%s is the number of crashes: expected a constant of that name, a definition without parameters or variables, or nothing", pcal.CrashBound)
	}
	if c.Declared != nil {
		r.boundIsFree()
	}
	r.out.Crashes = c
}

// warnCrashes warns of text that looks as if it affected crashes but does not.
func (r *algorithm) warnCrashes() {
	if r.p.diags.HasErrors() {
		return
	}
	warn := func(at source.Span, code source.Code, repair, format string, args ...any) {
		r.p.diags.Add(source.Diagnostic{Severity: source.Warning, Code: code, Span: at, Message: fmt.Sprintf(format, args...), Repair: repair})
	}
	used := map[*pcal.Mapping]bool{}
	for _, in := range r.out.Instances {
		for _, arg := range in.Args {
			if in.Archetype.Restart != "" && arg.Mapping != nil {
				used[arg.Mapping] = true
			}
		}
	}
	for _, m := range r.out.Mappings {
		if m.Crash != nil && !used[m] {
			warn(m.Span, CrashPartUnused, "map a variable through it for an archetype with durable variables or a label recover",
				"no process that crashes has a variable mapped through %s: its crash part never happens", m.Name)
		}
	}
	plain := func(what string, blocks []*pcal.Block) {
		for _, b := range blocks {
			if b.Label == pcal.LabelRecover && r.a.Modular {
				warn(b.Span, RecoverIsPlain, "only archetypes crash; otherwise rename the label", "the label recover in %s is like any other: no process restarts there after a crash", what)
			}
		}
	}
	for _, p := range r.out.Procedures {
		plain("procedure "+p.Name, p.Blocks)
	}
	for _, p := range r.out.Processes {
		plain("process "+p.Name, p.Blocks)
	}
}

// boundIsFree reports a declaration that has the name of the definition that the
// translation adds.
func (r *algorithm) boundIsFree() {
	taken := func(what, name string, at source.Span) {
		if name == pcal.CrashBound {
			r.error(at, MPCalCrashBound, "rename it", "%s is the number of crashes: expected no %s of that name", name, what)
		}
	}
	vars := func(list []*pcal.Variable) {
		for _, v := range list {
			taken("variable", v.Var.Name, v.Var.Span)
		}
	}
	labels := func(list []*pcal.Block) {
		for _, b := range list {
			taken("label", b.Label, b.Span)
		}
	}
	params := func(list []*pcal.Param) {
		for _, p := range list {
			taken("parameter", p.Var.Name, p.Var.Span)
		}
	}
	for _, p := range r.out.Procedures {
		taken("procedure", p.Name, p.Span)
		params(p.Params)
		vars(p.Locals)
		labels(p.Blocks)
	}
	for _, a := range r.out.Archetypes {
		params(a.Params)
		vars(a.Locals)
		labels(a.Blocks)
	}
	for _, p := range r.out.Processes {
		taken("process", p.Name, p.Span)
		vars(p.Locals)
		labels(p.Blocks)
	}
	for _, in := range r.out.Instances {
		taken("process", in.Name, in.Span)
	}
}
