// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"sort"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
)

// constantField is a field of Constants; its value comes from a configuration.
type constantField struct {
	name, text string // in Go and in the specification
	s          *shape.Shape
	fresh      bool // a model value of its own name where nothing is given
}

func (g *generator) constantFields() []constantField {
	var out []constantField
	for _, c := range g.spec.Constants {
		if c.Arity == 0 {
			out = append(out, constantField{g.constants[c.Name], c.Name, g.shapes.Const(c), false})
		}
	}
	for _, d := range g.overridden() {
		out = append(out, constantField{g.given[d.Name], d.Name, g.givenShapes[d.Name], isFreshValue(d.Body)})
	}
	return out
}

// constantsCode writes the declaration of the constants and the code that reads
// them.
func (g *generator) constantsCode() *writer {
	w := &writer{}
	w.emit("")
	w.emit("// Constants are the constants of %s, and what follows from them.", g.spec.Name)
	w.emit("type Constants struct {")
	fields := g.constantFields()
	for _, f := range fields {
		w.emit("%s %s", f.name, g.typeOf(f.s).name)
	}
	if len(g.cached) > 0 {
		w.emit("")
	}
	for _, d := range g.cached {
		w.emit("%s func() %s", d.field, d.typ)
	}
	w.emit("}")
	w.emit("")
	w.emit("// NewConstants reads the constants from their values, by name, and checks the")
	w.emit("// assumptions of the specification.")
	w.emit("func NewConstants(values map[string]value.Value) (*Constants, error) {")
	w.emit("c := &Constants{}")
	for _, f := range fields {
		if !f.fresh {
			w.emit("if _, ok := values[%q]; !ok {", f.text)
			w.emit("return nil, errors.New(%q)", "the constant "+f.text+" has no value")
			w.emit("}")
		}
	}
	for _, f := range fields {
		t := g.typeOf(f.s)
		get := fmt.Sprintf("values[%q]", f.text)
		w.emit("if err := value.Catch(func() {")
		if f.fresh {
			w.emit("v, ok := %s", get)
			w.emit("if !ok {")
			w.emit("v = value.Model(%q)", f.text)
			w.emit("}")
			get = "v"
		}
		w.emit("c.%s = %s", f.name, g.fromValue(get, t))
		w.emit("}); err != nil {")
		w.emit("return nil, fmt.Errorf(\"the constant %s: %%w; the code was compiled for a %%s\", err, %q)", f.text, f.s)
		w.emit("}")
	}
	sort.SliceStable(g.cached, func(i, j int) bool { return g.cached[i].field < g.cached[j].field })
	for _, d := range g.cached {
		w.emit("c.%s = sync.OnceValue(c.%s)", d.field, d.compute)
	}
	g.assumesCode(w)
	w.emit("return c, nil")
	w.emit("}")
	return w
}

// assumesCode writes the check of the assumptions.
func (g *generator) assumesCode(w *writer) {
	if len(g.assumes) == 0 {
		return
	}
	w.emit("var broken error")
	w.emit("if err := value.Catch(func() {")
	w.emit("switch {")
	for _, a := range g.assumes {
		w.emit("case !c.%s():", a.method)
		w.emit("broken = errors.New(%q)", "the assumption at "+a.place+" is false: "+a.text)
	}
	w.emit("}")
	w.emit("}); err != nil {")
	w.emit("return nil, fmt.Errorf(%q, err)", "an assumption: %w")
	w.emit("}")
	w.emit("if broken != nil {")
	w.emit("return nil, broken")
	w.emit("}")
}

// assumption is a compiled ASSUME.
type assumption struct{ method, place, text string }

// compileAssumes compiles the assumptions. It omits an assumption that has no
// compiled form, with a warning: the checker still checks it.
func (g *generator) compileAssumes() {
	for _, a := range g.spec.Assumes {
		before := g.diags
		var probe source.List
		g.diags = probe
		f := g.newFn(g.shapes.Root(), "c")
		f.into(a.Body, g.bool, func(x string) { f.out.emit("return %s", x) })
		failed := g.diags.HasErrors()
		found := g.diags
		g.diags = before
		if failed {
			g.diags.Add(source.Diagnostic{Severity: source.Warning, Code: AssumeNotCompiled, Span: a.Body.Span(),
				Message: "this assumption is not checked when the compiled system starts: " + found.Sorted()[0].Message})
			continue
		}
		name := g.constantNames.fresh(fmt.Sprintf("assumption%d", len(g.assumes)+1))
		w := &writer{}
		w.emit("")
		g.comment(w, a.Body.Span())
		w.emit("func (c *Constants) %s() bool {", name)
		w.append(f.out)
		w.emit("}")
		g.ops.append(w)
		g.assumes = append(g.assumes, assumption{name, placeOf(a.Body.Span()), oneLine(a.Body.Span().Text())})
	}
}
