// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// term is how long the facts of a carried relation hold.
type term uint8

const (
	oneTick term = iota + 1
	untilForgotten
	always
)

// terms returns how long the facts that next rules derive hold.
func (d *division) terms() map[rel]term {
	out := map[rel]term{}
	for _, r := range d.from.Rules {
		if r.Kind != logic.Next {
			continue
		}
		k := oneTick
		if guards, ok := r.Persistence(); ok {
			if k = always; len(guards) > 0 {
				k = untilForgotten
			}
		}
		out[r.Head.Relation.Name] = max(out[r.Head.Relation.Name], k)
	}
	return out
}

// woken reports whether a rule fires only in or soon after a tick with inputs.
func (d *division) woken(r *logic.Rule) bool {
	for i := range r.Body {
		if l := &r.Body[i]; l.Positive() {
			if _, ok := d.caused[l.Atom.Relation.Name]; ok {
				return true
			}
		}
	}
	return false
}

// settles checks that the component comes to rest by itself: replicated inputs carry no
// values, relations that hold for one tick are not joined with inputs, and each carried
// relation comes to rest once the relations that it depends on have.
func (d *division) settles() error {
	for _, r := range d.replicated {
		if len(r.Columns) > 0 {
			return fmt.Errorf("%s has columns; a replicated input must have none where the component keeps changing in ticks in which nothing was received", r.Name)
		}
	}
	for n := range d.summed {
		return fmt.Errorf("%s is summed, which is not allowed where the component keeps changing in ticks in which nothing was received", n)
	}
	kinds := d.terms()
	for _, r := range d.from.Rules {
		if err := d.adds(r, kinds[r.Head.Relation.Name]); err != nil {
			return err
		}
	}
	if err := d.calms(kinds); err != nil {
		return err
	}
	return (&halves{p: d.before, assuming: d.claim.Assuming}).idleTicks(d.from.Rules)
}

// adds checks a rule in ticks without inputs: it may add existing values to relations that
// hold forever, or facts to relations that hold for one tick.
func (d *division) adds(r *logic.Rule, k term) error {
	guards, carries := r.Persistence()
	for _, g := range guards {
		if !g.Negated {
			return fmt.Errorf("'%v' deletes facts by a condition other than the presence of a fact", r)
		}
	}
	if r.Kind == logic.Async || carries {
		return nil
	}
	if r.Kind == logic.Next && r.Head.Aggregates() {
		return fmt.Errorf("'%v' carries an aggregate to the next tick", r)
	}
	if d.woken(r) || r.Kind == logic.Sync && (k == always || k == 0) {
		return nil
	}
	if r.Kind == logic.Sync || k == untilForgotten {
		return fmt.Errorf("'%v' may derive again facts that were deleted, in ticks in which nothing was received", r)
	}
	invents := r.Head.Relation.Merges()
	for _, a := range r.Head.Args {
		invents = invents || a.Term.Kind == logic.Call
	}
	for i := range r.Body {
		invents = invents || r.Body[i].Assign != nil
	}
	if invents {
		return fmt.Errorf("'%v' computes new values in ticks in which nothing was received", r)
	}
	return nil
}

// calms checks that all carried relations come to rest, one after the other.
func (d *division) calms(kinds map[rel]term) error {
	calm := map[rel]bool{}
	for more := true; more; {
		more = false
		for n, k := range kinds {
			if calm[n] {
				continue
			}
			ready := true
			for _, r := range d.from.Rules {
				if _, carries := r.Persistence(); r.Kind == logic.Next && r.Head.Relation.Name == n && !carries && !d.woken(r) {
					for on := range d.founded(r, kinds) {
						ready = ready && (calm[on] || on == n && k == always)
					}
				}
			}
			if ready {
				calm[n], more = true, true
			}
		}
	}
	for n := range kinds {
		if !calm[n] {
			return fmt.Errorf("%s may change forever in ticks in which nothing was received", n)
		}
	}
	return nil
}

// founded returns the carried relations on which a rule's body depends within the tick.
func (d *division) founded(r *logic.Rule, kinds map[rel]term) map[rel]bool {
	all := names(r, any)
	for n := -1; n != len(all); {
		n = len(all)
		for _, o := range d.from.Rules {
			if o.Kind == logic.Sync && all[o.Head.Relation.Name] {
				for m := range names(o, any) {
					all[m] = true
				}
			}
		}
	}
	for n := range all {
		if kinds[n] == 0 {
			delete(all, n)
		}
	}
	return all
}

// resting adds the rules by which a piece reports that it is not at rest, and waits.
func (w *writing) resting() {
	w.put(`
		next $C_report(part) <- $C_report(part), $C_busy()
		next $C_settling() <- $C_turn(_, _)
		next $C_settling() <- $C_settling(), $C_busy()
		sync $C_frozen() <- $C_settling()`)
	kinds, compared := w.terms(), map[rel]bool{}
	for _, r := range w.from.Rules {
		if r.Kind != logic.Next {
			continue
		}
		n := r.Head.Relation.Name
		var body, args []string
		for _, l := range r.Body {
			l = w.own(l)
			body = append(body, l.String())
		}
		for _, a := range r.Head.Args {
			args = append(args, a.Term.String())
		}
		head := "(" + strings.Join(args, ", ") + ")"
		if guards, carries := r.Persistence(); carries {
			for _, g := range guards {
				forgotten := map[string]bool{}
				g.Vars(func(v string) { forgotten[v] = true })
				of := slices.Clone(args)
				for i := range of {
					if !forgotten[of[i]] {
						of[i] = "_"
					}
				}
				g = w.own(g)
				w.put("sync $C_busy() <- r$("+strings.Join(of, ", ")+"), "+strings.TrimPrefix(g.String(), "not "), about(r.Head.Relation)...)
			}
			continue
		}
		if kinds[n] != oneTick {
			w.put("sync $C_busy() <- " + strings.Join(body, ", ") + ", not " + n + head)
			continue
		}
		w.put("sync " + n + "_then" + head + " <- " + strings.Join(body, ", "))
		if !compared[n] {
			compared[n] = true
			w.put(`
				sync $C_busy() <- r$(X*), not r$_then(X*)
				sync $C_busy() <- r$_then(X*), not r$(X*)`, about(r.Head.Relation)...)
		}
	}
}
