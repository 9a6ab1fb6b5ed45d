// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/lower"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// The translation of a plain algorithm: variables, the define block, the
// initial predicate, an action for every label, the next-state relation and
// the specification with its fairness.

// module is the state of translating one algorithm.
type module struct {
	a *pcal.Algorithm
	// scope has the names that the module knows before the translation. name is
	// the module's name. at is the position of implicit declarations of the
	// algorithm.
	scope *lower.Scope
	name  string
	at    source.Span
	// uni reports that there is a single process without an identity; pc and
	// stack report whether the state has them.
	uni, pc, stack bool
	// vars are all variables, in the order of the state.
	vars pcal.Assigned

	calls        pcal.Stack
	defaultInit  *core.Constant
	needsDefault bool

	defs []*definition
	// all is the tuple vars, and processes is ProcSet, if there is one.
	all, processes *core.Def
	labels         map[*pcal.Block]*core.Def
	groups         map[any]*core.Def // of processes and procedures
}

// definition is one definition of the translation: its tree and a function that
// makes its text.
type definition struct {
	*core.Def
	text func() lines
	// compared is Printed.Compared.
	compared bool
}

// exprColumn is the column where an expression is assumed to start when its
// lines are broken. Expressions of actions start at about this column.
const exprColumn = 24

// newModule translates a plain algorithm with unique names and without Reads
// and Writes.
func newModule(a *pcal.Algorithm, u *load.Untranslated) *module {
	m := &module{a: a, scope: u.Scope, name: u.Module.Name.Text, at: u.Module.Algorithm.Name.Span(),
		uni: a.Uniprocess(), pc: a.NeedsPC(), stack: a.NeedsStack()}
	m.calls = pcal.Stack{Head: m.operator("Head", "Sequences"), Tail: m.operator("Tail", "Sequences"), Concat: m.operator(`\o`, "Sequences")}
	m.defaultInit = &core.Constant{Name: pcal.DefaultInitValue, Module: m.name, Span: m.at}
	for _, implied := range []*core.Variable{a.PC, a.Stack} {
		implied.Span = m.at
	}
	m.all = &core.Def{Name: "vars", Module: m.name, Span: m.at}
	m.defs = []*definition{{Def: m.all, text: m.varsTuple}}
	m.bound()
	if !m.uni {
		m.processes = m.define("ProcSet", nil, m.at, m.procSet(), m.procSetText).Def
	}
	m.init()
	m.all.Body = &core.Tuple{At: core.At{Place: m.at}, Elems: references(m.vars, m.at)}
	m.actions()
	ends := a.SomeEnds()
	var terminating *core.Def
	if ends {
		terminating = m.define("Terminating", nil, m.at, m.terminating(), m.terminatingText).Def
	}
	m.next(terminating)
	m.spec()
	if ends {
		done := &core.Op{Op: core.OpEventually, Args: []core.Expr{m.allDone()}}
		m.define("Termination", nil, m.at, done, func() lines { return line("Termination == <>(" + m.allDoneText() + ")") })
	}
	return m
}

// define adds a definition with its whole text.
func (m *module) define(name string, params []*core.Local, at source.Span, body core.Expr, text func() lines) *definition {
	if !at.IsValid() {
		at = m.at
	}
	d := &definition{Def: &core.Def{Name: name, Module: m.name, Params: params, Body: core.Located(body, at), Span: at}, text: text}
	m.defs = append(m.defs, d)
	return d
}

// compare is define for a definition that describes the algorithm's behaviour.
func (m *module) compare(name string, params []*core.Local, at source.Span, body core.Expr, text func() lines) *definition {
	d := m.define(name, params, at, body, text)
	d.compared = true
	return d
}

// declared returns what the translation adds to the module.
func (m *module) declared() lower.Declared {
	out := lower.Declared{Variables: m.vars}
	if m.needsDefault {
		out.Constants = append(out.Constants, m.defaultInit)
	}
	for _, d := range m.defs {
		out.Defs = append(out.Defs, d.Def)
	}
	return out
}

