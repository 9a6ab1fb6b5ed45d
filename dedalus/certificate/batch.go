package certificate

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/dedalus/logic"
)

// batched is a relation that goes in batches: what it was before, and as what (a name,
// or $ and one) the sender has it.
type batched struct {
	was *logic.Relation
	as  string
}

// sending is how a piece must send relations in batches. The sizes of a batch are by
// relation, numbered by its place here. With some there is a batch in each tick in
// which one of these holds; without, in each in which one of the relations does.
func sending(list, some []batched, to string) []string {
	var out []string
	for i, r := range list {
		out = append(out, fmt.Sprintf("sync $count(%d, sum<1>) <- %s", i, row(r.as, r.was)))
	}
	when := "$size(_)"
	out = append(out, "sync $size(sum<n>) <- $count(i, n)")
	if len(some) > 0 {
		when = "$tick()"
		for _, r := range some {
			out = append(out, "sync $tick() <- "+blanks(r.as, r.was))
		}
		out = append(out, "sync $size(0) <- $tick(), not $count(_, _)")
	}
	out = append(out,
		"sync $batch(0) <- "+when+", not $next(_)",
		"sync $batch(b) <- "+when+", $next(b)",
		"next $next(c) <- $batch(b), c := b + 1",
		"next $next(b) <- $next(b), not $batch(_)",
		"async $announced@to(b, n) <- $batch(b), $size(n), "+to+"(self, to)")
	for i, r := range list {
		out = append(out, fmt.Sprintf("async %s <- %s, $batch(b), %s(self, to)", row(fmt.Sprintf("$wire%d@to", i), r.was, "b"), row(r.as, r.was), to))
	}
	return out
}

// receiving is how a piece must receive batches: each is sealed once, in order, when
// it is complete, and then forgotten.
func receiving(list []batched, empty bool) []string {
	out := []string{
		"sync $due(0) <- not $upto(_)",
		"sync $due(b) <- $upto(b)",
		"sync $open(b, n) <- $announced(b, n), $due(d), b >= d",
		"next $open(b, n) <- $open(b, n), not $sealed(b)",
	}
	var seen []string
	for i, r := range list {
		held := row(fmt.Sprintf("$held%d", i), r.was, "b")
		out = append(out,
			"sync "+held+" <- "+row(fmt.Sprintf("$wire%d", i), r.was, "b")+", $due(d), b >= d",
			"next "+held+" <- "+held+", not $sealed(b)",
			fmt.Sprintf("sync $got(%d, sum<1>) <- %s, $due(b)", i, held))
		seen = append(seen, "sync "+row(fmt.Sprintf("$seen%d", i), r.was)+" <- "+held+", $sealed(b)")
	}
	out = append(out, "sync $full(sum<n>) <- $got(i, n)")
	if empty {
		out = append(out, "sync $full(0) <- not $got(_, _)")
	}
	out = append(out,
		"sync $sealed(b) <- $open(b, n), $due(b), $full(n)",
		"next $upto(c) <- $sealed(b), c := b + 1",
		"next $upto(b) <- $upto(b), not $sealed(_)")
	return append(out, seen...)
}

// wellFormed checks what was chosen for batches: relations without merging, but that
// what is seen is as what it stands for.
func (t *templates) wellFormed(list []batched, static ...string) error {
	except := map[string]bool{}
	for i, r := range list {
		name := fmt.Sprintf("$seen%d", i)
		except[name] = true
		if err := t.copies(name, r.was); err != nil {
			return err
		}
	}
	for _, s := range static {
		except[s] = true
	}
	return t.ordinary(except)
}

// ordered are relations in the order of the program before.
func (h *halves) ordered(names map[rel]bool) []*logic.Relation {
	var out []*logic.Relation
	for _, r := range h.p.Relations {
		if names[r.Name] {
			out = append(out, r)
		}
	}
	return out
}

// incoming are the relations that rules read and do not derive.
func incoming(rules []*logic.Rule) map[rel]bool {
	out := reads(rules)
	for n := range derives(rules) {
		delete(out, n)
	}
	return out
}

// idle are the relations that hold nothing in ticks in which nothing comes in.
func idle(rules []*logic.Rule) map[rel]bool {
	in, out := incoming(rules), derives(rules)
	for {
		n := len(out)
		for _, r := range rules {
			if r.Kind == logic.Next || r.Kind == logic.Sync && !wakes(r, in, out) {
				delete(out, r.Head.Relation.Name)
			}
		}
		if len(out) == n {
			return out
		}
	}
}

// wakes says that a rule needs a fact of one of these.
func wakes(r *logic.Rule, sets ...map[rel]bool) bool {
	for n := range names(r, func(l *logic.Literal) bool { return !l.Negated }) {
		for _, s := range sets {
			if s[n] {
				return true
			}
		}
	}
	return false
}

// stateMachine checks that the moved rules send and change state only in ticks in which
// something comes in, and carry their state whole through all others.
func (h *halves) stateMachine() error {
	in, empty := incoming(h.moved), idle(h.moved)
	carried := map[rel]bool{}
	for _, r := range h.moved {
		guards, ok := r.Persistence()
		for _, g := range guards {
			ok = ok && g.Atom != nil && g.Negated && (in[g.Atom.Relation.Name] || empty[g.Atom.Relation.Name])
		}
		if ok {
			carried[r.Head.Relation.Name] = true
		}
	}
	for _, r := range h.moved {
		if r.Kind == logic.Async && !wakes(r, in, empty) {
			return fmt.Errorf("'%v' sends when nothing comes in", r)
		}
		if r.Kind != logic.Next {
			continue
		}
		if !carried[r.Head.Relation.Name] {
			return fmt.Errorf("'%v': %s does not stay while nothing comes in", r, r.Head.Relation.Name)
		}
		if _, ok := r.Persistence(); !ok && !wakes(r, in, empty) {
			return fmt.Errorf("'%v' changes state when nothing comes in", r)
		}
	}
	return nil
}

