package model

import (
	"fmt"
	"slices"
	"sync"

	"github.com/ashlar-dev/ashlar/internal/model/memo"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/native"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// The codes of the diagnostics that New reports; each comment shows a
// configuration that has it.
const (
	// UnknownName: INVARIANT Foo, where the specification defines no Foo
	UnknownName source.Code = "UnknownName"
	// MissingConstant: a configuration that gives no value to CONSTANT N
	MissingConstant source.Code = "MissingConstant"
	// WrongArity: CONSTANT N <- F, where N is declared without and F defined with parameters
	WrongArity source.Code = "WrongArity"
	// WrongLevel: INVARIANT Next
	WrongLevel source.Code = "WrongLevel"
	// MissingBehaviour: INVARIANT Inv without SPECIFICATION, INIT and NEXT, where there are variables
	MissingBehaviour source.Code = "MissingBehaviour"
	// BadSpecification: SPECIFICATION Spec, where Spec is not Init /\ [][Next]_v /\ fairness
	BadSpecification source.Code = "BadSpecification"
	// BadSymmetry: SYMMETRY Perms, where Perms is not a set of permutations of model values
	BadSymmetry source.Code = "BadSymmetry"
	// Unsupported: _POSSIBLE Goal
	Unsupported source.Code = "Unsupported"
	// NoValue: a constant whose value cannot be computed
	NoValue source.Code = "NoValue"
)

// replacement is what the configuration puts in the place of a constant or of
// a definition: a value, a definition, or the table of a constant operator.
type replacement struct {
	val   value.Value
	def   *core.Def
	table []tableRow
}

// tableRow is one "F(a, b) = v" of a configuration.
type tableRow struct {
	args []value.Value
	val  value.Value
}

// program is a specification bound to a configuration: what both evaluators
// read. It is immutable once built, but for the values of constant
// definitions, which are computed when they are first needed.
type program struct {
	spec    *core.Spec
	options Options

	constants map[*core.Constant]replacement
	overrides map[*core.Def]replacement
	globals   map[*core.Def]bool // the definitions that no LET made
	// factsByDef is complete but for what the reference evaluator asks later,
	// under factsMu.
	factsByDef  map[*core.Def]facts
	passesByDef map[passesKey][]bool
	factsMu     sync.Mutex
	// constDefs holds the value of every constant-level definition without
	// parameters. Both evaluators share it, so that RandomElement is drawn once.
	constDefs map[*core.Def]*memo.Cell
}

// resolve follows the configuration's overrides of a definition: it returns
// the definition to use, or nil and what stands in its place.
func (p *program) resolve(d *core.Def) (*core.Def, replacement) {
	for range len(p.overrides) + 1 {
		r, ok := p.overrides[d]
		switch {
		case !ok:
			return d, replacement{}
		case r.def == nil:
			return nil, r
		case r.def == d:
			return d, replacement{}
		}
		d = r.def
	}
	return d, replacement{}
}

// apply looks a constant operator's arguments up in its table.
func (r replacement) apply(name string, args []value.Value) value.Value {
	for _, row := range r.table {
		if len(row.args) != len(args) {
			continue
		}
		same := true
		for i := range args {
			same = same && value.Equal(row.args[i], args[i])
		}
		if same {
			return row.val
		}
	}
	value.Fail("the configuration gives %s no value for the arguments %s", name, value.TupleOf(args))
	return value.Value{}
}

// isNative reports whether d is computed in Go.
func (p *program) isNative(d *core.Def) bool {
	return d.Native && (d.Body == nil || !p.options.pure || nativePrimitive(d))
}

// nativePrimitive reports whether the body of a native definition is no more than
// a place for one.
func nativePrimitive(d *core.Def) bool {
	op := nativeOp(d)
	return op != nil && (op.Primitive || op.Effects)
}

// unsetName is the constant that translations of PlusCal declare for variables
// without an initial value. The user did not write it and need not configure
// it: it is the model value of its name, which is what TLC's users give it.
const unsetName = "defaultInitValue"

// newProgram binds spec to cfg; problems go to diags.
func newProgram(spec *core.Spec, cfg *config.Config, o Options, diags *source.List) *program {
	p := &program{
		spec: spec, options: o,
		constants:   make(map[*core.Constant]replacement),
		overrides:   make(map[*core.Def]replacement),
		globals:     make(map[*core.Def]bool, len(spec.Defs)),
		factsByDef:  make(map[*core.Def]facts),
		passesByDef: make(map[passesKey][]bool),
		constDefs:   make(map[*core.Def]*memo.Cell),
	}
	for _, d := range spec.Defs {
		p.globals[d] = true
	}
	p.bindValues(cfg, diags)
	p.bindOverrides(cfg, diags)
	for _, c := range spec.Constants {
		if _, ok := p.constants[c]; ok {
			continue
		}
		v, ok := o.Constants[c.Name]
		if !ok && c.Name == unsetName {
			v, ok = value.Model(unsetName), true
		}
		if ok && c.Arity == 0 {
			p.constants[c] = replacement{val: v}
		} else {
			repair := "CONSTANT " + c.Name + " = ..."
			if c.Arity > 0 {
				repair = fmt.Sprintf("CONSTANT %s <- Op, where the specification defines Op with as many parameters: %d", c.Name, c.Arity)
			}
			diags.Add(source.Diagnostic{Code: MissingConstant, Span: c.Span,
				Message: "the constant " + c.Name + " has no value in the configuration", Repair: repair})
		}
	}
	p.findConstDefs()
	return p
}

// targets finds what a name on the left side of a configuration's assignment
// stands for: constants and definitions, of one module or of the root.
func (p *program) targets(name, module config.Name) (cs []*core.Constant, ds []*core.Def) {
	for _, c := range p.spec.Constants {
		if c.Name == name.Text && (!module.IsSet() || c.Module == module.Text) {
			cs = append(cs, c)
		}
	}
	if module.IsSet() {
		for _, d := range p.spec.Defs {
			if d.Name == name.Text && d.Module == module.Text {
				ds = append(ds, d)
			}
		}
		if len(cs)+len(ds) == 0 { // the module has the name from another one
			for _, d := range p.spec.Defs {
				if d.Name == name.Text {
					ds = append(ds, d)
				}
			}
		}
		return cs, ds
	}
	if d := p.spec.Names[name.Text]; d != nil {
		ds = append(ds, d)
	}
	return cs, ds
}

// unknown reports a name that the specification does not have.
func (p *program) unknown(n config.Name, diags *source.List) {
	if d, ok := p.misnamed(n); ok {
		diags.Add(d)
		return
	}
	d := source.Diagnostic{Code: UnknownName, Span: n.Span, Message: "the specification neither declares nor defines " + n.Text}
	near := source.NewNearest(n.Text)
	for name, def := range p.spec.Names {
		if !def.Native {
			near.Offer(name)
		}
	}
	for _, c := range p.spec.Constants {
		near.Offer(c.Name)
	}
	d.Repair = near.Repair()
	diags.Add(d)
}

// undeclared warns of a value for a constant that the specification does not
// have. TLC ignores such values too, and many configurations have one, as
// defaultInitValue = defaultInitValue. A value for a variable is an error: it is
// meant as the first one.
func (p *program) undeclared(n config.Name, diags *source.List) {
	var found source.List
	p.unknown(n, &found)
	variable := slices.ContainsFunc(p.spec.Variables, func(v *core.Variable) bool { return v.Name == n.Text })
	for _, d := range found.Sorted() {
		if variable {
			diags.Add(d)
			continue
		}
		d.Severity = source.Warning
		d.Message += "; its value is ignored"
		diags.Add(d)
	}
}

func (p *program) bindValues(cfg *config.Config, diags *source.List) {
	for _, a := range cfg.Constants {
		cs, ds := p.targets(a.Name, a.Module)
		if len(cs)+len(ds) == 0 {
			p.undeclared(a.Name, diags)
			continue
		}
		val, args, err := configValues(a)
		if err != nil {
			diags.Errorf(a.Name.Span, NoValue, "the value of %s is none: %v", a.Name.Text, err)
		}
		set := func(arity int, old replacement) replacement {
			if arity != len(a.Args) {
				diags.Errorf(a.Name.Span, WrongArity, "%s takes %d arguments, the configuration gives %d", a.Name.Text, arity, len(a.Args))
			}
			if len(a.Args) == 0 {
				return replacement{val: val}
			}
			return replacement{table: append(old.table, tableRow{args, val})}
		}
		for _, c := range cs {
			p.constants[c] = set(c.Arity, p.constants[c])
		}
		for _, d := range ds {
			p.overrides[d] = set(len(d.Params), p.overrides[d])
		}
	}
}

func (p *program) bindOverrides(cfg *config.Config, diags *source.List) {
	for _, o := range cfg.Overrides {
		cs, ds := p.targets(o.Name, o.Module)
		if len(cs)+len(ds) == 0 {
			p.unknown(o.Name, diags)
			continue
		}
		op := p.spec.Names[o.Op.Text]
		if op == nil {
			// "N <- M" where M is itself a constant.
			if c := p.constant(o.Op.Text); c != nil {
				op = &core.Def{Name: c.Name, Module: c.Module, Span: c.Span, Body: &core.ConstRef{At: core.At{Place: c.Span}, Const: c}}
			}
		}
		if op == nil {
			p.unknown(o.Op, diags)
			for _, c := range cs {
				p.constants[c] = replacement{} // what is wrong with it has been said
			}
			continue
		}
		check := func(arity int) {
			if arity != len(op.Params) {
				diags.Errorf(o.Op.Span, WrongArity, "%s takes %d arguments, %s takes %d", o.Name.Text, arity, o.Op.Text, len(op.Params))
			}
		}
		for _, c := range cs {
			check(c.Arity)
			p.constants[c] = replacement{def: op}
		}
		for _, d := range ds {
			check(len(d.Params))
			p.overrides[d] = replacement{def: op}
		}
	}
}

func (p *program) constant(name string) *core.Constant {
	for _, c := range p.spec.Constants {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// configValues makes values of what a configuration writes: of an assignment,
// and of the arguments in it.
func configValues(a config.Constant) (val value.Value, args []value.Value, err error) {
	err = value.Catch(func() {
		val = configValue(a.Value)
		for _, x := range a.Args {
			args = append(args, configValue(x))
		}
	})
	return val, args, err
}

// configValue makes a value of what a configuration writes.
func configValue(v config.Value) value.Value {
	elems := func() []value.Value {
		vs := make([]value.Value, len(v.Elems))
		for i, e := range v.Elems {
			vs[i] = configValue(e)
		}
		return vs
	}
	switch v.Kind {
	case config.Int:
		return value.Int(v.Int)
	case config.Bool:
		return value.Bool(v.Bool)
	case config.Str:
		return value.String(v.Text)
	case config.Model:
		return value.Model(v.Text)
	case config.Set:
		return value.SetOf(elems())
	case config.Tuple:
		return value.TupleOf(elems())
	}
	fields := make([]value.Field, len(v.Fields))
	for i, f := range v.Fields {
		fields[i] = value.Field{Name: f.Name.Text, Val: configValue(f.Value)}
	}
	return value.Record(fields)
}

// findConstDefs makes a cell for every definition whose value is computed
// once: without parameters, of constant level, closed. TLC computes them when
// it starts; here they wait until they are needed.
func (p *program) findConstDefs() {
	asks := asksRun{p: p, known: make(map[*core.Def]bool)}
	add := func(d *core.Def) {
		if len(d.Params) > 0 || d.Recursive || p.constDefs[d] != nil || d.Body == nil && !d.Native {
			return
		}
		f := p.defFacts(d)
		if f.level == core.ConstantLevel && !f.locals && !asks.of(d) {
			p.constDefs[d] = &memo.Cell{}
		}
	}
	for _, d := range p.spec.Defs {
		add(d)
	}
	for _, r := range p.constants {
		if r.def != nil {
			add(r.def)
		}
	}
}

// asksRun finds out which definitions read or write what changes during a run,
// directly or through others.
type asksRun struct {
	p     *program
	known map[*core.Def]bool
	// visited are those of which it is known only if the answer is no.
	visited []*core.Def
}

// of reports whether d does. What was looked at for one definition is not looked at for
// another.
func (a *asksRun) of(d *core.Def) bool {
	a.visited = a.visited[:0]
	asks := a.look(d)
	if asks {
		for _, v := range a.visited {
			delete(a.known, v)
		}
		a.known[d] = true
	}
	return asks
}

func (a *asksRun) look(d *core.Def) bool {
	if asks, ok := a.known[d]; ok {
		return asks
	}
	a.known[d] = false
	a.visited = append(a.visited, d)
	switch d.Module + "!" + d.Name {
	case "TLC!TLCGet", "TLC!TLCSet", "TLC!JavaTime", "TLCExt!TLCGetOrDefault", "TLCExt!TLCGetAndSet", "TLCExt!Trace":
		return true
	}
	if d.Body == nil || a.p.isNative(d) {
		return false
	}
	asks := false
	var walk func(core.Expr)
	walk = func(e core.Expr) {
		switch e := e.(type) {
		case *core.Call:
			asks = asks || a.look(e.Def)
		case *core.OpRef:
			asks = asks || a.look(e.Def)
		}
		if !asks {
			for x := range core.Children(e, core.EvaluationOrder) {
				walk(x)
			}
		}
	}
	walk(d.Body)
	return asks
}

// nativeOp is the Go form of a definition of a standard module, or nil.
func nativeOp(d *core.Def) *native.Op {
	if !d.Native {
		return nil
	}
	return native.Lookup(d.Module, d.Name)
}

// reach calls visit for the definitions that e leads to, each once and none that seen
// has; what a definition is made of is looked into as long as visit says so.
func (p *program) reach(e core.Expr, seen map[*core.Def]bool, visit func(*core.Def) (further bool)) {
	var walk func(core.Expr)
	def := func(d *core.Def) {
		d, _ = p.resolve(d)
		if d == nil || seen[d] {
			return
		}
		seen[d] = true
		if visit(d) && d.Body != nil && !p.isNative(d) {
			walk(d.Body)
		}
	}
	walk = func(e core.Expr) {
		switch e := e.(type) {
		case *core.Call:
			def(e.Def)
		case *core.OpRef:
			def(e.Def)
		case *core.ConstRef:
			if r := p.constants[e.Const]; r.def != nil {
				def(r.def)
			}
		}
		for x := range core.Children(e, core.EvaluationOrder) {
			walk(x)
		}
	}
	walk(e)
}

// hasEffects reports whether d is an operator whose result may differ from one
// evaluation to the next, or that acts.
func hasEffects(d *core.Def) bool {
	op := nativeOp(d)
	return op != nil && op.Effects
}
