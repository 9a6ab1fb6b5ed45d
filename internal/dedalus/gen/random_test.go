// SPDX-License-Identifier: Apache-2.0

package gen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// writer writes a random program. Programs that are recursive compute nothing in
// sync rules, and others are not recursive, so that all of them come to an end in
// each tick; relations that merge are recursive in one way only, whose result does
// not depend on the order of evaluation.
type writer struct {
	env.Random
	strings.Builder
	// arriving are relations that no rule of the component derives; derived those
	// that sync rules derive from what is before them, sent those that are sent.
	arriving, derived, sent []relation
	recursive               bool
}

type relation struct {
	name    string
	types   []string // "max<u64>" and the like for columns that merge
	kind    string
	derived int // its place in derived
}

func (r *relation) merges() bool {
	return slices.ContainsFunc(r.types, func(t string) bool { return lattice(t) != "" })
}

func lattice(t string) string {
	switch {
	case strings.HasPrefix(t, "max<"), strings.HasPrefix(t, "min<"):
		return t[:3]
	case t == "or":
		return t
	case strings.HasSuffix(t, " lattice"):
		return "set"
	}
	return ""
}

// plain is the type of values.
func plain(t string) string {
	switch lattice(t) {
	case "max", "min":
		return t[4 : len(t)-1]
	case "or":
		return "bool"
	case "set":
		return strings.TrimSuffix(t, " lattice")
	}
	return t
}

func (w *writer) n(n int) int { return env.IntN(w, n) }

func (w *writer) pick(of ...string) string { return of[w.n(len(of))] }

func (w *writer) typ() string {
	return w.pick("u64", "u64", "u64", "u64", "int", "bool", "text", "node", "bytes", "set<u64>", "u64", "text")
}

func (w *writer) constant(t string) string {
	switch t {
	case "u64":
		return fmt.Sprint(w.n(4))
	case "int":
		return w.pick("-2", "-1", "0", "1")
	case "bool":
		return w.pick("true", "false")
	case "text":
		return w.pick(`""`, `"a"`, `"b"`)
	case "bytes":
		return w.pick(`b""`, `b"a"`, `b"ab"`)
	case "node":
		return w.pick(`node "c/0"`, `node "c/1"`)
	}
	return ""
}

// vars are the variables of a rule, with their types.
type vars struct {
	names, types []string
}

