// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/tla/shape"
)

// goType is the representation of a shape in generated code.
type goType struct {
	name  string // the Go type
	kind  string // its kind, an empty struct type
	label string // the noun from which names of larger types are made
	// plain means that Go's == agrees with TLA+'s =.
	plain bool
	// fields are the Go names of a record's fields or a tuple's components.
	fields []string
	// zero is an expression for the zero value.
	zero string
}

// typeOf returns the Go type of a shape, and declares it on first use.
func (g *generator) typeOf(s *shape.Shape) *goType {
	if t, ok := g.types[s]; ok {
		return t
	}
	t := g.makeType(s)
	g.types[s] = t
	return t
}

func (g *generator) makeType(s *shape.Shape) *goType {
	if isOptional(s) {
		return g.optional(s)
	}
	switch s.Kind {
	case shape.Bool:
		return &goType{name: "bool", kind: "typed.Bools", label: "Bool", plain: true, zero: "false"}
	case shape.Int:
		return &goType{name: "int32", kind: "typed.Ints", label: "Int", plain: true, zero: "0"}
	case shape.Str:
		return &goType{name: "string", kind: "typed.Strings", label: "String", plain: true, zero: `""`}
	case shape.None:
		return &goType{name: "typed.Model", kind: "typed.Models", label: "Model", zero: `""`}
	case shape.Any:
		return &goType{name: "value.Value", kind: "typed.Values", label: "Value", zero: "value.Value{}"}
	case shape.Set:
		e := g.typeOf(s.Elem)
		return g.alias(e.label+"Set", fmt.Sprintf("typed.Set[%s, %s]", e.name, e.kind), fmt.Sprintf("typed.Sets[%s, %s]", e.name, e.kind), s)
	case shape.Seq:
		e := g.typeOf(s.Elem)
		return g.alias(e.label+"Seq", fmt.Sprintf("typed.Seq[%s, %s]", e.name, e.kind), fmt.Sprintf("typed.Seqs[%s, %s]", e.name, e.kind), s)
	case shape.Fn:
		k, e := g.typeOf(s.Key), g.typeOf(s.Elem)
		list := strings.Join([]string{k.name, e.name, k.kind, e.kind}, ", ")
		return g.alias(k.label+"To"+e.label, "typed.Fn["+list+"]", "typed.Fns["+list+"]", s)
	case shape.Tuple:
		return g.tuple(s)
	case shape.Record:
		return g.record(s)
	case shape.Sum:
		return g.sum(s)
	}
	panic("compile: shape " + s.String())
}

// isOptional reports whether values of the shape are model values or values of
// exactly one other kind.
func isOptional(s *shape.Shape) bool {
	return s.Model && s.Kind != shape.None && s.Kind != shape.Sum
}

// alternatives returns the shapes of which each value of the shape has one; nil
// if there is only one.
func (g *generator) alternatives(s *shape.Shape) []*shape.Shape {
	switch {
	case isOptional(s):
		return []*shape.Shape{g.withoutModel(s), g.model}
	case s.Kind == shape.Sum && s.Model:
		return append(s.Alts[:len(s.Alts):len(s.Alts)], g.model)
	}
	return s.Alts
}

// optional returns the type of values that are model values or of one other
// kind.
func (g *generator) optional(s *shape.Shape) *goType {
	t := g.typeOf(g.withoutModel(s))
	return g.alias("Maybe"+t.label, "typed.Opt["+t.name+"]", fmt.Sprintf("typed.Opts[%s, %s]", t.name, t.kind), s)
}

// withoutModel returns the shape of the values that are not model values.
func (g *generator) withoutModel(s *shape.Shape) *shape.Shape {
	base := *s
	base.Model = false
	return g.shapes.Intern(base)
}

// alias declares names for a type and its kind.
func (g *generator) alias(want, def, kind string, s *shape.Shape) *goType {
	if len(want) > labelMax {
		want = s.Kind.Label()
	}
	name := g.names.fresh(upperFirst(want))
	k := g.names.fresh(lowerFirst(name) + "Kind")
	w := g.decls
	w.emit("")
	w.emit("// %s is %s.", name, s)
	w.emit("type %s = %s", name, def)
	w.emit("type %s = %s", k, kind)
	return &goType{name: name, kind: k, label: upperFirst(want), zero: name + "{}"}
}

// labelMax is the maximum length of a type name that is composed of the names
// of the type's parts.
const labelMax = 60

// noun returns the name that a struct type gets from the variable or field that
// holds it.
func (g *generator) noun(s *shape.Shape, otherwise string) string {
	if name := g.preferred[s]; name != "" {
		return name
	}
	if s.Hint == "" {
		return otherwise
	}
	name := upperFirst(goName(s.Hint))
	if len([]rune(name)) < 2 {
		return otherwise
	}
	return name
}

