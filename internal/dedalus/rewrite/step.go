// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Kind is a kind of rewrite.
type Kind uint8

// The kinds of rewrites.
const (
	// Mutual decouples two parts neither of which depends on the other.
	Mutual Kind = iota
	// Functional decouples a part that has no state.
	Functional
	// Monotonic decouples a part whose results only grow, and makes it keep all
	// facts that it receives.
	Monotonic
	// StateMachine decouples a part whose results depend only on the order of its inputs and on
	// which of them arrive together.
	StateMachine
	// Asymmetric decouples a part on which the rest depends.
	Asymmetric
	// Partition divides a component by keys.
	Partition
	// Partial divides a component by keys, and sends inputs without a key to all parts in the
	// same order.
	Partial
	// Relay moves all rules to a new component, and forwards inputs from outside
	// and timers to it.
	Relay
)

var kindNames = [...]string{"mutual", "functional", "monotonic", "statemachine", "asymmetric", "partition", "partial", "relay"}

// divides reports whether a rewrite divides a component by keys. The other rewrites
// move rules.
func (k Kind) divides() bool { return k == Partition || k == Partial }

func (k Kind) String() string { return kindNames[k] }

// Step requests a rewrite.
type Step struct {
	Kind Kind
	// Component is the component to rewrite.
	Component string
	// Rules lists the numbers, from 1, of the rules that a decoupling moves. Name
	// is the name of the component that they become.
	Rules []int
	Name  string
	// By has the keys of a partitioning, by relation. The solver finds the keys of the other
	// relations. Partitions is the number of machines.
	By         map[string]string
	Partitions int
}

// ParseStep reads a step as String writes it: "functional leader rules 2 3 as
// signer", "partition storage into 4", "partition storage into 4 toStorage by
// hash(v), hashset by h". The error says what was expected.
func ParseStep(text string) (Step, error) {
	words := strings.Fields(strings.ReplaceAll(text, ",", " "))
	at := 0
	next := func() string {
		if at >= len(words) {
			return ""
		}
		at++
		return words[at-1]
	}
	bad := func(want string) (Step, error) {
		return Step{}, fmt.Errorf("step '%s': expected %s; steps are 'mutual|functional|monotonic|statemachine|asymmetric COMPONENT rules N... as NAME', 'relay COMPONENT as NAME' and 'partition|partial COMPONENT into N [RELATION by COLUMN ...]'", text, want)
	}
	kind := slices.Index(kindNames[:], next())
	if kind < 0 {
		return bad("a rewrite")
	}
	s := Step{Kind: Kind(kind), Component: next()}
	if s.Kind == Relay {
		if next() != "as" {
			return bad("'as'")
		}
		if s.Name = next(); s.Name == "" || at != len(words) {
			return bad("one name at the end")
		}
		return s, nil
	}
	if !s.Kind.divides() {
		if next() != "rules" {
			return bad("'rules'")
		}
		for w := next(); w != "as"; w = next() {
			n, err := strconv.Atoi(w)
			if err != nil {
				return bad("the number of a rule, or 'as'")
			}
			s.Rules = append(s.Rules, n)
		}
		if s.Name = next(); s.Name == "" || at != len(words) {
			return bad("one name at the end")
		}
		return s, nil
	}
	if next() != "into" {
		return bad("'into'")
	}
	n, err := strconv.Atoi(next())
	if err != nil {
		return bad("how many parts")
	}
	s.Partitions = n
	for at < len(words) {
		rel, by, key := next(), next(), next()
		if by != "by" || key == "" {
			return bad("RELATION by COLUMN")
		}
		if s.By == nil {
			s.By = map[string]string{}
		}
		s.By[rel] = key
	}
	return s, nil
}

func (s Step) String() string {
	if s.Kind.divides() {
		var by []string
		for r, k := range s.By {
			by = append(by, r+" by "+k)
		}
		slices.Sort(by)
		return strings.TrimSpace(fmt.Sprintf("%v %s into %d %s", s.Kind, s.Component, s.Partitions, strings.Join(by, ", ")))
	}
	if s.Kind == Relay {
		return fmt.Sprintf("%v %s as %s", s.Kind, s.Component, s.Name)
	}
	var rules []string
	for _, r := range s.Rules {
		rules = append(rules, fmt.Sprint(r))
	}
	return fmt.Sprintf("%v %s rules %s as %s", s.Kind, s.Component, strings.Join(rules, " "), s.Name)
}

