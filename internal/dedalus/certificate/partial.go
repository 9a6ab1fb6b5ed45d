// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Partial is what a partial partitioning claims besides keys and dependencies.
type Partial struct {
	// Replicated are the inputs that all pieces receive in the same order. Sealed are the
	// relations of which each piece sends a part.
	Replicated, Sealed []string
	// Depth is the number of further ticks in which a replicated input has effects.
	Depth int
	// Settling states that the component keeps changing when nothing comes in, and that
	// its pieces wait until they have come to rest.
	Settling bool
}

// depthMax is the maximum of Depth.
const depthMax = 64

// division is a partial partitioning that is being checked.
type division struct {
	before, after *logic.Program
	from          *logic.Component
	claim         Claim
	// replicated and divided are the inputs, in the order of the program.
	replicated, divided []*logic.Relation
	// keyed are the relations that depend on divided inputs; summed are those without a key.
	keyed, summed map[rel]bool
	// caused maps each relation that becomes empty some ticks after the last input to the last
	// tick in which it can hold facts; ordered does so for the last replicated input.
	caused, ordered map[rel]int
}

func checkPartial(before, after *logic.Program, from *logic.Component, c Claim) error {
	if c.Partial == nil || c.Partitions < 2 || c.Partial.Depth < 0 || c.Partial.Depth > depthMax {
		return fmt.Errorf("the claim lacks what a partial partitioning must state, or a number in it is out of range")
	}
	d := &division{before: before, after: after, from: from, claim: c}
	for _, check := range []func() error{d.inputs, d.keys, d.quiet, d.sums, d.seals, d.components, d.relations} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// inputs finds the inputs, and which relations depend on which of them.
func (d *division) inputs() error {
	if err := apart(d.before, d.from); err != nil {
		return err
	}
	local, read := derives(d.from.Rules), reads(d.from.Rules)
	for _, r := range d.before.Relations {
		if !read[r.Name] || local[r.Name] {
			continue
		}
		if r.Kind != logic.Derived {
			return fmt.Errorf("%s comes from outside, where no component can order or divide it", r.Name)
		}
		for _, o := range d.before.Components {
			if o != d.from && o.Partitions > 1 && reads(o.Rules)[r.Name] && !derives(o.Rules)[r.Name] {
				return fmt.Errorf("%s is also received by %s, which is divided by a key of its own", r.Name, o.Name)
			}
		}
		if slices.Contains(d.claim.Partial.Replicated, r.Name) {
			d.replicated = append(d.replicated, r)
		} else {
			d.divided = append(d.divided, r)
		}
	}
	if len(d.replicated) != len(d.claim.Partial.Replicated) || len(d.replicated) == 0 || len(d.divided) == 0 {
		return fmt.Errorf("the replicated relations must be some of the inputs of %s, but not all", d.from.Name)
	}
	d.keyed = map[rel]bool{}
	for _, r := range d.divided {
		d.keyed[r.Name] = true
	}
	for range d.from.Rules {
		for _, r := range d.from.Rules {
			if r.Kind != logic.Async && len(d.dividedIn(r)) > 0 {
				d.keyed[r.Head.Relation.Name] = true
			}
		}
	}
	d.summed = map[rel]bool{}
	for n := range d.keyed {
		if _, ok := d.claim.Keys[n]; !ok && read[n] {
			d.summed[n] = true
		}
	}
	all := map[rel]bool{}
	some := map[rel]bool{}
	for _, r := range d.replicated {
		all[r.Name] = true
	}
	for _, r := range d.divided {
		all[r.Name], some[r.Name] = true, true
	}
	d.caused, d.ordered = lasting(d.from.Rules, all, nil), lasting(d.from.Rules, all, some)
	for _, r := range d.before.Relations {
		if lag := d.ordered[r.Name]; lag > d.claim.Partial.Depth {
			return fmt.Errorf("%s can have facts %d ticks after a replicated input, which is longer than claimed", r.Name, lag)
		}
	}
	return nil
}

// sent reports whether any rule sends a relation.
func sent(p *logic.Program, rel *logic.Relation) bool {
	return slices.ContainsFunc(p.Components, func(c *logic.Component) bool {
		return slices.ContainsFunc(c.Rules, func(r *logic.Rule) bool { return r.Kind == logic.Async && r.Head.Relation == rel })
	})
}

// dividedIn returns the literals of a rule whose relations depend on divided inputs.
func (d *division) dividedIn(r *logic.Rule) []*logic.Literal {
	var out []*logic.Literal
	for i := range r.Body {
		if a := r.Body[i].Atom; a != nil && d.keyed[a.Relation.Name] {
			out = append(out, &r.Body[i])
		}
	}
	return out
}

// lasting returns the relations that become empty after the last input, each with the number
// of ticks after it in which the relation may still hold facts. The inputs in ever may
// arrive at any time. It starts with every relation that may hold facts, and computes tick
// by tick which ones still may.
func lasting(rules []*logic.Rule, inputs, ever map[rel]bool) map[rel]int {
	carried, coming := map[rel]bool{}, inputs
	for _, r := range rules {
		if r.Kind == logic.Next {
			carried[r.Head.Relation.Name] = true
		}
	}
	last := map[rel]int{}
	for tick := 0; ; tick++ {
		holds := map[rel]bool{}
		for _, more := range []map[rel]bool{carried, coming} {
			for n := range more {
				holds[n] = true
			}
		}
		for range rules {
			for _, r := range rules {
				if r.Kind == logic.Sync && fires(r, holds) {
					holds[r.Head.Relation.Name] = true
				}
			}
		}
		next := map[rel]bool{}
		for _, r := range rules {
			if r.Kind == logic.Next && fires(r, holds) {
				next[r.Head.Relation.Name] = true
			}
		}
		for n := range holds {
			last[n] = tick
		}
		if tick > 0 && len(next) == len(carried) {
			for n := range holds {
				delete(last, n)
			}
			return last
		}
		carried, coming = next, ever
	}
}

func fires(r *logic.Rule, holds map[rel]bool) bool {
	for i := range r.Body {
		if l := &r.Body[i]; l.Positive() && l.Atom.Relation.Kind != logic.Static && !holds[l.Atom.Relation.Name] {
			return false
		}
	}
	return true
}

// keys checks that divided relations that meet in a rule have the same key.
func (d *division) keys() error {
	if err := inductive(d.before, d.claim.Dependencies); err != nil {
		return err
	}
	// A relation that is the same at all pieces needs no key.
	p := d.before.Clone()
	for _, r := range p.Relations {
		if !d.keyed[r.Name] || d.summed[r.Name] {
			r.Kind = logic.Static
		}
	}
	read := reads(d.from.Rules)
	for n := range read {
		read[n] = d.keyed[n] && !d.summed[n]
	}
	for i, r := range p.Component(d.from.Name).Rules {
		if divided := d.dividedIn(d.from.Rules[i]); d.summed[r.Head.Relation.Name] || d.alone(d.from.Rules[i], divided) {
			continue
		}
		if err := together(r, read, d.claim); err != nil {
			return err
		}
	}
	return nil
}

// alone reports whether a rule sends a message for each fact of one divided relation.
func (d *division) alone(r *logic.Rule, divided []*logic.Literal) bool {
	if r.Kind != logic.Async || len(divided) != 1 || divided[0].Negated {
		return false
	}
	a := divided[0].Atom
	k, ok := d.claim.Keys[a.Relation.Name]
	return ok && k.Column < len(a.Args) && a.Args[k.Column].Kind == logic.Wildcard
}

// quiet checks ticks without inputs: nothing happens in them, or the component comes to
// rest and the pieces wait for that.
func (d *division) quiet() error {
	if d.claim.Partial.Settling {
		return d.settles()
	}
	return d.steady()
}

// steady checks that nothing happens in a tick without inputs except the further effects of
// a replicated input, and messages.
func (d *division) steady() error {
	for _, r := range d.from.Rules {
		atoms, late, now := 0, false, false
		for i := range r.Body {
			l := &r.Body[i]
			if l.Atom == nil || l.Atom.Relation.Kind == logic.Static {
				continue
			}
			atoms++
			n := l.Atom.Relation.Name
			lag, caused := d.caused[n]
			if _, ordered := d.ordered[n]; caused && lag > 0 && !ordered {
				late = true
				if l.Negated {
					return fmt.Errorf("'%v' negates %s, which is derived some ticks after a divided input", r, n)
				}
			}
			now = now || caused && !l.Negated
		}
		_, passes := d.caused[r.Head.Relation.Name]
		switch guards, persistence := r.Persistence(); {
		case late && (atoms > 1 || r.Head.Aggregates() || r.Kind != logic.Async && !passes):
			return fmt.Errorf("'%v' joins what is derived some ticks after a divided input with other facts", r)
		case now || r.Kind == logic.Sync:
		case !persistence:
			return fmt.Errorf("'%v' changes state or sends in ticks in which nothing was received", r)
		default:
			for i := range guards {
				g := &guards[i]
				if g.Negated {
					if _, caused := d.caused[g.Atom.Relation.Name]; caused {
						continue
					}
				}
				return fmt.Errorf("'%v' deletes facts in ticks in which nothing was received", r)
			}
		}
	}
	return nil
}

// inOrder reports whether a rule fires only while a replicated input is processed.
func (d *division) inOrder(r *logic.Rule) bool {
	return slices.ContainsFunc(r.Body, func(l logic.Literal) bool {
		if !l.Positive() {
			return false
		}
		_, ok := d.ordered[l.Atom.Relation.Name]
		return ok
	})
}

// sums checks the relations without a key: each is one number that counts facts of
// different keys, or adds numbers of them, or is zero if there are none.
func (d *division) sums() error {
	for _, s := range d.before.Relations {
		n := s.Name
		if !d.summed[n] {
			continue
		}
		if len(s.Columns) != 1 || s.Merges() {
			return fmt.Errorf("%s has no key", n)
		}
		of, rules := "", 0
		for _, r := range d.from.Rules {
			if r.Kind != logic.Async && r.Head.Relation == s && r.Head.Aggregates() {
				rules++
				if len(r.Body) != 1 || !r.Body[0].Positive() {
					return fmt.Errorf("'%v' must count the facts of exactly one relation", r)
				}
				if of = r.Body[0].Atom.Relation.Name; !d.counts(r) {
					return fmt.Errorf("'%v' does not count by the key", r)
				}
			}
		}
		if rules != 1 {
			return fmt.Errorf("%s has no key", n)
		}
		for _, r := range d.from.Rules {
			if r.Kind == logic.Async || r.Head.Relation != s || r.Head.Aggregates() {
				continue
			}
			t, divided := r.Head.Args[0].Term, d.dividedIn(r)
			if r.Kind != logic.Sync || t.Kind != logic.Const || t.Value.Num != 0 || len(divided) != 1 || !divided[0].Negated || divided[0].Atom.Relation.Name != of ||
				slices.ContainsFunc(divided[0].Atom.Args, func(t *logic.Term) bool { return t.Kind != logic.Wildcard }) {
				return fmt.Errorf("'%v' does not derive zero exactly where %s is empty", r, of)
			}
		}
	}
	return nil
}

// counts reports whether a rule counts the different keys in a relation, or adds a number
// of each of its facts.
func (d *division) counts(r *logic.Rule) bool {
	atom, arg := r.Body[0].Atom, r.Head.Args[0]
	k, ok := d.claim.Keys[atom.Relation.Name]
	if !ok || k.Column < 0 || k.Column >= len(atom.Args) || atom.Args[k.Column].Kind != logic.Var {
		return false
	}
	seen := map[string]bool{}
	for _, t := range atom.Args {
		if t.Kind != logic.Wildcard && (t.Kind != logic.Var || seen[t.Name]) {
			return false
		}
		seen[t.Name] = t.Kind == logic.Var
	}
	return arg.Aggregate == logic.Sum || arg.Aggregate == logic.Count && arg.Term.Kind == logic.Var && arg.Term.Name == atom.Args[k.Column].Name
}

// sum returns the column of a rule's head that has the summed number, or -1 if there is
// none. Any other use of the number is an error.
func (d *division) sum(r *logic.Rule) (int, error) {
	column := -1
	for i := range r.Body {
		l := &r.Body[i]
		if l.Atom == nil || !d.summed[l.Atom.Relation.Name] {
			continue
		}
		bad := fmt.Errorf("'%v' uses %s for more than to send it when a replicated input arrives", r, l.Atom.Relation.Name)
		t := l.Atom.Args[0]
		if r.Kind != logic.Async || l.Negated || t.Kind != logic.Var || column >= 0 || len(d.dividedIn(r)) != 1 || !d.inOrder(r) {
			return 0, bad
		}
		uses := 0
		see := func(v string) {
			if v == t.Name {
				uses++
			}
		}
		for j := range r.Body {
			r.Body[j].Vars(see)
		}
		r.Dest.Vars(see)
		for j, a := range r.Head.Args {
			a.Term.Vars(see)
			if a.Term.Kind == logic.Var && a.Term.Name == t.Name {
				column = j
			}
		}
		if uses != 2 || column < 0 {
			return 0, bad
		}
	}
	return column, nil
}

// seals checks that the relations claimed as sealed can be, and that each sum is sealed.
func (d *division) seals() error {
	for _, r := range d.from.Rules {
		column, err := d.sum(r)
		if err != nil {
			return err
		}
		if column >= 0 && !slices.Contains(d.claim.Partial.Sealed, r.Head.Relation.Name) {
			return fmt.Errorf("'%v' sends a partial sum in a relation that is not sealed", r)
		}
	}
	for i, n := range d.claim.Partial.Sealed {
		s := d.before.Find(n)
		if s == nil || s.Kind != logic.Derived || s.Merges() || slices.Contains(d.claim.Partial.Sealed[:i], n) {
			return fmt.Errorf("%s cannot be sealed: it is not a relation without merging that is derived and named once", n)
		}
		for _, o := range d.before.Components {
			if reads(o.Rules)[n] && (o == d.from || o.Partitions > 1) {
				return fmt.Errorf("%s cannot be sealed: its reader %s is divided", n, o.Name)
			}
			for _, r := range o.Rules {
				if r.Head.Relation == s && r.Kind == logic.Async && (o != d.from || !d.inOrder(r)) {
					return fmt.Errorf("'%v' sends %s, which is sealed, at other times than when a replicated input is processed", r, n)
				}
			}
		}
		if _, err := d.sealed(s); err != nil {
			return err
		}
	}
	return nil
}

// sealed returns the column of a sealed relation that has the sum; all rules must agree.
func (d *division) sealed(s *logic.Relation) (int, error) {
	column, rules := -1, 0
	for _, r := range d.from.Rules {
		if r.Kind != logic.Async || r.Head.Relation != s {
			continue
		}
		c, err := d.sum(r)
		if err != nil || rules > 0 && c != column {
			return 0, fmt.Errorf("%s has the sum in different columns in different rules", s.Name)
		}
		column = c
		rules++
	}
	if rules == 0 {
		return 0, fmt.Errorf("%s does not send %s, which is claimed to be sealed", d.from.Name, s.Name)
	}
	return column, nil
}
