package rewrite

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/dedalus/logic"
)

// partition divides a component's facts among several machines, in place.
func partition(p *logic.Program, c *logic.Component, s Step) (*Certificate, error) {
	if s.Partitions < 2 {
		return nil, fmt.Errorf("%v: want two parts at least", s)
	}
	if c.Partitions != 1 {
		return nil, fmt.Errorf("%v: %s is partitioned already", s, c.Name)
	}
	ways, v := analyze.Partition(analyze.Whole(p, c))
	if !v.Holds {
		return nil, &Refusal{s, v}
	}
	i := slices.IndexFunc(ways, func(k analyze.Keys) bool { return s.wants(k) })
	if i < 0 {
		return nil, &Refusal{s, no(nil, fmt.Sprintf("there are %d ways to divide %s, and none by these keys", len(ways), c.Name))}
	}
	keys := ways[i]
	cert := &Certificate{Step: s, Keys: map[string]analyze.Key{}}
	for r, k := range keys {
		cert.Keys[r.Name] = k
	}
	if err := routable(p, c, s, keys); err != nil {
		return nil, err
	}
	// Who sent to the component's own instances, sends to the part that has the
	// key; a component that was decoupled is reached by its own node names.
	c.Partitions = s.Partitions
	forward := forwarder(p, []string{c.Name}, c, s.Partitions)
	in := p.In(c)
	for _, from := range p.Components {
		for _, r := range from.Rules {
			if r.Kind == logic.Async && slices.Contains(in, r.Head.Relation) {
				divide(p, r, forward, keys[r.Head.Relation], s.Partitions)
			}
		}
	}
	return cert, nil
}

// wants says that keys are those that the step asks for.
func (s Step) wants(k analyze.Keys) bool {
	for r, key := range k {
		if want, ok := s.By[r.Name]; ok && want != key.Name(r) {
			return false
		}
	}
	return true
}

// routable refuses a component of which a relation is sent to others as well:
// whose key would be that of another component.
func routable(p *logic.Program, c *logic.Component, s Step, keys analyze.Keys) error {
	for _, rel := range p.In(c) {
		if _, ok := keys[rel]; !ok {
			return &Refusal{s, no(nil, rel.Name+" comes in and has no key")}
		}
		for _, o := range p.Components {
			if o != c && o.Partitions > 1 && slices.Contains(p.In(o), rel) {
				return &Refusal{s, no(nil, fmt.Sprintf("%s is received by %s as well, which is partitioned", rel.Name, o.Name))}
			}
		}
	}
	return nil
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

// bind gives a term a name.
func bind(r *logic.Rule, want string, t *logic.Term) *logic.Term {
	name := fresh(r, want)
	r.Body = append(r.Body, logic.Literal{Assign: &logic.Assign{Var: name, Term: t}})
	return variable(name, t.Type.Kind)
}

// call is a function of a key.
func call(p *logic.Program, f string, arg *logic.Term) *logic.Term {
	t := &logic.Term{Kind: logic.Call, Name: f, Args: []*logic.Term{arg}}
	if fn := p.Function(f); fn != nil {
		t.Type = fn.Result
	} else {
		t.Type.Kind = logic.FindBuiltin(f).Result
	}
	return t
}
