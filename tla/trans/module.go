package trans

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/pcal"
)

// The translation of a plain algorithm: variables, the define block, the
// initial predicate, an action for every label, the next-state relation and
// the specification with its fairness.

// module is the translation of one algorithm.
type module struct {
	a *pcal.Algorithm
	// uni says that there is a single process without identity; pc and stack
	// whether the state has them.
	uni, pc, stack bool
	// vars are all variables, in the order of the state.
	vars pcal.Assigned

	calls        pcal.Stack
	defaultInit  *core.Constant
	needsDefault bool
}

// exprColumn is where an expression is taken to start when its lines are
// broken; it is about where expressions of actions do.
const exprColumn = 24

// tlaText returns the units of the translation of a plain algorithm whose
// names are unique and which has no Reads and Writes.
func tlaText(a *pcal.Algorithm) string {
	m := &module{a: a, uni: a.Uniprocess(), pc: a.NeedsPC(), stack: a.NeedsStack(),
		calls:       pcal.Stack{Head: native("Head", "Sequences"), Tail: native("Tail", "Sequences"), Concat: native(`\o`, "Sequences")},
		defaultInit: &core.Constant{Name: pcal.DefaultInitValue}}
	init := m.init()
	var out []string
	if m.needsDefault {
		out = append(out, "CONSTANT "+pcal.DefaultInitValue)
	}
	out = append(out, m.declarations()...)
	out = append(out, m.varsTuple())
	if !m.uni {
		out = append(out, m.procSet())
	}
	out = append(out, init)
	out = append(out, m.actions()...)
	ends := m.mayEnd()
	if ends {
		out = append(out, m.terminating())
	}
	out = append(out, m.next(ends), m.spec())
	if ends {
		out = append(out, m.termination())
	}
	return strings.Join(out, "\n\n") + "\n\n"
}

func native(name, module string) *core.Def {
	return &core.Def{Name: name, Module: module, Native: true}
}

// expr writes an expression.
func (m *module) expr(e core.Expr) lines {
	out := strings.Split(core.Format(e, exprColumn), "\n")
	for i := range out[1:] {
		out[i+1] = strings.TrimPrefix(out[i+1], strings.Repeat(" ", exprColumn))
	}
	return out
}

func (m *module) processView(p *pcal.Process) *action {
	return &action{m, m.a.ProcessView(p, m.calls, m.defaultValue)}
}

func (m *module) procedureView(p *pcal.Procedure) *action {
	return &action{m, m.a.ProcedureView(p, m.calls, m.defaultValue)}
}

// defaultValue is the value of variables that have no other.
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

// declarations are the VARIABLES, with the define block between the global
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

func (m *module) varsTuple() string {
	return wrapped(names(m.vars), ",", 11, 0).after("vars == << ").then(" >>").String()
}

func (m *module) procSet() string {
	var parts []string
	for _, p := range m.a.Processes {
		id := m.expr(p.Id).String()
		if p.Set {
			parts = append(parts, "("+id+")")
		} else {
			parts = append(parts, "{"+id+"}")
		}
	}
	return joined(parts, `\cup`, 11, 0).after("ProcSet == ").String()
}

func (m *module) procSetRef() core.Expr {
	return &core.Call{Def: &core.Def{Name: "ProcSet"}}
}

// init is the definition of Init; it also finds the order of the variables.
func (m *module) init() string {
	var items []lines
	comment := func(s string) { items = append(items, line("(* "+s+" *)")) }
	none := &action{m, &pcal.View{Algorithm: m.a, Default: m.defaultValue}}
	if len(m.a.Globals) > 0 {
		comment("Global variables")
	}
	for _, v := range m.a.Globals {
		items = append(items, m.initialValue(v, none, nil).after(`/\ `))
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
				set = m.procSetRef()
			}
			items = append(items, m.initialValue(pcal.Unset(p, v), m.procedureView(p), set).after(`/\ `))
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
			items = append(items, m.initialValue(v, m.processView(p), set).after(`/\ `))
		}
	}
	if m.stack {
		empty := core.Expr(&core.Tuple{})
		if !m.uni {
			empty = m.everywhere(empty)
		}
		items = append(items, m.equal(m.a.Stack, empty).after(`/\ `))
	}
	if m.pc {
		items = append(items, m.equal(m.a.PC, m.start()).after(`/\ `))
	}
	return stack(items...).after("Init == ").String()
}

func (m *module) equal(v *core.Variable, x core.Expr) lines {
	return m.expr(&core.Op{Op: core.OpEq, Args: []core.Expr{&core.VarRef{Var: v}, x}})
}

// everywhere is the function that has x for every process.
func (m *module) everywhere(x core.Expr) core.Expr {
	self := &core.Local{Name: "self"}
	return &core.Fn{Binds: []core.Bind{{Vars: []*core.Local{self}, Set: m.procSetRef()}}, Body: x}
}

