// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
)

// The tests of this file judge ENABLED and fairness in instantiated modules by
// an oracle that knows nothing of the front end: what it writes, it writes
// together with its meaning, a Go function of the values of one module's
// variables now and next. An instance computes those of the inner module from
// those of the outer; ENABLED tries all next values of its own module. All
// values are 0, 1 and 2.

const enabledValues = 3

// frame is where a formula of a module has a value.
type frame struct {
	cur, nxt []int
	names    []int // of bound names
}

// term is an expression of a module with its meaning.
type term struct {
	text string
	eval func(frame) int
}

// fact is a formula of a module with its meaning.
type fact struct {
	text  string
	holds func(frame) bool
}

// valuations calls visit for all values of n variables until it says false.
func valuations(n int, visit func([]int) bool) bool {
	v := make([]int, n)
	for {
		if !visit(v) {
			return false
		}
		i := 0
		for ; i < n && v[i] == enabledValues-1; i++ {
			v[i] = 0
		}
		if i == n {
			return true
		}
		v[i]++
	}
}

// enabledModule is a module with two variables that is being written, and
// what the modules around it may use of it.
type enabledModule struct {
	r     *rand.Rand
	name  string
	vars  []string
	defs  strings.Builder
	bound []string // names bound where the text is being written
	fresh int
	facts []fact // state predicates that say ENABLED
	acts  []fact // actions
	fair  []fairness
	given []func(arg fact) fact // operators with a parameter below ENABLED; the argument has its own meaning of "next"
	// lets says that instances also stand in a LET, and otherwise ENABLED also in
	// a RECURSIVE operator of a LET: what is both can have no value, since compiled
	// code does not execute an action that a LET names around a recursion.
	lets bool
}

// fairness is WF or SF of each of some actions.
type fairness struct {
	text   string
	strong bool
	parts  []struct{ enabled, taken func(frame) bool }
}

func (m *enabledModule) pick(n int) bool { return m.r.IntN(n) == 0 }

func (m *enabledModule) unique(prefix string) string {
	m.fresh++
	return fmt.Sprintf("%s%s%d", prefix, m.name, m.fresh)
}

// state is a state function, at most depth deep.
func (m *enabledModule) state(depth int) term {
	i := m.r.IntN(2)
	variable := term{m.vars[i], func(f frame) int { return f.cur[i] }}
	if depth == 0 || m.pick(3) {
		switch {
		case m.pick(3):
			k := m.r.IntN(enabledValues)
			return term{fmt.Sprint(k), func(frame) int { return k }}
		case len(m.bound) > 0 && m.pick(2):
			j := m.r.IntN(len(m.bound))
			return term{m.bound[j], func(f frame) int { return f.names[j] }}
		}
		return variable
	}
	a, b := m.state(depth-1), m.state(depth-1)
	sum := func(f frame) int { return (a.eval(f) + b.eval(f)) % 3 }
	switch m.r.IntN(5) {
	case 0:
		return term{"((" + a.text + " + " + b.text + ") % 3)", sum}
	case 1:
		return term{"(IF " + a.text + " = 1 THEN " + b.text + " ELSE " + variable.text + ")", func(f frame) int {
			if a.eval(f) == 1 {
				return b.eval(f)
			}
			return variable.eval(f)
		}}
	case 2:
		return term{"Plus" + m.name + "(" + a.text + ", " + b.text + ")", sum}
	case 3:
		s := m.unique("s")
		return term{"(LET " + s + " == " + a.text + " IN (" + s + " + " + b.text + ") % 3)", sum}
	}
	return term{"[i \\in 0..2 |-> (" + a.text + " + i) % 3][" + b.text + "]", sum}
}

func sel(f frame) frame { return frame{cur: f.nxt, names: f.names} }

