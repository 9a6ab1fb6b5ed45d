// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// batched is a relation that is sent in batches: the relation before the rewrite, and its
// name at the sender (a name, or a template name that begins with $).
type batched struct {
	was *logic.Relation
	as  string
}

// sending returns the rules with which a piece must send relations in batches. It counts the
// facts of a batch per relation, numbered by its place in list. A tick has a batch if a
// relation of some has a fact, or, if some is empty, if a relation of list has one.
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

// receiving returns the rules with which a piece must receive batches: it seals each batch
// once, in order, when the batch is complete, and then deletes it.
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

// wellFormed checks the relations chosen for batches: they do not merge, except that a
// relation that the receiver reads merges as the original does.
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

// ordered returns the named relations in the order of the program before.
func (h *halves) ordered(names map[rel]bool) []*logic.Relation {
	var out []*logic.Relation
	for _, r := range h.p.Relations {
		if names[r.Name] {
			out = append(out, r)
		}
	}
	return out
}

// piece returns the component that has the moved rules.
func (h *halves) piece(after *logic.Program, from *logic.Component, c Claim) (*logic.Component, error) {
	to := after.Component(c.Name)
	if to == nil || h.p.Component(c.Name) != nil {
		return nil, fmt.Errorf("component %s is not a new component of the program after the step", c.Name)
	}
	if to.Of != from.Of || to.Instances != from.Instances || to.Partitions != 1 {
		return nil, fmt.Errorf("component %s is not a piece of the right component, with as many instances and one partition", c.Name)
	}
	if len(after.Components) != len(h.p.Components)+1 {
		return nil, fmt.Errorf("the program after the step has %d components, want %d", len(after.Components), len(h.p.Components)+1)
	}
	for _, o := range h.p.Components {
		if a := after.Component(o.Name); a == nil || a.Of != o.Of || a.Instances != o.Instances || a.Partitions != o.Partitions {
			return nil, fmt.Errorf("component %s has changed or is missing", o.Name)
		}
	}
	return to, nil
}

// back returns a rule in which the relations of the body have their old names; was maps new
// names to old ones. The rule must not read an old name itself.
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
			return nil, fmt.Errorf("'%v' reads %s, which this component no longer receives", r, a.Relation.Name)
		}
		if n, ok := was[a.Relation.Name]; ok {
			out.Body[i].Atom = &logic.Atom{Relation: p.Find(n), Args: a.Args}
		}
	}
	return &out, nil
}

// unchanged checks that rules differ from the old ones only in the relations that they read.
func (h *halves) unchanged(old, new []*logic.Rule, was map[rel]rel) error {
	if len(new) < len(old) {
		return fmt.Errorf("rules are missing")
	}
	for i, r := range old {
		b, err := back(h.p, new[i], was)
		if err != nil {
			return err
		}
		if exact(b) != exact(r) {
			return fmt.Errorf("found '%v', want '%v'", new[i], r)
		}
	}
	return nil
}