// volatile checks that nothing durable is derived by what moves.
func (h *halves) volatile() error {
	for _, r := range h.moved {
		if r.Head.Relation.Durable {
			return fmt.Errorf("'%v' derives what is durable away from what answers", r)
		}
	}
	return nil
}

// ends checks that relations which the kept rules derive hold no more some ticks after
// the last thing came in: each is at the end of a way from what comes in that leads
// through no relation twice but within a tick.
func (h *halves) ends(list []*logic.Relation) error {
	in, local := incoming(h.kept), derives(h.kept)
	done := map[rel]bool{}
	for range len(local) + 1 {
		// Suppose that what is not refuted ends together, within a tick.
		now := derives(h.kept)
		for range local {
			for _, r := range h.kept {
				if n := r.Head.Relation.Name; r.Kind == logic.Sync && !wakes(r, in, done, now) || r.Kind == logic.Next && !wakes(r, in, done) {
					delete(now, n)
				}
			}
		}
		for n := range now {
			done[n] = true
		}
	}
	for _, r := range list {
		if local[r.Name] && !done[r.Name] {
			return fmt.Errorf("%s holds for ever once it holds, and would be sent at every tick", r.Name)
		}
	}
	return nil
}

// piece finds the component that the moved rules became.
func (h *halves) piece(after *logic.Program, from *logic.Component, c Claim) (*logic.Component, error) {
	to := after.Component(c.Name)
	if to == nil || h.p.Component(c.Name) != nil {
		return nil, fmt.Errorf("component %s is not new", c.Name)
	}
	if to.Of != from.Of || to.Instances != from.Instances || to.Partitions != 1 {
		return nil, fmt.Errorf("component %s is not the piece that it should be", c.Name)
	}
	if len(after.Components) != len(h.p.Components)+1 {
		return nil, fmt.Errorf("there are %d components, want %d", len(after.Components), len(h.p.Components)+1)
	}
	for _, o := range h.p.Components {
		if a := after.Component(o.Name); a == nil || a.Of != o.Of || a.Instances != o.Instances || a.Partitions != o.Partitions {
			return nil, fmt.Errorf("component %s is not the same", o.Name)
		}
	}
	return to, nil
}

// back is a rule with relations in its body as they were: was says of what each
// stands for. It must not read one of those itself.
func back(p *logic.Program, r *logic.Rule, was map[rel]rel) (*logic.Rule, error) {
	gone := map[rel]bool{}
	for _, n := range was {
		gone[n] = true
	}
	out := *r
	out.Body = slices.Clone(r.Body)
	for i := range out.Body {
		a := out.Body[i].Atom
		if a == nil {
			continue
		}
		if gone[a.Relation.Name] {
			return nil, fmt.Errorf("'%v' reads %s, which does not come here", r, a.Relation.Name)
		}
		if n, ok := was[a.Relation.Name]; ok {
			out.Body[i].Atom = &logic.Atom{Relation: p.Find(n), Args: a.Args}
		}
	}
	return &out, nil
}

// unchanged checks that rules are others but for the relations that they read.
func (h *halves) unchanged(old, new []*logic.Rule, was map[rel]rel) error {
	if len(new) < len(old) {
		return fmt.Errorf("rules are missing")
	}
	for i, r := range old {
		b, err := back(h.p, new[i], was)
		if err != nil {
			return err
		}
		if b.String() != r.String() {
			return fmt.Errorf("'%v' is not the rule '%v'", new[i], r)
		}
	}
	return nil
}

// checkStateMachine checks a state-machine decoupling.
func checkStateMachine(before, after *logic.Program, from *logic.Component, c Claim) error {
	h, err := split(before, from, c)
	if err != nil {
		return err
	}
	in := h.ordered(incoming(h.moved))
	for _, err := range []error{h.onward(), h.stateMachine(), h.volatile(), h.ends(in)} {
		if err != nil {
			return err
		}
	}
	if len(in) == 0 {
		return fmt.Errorf("nothing comes into the rules that move")
	}
	to, err := h.piece(after, from, c)
	if err != nil {
		return err
	}
	rest := after.Component(from.Name)
	if len(rest.Rules) < len(h.kept) || len(to.Rules) < len(h.moved) {
		return fmt.Errorf("rules are missing")
	}
	var list []batched
	for _, r := range in {
		list = append(list, batched{r, r.Name})
	}
	t := newTemplates(before, after)
	if err := t.match(rest.Rules[len(h.kept):], sending(list, nil, "$to")); err != nil {
		return err
	}
	if err := t.match(to.Rules[len(h.moved):], receiving(list, false)); err != nil {
		return err
	}
	if err := t.wellFormed(list, "$to"); err != nil {
		return err
	}
	if err := forwards(after, t.relation("$to"), unique(from.Of, from.Name), to, 1); err != nil {
		return err
	}
	was := map[rel]rel{}
	for i, r := range in {
		was[t.chosen[fmt.Sprintf("$seen%d", i)]] = r.Name
	}
	if err := h.unchanged(h.moved, to.Rules, was); err != nil {
		return err
	}
	for _, o := range before.Components {
		rules, now := o.Rules, after.Component(o.Name).Rules
		if o == from {
			rules, now = h.kept, now[:min(len(now), len(h.kept))]
		}
		if len(now) != len(rules) {
			return fmt.Errorf("component %s has not the rules that it had", o.Name)
		}
		if err := h.unchanged(rules, now, nil); err != nil {
			return fmt.Errorf("component %s: %w", o.Name, err)
		}
	}
	return nil
}
