// SPDX-License-Identifier: Apache-2.0

package live

import "math/bits"

// nodeSet is a set of nodes of a product, which numbers its elements.
type nodeSet struct {
	bits []uint64
	rank []uint32 // of the elements before each group of words, after count
}

const rankWords = 8

func newNodeSet(n uint32) *nodeSet { return &nodeSet{bits: make([]uint64, (n+63)/64)} }

// nodeSetBytes is the size of a set of n nodes.
func nodeSetBytes(n int64) int64 { return n/8 + n/(64*rankWords)*4 }

func (s *nodeSet) has(n uint32) bool { return s.bits[n/64]>>(n%64)&1 == 1 }
func (s *nodeSet) add(n uint32)      { s.bits[n/64] |= 1 << (n % 64) }
func (s *nodeSet) remove(n uint32)   { s.bits[n/64] &^= 1 << (n % 64) }

// count prepares place, after the last change.
func (s *nodeSet) count() {
	sum := uint32(0)
	for i, w := range s.bits {
		if i%rankWords == 0 {
			s.rank = append(s.rank, sum)
		}
		sum += uint32(bits.OnesCount64(w))
	}
}

// place is the number of elements less than n.
func (s *nodeSet) place(n uint32) uint32 {
	w := n / 64
	if int(w) == len(s.bits) {
		w-- // after the last node
		return s.place(w*64) + uint32(bits.OnesCount64(s.bits[w]))
	}
	p := s.rank[w/rankWords]
	for i := w / rankWords * rankWords; i < w; i++ {
		p += uint32(bits.OnesCount64(s.bits[i]))
	}
	return p + uint32(bits.OnesCount64(s.bits[w]&(1<<(n%64)-1)))
}
