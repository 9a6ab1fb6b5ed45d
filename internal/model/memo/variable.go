// SPDX-License-Identifier: Apache-2.0

package memo

import "math/bits"

// bytesMax bounds the memory of the tables of one Sites.
const bytesMax = 96 << 20

// Sites has one goroutine's caches for the sites of compiled code, which are numbered.
// For a predicate of one variable, a site stores a small number for each number of the
// variable's value; for an assignment from one variable, the number of the new value;
// for an application, its results. 0 always means that nothing is stored. The zero
// Sites stores nothing.
type Sites struct {
	preds  [][]uint8
	assign [][]uint32
	calls  []calls
	bytes  int
}

// NewSites returns empty caches for the given number of sites.
func NewSites(n int) Sites {
	return Sites{preds: make([][]uint8, n), assign: make([][]uint32, n), calls: make([]calls, n)}
}

// Has reports whether there is a cache for a site. The zero Sites has none.
func (s *Sites) Has(site int) bool { return site < len(s.preds) }

// Pred returns the number that SetPred stored for a value of the variable.
func (s *Sites) Pred(site, id int) uint8 {
	if table := s.preds[site]; id < len(table) {
		return table[id]
	}
	return 0
}

// SetPred stores a number for a value, unless the value has no number (id 0) or the
// memory is used up.
func (s *Sites) SetPred(site, id int, n uint8) {
	if id == 0 || !s.Has(site) {
		return
	}
	table := s.preds[site]
	if id >= len(table) {
		table = grown(s, table, id, 1)
		s.preds[site] = table
		if id >= len(table) {
			return
		}
	}
	table[id] = n
}

// Assigned returns the number that SetAssigned stored for a value of the
// variable.
func (s *Sites) Assigned(site, from int) uint32 {
	if table := s.assign[site]; from < len(table) {
		return table[from]
	}
	return 0
}

// SetAssigned stores a number for a value, unless the memory is used up.
func (s *Sites) SetAssigned(site, from int, n uint32) {
	table := s.assign[site]
	if from >= len(table) {
		const size = 4
		table = grown(s, table, from, size)
		s.assign[site] = table
		if from >= len(table) {
			return
		}
	}
	table[from] = n
}

// grown returns a table with room for index n, or the unchanged table if there
// is no memory left.
func grown[T uint8 | uint32](s *Sites, table []T, n, size int) []T {
	const least = 64
	want := max(least, 1<<bits.Len(uint(n)))
	if s.bytes+(want-len(table))*size > bytesMax {
		return table
	}
	s.bytes += (want - len(table)) * size
	out := make([]T, want)
	copy(out, table)
	return out
}
