// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/resolve"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// Lowering an algorithm.
//
// Every body goes through three passes. The first expands macros, reads every
// expression in the scope of its final place, and produces items: statements
// that still nest and still have their labels. The second checks the labels
// against the rules and adds those that the user may leave out. The third cuts
// the items at the labels into blocks.

// Algorithm lowers the root module's algorithm in scope, which is the Program's
// AlgorithmScope or derived from it. It reports errors in the algorithm to the
// Program's list. The result is nil if there is no algorithm. The caller must
// not use it if an error was reported.
func (p *Program) Algorithm(scope *Scope) *pcal.Algorithm {
	a := p.info.Root.Syntax.Algorithm
	if a == nil {
		return nil
	}
	return p.AlgorithmOf(a, scope)
}

// AlgorithmOf is Algorithm for another algorithm in the root module's file: the
// PlusCal that a Modular one was translated to.
func (p *Program) AlgorithmOf(a *syntax.Algorithm, scope *Scope) *pcal.Algorithm {
	r := &algorithm{p: p, a: a, outer: scope, macros: map[string]*syntax.Macro{}, expanded: map[*syntax.Macro]bool{},
		procedures: map[string]*procedure{}, archetypes: map[string]*pcal.Archetype{}, mappings: map[string]*pcal.Mapping{}}
	r.out = &pcal.Algorithm{Name: a.Name.Text, Modular: a.Modular, Span: a.Span(), DefineSpan: inner(a.DefineSpan),
		PC: newVariable("pc", source.Span{}), Stack: newVariable("stack", source.Span{})}
	if a.Fair {
		r.out.Fair = pcal.Weak
	}
	r.options()
	r.globals()
	r.signatures()
	r.bodies()
	r.unusedMacros()
	r.finish()
	r.out.NamesPC = r.namesPC()
	return r.out
}

// namesPC reports whether the define block or a body mentions pc.
func (r *algorithm) namesPC() bool {
	found := false
	visit := func(e core.Expr) bool {
		if v, ok := e.(*core.VarRef); ok && v.Var == r.out.PC {
			found = true
		}
		return !found
	}
	for _, d := range r.out.Define {
		if d.Body != nil {
			core.Walk(d.Body, visit)
		}
	}
	for _, p := range r.out.Processes {
		for _, b := range p.Blocks {
			pcal.InspectStmts(b.Body, nil, visit)
		}
	}
	return found
}

// algorithm is the state of lowering one algorithm.
type algorithm struct {
	p   *Program
	a   *syntax.Algorithm
	out *pcal.Algorithm
	// outer is the module's scope; pure adds the define block; model adds the
	// variables as well.
	outer, pure, model *Scope

	macros     map[string]*syntax.Macro
	expanded   map[*syntax.Macro]bool
	procedures map[string]*procedure
	archetypes map[string]*pcal.Archetype
	mappings   map[string]*pcal.Mapping
	// locals are the variables that belong to some process or procedure. They
	// are for messages about a process that mentions another's variable.
	locals []*pcal.Variable

	// autoLabels asks for the labels that the user left out.
	autoLabels bool
	labelRoot  string
	labelCount int
	fairness   pcal.Fairness // the fairness that an option sets for every process
	statements int
	tooLarge   bool
}

// procedure is a procedure together with its text.
type procedure struct {
	syntax *syntax.Procedure
	out    *pcal.Procedure
}

func newVariable(name string, span source.Span) *core.Variable {
	return &core.Variable{Name: name, Index: -1, Span: span}
}

func (r *algorithm) error(span source.Span, code source.Code, repair, format string, args ...any) {
	r.p.diags.Add(source.Diagnostic{Code: code, Span: span, Message: fmt.Sprintf(format, args...), Repair: repair})
}

