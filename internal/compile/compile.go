// SPDX-License-Identifier: Apache-2.0

// Package compile compiles the archetypes of a Modular PlusCal algorithm to a Go
// package that runs on distsys.
//
// In: a resolved specification with its algorithm before expansion, and the values
// that a configuration gives to constants. Out: the files of one Go package, with one
// function for each label, structs for records, and comments that refer to the
// specification. The output is deterministic.
//
// Promises: the generated code computes what the checker computes, or returns an
// error where the checker does. Types come from internal/tla/shape; an expression
// without a type stays a value.Value, and Explain gives the reason. Resources are
// read where pcal.Hoist puts the reads. The code checks every value from outside
// against its type. There is one known difference: a function that is passed on as a
// value is computed as a whole, while the checker computes only the requested
// elements.
//
// Refuses, with diagnostics that give a place: constructs without a meaning in a
// running system (primes, temporal operators, global variables in an archetype) and
// constructs that are not supported. It never generates code that computes something
// else.
//
// Source: PGo (ASPLOS 2023), section 4.
package compile

import (
	"fmt"
	"go/format"
	"go/scanner"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Options control the output of Compile. The zero value is the default.
type Options struct {
	// Package is the name of the Go package; default: the algorithm's name in
	// lower case.
	Package string
	// Main makes the package a command.
	Main bool
	// Constants are the values of constants, and of definitions that a
	// configuration overrides, by name. Compile uses them only for types; the
	// compiled system reads its values at start.
	Constants map[string]value.Value
	// Invariants are the names of definitions to evaluate before each step
	// commits. Compile looks them up in Whole, the specification with its
	// translation. Plain is the algorithm from which the translation was made.
	Invariants []string
	Whole      *core.Spec
	Plain      *pcal.Algorithm
}

// File is a generated file.
type File struct {
	Name string
	Text []byte
}

// Package is the result of Compile.
type Package struct {
	Files []File
	// Explain lists, one per line, the type of each declaration, or the reason
	// why it has none.
	Explain []string
	// NotRelaxed gives, for each ref parameter by archetype and name, the reason
	// why a relaxed mailbox is not sound for it; "" if it is sound.
	NotRelaxed map[string]map[string]string
	// Survive are the archetypes whose instances survive crashes.
	Survive []string
}

// generator generates one package.
type generator struct {
	spec   *core.Spec
	alg    *pcal.Algorithm
	opt    Options
	diags  source.List
	shapes *shape.Result
	strict strictness

	names         *names            // of the package
	constantNames *names            // fields and methods of Constants
	constants     map[string]string // the fields of constants
	given         map[string]string // and of definitions that are given
	givenShapes   map[string]*shape.Shape
	types         map[*shape.Shape]*goType
	preferred     map[*shape.Shape]string // names for types to come
	shapeVars     map[*shape.Shape]string
	operators     map[string]*operator
	cached        []cachedDef
	natives       map[string]string
	selfKeys      map[*core.Local][]*shape.Shape
	last          string // the comment written last
	assumes       []assumption
	checked       []checkedInvariant

	decls, ops, nativeDecls, shapeDecls *writer

	any, bool, int, str, model *shape.Shape
}

// cachedDef is a definition without parameters that is computed once.
type cachedDef struct{ field, compute, typ string }

// Compile compiles the archetypes of an algorithm. The Package is nil when
// the list has errors.
func Compile(spec *core.Spec, alg *pcal.Algorithm, opt Options) (*Package, *source.List) {
	g := &generator{
		spec: spec, alg: alg, opt: opt, names: newNames(nil), constantNames: newNames(nil),
		strict:    strictness{known: map[strictKey]bool{}},
		constants: map[string]string{}, given: map[string]string{}, givenShapes: map[string]*shape.Shape{},
		types: map[*shape.Shape]*goType{}, preferred: map[*shape.Shape]string{}, shapeVars: map[*shape.Shape]string{}, operators: map[string]*operator{},
		natives: map[string]string{}, selfKeys: map[*core.Local][]*shape.Shape{},
		decls: &writer{}, ops: &writer{}, nativeDecls: &writer{}, shapeDecls: &writer{},
	}
	if opt.Package == "" {
		g.opt.Package = packageName(alg.Name)
	}
	if opt.Main {
		g.opt.Package = "main"
	}
	if len(alg.Archetypes) == 0 {
		g.unsupportedAt(alg.Span, NoArchetype, fmt.Sprintf("algorithm %s has no archetype, and only archetypes are compiled", alg.Name),
			"write the processes that are to run as archetypes, and instantiate them")
		return nil, &g.diags
	}
	g.checkCrashes()
	if g.diags.HasErrors() {
		return nil, &g.diags
	}
	g.infer()
	p := g.pack()
	if g.diags.HasErrors() {
		return nil, &g.diags
	}
	return p, &g.diags
}

// packageName derives a package name from the algorithm's name.
func packageName(s string) string {
	name := strings.ToLower(strings.ReplaceAll(goName(s), "_", ""))
	if name == "" || name == "main" || newNames(nil).taken(name) {
		name += "spec"
	}
	return name
}

// infer infers the shapes of all expressions.
func (g *generator) infer() {
	p := shape.Program{Spec: g.spec, Algorithm: g.alg, Constants: map[string]*shape.Sample{}, Given: map[string]*shape.Sample{}}
	for _, c := range g.spec.Constants {
		if v, ok := g.opt.Constants[c.Name]; ok {
			p.Constants[c.Name] = sampleOf(v)
		}
	}
	for _, d := range g.overridden() {
		s := &shape.Sample{Name: d.Name}
		if v, ok := g.opt.Constants[d.Name]; ok {
			s = sampleOf(v)
		}
		p.Given[d.Name] = s
	}
	p.Within = g.findInvariants()
	g.shapes = shape.Infer(p)
	g.any = g.shapes.Intern(shape.Shape{Kind: shape.Any})
	g.model = g.shapes.Intern(shape.Shape{Kind: shape.None, Model: true})
	g.bool = g.shapes.Intern(shape.Shape{Kind: shape.Bool})
	g.int = g.shapes.Intern(shape.Shape{Kind: shape.Int})
	g.str = g.shapes.Intern(shape.Shape{Kind: shape.Str})
	for _, c := range g.spec.Constants {
		if c.Arity == 0 {
			g.constants[c.Name] = g.constantNames.fresh(upperFirst(goName(c.Name)))
		}
	}
	for _, d := range g.overridden() {
		g.given[d.Name] = g.constantNames.fresh(upperFirst(goName(d.Name)))
		g.givenShapes[d.Name] = g.shapes.Given(d)
	}
}

// overridden returns the definitions whose values come from a configuration:
// those that the configuration names, and those of the form "None == CHOOSE x :
// x \notin S", which stand for a fresh value.
func (g *generator) overridden() []*core.Def {
	var out []*core.Def
	for _, d := range g.spec.Defs {
		if len(d.Params) > 0 || d.Native || d.Body == nil {
			continue
		}
		_, named := g.opt.Constants[d.Name]
		if named || isFreshValue(d.Body) {
			out = append(out, d)
		}
	}
	return out
}

// isFreshValue reports whether e is CHOOSE x : x \notin S.
func isFreshValue(e core.Expr) bool {
	c, ok := e.(*core.Choose)
	if !ok || c.Bind.Set != nil || len(c.Bind.Vars) != 1 {
		return false
	}
	op, ok := c.Body.(*core.Op)
	if ok && op.Op == core.OpNot {
		op, ok = op.Args[0].(*core.Op)
		if !ok || op.Op != core.OpIn {
			return false
		}
	} else if !ok || op.Op != core.OpNotIn {
		return false
	}
	l, ok := op.Args[0].(*core.LocalRef)
	return ok && l.Local == c.Bind.Vars[0]
}

// givenShape returns the shape of a definition whose value the configuration
// gives; nil for others.
func (g *generator) givenShape(d *core.Def) *shape.Shape {
	if len(d.Params) > 0 {
		return nil
	}
	return g.givenShapes[d.Name]
}

// sampleOf converts a value to a sample for the inference.
func sampleOf(v value.Value) *shape.Sample {
	list := func(vs []value.Value) []*shape.Sample {
		out := make([]*shape.Sample, len(vs))
		for i, x := range vs {
			out[i] = sampleOf(x)
		}
		return out
	}
	switch v.Kind() {
	case value.KindBool:
		return &shape.Sample{Kind: shape.Bool}
	case value.KindInt:
		return &shape.Sample{Kind: shape.Int, Num: int64(v.AsInt())}
	case value.KindString:
		return &shape.Sample{Kind: shape.Str, Name: v.AsString()}
	case value.KindModel:
		return &shape.Sample{Kind: shape.None, Name: v.AsModel()}
	case value.KindTuple:
		return &shape.Sample{Kind: shape.Tuple, Elems: list(v.Elements())}
	case value.KindRecord:
		s := &shape.Sample{Kind: shape.Record}
		v.Fields(func(name string, x value.Value) bool {
			s.Fields = append(s.Fields, name)
			s.Elems = append(s.Elems, sampleOf(x))
			return true
		})
		return s
	case value.KindFn:
		return &shape.Sample{Kind: shape.Fn, Keys: list(v.Domain().Elems()), Elems: list(v.Values())}
	case value.KindSet:
		if value.IsFinite(v) {
			return &shape.Sample{Kind: shape.Set, Elems: list(v.Elems())}
		}
	}
	return &shape.Sample{Kind: shape.Any}
}

func (g *generator) setOf(elem *shape.Shape) *shape.Shape {
	return g.shapes.Intern(shape.Shape{Kind: shape.Set, Elem: elem})
}

// shapeVar is the package variable that converts between a type and values.
func (g *generator) shapeVar(s *shape.Shape) string {
	if name, ok := g.shapeVars[s]; ok {
		return name
	}
	t := g.typeOf(s)
	name := g.names.fresh(lowerFirst(t.label) + "Shape")
	g.shapeVars[s] = name
	g.shapeDecls.emit("%s = distsys.Shape[%s]{To: %s{}.Value, From: %s{}.Of}", name, t.name, t.kind, t.kind)
	return name
}

// initial returns the value of a variable that is declared without one.
func (g *generator) initial(s *shape.Shape) string {
	t := g.typeOf(s)
	model := fmt.Sprintf("%q", shape.DefaultInitValue)
	switch {
	case s.Kind == shape.Any:
		return "value.Model(" + model + ")"
	case s.Kind == shape.None:
		return "typed.Model(" + model + ")"
	case s.Kind == shape.Sum && s.Model:
		return fmt.Sprintf("%s{Is: %s, Model: %s}", t.name, g.sumTag(t, "Model"), model)
	case s.Model:
		return fmt.Sprintf("typed.Only[%s](%s)", g.typeOf(g.withoutModel(s)).name, model)
	}
	return t.zero
}

// excerptMax is the maximum length of a quoted line of the specification in a
// comment.
const excerptMax = 90

// comment writes the origin of the code that follows. placeComment parses this
// form.
func (g *generator) comment(w *writer, at source.Span) {
	text := g.commentText(at)
	if text == "" || text == g.last {
		return
	}
	g.last = text
	w.emit("%s", text)
}

// commentText returns such a comment.
func (g *generator) commentText(at source.Span) string {
	if !at.IsValid() {
		return ""
	}
	line := at.From().Line
	text := []rune(oneLine(at.File.Line(line)))
	if len(text) > excerptMax {
		text = append(text[:excerptMax], '…')
	}
	return fmt.Sprintf("// %s:%d: %s", filepath.Base(at.File.Name), line, string(text))
}

// placeOf formats a place for generated code. It omits the directories of the
// machine that runs the compiler.
func placeOf(at source.Span) string {
	if !at.IsValid() {
		return ""
	}
	return fmt.Sprintf("%s:%s", filepath.Base(at.File.Name), at.From())
}

var placeComment = regexp.MustCompile(`(?:^|\s)// ([^\s:]+:\d+): `)

// pack assembles the files.
func (g *generator) pack() *Package {
	var machines []*machine
	for _, a := range g.alg.Archetypes {
		machines = append(machines, g.machine(a))
	}
	for _, m := range machines {
		m.generate()
		m.invariants()
		m.relaxed = checkRelaxed(m)
	}
	glue := &writer{}
	for _, m := range machines {
		m.glue(glue)
	}
	body := &writer{}
	for _, m := range machines {
		m.declare(body)
		body.append(m.methods)
	}
	g.compileAssumes()
	constants := g.constantsCode()
	if g.diags.HasErrors() {
		return nil
	}
	out := &writer{}
	out.append(constants)
	out.append(body)
	if !g.ops.empty() {
		out.emit("")
		out.emit("// The operators of the specification.")
		out.append(g.ops)
	}
	out.append(glue)
	out.append(g.systemCode(machines))
	if !g.decls.empty() {
		out.emit("")
		out.emit("// The types of the values.")
		out.append(g.decls)
	}
	vars := &writer{}
	vars.append(g.nativeDecls)
	vars.append(g.shapeDecls)
	if !vars.empty() {
		out.emit("")
		out.emit("var (")
		out.append(vars)
		out.emit(")")
	}
	name := g.opt.Package + ".go"
	if g.opt.Main {
		name = packageName(g.alg.Name) + ".go"
	}
	doc := fmt.Sprintf("// Package %s is module %s, compiled: its archetypes as processes that run on\n// distsys. The comments in it lead to the lines of the specification.\n", g.opt.Package, g.spec.Name)
	if g.opt.Main {
		doc = "" // the command's stands in main.go
	}
	text := g.file(doc, out.String())
	p := &Package{NotRelaxed: map[string]map[string]string{}}
	for _, m := range machines {
		p.NotRelaxed[m.arch.Name] = map[string]string{}
		if m.arch.Restart != "" {
			p.Survive = append(p.Survive, m.arch.Name)
		}
		for _, param := range m.arch.Params {
			if param.Ref {
				p.NotRelaxed[m.arch.Name][param.Var.Name] = m.relaxed[param]
			}
		}
	}
	p.Files = []File{{Name: name, Text: text}, {Name: "places.go", Text: g.places(name, text)}}
	if g.opt.Main {
		p.Files = append(p.Files, File{Name: "main.go", Text: g.mainFile()})
	}
	p.Explain = g.explain(machines)
	return p
}

// importable are the packages that generated code may import, by the name under
// which it uses them.
var importable = [...]struct{ name, path string }{
	{"context", "context"},
	{"errors", "errors"},
	{"flag", "flag"},
	{"fmt", "fmt"},
	{"fs", "io/fs"},
	{"os", "os"},
	{"signal", "os/signal"},
	{"filepath", "path/filepath"},
	{"strings", "strings"},
	{"sync", "sync"},
	{"syscall", "syscall"},
	{"time", "time"},
	{"distsys", "github.com/ashlar-dev/ashlar/distsys"},
	{"resource", "github.com/ashlar-dev/ashlar/distsys/resource"},
	{"osenv", "github.com/ashlar-dev/ashlar/env/osenv"},
	{"wal", "github.com/ashlar-dev/ashlar/store/wal"},
	{"stdlib", "github.com/ashlar-dev/ashlar/tla/stdlib"},
	{"typed", "github.com/ashlar-dev/ashlar/tla/typed"},
	{"value", "github.com/ashlar-dev/ashlar/tla/value"},
}

// file formats a generated file and adds the imports that it uses. doc is the
// package comment.
func (g *generator) file(doc, body string) []byte {
	var b strings.Builder
	b.WriteString("// Code generated by ashlar compile. DO NOT EDIT.\n\n" + doc)
	fmt.Fprintf(&b, "package %s\n\nimport (\n", g.opt.Package)
	third := false
	for _, p := range importable {
		if !uses(body, p.name) {
			continue
		}
		if strings.Contains(p.path, ".") && !third {
			third = true
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%q\n", p.path)
	}
	b.WriteString(")\n")
	b.WriteString(body)
	text, err := format.Source([]byte(b.String()))
	if err != nil {
		invariant.Check(false, "generated code is not Go: %v\n%s", err, around(b.String(), err.Error()))
	}
	return text
}

// around returns the part of a text near the line that an error names.
func around(text, err string) string {
	line := 0
	fmt.Sscanf(err, "%d:", &line)
	lines := strings.Split(text, "\n")
	from, to := max(0, line-6), min(len(lines), line+5)
	return strings.Join(lines[min(from, to):to], "\n")
}

// uses reports whether Go code mentions a package. The code must not shadow
// package names.
func uses(body, pkg string) bool {
	file := token.NewFileSet().AddFile("", -1, len(body))
	var s scanner.Scanner
	s.Init(file, []byte(body), nil, 0)
	last, before := "", token.ILLEGAL
	for {
		_, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return false
		case tok == token.PERIOD && last == pkg && before != token.PERIOD:
			return true
		case tok == token.IDENT:
			last = text
		default:
			last = ""
		}
		if tok != token.IDENT {
			before = tok
		}
	}
}

// places writes the table that maps lines of Go to places in the specification.
func (g *generator) places(name string, text []byte) []byte {
	w := &writer{}
	w.emit("// places leads from the lines of %s to the specification.", name)
	w.emit("var places = &typed.Places{")
	w.emit("File: %q,", name)
	w.emit("Lines: []typed.Place{")
	last := ""
	for i, line := range strings.Split(string(text), "\n") {
		at := last
		if m := placeComment.FindStringSubmatch(line); m != nil {
			at = m[1]
		} else if line == "}" {
			at = ""
		}
		if at != last {
			w.emit("{Line: %d, Spec: %q},", i+1, at)
			last = at
		}
	}
	w.emit("},")
	w.emit("}")
	return g.file("", w.String())
}
