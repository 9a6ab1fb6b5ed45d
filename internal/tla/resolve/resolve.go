// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// Library finds the modules that a root reaches, by name.
type Library interface {
	// Find returns the parsed module of the given name and the diagnostics of
	// its parsing (nil if there are none). It returns nil if there is no such
	// module. standard reports that the module is built in.
	Find(name string) (module *syntax.Module, standard bool, diags *source.List)
	// Searched describes where Find looks, in order, for messages.
	Searched() []string
	// Names lists the modules that Find could find, for messages.
	Names() []string
}

// Options change what Resolve does; the zero value resolves whole modules.
type Options struct {
	// Insert, if set, is called when resolution reaches the offset At of the
	// root's file, with the names known so far. It returns the symbols that an
	// algorithm, not the module's text, declares there. A symbol that already has
	// a Module was declared in the algorithm itself. Insert is not called after an
	// error. If Insert reports an error, or Stop is set, resolution stops there.
	At     int32
	Insert func(*Info) []*Symbol
	Stop   bool
}

// Resolve resolves root and all modules that it reaches. It adds diagnostics to
// diags, including those of modules that do not parse. The Info is never nil;
// it may be lowered only if no error was added.
func Resolve(root *syntax.Module, lib Library, options Options, diags *source.List) *Info {
	info := &Info{
		Uses:      map[syntax.Node]*Symbol{},
		Binds:     map[syntax.Node][]*Symbol{},
		Defs:      map[syntax.Node]*Symbol{},
		Instances: map[*syntax.Instance]*Instance{},
		Paths:     map[*syntax.Path]*PathUse{},
	}
	g := &graph{info: info, lib: lib, diags: diags, files: map[string]*Module{}}
	m := &Module{Name: root.Name.Text, Syntax: root}
	info.Root = m
	g.files[m.Name] = m
	g.path = append(g.path, root.Name)
	g.resolve(m, nil, options)
	if root.Algorithm != nil {
		g.reach(root.Algorithm)
	}
	return info
}

// reach finds the modules that the define block of an algorithm instantiates. It
// runs first because no further file is read when the text of the block is
// resolved.
func (g *graph) reach(a *syntax.Algorithm) {
	for _, u := range a.Define {
		syntax.Inspect(u, func(n syntax.Node) bool {
			if x, ok := n.(*syntax.Instance); ok && !g.within(x.Module) {
				g.find(x.Module)
			}
			return true
		})
	}
}

// within reports whether a name is that of a module nested in the root.
func (g *graph) within(name syntax.Name) bool {
	return g.info.Root.Names.Lookup(moduleKey(name.Text)) != nil
}

// Expr resolves another expression of the root module's algorithm in scope and
// adds the results to the tables of the Info. It returns the level of the
// expression.
func (info *Info) Expr(scope *Scope, e syntax.Expr, diags *source.List) Level {
	r := info.reader(scope, diags)
	r.value(e)
	return r.levelOf(e)
}

// Units resolves the definitions of a define block in scope and adds their
// names to scope.
func (info *Info) Units(scope *Scope, units []syntax.Unit, diags *source.List) {
	r := info.reader(scope, diags)
	for _, u := range units {
		r.unit(u)
	}
	r.recursiveDone()
	r.levelsOfUnits(units)
}

func (info *Info) reader(scope *Scope, diags *source.List) *resolver {
	g := &graph{info: info, diags: diags, files: map[string]*Module{}, closed: true}
	for _, m := range info.Modules {
		if m.Outer == nil {
			g.files[m.Name] = m
		}
	}
	return &resolver{graph: g, module: info.Root, scope: scope}
}

// graph is the state of resolving all modules of one root.
type graph struct {
	info  *Info
	lib   Library
	diags *source.List
	files map[string]*Module // by name, those of files
	path  []syntax.Name      // the modules being resolved, outermost first
	count int
	// closed reports that no further files may be read.
	closed bool
}