func (g *generator) tuple(s *shape.Shape) *goType {
	label := ""
	var comps []*goType
	for _, e := range s.Elems {
		t := g.typeOf(e)
		comps = append(comps, t)
		label += t.label
	}
	if len(label) > labelMax {
		label = ""
	}
	label = g.noun(s, label+"Tuple")
	name := g.names.fresh(label)
	t := &goType{name: name, kind: g.names.fresh(lowerFirst(name) + "Kind"), label: label, plain: true, zero: name + "{}"}
	w := g.decls
	w.emit("")
	w.emit("// %s is %s.", name, s)
	w.emit("type %s struct {", name)
	for i, c := range comps {
		f := fmt.Sprintf("F%d", i+1)
		t.fields = append(t.fields, f)
		t.plain = t.plain && c.plain
		w.emit("%s %s", f, c.name)
	}
	w.emit("}")
	w.emit("type %s struct{}", t.kind)
	g.equality(w, t, comps, nil)
	g.order(w, t, comps)
	w.emit("func (%s) Value(a %s) value.Value {", t.kind, name)
	var vals, back []string
	for i, c := range comps {
		vals = append(vals, g.toValue("a."+t.fields[i], c))
		back = append(back, fmt.Sprintf("%s: %s", t.fields[i], g.fromValue(fmt.Sprintf("e[%d]", i), c)))
	}
	w.emit("return value.Tuple(%s)", strings.Join(vals, ", "))
	w.emit("}")
	w.emit("func (%s) Of(v value.Value) %s {", t.kind, name)
	w.emit("e := typed.Elements(v, %d)", len(comps))
	w.emit("return %s{%s}", name, strings.Join(back, ", "))
	w.emit("}")
	return t
}

// hasName is the Go field that reports whether an optional field is present.
func hasName(field string) string { return "Has" + field }

// getName is the method that returns an optional field.
func getName(field string) string { return "Get" + field }

func (g *generator) record(s *shape.Shape) *goType {
	label := g.noun(s, "Record")
	name := g.names.fresh(label)
	t := &goType{name: name, kind: g.names.fresh(lowerFirst(name) + "Kind"), label: label, plain: true, zero: name + "{}"}
	inside := newNames(nil)
	var comps []*goType
	var has []string
	w := g.decls.slot()
	w.emit("")
	w.emit("// %s is %s.", name, s)
	w.emit("type %s struct {", name)
	for _, f := range s.Fields {
		c := g.typeOf(f.Shape)
		goField := inside.fresh(upperFirst(goName(f.Name)))
		t.fields = append(t.fields, goField)
		comps = append(comps, c)
		t.plain = t.plain && c.plain
		w.emit("%s %s", goField, c.name)
		h := ""
		if f.Optional {
			h = hasName(goField)
			inside.used[h], inside.used[getName(goField)] = true, true
			w.emit("%s bool // whether the record has the field %s", h, f.Name)
		}
		has = append(has, h)
	}
	w.emit("}")
	w.emit("type %s struct{}", t.kind)
	g.equality(w, t, comps, has)
	if s.HasOptional() {
		w.emit("func (k %s) Compare(a, b %s) int { return value.Compare(k.Value(a), k.Value(b)) }", t.kind, name)
	} else {
		g.order(w, t, comps)
	}
	for i, f := range s.Fields {
		if has[i] != "" {
			w.emit("")
			w.emit("// %s is the field %s, an error where the record has none.", getName(t.fields[i]), f.Name)
			w.emit("func (a %s) %s() %s {", name, getName(t.fields[i]), comps[i].name)
			w.emit("if !a.%s {", has[i])
			w.emit("typed.NoField(%s{}.Value(a), %q)", t.kind, f.Name)
			w.emit("}")
			w.emit("return a.%s", t.fields[i])
			w.emit("}")
		}
	}
	g.recordValue(w, s, t, comps, has)
	g.recordOf(w, s, t, comps, has)
	return t
}

func (g *generator) recordValue(w *writer, s *shape.Shape, t *goType, comps []*goType, has []string) {
	w.emit("func (%s) Value(a %s) value.Value {", t.kind, t.name)
	var fixed []string
	for i, f := range s.Fields {
		if has[i] == "" {
			fixed = append(fixed, fmt.Sprintf("{Name: %q, Val: %s}", f.Name, g.toValue("a."+t.fields[i], comps[i])))
		}
	}
	if len(fixed) == len(s.Fields) {
		w.emit("return value.Record([]value.Field{%s})", strings.Join(fixed, ", "))
		w.emit("}")
		return
	}
	w.emit("f := []value.Field{%s}", strings.Join(fixed, ", "))
	for i, f := range s.Fields {
		if has[i] != "" {
			w.emit("if a.%s {", has[i])
			w.emit("f = append(f, value.Field{Name: %q, Val: %s})", f.Name, g.toValue("a."+t.fields[i], comps[i]))
			w.emit("}")
		}
	}
	w.emit("return value.Record(f)")
	w.emit("}")
}

