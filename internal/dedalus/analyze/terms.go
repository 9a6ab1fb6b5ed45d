// SPDX-License-Identifier: Apache-2.0

package analyze

import (
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// terms has the values that occur in a rule, in classes: two values of one class are equal in
// every instance of the rule. A class consists of variables, constants, and functions of
// classes; functions of equal arguments are equal (congruence closure).
type terms struct {
	parent []int
	text   []string // how a person would write it
	leaves map[string]int
	apps   map[app]int
}

type app struct {
	f   string
	arg int // a class
}

// newTerms computes the classes of a rule, given dependencies of the relations in its body.
func newTerms(r *logic.Rule, deps map[*logic.Relation][]Dependency) *terms {
	n := &terms{leaves: map[string]int{}, apps: map[app]int{}}
	for i := range r.Body {
		n.literal(&r.Body[i], deps)
	}
	return n
}

// class returns the current class of a term.
func (n *terms) class(x int) int {
	for n.parent[x] != x {
		n.parent[x] = n.parent[n.parent[x]]
		x = n.parent[x]
	}
	return x
}

// leaf returns the class of a variable or constant with this name; text is its printed form.
func (n *terms) leaf(name, text string) int {
	x, ok := n.leaves[name]
	if !ok {
		x = n.add(text)
		n.leaves[name] = x
	}
	return n.class(x)
}

func (n *terms) add(text string) int {
	n.parent = append(n.parent, len(n.parent))
	n.text = append(n.text, text)
	return len(n.parent) - 1
}

// apply returns the class of a function of a class; the empty function is the identity.
func (n *terms) apply(f string, x int) int {
	x = n.class(x)
	if f == "" {
		return x
	}
	y, ok := n.apps[app{f, x}]
	if !ok {
		y = n.add(apply(f, n.text[x]))
		n.apps[app{f, x}] = y
	}
	return n.class(y)
}

// equal merges two classes.
func (n *terms) equal(x, y int) {
	x, y = n.class(x), n.class(y)
	if x == y {
		return
	}
	if y < x {
		x, y = y, x
	}
	n.parent[y] = x
	// Functions of y are now functions of x, and may become equal to others. The order in which
	// pairs are merged does not change the result.
	for again := true; again; {
		again = false
		for a, v := range n.apps {
			c := n.class(a.arg)
			if c == a.arg {
				continue
			}
			delete(n.apps, a)
			if w, ok := n.apps[app{a.f, c}]; ok {
				n.equal(v, w)
			} else {
				n.apps[app{a.f, c}] = v
			}
			again = true
			break
		}
	}
}

func (n *terms) literal(l *logic.Literal, deps map[*logic.Relation][]Dependency) {
	same := func(a, b *logic.Term) {
		x, ok := n.term(a)
		y, ok2 := n.term(b)
		if ok && ok2 {
			n.equal(x, y)
		}
	}
	switch {
	case l.Assign != nil:
		same(&logic.Term{Kind: logic.Var, Name: l.Assign.Var}, l.Assign.Term)
	case l.Compare != nil && l.Compare.Op == logic.Equal:
		same(l.Compare.Left, l.Compare.Right)
	case l.Positive():
		args := l.Atom.Args
		if staticFunction(l.Atom.Relation) {
			n.depends(args[0], args[1], staticName(l.Atom.Relation))
		}
		for _, d := range deps[l.Atom.Relation] {
			n.depends(args[d.From], args[d.To], d.Func)
		}
	}
}

func (n *terms) depends(from, to *logic.Term, f string) {
	x, ok := n.term(from)
	y, ok2 := n.term(to)
	if ok && ok2 {
		n.equal(n.apply(f, x), y)
	}
}

// term returns the class of a term, or false for a wildcard and for a function of several
// arguments.
func (n *terms) term(t *logic.Term) (int, bool) {
	switch t.Kind {
	case logic.Var:
		return n.leaf(t.Name, t.Name), true
	case logic.Const:
		// Numbers of different types print alike but hash differently, also in sets.
		return n.leaf("'"+string(t.Value.AppendKey(nil)), "'"+t.Value.String()), true
	case logic.Self:
		return n.leaf("'self", "self"), true
	case logic.Call:
		if len(t.Args) == 1 {
			if x, ok := n.term(t.Args[0]); ok {
				return n.apply(t.Name, x), true
			}
		}
	}
	return 0, false
}

// keeps reports whether the head of a rule satisfies a dependency.
func (n *terms) keeps(r *logic.Rule, d Dependency) bool {
	from, to := r.Head.Args[d.From], r.Head.Args[d.To]
	columns := r.Head.Relation.Columns
	if from.Aggregate != logic.NoAggregate || to.Aggregate != logic.NoAggregate ||
		columns[d.From].Lattice != logic.NoLattice || columns[d.To].Lattice != logic.NoLattice {
		return false
	}
	x, ok := n.term(from.Term)
	y, ok2 := n.term(to.Term)
	return ok && ok2 && n.apply(d.Func, x) == n.class(y)
}

// reaches reports whether class to is class from, or is obtained from it by applying
// functions.
func (n *terms) reaches(from, to int) bool {
	seen := map[int]bool{}
	queue := []int{n.class(from)}
	for len(queue) > 0 {
		x := queue[0]
		queue = queue[1:]
		if x == n.class(to) {
			return true
		}
		for a, v := range n.apps {
			if c := n.class(v); n.class(a.arg) == x && !seen[c] {
				seen[c] = true
				queue = append(queue, c)
			}
		}
	}
	return false
}

func apply(f, x string) string {
	if f == "" {
		return x
	}
	return f + "(" + x + ")"
}