// inner is the text of a define block without the words or brackets around it.
func inner(span source.Span) source.Span {
	if !span.IsValid() {
		return span
	}
	text := span.Text()
	end := strings.TrimRight(text, "; \t\r\n")
	for _, closing := range []string{"}", "define", "end"} {
		end = strings.TrimRight(strings.TrimSuffix(end, closing), " \t\r\n")
	}
	start := strings.TrimLeft(strings.TrimPrefix(text, "define"), " \t")
	if strings.HasPrefix(end, "define") && strings.HasPrefix(strings.TrimLeft(start, "\r\n \t"), "{") {
		start = strings.TrimLeft(start, "\r\n \t")[1:]
	}
	from := len(text) - len(start)
	if from > len(end) {
		from = len(end)
	}
	span.End = span.Start + int32(len(end))
	span.Start += int32(from)
	return span
}

// options reads "PlusCal options (...)".
func (r *algorithm) options() {
	r.labelRoot = "Lbl_"
	words := r.a.Options
	for i := 0; i < len(words); i++ {
		switch w := words[i]; w.Text {
		case "label", "reportLabels":
			r.autoLabels = true
		case "labelRoot":
			if i++; i < len(words) {
				r.labelRoot = words[i].Text
			}
		case "wf":
			r.fairness = pcal.Weak
		case "sf":
			r.fairness = pcal.Strong
		case "wfNext":
			r.out.Fair = pcal.Weak
		case "lineWidth":
			i++
		case "nof", "termination", "noDoneDisjunct", "nocfg", "spec", "spec2", "unixEOL", "version":
		default:
			r.p.diags.Warnf(w.Span(), UnknownOption, "unknown option %s of an algorithm", w.Text)
		}
	}
	if r.a.Body != nil && !r.autoLabels {
		r.autoLabels = !hasLabel(r.a.Body)
		for _, p := range r.a.Procedures {
			r.autoLabels = r.autoLabels && !hasLabel(p.Body)
		}
	}
}

// hasLabel reports whether the user wrote a label in the block.
func hasLabel(b *syntax.Block) bool {
	if b == nil {
		return false
	}
	for _, s := range b.Body {
		if s.Label() != nil {
			return true
		}
		found := false
		switch s := s.(type) {
		case *syntax.Block:
			found = hasLabel(s)
		case *syntax.IfStmt:
			found = hasLabel(s.Then) || hasLabel(s.Else)
		case *syntax.While:
			found = hasLabel(s.Body)
		case *syntax.With:
			found = hasLabel(s.Body)
		case *syntax.Either:
			for _, x := range s.Branches {
				found = found || hasLabel(x)
			}
		}
		if found {
			return true
		}
	}
	return false
}

// declare makes variables of declarations without their initial values.
func (r *algorithm) declare(list []*syntax.PlusVar) []*pcal.Variable {
	var out []*pcal.Variable
	seen := map[string]source.Span{}
	for _, v := range list {
		r.unique(v.Name, seen)
		out = append(out, &pcal.Variable{Var: newVariable(v.Name.Text, v.Name.Span()), In: v.In, Span: v.Span()})
	}
	return out
}

// unique reports a name that is reserved, that the module already has, or that
// is in seen. It adds the name to seen.
func (r *algorithm) unique(n syntax.Name, seen map[string]source.Span) {
	m := r.outer.Lookup(n.Text)
	switch {
	case n.Text == "pc" || n.Text == "stack" || n.Text == "self":
		r.error(n.Span(), resolve.Redefined, "choose another name", "%s has a predefined meaning in every algorithm", n.Text)
	case m.Variable != nil || m.Def != nil || m.Constant != nil || m.Other:
		r.error(n.Span(), resolve.Redefined, "choose another name", "%s is declared already by the module", n.Text)
	case seen[n.Text].IsValid():
		r.p.diags.Add(source.Diagnostic{Code: resolve.Redefined, Span: n.Span(), Message: n.Text + " is declared twice",
			Repair: "choose another name", Related: []source.Note{{Span: seen[n.Text], Message: "other declaration here"}}})
	}
	seen[n.Text] = n.Span()
}

