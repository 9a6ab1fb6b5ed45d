// SPDX-License-Identifier: Apache-2.0

package memtable

// Pairs are sorted by radix from the last byte of the prefix to the first,
// which is stable: pairs come in with the newest first, and so equal keys stay.
// The class is one more byte behind the prefix. Where keys share a prefix and
// continue after it, their group is sorted by the next bytes in the same way.
// Bytes that are the same in all pairs cost no pass.

const (
	// Fewer pairs are sorted by insertion.
	radixMin    = 48
	radixDigits = 9 // the class and the 8 bytes of the prefix
)

type sorter struct {
	arena arena
	count [radixDigits][256]uint32
}

// sort sorts radixMin pairs or more, whose prefixes are those from depth on.
// scratch is as long.
func (s *sorter) sort(pairs, scratch []uint64, depth int) {
	s.radix(pairs, scratch)
	for lo := 0; lo < len(pairs); {
		prefix, rest := pairs[lo], pairs[lo+1]
		hi := lo + pairWords
		for hi < len(pairs) && pairs[hi] == prefix && pairClass(pairs[hi+1]) == pairClass(rest) {
			hi += pairWords
		}
		if pairClass(rest) == classLonger && hi-lo > pairWords {
			s.group(pairs[lo:hi], scratch[lo:hi], depth)
		}
		lo = hi
	}
}

// group sorts pairs with the same prefix whose keys continue after it.
func (s *sorter) group(pairs, scratch []uint64, depth int) {
	if len(pairs) < radixMin*pairWords {
		s.insert(pairs, depth)
		return
	}
	prefix, deeper := pairs[0], depth+8
	first := s.arena.key(pairPos(pairs[1]))[deeper:]
	common := len(first)
	for i := pairWords; i < len(pairs) && common > 0; i += pairWords {
		common = commonPrefix(first[:common], s.arena.key(pairPos(pairs[i+1]))[deeper:])
	}
	deeper += common
	for i := 0; i < len(pairs); i += pairWords {
		p := pairPos(pairs[i+1])
		pairs[i], pairs[i+1] = pair(s.arena.key(p), deeper, p)
	}
	s.sort(pairs, scratch, deeper)
	for i := 0; i < len(pairs); i += pairWords {
		pairs[i], pairs[i+1] = prefix, classLonger<<32|uint64(pairPos(pairs[i+1]))
	}
}

// insert sorts by insertion.
func (s *sorter) insert(pairs []uint64, depth int) {
	for i := pairWords; i < len(pairs); i += pairWords {
		p, r := pairs[i], pairs[i+1]
		j := i
		for j > 0 && s.arena.before(p, r, pairs[j-2], pairs[j-1], depth) {
			pairs[j], pairs[j+1] = pairs[j-2], pairs[j-1]
			j -= pairWords
		}
		pairs[j], pairs[j+1] = p, r
	}
}

// radix sorts by prefix and class.
func (s *sorter) radix(pairs, scratch []uint64) {
	clear(s.count[:])
	for i := 0; i < len(pairs); i += pairWords {
		p := pairs[i]
		s.count[0][byte(pairClass(pairs[i+1]))]++
		s.count[1][byte(p)]++
		s.count[2][byte(p>>8)]++
		s.count[3][byte(p>>16)]++
		s.count[4][byte(p>>24)]++
		s.count[5][byte(p>>32)]++
		s.count[6][byte(p>>40)]++
		s.count[7][byte(p>>48)]++
		s.count[8][byte(p>>56)]++
	}
	from, to := pairs, scratch
	for digit := range s.count {
		count := &s.count[digit]
		word, shift := 0, (digit-1)*8
		if digit == 0 {
			word, shift = 1, 32
		}
		if int(count[byte(from[word]>>shift)])*pairWords == len(pairs) {
			continue
		}
		sum := uint32(0)
		for i, n := range count {
			count[i] = sum
			sum += n
		}
		for i := 0; i+1 < len(from); i += pairWords {
			d := byte(from[i+word] >> (shift & 63))
			o := count[d] * pairWords
			count[d]++
			to[o], to[o+1] = from[i], from[i+1]
		}
		from, to = to, from
	}
	if &from[0] != &pairs[0] {
		copy(pairs, from)
	}
}