// assign is an action that gives variable i its next value.
func (m *enabledModule) assign(i int) fact {
	v, e := m.vars[i], m.state(1)
	is := func(f frame) bool { return f.nxt[i] == e.eval(f) }
	switch m.r.IntN(14) {
	case 0:
		d := m.state(1)
		return fact{v + "' \\in {" + e.text + ", " + d.text + "}", func(f frame) bool { return is(f) || f.nxt[i] == d.eval(f) }}
	case 1:
		return fact{"UNCHANGED " + v, func(f frame) bool { return f.nxt[i] == f.cur[i] }}
	case 2:
		k := m.unique("k")
		return fact{"(\\E " + k + " \\in 1..2 : " + v + "' = (" + e.text + " + " + k + ") % 3)", func(f frame) bool { return !is(f) }}
	case 3:
		return fact{"Set" + m.name + "(" + v + ", " + e.text + ")", is}
	case 4:
		s := m.unique("s")
		return fact{"(LET " + s + " == " + v + " IN " + s + "' = " + e.text + ")", is}
	case 5:
		a := m.unique("A")
		return fact{"(LET " + a + " == " + v + "' = " + e.text + " IN " + a + ")", is}
	case 6:
		return fact{"Do" + m.name + "(" + v + "' = " + e.text + ")", is}
	case 7:
		t := m.unique("t")
		return fact{"Ap" + m.name + "(LAMBDA " + t + " : " + t + "' = " + e.text + ", " + v + ")", is}
	case 8:
		return fact{"OnFirst" + m.name + "(LAMBDA t : " + v + "' = (t + " + e.text + ") % 3)", func(f frame) bool { return f.nxt[i] == (f.cur[0]+e.eval(f))%3 }}
	case 9:
		g := m.state(1)
		return fact{"(IF " + g.text + " = 0 THEN " + v + "' = " + e.text + " ELSE UNCHANGED <<" + v + ">>)", func(f frame) bool {
			if g.eval(f) == 0 {
				return is(f)
			}
			return f.nxt[i] == f.cur[i]
		}}
	case 10:
		return fact{"UNCHANGED (" + v + ")", func(f frame) bool { return f.nxt[i] == f.cur[i] }}
	case 11:
		return fact{"Keep" + m.name + "(" + v + ")", func(f frame) bool { return f.nxt[i] == f.cur[i] }}
	}
	return fact{v + "' = " + e.text, is}
}

// test is an action that assigns nothing; both variables have next values.
func (m *enabledModule) test(inner *enabledModule, through func(fact) fact) fact {
	e, d := m.state(2), m.state(1)
	differ := func(f frame) bool { return e.eval(sel(f)) != d.eval(f) }
	switch m.r.IntN(6) {
	case 0:
		return fact{"(" + e.text + ")' # " + d.text, differ}
	case 1:
		s := m.unique("s")
		return fact{"(LET " + s + " == " + e.text + " IN " + s + "' # " + d.text + ")", differ}
	case 2:
		return fact{"Differ" + m.name + "(" + e.text + ", " + d.text + ")", differ}
	case 3:
		return fact{"~UNCHANGED <<" + m.vars[0] + ", " + m.vars[1] + ">>", func(f frame) bool { return f.nxt[0] != f.cur[0] || f.nxt[1] != f.cur[1] }}
	case 4:
		if inner != nil {
			a := through(inner.acts[m.r.IntN(len(inner.acts))])
			return fact{"(" + a.text + " \\/ " + e.text + "' # " + d.text + ")", func(f frame) bool { return a.holds(f) || differ(f) }}
		}
	}
	rec := m.unique("R")
	return fact{"(LET RECURSIVE " + rec + "(_) " + rec + "(n) == IF n = 0 THEN " + e.text + " ELSE " + rec + "(n - 1) IN " + rec + "(2)' # " + d.text + ")", differ}
}