// print writes the units of the translation.
func (m *module) print() []load.Printed {
	var out []load.Printed
	if m.needsDefault {
		out = append(out, load.Printed{Text: "CONSTANT " + pcal.DefaultInitValue})
	}
	for _, text := range m.declarations() {
		out = append(out, load.Printed{Text: text})
	}
	for _, d := range m.defs {
		out = append(out, load.Printed{Name: d.Name, Text: d.text().String(), Compared: d.compared})
	}
	return out
}

// operator returns the definition of a standard operator that the module knows
// by this name.
func (m *module) operator(name, module string) *core.Def {
	if d := m.scope.Lookup(name).Def; d != nil {
		return d
	}
	return &core.Def{Name: name, Module: module, Native: true} // not used: see lower
}

// exprText writes an expression.
func exprText(e core.Expr) lines {
	out := strings.Split(core.Format(e, exprColumn), "\n")
	for i := range out[1:] {
		out[i+1] = strings.TrimPrefix(out[i+1], strings.Repeat(" ", exprColumn))
	}
	return out
}

func call(d *core.Def, args ...core.Expr) core.Expr { return &core.Call{Def: d, Args: args} }

func op(o core.OpCode, args ...core.Expr) core.Expr { return &core.Op{Op: o, Args: args} }

func (m *module) processView(p *pcal.Process) *action {
	return &action{m, m.a.ProcessView(p, m.calls, m.defaultValue)}
}

func (m *module) procedureView(p *pcal.Procedure) *action {
	return &action{m, m.a.ProcedureView(p, m.calls, m.defaultValue)}
}

// defaultValue is the value of variables that have no other value.
func (m *module) defaultValue() core.Expr {
	m.needsDefault = true
	return &core.ConstRef{Const: m.defaultInit}
}

func names(vars pcal.Assigned) []string {
	var out []string
	for _, v := range vars {
		out = append(out, v.Name)
	}
	return out
}

// declarations writes the VARIABLES, with the define block between the global
// ones and the others.
func (m *module) declarations() []string {
	first, rest := m.vars, pcal.Assigned(nil)
	if m.a.DefineSpan.IsValid() || len(m.a.Define) > 0 {
		n := len(m.a.Globals)
		for _, implied := range []bool{m.pc, m.stack} {
			if implied {
				n++
			}
		}
		first, rest = m.vars[:n], m.vars[n:]
	}
	var out []string
	declare := func(vars pcal.Assigned) {
		if len(vars) > 0 {
			out = append(out, wrapped(names(vars), ",", 10, 0).after("VARIABLES ").String())
		}
	}
	declare(first)
	if m.a.DefineSpan.IsValid() {
		out = append(out, "(* define statement *)\n"+defineText(m.a))
	}
	declare(rest)
	return out
}

func (m *module) varsTuple() lines {
	return wrapped(names(m.vars), ",", 11, 0).after("vars == << ").then(" >>")
}

// procSet is the set of all processes.
func (m *module) procSet() core.Expr {
	var out core.Expr
	for _, p := range m.a.Processes {
		set := p.Id
		if !p.Set {
			set = &core.SetEnum{Elems: []core.Expr{p.Id}}
		}
		if out == nil {
			out = set
		} else {
			out = op(core.OpCup, out, set)
		}
	}
	return out
}

func (m *module) procSetText() lines {
	var parts []string
	for _, p := range m.a.Processes {
		id := exprText(p.Id).String()
		if p.Set {
			parts = append(parts, "("+id+")")
		} else {
			parts = append(parts, "{"+id+"}")
		}
	}
	return joined(parts, `\cup`, 11, 0).after("ProcSet == ")
}