// initialise reads the initial values of variables in scope.
func (r *algorithm) initialise(out []*pcal.Variable, list []*syntax.PlusVar, scope *Scope) {
	for i, v := range list {
		if v.Init != nil {
			out[i].Init = scope.Expr(v.Init)
		}
	}
}

func variablesOf(list []*pcal.Variable) []*core.Variable {
	out := make([]*core.Variable, len(list))
	for i, v := range list {
		out[i] = v.Var
	}
	return out
}

// globals declares the global variables and reads the define block.
func (r *algorithm) globals() {
	r.out.Globals = r.declare(r.a.Variables)
	vars := append(variablesOf(r.out.Globals), r.out.PC, r.out.Stack)
	r.model, r.out.Define = r.outer.WithVariables(vars...).Define(r.a.Define)
	r.p.define = r.model.names
	r.initialise(r.out.Globals, r.a.Variables, r.model)
	r.pure = r.outer
	if r.a.Modular {
		r.pure = r.outer.with(r.out.Define).withInstances(r.model)
	}
}

// withInstances adds the names that the INSTANCEs among the definitions of a
// scope brought: the names of named instances, or those of the module.
func (s *Scope) withInstances(from *Scope) *Scope {
	for _, name := range from.names.Names() {
		sym := from.names.Lookup(name)
		if sym != nil && (sym.Kind == resolve.Instanced || sym.Instance != nil || sym.Module != s.p.info.Root) {
			s.names.Put(name, sym)
		}
	}
	return s
}

// with adds definitions that exist already.
func (s *Scope) with(defs []*core.Def) *Scope {
	out := s.inner()
	for _, d := range defs {
		params := make([]int, len(d.Params))
		for i, p := range d.Params {
			params[i] = p.Arity
		}
		sym := &resolve.Symbol{Kind: resolve.Operator, Name: d.Name, Params: params, Span: d.Span, Module: s.p.info.Root}
		s.p.defs[sym] = d
		out.names.Put(d.Name, sym)
	}
	return out
}

// signatures declares everything that bodies refer to by name.
func (r *algorithm) signatures() {
	seen := map[string]source.Span{}
	once := func(n syntax.Name, what string) {
		if old, ok := seen[n.Text]; ok {
			r.p.diags.Add(source.Diagnostic{Code: DuplicateName, Span: n.Span(), Message: fmt.Sprintf("%s %s has a name that is already used", what, n.Text),
				Repair: "choose another name", Related: []source.Note{{Span: old, Message: "other declaration here"}}})
		}
		seen[n.Text] = n.Span()
	}
	for _, m := range r.a.Macros {
		once(m.Name, "macro")
		r.macros[m.Name.Text] = m
	}
	for _, s := range r.a.Procedures {
		once(s.Name, "procedure")
		p := &pcal.Procedure{Name: s.Name.Text, Modular: s.Modular && r.a.Modular, Span: s.Name.Span(), Self: newSelf(s.Name.Span())}
		p.Params = r.params(s.Params)
		p.Locals = r.declare(s.Variables)
		r.procedures[p.Name] = &procedure{syntax: s, out: p}
		r.out.Procedures = append(r.out.Procedures, p)
		r.needs("Head", "Sequences", "a procedure", s.Name.Span())
		if !p.Modular {
			for _, q := range p.Params {
				r.locals = append(r.locals, &q.Variable)
			}
			r.locals = append(r.locals, p.Locals...)
		}
	}
	for _, s := range r.a.Processes {
		once(s.Name, "process")
		p := &pcal.Process{Name: s.Name.Text, Set: s.In, Span: s.Name.Span(), Fair: r.fair(s.Fairness), Self: newSelf(s.Name.Span())}
		p.Id = r.model.Expr(s.Set)
		p.Locals = r.declare(s.Variables)
		r.out.Processes = append(r.out.Processes, p)
		r.locals = append(r.locals, p.Locals...)
	}
	for _, s := range r.a.MappingMacros {
		once(s.Name, "mapping macro")
	}
	for _, s := range r.a.Archetypes {
		once(s.Name, "archetype")
	}
	for _, s := range r.a.Instances {
		once(s.Name, "process")
	}
}

