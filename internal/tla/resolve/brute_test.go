// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// The tests below draw modules as trees of Go values and find their levels by
// running them: an operator is a Go function from the levels of its arguments
// to its level, an operator argument is such a function, and an application
// runs the whole definition again. Nothing here uses terms, bounds or guards;
// the tests use the parser and the resolver only to see whether they refuse the
// text.

var drawnModules = flag.Int("drawn-levels", 4000, "how many modules TestLevelsByRunning draws")

// failed is the panic value when an expression breaks a rule.
type failed string

// runOp represents an operator when a module is run.
type runOp func(args []runArg) Level

// runArg is an argument: a level, or an operator.
type runArg struct {
	level Level
	op    runOp
}

// node is a drawn expression. Run returns its level in env, or panics.
type node struct {
	text string
	run  func(env map[string]runArg) Level
}

func need(got, most Level) {
	if got > most {
		panic(failed(fmt.Sprint(got, " where at most ", most)))
	}
}

// drawnParam is a parameter; it is an operator of one argument if op is set.
type drawnParam struct {
	name string
	op   bool
}

// written is in env while a definition is run by itself. Two rules concern the
// text of a definition and not its arguments: [] of an action, and an action
// beside a temporal formula.
const written = "!"

type drawnDef struct {
	name   string
	params []drawnParam
	body   node
}

func (d *drawnDef) run(outer map[string]runArg) runOp {
	return func(args []runArg) Level {
		env := maps.Clone(outer)
		delete(env, written)
		for i, p := range d.params {
			env[p.name] = args[i]
		}
		return d.body.run(env)
	}
}

type drawer struct {
	*rand.Rand
	vars, consts, opConsts []string
	defs                   []*drawnDef
	params                 []drawnParam
	fresh                  int
	// instances are names I with the definitions of another module that I!D names.
	instances []drawnInstance
}

type drawnInstance struct {
	name string
	defs []*drawnDef
	env  map[string]runArg
}

func (d *drawer) pick(n int) int { return d.IntN(n) }

func unary(text string, x node, f func(Level) Level) node {
	return node{fmt.Sprintf(text, x.text), func(env map[string]runArg) Level { return f(x.run(env)) }}
}

func value(x Level) Level {
	need(x, ActionLevel)
	return x
}