// initialValue is the conjunct of Init for a variable, which is a function on
// set, where that is not nil.
func (m *module) initialValue(v *pcal.Variable, c *action, set core.Expr) lines {
	m.vars = m.vars.With(v.Var)
	ref := &core.VarRef{Var: v.Var}
	if set == nil {
		op := core.OpEq
		if v.In {
			op = core.OpIn
		}
		return m.expr(&core.Op{Op: op, Args: []core.Expr{ref, c.Initial(v)}})
	}
	x := c.Initial(v)
	bind := []core.Bind{{Vars: []*core.Local{c.Name}, Set: set}}
	if !v.In {
		return m.equal(v.Var, &core.Fn{Binds: bind, Body: x})
	}
	dependent := false
	for _, l := range core.Free(x) {
		dependent = dependent || l == c.Name
	}
	functions := core.Expr(&core.FnSet{Dom: set, Rng: x})
	if dependent {
		// Every process has a set of its own to choose from.
		f := &core.Local{Name: "f"}
		all := &core.Op{Op: core.OpUnion, Args: []core.Expr{&core.SetMap{Body: x, Binds: bind}}}
		value := &core.Apply{Fn: &core.LocalRef{Local: f}, Arg: c.Self}
		each := &core.Quant{Binds: bind, Body: &core.Op{Op: core.OpIn, Args: []core.Expr{value, x}}}
		from := core.Bind{Vars: []*core.Local{f}, Set: &core.FnSet{Dom: set, Rng: all}}
		functions = &core.SetFilter{Bind: from, Pred: each}
	}
	return m.expr(&core.Op{Op: core.OpIn, Args: []core.Expr{ref, functions}})
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
			op := core.OpEq
			if p.Set {
				op = core.OpIn
			}
			c.Arms = append(c.Arms, core.Arm{Cond: &core.Op{Op: op, Args: []core.Expr{ref, p.Id}}, Body: label(p)})
		}
		body = c
	}
	return &core.Fn{Binds: []core.Bind{{Vars: []*core.Local{self}, Set: m.procSetRef()}}, Body: body}
}

// actions are the definitions of all actions, and of their disjunctions by
// process and procedure.
func (m *module) actions() []string {
	var out []string
	group := func(name string, blocks []*pcal.Block, c *action, many bool) {
		arg := ""
		if many {
			arg = "(self)"
		}
		var labels []string
		for _, b := range blocks {
			if m.inlined(b) {
				continue
			}
			labels = append(labels, b.Label+arg)
			out = append(out, c.block(b).after(b.Label+arg+" == ").String())
		}
		if name != "" {
			out = append(out, joined(labels, `\/`, len(name)+len(arg)+4, 3).after(name+arg+" == ").String())
		}
	}
	for _, p := range m.a.Procedures {
		group(p.Name, p.Blocks, m.procedureView(p), !m.uni)
	}
	for _, p := range m.a.Processes {
		name := p.Name
		if m.uni {
			name = ""
		}
		group(name, p.Blocks, m.processView(p), p.Set)
	}
	return out
}

// inlined says that a step has no action of its own: it is all that happens,
// and the user gave it no name.
func (m *module) inlined(b *pcal.Block) bool { return m.uni && !m.pc && b.Auto }

// mayEnd says whether some process can come to its end.
func (m *module) mayEnd() bool {
	ends := false
	visit := func(s pcal.Stmt) {
		if g, ok := s.(*pcal.Goto); ok && g.Label == pcal.LabelDone {
			ends = true
		}
		if c, ok := s.(*pcal.Call); ok && c.Return == pcal.LabelDone {
			ends = true
		}
	}
	for _, p := range m.a.Processes {
		for _, b := range p.Blocks {
			pcal.InspectStmts(b.Body, visit, nil)
		}
	}
	return ends
}

func (m *module) allDone() string {
	if m.uni {
		return `pc = "Done"`
	}
	return `\A self \in ProcSet: pc[self] = "Done"`
}

func (m *module) terminating() string {
	out := "(* Allow infinite stuttering to prevent deadlock on termination. *)\n"
	if m.uni {
		return out + "Terminating == " + m.allDone() + ` /\ UNCHANGED vars`
	}
	return out + `Terminating == /\ ` + m.allDone() + "\n" + `               /\ UNCHANGED vars`
}

func (m *module) termination() string {
	return "Termination == <>(" + m.allDone() + ")"
}

