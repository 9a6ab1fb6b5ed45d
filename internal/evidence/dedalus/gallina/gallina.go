// SPDX-License-Identifier: Apache-2.0

// Package gallina writes Dedalus programs, facts and messages as terms of Coq, for the semantics in
// proofs/dedalus, so that Coq can go through ticks of a program beside the interpreter.
//
// In: a program that was checked, and values. Out: text for a file that imports
// ashlar.dedalus.lang.
//
// What the semantics does not cover (columns that merge, values that are sets, collect, index,
// functions that a program declares) is refused with the construct's name. The text is of what the
// program is: nothing here evaluates anything.
package gallina

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// writer writes, and keeps the first thing that it could not.
type writer struct{ err error }

func (w *writer) refuse(what string) string {
	if w.err == nil {
		w.err = fmt.Errorf("the semantics in Coq has no %s", what)
	}
	return ""
}

func list[T any](items []T, write func(T) string) string {
	out := make([]string, len(items))
	for i, x := range items {
		out[i] = write(x)
	}
	return "[" + strings.Join(out, "; ") + "]"
}

// text is a string of Coq, which doubles quotes and has no escapes. Coq reads bytes.
func text(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

func (w *writer) value(v logic.Value) string {
	number := strconv.FormatUint(v.Num, 10)
	switch v.Kind {
	case logic.U64:
		return "U64 " + number
	case logic.Int:
		return "Int " + number
	case logic.Bool:
		return "Bool " + strconv.FormatBool(v.Num != 0)
	case logic.Text:
		return "Text " + text(v.Str)
	case logic.Bytes:
		return "Bytes " + text(v.Str)
	case logic.Node:
		return "Node " + text(v.Str)
	}
	return w.refuse("values of type " + logic.Type{Kind: v.Kind}.String())
}

func (w *writer) term(t *logic.Term) string {
	switch t.Kind {
	case logic.Var:
		return "Var " + text(t.Name)
	case logic.Wildcard:
		return "Wild"
	case logic.Const:
		return "Const (" + w.value(t.Value) + ")"
	case logic.Self:
		return "Self"
	}
	if logic.FindBuiltin(t.Name) == nil {
		return w.refuse("functions that programs declare")
	}
	return "Call " + text(t.Name) + " " + list(t.Args, w.term)
}

func (w *writer) atom(a *logic.Atom) string {
	w.relation(a.Relation)
	return "(Atom " + text(a.Relation.Name) + " " + list(a.Args, w.term) + ")"
}

func (w *writer) relation(r *logic.Relation) {
	if r.Merges() {
		w.refuse("columns that merge")
	}
}

func (w *writer) literal(l logic.Literal) string {
	switch {
	case l.Assign != nil:
		return "Let " + text(l.Assign.Var) + " (" + w.term(l.Assign.Term) + ")"
	case l.Compare != nil:
		op := map[logic.CompareOp]string{logic.Equal: "OEq", logic.NotEqual: "ONe", logic.Less: "OLt",
			logic.LessEqual: "OLe", logic.Greater: "OGt", logic.GreaterEqual: "OGe"}[l.Compare.Op]
		return "Cmp " + op + " (" + w.term(l.Compare.Left) + ") (" + w.term(l.Compare.Right) + ")"
	case l.Negated:
		return "Lacks " + w.atom(l.Atom)
	}
	return "Has " + w.atom(l.Atom)
}

func (w *writer) arg(a logic.HeadArg) string {
	of := " (" + w.term(a.Term) + ")"
	switch a.Aggregate {
	case logic.NoAggregate:
		return "Plain" + of
	case logic.Count:
		return "Agg Count" + of
	case logic.Sum:
		return "Agg Sum" + of
	case logic.Min:
		return "Agg Min" + of
	case logic.Max:
		return "Agg Max" + of
	case logic.Choose:
		return "Agg Choose" + of
	}
	return w.refuse("index and collect")
}

func (w *writer) rule(r *logic.Rule) string {
	w.relation(r.Head.Relation)
	dest := "Wild"
	if r.Kind == logic.Async {
		dest = w.term(r.Dest)
	}
	return "Rule " + text(r.Head.Relation.Name) + " " + list(r.Head.Args, w.arg) + " (" + dest + ") " + list(r.Body, w.literal)
}

// Component is a component of the program.
func Component(p *logic.Program, c *logic.Component) (string, error) {
	w := &writer{}
	strata, cycle := p.Strata(c)
	if cycle != nil {
		return "", cycle
	}
	of := func(k logic.RuleKind) []*logic.Rule {
		var out []*logic.Rule
		for _, r := range c.Rules {
			if r.Kind == k {
				out = append(out, r)
			}
		}
		return out
	}
	out := "Component\n  " + list(strata, func(s logic.Stratum) string { return list(s.Rules, w.rule) }) +
		"\n  " + list(of(logic.Next), w.rule) + "\n  " + list(of(logic.Async), w.rule)
	return out, w.err
}

func (w *writer) fact(f interp.Fact) string {
	return "(" + text(f.Relation.Name) + ", " + list(f.Row, w.value) + ")"
}

// Facts is a list of facts.
func Facts(facts []interp.Fact) (string, error) {
	w := &writer{}
	return list(facts, w.fact), w.err
}

// Messages is a list of messages.
func Messages(sent []interp.Message) (string, error) {
	w := &writer{}
	return list(sent, func(m interp.Message) string { return "(Node " + text(m.To) + ", " + w.fact(m.Fact) + ")" }), w.err
}

// Plan is that the instances of a component are divided by the columns of keys, and what the proof
// asks besides: which relations are pulses.
type Plan struct {
	Component *logic.Component
	Pieces    int
	Keys      map[string]int
	Pulses    []string
}

// System is a program with its instances and static facts, as Σ and its parts, and the plans as
// a list of whether each may be carried out, by the checker of which that is proved.
func System(p *logic.Program, instances []*interp.Instance, static []interp.Fact, plans []Plan) (string, error) {
	w := &writer{}
	var all []string
	for _, n := range instances {
		c := p.Component(n.Node[:strings.LastIndexByte(n.Node, '/')])
		code, err := Component(p, c)
		if err != nil {
			return "", err
		}
		all = append(all, "Instance "+Node(n.Node)+" "+Node(n.Self)+" ("+code+")")
	}
	named := func(want func(*logic.Relation) bool) string {
		var out []string
		for _, r := range p.Relations {
			if want(r) {
				out = append(out, r.Name)
			}
		}
		return set(out, text)
	}
	kind := func(k logic.RelationKind) string {
		return named(func(r *logic.Relation) bool { return r.Kind == k })
	}
	out := "System [" + strings.Join(all, ";\n  ") + "]\n  " + set(static, w.fact) + " " + kind(logic.Static) + " " + kind(logic.Input) + " " +
		kind(logic.Output) + " " + kind(logic.Timer) + " " + named(func(r *logic.Relation) bool { return r.Durable }) + " ∅ Some"
	return "let Σ := " + out + " in " + list(plans, plan), w.err
}

// plan asks whether Σ may be divided so: the pieces of a node are those that it has where
// programs are deployed.
func plan(of Plan) string {
	c := of.Component
	var keys, nodes, places []string
	for name, column := range of.Keys {
		keys = append(keys, fmt.Sprintf("(%s, %d%%nat)", text(name), column))
	}
	for i := range c.Instances {
		node := Node(logic.NodeName(c.Name, i))
		nodes = append(nodes, node)
		for q := range of.Pieces {
			places = append(places, fmt.Sprintf("((%s, %d%%nat), %s)", node, q, Node(logic.NodeName(c.Name, i*of.Pieces+q))))
		}
	}
	same := func(s string) string { return s }
	return "may_divide_b (λ a q, default a ((list_to_map " + list(places, same) + " : gmap (value * nat) value) !! (a, q)))\n  (Plan " +
		strconv.Itoa(of.Pieces) + "%nat (list_to_map " + list(keys, same) + ") " + set(of.Pulses, text) + " " + set(nodes, same) + ") Σ"
}

func set[T any](items []T, write func(T) string) string {
	return "(list_to_set " + list(items, write) + ")"
}

// Node is the value that names a node.
func Node(name string) string { return "(Node " + text(name) + ")" }