// find returns the module of a file and resolves it first if it is new. If it
// fails, it reports an error at name and returns nil.
func (g *graph) find(name syntax.Name) *Module {
	if m, ok := g.files[name.Text]; ok {
		if m != nil && !m.done {
			g.cycle(name)
			return nil
		}
		return m
	}
	if g.closed {
		g.diags.Add(source.Diagnostic{Code: ModuleNotFound, Span: name.Span(),
			Message: "module " + name.Text + " is not among those that the specification uses",
			Repair:  "add " + name.Text + " to the EXTENDS of the module"})
		return nil
	}
	if g.count++; g.count > ModulesMax || len(g.path) > DepthMax {
		g.diags.Errorf(name.Span(), TooManyModules, "more than %d modules are reached from %s", ModulesMax, g.info.Root.Name)
		g.files[name.Text] = nil
		return nil
	}
	tree, standard, diags := g.lib.Find(name.Text)
	if tree == nil {
		g.missing(name)
		g.files[name.Text] = nil
		return nil
	}
	m := &Module{Name: name.Text, Syntax: tree, Standard: standard}
	if diags != nil {
		g.diags.Append(diags)
		m.broken = diags.HasErrors()
	}
	if tree.Name.Text != name.Text && !m.broken {
		g.diags.Add(source.Diagnostic{Code: ModuleName, Span: tree.Name.Span(),
			Message: "the file found for module " + name.Text + " holds module " + tree.Name.Text,
			Repair:  "give the file and the module one name",
			Related: []source.Note{{Span: name.Span(), Message: name.Text + " is used here"}}})
		m.broken = true
	}
	g.files[name.Text] = m
	g.path = append(g.path, name)
	g.resolve(m, nil, Options{})
	g.path = g.path[:len(g.path)-1]
	return m
}

func (g *graph) cycle(name syntax.Name) {
	d := source.Diagnostic{Code: ModuleCycle, Span: name.Span(),
		Message: "module " + name.Text + " uses itself, through the modules that it extends or instantiates"}
	from := 0
	for i, n := range g.path {
		if n.Text == name.Text {
			from = i
		}
	}
	for _, n := range g.path[from:] {
		if n.Text != name.Text {
			d.Related = append(d.Related, source.Note{Span: n.Span(), Message: "by way of " + n.Text})
		}
	}
	g.diags.Add(d)
}

func (g *graph) missing(name syntax.Name) {
	d := source.Diagnostic{Code: ModuleNotFound, Span: name.Span(), Message: "there is no module " + name.Text}
	for i, place := range g.lib.Searched() {
		if i == 0 {
			d.Message += ": looked in "
		} else {
			d.Message += ", then "
		}
		d.Message += place
	}
	near := source.NewNearest(name.Text)
	for _, n := range g.lib.Names() {
		near.Offer(n)
	}
	if d.Repair = near.Repair(); d.Repair == "" {
		d.Repair = "if it is in another directory, name that one with --library DIR"
	}
	g.diags.Add(d)
}

// resolve resolves the module's names and levels. scope is the scope of the
// enclosing module for a nested one.
func (g *graph) resolve(m *Module, outer *Scope, options Options) {
	r := &resolver{graph: g, module: m, scope: NewScope(outer)}
	m.Names = r.scope
	before := g.errors()
	r.extends()
	rest := m.Syntax.Units
	if options.Insert != nil {
		n := 0
		for n < len(rest) && rest[n].Span().Start < options.At {
			r.unit(rest[n])
			n++
		}
		if g.reach(m.Syntax.Algorithm); !r.insert(rest[:n], options.Insert) || options.Stop {
			return
		}
		rest = rest[n:]
	}
	for _, u := range rest {
		r.unit(u)
	}
	r.recursiveDone()
	if outer == nil && !m.broken && g.errors() == before {
		r.levelsOfModule(m.Syntax)
	}
	m.done = true
	g.info.Modules = append(g.info.Modules, m)
}

// insert declares the symbols of an algorithm after the units of the module
// that precede it, and reports whether there were no errors so far.
func (r *resolver) insert(before []syntax.Unit, insert func(*Info) []*Symbol) bool {
	if r.diags.HasErrors() {
		return false
	}
	r.levelsOfUnits(before)
	if r.diags.HasErrors() {
		return false
	}
	for _, s := range insert(r.info) {
		if s.Module != nil {
			r.scope.bind(s.Name, s, s.Local)
			continue
		}
		r.declare(s)
		switch s.Kind {
		case Constant:
			r.module.Constants = append(r.module.Constants, s)
		case Variable:
			r.module.Variables = append(r.module.Variables, s)
		default:
			r.module.Defined = append(r.module.Defined, s)
		}
	}
	return !r.diags.HasErrors()
}

// Made returns the symbol of a definition that is not in any text. Its level
// does not depend on its arguments.
func Made(name string, params int, level Level, at source.Span) *Symbol {
	s := &Symbol{Kind: Operator, Name: name, Params: make([]int, params), Span: at}
	for range params {
		s.Formals = append(s.Formals, &Symbol{Kind: Bound})
	}
	s.levels = &summary{formals: s.Formals, term: fixed(level)}
	return s
}

// errors returns the number of errors so far.
func (g *graph) errors() int {
	if !g.diags.HasErrors() {
		return 0
	}
	return g.diags.Len()
}