// init defines Init. It also determines the order of the variables.
func (m *module) init() {
	var items []core.Expr
	var written []func() lines
	comment := func(s string) {
		written = append(written, func() lines { return line("(* " + s + " *)") })
	}
	item := func(x core.Expr, at source.Span) {
		items = append(items, core.Located(x, at))
		written = append(written, func() lines { return exprText(x).after(`/\ `) })
	}
	none := &action{m, &pcal.View{Algorithm: m.a, Default: m.defaultValue}}
	if len(m.a.Globals) > 0 {
		comment("Global variables")
	}
	for _, v := range m.a.Globals {
		item(m.initialValue(v, none, nil), v.Span)
	}
	if m.pc {
		m.vars = m.vars.With(m.a.PC)
	}
	if m.stack {
		m.vars = m.vars.With(m.a.Stack)
	}
	for _, p := range m.a.Procedures {
		list := p.Variables()
		if len(list) > 0 {
			comment("Procedure " + p.Name)
		}
		for _, v := range list {
			var set core.Expr
			if !m.uni {
				set = call(m.processes)
			}
			item(m.initialValue(pcal.Unset(p, v), m.procedureView(p), set), v.Span)
		}
	}
	for _, p := range m.a.Processes {
		if len(p.Locals) > 0 {
			comment("Process " + p.Name)
		}
		for _, v := range p.Locals {
			var set core.Expr
			if p.Set {
				set = p.Id
			}
			item(m.initialValue(v, m.processView(p), set), v.Span)
		}
	}
	if m.stack {
		empty := core.Expr(&core.Tuple{})
		if !m.uni {
			empty = m.everywhere(empty)
		}
		item(equal(m.a.Stack, empty), m.at)
	}
	if m.pc {
		item(equal(m.a.PC, m.start()), m.at)
	}
	m.compare("Init", nil, m.at, conjunction(items, m.at), func() lines {
		var out lines
		for _, w := range written {
			out = append(out, w()...)
		}
		return out.after("Init == ")
	})
}

func equal(v *core.Variable, x core.Expr) core.Expr {
	return op(core.OpEq, &core.VarRef{Var: v}, x)
}

// everywhere returns the function that maps every process to x.
func (m *module) everywhere(x core.Expr) core.Expr {
	self := &core.Local{Name: "self"}
	return &core.Fn{Binds: []core.Bind{{Vars: []*core.Local{self}, Set: call(m.processes)}}, Body: x}
}

// initialValue returns the conjunct of Init for a variable. If set is not nil,
// the variable is a function on set.
func (m *module) initialValue(v *pcal.Variable, c *action, set core.Expr) core.Expr {
	m.vars = m.vars.With(v.Var)
	ref := &core.VarRef{Var: v.Var}
	if set == nil {
		if v.In {
			return op(core.OpIn, ref, c.Initial(v))
		}
		return equal(v.Var, c.Initial(v))
	}
	x := c.Initial(v)
	bind := []core.Bind{{Vars: []*core.Local{c.Name}, Set: set}}
	if !v.In {
		return equal(v.Var, &core.Fn{Binds: bind, Body: x})
	}
	dependent := false
	for _, l := range core.Free(x) {
		dependent = dependent || l == c.Name
	}
	functions := core.Expr(&core.FnSet{Dom: set, Rng: x})
	if dependent {
		// The set to choose from differs between processes.
		f := &core.Local{Name: m.unused("f")}
		all := &core.Op{Op: core.OpUnion, Args: []core.Expr{&core.SetMap{Body: x, Binds: bind}}}
		value := &core.Apply{Fn: &core.LocalRef{Local: f}, Arg: c.Self}
		each := &core.Quant{Binds: bind, Body: &core.Op{Op: core.OpIn, Args: []core.Expr{value, x}}}
		from := core.Bind{Vars: []*core.Local{f}, Set: &core.FnSet{Dom: set, Rng: all}}
		functions = &core.SetFilter{Bind: from, Pred: each}
	}
	return op(core.OpIn, ref, functions)
}

// unused returns base or, if that is taken, base with the first number that
// makes it unused in the module and the translation.
func (m *module) unused(base string) string {
	n := &namer{reserved: func(name string) bool { return m.scope.Lookup(name) != lower.Meaning{} }, around: map[string]bool{}}
	n.declare(m.a)
	return n.name(base, source.Span{})
}

