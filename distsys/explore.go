// SPDX-License-Identifier: Apache-2.0

package distsys

import "github.com/ashlar-dev/ashlar/env"

// How choices are made
//
// The choices of a section form a tree: Choose is called for a branch point,
// and the next call depends on the result. One step explores that tree depth
// first, deepest choice first, until a combination is not blocked. Fairness
// comes from where the exploration of a branch point starts: each branch point
// remembers, across steps, the choice with which a section last committed and
// starts at the next one. So a branch point whose set stays the same takes its
// enabled branches in turn. A set that changes from visit to visit could stay
// in phase with that (for example be large only on odd turns), so now and then
// the start is drawn at random, as on the first visit: whatever the sets do, a
// branch that stays enabled is taken with probability one.
//
// A branch point is identified by a hash of its label and the earlier choices
// of the step. It is remembered in a small table in which many branch points
// share a slot: one that finds another in its slot starts at random, like an
// unknown one.

const (
	turnSlots = 1 << turnBits // per label with choices
	turnBits  = 6
	// jumpEvery is the average number of branch points between two that start
	// at random.
	jumpEvery = 16
	// exploreMax bounds the combinations tried without a pause. Beyond it the
	// instance pauses as for a conflict, and then starts at another
	// combination.
	exploreMax = 1 << 16
)

// explorer makes the choices of one instance.
type explorer struct {
	path  []choice // of the attempt before, then of this one
	depth int      // choices made in this attempt
	tried int      // attempts since reset
	turns map[Label]*[turnSlots]turn
	rng   env.Random
}

// turn is where the exploration of a branch point starts next.
type turn struct {
	point uint64
	next  int
}

type choice struct {
	n     int    // branches
	start int    // the first tried
	off   int    // how many were tried and given up
	point uint64 // which branch point it is
}

func (c choice) taken() int { return (c.start + c.off) % c.n }

// reset forgets the attempts of the previous step.
func (e *explorer) reset() { e.path, e.depth, e.tried = e.path[:0], 0, 0 }

// begin starts an attempt.
func (e *explorer) begin() { e.depth = 0 }

// choose returns a branch of a branch point with n > 0 branches. It returns -1
// if the set has shrunk so much that the branch to try no longer exists.
func (e *explorer) choose(pc Label, n int) int {
	d := e.depth
	e.depth++
	if d < len(e.path) {
		c := &e.path[d]
		if c.n != n {
			if c.off >= n {
				e.path = e.path[:d+1]
				return -1
			}
			c.n = n
		}
		return c.taken()
	}
	point := uint64(1)
	if d > 0 {
		up := e.path[d-1]
		point = (up.point ^ uint64(up.taken()+1)) * 0x9e3779b97f4a7c15
		point ^= point >> 32
	}
	c := choice{n: n, start: e.start(pc, point, n), point: point}
	e.path = append(e.path, c)
	return c.taken()
}

func slot(point uint64) uint64 { return point * 0x9e3779b97f4a7c15 >> (64 - turnBits) }

// start is where the exploration of a branch point begins.
func (e *explorer) start(pc Label, point uint64, n int) int {
	if n == 1 {
		return 0
	}
	if turns := e.turns[pc]; turns != nil {
		if t := &turns[slot(point)]; t.point == point && env.IntN(e.rng, jumpEvery) != 0 {
			return t.next % n
		}
	}
	return env.IntN(e.rng, n)
}

// advance moves to the next combination after a blocked attempt and reports
// whether there is one.
func (e *explorer) advance() bool {
	e.tried++
	// Choices deeper than this attempt reached were made under conditions that
	// no longer hold.
	if e.depth < len(e.path) {
		e.path = e.path[:e.depth]
	}
	for len(e.path) > 0 {
		c := &e.path[len(e.path)-1]
		if c.off++; c.off < c.n {
			return true
		}
		e.path = e.path[:len(e.path)-1]
	}
	return false
}

// commit remembers the choices of the section that committed.
func (e *explorer) commit(pc Label) {
	if e.depth == 0 {
		return
	}
	if e.turns == nil {
		e.turns = map[Label]*[turnSlots]turn{}
	}
	turns := e.turns[pc]
	if turns == nil {
		turns = new([turnSlots]turn)
		e.turns[pc] = turns
	}
	for _, c := range e.path[:min(e.depth, len(e.path))] {
		if c.n > 1 {
			turns[slot(c.point)] = turn{c.point, c.taken() + 1}
		}
	}
}
