// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

func checkPartition(before, after *logic.Program, from *logic.Component, c Claim) error {
	if c.Partitions < 2 {
		return fmt.Errorf("a partitioning needs at least 2 parts, found %d", c.Partitions)
	}
	if err := inductive(before, c.Dependencies); err != nil {
		return err
	}
	for _, r := range from.Rules {
		if err := together(r, reads(from.Rules), c); err != nil {
			return err
		}
	}
	if cause(before, from, from.Rules, from.Rules) {
		if err := (&halves{p: before, assuming: c.Assuming}).idleTicks(from.Rules); err != nil {
			return err
		}
	}
	to := after.Component(c.Component)
	if to == nil || to.Partitions != c.Partitions || to.Instances != from.Instances || to.Of != from.Of || len(after.Components) != len(before.Components) {
		return fmt.Errorf("component %s does not have %d partitions", c.Component, c.Partitions)
	}
	if err := apart(before, from); err != nil {
		return err
	}
	incoming := incoming(from.Rules)
	for _, o := range before.Components {
		a := after.Component(o.Name)
		if a == nil || len(a.Rules) != len(o.Rules) || a.Of != o.Of || a.Instances != o.Instances || o != from && a.Partitions != o.Partitions {
			return fmt.Errorf("component %s has changed or is missing", o.Name)
		}
		for i, r := range o.Rules {
			switch {
			case r.Kind == logic.Async && incoming[r.Head.Relation.Name]:
				if err := divided(after, r, a.Rules[i], to, c); err != nil {
					return fmt.Errorf("'%v': %w", a.Rules[i], err)
				}
			case exact(a.Rules[i]) != exact(r):
				return fmt.Errorf("found '%v', want '%v'", a.Rules[i], r)
			}
		}
		if o != from && o.Partitions > 1 {
			for n := range incoming {
				if reads(o.Rules)[n] && !derives(o.Rules)[n] {
					return fmt.Errorf("%s is also received by %s, which is divided by a key of its own", n, o.Name)
				}
			}
		}
	}
	return nil
}

// apart checks that the component does not both receive and derive a relation that it reads:
// such a relation would have to be divided as an input is.
func apart(p *logic.Program, c *logic.Component) error {
	read, local := reads(c.Rules), derives(c.Rules)
	for _, r := range p.Relations {
		if read[r.Name] && local[r.Name] && sent(p, r) {
			return fmt.Errorf("%s is received by %s, which derives it as well", r.Name, c.Name)
		}
	}
	return nil
}

// equalities records which terms of a rule are known to be equal, written as text. Classes
// are closed under the claimed dependencies and under functions of one argument.
type equalities struct{ of map[string]string }

// find returns the representative of a text.
func (e *equalities) find(x string) string {
	for e.of[x] != "" {
		x = e.of[x]
	}
	return x
}

// norm returns the representative of a text, after those of its arguments.
func (e *equalities) norm(x string) string {
	if open := strings.IndexByte(x, '('); open > 0 {
		x = x[:open] + "(" + e.norm(x[open+1:len(x)-1]) + ")"
	}
	return e.find(x)
}

// join makes two texts equal; the one with fewer functions becomes the representative.
func (e *equalities) join(x, y string) {
	x, y = e.norm(x), e.norm(y)
	if x == y {
		return
	}
	if strings.Count(x, "(") > strings.Count(y, "(") || strings.Count(x, "(") == strings.Count(y, "(") && x > y {
		x, y = y, x
	}
	e.of[y] = x
}

func text(t *logic.Term) string {
	switch {
	case t.Kind == logic.Var:
		return "$" + t.Name
	case t.Kind == logic.Const:
		return "'" + constant(t.Value)
	case t.Kind == logic.Self:
		return "'self"
	case t.Kind == logic.Call && len(t.Args) == 1:
		if x := text(t.Args[0]); x != "" {
			return t.Name + "(" + x + ")"
		}
	}
	return ""
}

// constant returns a text that two constants share only if they are equal and of one type.
// It has no parentheses, because those mark functions.
func constant(v logic.Value) string {
	of := v
	kind := ""
	for of.Kind == logic.SetType && len(of.Set) > 0 {
		kind, of = kind+"set of ", of.Set[0]
	}
	kind += logic.Type{Kind: of.Kind}.String()
	return strings.NewReplacer("%", "%25", "(", "%28", ")", "%29").Replace(v.String()) + ":" + kind
}

func function(f, x string) string {
	if f == "" {
		return x
	}
	return f + "(" + x + ")"
}