func (g *generator) recordOf(w *writer, s *shape.Shape, t *goType, comps []*goType, has []string) {
	var required, optional, fixed []string
	for i, f := range s.Fields {
		if has[i] != "" {
			optional = append(optional, fmt.Sprintf("%q", f.Name))
			continue
		}
		required = append(required, fmt.Sprintf("%q", f.Name))
		fixed = append(fixed, fmt.Sprintf("%s: %s", t.fields[i], g.fromValue(fmt.Sprintf("v.Field(%q)", f.Name), comps[i])))
	}
	w.emit("func (%s) Of(v value.Value) %s {", t.kind, t.name)
	list := func(names []string) string {
		if len(names) == 0 {
			return "nil"
		}
		return "[]string{" + strings.Join(names, ", ") + "}"
	}
	w.emit("typed.Fields(v, %s, %s)", list(required), list(optional))
	if len(optional) == 0 {
		w.emit("return %s{%s}", t.name, strings.Join(fixed, ", "))
		w.emit("}")
		return
	}
	w.emit("a := %s{%s}", t.name, strings.Join(fixed, ", "))
	for i, f := range s.Fields {
		if has[i] != "" {
			w.emit("if x, ok := typed.Field(v, %q); ok {", f.Name)
			w.emit("a.%s, a.%s = %s, true", t.fields[i], has[i], g.fromValue("x", comps[i]))
			w.emit("}")
		}
	}
	w.emit("return a")
	w.emit("}")
}

// equality declares the kind's Equal. Absent fields are zero, so comparing them
// is harmless.
func (g *generator) equality(w *writer, t *goType, comps []*goType, has []string) {
	if t.plain {
		w.emit("func (%s) Equal(a, b %s) bool { return a == b }", t.kind, t.name)
		return
	}
	var conds []string
	for i, c := range comps {
		same := g.equal("a."+t.fields[i], "b."+t.fields[i], c)
		if has != nil && has[i] != "" {
			conds = append(conds, fmt.Sprintf("a.%s == b.%s", has[i], has[i]))
			same = fmt.Sprintf("(!a.%s || %s)", has[i], same)
		}
		conds = append(conds, same)
	}
	w.emit("func (%s) Equal(a, b %s) bool {", t.kind, t.name)
	w.emit("return %s", strings.Join(conds, " &&\n"))
	w.emit("}")
}

// order declares the kind's Compare: component by component.
func (g *generator) order(w *writer, t *goType, comps []*goType) {
	w.emit("func (%s) Compare(a, b %s) int {", t.kind, t.name)
	for i, c := range comps {
		cmp := fmt.Sprintf("%s{}.Compare(a.%s, b.%s)", c.kind, t.fields[i], t.fields[i])
		if i == len(comps)-1 {
			w.emit("return %s", cmp)
			break
		}
		w.emit("if c := (%s); c != 0 {", cmp)
		w.emit("return c")
		w.emit("}")
	}
	w.emit("}")
}

// equal is the Go expression for a = b, both of type t.
func (g *generator) equal(a, b string, t *goType) string {
	if t.plain {
		return a + " == " + b
	}
	return fmt.Sprintf("%s{}.Equal(%s, %s)", t.kind, a, b)
}

// valueKinds gives the condition under which a value.Value belongs to an
// alternative.
var valueKinds = [...]string{shape.None: "value.KindModel", shape.Bool: "value.KindBool", shape.Int: "value.KindInt", shape.Str: "value.KindString",
	shape.Set: "value.KindSet", shape.Seq: "value.KindTuple", shape.Tuple: "value.KindTuple", shape.Record: "value.KindRecord",
	shape.Fn: "value.KindTuple, value.KindRecord, value.KindFn"}

