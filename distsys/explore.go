package distsys

import "github.com/ashlar-dev/ashlar/env"

// How choices are made
//
// The choices of a section form a tree: Choose is called for a branch point,
// and what is called next depends on the answer. One step explores that tree
// depth first, deepest choice first, until a combination is not blocked. Where
// the exploration of a branch point starts is what makes it fair: each branch
// point remembers, across steps, the choice with which a section last
// committed and starts at the one behind it. So a branch point whose set stays
// the same takes its enabled branches in turn. A set that changes from visit
// to visit could beat in time with that (always at an odd turn when it is
// large), so now and then the start is drawn at random, as it is on the first
// visit: whatever the sets do, a branch that stays enabled is taken with
// probability one.
//
// A branch point is known by its label and the choices before it in the step.
// It is remembered in a small table indexed by a hash of those; two branch
// points that meet in a slot disturb each other's turn, which the random
// starts make up for.

const (
	turnSlots = 64 // per label with choices; a power of two
	// jumpEvery is how many branch points, on average, start at random once.
	jumpEvery = 16
	// exploreMax bounds the combinations tried in one go. Beyond it the
	// instance pauses as for a conflict and starts again elsewhere.
	exploreMax = 1 << 16
)

// explorer makes the choices of one instance.
type explorer struct {
	path  []choice // of the attempt before, then of this one
	depth int      // choices made in this attempt
	tried int      // attempts since reset
	turns map[Label]*[turnSlots]uint32
	rng   env.Random
}

type choice struct {
	n     int    // branches
	start int    // the first tried
	off   int    // how many were tried and given up
	slot  uint32 // in the turn table
}

func (c choice) taken() int { return (c.start + c.off) % c.n }

// reset forgets the attempts of the step before.
func (e *explorer) reset() { e.path, e.depth, e.tried = e.path[:0], 0, 0 }

// begin starts an attempt.
func (e *explorer) begin() { e.depth = 0 }

// choose answers a branch point with n > 0 branches, or -1 where a set has
// become so small that the branch to be tried is gone.
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
	slot := uint32(2166136261)
	if d > 0 {
		up := e.path[d-1]
		slot = (up.slot ^ uint32(up.taken()+1)) * 16777619
	}
	c := choice{n: n, start: e.start(pc, slot, n), slot: slot}
	e.path = append(e.path, c)
	return c.taken()
}

// start is where the exploration of a branch point begins.
func (e *explorer) start(pc Label, slot uint32, n int) int {
	if n == 1 {
		return 0
	}
	turns := e.turns[pc]
	if turns != nil {
		if t := turns[slot%turnSlots]; t != 0 && env.IntN(e.rng, jumpEvery) != 0 {
			return int(t-1) % n
		}
	}
	return env.IntN(e.rng, n)
}

// advance goes to the next combination after a blocked attempt and says
// whether there is one.
func (e *explorer) advance() bool {
	e.tried++
	// What lies deeper than this attempt came was reached under conditions
	// that no longer hold.
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
		e.turns = map[Label]*[turnSlots]uint32{}
	}
	turns := e.turns[pc]
	if turns == nil {
		turns = new([turnSlots]uint32)
		e.turns[pc] = turns
	}
	for _, c := range e.path[:min(e.depth, len(e.path))] {
		turns[c.slot%turnSlots] = uint32(c.taken()) + 2 // the next one, plus one for "known"
	}
}
