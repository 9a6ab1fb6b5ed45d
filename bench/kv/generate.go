// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"math/bits"
)

// source is splitmix64: small, and the same forever on every machine.
type source struct{ state uint64 }

// newSource makes a source from parts that together name one stream.
func newSource(parts ...uint64) *source {
	s := &source{state: 0x6a09e667f3bcc909}
	for _, p := range parts {
		s.state = mix(s.state ^ mix(p+0x9e3779b97f4a7c15))
	}
	return s
}

func (s *source) next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	return mix(s.state)
}

// below is uniform in [0, n). The bias of the multiplication is below n/2^64.
func (s *source) below(n uint64) uint64 {
	hi, _ := bits.Mul64(s.next(), n)
	return hi
}

// unit is uniform in [0, 1).
func (s *source) unit() float64 { return float64(s.next()>>11) / (1 << 53) }

// zipfian draws ranks in [0, n): rank r with a probability in proportion to
// 1/(r+1)^theta, by the approximation of Gray et al. (SIGMOD 1994) that YCSB
// uses. It is over n ranks, and not over ten thousand million of them taken
// modulo n as YCSB's scrambled generator is: that one makes a third of all
// draws uniform, which says little about caches.
type zipfian struct {
	n                 uint64
	theta, zetan      float64
	alpha, eta, half2 float64
}

const zipfTheta = 0.99

func newZipfian(n uint64) *zipfian {
	z := &zipfian{n: n, theta: zipfTheta}
	for i := n; i >= 1; i-- { // the small terms first: less is rounded away
		z.zetan += math.Pow(float64(i), -zipfTheta)
	}
	z.half2 = 1 + math.Pow(0.5, zipfTheta)
	z.alpha = 1 / (1 - zipfTheta)
	z.eta = (1 - math.Pow(2/float64(n), 1-zipfTheta)) / (1 - z.half2/z.zetan)
	return z
}

func (z *zipfian) rank(s *source) uint64 {
	u := s.unit()
	uz := u * z.zetan
	switch {
	case uz < 1:
		return 0
	case uz < z.half2:
		return min(1, z.n-1)
	}
	// The conversion keeps the product from being fused with the sum, which
	// would round otherwise on some machines.
	base := float64(z.eta*u) - z.eta + 1
	return min(uint64(float64(z.n)*math.Pow(base, z.alpha)), z.n-1)
}

// scramble is a bijection of [0, n): popular records are spread over all that
// were inserted. It walks the cycle of a bijection of the next power of two
// until it is back inside.
func scramble(x, n uint64) uint64 {
	if n < 2 {
		return 0
	}
	width := bits.Len64(n - 1)
	mask := uint64(1)<<width - 1
	shift := max(1, width/2)
	for {
		x = (x + 0x9e3779b97f4a7c15) & mask
		for _, k := range [...]uint64{0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0xd6e8feb86659fd93} {
			x ^= x >> shift
			x = x * k & mask
		}
		x ^= x >> shift
		if x < n {
			return x
		}
	}
}

// picks is the way records are chosen.
type picks uint8

const (
	pickUniform picks = iota
	pickZipfian
	pickLatest // Zipfian from the newest record backwards
)

// chooser chooses records for one client.
type chooser struct {
	how     picks
	source  *source
	zipf    *zipfian // nil for pickUniform; shared by the clients
	records uint64   // those of the start of the phase
	own     []uint64 // inserted by this client since, oldest first
}

func (c *chooser) record() uint64 {
	switch c.how {
	case pickZipfian:
		return scramble(c.zipf.rank(c.source), c.records)
	case pickLatest:
		back := c.zipf.rank(c.source)
		if n := uint64(len(c.own)); back < n {
			return c.own[n-1-back]
		} else {
			return c.records - 1 - min(back-n, c.records-1)
		}
	}
	return c.source.below(c.records)
}
