// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/resolve"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// body is the state of lowering one body of statements.
type body struct {
	*algorithm
	scope     *Scope
	what      string // "process P", for messages
	procedure *pcal.Procedure
	end       string // where control goes after the end
	// many permits several assignments to a variable in a step.
	many bool
	// refs are the ref parameters, in an archetype or a modular procedure.
	refs map[*core.Variable]*pcal.Param
	// template reports that the body may use nothing from outside except
	// constants.
	template bool
	// yields reports that the body belongs to a mapping macro.
	yields bool

	via    *expansion
	labels map[string]*label
	blocks []*pcal.Block
	order  int
}

// expansion is a chain of macro calls, innermost first.
type expansion struct {
	macro *syntax.Macro
	at    source.Span
	outer *expansion
}

// itemKind states how an item nests.
type itemKind uint8

const (
	leafItem   itemKind = iota
	ifItem              // branches: then, else
	eitherItem          // branches
	withItem            // one branch
	whileItem           // one branch
)

// item is a statement whose expressions are lowered and whose labels are still
// to be handled.
type item struct {
	kind     itemKind
	label    *label
	span     source.Span
	via      *expansion
	leaf     pcal.Stmt // of a leafItem
	cond     core.Expr // of an if or a while
	with     pcal.With // Var, In and X of a with
	branches [][]*item
	// jumps reports that control may leave the step inside the item: at a
	// label, a goto, a call or a return.
	jumps bool
}

// label is a label that the user wrote or that was added.
type label struct {
	name        string
	plus, minus bool
	auto        bool
	span        source.Span
	order       int
}

func (b *body) params(list []*pcal.Param, template bool) {
	b.template = template
	b.refs = map[*core.Variable]*pcal.Param{}
	for _, p := range list {
		if p.Ref {
			b.refs[p.Var] = p
		}
	}
}

// lower makes the blocks of a body; forever reports that the body is a single
// endless loop without labels inside.
func (b *body) lower(s *syntax.Block) (blocks []*pcal.Block, forever bool) {
	before := b.p.diags.Len()
	items := b.block(s)
	b.labels = map[string]*label{}
	items = b.checkLabels(items, s.Span())
	if b.p.diags.Len() > before && b.p.diags.HasErrors() {
		return nil, false
	}
	if len(items) == 1 && items[0].kind == whileItem && isTrue(items[0].cond) {
		inner := false
		for _, it := range items[0].branches[0] {
			inner = inner || it.jumps || it.label != nil
		}
		forever = !inner
	}
	return b.cut(items), forever
}

func isTrue(e core.Expr) bool {
	t, ok := e.(*core.Bool)
	return ok && t.Val
}

// report adds a diagnostic found in an expanded macro, with the chain of calls
// that led there.
func (b *body) report(list *source.List) {
	for _, d := range list.Sorted() {
		if b.via != nil && d.Code == resolve.UnknownName {
			d.Code = UnboundFreeVariable
		}
		for v := b.via; v != nil; v = v.outer {
			d.Related = append(d.Related, source.Note{Span: v.at, Message: "derived via the expansion of macro " + v.macro.Name.Text + " here"})
		}
		b.p.diags.Add(d)
	}
}

// fail reports an error of the body.
func (b *body) fail(span source.Span, code source.Code, repair, format string, args ...any) {
	var list source.List
	list.Add(source.Diagnostic{Code: code, Span: span, Message: fmt.Sprintf(format, args...), Repair: repair})
	b.report(&list)
}

// collect calls f while the Program's diagnostics go to a separate list.
func (p *Program) collect(f func()) *source.List {
	outer := p.diags
	list := &source.List{}
	p.diags = list
	f()
	p.diags = outer
	return list
}

// x lowers an expression of the body. An unknown name may be a variable of
// another process, or a name that an archetype must not use; x reports those
// cases specially.
func (b *body) x(e syntax.Expr) core.Expr {
	var out core.Expr
	list := b.p.collect(func() { out = b.scope.Expr(e) })
	if list.HasErrors() && onlyUnknown(list) {
		if b.template {
			hidden := b.p.collect(func() { b.scope.underlaid(variablesOf(b.out.Globals)).Expr(e) })
			if !hidden.HasErrors() {
				b.hidden(list)
				return &core.Bad{At: at(e)}
			}
		} else if foreign := b.foreign(); len(foreign) > 0 {
			again := b.p.collect(func() { out = b.scope.underlaid(foreign).Expr(e) })
			if !again.HasErrors() {
				list = again
			}
		}
	}
	b.report(list)
	if !list.HasErrors() {
		b.checkUse(out)
	}
	return out
}

