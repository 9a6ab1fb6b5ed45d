// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/compile"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// constantsOf are the constants of the algorithms in testdata/algo.
var constantsOf = map[string]map[string]value.Value{
	"shared":  {"Workers": value.Set(value.Model("w1"), value.Model("w2"), value.Model("w3"))},
	"unset":   {"Null": value.Model("Null")},
	"handoff": {"N": value.Int(4)},
}

// notRun are algorithms whose mapping macros the driver's plain resources do
// not implement: they are only built.
var notRun = map[string]bool{"handoff": true}

// explored is what the checker finds of an algorithm: its first state, and the
// states in which nothing happens any more.
type explored struct {
	m        *model.Model
	names    []string
	first    []value.Value
	terminal map[string]bool // by projection
	fails    bool            // some step has an error
	why      error
	project  func(vals []value.Value) string
}

const statesMax = 50_000

func explore(t *testing.T, s *subject, constants map[string]value.Value) *explored {
	t.Helper()
	var text strings.Builder
	text.WriteString("INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n")
	for name, v := range constants {
		fmt.Fprintf(&text, "CONSTANT %s = %s\n", name, v)
	}
	for _, c := range s.whole.Constants {
		if _, ok := constants[c.Name]; !ok {
			fmt.Fprintf(&text, "CONSTANT %s = %s\n", c.Name, c.Name)
		}
	}
	var problems source.List
	m, err := model.New(s.whole, config.Parse(source.NewFile("test.cfg", []byte(text.String())), &problems), model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := &explored{m: m, names: m.Variables(), terminal: map[string]bool{}}
	e.project = projection(t, s, e)
	w := m.NewWorker()
	seen := map[string]bool{}
	var queue []check.State
	visit := func(_ int, st check.State) error {
		if !seen[string(st)] {
			seen[string(st)] = true
			queue = append(queue, append(check.State(nil), st...))
		}
		return nil
	}
	if err := w.Init(visit); err != nil {
		t.Fatal(err)
	}
	e.first = m.Decode(queue[0])
	for len(queue) > 0 && len(seen) < statesMax {
		st := queue[0]
		queue = queue[1:]
		steps := 0
		err := w.Next(st, func(a int, next check.State) error {
			if string(next) != string(st) {
				steps++
			}
			return visit(a, next)
		})
		if err != nil {
			e.fails, e.why = true, err
			continue
		}
		if steps == 0 {
			e.terminal[e.project(m.Decode(st))] = true
		}
	}
	if len(seen) >= statesMax {
		t.Fatalf("more than %d states", statesMax)
	}
	return e
}

// value looks a variable up in a state.
func (e *explored) value(vals []value.Value, name string) value.Value {
	for i, n := range e.names {
		if n == name {
			return vals[i]
		}
	}
	return value.Value{}
}

// process is an instance of an archetype in the model.
type process struct {
	p    *pcal.Process
	self value.Value
	own  map[string]string // variable of the archetype -> of the model
	refs map[string]string // ref parameter -> of the model
}

func processes(t *testing.T, s *subject, e *explored) []process {
	t.Helper()
	var out []process
	for _, p := range s.made.Plain.Processes {
		// Identities are expressions over the constants of the algorithm's view
		// of the module; their names are those of the whole.
		id := s.evaluate(t, p.Id, e)
		selves := []value.Value{id}
		if p.Set {
			selves = id.Elems()
		}
		a := p.From.Archetype
		for _, self := range selves {
			pr := process{p: p, self: self, own: map[string]string{}, refs: map[string]string{}}
			k := 0
			for i, param := range a.Params {
				if ref := p.From.Args[i].Ref; ref != nil {
					pr.refs[param.Var.Name] = ref.Name
					continue
				}
				pr.own[param.Var.Name] = p.Locals[k].Var.Name
				k++
			}
			for _, l := range a.Locals {
				pr.own[l.Var.Name] = p.Locals[k].Var.Name
				k++
			}
			out = append(out, pr)
		}
	}
	return out
}

// evaluate gives the value of an expression of the algorithm, by printing it
// through the model's own constants.
func (s *subject) evaluate(t *testing.T, x core.Expr, e *explored) value.Value {
	t.Helper()
	byName := map[string]*core.Constant{}
	for _, c := range s.whole.Constants {
		byName[c.Name] = c
	}
	r := &pcal.Rewriter{Expr: func(y core.Expr) core.Expr {
		switch y := y.(type) {
		case *core.ConstRef:
			return &core.ConstRef{At: y.At, Const: byName[y.Const.Name]}
		case *core.Call:
			if d := s.whole.Names[y.Def.Name]; d != nil && len(y.Args) == 0 {
				return &core.Call{At: y.At, Def: d}
			}
		}
		return nil
	}}
	v, err := e.m.Evaluate(r.X(x))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// projection writes what a run shows of a state: the variables of each
// instance, and those shared.
func projection(t *testing.T, s *subject, e *explored) func([]value.Value) string {
	procs := processes(t, s, e)
	return func(vals []value.Value) string {
		var lines []string
		for _, p := range procs {
			for name, model := range p.own {
				v := e.value(vals, model)
				if p.p.Set {
					v = v.Apply(p.self)
				}
				lines = append(lines, fmt.Sprintf("%s(%s).%s = %s", p.p.From.Archetype.Name, p.self, name, v))
			}
			for _, g := range p.refs {
				lines = append(lines, fmt.Sprintf("%s = %s", g, e.value(vals, g)))
			}
		}
		return joined(lines)
	}
}

func joined(lines []string) string {
	sort.Strings(lines)
	out := lines[:0]
	for i, l := range lines {
		if i == 0 || l != lines[i-1] {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// scenarioOf makes the run that corresponds to the model.
func scenarioOf(t *testing.T, name string, s *subject, e *explored) scenario {
	sc := scenario{Pkg: name, Constants: map[string]string{}, Shared: map[string]string{}}
	for c, v := range constantsOf[name] {
		sc.Constants[c] = v.String()
	}
	for _, p := range processes(t, s, e) {
		in := instance{Archetype: p.p.From.Archetype.Name, Self: p.self.String(), Values: map[string]string{}, Refs: p.refs}
		for _, param := range p.p.From.Archetype.Params {
			if !param.Ref {
				v := e.value(e.first, p.own[param.Var.Name])
				if p.p.Set {
					v = v.Apply(p.self)
				}
				in.Values[param.Var.Name] = v.String()
			}
		}
		for _, g := range p.refs {
			sc.Shared[g] = e.value(e.first, g).String()
		}
		sc.Instances = append(sc.Instances, in)
	}
	return sc
}

func (o outcome) projection() string {
	var lines []string
	for inst, vars := range o.Vars {
		for name, v := range vars {
			lines = append(lines, fmt.Sprintf("%s.%s = %s", inst, name, v))
		}
	}
	for name, v := range o.Shared {
		lines = append(lines, fmt.Sprintf("%s = %s", name, v))
	}
	return joined(lines)
}

// TestAlgorithms compiles the algorithms in testdata/algo and runs them; where
// they end must be a place where the checker's exploration ends.
func TestAlgorithms(t *testing.T) {
	files, err := filepath.Glob("testdata/algo/*.tla")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d algorithms, %v", len(files), err)
	}
	const runsEach = 8
	b := newBundle(t)
	var list []scenario
	var of []string
	models := map[string]*explored{}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".tla")
		s := read(t, path)
		p, diags := s.compile(compile.Options{Package: name + "pkg", Constants: constantsOf[name]})
		if diags.HasErrors() {
			t.Errorf("%s: %v", name, diags)
			continue
		}
		b.add(t, name, p)
		if notRun[name] {
			continue
		}
		models[name] = explore(t, s, constantsOf[name])
		sc := scenarioOf(t, name, s, models[name])
		for range runsEach {
			if models[name].fails {
				// An instance that fails ends the others: each runs by itself.
				for _, in := range sc.Instances {
					alone := sc
					alone.Instances = []instance{in}
					list, of = append(list, alone), append(of, name)
				}
				continue
			}
			list, of = append(list, sc), append(of, name)
		}
	}
	specifications(t, b)
	if t.Failed() {
		return
	}
	b.build(t)
	ends := map[string]map[string]bool{}
	failed := map[string]bool{}
	for i, o := range b.run(t, list) {
		m := models[of[i]]
		blocked := strings.Contains(o.Err, "deadline exceeded")
		switch {
		case blocked && m.terminal[o.projection()]:
			// Waiting forever, where the model can do nothing either.
		case o.Err != "" && !m.fails:
			t.Errorf("%s: compiled: %s", of[i], o.Err)
		case o.Err != "":
			failed[of[i]] = true
			if of[i] != "fails" {
				t.Errorf("%s: compiled: %s\nthe checker: %v", of[i], o.Err, m.why)
			}
		case !m.fails && !m.terminal[o.projection()]:
			t.Errorf("%s: the checker does not end at\n%s\nbut for example at\n%s", of[i], o.projection(), anyOf(m.terminal))
		default:
			if ends[of[i]] == nil {
				ends[of[i]] = map[string]bool{}
			}
			ends[of[i]][o.projection()] = true
		}
	}
	for name, m := range models {
		t.Logf("%s: %d of %d ends reached", name, len(ends[name]), len(m.terminal))
		if m.fails && !failed[name] {
			t.Errorf("%s: the checker finds an error that no run has", name)
		}
	}
}

// specifications compiles our own Modular specifications, to be built and
// vetted with the others.
func specifications(t *testing.T, b *bundle) {
	files, err := filepath.Glob("../../specs/*/*.tla")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "--mpcal") {
			continue
		}
		n++
		name := "spec" + strings.TrimSuffix(filepath.Base(path), ".tla")
		p, diags := read(t, path).compile(compile.Options{Package: strings.ReplaceAll(name, "_", "")})
		if p == nil {
			t.Errorf("%s: %v", path, diags)
			continue
		}
		b.add(t, name, p)
	}
	if n < 5 {
		t.Errorf("found %d Modular specifications", n)
	}
}