// action makes a named action; primes of both variables are given first.
func (m *enabledModule) action(inner *enabledModule, through func(fact) fact) {
	var parts []fact
	if m.pick(2) {
		e, d := m.state(1), m.state(1)
		parts = append(parts, fact{e.text + " # " + d.text, func(f frame) bool { return e.eval(f) != d.eval(f) }})
	}
	if m.pick(4) && len(m.facts) > 0 {
		parts = append(parts, m.facts[m.r.IntN(len(m.facts))]) // ENABLED in an action
	}
	first := m.r.IntN(2)
	parts = append(parts, m.assign(first), m.assign(1-first))
	for range m.r.IntN(2) {
		parts = append(parts, m.test(inner, through))
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = "(" + p.text + ")"
	}
	one := fact{strings.Join(texts, " /\\ "), func(f frame) bool {
		for _, p := range parts {
			if !p.holds(f) {
				return false
			}
		}
		return true
	}}
	if m.pick(3) && len(m.acts) > 0 {
		two, before := m.acts[m.r.IntN(len(m.acts))], one
		one = fact{"((" + before.text + ") \\/ " + two.text + ")", func(f frame) bool { return before.holds(f) || two.holds(f) }}
	}
	name := m.unique("A")
	fmt.Fprintf(&m.defs, "%s == %s\n", name, one.text)
	m.acts = append(m.acts, fact{name, one.holds})
}

// sub is what a step must change to be one.
func (m *enabledModule) sub() (string, func(frame) bool) {
	both := func(f frame) bool { return f.cur[0] != f.nxt[0] || f.cur[1] != f.nxt[1] }
	switch m.r.IntN(4) {
	case 0:
		i := m.r.IntN(2)
		return m.vars[i], func(f frame) bool { return f.cur[i] != f.nxt[i] }
	case 1:
		return "vars" + m.name, both
	case 2:
		e := m.state(1)
		return "<<" + e.text + ">>", func(f frame) bool { return e.eval(f) != e.eval(sel(f)) }
	}
	return "<<" + m.vars[0] + ", " + m.vars[1] + ">>", both
}

// able is ENABLED of what a predicate says of steps of the module.
func able(holds func(frame) bool) func(frame) bool {
	return func(f frame) bool {
		return !valuations(2, func(nxt []int) bool { return !holds(frame{f.cur, nxt, f.names}) })
	}
}

// possible makes a state predicate with ENABLED in it.
func (m *enabledModule) possible() {
	a := m.acts[m.r.IntN(len(m.acts))]
	f := fact{"ENABLED " + a.text, able(a.holds)}
	switch m.r.IntN(12) {
	case 0:
		text, changed := m.sub()
		f = fact{"ENABLED <<" + a.text + ">>_" + text, able(func(f frame) bool { return a.holds(f) && changed(f) })}
	case 1:
		f.text = "Can" + m.name + "(" + a.text + ")"
	case 2:
		l := m.unique("L")
		f.text = "(LET " + l + " == " + a.text + " IN ENABLED " + l + ")"
	case 3:
		l := m.unique("L")
		e := m.state(1)
		f = fact{"(LET " + l + "(k) == " + a.text + " /\\ " + m.vars[0] + "' # k IN ENABLED " + l + "(" + e.text + "))",
			able(func(f frame) bool { return a.holds(f) && f.nxt[0] != e.eval(f) })}
	case 4:
		e := m.state(1)
		f = fact{"CanSet" + m.name + "(" + m.vars[1] + ", " + e.text + ")", able(func(f frame) bool { return f.nxt[1] == e.eval(f) && f.nxt[0] == f.cur[1] })}
	case 5:
		f = fact{"CanOp" + m.name + "(LAMBDA k : " + a.text + " /\\ " + m.vars[0] + "' # k)", able(func(f frame) bool { return a.holds(f) && f.nxt[0] != 1 })}
	case 6:
		b := m.acts[m.r.IntN(len(m.acts))]
		f = fact{"ENABLED (" + a.text + " /\\ ~ENABLED (" + b.text + " /\\ " + m.vars[0] + "' # 2))", able(func(f frame) bool {
			return a.holds(f) && !able(func(f frame) bool { return b.holds(f) && f.nxt[0] != 2 })(f)
		})}
	case 7:
		text, changed := m.sub()
		f = fact{"ENABLED (" + a.text + " /\\ [" + m.vars[0] + "' = 1]_" + text + ")", able(func(f frame) bool { return a.holds(f) && (f.nxt[0] == 1 || !changed(f)) })}
	case 8:
		// What only one variable is given; the other may be anything.
		x := m.assign(m.r.IntN(2))
		f = fact{"ENABLED (" + x.text + ")", able(x.holds)}
	case 9:
		f.text = "CanTwice" + m.name + "(" + a.text + ")"
	case 10:
		if m.lets {
			break
		}
		rec := m.unique("R")
		f.text = "(LET RECURSIVE " + rec + "(_) " + rec + "(n) == IF n = 0 THEN ENABLED " + a.text + " ELSE " + rec + "(n - 1) IN " + rec + "(2))"
	}
	if m.pick(3) {
		inner := f
		f = fact{"~(" + inner.text + ")", func(f frame) bool { return !inner.holds(f) }}
	}
	name := m.unique("P")
	fmt.Fprintf(&m.defs, "%s == %s\n", name, f.text)
	m.facts = append(m.facts, fact{name, f.holds})
}