// start is the initial value of pc.
func (m *module) start() core.Expr {
	label := func(p *pcal.Process) core.Expr { return &core.Str{Val: p.Blocks[0].Label} }
	if m.uni {
		return label(m.a.Processes[0])
	}
	self := &core.Local{Name: "self"}
	ref := &core.LocalRef{Local: self}
	body := label(m.a.Processes[0])
	if len(m.a.Processes) > 1 {
		c := &core.Case{}
		for _, p := range m.a.Processes {
			is := core.OpEq
			if p.Set {
				is = core.OpIn
			}
			c.Arms = append(c.Arms, core.Arm{Cond: op(is, ref, p.Id), Body: label(p)})
		}
		body = c
	}
	return &core.Fn{Binds: []core.Bind{{Vars: []*core.Local{self}, Set: call(m.processes)}}, Body: body}
}

// actions defines all actions, and their disjunctions by process and procedure.
func (m *module) actions() {
	m.labels, m.groups = map[*pcal.Block]*core.Def{}, map[any]*core.Def{}
	group := func(of any, name string, at source.Span, blocks []*pcal.Block, c *action, many bool) {
		arg := ""
		var params []*core.Local
		var args []core.Expr
		if many {
			arg, params, args = "(self)", []*core.Local{c.Name}, []core.Expr{&core.LocalRef{Local: c.Name}}
		}
		var labels []string
		var steps []core.Expr
		for _, b := range blocks {
			if m.inlined(b) {
				continue
			}
			labels = append(labels, b.Label+arg)
			step := c.block(b)
			m.labels[b] = m.compare(b.Label, params, b.Span, step.tree(m, m.placeOf(b)), func() lines { return step.text().after(b.Label + arg + " == ") }).Def
			steps = append(steps, call(m.labels[b], args...))
		}
		if name != "" {
			m.groups[of] = m.define(name, params, at, disjunction(steps, at), func() lines {
				return joined(labels, `\/`, len(name)+len(arg)+4, 3).after(name + arg + " == ")
			}).Def
		}
	}
	for _, p := range m.a.Procedures {
		group(p, p.Name, p.Span, p.Blocks, m.procedureView(p), !m.uni)
	}
	for _, p := range m.a.Processes {
		name := p.Name
		if m.uni {
			name = ""
		}
		group(p, name, p.Span, p.Blocks, m.processView(p), p.Set)
	}
	for _, p := range m.a.Processes {
		m.crash(p)
	}
}

// placeOf returns the position of the label, or of the algorithm if there is no
// label.
func (m *module) placeOf(b *pcal.Block) source.Span {
	if b.Span.IsValid() {
		return b.Span
	}
	return m.at
}

// inlined reports whether a step has no action of its own, because it is the only
// step and the user did not name it.
func (m *module) inlined(b *pcal.Block) bool { return m.uni && !m.pc && b.Auto }

// allDone says that every process has ended.
func (m *module) allDone() core.Expr {
	done := func(at core.Expr) core.Expr { return op(core.OpEq, at, &core.Str{Val: pcal.LabelDone}) }
	pc := &core.VarRef{Var: m.a.PC}
	if m.uni {
		return done(pc)
	}
	self := &core.Local{Name: "self"}
	return &core.Quant{Binds: m.everyone(self), Body: done(&core.Apply{Fn: pc, Arg: &core.LocalRef{Local: self}})}
}

func (m *module) allDoneText() string {
	if m.uni {
		return `pc = "Done"`
	}
	return `\A self \in ProcSet: pc[self] = "Done"`
}

// everyone binds self to every process.
func (m *module) everyone(self *core.Local) []core.Bind {
	return []core.Bind{{Vars: []*core.Local{self}, Set: call(m.processes)}}
}

func (m *module) terminating() core.Expr {
	return &core.And{List: []core.Expr{m.allDone(), op(core.OpUnchanged, call(m.all))}}
}

func (m *module) terminatingText() lines {
	out := line("(* Allow infinite stuttering to prevent deadlock on termination. *)")
	if m.uni {
		return append(out, "Terminating == "+m.allDoneText()+` /\ UNCHANGED vars`)
	}
	return append(out, `Terminating == /\ `+m.allDoneText(), `               /\ UNCHANGED vars`)
}

