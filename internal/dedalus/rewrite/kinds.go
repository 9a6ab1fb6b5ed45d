// SPDX-License-Identifier: Apache-2.0

package rewrite

// Kinds returns all rewrites, in the order in which a search tries them: those that need less
// coordination first.
func Kinds() []Kind {
	kinds := make([]Kind, len(kindNames))
	for i := range kinds {
		kinds[i] = Kind(i)
	}
	return kinds
}

// Divides reports whether a rewrite divides a component by keys among several machines. The
// others move rules to a new component.
func (k Kind) Divides() bool { return k.divides() }

// Whole reports whether a rewrite moves all rules of a component: its steps name none.
func (k Kind) Whole() bool { return k == Relay }