func newSelf(span source.Span) *core.Local { return &core.Local{Name: "self", Span: span} }

func (r *algorithm) fair(k syntax.FairnessKind) pcal.Fairness {
	switch k {
	case syntax.WeakFair:
		return pcal.Weak
	case syntax.StrongFair:
		return pcal.Strong
	}
	return r.fairness
}

func (r *algorithm) params(list []*syntax.Param) []*pcal.Param {
	var out []*pcal.Param
	seen := map[string]source.Span{}
	for _, s := range list {
		r.unique(s.Name, seen)
		p := &pcal.Param{Ref: s.Ref, Mapping: s.Indices}
		p.Variable = pcal.Variable{Var: newVariable(s.Name.Text, s.Name.Span()), Span: s.Span()}
		if s.Init != nil {
			p.Init = r.model.Expr(s.Init)
		}
		out = append(out, p)
	}
	return out
}

// needs reports a module that the translation of a construct depends on.
func (r *algorithm) needs(name, module, what string, span source.Span) {
	if r.outer.Lookup(name).Def == nil {
		r.error(span, ModuleNeeded, "add "+module+" to the EXTENDS of the module", "%s needs %s of module %s", what, name, module)
	}
}

// bodies lowers everything that has a body.
func (r *algorithm) bodies() {
	for _, s := range r.a.Procedures {
		p := r.procedures[s.Name.Text].out
		scope, modular := r.model, p.Modular
		if modular {
			scope = r.pure
		}
		scope = scope.WithLocals(p.Self).WithVariables(variablesOf(p.Locals)...)
		for _, q := range p.Params {
			scope = scope.WithVariables(q.Var)
		}
		r.initialise(p.Locals, s.Variables, scope)
		b := &body{algorithm: r, scope: scope, what: "procedure " + p.Name, procedure: p, end: pcal.LabelError, many: modular}
		b.params(p.Params, modular)
		p.Blocks, _ = b.lower(s.Body)
	}
	for i, s := range r.a.Processes {
		p := r.out.Processes[i]
		scope := r.model.WithLocals(p.Self).WithVariables(variablesOf(p.Locals)...)
		r.initialise(p.Locals, s.Variables, scope)
		b := &body{algorithm: r, scope: scope, what: "process " + p.Name, end: pcal.LabelDone, many: r.a.Modular}
		p.Blocks, p.Forever = b.lower(s.Body)
	}
	r.mappingMacros()
	r.templates()
	r.instances()
	r.crashes()
	r.warnCrashes()
	if r.a.Body != nil {
		p := &pcal.Process{Name: r.a.Name.Text, Span: r.a.Body.Span()}
		if r.fairness != pcal.Unfair {
			r.out.Fair = r.fairness
		}
		b := &body{algorithm: r, scope: r.model, what: "algorithm " + p.Name, end: pcal.LabelDone, many: r.a.Modular}
		p.Blocks, p.Forever = b.lower(r.a.Body)
		r.out.Processes = append(r.out.Processes, p)
	}
}

// finish makes the checks that need the whole algorithm.
func (r *algorithm) finish() {
	if len(r.a.Instances) == 0 && len(r.out.Processes) == 0 { // instances with errors are included
		code := StatementMisplaced
		if r.a.Modular {
			code = MPCalEffectivelyNoProcesses
		}
		r.error(r.a.Name.Span(), code, "add a process, or an instance of an archetype", "algorithm %s has nothing that runs: expected a process, an instance or a body", r.a.Name.Text)
	}
}
