package eval

import "github.com/ashlar-dev/ashlar/tla/value"

// random is a sequence of numbers that is determined by its seed (splitmix64).
type random struct{ state uint64 }

func newRandom(seed, stream uint64) *random {
	r := &random{state: seed ^ stream*0x9e3779b97f4a7c15}
	r.next()
	return r
}

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below is a number from 0 up to but not including n, which is positive.
func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// element draws an element of a set that is not empty.
func (r *random) element(set value.Value) value.Value {
	elems := set.Elems()
	if len(elems) == 0 {
		value.Fail("RandomElement of the empty set")
	}
	return elems[r.below(len(elems))]
}

// subset draws a subset of k elements.
func (r *random) subset(k int, from []value.Value) value.Value {
	if k < 0 || k > len(from) {
		value.Fail("a subset of %d elements of a set of %d does not exist", k, len(from))
	}
	left := append([]value.Value(nil), from...)
	for i := range k {
		j := i + r.below(len(left)-i)
		left[i], left[j] = left[j], left[i]
	}
	return value.SetOf(left[:k:k])
}