// expr draws an expression.
func (d *drawer) expr(depth int) node {
	if depth == 0 {
		var leaves []node
		for _, v := range d.vars {
			leaves = append(leaves, d.name(v))
		}
		for _, c := range d.consts {
			leaves = append(leaves, d.name(c))
		}
		for _, p := range d.params {
			if !p.op {
				leaves = append(leaves, d.name(p.name), d.name(p.name))
			}
		}
		leaves = append(leaves, node{"1", func(map[string]runArg) Level { return ConstantLevel }})
		return leaves[d.pick(len(leaves))]
	}
	sub := func() node { return d.expr(d.pick(depth)) }
	switch d.pick(13) {
	case 0:
		return unary("(%s)'", sub(), func(l Level) Level { need(l, StateLevel); return ActionLevel })
	case 1:
		return unary("(ENABLED (%s))", sub(), func(l Level) Level { need(l, ActionLevel); return StateLevel })
	case 2:
		x := sub()
		return node{fmt.Sprintf("([](%s))", x.text), func(env map[string]runArg) Level {
			_, here := env[written]
			if x.run(env) == ActionLevel && here {
				panic(failed("[] of an action"))
			}
			return TemporalLevel
		}}
	case 3:
		return unary("{%s}", sub(), value)
	case 4, 5:
		return d.both(sub(), sub(), []string{`/\`, "=>"}[d.pick(2)])
	case 6:
		a, b := sub(), sub()
		return node{fmt.Sprintf("((%s) = (%s))", a.text, b.text), func(env map[string]runArg) Level {
			return max(value(a.run(env)), value(b.run(env)))
		}}
	case 7:
		a, v := sub(), d.expr(0)
		return node{fmt.Sprintf("([][%s]_(%s))", a.text, v.text), func(env map[string]runArg) Level {
			need(a.run(env), ActionLevel)
			need(v.run(env), StateLevel)
			return TemporalLevel
		}}
	case 8:
		a, b := sub(), sub()
		d.fresh++
		return node{fmt.Sprintf("(LET z%d == %s IN %s)", d.fresh, a.text, b.text), func(env map[string]runArg) Level {
			a.run(env)
			return b.run(env)
		}}
	case 9:
		if x, ok := d.applyOperator(depth); ok {
			return x
		}
	}
	if len(d.defs)+len(d.instances) == 0 {
		return sub()
	}
	return d.apply(depth)
}

func (d *drawer) both(a, b node, op string) node {
	return node{fmt.Sprintf("((%s) %s (%s))", a.text, op, b.text), func(env map[string]runArg) Level {
		x, y := a.run(env), b.run(env)
		if _, here := env[written]; here && max(x, y) == TemporalLevel && (x == ActionLevel || y == ActionLevel) {
			panic(failed("an action beside a temporal formula"))
		}
		return max(x, y)
	}}
}

func (d *drawer) name(s string) node {
	return node{s, func(env map[string]runArg) Level { return env[s].level }}
}

// applyOperator applies an operator parameter, or an operator constant.
func (d *drawer) applyOperator(depth int) (node, bool) {
	names := append([]string{}, d.opConsts...)
	for _, p := range d.params {
		if p.op {
			names = append(names, p.name, p.name)
		}
	}
	if len(names) == 0 {
		return node{}, false
	}
	s, a := names[d.pick(len(names))], d.expr(d.pick(depth))
	return node{fmt.Sprintf("%s(%s)", s, a.text), func(env map[string]runArg) Level {
		return env[s].op([]runArg{{level: a.run(env)}})
	}}, true
}

// apply applies a definition.
func (d *drawer) apply(depth int) node {
	defs, prefix, around := d.defs, "", map[string]runArg(nil)
	if k := d.pick(len(d.instances) + 1); k < len(d.instances) {
		defs, prefix, around = d.instances[k].defs, d.instances[k].name+"!", d.instances[k].env
	}
	if len(defs) == 0 {
		return d.expr(0)
	}
	def := defs[d.pick(len(defs))]
	var texts []string
	var args []func(env map[string]runArg) runArg
	for _, p := range def.params {
		if p.op {
			t, a := d.operatorArgument(depth)
			texts, args = append(texts, t), append(args, a)
			continue
		}
		x := d.expr(d.pick(depth))
		texts = append(texts, x.text)
		args = append(args, func(env map[string]runArg) runArg { return runArg{level: x.run(env)} })
	}
	text := prefix + def.name
	if len(texts) > 0 {
		text += "(" + strings.Join(texts, ", ") + ")"
	}
	return node{text, func(env map[string]runArg) Level {
		given := make([]runArg, len(args))
		for i, a := range args {
			given[i] = a(env)
		}
		outer := around
		if outer == nil {
			outer = env
		}
		return def.run(outer)(given)
	}}
}

// operatorArgument draws an argument for an operator parameter: a definition of
// one value, a LAMBDA, or an operator parameter.
func (d *drawer) operatorArgument(depth int) (string, func(env map[string]runArg) runArg) {
	for range 3 {
		switch d.pick(3) {
		case 0:
			if len(d.defs) == 0 {
				continue
			}
			if def := d.defs[d.pick(len(d.defs))]; len(def.params) == 1 && !def.params[0].op {
				return def.name, func(env map[string]runArg) runArg { return runArg{op: def.run(env)} }
			}
		case 1:
			for _, p := range d.params {
				if p.op {
					return p.name, func(env map[string]runArg) runArg { return env[p.name] }
				}
			}
		}
	}
	d.fresh++
	p := drawnParam{name: fmt.Sprintf("q%d", d.fresh)}
	saved := d.params
	d.params = append(d.params[:len(d.params):len(d.params)], p)
	body := d.expr(d.pick(depth))
	d.params = saved
	return fmt.Sprintf("LAMBDA %s : %s", p.name, body.text), func(env map[string]runArg) runArg {
		// A LAMBDA must also obey the rules where it is written.
		lambda := &drawnDef{params: []drawnParam{p}, body: body}
		if _, here := env[written]; here {
			lambda.alone(env)
		}
		lambda.run(env)([]runArg{{}})
		return runArg{op: lambda.run(env)}
	}
}

// definition draws a definition with parameters, whose own name comes after.
func (d *drawer) definition(name string) *drawnDef {
	out := &drawnDef{name: name}
	for range d.pick(4) {
		d.fresh++
		out.params = append(out.params, drawnParam{fmt.Sprintf("p%d", d.fresh), d.pick(3) == 0})
	}
	d.params = out.params
	out.body = d.expr(1 + d.pick(3))
	d.params = nil
	return out
}

func (def *drawnDef) head() string {
	var params []string
	for _, p := range def.params {
		if p.op {
			params = append(params, p.name+"(_)")
		} else {
			params = append(params, p.name)
		}
	}
	if len(params) == 0 {
		return def.name
	}
	return def.name + "(" + strings.Join(params, ", ") + ")"
}

// all is an unknown operator: it has its argument's level.
func all(args []runArg) Level { return args[0].level }

// alone runs a definition with constants for its parameters, as its text.
func (def *drawnDef) alone(env map[string]runArg) Level {
	here := maps.Clone(env)
	here[written] = runArg{}
	return def.again(here)
}

// again is alone for a definition that was written elsewhere.
func (def *drawnDef) again(env map[string]runArg) Level {
	inner := maps.Clone(env)
	for _, p := range def.params {
		if p.op {
			inner[p.name] = runArg{op: all}
		} else {
			inner[p.name] = runArg{}
		}
	}
	return def.body.run(inner)
}

// holds runs f and reports whether it broke no rule.
func holds(f func()) (ok bool, why string) {
	defer func() {
		if p := recover(); p != nil {
			broke, mine := p.(failed)
			if !mine {
				panic(p)
			}
			ok, why = false, string(broke)
		}
	}()
	f()
	return true, ""
}

// module draws definitions until there are n that break no rule, and perhaps a
// last one that does. It returns their text and whether all hold.
func (d *drawer) module(env map[string]runArg, n int, wrong bool) (string, bool, string) {
	var b strings.Builder
	for k, tries := 0, 0; k < n; {
		d.fresh++
		def := d.definition(fmt.Sprintf("D%d", d.fresh))
		ok, why := holds(func() { def.alone(env) })
		if last := wrong && k == n-1; !ok && !last {
			continue
		} else if tries++; ok && last && tries < 60 {
			continue // until one is wrong
		}
		fmt.Fprintf(&b, "%s == %s\n", def.head(), def.body.text)
		if !ok {
			return b.String(), false, why
		}
		d.defs = append(d.defs, def)
		k++
	}
	return b.String(), true, ""
}

// refused resolves modules and returns the first error, "" if there is none.
func refused(t *testing.T, text string) string {
	t.Helper()
	lib, root, diags := split(text)
	if diags.HasErrors() {
		t.Fatalf("%s\ndoes not parse: %s", text, diags.Error())
	}
	Resolve(root, lib, Options{}, diags)
	for _, d := range diags.Sorted() {
		if d.Severity != source.Warning {
			if d.Code != LevelTooHigh {
				t.Fatalf("%s\n%s", text, diags.Error())
			}
			return d.Message
		}
	}
	return ""
}

// TestLevelsByRunning draws modules with operators that take operators, and
// compares the refused modules with those that break a rule when they are run.
func TestLevelsByRunning(t *testing.T) {
	held, broke := 0, 0
	for seed := range uint64(*drawnModules) {
		d := &drawer{Rand: rand.New(rand.NewPCG(seed, 1)), vars: []string{"x"}}
		env := map[string]runArg{"x": {level: StateLevel}}
		text, ok, why := d.module(env, 2+d.pick(5), d.pick(2) == 0)
		text = "---- MODULE A ----\nVARIABLE x\n" + text + "====\n"
		got := refused(t, text)
		if ok != (got == "") {
			t.Fatalf("seed %d:\n%srefused: %q; when it is run: %q", seed, text, got, why)
		}
		if ok {
			held++
		} else {
			broke++
		}
	}
	if held < *drawnModules/4 || broke < *drawnModules/4 {
		t.Errorf("%d modules hold and %d do not: too few of one kind", held, broke)
	}
}

// TestLevelsOfInstancesByRunning draws a module with constants, operators among
// them, and perhaps a variable, and a module that instantiates it. The
// substitution is wrong if a definition of the first module breaks a rule after
// it.
func TestLevelsOfInstancesByRunning(t *testing.T) {
	held, broke := 0, 0
	for seed := range uint64(*drawnModules) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		in := &drawer{Rand: rnd, consts: []string{"c"}, opConsts: []string{"Op"}}
		env := map[string]runArg{"c": {}, "Op": {op: all}}
		head := "CONSTANTS c, Op(_)\n"
		if rnd.IntN(2) == 0 {
			in.vars = []string{"w"}
			env["w"] = runArg{level: StateLevel}
			head += "VARIABLE w\n"
		}
		first, _, _ := in.module(env, 1+rnd.IntN(4), false)
		plain := len(in.vars) == 0
		for _, def := range in.defs {
			plain = plain && def.alone(env) == ConstantLevel
		}

		out := &drawer{Rand: rnd, vars: []string{"x"}, fresh: 1000}
		outer := map[string]runArg{"x": {level: StateLevel}}
		second, _, _ := out.module(outer, rnd.IntN(3), false)
		c, w := out.expr(rnd.IntN(3)), out.expr(rnd.IntN(2))
		if rnd.IntN(3) > 0 {
			w = out.name("x")
			c = node{"2", func(map[string]runArg) Level { return ConstantLevel }}
		}
		opText, op := "LAMBDA a : {a}", func(map[string]runArg) runArg {
			return runArg{op: func(args []runArg) Level { return value(args[0].level) }}
		}
		// An operator that is not a function of its argument's value cannot stand for
		// Op at all; the operators drawn here do not hide their argument.
		switch rnd.IntN(5) {
		case 0, 1:
			opText, op = "LAMBDA a : a", func(map[string]runArg) runArg { return runArg{op: all} }
		case 2:
			opText, op = "LAMBDA a : x", func(map[string]runArg) runArg {
				return runArg{op: func([]runArg) Level { return StateLevel }}
			}
		case 3:
			opText, op = "LAMBDA a : 1", func(map[string]runArg) runArg {
				return runArg{op: func([]runArg) Level { return ConstantLevel }}
			}
		}
		inner := map[string]runArg{}
		ok, why := holds(func() {
			here := maps.Clone(outer)
			here[written] = runArg{}
			inner["c"] = runArg{level: c.run(here)}
			inner["Op"] = op(outer)
			if !plain {
				need(inner["c"].level, ConstantLevel)
				need(inner["Op"].op([]runArg{{}}), ConstantLevel)
			}
			if len(in.vars) > 0 {
				inner["w"] = runArg{level: w.run(here)}
				need(inner["w"].level, StateLevel)
			}
			for _, def := range in.defs {
				def.again(inner)
			}
		})
		with := fmt.Sprintf("c <- %s, Op <- %s", c.text, opText)
		if len(in.vars) > 0 {
			with += ", w <- " + w.text
		}
		text := "---- MODULE M ----\n" + head + first + "====\n---- MODULE A ----\nVARIABLE x\n" + second + "I == INSTANCE M WITH " + with + "\n"
		if ok {
			out.instances = []drawnInstance{{"I", in.defs, inner}}
			var more string
			more, ok, why = out.module(outer, 1+rnd.IntN(3), rnd.IntN(2) == 0)
			text += more
		}
		text += "====\n"
		got := refused(t, text)
		if ok != (got == "") {
			t.Fatalf("seed %d:\n%srefused: %q; when it is run: %q", seed, text, got, why)
		}
		if ok {
			held++
		} else {
			broke++
		}
	}
	if held < *drawnModules/5 || broke < *drawnModules/5 {
		t.Errorf("%d modules hold and %d do not: too few of one kind", held, broke)
	}
}
