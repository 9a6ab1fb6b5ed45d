// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/ashlar-dev/ashlar/env"

// happening is the action of an event. The same happening may be scheduled more
// than once.
type happening interface {
	// idle reports whether there is nothing left to do.
	idle() bool
	// happen performs it. Calls into a node must be its last step: a crash may
	// unwind them.
	happen()
}

// event is a happening at a time. The seed draws the order of events of one
// instant; n is the number of the event and orders those with equal draws.
type event struct {
	at   env.Instant
	tie  uint32
	n    uint32
	life *Life // whose; nil: of the world
	what happening
}

func (e *event) before(f *event) bool {
	if e.at != f.at {
		return e.at < f.at
	}
	if e.tie != f.tie {
		return e.tie < f.tie
	}
	return e.n < f.n
}

// agenda is a heap of events with four children per node: it is half as deep as
// a binary heap, and siblings share a cache line or two.
type agenda []event

func (a *agenda) push(e event) {
	h := append(*a, e)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
	*a = h
}

func (a *agenda) pop() event {
	h := *a
	top := h[0]
	last := h[len(h)-1]
	h[len(h)-1] = event{}
	h = h[:len(h)-1]
	*a = h
	if len(h) == 0 {
		return top
	}
	i := 0
	for {
		first := 4*i + 1
		if first >= len(h) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(h)); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&last) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = last
	return top
}