func onlyUnknown(list *source.List) bool {
	for _, d := range list.Sorted() {
		if d.Severity == source.Error && d.Code != resolve.UnknownName {
			return false
		}
	}
	return true
}

// underlaid adds variables that any other name hides.
func (s *Scope) underlaid(vars []*core.Variable) *Scope {
	var fresh []*core.Variable
	for _, v := range vars {
		if s.Lookup(v.Name) == (Meaning{}) {
			fresh = append(fresh, v)
		}
	}
	return s.WithVariables(fresh...)
}

// hidden reports global variables used in an archetype.
func (b *body) hidden(list *source.List) {
	var out source.List
	for _, d := range list.Sorted() {
		d.Code = MPCalGlobalInArchetype
		name := d.Span.Text()
		d.Message = fmt.Sprintf("%s cannot see the global variable %s: expected a parameter, a variable of its own or a constant", b.what, name)
		d.Repair = "add a parameter ref " + name + " and pass the variable"
		out.Add(d)
	}
	b.report(&out)
}

// foreign lists the variables of other processes and procedures whose names
// are unique.
func (b *body) foreign() []*core.Variable {
	count := map[string]int{}
	for _, v := range b.locals {
		count[v.Var.Name]++
	}
	var out []*core.Variable
	for _, v := range b.locals {
		if count[v.Var.Name] == 1 {
			out = append(out, v.Var)
		}
	}
	return out
}

// checkUse checks an expression of an archetype or modular procedure against
// the rules for its parameters and for operators.
func (b *body) checkUse(e core.Expr) {
	if !b.template {
		return
	}
	var walk func(e core.Expr, applied int)
	walk = func(e core.Expr, applied int) {
		switch e := e.(type) {
		case *core.Apply:
			walk(e.Fn, applied+1)
			walk(e.Arg, 0)
			return
		case *core.VarRef:
			if p := b.refs[e.Var]; p != nil && applied < p.Mapping {
				b.fail(e.Span(), MPCalKindMismatch, "index it: "+indexed(p), "%s is read with %d indices, and its parameter is ref %s", e.Var.Name, applied, indexed(p))
			}
		case *core.Call:
			if t := b.p.tasks[e.Def]; t != nil && !t.nested && e.Def.Level != core.ConstantLevel {
				b.fail(e.Span(), MPCalGlobalInArchetype, "pass what it needs as arguments",
					"%s uses the operator %s, which depends on variables: expected one that depends on its arguments only", b.what, e.Def.Name)
			}
		}
		for x := range core.Children(e, core.TextOrder) {
			walk(x, 0)
		}
	}
	walk(e, 0)
}

// indexed writes a parameter with its indices: net[_].
func indexed(p *pcal.Param) string {
	out := p.Var.Name
	for range p.Mapping {
		out += "[_]"
	}
	return out
}

// block expands the statements of a block.
func (b *body) block(s *syntax.Block) []*item {
	if s == nil {
		return nil
	}
	return b.list(s.Body)
}

func (b *body) list(stmts []syntax.Stmt) []*item {
	var out []*item
	for _, s := range stmts {
		if b.statements++; b.statements > StatementsMax {
			if !b.tooLarge {
				b.fail(s.Span(), AlgorithmTooLarge, "make a procedure of a macro that is used often", "the algorithm has more than %d statements when its macros are expanded", StatementsMax)
			}
			b.tooLarge = true
			return out
		}
		items := b.stmt(s)
		if l := s.Label(); l != nil {
			if len(items) == 0 || items[0].label != nil {
				// A statement with an error keeps its label too. "a: b: skip"
				// with a block between makes an empty step for a.
				items = append([]*item{{leaf: &pcal.Skip{At: pcal.At{Place: l.Span()}}, span: l.Span(), via: b.via}}, items...)
			}
			items[0].label = &label{name: l.Name.Text, plus: l.Modifier == '+', minus: l.Modifier == '-', span: l.Name.Span()}
		}
		out = append(out, items...)
	}
	return out
}