// sum returns the type of values with one of several shapes: a struct with a
// field for each shape, of which one is in use.
func (g *generator) sum(s *shape.Shape) *goType {
	label := g.noun(s, "Either")
	name := g.names.fresh(label)
	t := &goType{name: name, kind: g.names.fresh(lowerFirst(name) + "Kind"), label: label, zero: name + "{}"}
	alts := g.alternatives(s)
	for _, a := range alts {
		if a.Kind == shape.Record || a.Kind == shape.Tuple {
			g.preferred[a] = label + a.Kind.Label()
		}
	}
	w := g.decls.slot()
	w.emit("")
	w.emit("// %s is %s: the field that Is names counts, the others are zero.", name, s)
	w.emit("type %s struct {", name)
	w.emit("Is int8")
	for _, a := range alts {
		f := a.Kind.Label()
		t.fields = append(t.fields, f)
		w.emit("%s %s", f, g.typeOf(a).name)
	}
	w.emit("}")
	w.emit("const (")
	for i, f := range t.fields {
		if i == 0 {
			w.emit("%s int8 = iota", g.sumTag(t, f))
		} else {
			w.emit("%s", g.sumTag(t, f))
		}
	}
	w.emit(")")
	w.emit("type %s struct{}", t.kind)
	g.sumGetters(w, t, alts)
	g.sumOrder(w, t, alts)
	g.sumValue(w, t, alts, s)
	return t
}

// sumGetters writes the methods that return the alternatives.
func (g *generator) sumGetters(w *writer, t *goType, alts []*shape.Shape) {
	for i, f := range t.fields {
		a := g.typeOf(alts[i])
		w.emit("")
		w.emit("// %s is the value where it is %s, else an error.", "As"+f, alts[i])
		w.emit("func (a %s) As%s() %s {", t.name, f, a.name)
		w.emit("if a.Is != %s {", g.sumTag(t, f))
		w.emit("return %s", g.fromValue(t.kind+"{}.Value(a)", a))
		w.emit("}")
		w.emit("return a.%s", f)
		w.emit("}")
	}
}

// sumOrder writes Equal and Compare. Values of different alternatives are
// compared as value.Values, which is an error for most.
func (g *generator) sumOrder(w *writer, t *goType, alts []*shape.Shape) {
	for _, m := range []struct{ name, result string }{{"Equal", "bool"}, {"Compare", "int"}} {
		w.emit("func (k %s) %s(a, b %s) %s {", t.kind, m.name, t.name, m.result)
		w.emit("if a.Is != b.Is {")
		w.emit("return value.%s(k.Value(a), k.Value(b))", m.name)
		w.emit("}")
		w.emit("switch a.Is {")
		for i, f := range t.fields {
			g.sumCase(w, t, i)
			w.emit("return %s{}.%s(a.%s, b.%s)", g.typeOf(alts[i]).kind, m.name, f, f)
		}
		w.emit("}")
		w.emit("}")
	}
}

// sumValue writes Value and Of.
func (g *generator) sumValue(w *writer, t *goType, alts []*shape.Shape, s *shape.Shape) {
	w.emit("func (%s) Value(a %s) value.Value {", t.kind, t.name)
	w.emit("switch a.Is {")
	for i, f := range t.fields {
		g.sumCase(w, t, i)
		w.emit("return %s", g.toValue("a."+f, g.typeOf(alts[i])))
	}
	w.emit("}")
	w.emit("}")
	w.emit("func (%s) Of(v value.Value) %s {", t.kind, t.name)
	w.emit("switch v.Kind() {")
	for i, f := range t.fields {
		w.emit("case %s:", valueKinds[alts[i].Kind])
		w.emit("return %s{Is: %s, %s: %s}", t.name, g.sumTag(t, f), f, g.fromValue("v", g.typeOf(alts[i])))
	}
	w.emit("}")
	w.emit("value.Fail(%q, value.Describe(v))", "expected one of "+s.String()+", found %s")
	w.emit(`panic("unreachable")`)
	w.emit("}")
}

func (g *generator) sumTag(t *goType, field string) string {
	return lowerFirst(t.name) + "Is" + field
}

// sumCase writes the case for an alternative; the last one becomes the default.
func (g *generator) sumCase(w *writer, t *goType, i int) {
	if i == len(t.fields)-1 {
		w.emit("default:")
		return
	}
	w.emit("case %s:", g.sumTag(t, t.fields[i]))
}

// toValue is the Go expression for x as a value.Value.
func (g *generator) toValue(x string, t *goType) string {
	switch t.name {
	case "bool":
		return "value.Bool(" + x + ")"
	case "int32":
		return "value.Int(" + x + ")"
	case "string":
		return "value.String(" + x + ")"
	case "value.Value":
		return x
	}
	return fmt.Sprintf("%s{}.Value(%s)", t.kind, x)
}

// fromValue is the inverse of toValue.
func (g *generator) fromValue(x string, t *goType) string {
	switch t.name {
	case "bool":
		return x + ".AsBool()"
	case "int32":
		return x + ".AsInt()"
	case "string":
		return x + ".AsString()"
	case "value.Value":
		return x
	}
	return fmt.Sprintf("%s{}.Of(%s)", t.kind, x)
}
