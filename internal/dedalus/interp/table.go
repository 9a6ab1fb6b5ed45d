// SPDX-License-Identifier: Apache-2.0

package interp

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// table is the facts of a relation. Facts that are equal but for columns with a
// lattice are one.
type table struct {
	rel  *logic.Relation
	rows map[string][]logic.Value
	// keys are in the order in which they came, until sorted.
	keys   []string
	sorted bool
}

func newTable(r *logic.Relation) *table {
	return &table{rel: r, rows: map[string][]logic.Value{}}
}

// add adds a row, which the table keeps, and says whether that changed anything.
func (t *table) add(row []logic.Value) bool {
	var key []byte
	for i, c := range t.rel.Columns {
		if c.Lattice == logic.NoLattice {
			key = row[i].AppendKey(key)
		}
	}
	old, ok := t.rows[string(key)]
	if !ok {
		t.rows[string(key)] = row
		t.keys, t.sorted = append(t.keys, string(key)), false
		return true
	}
	joined, changed := slices.Clone(old), false
	for i, c := range t.rel.Columns {
		if c.Lattice != logic.NoLattice {
			joined[i] = c.Lattice.Join(old[i], row[i])
			changed = changed || joined[i].Compare(old[i]) != 0
		}
	}
	t.rows[string(key)] = joined
	return changed
}

// all calls visit with each row, in the order of their keys, until it answers
// false. Rows that are added meanwhile may be missed.
func (t *table) all(visit func(row []logic.Value) bool) {
	if !t.sorted {
		slices.Sort(t.keys)
		t.sorted = true
	}
	for _, k := range slices.Clone(t.keys) {
		if !visit(t.rows[k]) {
			return
		}
	}
}

// appendKey appends bytes that are equal for equal tables only.
func (t *table) appendKey(b []byte) []byte {
	b = append(b, t.rel.Name...)
	t.all(func(row []logic.Value) bool {
		b = append(b, '(')
		for _, v := range row {
			b = v.AppendKey(b)
		}
		return true
	})
	return append(b, '\n')
}