func (v *vars) of(w *writer, t string) string {
	var all []string
	for i, n := range v.names {
		if v.types[i] == t {
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return w.pick(all...)
}

func (v *vars) add(t string) string {
	n := fmt.Sprintf("x%d", len(v.names))
	v.names, v.types = append(v.names, n), append(v.types, t)
	return n
}

// atom is an atom that may bind variables.
func (w *writer) atom(r *relation, v *vars) string {
	args := make([]string, len(r.types))
	fresh := vars{}
	for i, t := range r.types {
		t = plain(t)
		old := v.of(w, t)
		switch k := w.n(10); {
		case k < 5 && old != "":
			args[i] = old
		case k == 5 && t != "set<u64>":
			args[i] = w.constant(t)
		case k == 6 && t == "node":
			args[i] = "self"
		case k >= 8:
			args[i] = "_"
		default:
			args[i] = fmt.Sprintf("x%d", len(v.names)+len(fresh.names))
			fresh.names, fresh.types = append(fresh.names, args[i]), append(fresh.types, t)
		}
	}
	v.names, v.types = append(v.names, fresh.names...), append(v.types, fresh.types...)
	return r.name + "(" + strings.Join(args, ", ") + ")"
}

// negated is an atom that binds nothing.
func (w *writer) negated(r *relation, v *vars) string {
	args := make([]string, len(r.types))
	for i, t := range r.types {
		args[i] = "_"
		t = plain(t)
		if old := v.of(w, t); old != "" && w.n(4) > 0 {
			args[i] = old
		} else if t != "set<u64>" && w.n(3) == 0 {
			args[i] = w.constant(t)
		}
	}
	return "not " + r.name + "(" + strings.Join(args, ", ") + ")"
}

// below are the relations that a rule for the place may ask for in any way.
func (w *writer) below(place int) []relation {
	return slices.Concat(w.arriving, w.arriving, w.derived[:place], w.derived[:place])
}

// body is a random body. Computing says whether it may make new values.
func (w *writer) body(of []relation, computing bool) (string, *vars) {
	v := &vars{}
	var out []string
	for range 1 + w.n(3)*w.n(2) + w.n(2) {
		out = append(out, w.atom(&of[w.n(len(of))], v))
	}
	if w.n(15) == 0 {
		out, *v = nil, vars{}
	}
	if computing && w.n(3) == 0 {
		if t := w.computed(v); t != "" {
			out = append(out, t)
		}
	}
	if w.n(3) == 0 || len(out) == 0 {
		out = append(out, w.negated(&of[w.n(len(of))], v))
	}
	if w.n(3) == 0 && len(v.names) > 0 {
		i := w.n(len(v.names))
		t := v.types[i]
		other := v.of(w, t)
		if c := w.constant(t); c != "" && w.n(2) == 0 {
			other = c
		}
		ops := []string{"==", "!="}
		if t != "bool" && t != "node" && t != "set<u64>" {
			ops = []string{"==", "!=", "<", "<=", ">", ">="}
		}
		out = append(out, v.names[i]+" "+w.pick(ops...)+" "+other)
	}
	// The order of literals is no matter.
	for i := range out {
		j := i + w.n(len(out)-i)
		out[i], out[j] = out[j], out[i]
	}
	return strings.Join(out, ", "), v
}

// computed is an assignment of a value to a new variable.
func (w *writer) computed(v *vars) string {
	type f struct{ result, text string }
	var all []f
	if x := v.of(w, "u64"); x != "" {
		y := v.of(w, "u64")
		all = append(all, f{"u64", "(" + x + " + " + y + ") % 5"}, f{"u64", x + " / " + y}, f{"u64", "(" + x + " * 3) % " + y}, f{"u64", "(" + x + " - 1) % 7"},
			f{"int", "int(" + x + ")"}, f{"text", "text(" + x + ")"}, f{"u64", "hash(" + x + ") % 3"}, f{"u64", "half(" + x + ")"}, f{"u64", "succ(" + x + ") % 4"})
	}
	if x := v.of(w, "int"); x != "" {
		all = append(all, f{"int", "(" + x + " * -3) / 2"}, f{"u64", "u64(" + x + ") % 3"}, f{"int", "7 / " + x})
	}
	if x := v.of(w, "bytes"); x != "" {
		all = append(all, f{"u64", "len(" + x + ")"}, f{"u64", "hash(" + x + ") % 3"}, f{"text", "text(" + x + ")"})
	}
	if x := v.of(w, "set<u64>"); x != "" {
		all = append(all, f{"u64", "size(" + x + ")"}, f{"text", "text(" + x + ")"}, f{"u64", "hash(" + x + ") % 3"}, f{"bool", "contains(" + x + ", 1)"})
	}
	if x := v.of(w, "bool"); x != "" {
		all = append(all, f{"text", "text(" + x + ")"}, f{"u64", "hash(" + x + ") % 3"})
	}
	if len(all) == 0 {
		return ""
	}
	g := all[w.n(len(all))]
	return v.add(g.result) + " := " + g.text
}

// head is the head for a relation, with what the body binds; "" if it cannot be.
func (w *writer) head(r *relation, v *vars) string {
	args := make([]string, len(r.types))
	for i, t := range r.types {
		t = plain(t)
		if args[i] = v.of(w, t); args[i] == "" || w.n(10) == 0 {
			if c := w.constant(t); c != "" {
				args[i] = c
			}
		}
		if args[i] == "" {
			return ""
		}
	}
	return r.name + "(" + strings.Join(args, ", ") + ")"
}

// aggregates is a head with aggregates, or "".
func (w *writer) aggregates(r *relation, v *vars) string {
	args := make([]string, len(r.types))
	some := false
	for i, t := range r.types {
		t = plain(t)
		x := v.of(w, t)
		any := ""
		if len(v.names) > 0 {
			any = v.names[w.n(len(v.names))]
		}
		switch k := w.n(6); {
		case k < 2 && x != "":
			args[i] = x
			continue
		case t == "set<u64>" && v.of(w, "u64") != "":
			args[i] = "collect<" + v.of(w, "u64") + ">"
		case t == "u64" && k == 2 && any != "":
			args[i] = "count<" + any + ">"
		case t == "u64" && k == 3 && x != "" && !strings.Contains(strings.Join(args, " "), "index"):
			// The variable must be an argument as well.
			var other []string
			for j, u := range r.types {
				if y := v.of(w, plain(u)); j != i && y != "" && (args[j] == y || args[j] == "") {
					args[j] = y
					other = append(other, y)
				}
			}
			if len(other) == 0 {
				return ""
			}
			args[i] = "index<" + other[0] + ">"
		case (t == "u64" || t == "int") && k == 4 && x != "":
			args[i] = "sum<" + x + ">"
		case x != "":
			args[i] = w.pick("min", "max", "choose", "min", "max") + "<" + x + ">"
		default:
			return ""
		}
		some = true
	}
	if !some {
		return ""
	}
	return r.name + "(" + strings.Join(args, ", ") + ")"
}

func (w *writer) columns(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = w.typ()
	}
	return out
}

func (w *writer) declare(r *relation) {
	cols := make([]string, len(r.types))
	for i, t := range r.types {
		cols[i] = fmt.Sprintf("k%d: %s", i, t)
	}
	fmt.Fprintf(w, "  %s %s(%s)", r.kind, r.name, strings.Join(cols, ", "))
}

// program writes a program of one component.
func (w *writer) program() string {
	w.recursive = w.n(3) == 0
	fmt.Fprintf(w, "program random\nfn half(x: u64) -> u64 = x / (x %% 2)\nfn succ(x: u64) -> u64 = x + 1\ncomponent c {\n")
	for i := range 2 + w.n(2) {
		r := relation{name: fmt.Sprintf("in%d", i), types: w.columns(1 + w.n(3)), kind: "input"}
		w.declare(&r)
		fmt.Fprintln(w)
		w.arriving = append(w.arriving, r)
	}
	if w.n(2) == 0 {
		w.arriving = append(w.arriving, relation{name: "tick"})
		fmt.Fprintln(w, "  timer tick every 1s")
	}
	if w.n(2) == 0 {
		w.arriving = append(w.arriving, relation{name: "fixed", types: []string{"u64", "u64"}}, relation{name: "nodes", types: []string{"node"}})
		fmt.Fprintln(w, "  static fixed(a: u64, b: u64) = { (0, 1), (1, 2), (2, 0), (3, 3) }\n  static nodes(n: node) = nodes c")
	}
	for i := range 1 + w.n(2) {
		r := relation{name: fmt.Sprintf("msg%d", i), types: w.columns(1 + w.n(2)), kind: "var"}
		if w.n(4) == 0 {
			r.types = append(r.types, w.pick("max<u64>", "or", "set<u64> lattice"))
		}
		w.declare(&r)
		fmt.Fprintln(w)
		w.arriving, w.sent = append(w.arriving, r), append(w.sent, r)
	}
	out := relation{name: "out", types: w.columns(2), kind: "output"}
	w.declare(&out)
	fmt.Fprintln(w)
	w.sent = append(w.sent, out)
	for i := range 3 + w.n(4) {
		w.derive(i)
	}
	w.rules()
	fmt.Fprintln(w, "}\ndeploy { c: 2 }")
	return w.String()
}

// derive declares a relation that rules derive.
func (w *writer) derive(i int) {
	r := relation{name: fmt.Sprintf("d%d", i), types: w.columns(1 + w.n(3)), kind: w.pick("var", "var", "var", "table", "table", "log", "durable"), derived: i}
	if w.n(4) == 0 {
		r.types = append(r.types, w.pick("max<u64>", "min<text>", "max<int>", "or", "set<u64> lattice", "min<u64>"))
		if w.n(3) == 0 {
			r.types = r.types[len(r.types)-1:]
		}
	}
	w.declare(&r)
	if (r.kind == "table" || r.kind == "log") && w.n(3) > 0 {
		v := &vars{}
		for j, t := range r.types {
			v.names, v.types = append(v.names, fmt.Sprintf("k%d", j)), append(v.types, plain(t))
		}
		// A table may be deleted by what comes in, or what is before it.
		of := w.below(i)
		fmt.Fprint(w, " delete when ")
		text := w.atom(&of[w.n(len(of))], v)
		if w.n(3) == 0 {
			text += ", " + w.negated(&of[w.n(len(of))], v)
		}
		fmt.Fprint(w, text)
	}
	fmt.Fprintln(w)
	w.derived = append(w.derived, r)
}

func (w *writer) rules() {
	for i := range w.derived {
		r := &w.derived[i]
		before := w.Len()
		for n := 0; n < 1+w.n(2) || w.Len() == before && n < 30; n++ {
			w.derivation(i, r)
		}
		if r.kind == "log" || r.kind == "durable" || w.n(4) == 0 {
			body, v := w.body(slices.Concat(w.below(len(w.derived)), []relation{*r}), true)
			if h := w.head(r, v); h != "" {
				fmt.Fprintf(w, "  next %s <- %s\n", h, body)
			}
		}
	}
	for n, done := 0, 0; n < 60 && done < len(w.sent)+w.n(3); n++ {
		r := &w.sent[done%len(w.sent)]
		body, v := w.body(slices.Concat(w.below(len(w.derived)), w.derived), true)
		h := w.head(r, v)
		if h == "" {
			continue
		}
		to := `node "c/` + w.pick("0", "1") + `"`
		if n := v.of(w, "node"); n != "" {
			to = n
		} else if w.n(4) == 0 {
			to = "self"
		}
		name, args, _ := strings.Cut(h, "(")
		fmt.Fprintf(w, "  async %s@%s(%s <- %s\n", name, to, args, body)
		done++
	}
}

// derivation is a sync rule for a relation, or next where it is durable.
func (w *writer) derivation(i int, r *relation) {
	kind := "sync"
	if r.kind == "log" || r.kind == "durable" {
		kind = "next"
	}
	switch k := w.n(8); {
	case k == 0 && w.recursive && kind == "sync" && r.merges() && len(r.types) > 1 && lattice(r.types[0]) == "":
		// What merges is passed on as it is.
		x := make([]string, len(r.types))
		for j := range x {
			x[j] = fmt.Sprintf("x%d", j)
		}
		own := strings.Join(x, ", ")
		if r.types[0] == "u64" {
			x[0] = "y"
			fmt.Fprintf(w, "  static e%d(a: u64, b: u64) = { (0, 1), (1, 2), (2, 0), (3, 1) }\n", i)
			fmt.Fprintf(w, "  sync %s(%s) <- %s(%s), e%d(x0, y)\n", r.name, strings.Join(x, ", "), r.name, own, i)
		}
		return
	case k < 3 && w.recursive && kind == "sync" && !r.merges():
		var of []relation
		for _, d := range w.derived[i:] {
			if !d.merges() && d.kind != "log" && d.kind != "durable" {
				of = append(of, d)
			}
		}
		v := &vars{}
		body := w.atom(&of[w.n(len(of))], v)
		for range 1 + w.n(2) {
			b := w.below(i)
			body += ", " + w.atom(&b[w.n(len(b))], v)
		}
		if w.n(5) == 0 {
			body += ", " + w.negated(&w.arriving[w.n(len(w.arriving))], v)
		}
		if h := w.head(r, v); h != "" {
			fmt.Fprintf(w, "  sync %s <- %s\n", h, body)
		}
		return
	case k < 6 && kind == "sync":
		body, v := w.body(w.below(i), false)
		if h := w.aggregates(r, v); h != "" {
			fmt.Fprintf(w, "  sync %s <- %s\n", h, body)
			return
		}
	}
	body, v := w.body(w.below(i), !w.recursive)
	if h := w.head(r, v); h != "" {
		fmt.Fprintf(w, "  %s %s <- %s\n", kind, h, body)
	}
}

// randomProgram is the program of a seed, or nil if what was written is none.
func randomProgram(seed uint64) (p *logic.Program, errs string) {
	w := &writer{Random: env.Seeded(seed)}
	return given.Read(w.program())
}

// TestRandom runs random programs beside the interpreter: more of them, and others,
// with ASHLAR_DEDALUS_PROGRAMS, which is how many, or FIRST:HOW MANY.
func TestRandom(t *testing.T) {
	first, count := uint64(0), 30
	if text := os.Getenv("ASHLAR_DEDALUS_PROGRAMS"); text != "" {
		if _, err := fmt.Sscanf(text, "%d:%d", &first, &count); err != nil {
			if count, err = strconv.Atoi(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	tried := 0
	programs := corners(t)
	for done := 0; done < count; programs = nil {
		for ; done < count && len(programs) < batchSize; first++ {
			tried++
			if p, _ := randomProgram(first); p != nil {
				programs = append(programs, named{fmt.Sprintf("program %d", first), p})
				done++
			}
		}
		lockstep(t, programs, 10, 40)
	}
	if tried > 2*count {
		t.Fatalf("only %d of %d random programs are programs", count, tried)
	}
}

// corners are programs of cases that random ones seldom have.
func corners(t *testing.T) []named {
	var out []named
	paths, err := filepath.Glob("testdata/*.ded")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, named{path, given.Program(t, string(text))})
	}
	return out
}

// batchSize is how many programs are compiled together.
const batchSize = 100
