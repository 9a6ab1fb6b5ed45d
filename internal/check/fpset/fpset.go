// SPDX-License-Identifier: Apache-2.0

// Package fpset is the set of states that a search has seen, stored as 64-bit
// fingerprints, so that a state costs a few bytes.
//
// There are two kinds. Seen is that of a search: eight bytes a state, looked up
// without a lock, with a mark that says which piece of work found it (seen.go). In a Set each
// fingerprint carries a claim, a number such as that of its state. If several
// goroutines claim one fingerprint, the lowest claim stays, whatever their order.
//
// A Set is cut into shards by the upper bits of the fingerprint. A shard is
// an open-addressing table with its own lock, its slices hold no pointers, and it
// grows independently: no lock and no pause affects all shards. Two states with the
// same fingerprint count as one; Collision bounds the probability of that.
package fpset

import (
	"math"
	"sync"
)

const (
	shardBits = 8
	shards    = 1 << shardBits
	// slotsMin is the size of a fresh shard's table; sizes are powers of two.
	slotsMin = 16
	// A table grows when more than loadNum/loadDen of its slots are taken.
	loadNum, loadDen = 3, 4
)

// Outcome states what Add did.
type Outcome uint8

// The outcomes of Add.
const (
	Present Outcome = iota // it was there, with a claim that is not higher
	Lowered                // it was there with a higher claim, which is replaced
	Added                  // it was not there
)

// Set is a set of fingerprints with claims, safe for concurrent use. Use New.
type Set struct {
	shard [shards]shard
}

type shard struct {
	mu     sync.Mutex
	slots  []uint64 // fingerprints; 0 is an empty slot
	claims []uint32
	taken  int
	_      [40]byte // its own cache line
}

// New returns an empty set.
func New() *Set {
	s := &Set{}
	for i := range s.shard {
		s.shard[i].slots = make([]uint64, slotsMin)
		s.shard[i].claims = make([]uint32, slotsMin)
	}
	return s
}

// normal maps the fingerprint 0, which marks empty slots, to another.
func normal(fp uint64) uint64 {
	if fp == 0 {
		return 1
	}
	return fp
}

// find returns the slot of fp, or the empty slot where it belongs.
func (h *shard) find(fp uint64) int {
	mask := len(h.slots) - 1
	i := int(fp) & mask
	for h.slots[i] != fp && h.slots[i] != 0 {
		i = (i + 1) & mask
	}
	return i
}

// Add puts the fingerprint into the set with the claim, or lowers the claim of
// the one that is there.
func (s *Set) Add(fp uint64, claim uint32) Outcome {
	fp = normal(fp)
	h := &s.shard[fp>>(64-shardBits)]
	h.mu.Lock()
	i := h.find(fp)
	outcome := Present
	switch {
	case h.slots[i] == 0:
		if (h.taken+1)*loadDen > len(h.slots)*loadNum {
			h.grow()
			i = h.find(fp)
		}
		h.slots[i], h.claims[i] = fp, claim
		h.taken++
		outcome = Added
	case claim < h.claims[i]:
		h.claims[i] = claim
		outcome = Lowered
	}
	h.mu.Unlock()
	return outcome
}

// Claim returns the claim of a fingerprint, and whether it is in the set.
func (s *Set) Claim(fp uint64) (uint32, bool) {
	fp = normal(fp)
	h := &s.shard[fp>>(64-shardBits)]
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.find(fp)
	return h.claims[i], h.slots[i] == fp
}

// grow doubles the table.
func (h *shard) grow() {
	slots, claims := h.slots, h.claims
	h.slots = make([]uint64, 2*len(slots))
	h.claims = make([]uint32, 2*len(slots))
	for i, fp := range slots {
		if fp != 0 {
			j := h.find(fp)
			h.slots[j], h.claims[j] = fp, claims[i]
		}
	}
}

// Len is the number of fingerprints.
func (s *Set) Len() int64 {
	var n int64
	for i := range s.shard {
		h := &s.shard[i]
		h.mu.Lock()
		n += int64(h.taken)
		h.mu.Unlock()
	}
	return n
}

// Bytes is the size of the tables in memory.
func (s *Set) Bytes() int64 {
	var n int64
	for i := range s.shard {
		h := &s.shard[i]
		h.mu.Lock()
		n += int64(len(h.slots)) * 12
		h.mu.Unlock()
	}
	return n
}

// Collision is an upper bound of the probability that among n states two have
// the same fingerprint, if fingerprints are as good as random.
func Collision(n int64) float64 {
	return math.Min(1, float64(n)*float64(max(n-1, 0))/2/math.Exp2(64))
}
