// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
)

// machine generates the Go code of one archetype: a struct of its variables and
// a method for each label.
type machine struct {
	g        *generator
	arch     *pcal.Archetype
	sc       *shape.Scope
	name     string // the Go type
	members  *names // fields and methods of the struct
	refs     map[*pcal.Param]string
	self     string
	flags    map[*core.Variable]string // "was assigned", for variables without a first value
	changed  string                    // the field that says which durable variables were assigned
	durable  map[*core.Variable]int    // their numbers
	main     *routine
	routines []*routine
	byScope  map[*shape.Scope]*routine
	sections []sectionName
	methods  *writer
	code     string // the variable that holds the distsys.Archetype
	invs     []string
	relaxed  map[*pcal.Param]string
}

// sectionName is an entry in the table of sections.
type sectionName struct{ constant, label, place, method string }

// routine is the body of the archetype, or of a procedure as called by this
// archetype.
type routine struct {
	sc     *shape.Scope
	proc   *pcal.Procedure
	field  string // of the archetype's struct, for a procedure's variables
	typ    string // the struct of those
	fields map[*core.Variable]string
	vars   []*core.Variable // in order
	blocks []*pcal.Block
	labels map[string]string
	self   *core.Local
}

func (g *generator) machine(a *pcal.Archetype) *machine {
	m := &machine{
		g: g, arch: a, sc: g.shapes.Archetype(a), members: newNames(nil), refs: map[*pcal.Param]string{},
		flags: map[*core.Variable]string{}, byScope: map[*shape.Scope]*routine{}, methods: &writer{},
	}
	m.name = g.names.fresh(upperFirst(goName(a.Name)))
	m.self = m.members.fresh("self")
	m.members.used["stack"] = true
	main := &routine{sc: m.sc, fields: map[*core.Variable]string{}, blocks: g.shapes.Blocks(a), labels: map[string]string{}, self: a.Self}
	for _, p := range a.Params {
		if p.Ref {
			m.refs[p] = m.members.fresh(p.Var.Name)
			continue
		}
		m.field(main, p.Var)
	}
	for _, v := range a.Locals {
		m.field(main, v.Var)
	}
	for _, v := range a.Locals {
		if v.Init == nil && !g.shapes.Unset(v.Var) {
			m.flags[v.Var] = m.members.fresh(main.fields[v.Var] + "Set")
		}
	}
	m.findDurable()
	m.main = main
	m.byScope[m.sc] = main
	m.routines = []*routine{main}
	m.label(main)
	m.reach(main)
	return m
}

func (m *machine) field(r *routine, v *core.Variable) {
	r.fields[v] = m.members.fresh(v.Name)
	r.vars = append(r.vars, v)
}

// reach finds the procedures that r calls.
func (m *machine) reach(r *routine) {
	for _, b := range r.blocks {
		eachStmt(b.Body, func(st pcal.Stmt) {
			c, ok := st.(*pcal.Call)
			if !ok {
				return
			}
			sc := r.sc.Called(c)
			if sc == nil || m.byScope[sc] != nil {
				return
			}
			p := m.procedure(sc)
			m.byScope[sc] = p
			m.routines = append(m.routines, p)
			m.reach(p)
		})
	}
}

func (m *machine) procedure(sc *shape.Scope) *routine {
	proc := sc.Procedure
	r := &routine{sc: sc, proc: proc, fields: map[*core.Variable]string{}, blocks: m.g.shapes.ProcedureBlocks(proc), labels: map[string]string{}, self: proc.Self}
	r.field = m.members.fresh(lowerFirst(goName(proc.Name)))
	r.typ = m.g.names.fresh(m.name + upperFirst(goName(proc.Name)))
	inside := newNames(nil)
	add := func(v *core.Variable) {
		r.fields[v] = inside.fresh(v.Name)
		r.vars = append(r.vars, v)
	}
	for _, p := range proc.Params {
		if ref := sc.Ref(p.Var); ref == nil || ref.Variable == p.Var {
			add(p.Var)
		}
	}
	for _, v := range proc.Locals {
		add(v.Var)
	}
	m.label(r)
	return r
}

