package certificate

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/dedalus/logic"
)

// causes are the relations that may come in anywhere because rules send something: what
// they send, what those who read that send, and all inputs when outputs are told, as
// clients may ask because they were answered. Of the component itself only these rules
// react.
func causes(p *logic.Program, from *logic.Component, rules []*logic.Rule) map[rel]bool {
	out := map[rel]bool{}
	for n := -1; n != len(out); {
		n = len(out)
		for _, c := range p.Components {
			list := c.Rules
			if c == from {
				list = rules
			}
			comes := false
			for r := range reads(list) {
				comes = comes || out[r]
			}
			for _, r := range list {
				if r.Kind != logic.Async || c != from && !comes {
					continue
				}
				out[r.Head.Relation.Name] = true
				if r.Head.Relation.Kind == logic.Output {
					for _, in := range p.Relations {
						if in.Kind == logic.Input {
							out[in.Name] = true
						}
					}
				}
			}
		}
	}
	return out
}

// cause says that some rules of a component can make something come in to others.
func cause(p *logic.Program, from *logic.Component, a, b []*logic.Rule) bool {
	caused := causes(p, from, a)
	for n := range reads(b) {
		if caused[n] {
			return true
		}
	}
	return false
}

// momentary checks that rules do not join what comes in with what holds for one tick
// because of the tick before, or follows from that: idle ticks between would change it.
func momentary(rules []*logic.Rule) error {
	fresh, lasting, soon := incoming(rules), map[rel]bool{}, map[rel]bool{}
	for _, r := range rules {
		if _, ok := r.Persistence(); ok {
			lasting[r.Head.Relation.Name] = true
		}
	}
	for n := -1; n != len(fresh)+len(soon); {
		n = len(fresh) + len(soon)
		for _, r := range rules {
			head := r.Head.Relation.Name
			if r.Kind == logic.Next && !lasting[head] {
				soon[head] = true
			}
			for m := range names(r, any) {
				if r.Kind == logic.Sync && fresh[m] {
					fresh[head] = true
				}
				if r.Kind != logic.Async && soon[m] {
					soon[head] = true
				}
			}
		}
	}
	for _, r := range rules {
		briefs, others := 0, 0
		both := false
		for i := range r.Body {
			a := r.Body[i].Atom
			if a == nil || a.Relation.Kind == logic.Static {
				continue
			}
			n := a.Relation.Name
			switch {
			case soon[n] && fresh[n]:
				briefs++
				others++
				both = true
			case soon[n]:
				briefs++
			case fresh[n]:
				others++
			}
		}
		alone := briefs == 1 && others == 1 && both
		if briefs > 0 && others > 0 && (!alone || r.Head.Aggregates() || r.Head.Relation.Merges()) {
			return fmt.Errorf("'%v' joins what holds for one tick with what comes in", r)
		}
	}
	return nil
}

// tickless checks that neither side of a decoupling sees that what comes back to it from
// the other took no tick of its own.
func (h *halves) tickless(from *logic.Component) error {
	if cause(h.p, from, h.moved, h.kept) {
		if err := momentary(h.kept); err != nil {
			return err
		}
	}
	if cause(h.p, from, h.kept, h.moved) {
		return momentary(h.moved)
	}
	return nil
}

// unhurried says that the kept rules may have to be passed by all that the moved ones
// read: the moved ones may answer, and idle ticks change the kept ones. It checks that what
// moves takes no tick then to answer.
func (h *halves) unhurried(from *logic.Component) (bool, error) {
	if !cause(h.p, from, h.moved, h.kept) {
		return false, nil
	}
	in, empty := incoming(h.kept), idle(h.kept)
	whole, some := map[rel]bool{}, map[rel]bool{}
	for _, r := range h.kept {
		guards, ok := r.Persistence()
		if !ok {
			continue
		}
		some[r.Head.Relation.Name] = some[r.Head.Relation.Name] || !wakes(r, in, empty)
		for _, g := range guards {
			ok = ok && g.Atom != nil && g.Negated && (in[g.Atom.Relation.Name] || empty[g.Atom.Relation.Name])
		}
		whole[r.Head.Relation.Name] = whole[r.Head.Relation.Name] || ok
	}
	still := true
	for _, r := range h.kept {
		if r.Kind != logic.Next {
			continue
		}
		_, carries := r.Persistence()
		n := r.Head.Relation.Name
		if wakes(r, in, empty) {
			still = still && some[n]
		} else {
			still = still && carries && whole[n]
		}
	}
	if still {
		return false, nil
	}
	for _, r := range h.moved {
		if _, ok := r.Persistence(); r.Kind == logic.Next && !ok {
			return true, fmt.Errorf("'%v' takes a tick before '%s' is answered, which can tell", r, from.Name)
		}
	}
	return true, nil
}
