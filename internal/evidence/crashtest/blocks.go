// SPDX-License-Identifier: Apache-2.0

package crashtest

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/env"
)

// Access reads or writes some blocks at once. A block is identified by the number from
// which Block makes it. A read returns the numbers that it found.
type Access struct {
	Write   bool
	Addrs   []uint64
	Numbers []uint64 // of a write; if an address occurs twice, they are written in this order
}

// String describes the access briefly.
func (a Access) String() string {
	if a.Write {
		return fmt.Sprintf("write %v at %v", a.Numbers, a.Addrs)
	}
	return fmt.Sprintf("read at %v", a.Addrs)
}

// Atomic is the specification of blocks whose accesses are atomic, and durable when they
// return. Initially the blocks are zero.
func Atomic(blocks int) Spec[[]uint64, Access, []uint64] {
	return Spec[[]uint64, Access, []uint64]{
		Init: make([]uint64, blocks),
		Step: func(s []uint64, a Access, ret *[]uint64) [][]uint64 {
			if !a.Write {
				return only(s, ret == nil || slices.Equal(*ret, a.In(s)))
			}
			return [][]uint64{a.On(s)}
		},
		Key: func(s []uint64) string { return fmt.Sprint(s) },
	}
}

func only[S any](s S, ok bool) []S {
	if ok {
		return []S{s}
	}
	return nil
}

// In returns the numbers that a read finds.
func (a Access) In(s []uint64) []uint64 {
	var found []uint64
	for _, at := range a.Addrs {
		found = append(found, s[at])
	}
	return found
}

// On returns the blocks after a write.
func (a Access) On(s []uint64) []uint64 {
	s = slices.Clone(s)
	for i, at := range a.Addrs {
		s[at] = a.Numbers[i]
	}
	return s
}

// RandomAccess is a read or a write of at least one and at most most blocks. The numbers
// are unique with high probability.
func RandomAccess(r env.Random, blocks, most int) Access {
	a := Access{Write: env.IntN(r, 3) > 0}
	for range 1 + env.IntN(r, most) {
		a.Addrs = append(a.Addrs, uint64(env.IntN(r, blocks)))
		if a.Write {
			a.Numbers = append(a.Numbers, r.Uint64()>>24)
		}
	}
	return a
}

// All reads all blocks, one by one.
func All(blocks int) func(do Do[Access, []uint64]) {
	return func(do Do[Access, []uint64]) {
		for at := range blocks {
			do(Access{Addrs: []uint64{uint64(at)}})
		}
	}
}