func (b *body) leaf(s pcal.Stmt) []*item { return []*item{{leaf: s, span: s.Span(), via: b.via}} }

// stmt expands a statement without its label.
func (b *body) stmt(s syntax.Stmt) []*item {
	place := pcal.At{Place: s.Span()}
	switch s := s.(type) {
	case *syntax.Block:
		items := b.block(s)
		if len(items) == 0 {
			return b.leaf(&pcal.Skip{At: place})
		}
		return items
	case *syntax.Assign:
		return b.assign(s)
	case *syntax.IfStmt:
		it := &item{kind: ifItem, span: s.Span(), via: b.via, cond: b.x(s.Cond)}
		it.branches = [][]*item{b.block(s.Then), b.block(s.Else)}
		return []*item{it}
	case *syntax.While:
		it := &item{kind: whileItem, span: s.Span(), via: b.via, cond: b.x(s.Cond)}
		it.branches = [][]*item{b.block(s.Body)}
		return []*item{it}
	case *syntax.Either:
		it := &item{kind: eitherItem, span: s.Span(), via: b.via}
		for _, x := range s.Branches {
			it.branches = append(it.branches, b.block(x))
		}
		return []*item{it}
	case *syntax.With:
		return b.with(s.Binds, s)
	case *syntax.Await:
		return b.leaf(&pcal.Await{At: place, Cond: b.x(s.Cond)})
	case *syntax.Print:
		b.needs("PrintT", "TLC", "print", s.Span())
		return b.leaf(&pcal.Print{At: place, X: b.x(s.Value)})
	case *syntax.Assert:
		b.needs("Assert", "TLC", "assert", s.Span())
		return b.leaf(&pcal.Assert{At: place, Cond: b.x(s.Cond)})
	case *syntax.Skip:
		return b.leaf(&pcal.Skip{At: place})
	case *syntax.Return:
		if b.procedure == nil {
			b.fail(s.Span(), StatementMisplaced, "goto Done ends a process", "return in %s: expected it in a procedure", b.what)
		}
		return b.leaf(&pcal.Return{At: place})
	case *syntax.Goto:
		return b.leaf(&pcal.Goto{At: pcal.At{Place: s.Target.Span()}, Label: s.Target.Text})
	case *syntax.Call:
		return b.call(s)
	case *syntax.MacroCall:
		return b.macro(s)
	case *syntax.Yield:
		if !b.yields {
			b.fail(s.Span(), StatementMisplaced, "", "yield in %s: expected it in a mapping macro", b.what)
		}
		return b.leaf(&pcal.Yield{At: place, X: b.x(s.Value)})
	}
	return nil // a BadStmt, which was reported
}

// with nests the bindings of a with statement; each sees those before it.
func (b *body) with(binds []*syntax.PlusVar, s *syntax.With) []*item {
	if len(binds) == 0 {
		return b.block(s.Body)
	}
	v := binds[0]
	it := &item{kind: withItem, span: s.Span(), via: b.via}
	it.with.At = pcal.At{Place: v.Span()}
	it.with.In = v.In
	it.with.Var = &core.Local{Name: v.Name.Text, Span: v.Name.Span()}
	if v.Init == nil {
		return nil // reported by the parser
	}
	it.with.X = b.x(v.Init)
	outer := b.scope
	b.scope = outer.WithLocals(it.with.Var)
	it.branches = [][]*item{b.with(binds[1:], s)}
	b.scope = outer
	return []*item{it}
}

// macro expands a macro call. A parameter stands for its argument, which is
// read in the scope of the call; every other name in the macro's body is also
// read in that scope.
func (b *body) macro(s *syntax.MacroCall) []*item {
	m := b.macros[s.Macro.Text]
	if m == nil {
		repair := ""
		if b.procedures[s.Macro.Text] != nil {
			repair = "a procedure is called with call " + s.Macro.Text + "(...)"
		}
		b.fail(s.Macro.Span(), MacroLookup, repair, "there is no macro %s", s.Macro.Text)
		return nil
	}
	for v := b.via; v != nil; v = v.outer {
		if v.macro == m {
			b.fail(s.Span(), RecursiveMacro, "use a procedure", "macro %s expands to itself", m.Name.Text)
			return nil
		}
	}
	if len(m.Params) != len(s.Args) {
		b.fail(s.Span(), ArgumentCountMismatch, "", "macro %s takes %s, but is given %s", m.Name.Text, plural(len(m.Params), "argument"), plural(len(s.Args), "argument"))
		return nil
	}
	b.expanded[m] = true
	scope := b.scope
	for i, p := range m.Params {
		scope = scope.WithExpr(p.Text, b.argument(s.Args[i]))
	}
	outer := b.scope
	b.scope = scope
	b.via = &expansion{macro: m, at: s.Span(), outer: b.via}
	items := b.block(m.Body)
	b.via, b.scope = b.via.outer, outer
	for _, it := range items {
		forbidLabels(b, it)
	}
	if len(items) == 0 && !b.tooLarge {
		items = b.leaf(&pcal.Skip{At: pcal.At{Place: s.Span()}})
	}
	return items
}