// known returns the equalities that a rule's body implies under the claimed dependencies.
func known(r *logic.Rule, deps map[string][]Dependency) *equalities {
	e := &equalities{map[string]string{}}
	// Each round may use the results of the one before; there are no more classes to join
	// than terms.
	rounds := 1
	for i := range r.Body {
		if a := r.Body[i].Atom; a != nil {
			rounds += len(a.Args)
		}
		rounds++
	}
	for range rounds {
		for i := range r.Body {
			l := &r.Body[i]
			switch {
			case l.Assign != nil:
				if x := text(l.Assign.Term); x != "" {
					e.join("$"+l.Assign.Var, x)
				}
			case l.Compare != nil && l.Compare.Op == logic.Equal:
				if x, y := text(l.Compare.Left), text(l.Compare.Right); x != "" && y != "" {
					e.join(x, y)
				}
			case l.Positive():
				for _, d := range dependencies(l.Atom.Relation, deps) {
					if x, y := text(l.Atom.Args[d.From]), text(l.Atom.Args[d.To]); x != "" && y != "" {
						e.join(function(d.Func, x), y)
					}
				}
			}
		}
	}
	return e
}

// dependencies returns the claimed dependencies of a relation. A static relation of two
// columns that declares one is a function, whose name no other function can have.
func dependencies(r *logic.Relation, deps map[string][]Dependency) []Dependency {
	if r.Kind != logic.Static {
		return deps[r.Name]
	}
	for _, d := range r.Dependencies {
		if len(r.Columns) == 2 && d.To == 1 && slices.Equal(d.From, []int{0}) {
			return []Dependency{{0, 1, "static " + r.Name}}
		}
	}
	return nil
}

// inductive checks that every rule derives only facts that satisfy the claimed dependencies
// from facts that do. Then all facts satisfy them.
func inductive(p *logic.Program, deps map[string][]Dependency) error {
	for n, list := range deps {
		r := p.Find(n)
		if r == nil || r.Kind != logic.Derived && r.Kind != logic.Output {
			return fmt.Errorf("the claim has dependencies of %s, which no rule derives", n)
		}
		for _, d := range list {
			if max(d.From, d.To) >= len(r.Columns) || min(d.From, d.To) < 0 || r.Columns[d.From].Lattice != logic.NoLattice || r.Columns[d.To].Lattice != logic.NoLattice {
				return fmt.Errorf("the claim has a dependency of %s on columns that do not exist or merge: %d and %d", n, d.From, d.To)
			}
		}
	}
	for _, c := range p.Components {
		for _, r := range c.Rules {
			e := known(r, deps)
			for _, d := range deps[r.Head.Relation.Name] {
				a, b := r.Head.Args[d.From], r.Head.Args[d.To]
				x, y := text(a.Term), text(b.Term)
				if a.Aggregate != logic.NoAggregate || b.Aggregate != logic.NoAggregate || x == "" || y == "" ||
					e.norm(function(d.Func, x)) != e.norm(y) {
					return fmt.Errorf("'%v' does not ensure that column %d of %s is %s of column %d", r, d.To, r.Head.Relation.Name, d.Func, d.From)
				}
			}
		}
	}
	return nil
}

// together checks that all relations of a rule that the component reads have the same key
// in that rule.
func together(r *logic.Rule, read map[rel]bool, c Claim) error {
	e := known(r, c.Dependencies)
	key := ""
	meet := func(rn *logic.Relation, args []*logic.Term) error {
		k, ok := c.Keys[rn.Name]
		if !ok || k.Column < 0 || k.Column >= len(rn.Columns) || rn.Columns[k.Column].Lattice != logic.NoLattice {
			return fmt.Errorf("%s has no key", rn.Name)
		}
		if rn.Kind == logic.Input || rn.Kind == logic.Timer {
			return fmt.Errorf("%s comes from outside, where no component can divide it", rn.Name)
		}
		x := ""
		if t := args[k.Column]; t != nil {
			x = text(t)
		}
		if x == "" {
			return fmt.Errorf("in '%v', %s has no key", r, rn.Name)
		}
		x = e.norm(function(k.Func, x))
		if key != "" && key != x {
			return fmt.Errorf("in '%v', %s is divided by %s, and another relation by %s", r, rn.Name, x, key)
		}
		key = x
		return nil
	}
	here := false
	for i := range r.Body {
		if a := r.Body[i].Atom; a != nil && a.Relation.Kind != logic.Static {
			if err := meet(a.Relation, a.Args); err != nil {
				return err
			}
			here = here || !r.Body[i].Negated
		}
	}
	if r.Kind != logic.Async && read[r.Head.Relation.Name] {
		args := make([]*logic.Term, len(r.Head.Args))
		for i, a := range r.Head.Args {
			if a.Aggregate == logic.NoAggregate {
				args[i] = a.Term
			}
		}
		if err := meet(r.Head.Relation, args); err != nil {
			return err
		}
	}
	if key != "" && !here {
		// A machine that is not responsible for a key has no facts of it, so the absence of a fact
		// says nothing there, and several machines would derive the head.
		return fmt.Errorf("'%v' reads no fact that only the machine of %s has, so all machines would apply it", r, key)
	}
	if key == "" || !r.Head.Aggregates() {
		return nil
	}
	// A group must not be divided: the key is a function of a column that the rule groups by. A
	// numbered argument occurs in the head beside its number, and the rule does not group by it.
	numbered := map[string]bool{}
	for _, a := range r.Head.Args {
		if a.Aggregate == logic.Index {
			numbered[text(a.Term)] = true
		}
	}
	for _, a := range r.Head.Args {
		if x := text(a.Term); a.Aggregate == logic.NoAggregate && x != "" && !numbered[x] && within(key, e.norm(x)) {
			return nil
		}
	}
	return fmt.Errorf("'%v' aggregates facts with different %s, which are on different machines", r, key)
}

