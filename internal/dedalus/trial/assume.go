// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// What an author asserts of relations is asked of runs. That what they forget is not missed
// (collected), and that it cannot be observed in which tick they changed (timely), are assertions about
// idle ticks, of which pieces of a node have fewer than the node: something comes to a piece before
// it has gone through one. So there is a program in which all that is asserted of a component goes
// on as it was in some ticks, and it must do nothing that the program itself does not do. These
// ticks are those in which nothing comes in that what is derived of the relations follows from
// within the tick; of these, those in which a new timer runs out. The relations are held together:
// a piece has all of them, and goes through its ticks with all of them.

// Assertions are those about ticks that an author makes of the relations of a component.
type Assertions struct {
	Component string
	List      []logic.Assumption
	// Late is the program in which what they are about happens later.
	Late *logic.Program
}

func (a *Assertions) String() string {
	var out []string
	for _, x := range a.List {
		out = append(out, "assume "+x.String())
	}
	return strings.Join(out, ", ")
}

// Asserted are the assertions about ticks of each component that has some.
func Asserted(p *logic.Program) []Assertions {
	var out []Assertions
	for i, c := range p.Components {
		a := Assertions{Component: c.Name}
		for _, x := range p.Assumptions {
			if changes := func(r *logic.Rule) bool { return r.Kind == logic.Next && r.Head.Relation.Name == x.Relation }; x.Kind != logic.Growing && slices.ContainsFunc(c.Rules, changes) {
				a.List = append(a.List, x)
			}
		}
		if a.List != nil {
			a.Late = late(p, i, a.List)
			out = append(out, a)
		}
	}
	return out
}

// late is a program with a component whose relations, those that assumptions are about, may change
// later: they forget nothing, and, if they are timely, are given nothing new, while they are held.
func late(p *logic.Program, of int, list []logic.Assumption) *logic.Program {
	w := &postponed{q: p.Clone()}
	w.c = w.q.Components[of]
	timer, busy := w.relation(w.c.Name+"_late", logic.Timer, nil), w.relation(w.c.Name+"_busy", logic.Derived, nil)
	w.hold = w.relation(w.c.Name+"_hold", logic.Derived, nil)
	about := map[*logic.Relation]bool{}
	timely := map[*logic.Relation]bool{}
	for _, x := range list {
		rel := w.q.Find(x.Relation)
		about[rel] = true
		timely[rel] = timely[rel] || x.Kind == logic.Timely
	}
	w.wakes(busy, about)
	w.rule(logic.Sync, w.hold, nil, atom(timer), negated(atom(busy)))
	for _, rel := range w.q.Relations {
		if about[rel] {
			w.postpone(rel, timely[rel])
		}
	}
	return w.q
}

// Kept explores a program beside those in which what its author asserts is late, on the
// same messages and within the same bounds, and answers the first assertions that make a
// difference, with that; nil if none do. Complete says that nothing was left out.
func Kept(ctx context.Context, p *logic.Program, given []interp.Message, f interp.Functions, b explore.Bounds, configure func(*explore.Model)) (a *Assertions, d *explore.Difference, complete bool, err error) {
	complete = true
	b.Often = true
	for _, a := range Asserted(p) {
		c, err := explore.Compare(ctx, p, a.Late, func(q *logic.Program) []interp.Message { return sent(q, given) }, f, b, configure)
		if err != nil {
			return nil, nil, false, err
		}
		if c.Different != nil && !c.Different.Unsure {
			return &a, c.Different, false, nil
		}
		complete = complete && c.Complete() && c.Different == nil
	}
	return nil, nil, complete, nil
}

// postponed is such a program in the making.
type postponed struct {
	q    *logic.Program
	c    *logic.Component
	hold *logic.Relation
}

// relation is a new one.
func (w *postponed) relation(name string, k logic.RelationKind, columns []logic.Column) *logic.Relation {
	for w.q.Find(name) != nil {
		name += "_"
	}
	r := &logic.Relation{Name: name, Kind: k, Columns: columns, Every: time.Second, Span: w.c.Span}
	w.q.Relations = append(w.q.Relations, r)
	return r
}

func (w *postponed) rule(k logic.RuleKind, head *logic.Relation, args []logic.HeadArg, body ...logic.Literal) {
	w.c.Rules = append(w.c.Rules, &logic.Rule{Kind: k, Head: logic.Head{Relation: head, Args: args}, Body: body, Span: w.c.Span})
}

// atom is a literal of a relation with a variable for each column.
func atom(r *logic.Relation) logic.Literal {
	a := &logic.Atom{Relation: r}
	for i, c := range r.Columns {
		a.Args = append(a.Args, &logic.Term{Kind: logic.Var, Name: fmt.Sprintf("x%d", i), Type: c.Type})
	}
	return logic.Literal{Atom: a}
}

func negated(l logic.Literal) logic.Literal {
	l.Negated = true
	return l
}

// head are the arguments of a head that are those of a literal.
func head(l logic.Literal) []logic.HeadArg {
	var out []logic.HeadArg
	for _, t := range l.Atom.Args {
		out = append(out, logic.HeadArg{Term: t})
	}
	return out
}

// wakes derives that something comes in from which one of the relations follows within the tick.
func (w *postponed) wakes(busy *logic.Relation, about map[*logic.Relation]bool) {
	from := map[*logic.Relation]bool{}
	for n := -1; n != len(from); {
		n = len(from)
		for _, r := range w.c.Rules {
			if r.Kind == logic.Async || !about[r.Head.Relation] && !(from[r.Head.Relation] && r.Kind == logic.Sync) {
				continue
			}
			for _, l := range r.Body {
				if l.Atom != nil && l.Atom.Relation.Kind != logic.Static {
					from[l.Atom.Relation] = true
				}
			}
		}
	}
	for _, in := range w.q.In(w.c) {
		if !from[in] {
			continue
		}
		l := atom(in)
		for i := range l.Atom.Args {
			l.Atom.Args[i] = &logic.Term{Kind: logic.Wildcard, Type: in.Columns[i].Type}
		}
		w.rule(logic.Sync, busy, nil, l)
	}
}

// postpone has a relation stay as it is while it is held; all it is given then waits.
func (w *postponed) postpone(rel *logic.Relation, given bool) {
	rules := w.c.Rules
	keeps := atom(rel)
	w.rule(logic.Next, rel, head(keeps), keeps, atom(w.hold))
	if !given {
		return
	}
	var waits *logic.Relation
	for _, r := range rules {
		if _, carries := r.Persistence(); r.Kind != logic.Next || r.Head.Relation != rel || carries {
			continue
		}
		if waits == nil {
			waits = w.relation(rel.Name+"_waits", logic.Derived, slices.Clone(rel.Columns))
			waits.Durable = rel.Durable
		}
		w.rule(logic.Next, waits, slices.Clone(r.Head.Args), append(slices.Clone(r.Body), atom(w.hold))...)
		r.Body = append(r.Body, negated(atom(w.hold)))
	}
	if waits != nil {
		w.rule(logic.Next, rel, head(atom(waits)), atom(waits), negated(atom(w.hold)))
		w.rule(logic.Next, waits, head(atom(waits)), atom(waits), atom(w.hold))
	}
}