// justice makes a fairness condition.
func (m *enabledModule) justice() {
	a := m.acts[m.r.IntN(len(m.acts))]
	text, changed := m.sub()
	w := fairness{strong: m.pick(2)}
	kind := "WF"
	if w.strong {
		kind = "SF"
	}
	taken := func(f frame) bool { return a.holds(f) && changed(f) }
	type part = struct{ enabled, taken func(frame) bool }
	formula := fmt.Sprintf("%s_%s(%s)", kind, text, a.text)
	w.parts = []part{{able(taken), taken}}
	switch m.r.IntN(5) {
	case 0:
		w.parts = nil
		for k := range enabledValues {
			taken := func(f frame) bool { return a.holds(f) && f.nxt[1] == k && changed(f) }
			w.parts = append(w.parts, part{able(taken), taken})
		}
		formula = fmt.Sprintf("\\A k \\in 0..2 : %s_%s(%s /\\ %s' = k)", kind, text, a.text, m.vars[1])
	case 1:
		name := m.unique("F")
		fmt.Fprintf(&m.defs, "%s(W, of) == %s_of(W)\n", name, kind)
		formula = name + "(" + a.text + ", " + text + ")"
	case 2:
		formula = "(LET L == " + a.text + " IN " + kind + "_" + text + "(L))"
	}
	w.text = m.unique("J")
	fmt.Fprintf(&m.defs, "%s == %s\n", w.text, formula)
	m.fair = append(m.fair, w)
}

// newEnabledModule writes a module; where inner is not nil, it instantiates it.
func newEnabledModule(r *rand.Rand, name string, vars []string, lets bool, inner *enabledModule) *enabledModule {
	m := &enabledModule{r: r, name: name, vars: vars, lets: lets}
	v, w := vars[0], vars[1]
	fmt.Fprintf(&m.defs, "vars%s == <<%s, %s>>\n", name, v, w)
	for _, def := range []string{
		"Plus#(n, k) == (n + k) % 3", "Set#(p, q) == p' = q", "Keep#(p) == UNCHANGED p", "Do#(A) == A", "Ap#(Op(_), p) == Op(p)",
		"OnFirst#(Op(_)) == Op(" + v + ")", "Differ#(p, q) == p' /= q", "Can#(A) == ENABLED A", "CanTwice#(A) == Can#(A) /\\ ENABLED (A /\\ TRUE)",
		"CanSet#(p, q) == ENABLED (Set#(p, q) /\\ " + v + "' = " + w + ")", "CanOp#(Op(_)) == ENABLED Op(1)",
	} {
		fmt.Fprintln(&m.defs, strings.ReplaceAll(def, "#", name))
	}
	var through func(fact) fact
	if inner != nil {
		through = m.instance(inner)
	}
	m.action(nil, nil)
	m.action(inner, through)
	m.possible()
	m.action(inner, through)
	for range 5 {
		m.possible()
		m.justice()
	}
	i := m.r.IntN(2)
	name = "Given" + name
	fmt.Fprintf(&m.defs, "%s(A) == ENABLED (A /\\ %s' = %s)\n", name, m.vars[i], m.vars[1-i])
	m.given = append(m.given, func(arg fact) fact { return fact{name + "(" + arg.text + ")", arg.holds} })
	return m
}

