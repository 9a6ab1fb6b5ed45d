// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// undivided checks that the component can be divided into as many parts as the step asks for.
func undivided(w *site) error {
	if w.step.Partitions < 2 {
		return fmt.Errorf("%v: want at least two parts", w.step)
	}
	if w.c.Partitions != 1 {
		return fmt.Errorf("%v: %s is partitioned already", w.step, w.c.Name)
	}
	if err := bounded(w.p, w.step); err != nil {
		return err
	}
	besides := ""
	if w.step.Kind == Partial {
		besides = orderOf(w.c)
		if w.p.Component(besides) != nil {
			return fmt.Errorf("%v: the step would create a component %s, which exists already; rename that one, or %s", w.step, besides, w.c.Name)
		}
		for _, c := range w.p.Components {
			if c.Of == besides {
				return fmt.Errorf("%v: the step would create a component %s, but %s is a piece of a component of that name; rename %s", w.step, besides, c.Name, w.c.Name)
			}
		}
	}
	return unspoken(w.p, w.c, w.step, besides)
}

// orderOf names the component that orders the replicated inputs of another.
func orderOf(c *logic.Component) string { return c.Name + "_order" }

// divisible reports whether there are keys that keep all facts that meet on one machine.
func divisible(w *site) analyze.Verdict {
	ways, v := analyze.Partition(analyze.Whole(w.p, w.c))
	if !v.Holds {
		return v
	}
	i := slices.IndexFunc(ways, func(k analyze.Keys) bool { return w.step.wants(k) })
	if i < 0 {
		return no(nil, fmt.Sprintf("there are %d ways to divide %s, but none by the keys that the step names", len(ways), w.c.Name))
	}
	w.keys = ways[i]
	w.cert.Keys = map[string]analyze.Key{}
	for r, k := range w.keys {
		w.cert.Keys[r.Name] = k
	}
	if v := derivedOrSent(w.p, w.c); !v.Holds {
		return v
	}
	v = routable(w.p, w.c, w.keys)
	if whole := analyze.Whole(w.p, w.c); analyze.Reaches(whole, whole) {
		and(&v, analyze.Timely(whole))
	}
	return v
}

// divideByKeys divides a component. Rules that sent to its own instances now
// send to the part that has the key; a component that was decoupled is reached
// by its own node names.
func divideByKeys(w *site) {
	w.c.Partitions = w.step.Partitions
	forward := forwarder(w.p, []string{w.c.Name}, w.c, w.step.Partitions)
	in := w.p.In(w.c)
	for _, from := range w.p.Components {
		for _, r := range from.Rules {
			if r.Kind == logic.Async && slices.Contains(in, r.Head.Relation) {
				divide(w.p, r, forward, w.keys[r.Head.Relation], w.step.Partitions)
			}
		}
	}
}

// claimKeys adds the keys, and the dependencies on which they rest, to a claim.
func claimKeys(c *Certificate, before *logic.Program, out *certificate.Claim) {
	out.Keys, out.Dependencies = map[string]certificate.Key{}, map[string][]certificate.Dependency{}
	for r, k := range c.Keys {
		out.Keys[r] = certificate.Key{Column: k.Column, Func: k.Func}
	}
	for r, list := range analyze.Dependencies(before) {
		for _, d := range list {
			out.Dependencies[r.Name] = append(out.Dependencies[r.Name], certificate.Dependency{From: d.From, To: d.To, Func: d.Func})
		}
	}
}

// wants reports whether keys are those that the step asks for.
func (s Step) wants(k analyze.Keys) bool {
	for r, key := range k {
		if want, ok := s.By[r.Name]; ok && want != key.Name(r) {
			return false
		}
	}
	return true
}

// routable refuses a component if another partitioned component receives one of its inputs
// too: a sender could use the key of only one of them.
func routable(p *logic.Program, c *logic.Component, keys analyze.Keys) analyze.Verdict {
	for _, rel := range p.In(c) {
		if _, ok := keys[rel]; !ok {
			return no(nil, rel.Name+" is received and has no key")
		}
		for _, o := range p.Components {
			if o != c && o.Partitions > 1 && slices.Contains(p.In(o), rel) {
				return no(nil, fmt.Sprintf("%s is also received by %s, which is partitioned", rel.Name, o.Name))
			}
		}
	}
	return analyze.Verdict{Holds: true}
}

// divide sends the head of a rule to the part that its key names.
func divide(p *logic.Program, r *logic.Rule, forward *logic.Relation, k analyze.Key, parts int) {
	key := r.Head.Args[k.Column].Term
	if k.Func != "" {
		key = call(p, k.Func, key)
	}
	if key.Kind != logic.Var {
		key = bind(r, "key", key)
	}
	hashed := &logic.Term{Kind: logic.Call, Name: "hash", Args: []*logic.Term{key}, Type: logic.Type{Kind: logic.U64}}
	n := &logic.Term{Kind: logic.Const, Value: logic.Value{Kind: logic.U64, Num: uint64(parts)}, Type: logic.Type{Kind: logic.U64}}
	part := bind(r, "part", &logic.Term{Kind: logic.Call, Name: "%", Args: []*logic.Term{hashed, n}, Type: logic.Type{Kind: logic.U64}})
	reroute(r, forward, part)
}

// bind assigns a term to a new variable.
func bind(r *logic.Rule, want string, t *logic.Term) *logic.Term {
	name := fresh(r, want)
	r.Body = append(r.Body, logic.Literal{Assign: &logic.Assign{Var: name, Term: t}})
	return variable(name, t.Type.Kind)
}

// call applies a function to a key.
func call(p *logic.Program, f string, arg *logic.Term) *logic.Term {
	t := &logic.Term{Kind: logic.Call, Name: f, Args: []*logic.Term{arg}}
	if fn := p.Function(f); fn != nil {
		t.Type = fn.Result
	} else {
		t.Type.Kind = logic.FindBuiltin(f).Result
	}
	return t
}
