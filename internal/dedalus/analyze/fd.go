// SPDX-License-Identifier: Apache-2.0

package analyze

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Dependency states that, in every fact of a relation, column To is the function
// Func of column From. The empty Func is the identity. A static relation of two
// columns that declares such a dependency is the function "static NAME".
type Dependency struct {
	From, To int
	Func     string
}

func (d Dependency) String() string {
	if d.Func == "" {
		return fmt.Sprintf("%d = %d", d.From, d.To)
	}
	return fmt.Sprintf("%d = %s(%d)", d.To, d.Func, d.From)
}

// functions returns the names of the functions of one argument that the program's
// rules use, and of the static relations that are functions.
func functions(p *logic.Program) []string {
	seen := map[string]bool{}
	for _, c := range p.Components {
		for _, r := range c.Rules {
			for i := range r.Body {
				if a := r.Body[i].Assign; a != nil && a.Term.Kind == logic.Call && len(a.Term.Args) == 1 {
					seen[a.Term.Name] = true
				}
			}
		}
	}
	for _, r := range p.Relations {
		if staticFunction(r) {
			seen[staticName(r)] = true
		}
	}
	var names []string
	for n := range seen {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// staticName returns the function name of a static relation. The prefix keeps it
// apart from declared and built-in functions, one of which may have the relation's
// name.
func staticName(r *logic.Relation) string { return "static " + r.Name }

// staticFunction reports whether a static relation is a function of its first column.
func staticFunction(r *logic.Relation) bool {
	return r.Kind == logic.Static && len(r.Columns) == 2 && slices.ContainsFunc(r.Dependencies, func(d logic.Dependency) bool {
		return d.To == 1 && slices.Equal(d.From, []int{0})
	})
}

// Dependencies finds dependencies between two columns that hold in every fact of
// the derived relations of a program. It starts with all candidates, and removes
// those that some rule does not preserve until nothing changes. Each remaining
// dependency holds in every fact that a rule derives from facts in which the
// dependencies hold (section 4.2 of the paper, with its union and intersection in
// one step).
func Dependencies(p *logic.Program) map[*logic.Relation][]Dependency {
	fns := append([]string{""}, functions(p)...)
	out := map[*logic.Relation][]Dependency{}
	for _, r := range p.Relations {
		if r.Kind != logic.Derived && r.Kind != logic.Output {
			continue
		}
		for from := range r.Columns {
			for to := range r.Columns {
				if r.Columns[from].Lattice != logic.NoLattice || r.Columns[to].Lattice != logic.NoLattice {
					// No rule derives a merged value as such, so no dependency
					// can be claimed for it.
					continue
				}
				for _, f := range fns {
					if from != to && (f != "" || (from < to && r.Columns[from].Type.Equal(r.Columns[to].Type))) {
						out[r] = append(out[r], Dependency{from, to, f})
					}
				}
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, c := range p.Components {
			for _, r := range c.Rules {
				rel := r.Head.Relation
				n := newTerms(r, out)
				kept := slices.DeleteFunc(slices.Clone(out[rel]), func(d Dependency) bool { return !n.keeps(r, d) })
				if len(kept) != len(out[rel]) {
					out[rel], changed = kept, true
				}
			}
		}
	}
	return out
}