// label names the labels of a routine.
func (m *machine) label(r *routine) {
	prefix := lowerFirst(m.name)
	if r.proc != nil {
		prefix = lowerFirst(r.typ)
	}
	for _, b := range r.blocks {
		constant := m.g.names.fresh(prefix + upperFirst(goName(b.Label)))
		r.labels[b.Label] = constant
		method := m.members.fresh(lowerFirst(goName(b.Label)))
		m.sections = append(m.sections, sectionName{constant, b.Label, placeOf(b.Span), method})
	}
}

func (m *machine) routineOf(sc *shape.Scope) *routine { return m.byScope[sc] }

// variable returns the Go expression of a variable declared in the scope owner.
func (m *machine) variable(owner *shape.Scope, v *core.Variable) val {
	r := m.byScope[owner]
	if r == nil || r.fields[v] == "" {
		m.g.unsupportedAt(v.Span, NotVisible, fmt.Sprintf("the variable %s is not in reach of compiled code", v.Name), "pass it as a ref parameter")
		return val{"_", m.g.any, precAtom}
	}
	code := "s." + r.fields[v]
	if r.proc != nil {
		code = "s." + r.field + "." + r.fields[v]
	}
	return val{code, owner.Var(v), precAtom}
}

// varsOf resolves the variables visible to the code of r.
func (m *machine) varsOf(r *routine) func(*core.Variable) (val, bool) {
	return func(v *core.Variable) (val, bool) {
		if r.fields[v] != "" {
			return m.variable(r.sc, v), true
		}
		if ref := r.sc.Ref(v); ref != nil && ref.Variable != nil {
			return m.variable(ref.Owner, ref.Variable), true
		}
		return val{}, false
	}
}

// assigned records an assignment: a variable without a first value has a value
// from now on, and a durable one may have changed.
func (m *machine) assigned(w *writer, v *core.Variable) {
	if flag := m.flags[v]; flag != "" {
		w.emit("s.%s = true", flag)
	}
	if i, ok := m.durable[v]; ok {
		w.emit("s.%s |= 1 << %d", m.changed, min(i, 63))
	}
}

// newSection prepares a section whose code runs in r.
func (m *machine) newSection(r *routine) *section {
	f := m.g.newFn(r.sc, "s.c")
	f.vars = m.varsOf(r)
	f.resource = func(p *pcal.Param) string { return "s." + m.refs[p] }
	s := &section{fn: f, m: m, at: r}
	if r.self != nil {
		f.bind(r.self, val{"s." + m.self, m.sc.Local(m.arch.Self), precAtom})
	}
	return s
}

// generate writes all code of the archetype.
func (m *machine) generate() {
	k := 0
	for _, r := range m.routines {
		for _, b := range r.blocks {
			w := m.methods
			w.emit("")
			m.g.last = ""
			m.g.comment(w, b.Span)
			s := m.newSection(r)
			s.stmts(b.Body)
			w.emit("func (s *%s) %s(tx *distsys.Tx) (distsys.Label, error) {", m.name, m.sections[k].method)
			w.append(s.out)
			w.emit("}")
			k++
		}
	}
}

// declare writes the struct and the constants.
func (m *machine) declare(w *writer) {
	g := m.g
	w.emit("")
	w.emit("// %s is an instance of archetype %s: its variables between two steps.", m.name, m.arch.Name)
	g.comment(w, m.arch.Span)
	w.emit("type %s struct {", m.name)
	w.emit("c *Constants")
	w.emit("%s %s", m.self, g.typeOf(m.selfShape()).name)
	for _, p := range m.arch.Params {
		if p.Ref {
			w.emit("%s distsys.Ref", m.refs[p])
		}
	}
	for _, v := range m.main.vars {
		w.emit("%s %s", m.main.fields[v], g.typeOf(m.sc.Var(v)).name)
	}
	for _, v := range m.main.vars {
		if m.flags[v] != "" {
			w.emit("%s bool // whether %s was assigned", m.flags[v], v.Name)
		}
	}
	for _, r := range m.routines[1:] {
		if len(r.vars) > 0 {
			w.emit("%s %s", r.field, r.typ)
		}
	}
	if len(m.routines) > 1 {
		w.emit("stack distsys.Stack[any]")
	}
	if m.changed != "" {
		w.emit("%s uint64 // the durable variables that the step has assigned", m.changed)
	}
	w.emit("}")
	for _, r := range m.routines[1:] {
		w.emit("")
		w.emit("// %s holds the variables of procedure %s.", r.typ, r.proc.Name)
		w.emit("type %s struct {", r.typ)
		for _, v := range r.vars {
			w.emit("%s %s", r.fields[v], g.typeOf(r.sc.Var(v)).name)
		}
		w.emit("}")
	}
	w.emit("")
	w.emit("// The labels of %s.", m.arch.Name)
	w.emit("const (")
	for i, s := range m.sections {
		if i == 0 {
			w.emit("%s distsys.Label = iota", s.constant)
		} else {
			w.emit("%s", s.constant)
		}
	}
	w.emit(")")
}

