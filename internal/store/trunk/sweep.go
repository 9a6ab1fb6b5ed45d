// SPDX-License-Identifier: Apache-2.0

package trunk

import (
	"bytes"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// Space that overwritten and deleted messages take comes back when merges drop them.
// Of a branch that several pivots share, nothing comes back before the last of
// them has merged its part. So one merge gives back hardly anything, and a sweep does: the
// merges of all pivots that hold newer messages, those with the oldest branch first.
//
// The cost of a sweep is what its merges write, its gain what is dead now. Of a store with
// L live bytes, let a sweep write c L bytes, each time s L bytes are dead. Where each newer byte
// makes about one dead, it writes c/s bytes for each, and the store takes (1+s) L at
// most. If one more byte written for each is as bad as L/worth more space, s = sqrt(c/worth) is
// best: where few partitions are overwritten (c is small), space is kept tight, and where a
// sweep must write everything again, and the newer messages as well, s is 0.64.
const (
	// sweepWorth is worth above.
	sweepWorth = 4.0
	// sweepShare is the ratio of newer to base bytes from which a sweep merges a
	// partition into its base. Below, it only writes the newer messages once more,
	// to a branch of the partition's own.
	sweepShare = 0.25
	// deadMost bounds the estimate of dead bytes per newer byte.
	deadMost = 8.0
)

// yields estimates how many bytes a newer byte makes dead, from the merges at the bottom
// so far. Those of long ago count less.
type yields struct {
	newer, dead float64
}

// add counts a merge that read that many newer bytes and dropped that many dead bytes: a
// negative number if its estimate was too low, so that the errors of many merges cancel
// out. Results older than the last window newer bytes are forgotten.
func (y *yields) add(newer, dead, window int64) {
	if newer <= 0 {
		return
	}
	keep := max(0, 1-float64(newer)/float64(max(window, 1)))
	y.newer = y.newer*keep + float64(newer)
	y.dead = y.dead*keep + float64(dead)
}

// rate is the estimate: dead bytes per newer byte; 0: none is known.
func (y *yields) rate() float64 {
	if y.newer == 0 {
		return 0
	}
	return min(max(y.dead/y.newer, 0), deadMost)
}

// learn takes note of what a merge at the bottom has left out.
func (t *Trunk) learn(j *Job, outputs []*Branch) {
	if !j.Bottom || len(j.Covered) > 0 {
		return
	}
	var newer, read, written int64
	for _, r := range j.Inputs {
		read += r.Bytes
		if !r.Base {
			newer += r.Bytes
		}
	}
	for _, b := range outputs {
		written += int64(b.Meta.Bytes)
	}
	t.yields.add(newer, read-written, t.held)
}

// Space is what a tree takes, in bytes of its branches.
type Space struct {
	// Held is in branches; Live of it is estimated to be needed.
	Held, Live int64
	// Cost is what a sweep would write.
	Cost int64
}

// weight is how far a sweep is worth its cost: from 1 on it is.
func (s Space) weight() float64 {
	dead := float64(s.Held - s.Live)
	if dead <= 0 || s.Cost <= 0 {
		return 0
	}
	return sweepWorth * dead * dead / (float64(s.Cost) * float64(s.Live))
}

// sweep is the space that the tree takes, and the merge with which a sweep goes on;
// nil: there is none that may be made.
func (t *Trunk) sweep(policy Policy) (Space, *Job) {
	var next *Job
	var age message.Seq
	var all, newer int64
	s := Space{Held: t.held}
	t.root.Walk(func(n *Node, i int, lo, hi []byte) {
		p := &n.Pivots[i]
		var delta, base int64
		deltas, shared := 0, false
		for k, r := range p.Refs {
			all += r.Bytes
			if r.Base {
				base += r.Bytes
				continue
			}
			delta += r.Bytes
			deltas = k + 1
			shared = shared || r.Branch.reaches(lo, hi)
		}
		newer += delta
		j := &Job{Level: n.Level, Lo: lo, Hi: hi, Inputs: p.Refs[:deltas], Parts: 1}
		switch {
		case n.Level == 0 && (base == 0 && deltas > 0 || float64(delta) >= sweepShare*float64(base) && delta > 0):
			j.Inputs, j.Bottom, j.Parts = p.Refs, true, t.parts(delta+base)
			s.Cost += delta + base
		case !shared:
			return // it gives back nothing
		case n.Level > 0 && 4*delta >= t.leaf():
			j.Flush = true
			s.Cost += delta
		default:
			s.Cost += delta
		}
		oldest := p.Refs[deltas-1].Branch.Meta.MaxSeq
		if (next == nil || oldest < age) && !policy.refuses(n.Level, lo, j) {
			next, age = j, oldest
		}
	})
	s.Live = max(all-int64(t.yields.rate()*float64(newer)), all/8, 1)
	return s, next
}

// reaches reports whether the branch has something outside of [lo, hi), or had when it was
// written: others may have merged that since, but its pages are still in use. What a merge
// of the pivot writes does not reach beyond it, so that a sweep comes to an end.
func (b *Branch) reaches(lo, hi []byte) bool {
	if bytes.Compare(b.Meta.Lo, lo) < 0 {
		return true
	}
	if hi == nil {
		return false
	}
	above := bytes.Compare(b.Meta.Hi, hi)
	return above > 0 || above == 0 && b.tombstones == 0 // the bound of a range delete
}

// refuses reports that a job is not to be done.
func (p *Policy) refuses(level int, lo []byte, j *Job) bool {
	return p.Busy != nil && p.Busy(level, lo) || !j.Flush && (p.skips(j) || p.Tight && !j.Bottom)
}

// Space is the space that the tree takes.
func (t *Trunk) Space() Space {
	s, _ := t.sweep(Policy{})
	return s
}
