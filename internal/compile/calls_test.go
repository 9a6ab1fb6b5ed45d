// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/compile"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
)

// Random algorithms in which everything calls procedures by reference, and
// what they must compute, found by doing the same with pointers in Go.

// routine is a procedure: its parameters, one local, and statements that are
// text for the algorithm and an effect on the variables in scope.
type routine struct {
	name string
	refs []bool
	body []action
}

// scope are the variables that a routine sees, by name.
type scope map[string]*int

type action struct {
	text string
	do   func(scope)
}

type callGen struct {
	rng    *rand.Rand
	labels int
}

func (g *callGen) pick(names []string) string { return names[g.rng.IntN(len(names))] }

// label is the next label, which is unique in the whole algorithm.
func (g *callGen) label() string {
	g.labels++
	return fmt.Sprintf("l%d: ", g.labels)
}

// actions makes statements over the given variables that call the given
// routines.
func (g *callGen) actions(n int, names []string, callees []*routine) []action {
	var out []action
	for range n {
		x, y, z, k := g.pick(names), g.pick(names), g.pick(names), g.rng.IntN(5)
		switch op := g.rng.IntN(6); {
		case op < 3 && len(callees) > 0:
			out = append(out, g.call(names, callees[g.rng.IntN(len(callees))]))
		case op == 3:
			out = append(out, action{fmt.Sprintf("%sif (%s > %d) { %s := %s; } else { %s := %d; };", g.label(), x, k, y, z, z, k), func(s scope) {
				if *s[x] > k {
					*s[y] = *s[z]
				} else {
					*s[z] = k
				}
			}})
		case op == 4 && x != y:
			// Both right sides are computed first.
			out = append(out, action{fmt.Sprintf("%s%s := %s || %s := %s + %d;", g.label(), x, y, y, x, k), func(s scope) {
				a, b := *s[y], *s[x]+k
				*s[x], *s[y] = a, b
			}})
		case op == 5:
			// By a macro.
			out = append(out, action{fmt.Sprintf("%sAdd(%s, %s);", g.label(), x, y), func(s scope) { *s[x] = (*s[x] + *s[y]) % 7 }})
		default:
			out = append(out, action{fmt.Sprintf("%s%s := (%s * 3 + %s + %d) %% 7;", g.label(), x, y, z, k), func(s scope) { *s[x] = (*s[y]*3 + *s[z] + k) % 7 }})
		}
	}
	return out
}

func (g *callGen) call(names []string, to *routine) action {
	var args []string
	// Two references to one variable are allowed, and are the same variable.
	var pass []func(s scope) *int
	for _, ref := range to.refs {
		x, k := g.pick(names), g.rng.IntN(5)
		if ref {
			args = append(args, "ref "+x)
			pass = append(pass, func(s scope) *int { return s[x] })
		} else {
			args = append(args, fmt.Sprintf("%s + %d", x, k))
			pass = append(pass, func(s scope) *int { v := *s[x] + k; return &v })
		}
	}
	return action{fmt.Sprintf("%scall %s(%s);", g.label(), to.name, strings.Join(args, ", ")), func(s scope) {
		inner, own := scope{}, 2
		for i, p := range pass {
			inner[to.variable(i)] = p(s)
		}
		inner[to.name+"Own"] = &own
		for _, a := range to.body {
			a.do(inner)
		}
	}}
}

func (r *routine) variable(i int) string { return fmt.Sprintf("%sp%d", r.name, i) }

func (g *callGen) routine(name string, plain bool, callees []*routine) *routine {
	r := &routine{name: name}
	names := []string{name + "Own"}
	for i := range 1 + g.rng.IntN(3) {
		r.refs = append(r.refs, !plain && g.rng.IntN(3) > 0)
		names = append(names, r.variable(i))
	}
	r.body = g.actions(1+g.rng.IntN(3), names, callees)
	return r
}

func text(list []action) string {
	var b strings.Builder
	for _, a := range list {
		b.WriteString("  " + a.text + "\n")
	}
	return b.String()
}