func anyOf(m map[string]bool) string {
	var all []string
	for s := range m {
		all = append(all, s)
	}
	sort.Strings(all)
	if len(all) == 0 {
		return "nowhere"
	}
	return all[0]
}

// TestGolden keeps the generated code of a few algorithms: readable, and the
// same at every run. ASHLAR_REWRITE=1 writes it anew.
func TestGolden(t *testing.T) {
	for _, name := range []string{"swap", "messages", "procs"} {
		s := read(t, "testdata/algo/"+name+".tla")
		p, diags := s.compile(compile.Options{Package: name})
		if diags.HasErrors() {
			t.Fatalf("%s: %v", name, diags)
		}
		again, _ := read(t, "testdata/algo/"+name+".tla").compile(compile.Options{Package: name})
		for i, f := range p.Files {
			if string(again.Files[i].Text) != string(f.Text) {
				t.Errorf("%s: %s differs from one run to the next", name, f.Name)
			}
		}
		golden := "testdata/golden/" + name + ".go.txt"
		text := string(p.Files[0].Text) + "\n// " + strings.Join(p.Explain, "\n// ") + "\n"
		if os.Getenv("ASHLAR_REWRITE") != "" {
			if err := os.MkdirAll("testdata/golden", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != text {
			t.Errorf("%s: the generated code is not that of %s; run with ASHLAR_REWRITE=1 and read the difference\n%s", name, golden, text)
		}
	}
}