// argument reads the argument of a macro. A resource given by its bare name is
// checked only where the macro uses it.
func (b *body) argument(e syntax.Expr) core.Expr {
	if id, ok := e.(*syntax.Ident); ok && b.template {
		if m := b.scope.Lookup(id.Name); m.Variable != nil && b.refs[m.Variable] != nil {
			return &core.VarRef{At: at(e), Var: m.Variable}
		}
	}
	return b.x(e)
}

// forbidLabels reports labels in a macro's body.
func forbidLabels(b *body, it *item) {
	if it.label != nil {
		b.fail(it.label.span, LabelForbidden, "use a procedure, or put the label where the macro is used", "a label in a macro")
		it.label = nil
	}
	for _, list := range it.branches {
		for _, x := range list {
			forbidLabels(b, x)
		}
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if what == "index" {
		return fmt.Sprintf("%d indices", n)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// call lowers a call. The label that it returns to is found when the body is
// cut.
func (b *body) call(s *syntax.Call) []*item {
	p := b.procedures[s.Procedure.Text]
	if p == nil {
		repair := ""
		if b.macros[s.Procedure.Text] != nil {
			repair = "a macro is used without call: " + s.Procedure.Text + "(...)"
		}
		b.fail(s.Procedure.Span(), ProcedureLookup, repair, "there is no procedure %s", s.Procedure.Text)
		return nil
	}
	if b.yields || (b.template && !p.out.Modular) {
		b.fail(s.Span(), StatementMisplaced, "", "%s cannot call procedure %s: expected a call from a process, or of a modular procedure", b.what, p.out.Name)
		return nil
	}
	out := &pcal.Call{At: pcal.At{Place: s.Span()}, Proc: p.out}
	if len(s.Args) != len(p.out.Params) {
		b.fail(s.Span(), PClArityMismatch, "", "procedure %s takes %s, but is given %s", p.out.Name,
			plural(len(p.out.Params), "argument"), plural(len(s.Args), "argument"))
		return nil
	}
	for i, a := range s.Args {
		out.Args = append(out.Args, b.callArgument(a, p.out.Params[i]))
	}
	return b.leaf(out)
}

func (b *body) callArgument(a syntax.Expr, param *pcal.Param) pcal.Arg {
	ref, ok := a.(*syntax.RefArg)
	if !ok {
		return pcal.Arg{X: b.x(a), Span: a.Span()}
	}
	arg := pcal.Arg{Count: ref.Indices, Span: a.Span(), X: &core.Bad{At: at(a)}}
	v, path := b.target(ref.Name)
	switch {
	case v == nil:
		return arg
	case len(path) > 0:
		b.fail(a.Span(), PCalInvalidAssignment, "", "a part of %s is passed by reference: expected a whole variable", v.Name)
		return arg
	case !param.Ref:
		b.fail(a.Span(), MPCalMappingValueRefMismatch, "pass the value, without ref", "%s is passed by reference, and the parameter %s is not a ref", v.Name, param.Var.Name)
		return arg
	case ref.Indices != param.Mapping:
		b.fail(a.Span(), MPCalKindMismatch, "", "%s is passed with %s, and the parameter is ref %s", v.Name, plural(ref.Indices, "index"), indexed(param))
		return arg
	}
	if own := b.refs[v]; own != nil && own.Mapping != ref.Indices {
		b.fail(a.Span(), MPCalKindMismatch, "", "%s is passed with %s, and its own parameter is ref %s", v.Name, plural(ref.Indices, "index"), indexed(own))
		return arg
	}
	arg.Ref, arg.X = v, nil
	return arg
}