// Certificate states what a rewrite depends on.
type Certificate struct {
	Step Step
	// Moved are the rules that a decoupling moved, as text.
	Moved []string
	// Copied lists the relations that both parts read; the moved part reads a copy.
	Copied []string
	// Keys are the keys by which a partitioning divides relations.
	Keys map[string]analyze.Key
	// Partial states what a partial partitioning replicates and seals.
	Partial *certificate.Partial
	// Assuming lists the author's assertions on which the rewrite rests.
	Assuming []logic.Assumption
}

// Claim returns the claim that package certificate checks, about the program before.
func (c *Certificate) Claim(before *logic.Program) certificate.Claim {
	out := certificate.Claim{Kind: c.Step.Kind.String(), Component: c.Step.Component, Name: c.Step.Name,
		Partitions: c.Step.Partitions, Assuming: c.Assuming}
	for _, n := range c.Step.Rules {
		out.Moved = append(out.Moved, n-1)
	}
	s := row(c.Step.Kind)
	if s.claim != nil {
		s.claim(c, before, &out)
	}
	return out
}

// Refusal states why a step was refused.
type Refusal struct {
	Step    Step
	Verdict analyze.Verdict
}

func (r *Refusal) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: refused", r.Step)
	for _, why := range r.Verdict.Because {
		fmt.Fprintf(&b, "\n  %v", why)
	}
	return b.String()
}

// site is a step and the place in the program where it is applied.
type site struct {
	p    *logic.Program
	c    *logic.Component
	step Step
	cert *Certificate
	// moved and kept are the parts of a decoupling, keys those of a partitioning.
	moved, kept analyze.Part
	keys        analyze.Keys
	partial     *replication
}

// rewriting has the functions of a rewrite.
type rewriting struct {
	// match finds what a step names; the error states what is wrong with the step.
	match func(*site) error
	// precondition reports whether the program allows the step, and fills in the certificate.
	precondition func(*site) analyze.Verdict
	// transform applies the step, in place.
	transform func(*site)
	// claim adds to a claim what package certificate must know; it may be nil.
	claim func(c *Certificate, before *logic.Program, out *certificate.Claim)
}

// row returns the functions of a rewrite from the table of all rewrites.
func row(k Kind) rewriting {
	return [...]rewriting{
		Mutual:       {split, mutual, lead, nil},
		Functional:   {split, functional, lead, nil},
		Monotonic:    {split, monotonic, leadAndKeep, nil},
		StateMachine: {split, stateMachine, batch, nil},
		Asymmetric:   {split, asymmetric, exchange, nil},
		Partition:    {undivided, divisible, divideByKeys, claimKeys},
		Partial:      {undivided, partiallyDivisible, dividePartially, claimPartial},
		Relay:        {whole, relayed, lead, claimRelay},
	}[k]
}

// Apply applies a step to the program. The error is a *Refusal if the program
// does not allow the rewrite; otherwise it states what is wrong with the step.
func Apply(p *logic.Program, s Step) (*logic.Program, *Certificate, error) {
	q := p.Clone()
	c := q.Component(s.Component)
	if c == nil {
		return nil, nil, fmt.Errorf("%v: there is no component %s", s, s.Component)
	}
	at := &site{p: q, c: c, step: s, cert: &Certificate{Step: s}}
	r := row(s.Kind)
	if err := r.match(at); err != nil {
		return nil, nil, err
	}
	v := r.precondition(at)
	if !v.Holds {
		return nil, nil, &Refusal{s, v}
	}
	for _, a := range v.Assuming {
		if !slices.Contains(at.cert.Assuming, a) {
			at.cert.Assuming = append(at.cert.Assuming, a)
		}
	}
	r.transform(at)
	return q, at.cert, nil
}

// newName returns a name that no relation has yet.
func newName(p *logic.Program, want string) string {
	for p.Find(want) != nil {
		want += "_"
	}
	return want
}

// variable returns a term for a variable.
func variable(name string, t logic.TypeKind) *logic.Term {
	return &logic.Term{Kind: logic.Var, Name: name, Type: logic.Type{Kind: t}}
}

// fresh returns a variable that a rule does not use.
func fresh(r *logic.Rule, want string) string {
	used := map[string]bool{}
	see := func(v string) { used[v] = true }
	for i := range r.Body {
		r.Body[i].Vars(see)
	}
	for _, a := range r.Head.Args {
		a.Term.Vars(see)
	}
	if r.Dest != nil {
		r.Dest.Vars(see)
	}
	for used[want] {
		want += "_"
	}
	return want
}