func (m *machine) selfShape() *shape.Shape {
	if s := m.sc.Local(m.arch.Self); s != nil {
		return s
	}
	return m.g.any
}

// glue writes the parts that distsys needs: the table of sections, the first
// values, the variables for traces, the constructor.
func (m *machine) glue(w *writer) {
	g := m.g
	m.code = g.names.fresh(lowerFirst(m.name) + "Code")
	initName := m.members.fresh("start")
	varsName := m.members.fresh("variables")
	w.emit("")
	w.emit("var %s = &distsys.Archetype[%s]{", m.code, m.name)
	w.emit("Name: %q,", m.arch.Name)
	w.emit("Sections: []distsys.Section[%s]{", m.name)
	for _, s := range m.sections {
		w.emit("%s: {Name: %q, Place: %q, Run: (*%s).%s},", s.constant, s.label, s.place, m.name, s.method)
	}
	w.emit("},")
	w.emit("Init: (*%s).%s,", m.name, initName)
	w.emit("Vars: (*%s).%s,", m.name, varsName)
	again := m.crashGlue(w)
	w.emit("Where: places.Trace,")
	if len(m.invs) > 0 {
		w.emit("Invariants: []distsys.Invariant[%s]{", m.name)
		for _, inv := range m.invs {
			w.emit("%s", inv)
		}
		w.emit("},")
	}
	w.emit("}")
	m.initMethod(w, initName, again)
	m.varsMethod(w, varsName)
	m.constructor(w)
}

// initMethod writes the method that gives the variables their first values. If
// the archetype survives crashes, a second method does so for the variables that
// are not durable; the start after a crash calls it.
func (m *machine) initMethod(w *writer, name, again string) {
	s := m.newSection(m.main)
	for i, v := range m.arch.Locals {
		if again != "" && i == len(m.durable) {
			m.initEnd(w, s, name, "s."+again+"(tx)")
			s, name, again = m.newSection(m.main), again, ""
		}
		field := "s." + m.main.fields[v.Var]
		want := m.sc.Var(v.Var)
		switch {
		case v.Init != nil:
			m.g.comment(s.out, v.Span)
			s.initialize(field, v, want)
		case m.g.shapes.Unset(v.Var):
			m.g.comment(s.out, v.Span)
			s.out.emit("%s = %s", field, m.g.initial(want))
		}
	}
	if again != "" {
		m.initEnd(w, s, name, "s."+again+"(tx)")
		s, name = m.newSection(m.main), again
	}
	for _, r := range m.routines[1:] {
		for _, p := range r.proc.Params {
			if f := r.fields[p.Var]; f != "" {
				s.out.emit("s.%s.%s = %s", r.field, f, m.g.initial(r.sc.Var(p.Var)))
			}
		}
		s.procedureLocals(r)
	}
	m.initEnd(w, s, name, "nil")
}

func (m *machine) initEnd(w *writer, s *section, name, result string) {
	w.emit("")
	w.emit("func (s *%s) %s(tx *distsys.Tx) error {", m.name, name)
	w.append(errorOnly(s.out))
	w.emit("return %s", result)
	w.emit("}")
}

// errorOnly rewrites the return statements of a section for a function that
// returns only an error.
func errorOnly(w *writer) *writer {
	out := &writer{}
	for _, p := range w.parts {
		switch {
		case p.slot != nil:
			out.append(errorOnly(p.slot))
		case p.line == "return 0, err":
			out.emit("return err")
		default:
			out.parts = append(out.parts, p)
		}
	}
	return out
}

