// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Claim describes a rewrite: what it is supposed to have done.
type Claim struct {
	// Kind is one of the names in kinds.
	Kind string
	// Component is the component that was rewritten.
	Component string
	// Moved lists the indexes, from 0, of the rules that became the component
	// Name.
	Moved []int
	Name  string
	// Partitions is the number of parts of a partitioning. Keys and
	// Dependencies are, for each relation, the key that divides it and the
	// dependencies on which the partitioning rests.
	Partitions   int
	Keys         map[string]Key
	Dependencies map[string][]Dependency
	// Partial holds the further claims of a partial partitioning.
	Partial *Partial
	// Assuming lists the author's assertions on which the rewrite rests.
	Assuming []logic.Assumption
}

// Key is a column of a relation, or a function of it.
type Key struct {
	Column int
	Func   string
}

// Dependency states that in every fact column To is Func of column From. An empty Func
// states that the columns are equal.
type Dependency struct {
	From, To int
	Func     string
}

// Check returns an error that states how the programs differ from the claim, or nil.
func Check(before, after *logic.Program, c Claim) error {
	if err := after.Validate(); err != nil {
		return fmt.Errorf("the program after the step is malformed: %w", err)
	}
	from := before.Component(c.Component)
	if from == nil {
		return fmt.Errorf("the program has no component %s", c.Component)
	}
	if from.Partitions != 1 {
		return fmt.Errorf("component %s is partitioned already", c.Component)
	}
	if !slices.EqualFunc(before.Functions, after.Functions, func(a, b *logic.Function) bool { return exactFunction(a) == exactFunction(b) }) {
		return fmt.Errorf("the step changes functions")
	}
	if !slices.EqualFunc(before.Assumptions, after.Assumptions, func(a, b logic.Assumption) bool { return a.Kind == b.Kind && a.Relation == b.Relation }) {
		return fmt.Errorf("the step changes assumptions")
	}
	for _, r := range before.Relations {
		if err := dependable(r); err != nil {
			return err
		}
		if s := after.Find(r.Name); s == nil || exactRelation(s) != exactRelation(r) {
			return fmt.Errorf("the step changes or drops relation %s", r.Name)
		}
	}
	if err := newNodes(before, after); err != nil {
		return err
	}
	check, ok := kinds()[c.Kind]
	if !ok {
		return fmt.Errorf("unknown rewrite %q", c.Kind)
	}
	return check(before, after, from, c)
}

// dependable checks that the facts of a static relation satisfy the dependencies that it
// declares, because partitionings depend on them.
func dependable(r *logic.Relation) error {
	for _, d := range r.Dependencies {
		for i, row := range r.Facts {
			for _, other := range r.Facts[:i] {
				same := !slices.ContainsFunc(d.From, func(c int) bool { return row[c].Compare(other[c]) != 0 })
				if same && row[d.To].Compare(other[d.To]) != 0 {
					return fmt.Errorf("the facts of %s violate a dependency that it declares: %v and %v differ in column %d", r.Name, other, row, d.To)
				}
			}
		}
	}
	return nil
}

// kinds returns the rewrites that can be checked, each with its own check. Check does what
// all of them have in common.
func kinds() map[string]func(before, after *logic.Program, from *logic.Component, c Claim) error {
	return map[string]func(before, after *logic.Program, from *logic.Component, c Claim) error{
		"mutual":       decouplingBy((*halves).mutual),
		"functional":   decouplingBy((*halves).functional),
		"monotonic":    decouplingBy((*halves).monotonic),
		"statemachine": checkStateMachine,
		"asymmetric":   checkAsymmetric,
		"partition":    checkPartition,
		"partial":      checkPartial,
		"relay":        checkRelay,
	}
}

// node returns the name of an instance of a component.
func node(component string, i int) string { return fmt.Sprintf("%s/%d", component, i) }

// forwards checks the facts of a forwarding relation: from each node of the known
// components it leads to an instance of to (one for each part), and from each node of any
// other component to that node itself.
func forwards(after *logic.Program, f *logic.Relation, known []string, to *logic.Component, parts int) error {
	if f == nil || f.Kind != logic.Static || f.Facts == nil || f.Nodes != "" || f.Size != "" || f.Merges() || len(f.Dependencies) > 0 {
		return fmt.Errorf("a rule should use a forwarding relation to %s, and uses none", to.Name)
	}
	want := map[string]bool{}
	add := func(from, to string, part int) {
		if parts > 1 {
			want[fmt.Sprintf("%s %d %s", from, part, to)] = true
		} else {
			want[from+" "+to] = true
		}
	}
	is := map[string]bool{to.Name: true}
	for _, k := range known {
		is[k] = true
		for i := range to.Instances {
			for p := range parts {
				add(node(k, i), node(to.Name, i*parts+p), p)
			}
		}
	}
	for _, o := range after.Components {
		for i := 0; !is[o.Name] && i < o.Instances*o.Partitions; i++ {
			for p := range parts {
				add(node(o.Name, i), node(o.Name, i), p)
			}
		}
	}
	for _, row := range f.Facts {
		text := row[0].Str
		for _, v := range row[1 : len(row)-1] {
			text += fmt.Sprintf(" %d", v.Num)
		}
		text += " " + row[len(row)-1].Str
		if !want[text] {
			return fmt.Errorf("the forwarding relation %s has a wrong fact: %s", f.Name, text)
		}
		delete(want, text)
	}
	for text := range want {
		return fmt.Errorf("the forwarding relation %s lacks a fact: %s", f.Name, text)
	}
	return nil
}
