// SPDX-License-Identifier: Apache-2.0

package rewrite

// Kinds are all rewrites, in the order in which a search tries them: those that ask
// for less coordination first.
func Kinds() []Kind {
	kinds := make([]Kind, len(kindNames))
	for i := range kinds {
		kinds[i] = Kind(i)
	}
	return kinds
}

// Divides reports whether a rewrite divides a component by keys among several machines. The
// others move rules of one to a component of their own.
func (k Kind) Divides() bool { return k.divides() }

// Whole reports whether a rewrite moves all rules of a component: its steps name none.
func (k Kind) Whole() bool { return k == Relay }