// next is the next-state relation: single processes, procedures, then sets.
func (m *module) next(ends bool) string {
	var parts, single []string
	if m.uni {
		for _, p := range m.a.Procedures {
			single = append(single, p.Name)
		}
		for _, b := range m.a.Processes[0].Blocks {
			if m.inlined(b) {
				return m.processView(m.a.Processes[0]).block(b).after("Next == ").String()
			}
			single = append(single, b.Label)
		}
	} else {
		for _, p := range m.a.Processes {
			if !p.Set {
				single = append(single, p.Name)
			}
		}
		if len(m.a.Procedures) > 0 {
			var calls []string
			for _, p := range m.a.Procedures {
				calls = append(calls, p.Name+"(self)")
			}
			parts = append(parts, `(\E self \in ProcSet: `+joined(calls, `\/`, 36, 0).after(strings.Repeat(" ", 22)).String()[22:]+")")
		}
		for _, p := range m.a.Processes {
			if p.Set {
				parts = append(parts, fmt.Sprintf(`(\E self \in %s: %s(self))`, m.expr(p.Id), p.Name))
			}
		}
	}
	if ends {
		parts = append(parts, "Terminating")
	}
	var out lines
	if len(single) > 0 {
		out = joined(single, `\/`, 8, 3)
	}
	for _, p := range parts {
		if len(out) == 0 {
			out = line(p)
			continue
		}
		out = append(out, line(p).after(`   \/ `)...)
	}
	return out.after("Next == ").String()
}

// spec is the specification with what is asked of the scheduler.
func (m *module) spec() string {
	var fair []lines
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
	if len(fair) == 0 {
		return `Spec == Init /\ [][Next]_vars`
	}
	out := `Spec == /\ Init /\ [][Next]_vars`
	for _, f := range fair {
		out += "\n" + f.after(`        /\ `).String()
	}
	return out
}

var fairName = [...]string{pcal.Weak: "WF_vars", pcal.Strong: "SF_vars"}

// fairNext is the fairness of the algorithm as a whole, its labels with a
// minus left out and those with a plus strong.
func (m *module) fairNext() lines {
	var blocks []*pcal.Block
	for _, p := range m.a.Procedures {
		blocks = append(blocks, p.Blocks...)
	}
	if m.uni {
		blocks = append(blocks, m.a.Processes[0].Blocks...)
		return m.fairBlocks(m.a.Fair, "Next", blocks, "pc", "")
	}
	return line(fairName[m.a.Fair] + "(Next)")
}

// fairBlocks is the fairness of an action that consists of blocks; at is the
// program counter, arg what the actions are applied to.
func (m *module) fairBlocks(fair pcal.Fairness, action string, blocks []*pcal.Block, at, arg string) lines {
	var minus []string
	for _, b := range blocks {
		if b.Minus {
			minus = append(minus, fmt.Sprintf("%q", b.Label))
		}
	}
	switch len(minus) {
	case 0:
	case 1:
		action = fmt.Sprintf(`(%s # %s) /\ %s`, at, minus[0], action)
	default:
		action = fmt.Sprintf(`(%s \notin {%s}) /\ %s`, at, strings.Join(minus, ", "), action)
	}
	out := lines{fairName[fair] + "(" + action + ")"}
	for _, b := range blocks {
		if b.Plus && fair == pcal.Weak {
			out = append(out, "SF_vars("+b.Label+arg+")")
		}
	}
	return out
}

// fairProcess is the fairness of a process and of the procedures it can be in.
func (m *module) fairProcess(p *pcal.Process) lines {
	id := m.expr(p.Id).String()
	arg, callArg, at, head := "", "("+id+")", "pc["+id+"]", ""
	if p.Set {
		arg, callArg, at = "(self)", "(self)", "pc[self]"
		head = `\A self \in ` + id + " : "
	}
	out := m.fairBlocks(p.Fair, p.Name+arg, p.Blocks, at, arg)
	for _, q := range m.reached(p) {
		out = append(out, m.fairBlocks(p.Fair, q.Name+callArg, q.Blocks, at, callArg)...)
	}
	if len(out) == 1 {
		return line(head + out[0])
	}
	var items []lines
	for _, s := range out {
		items = append(items, line(s))
	}
	return allBullets(`/\`, items).after(head)
}

// reached lists the procedures that a process can be in, in their order.
func (m *module) reached(p *pcal.Process) []*pcal.Procedure {
	seen := map[*pcal.Procedure]bool{}
	var visit func(blocks []*pcal.Block)
	visit = func(blocks []*pcal.Block) {
		for _, b := range blocks {
			pcal.InspectStmts(b.Body, func(s pcal.Stmt) {
				if c, ok := s.(*pcal.Call); ok && !seen[c.Proc] {
					seen[c.Proc] = true
					visit(c.Proc.Blocks)
				}
			}, nil)
		}
	}
	visit(p.Blocks)
	var out []*pcal.Procedure
	for _, q := range m.a.Procedures {
		if seen[q] {
			out = append(out, q)
		}
	}
	return out
}