// within reports whether x is y or a function of y.
func within(x, y string) bool {
	for {
		if x == y {
			return true
		}
		open := strings.IndexByte(x, '(')
		if open < 0 {
			return false
		}
		x = x[open+1 : len(x)-1]
	}
}

// divided checks that new is old, except that it sends to the part of its key: it applies
// the function of the key, if any, takes the hash modulo the number of parts, and looks up
// the old destination and that part in the forwarding relation.
func divided(after *logic.Program, old, new *logic.Rule, to *logic.Component, c Claim) error {
	n := len(old.Body)
	back := *new
	back.Body, back.Dest = new.Body[:min(n, len(new.Body))], old.Dest
	if len(new.Body) < n+2 || exact(&back) != exact(old) {
		return fmt.Errorf("want '%v'", old)
	}
	added := new.Body[n:]
	bound := map[string]bool{}
	for i := range old.Body {
		old.Body[i].Vars(func(v string) { bound[v] = true })
	}
	for i := range added {
		// An added literal must bind only new variables, so that it drops no message.
		l := &added[i]
		switch {
		case l.Assign != nil && !bound[l.Assign.Var]:
			if !total(after, l.Assign.Term) {
				return fmt.Errorf("'%v' may have no value, which would drop messages", l)
			}
			bound[l.Assign.Var] = true
		case l.Positive() && l.Atom.Relation.Kind == logic.Static && len(l.Atom.Args) > 0:
			last := l.Atom.Args[len(l.Atom.Args)-1]
			if last.Kind != logic.Var || bound[last.Name] {
				return fmt.Errorf("'%v' may drop messages", l)
			}
			bound[last.Name] = true
			if i < len(added)-1 {
				return fmt.Errorf("'%v' may drop messages", l)
			}
		default:
			return fmt.Errorf("'%v' may drop messages", l)
		}
	}
	f := added[len(added)-1].Atom
	if f == nil || len(f.Args) != 3 || new.Dest.Kind != logic.Var || new.Dest.Name != f.Args[2].Name {
		return fmt.Errorf("its destination does not come from a forwarding relation")
	}
	if err := forwards(after, f.Relation, []string{to.Name}, to, c.Partitions); err != nil {
		return err
	}
	e := known(new, nil)
	if e.norm(text(f.Args[0])) != e.norm(text(old.Dest)) {
		return fmt.Errorf("it does not look up the old destination")
	}
	k := c.Keys[old.Head.Relation.Name]
	want := e.norm("hash(" + function(k.Func, text(old.Head.Args[k.Column].Term)) + ")")
	for _, l := range added {
		if a := l.Assign; a != nil && f.Args[1].Kind == logic.Var && a.Var == f.Args[1].Name && a.Term.Kind == logic.Call && a.Term.Name == "%" &&
			a.Term.Args[1].Kind == logic.Const && a.Term.Args[1].Value.Num == uint64(c.Partitions) && e.norm(text(a.Term.Args[0])) == want {
			return nil
		}
	}
	return fmt.Errorf("it does not compute the partition from the key")
}

// total reports whether a term has a value for all values of its variables.
func total(p *logic.Program, t *logic.Term) bool {
	if t.Kind != logic.Call {
		return true
	}
	for _, a := range t.Args {
		if !total(p, a) {
			return false
		}
	}
	if f := p.Function(t.Name); f != nil {
		return f.Body != nil && total(p, f.Body)
	}
	if t.Name == "/" || t.Name == "%" {
		by := t.Args[1]
		return by.Kind == logic.Const && by.Value.Num != 0
	}
	return true
}
