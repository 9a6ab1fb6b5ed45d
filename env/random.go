// SPDX-License-Identifier: Apache-2.0

package env

import (
	"hash/fnv"
	"math/bits"
	"time"
)

// Random is a source of random numbers for one owner: it is not safe for
// concurrent use. All random numbers of a run derive from one seed.
type Random interface {
	Uint64() uint64
	// Split returns an independent source that is determined by this one's
	// state and the label, so that a new use of one stream does not change what
	// the others draw.
	Split(label string) Random
}

// Seeded returns the deterministic source for the seed (xoshiro256**,
// initialized by SplitMix64). It is not fit for secrets.
func Seeded(seed uint64) Random {
	x := &xoshiro{}
	for i := range x.s {
		seed += 0x9e3779b97f4a7c15
		z := seed
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		x.s[i] = z ^ z>>31
	}
	return x
}

type xoshiro struct{ s [4]uint64 }

func (x *xoshiro) Uint64() uint64 {
	s := &x.s
	out := bits.RotateLeft64(s[1]*5, 7) * 9
	t := s[1] << 17
	s[2] ^= s[0]
	s[3] ^= s[1]
	s[1] ^= s[2]
	s[0] ^= s[3]
	s[2] ^= t
	s[3] = bits.RotateLeft64(s[3], 45)
	return out
}

func (x *xoshiro) Split(label string) Random {
	h := fnv.New64a()
	h.Write([]byte(label))
	return Seeded(x.Uint64() ^ h.Sum64())
}

// IntN returns a number in 0..n-1, without bias. It panics if n <= 0.
func IntN(r Random, n int) int {
	if n <= 0 {
		panic("env.IntN: n must be positive")
	}
	// Lemire's multiplication: reject the few low products that would favour
	// some results.
	m := uint64(n)
	hi, lo := bits.Mul64(r.Uint64(), m)
	if lo < m {
		for floor := -m % m; lo < floor; {
			hi, lo = bits.Mul64(r.Uint64(), m)
		}
	}
	return int(hi)
}

// Backoff yields growing waits with jitter. Min and Max must be set: the zero
// Backoff is not usable.
type Backoff struct {
	Min, Max time.Duration
	tries    int
}

// Next returns a wait drawn from the upper half of Min, 2*Min, 4*Min, ... Max.
func (b *Backoff) Next(r Random) time.Duration {
	d := b.Max
	if b.tries < 32 && b.Min<<b.tries < b.Max {
		d = b.Min << b.tries
	}
	b.tries++
	if d < 2 {
		return d
	}
	return d/2 + time.Duration(IntN(r, int(d-d/2)))
}

// Reset starts again from Min.
func (b *Backoff) Reset() { b.tries = 0 }