// instance writes an INSTANCE of inner, and returns what a formula of inner
// becomes in m. Then it takes over what inner has.
func (m *enabledModule) instance(inner *enabledModule) func(fact) fact {
	subs := []term{m.state(1), m.state(1)}
	switch {
	case m.pick(4): // one for two
		subs[1] = subs[0]
		fallthrough
	case m.pick(3): // variables
		for i := range subs {
			j := (i + m.fresh) % 2
			if m.pick(3) {
				j = 0
			}
			subs[i] = term{m.vars[j], func(f frame) int { return f.cur[j] }}
		}
	}
	mapped := func(vals []int, names []int) []int {
		if vals == nil {
			return nil
		}
		f := frame{cur: vals, names: names}
		return []int{subs[0].eval(f), subs[1].eval(f)}
	}
	down := func(holds func(frame) bool) func(frame) bool {
		return func(f frame) bool { return holds(frame{mapped(f.cur, nil), mapped(f.nxt, nil), f.names}) }
	}
	name := m.unique("I")
	prefix := name + "!"
	with := fmt.Sprintf("INSTANCE %s WITH %s <- %s, %s <- %s", inner.name, inner.vars[0], subs[0].text, inner.vars[1], subs[1].text)
	switch m.r.IntN(4) {
	case 0:
		prefix = ""
		fmt.Fprintln(&m.defs, with)
	case 1:
		prefix = name + "(" + subs[0].text + ", 1)!"
		fmt.Fprintf(&m.defs, "%s(p, q) == INSTANCE %s WITH %s <- p, %s <- %s\n", name, inner.name, inner.vars[0], inner.vars[1], subs[1].text)
	default:
		fmt.Fprintf(&m.defs, "%s == %s\n", name, with)
	}
	seen := func(text string) string { return prefix + text }
	for i, f := range inner.facts {
		out := fact{seen(f.text), down(f.holds)}
		if m.lets && i%3 == 0 && prefix != "" {
			out.text = "(LET K == " + with + " IN K!" + f.text + ")"
		}
		named := m.unique("P")
		fmt.Fprintf(&m.defs, "%s == %s\n", named, out.text)
		m.facts = append(m.facts, fact{named, out.holds})
	}
	for _, w := range inner.fair {
		out := fairness{text: m.unique("J"), strong: w.strong}
		fmt.Fprintf(&m.defs, "%s == %s\n", out.text, seen(w.text))
		for _, p := range w.parts {
			out.parts = append(out.parts, struct{ enabled, taken func(frame) bool }{down(p.enabled), down(p.taken)})
		}
		m.fair = append(m.fair, out)
	}
	// The argument of an operator of inner is about the variables of m, and its
	// primed ones are not those of inner: each can be what it wants.
	for range inner.given {
		k := m.r.IntN(enabledValues)
		i := m.r.IntN(2)
		named := m.unique("P")
		fmt.Fprintf(&m.defs, "%s == %s(%s' = %d)\n", named, seen("Given"+inner.name), m.vars[i], k)
		m.facts = append(m.facts, fact{named, func(frame) bool { return true }})
	}
	return func(f fact) fact { return fact{seen(f.text), down(f.holds)} }
}

func (m *enabledModule) String() string {
	return fmt.Sprintf("---- MODULE %s ----\nEXTENDS Naturals\nVARIABLES %s, %s\n%s", m.name, m.vars[0], m.vars[1], m.defs.String())
}

// enabledFamily writes modules, the innermost first, and the root.
func enabledFamily(r *rand.Rand) (textFiles, *enabledModule) {
	files := textFiles{}
	names := [][]string{{"x", "y"}, {"u", "v"}}[r.IntN(2)]
	lets := r.IntN(2) == 0
	m := newEnabledModule(r, "Inner", names, lets, nil)
	files["Inner.tla"] = m.String() + "====\n"
	if r.IntN(2) == 0 {
		m = newEnabledModule(r, "Middle", []string{"a", "b"}, lets, m)
		files["Middle.tla"] = m.String() + "====\n"
	}
	return files, newEnabledModule(r, "M", []string{"x", "y"}, lets, m)
}

// enabledRounds is how many families a run looks at, and from which seed on.
func enabledRounds(t *testing.T) (int, uint64) {
	rounds, seed := randomRounds(t)
	if os.Getenv("ASHLAR_SEED") == "" {
		rounds *= 3
	}
	return rounds, seed
}

