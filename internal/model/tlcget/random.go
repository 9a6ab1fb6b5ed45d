// SPDX-License-Identifier: Apache-2.0

package tlcget

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