func (g *callGen) procedure(r *routine) string {
	var params []string
	for i, ref := range r.refs {
		p := r.variable(i)
		if ref {
			p = "ref " + p
		}
		params = append(params, p)
	}
	return fmt.Sprintf("procedure %s(%s) variables %sOwn = 2; {\n%s  %sreturn;\n}\n", r.name, strings.Join(params, ", "), r.name, text(r.body), g.label())
}

// algorithm is a random module, and what the archetype's process leaves in h
// and i.
func (g *callGen) algorithm() (module string, h, i int) {
	var b strings.Builder
	b.WriteString("---- MODULE calls ----\nEXTENDS Integers, Sequences, TLC\n(*\n--mpcal calls {\n")
	b.WriteString("macro Add(to, x) { to := (to + x) % 7; }\nmacro Unused(a) { a := a + 1; }\n")
	var modular, plain []*routine
	for k := range 1 + g.rng.IntN(4) {
		r := g.routine(fmt.Sprintf("M%d", k), false, modular)
		modular = append(modular, r)
		b.WriteString(g.procedure(r))
	}
	b.WriteString("mapping macro Same { read { yield $variable; } write { yield $value; } }\n")
	names := []string{"ha", "hb", "mine"}
	body := g.actions(1+g.rng.IntN(4), names, modular)
	fmt.Fprintf(&b, "archetype A(ref ha, ref hb) variables mine = 1; {\n%s  %sskip;\n}\n", text(body), g.label())
	h, i = 3, 4
	mine := 1
	at := scope{"ha": &h, "hb": &i, "mine": &mine}
	for _, a := range body {
		a.do(at)
	}
	b.WriteString("variables g = 5, k = 6, h = 3, i = 4;\n")
	mapping := ""
	if g.rng.IntN(2) == 0 {
		mapping = " mapping h via Same"
	}
	fmt.Fprintf(&b, "process (Inst = 1) == instance A(ref h, ref i)%s;\n", mapping)
	for k := range 1 + g.rng.IntN(3) {
		r := g.routine(fmt.Sprintf("P%d", k), true, append(append([]*routine(nil), modular...), plain...))
		plain = append(plain, r)
		b.WriteString(g.procedure(r))
	}
	// A plain process, alone or one of a set, asserts what it has computed.
	head := "process (Proc = 7)"
	names = []string{"g", "k", "own"}
	if g.rng.IntN(2) == 0 {
		head, names = `process (Proc \in {7, 8})`, []string{"own", "other"}
	}
	steps := g.actions(2+g.rng.IntN(4), names, append(append([]*routine(nil), modular...), plain...))
	gv, kv, own, other := 5, 6, 0, 1
	s := scope{"g": &gv, "k": &kv, "own": &own, "other": &other}
	for _, a := range steps {
		a.do(s)
	}
	fmt.Fprintf(&b, "%s variables own = 0, other = 1; {\n%s", head, text(steps))
	for _, n := range names {
		fmt.Fprintf(&b, "  %sassert %s = %d;\n", g.label(), n, *s[n])
	}
	b.WriteString("}\n}\n*)\n====\n")
	return b.String(), h, i
}

// TestRandomCalls checks that calls by reference, from archetypes, procedures
// and plain processes, compute what they do with pointers, in the checker and
// in compiled code.
func TestRandomCalls(t *testing.T) {
	b := newBundle(t)
	var runs []scenario
	var want []string
	for seed := range uint64(60) {
		g := &callGen{rng: rand.New(rand.NewPCG(seed, 14))}
		module, h, i := g.algorithm()
		s := readText(t, "calls", module)
		asserts(t, module, s)
		name := fmt.Sprintf("calls%d", seed)
		p, diags := s.compile(compile.Options{Package: name})
		if diags.HasErrors() {
			t.Fatalf("seed %d: %v\n%s", seed, diags, module)
		}
		if seed < 8 {
			b.add(t, name, p)
			runs = append(runs, scenario{Pkg: name, Shared: map[string]string{"h": "3", "i": "4"},
				Instances: []instance{{Archetype: "A", Self: "1", Refs: map[string]string{"ha": "h", "hb": "i"}}}})
			want = append(want, fmt.Sprintf("%d %d", h, i))
		}
	}
	b.build(t)
	for k, out := range b.run(t, runs) {
		if got := out.Shared["h"] + " " + out.Shared["i"]; out.Err != "" || got != want[k] {
			t.Errorf("seed %d: compiled code leaves %s (%s), want %s", k, got, out.Err, want[k])
		}
	}
}