// everyEvaluator calls use with a model for each evaluator.
func everyEvaluator(t *testing.T, files textFiles, cfg string, use func(how string, m *Model)) {
	t.Helper()
	loaded, diags, err := load.Load(files, "M.tla", load.Options{})
	if err != nil || loaded == nil {
		t.Fatalf("%v %v\n%s", err, diags, files)
	}
	parsed := parseConfig(t, "M.cfg", cfg)
	for _, how := range []string{"compiled", "reference", "packed"} {
		m, err := New(loaded.Spec, parsed, Options{Reference: how == "reference"})
		if err != nil {
			var list *source.List
			t.Fatalf("%v %v\n%s", err, list, files)
		}
		if how == "packed" {
			packedModel(t, m, 3)
		}
		use(how, m)
	}
}

func (f textFiles) String() string {
	out := ""
	for _, name := range []string{"Inner.tla", "Middle.tla", "M.tla"} {
		out += f[name]
	}
	return out
}

// TestEnabledOfInstances compares predicates that say ENABLED, directly and
// through instances, with the oracle in every state.
func TestEnabledOfInstances(t *testing.T) {
	rounds, seed := enabledRounds(t)
	for n := range rounds {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		files, m := enabledFamily(r)
		var b strings.Builder
		b.WriteString(m.String() + "Init == x \\in 0..2 /\\ y \\in 0..2\nNext == UNCHANGED <<x, y>>\n")
		cfg := "INIT Init\nNEXT Next\nINVARIANTS\n"
		for i, f := range m.facts {
			var where []string
			valuations(2, func(v []int) bool {
				if f.holds(frame{cur: v}) {
					where = append(where, fmt.Sprintf("<<%d, %d>>", v[0], v[1]))
				}
				return true
			})
			fmt.Fprintf(&b, "Inv%d == %s <=> <<x, y>> \\in {%s}\n", i, f.text, strings.Join(where, ", "))
			cfg += fmt.Sprintf("Inv%d\n", i)
		}
		files["M.tla"] = b.String() + "====\n"
		everyEvaluator(t, files, cfg, func(how string, m *Model) {
			got, err := check.Run(context.Background(), m, check.Options{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			if got.Verdict != check.OK || got.Distinct != 9 {
				t.Fatalf("seed %d, round %d, %s: %s\n%s", seed, n, how, classicOutcome(got), files)
			}
		})
	}
}

// graph is a specification of two variables, as its steps.
type graph struct {
	first [9]bool
	steps []map[int]bool // of each action: from*9+to
	fair  []int          // for each action: 0 none, 1 weak, 2 strong
}

func valuesOf(s int) []int { return []int{s % 3, s / 3} }

// violates reports whether the graph has a behaviour that is not fair as w says:
// whether some set of states can be wandered in forever, so that the
// fairness of the graph holds and that of one part of w does not.
func (g *graph) violates(w fairness) bool {
	step := func(s, t int) bool {
		for _, a := range g.steps {
			if a[s*9+t] {
				return true
			}
		}
		return s == t
	}
	reached := 0
	for s, is := range g.first {
		if is {
			reached |= 1 << s
		}
	}
	for grown := -1; grown != reached; {
		grown = reached
		for s := range 9 {
			for t := range 9 {
				if reached>>s&1 == 1 && step(s, t) {
					reached |= 1 << t
				}
			}
		}
	}
	for _, p := range w.parts {
		for set := 1; set < 1<<9; set++ {
			if set&^reached == 0 && g.wanders(set, w.strong, p.enabled, p.taken, step) {
				return true
			}
		}
	}
	return false
}

func (g *graph) wanders(set int, strong bool, enabled, taken func(frame) bool, step func(s, t int) bool) bool {
	in := func(s int) bool { return set>>s&1 == 1 }
	free := func(s, t int) bool {
		return in(s) && in(t) && step(s, t) && !taken(frame{cur: valuesOf(s), nxt: valuesOf(t)})
	}
	able, somewhere := true, false
	for s := range 9 {
		if in(s) {
			e := enabled(frame{cur: valuesOf(s)})
			able, somewhere = able && e, somewhere || e
		}
	}
	if !somewhere || !strong && !able {
		return false
	}
	for s := range 9 { // every state of the set leads to every other
		if !in(s) {
			continue
		}
		seen := 1 << s
		for grown := -1; grown != seen; {
			grown = seen
			for a := range 9 {
				for b := range 9 {
					if seen>>a&1 == 1 && free(a, b) {
						seen |= 1 << b
					}
				}
			}
		}
		if seen&set != set {
			return false
		}
	}
	for i, a := range g.steps {
		if g.fair[i] == 0 {
			continue
		}
		everywhere, some, happens := true, false, false
		for s := range 9 {
			can := false
			for t := range 9 {
				if s != t && a[s*9+t] {
					can = true
					happens = happens || free(s, t)
				}
			}
			if in(s) {
				everywhere, some = everywhere && can, some || can
			}
		}
		if !happens && (everywhere || some && g.fair[i] == 2) {
			return false
		}
	}
	return true
}

func (g *graph) String() string {
	var b strings.Builder
	var states []string
	for s, is := range g.first {
		if is {
			states = append(states, fmt.Sprintf("(x = %d /\\ y = %d)", s%3, s/3))
		}
	}
	fmt.Fprintf(&b, "Init == %s\n", strings.Join(states, " \\/ "))
	spec := "Spec == Init /\\ [][FALSE"
	for i, a := range g.steps {
		fmt.Fprintf(&b, "Step%d == FALSE", i)
		for e := range 81 {
			if a[e] {
				s, t := e/9, e%9
				fmt.Fprintf(&b, " \\/ (x = %d /\\ y = %d /\\ x' = %d /\\ y' = %d)", s%3, s/3, t%3, t/3)
			}
		}
		fmt.Fprintln(&b)
		spec += fmt.Sprintf(" \\/ Step%d", i)
	}
	spec += "]_<<x, y>>"
	for i, f := range g.fair {
		if f > 0 {
			spec += fmt.Sprintf(" /\\ %s_<<x, y>>(Step%d)", []string{"", "WF", "SF"}[f], i)
		}
	}
	return b.String() + spec + "\n"
}

func randomGraph(r *rand.Rand) *graph {
	g := &graph{}
	g.first[r.IntN(9)], g.first[r.IntN(9)] = true, true
	for range 1 + r.IntN(3) {
		a := map[int]bool{}
		for range 3 + r.IntN(5) {
			a[r.IntN(81)] = true
		}
		g.steps = append(g.steps, a)
		g.fair = append(g.fair, r.IntN(3))
	}
	return g
}

// TestFairnessOfInstances compares verdicts about WF and SF of instantiated
// modules with those of the oracle.
func TestFairnessOfInstances(t *testing.T) {
	rounds, seed := enabledRounds(t)
	verdicts := map[bool]int{}
	for n := range rounds {
		r := rand.New(rand.NewPCG(seed, uint64(n)+1<<32))
		files, m := enabledFamily(r)
		g := randomGraph(r)
		text := m.String() + g.String()
		for range 3 {
			w := m.fair[r.IntN(len(m.fair))]
			files["M.tla"] = text + "Prop == " + w.text + "\n====\n"
			want := g.violates(w)
			verdicts[want]++
			everyEvaluator(t, files, "SPECIFICATION Spec\nPROPERTY Prop\nCHECK_DEADLOCK FALSE\n", func(how string, m *Model) {
				got, err := check.Run(context.Background(), m, check.Options{Workers: 1})
				if err != nil {
					t.Fatal(err)
				}
				if got.Verdict != check.OK && got.Verdict != check.LivenessViolated || (got.Verdict == check.LivenessViolated) != want {
					t.Fatalf("seed %d, round %d, %s: %s, want a violation: %v\n%s", seed, n, how, classicOutcome(got), want, files)
				}
			})
		}
	}
	if verdicts[true] < rounds/10 || verdicts[false] < rounds/10 {
		t.Errorf("the verdicts are %v: the models have become too much alike", verdicts)
	}
}
