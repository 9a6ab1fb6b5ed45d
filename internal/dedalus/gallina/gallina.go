// SPDX-License-Identifier: Apache-2.0

// Package gallina writes Dedalus programs, facts, messages and certificates as terms of Coq, for the
// semantics and the checkers in proofs/dedalus: so Coq can execute ticks of a program for comparison
// with the interpreter, and a checker that is proved correct in Coq can check a rewrite.
//
// In: a program that was checked, values, and claims of rewrites. Out: text for a file that
// imports ashlar.dedalus.lang, or for the checker that is extracted from proofs/dedalus/certify.v.
//
// Constructs that the semantics does not cover (merging columns, set values, collect, index) and
// rewrites without a theorem are refused with the construct's name. The text describes the program:
// this package evaluates and decides nothing.
package gallina

import (
	"fmt"
	"strconv"

	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// writer writes, and keeps the first thing that it could not.
type writer struct {
	// functions allows those that programs declare. The theorems hold whatever they
	// give; the semantics can only be run with those of the language.
	functions bool
	err       error
}

func (w *writer) refuse(what string) term {
	if w.err == nil {
		w.err = fmt.Errorf("the Coq semantics does not support %s", what)
	}
	return name("refused")
}

func (w *writer) value(v logic.Value) term {
	n := term{form: number, text: strconv.FormatUint(v.Num, 10)}
	switch v.Kind {
	case logic.U64:
		return call("U64", n)
	case logic.Int:
		return call("Int", n)
	case logic.Bool:
		return call("Bool", name(strconv.FormatBool(v.Num != 0)))
	case logic.Text:
		return call("Text", text(v.Str))
	case logic.Bytes:
		return call("Bytes", text(v.Str))
	case logic.Node:
		return node(v.Str)
	}
	return w.refuse("values of type " + logic.Type{Kind: v.Kind}.String())
}

func (w *writer) term(t *logic.Term) term {
	switch t.Kind {
	case logic.Var:
		return call("Var", text(t.Name))
	case logic.Wildcard:
		return name("Wild")
	case logic.Const:
		return call("Const", w.value(t.Value))
	case logic.Self:
		return name("Self")
	}
	if !w.functions && logic.FindBuiltin(t.Name) == nil {
		return w.refuse("functions declared in a program")
	}
	return call("Call", text(t.Name), list(t.Args, w.term))
}

func (w *writer) atom(a *logic.Atom) term {
	w.relation(a.Relation)
	return call("Atom", text(a.Relation.Name), list(a.Args, w.term))
}

func (w *writer) relation(r *logic.Relation) {
	if r.Merges() {
		w.refuse("merging columns")
	}
}

func (w *writer) literal(l logic.Literal) term {
	switch {
	case l.Assign != nil:
		return call("Let", text(l.Assign.Var), w.term(l.Assign.Term))
	case l.Compare != nil:
		op := map[logic.CompareOp]string{logic.Equal: "OEq", logic.NotEqual: "ONe", logic.Less: "OLt",
			logic.LessEqual: "OLe", logic.Greater: "OGt", logic.GreaterEqual: "OGe"}[l.Compare.Op]
		return call("Cmp", name(op), w.term(l.Compare.Left), w.term(l.Compare.Right))
	case l.Negated:
		return call("Lacks", w.atom(l.Atom))
	}
	return call("Has", w.atom(l.Atom))
}

func (w *writer) arg(a logic.HeadArg) term {
	aggregate := map[logic.Aggregate]string{logic.Count: "Count", logic.Sum: "Sum", logic.Min: "Min", logic.Max: "Max", logic.Choose: "Choose"}[a.Aggregate]
	switch {
	case a.Aggregate == logic.NoAggregate:
		return call("Plain", w.term(a.Term))
	case aggregate == "":
		return w.refuse("the aggregates index and collect")
	}
	return call("Agg", name(aggregate), w.term(a.Term))
}

func (w *writer) rule(r *logic.Rule) term {
	w.relation(r.Head.Relation)
	dest := name("Wild")
	if r.Kind == logic.Async {
		dest = w.term(r.Dest)
	}
	return call("Rule", text(r.Head.Relation.Name), list(r.Head.Args, w.arg), dest, list(r.Body, w.literal))
}

func (w *writer) component(p *logic.Program, c *logic.Component) term {
	strata, cycle := p.Strata(c)
	if cycle != nil && w.err == nil {
		w.err = cycle
	}
	of := func(k logic.RuleKind) term {
		var out []*logic.Rule
		for _, r := range c.Rules {
			if r.Kind == k {
				out = append(out, r)
			}
		}
		return list(out, w.rule)
	}
	return call("Component", list(strata, func(s logic.Stratum) term { return list(s.Rules, w.rule) }), of(logic.Next), of(logic.Async))
}

func (w *writer) fact(f interp.Fact) term {
	return both(text(f.Relation.Name), list(f.Row, w.value))
}

func node(s string) term { return call("Node", text(s)) }

// Component is a component of the program.
func Component(p *logic.Program, c *logic.Component) (string, error) {
	w := &writer{}
	t := w.component(p, c)
	return t.String(), w.err
}

// Facts is a list of facts.
func Facts(facts []interp.Fact) (string, error) {
	w := &writer{}
	t := list(facts, w.fact)
	return t.String(), w.err
}

// Messages is a list of messages.
func Messages(sent []interp.Message) (string, error) {
	w := &writer{}
	t := list(sent, func(m interp.Message) term { return both(node(m.To), w.fact(m.Fact)) })
	return t.String(), w.err
}

// Node is the value that names a node.
func Node(name string) string { return node(name).String() }