func (m *machine) varsMethod(w *writer, name string) {
	g := m.g
	w.emit("")
	w.emit("func (s *%s) %s() []distsys.Var {", m.name, name)
	vars := m.main.vars
	if len(vars) == 0 {
		w.emit("return nil")
		w.emit("}")
		return
	}
	w.emit("vars := []distsys.Var{")
	for _, v := range vars {
		w.emit("{Name: %q, Value: %s},", v.Name, g.toValue("s."+m.main.fields[v], g.typeOf(m.sc.Var(v))))
	}
	w.emit("}")
	for i, v := range vars {
		if m.flags[v] != "" {
			w.emit("if !s.%s {", m.flags[v])
			w.emit("vars[%d].Value = value.Model(%q)", i, shape.DefaultInitValue)
			w.emit("}")
		}
	}
	w.emit("return vars")
	w.emit("}")
}

func (m *machine) constructor(w *writer) {
	g := m.g
	w.emit("")
	w.emit("func new%s(c *Constants, spawn distsys.Spawn) (distsys.Process, error) {", m.name)
	w.emit("s := %s{", m.name)
	w.emit("c: c,")
	for _, p := range m.arch.Params {
		if p.Ref {
			w.emit("%s: spawn.Ref(%q),", m.refs[p], p.Var.Name)
		}
	}
	w.emit("}")
	w.emit("err := value.Catch(func() {")
	w.emit("s.%s = %s", m.self, g.fromValue("spawn.Self", g.typeOf(m.selfShape())))
	for _, p := range m.arch.Params {
		if !p.Ref {
			w.emit("s.%s = %s", m.main.fields[p.Var], g.fromValue(fmt.Sprintf("spawn.Values[%q]", p.Var.Name), g.typeOf(m.sc.Var(p.Var))))
		}
	}
	w.emit("})")
	w.emit("if err != nil {")
	w.emit("return nil, fmt.Errorf(\"archetype %s(%%s): %%w\", spawn.Self, err)", m.arch.Name)
	w.emit("}")
	w.emit("return distsys.New(%s, spawn.Self, s, spawn.Options)", m.code)
	w.emit("}")
}

// template writes the archetype's entry in the System.
func (m *machine) template(w *writer) {
	w.emit("{")
	w.emit("Name: %q,", m.arch.Name)
	if m.arch.Restart != "" {
		w.emit("Crashes: true,")
	}
	if len(m.arch.Params) > 0 {
		w.emit("Params: []distsys.Param{")
		for _, p := range m.arch.Params {
			if !p.Ref {
				w.emit("{Name: %q},", p.Var.Name)
				continue
			}
			line := fmt.Sprintf("{Name: %q, Ref: true", p.Var.Name)
			if p.Mapping > 0 {
				line += fmt.Sprintf(", Indices: %d", p.Mapping)
			}
			if why := m.relaxed[p]; why == "" {
				line += ", Relaxed: true"
			} else {
				line += fmt.Sprintf(", NotRelaxed: %q", why)
			}
			if m.lossy(p) {
				line += ", Lossy: true"
			}
			line += m.g.crashOf(m.arch, p)
			w.emit("%s},", line)
		}
		w.emit("},")
	}
	w.emit("New: func(s distsys.Spawn) (distsys.Process, error) { return new%s(c, s) },", m.name)
	w.emit("},")
}

// eachStmt calls f for every statement of a list, including nested ones.
func eachStmt(list []pcal.Stmt, f func(pcal.Stmt)) {
	for _, st := range list {
		f(st)
		switch st := st.(type) {
		case *pcal.If:
			eachStmt(st.Then, f)
			eachStmt(st.Else, f)
		case *pcal.Either:
			for _, b := range st.Branches {
				eachStmt(b, f)
			}
		case *pcal.With:
			eachStmt(st.Body, f)
		case *pcal.Read:
			eachStmt(st.Body, f)
			eachStmt(st.Rest, f)
		case *pcal.Write:
			eachStmt(st.Body, f)
		}
	}
}

func (g *generator) unsupported(e core.Expr, code source.Code, message, repair string) {
	g.unsupportedAt(e.Span(), code, message, repair)
}

func (g *generator) unsupportedAt(at source.Span, code source.Code, message, repair string) {
	g.diags.Add(source.Diagnostic{Code: code, Span: at, Message: message, Repair: repair})
}
