// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// asymmetry is an asymmetric decoupling to be checked.
type asymmetry struct {
	*halves
	*templates
	from, to *logic.Component // the new component, in the program after
	in, down []*logic.Relation
	was      map[rel]rel // the old name of each relation that the pieces now read
}

// checkAsymmetric checks an asymmetric decoupling.
func checkAsymmetric(before, after *logic.Program, from *logic.Component, c Claim) error {
	h, err := split(before, from, c)
	if err != nil {
		return err
	}
	a := &asymmetry{halves: h, templates: newTemplates(before, after), from: from, was: map[rel]rel{}}
	a.in = h.ordered(incoming(h.moved))
	both := reads(h.kept)
	for n := range both {
		if !reads(h.moved)[n] && !derives(h.moved)[n] {
			delete(both, n)
		}
	}
	a.down = h.ordered(both)
	if err := a.condition(); err != nil {
		return err
	}
	if a.to, err = h.piece(after, from, c); err != nil {
		return err
	}
	for _, step := range []func() error{a.generated, a.moving, a.staying} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// condition checks the precondition, on the program before.
func (a *asymmetry) condition() error {
	for _, n := range inOrder(derives(a.kept)) {
		if reads(a.moved)[n] || derives(a.moved)[n] {
			return fmt.Errorf("the rules that stay derive %s, and the rules that move read or derive it as well", n)
		}
	}
	for _, err := range []error{a.unsent(), a.stateMachine(), a.volatile()} {
		if err != nil {
			return err
		}
	}
	if len(a.down) == 0 {
		return fmt.Errorf("the rules that stay read nothing that the rules that move derive")
	}
	empty := idle(a.moved)
	for _, r := range a.down {
		if r.Kind == logic.Timer {
			return fmt.Errorf("rules that move and rules that stay both wait for timer %s", r.Name)
		}
		if derives(a.moved)[r.Name] && !empty[r.Name] {
			return fmt.Errorf("%s holds even when nothing is received, so it would be sent at every tick", r.Name)
		}
	}
	return nil
}

// own returns the name that an incoming relation has in the moved part. An input keeps
// arriving at the old component, so the moved part reads a copy.
func own(r *logic.Relation) string {
	if r.Kind == logic.Input {
		return "$own_" + r.Name
	}
	return r.Name
}

// generated matches the rules that the rewrite added, and checks their forwarding relations.
func (a *asymmetry) generated() error {
	rest := a.after.Component(a.from.Name)
	if len(rest.Rules) < len(a.kept) || len(a.to.Rules) < len(a.moved) {
		return fmt.Errorf("rules are missing")
	}
	var list, some []batched
	for _, r := range a.down {
		list = append(list, batched{r, own(r)})
	}
	var here []string
	static := []string{"$to", "$back"}
	for _, r := range a.in {
		some = append(some, batched{r, own(r)})
		if r.Kind == logic.Input {
			here = append(here, "async "+row(own(r)+"@to", r)+" <- "+row(r.Name, r)+", $to(self, to)")
			static = append(static, own(r))
		}
	}
	there := slices.Concat(sending(list, some, "$back"), a.holding())
	here = slices.Concat(here, receiving(list, true), []string{"async $acked@to(b) <- $sealed(b), $to(self, to)"})
	if err := a.match(rest.Rules[len(a.kept):], here); err != nil {
		return err
	}
	if err := a.match(a.to.Rules[len(a.moved):], there); err != nil {
		return err
	}
	if err := a.wellFormed(list, static...); err != nil {
		return err
	}
	for _, r := range a.in {
		if r.Kind == logic.Input {
			if err := a.copies(own(r), r); err != nil {
				return err
			}
			a.was[a.chosen[own(r)]] = r.Name
		}
	}
	if a.chosen["$to"] == "" {
		return fmt.Errorf("no forwarding relation leads to %s", a.to.Name)
	}
	if err := forwards(a.after, a.relation("$to"), unique(a.from.Of, a.from.Name), a.to, 1); err != nil {
		return err
	}
	return forwards(a.after, a.relation("$back"), []string{a.from.Of}, rest, 1)
}

// holding returns the rules that hold messages back until they are acknowledged.
func (a *asymmetry) holding() []string {
	var out []string
	seen := map[rel]bool{}
	for _, r := range a.moved {
		o := r.Head.Relation
		if r.Kind != logic.Async || seen[o.Name] {
			continue
		}
		seen[o.Name] = true
		waiting := row(wait(o), o, "b", "to")
		out = append(out,
			"next "+waiting+" <- "+waiting+", not $released(b)",
			"sync $released(b) <- "+blanks(wait(o), o, "b", "_")+", $acked(a), b <= a",
			"async "+row(o.Name+"@to", o)+" <- "+waiting+", $released(b)")
	}
	return out
}

// wait returns the name of the relation that holds back the facts of r.
func wait(r *logic.Relation) string { return "$wait_" + r.Name }

// moving checks that the moved rules are unchanged, except that their messages wait,
// with the number of the batch of their tick.
func (a *asymmetry) moving() error {
	for i, old := range a.moved {
		now := a.to.Rules[i]
		if old.Kind == logic.Async {
			sends, err := a.sends(old, now)
			if err != nil {
				return err
			}
			now = sends
		}
		b, err := back(a.before, now, a.was)
		if err != nil {
			return err
		}
		if err := a.led(old, b); err != nil {
			return err
		}
	}
	return nil
}

// sends turns a rule that holds a message back into the rule that sends it at once.
func (a *asymmetry) sends(old, now *logic.Rule) (*logic.Rule, error) {
	bad := fmt.Errorf("'%v' does not hold back what '%v' sends", now, old)
	if now.Kind != logic.Next || now.Head.Relation.Name != a.chosen[wait(old.Head.Relation)] || len(now.Head.Args) < 2 || len(now.Body) == 0 {
		return nil, bad
	}
	last := now.Body[len(now.Body)-1]
	number, dest := now.Head.Args[0], now.Head.Args[1]
	if !last.Positive() || last.Atom.Relation.Name != a.chosen["$batch"] || number.Term.Kind != logic.Var || last.Atom.Args[0].Kind != logic.Var ||
		last.Atom.Args[0].Name != number.Term.Name || number.Aggregate != logic.NoAggregate || dest.Aggregate != logic.NoAggregate {
		return nil, bad
	}
	out := *now
	out.Kind, out.Dest = logic.Async, dest.Term
	out.Head = logic.Head{Relation: old.Head.Relation, Args: now.Head.Args[2:]}
	out.Body = now.Body[:len(now.Body)-1]
	if uses(&out, number.Term.Name) {
		return nil, bad
	}
	return &out, nil
}

// led checks that now is old, except that it sends to the new component the relations that
// only that component reads now.
func (a *asymmetry) led(old, now *logic.Rule) error {
	leads := false
	if old.Kind == logic.Async {
		leads = slices.ContainsFunc(a.in, func(r *logic.Relation) bool { return r.Name == old.Head.Relation.Name })
	}
	m := &matching{h: a.halves, after: a.after, from: a.from, to: a.to}
	if leads && !m.forwarded(old, now) || !leads && exact(now) != exact(old) {
		return fmt.Errorf("found '%v', want '%v'", now, old)
	}
	return nil
}

// staying checks the rules that did not move, of all components.
func (a *asymmetry) staying() error {
	was := map[rel]rel{}
	for i, r := range a.down {
		was[a.chosen[fmt.Sprintf("$seen%d", i)]] = r.Name
	}
	for _, o := range a.before.Components {
		rules, now := o.Rules, a.after.Component(o.Name).Rules
		of := map[rel]rel(nil)
		if o == a.from {
			rules, now, of = a.kept, now[:len(a.kept)], was
		}
		if len(now) != len(rules) {
			return fmt.Errorf("the rules of component %s have changed", o.Name)
		}
		for i, r := range rules {
			b, err := back(a.before, now[i], of)
			if err != nil {
				return err
			}
			if err := a.led(r, b); err != nil {
				return fmt.Errorf("component %s: %w", o.Name, err)
			}
		}
	}
	return nil
}
