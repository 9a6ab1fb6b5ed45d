// SPDX-License-Identifier: Apache-2.0

package typed

import "github.com/ashlar-dev/ashlar/tla/value"

// Tail compares a sequence with its previous value: keep is the number of elements
// that they have in common at the beginning, and tail has the elements of s that
// follow, as values. It does not compare elements that they share in memory.
func Tail[T any, K Kind[T]](was, s Seq[T, K]) (keep int, tail []value.Value) {
	var k K
	keep = sharedStart(was.tree, s.tree)
	for most := int(min(was.Len(), s.Len())); keep < most && k.Equal(was.At(int32(keep)+1), s.At(int32(keep)+1)); {
		keep++
	}
	return keep, valuesOf[K](s.Sub(int32(keep)+1, s.Len()))
}

// sharedStart returns a number of elements at the beginning of both trees that are
// in nodes of both.
func sharedStart[T, F any](a, b *node[T, F]) (n int) {
	for {
		switch {
		case a == b:
			return n + a.len()
		case a == nil || b == nil:
			return n
		case a.height > b.height:
			a = a.kids[0].sub
			continue
		case b.height > a.height:
			b = b.kids[0].sub
			continue
		case a.height == 0:
			return n
		}
		i := 0
		for i < min(len(a.kids), len(b.kids)) && a.kids[i].sub == b.kids[i].sub {
			i++
		}
		n += a.start(i)
		if i == min(len(a.kids), len(b.kids)) {
			return n
		}
		a, b = a.kids[i].sub, b.kids[i].sub
	}
}