// next defines the next-state relation: first single processes, then procedures,
// then process sets.
func (m *module) next(terminating *core.Def) {
	var parts []func() string
	var single []string
	var list []core.Expr
	one := func(name string, d *core.Def) {
		single, list = append(single, name), append(list, call(d))
	}
	if m.uni {
		for _, p := range m.a.Procedures {
			one(p.Name, m.groups[p])
		}
		p := m.a.Processes[0]
		for _, b := range p.Blocks {
			if m.inlined(b) {
				step := m.processView(p).block(b)
				m.define("Next", nil, m.at, step.tree(m, m.placeOf(b)), func() lines { return step.text().after("Next == ") })
				return
			}
			one(b.Label, m.labels[b])
		}
	} else {
		for _, p := range m.a.Processes {
			if !p.Set {
				one(p.Name, m.groups[p])
			}
		}
		if len(m.a.Procedures) > 0 {
			self := &core.Local{Name: "self"}
			var calls []core.Expr
			for _, p := range m.a.Procedures {
				calls = append(calls, call(m.groups[p], &core.LocalRef{Local: self}))
			}
			list = append(list, &core.Quant{Exists: true, Binds: m.everyone(self), Body: disjunction(calls, m.at)})
			parts = append(parts, m.anyProcedure)
		}
		for _, p := range m.a.Processes {
			if p.Set {
				x, text := m.some(p, m.groups[p], p.Name)
				list, parts = append(list, x), append(parts, text)
			}
		}
		for _, p := range m.a.Processes {
			if p.Crash != nil {
				x, text := m.crashOf(p)
				list, parts = append(list, x), append(parts, text)
			}
		}
	}
	if terminating != nil {
		list = append(list, call(terminating))
		parts = append(parts, func() string { return "Terminating" })
	}
	m.define("Next", nil, m.at, disjunction(list, m.at), func() lines {
		var out lines
		if len(single) > 0 {
			out = joined(single, `\/`, 8, 3)
		}
		for _, p := range parts {
			if len(out) == 0 {
				out = line(p())
				continue
			}
			out = append(out, line(p()).after(`   \/ `)...)
		}
		return out.after("Next == ")
	})
}

// some says that some process of a set takes an action.
func (m *module) some(p *pcal.Process, d *core.Def, name string) (core.Expr, func() string) {
	self := &core.Local{Name: "self"}
	bind := []core.Bind{{Vars: []*core.Local{self}, Set: p.Id}}
	x := &core.Quant{At: core.At{Place: p.Span}, Exists: true, Binds: bind, Body: call(d, &core.LocalRef{Local: self})}
	return x, func() string { return fmt.Sprintf(`(\E self \in %s: %s(self))`, exprText(p.Id), name) }
}

// anyProcedure says that some process is in a procedure.
func (m *module) anyProcedure() string {
	var calls []string
	for _, p := range m.a.Procedures {
		calls = append(calls, p.Name+"(self)")
	}
	return `(\E self \in ProcSet: ` + joined(calls, `\/`, 36, 0).after(strings.Repeat(" ", 22)).String()[22:] + ")"
}

// spec defines the specification, including its fairness conditions.
func (m *module) spec() {
	var fair []fairness
	if m.a.Fair != pcal.Unfair {
		fair = append(fair, m.fairNext())
	}
	if !m.uni {
		for _, p := range m.a.Processes {
			if p.Fair != pcal.Unfair {
				fair = append(fair, m.fairProcess(p))
			}
		}
	}
	init, next := m.definition("Init"), m.definition("Next")
	steps := op(core.OpAlways, &core.Box{Action: call(next), Sub: call(m.all)})
	list := []core.Expr{call(init), steps}
	for _, f := range fair {
		list = append(list, f.tree)
	}
	m.define("Spec", nil, m.at, conjunction(list, m.at), func() lines {
		if len(fair) == 0 {
			return line(`Spec == Init /\ [][Next]_vars`)
		}
		out := line(`Spec == /\ Init /\ [][Next]_vars`)
		for _, f := range fair {
			out = append(out, f.text().after(`        /\ `)...)
		}
		return out
	})
}

func (m *module) definition(name string) *core.Def {
	for _, d := range m.defs {
		if d.Name == name {
			return d.Def
		}
	}
	invariant.Check(false, "the translation has no %s", name)
	return nil
}
