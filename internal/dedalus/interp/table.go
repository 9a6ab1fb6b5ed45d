// SPDX-License-Identifier: Apache-2.0

package interp

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// table has the facts of a relation. Facts that differ only in columns with a lattice are
// merged.
type table struct {
	rel  *logic.Relation
	rows map[string][]logic.Value
	// keys are in the order of arrival until sorted is set.
	keys   []string
	sorted bool
}

func newTable(r *logic.Relation) *table {
	return &table{rel: r, rows: map[string][]logic.Value{}}
}

// add adds a row, which the table keeps, and reports whether the table changed.
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

// all calls visit for each row, in the order of their keys, until visit returns false. It may
// miss rows that are added meanwhile.
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

// appendKey appends bytes that only equal tables share.
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
