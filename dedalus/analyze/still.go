package analyze

import "github.com/ashlar-dev/ashlar/dedalus/logic"

// Still says whether ticks in which nothing comes in leave the part as it is: there may
// be more or fewer of them, and what it does when the next thing comes is the same. It
// is what StateMachine asks but for messages: one that is sent in such a tick may be
// late for ever.
func Still(p Part) Verdict {
	v := yes()
	inputs, e := p.inputs(), set(Existence(p))
	stays, carried := p.staying(inputs, e)
	for _, r := range p.Rules {
		guards, persistence := r.Persistence()
		switch {
		case r.Kind != logic.Next:
		case driven(r, inputs, e):
			if !carried[r.Head.Relation] {
				v.block(r, nil, r.Head.Relation.Name+" holds in the next tick and not in those after it, also when nothing comes in",
					"keep it in a table until it is used")
			}
		case !persistence:
			v.block(r, nil, "it changes state in ticks in which nothing came in", "")
		default:
			for i := range guards {
				if !stays[r.Head.Relation] && !quiet(&guards[i], inputs, e) {
					v.block(r, &guards[i], "it forgets in ticks in which nothing came in", "")
				}
			}
		}
	}
	return v
}

// Reaches says whether something that part a sends can make something come in to part b:
// by way of other components, or of clients, who may ask because they were answered.
func Reaches(a, b Part) bool {
	seen := map[*logic.Relation]bool{}
	var follow func(rel *logic.Relation) bool
	send := func(rules []*logic.Rule) bool {
		for _, r := range rules {
			if r.Kind == logic.Async && follow(r.Head.Relation) {
				return true
			}
		}
		return false
	}
	follow = func(rel *logic.Relation) bool {
		if seen[rel] {
			return false
		}
		seen[rel] = true
		if b.refs()[rel] {
			return true
		}
		if rel.Kind == logic.Output {
			for _, in := range a.Program.Relations {
				if in.Kind == logic.Input && follow(in) {
					return true
				}
			}
			return false
		}
		for _, c := range a.Program.Components {
			p := Whole(a.Program, c)
			if c == a.Component {
				p = a
			}
			if p.refs()[rel] && send(p.Rules) {
				return true
			}
		}
		return false
	}
	return send(a.Rules)
}

// Timely says whether the part tells no ticks apart in which nothing came in, as far as
// facts of one tick go: it joins none that hold because of the tick before, nor what
// follows from these, with what comes in.
func Timely(p Part) Verdict {
	v := yes()
	given, brief := p.given(), p.brief()
	of := func(r *logic.Rule, s set) []*logic.Literal {
		var out []*logic.Literal
		for i := range r.Body {
			if l := &r.Body[i]; l.Atom != nil && s[l.Atom.Relation] {
				out = append(out, l)
			}
		}
		return out
	}
	for _, r := range p.Rules {
		whole := r.Head.Aggregates() || r.Head.Relation.Merges()
	literals:
		for _, b := range of(r, brief) {
			for _, g := range of(r, given) {
				if b != g || whole {
					v.block(r, g, b.Atom.Relation.Name+" holds for one tick, or follows from what does, and meets what comes in in that tick",
						"keep it in a table until it is used")
					break literals
				}
			}
		}
	}
	return v
}

// given are the relations that hold because of what comes in in the same tick, among
// other reasons.
func (p Part) given() set {
	out := p.inputs()
	for range p.Rules {
		for _, r := range p.Rules {
			for i := range r.Body {
				if a := r.Body[i].Atom; r.Kind == logic.Sync && a != nil && out[a.Relation] {
					out[r.Head.Relation] = true
				}
			}
		}
	}
	return out
}

// brief are the relations that next rules derive and none carries on, and what follows
// from them.
func (p Part) brief() set {
	out, carried := set{}, set{}
	for _, r := range p.Rules {
		if _, ok := r.Persistence(); ok {
			carried[r.Head.Relation] = true
		}
	}
	for range p.Rules {
		for _, r := range p.Rules {
			if r.Kind == logic.Next && !carried[r.Head.Relation] {
				out[r.Head.Relation] = true
			}
			for i := range r.Body {
				if a := r.Body[i].Atom; r.Kind != logic.Async && a != nil && out[a.Relation] {
					out[r.Head.Relation] = true
				}
			}
		}
	}
	return out
}