// asserts checks the algorithm and the TLA+ that it is translated to: no
// assertion fails, and both have the same states.
func asserts(t *testing.T, module string, s *subject) {
	t.Helper()
	var found []int64
	for _, direct := range []*pcal.Algorithm{nil, s.made.Plain} {
		var problems source.List
		cfg := config.Parse(source.NewFile("calls.cfg", []byte("INIT Init\nNEXT Next\nCONSTANT defaultInitValue = defaultInitValue\n")), &problems)
		m, err := model.NewDirect(s.whole, direct, cfg, model.Options{})
		if err != nil {
			t.Fatalf("%v\n%s", err, module)
		}
		r, err := check.Run(context.Background(), m, check.Options{Workers: 1})
		if err != nil || r.Verdict != check.OK {
			t.Fatalf("%v %v %v\n%s", r.Verdict, r.Err, err, module)
		}
		found = append(found, r.Distinct)
	}
	if found[0] != found[1] {
		t.Fatalf("%d states in TLA+, %d in the algorithm\n%s", found[0], found[1], module)
	}
}

// TestDamagedAlgorithmsDoNotPanic takes random algorithms, damages them, and
// checks, translates and compiles what is left: diagnostics, or an algorithm.
func TestDamagedAlgorithmsDoNotPanic(t *testing.T) {
	accepted, refused := 0, 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 15))
		module, _, _ := (&callGen{rng: rand.New(rand.NewPCG(seed%40, 14))}).algorithm()
		for range 1 + rng.IntN(2) {
			module = damage(rng, module)
		}
		path := filepath.Join(t.TempDir(), "calls.tla")
		if err := os.WriteFile(path, []byte(module), 0o644); err != nil {
			t.Fatal(err)
		}
		if survives(t, path, module) {
			accepted++
		} else {
			refused++
		}
	}
	if accepted < 25 || refused < 100 {
		t.Errorf("%d algorithms accepted, %d refused: the damage is of the wrong kind", accepted, refused)
	}
}

// damage drops, doubles or exchanges a word of the algorithm.
func damage(rng *rand.Rand, module string) string {
	words := strings.Split(module, " ")
	i, j := rng.IntN(len(words)), rng.IntN(len(words))
	switch rng.IntN(6) {
	case 0:
		words[i] = ""
	case 3, 4:
		words[i] = words[j]
	case 1:
		words[i] += " " + words[i]
	case 2:
		words[i], words[j] = words[j], words[i]
	default:
		words[i] = []string{"ref", "call", "return;", "yield", "$variable", "goto", "x", "{", "};", "await FALSE;", "either { skip; } or { skip; };", "h", "ha", "M0(ref g)", "P0(1)"}[rng.IntN(15)]
	}
	return strings.Join(words, " ")
}

func survives(t *testing.T, path, module string) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("panic: %v\n%s", r, module)
		}
	}()
	var out load.Translation
	var spec *core.Spec
	loaded, diags, err := load.Load(disk{}, path, load.Options{Retranslate: true, Translate: func(u *load.Untranslated, list *source.List) load.Translation {
		out = trans.InMemory(u, list)
		spec = u.Program.Spec()
		return out
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diags.HasErrors() || out.Algorithm == nil {
		return false
	}
	_, list := compile.Compile(spec, out.Algorithm, compile.Options{Package: "calls", Whole: loaded.Spec, Plain: out.Plain})
	return !list.HasErrors()
}
