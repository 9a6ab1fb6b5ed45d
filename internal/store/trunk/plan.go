// SPDX-License-Identifier: Apache-2.0

package trunk

import (
	"bytes"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// probeBytes is how many bytes a compaction can merge in the time that a read
// takes to ask one more branch.
const probeBytes = 32 << 10

// paidShare is the ratio of newer to base bytes from which reads may pay for a merge
// while changes come.
const paidShare = 1

// crowdedAlpha is Policy.Alpha at most where branches take too much memory.
const crowdedAlpha = 0.5

// Policy states how eager compaction is.
type Policy struct {
	// Alpha is the ratio of newer bytes to base bytes at which a partition at
	// the bottom is merged: small keeps reads short, large writes less.
	Alpha float64
	// Snapshots reports that a reader may still look at the changes up to Oldest
	// without the later ones, and no reader at fewer. Then range tombstones that
	// are newer hide nothing permanently.
	Snapshots bool
	Oldest    message.Seq
	// Skip reports that a merge is not to be made, however much it is worth; nil:
	// none.
	Skip func(*Job) bool
	// Tight asks only for merges at the bottom, which may use the reserve, and for
	// flushes.
	Tight bool
	// Idle reports that no changes come: there is time to bring range tombstones to the
	// bottom, where they give back what they hide, and to merge whatever reads have
	// paid for.
	Idle bool
	// ManyTombstones reports that range tombstones take more memory than they may. Then
	// bringing them to the bottom comes first, and merges there apply them even if
	// there are snapshots that do not see them.
	ManyTombstones bool
	// Busy reports whether a job is already running on a pivot; nil: none is.
	Busy func(level int, lo []byte) bool
}

// Next is the piece of work that is most worth doing, or nil.
//
// A pivot above the bottom is flushed when it holds enough for each partition below
// to get a piece worth having, and merged when it has too many runs. A partition at
// the bottom is merged into its base by the ratio of newer to base bytes; when it
// has too many small runs, these alone are merged. A sweep over all of them frees
// space (sweep.go). The weight is how far over its limit a pivot or the tree is.
func (t *Trunk) Next(p Policy) *Job {
	var best *Job
	var most float64
	t.root.Walk(func(n *Node, i int, lo, hi []byte) {
		if len(n.Pivots[i].Refs) == 0 || (p.Busy != nil && p.Busy(n.Level, lo)) {
			return
		}
		var j *Job
		var weight float64
		if n.Level > 0 {
			j, weight = t.above(n, i, hi, p)
		} else {
			j, weight = t.bottom(&n.Pivots[i], hi, p)
		}
		if j != nil && weight >= 1 && weight > most && (j.Flush || !p.skips(j) && (j.Bottom || !p.Tight)) {
			best, most = j, weight
		}
	})
	if space, j := t.sweep(p); j != nil && space.weight() >= 1 && space.weight() > most {
		return j
	}
	if best == nil && t.crowded() {
		return t.neighbours(p)
	}
	return best
}

func (p *Policy) skips(j *Job) bool { return p.Skip != nil && p.Skip(j) }

// Debt is how many bytes compactions would have to read for every pivot to be
// within its limits, about.
func (t *Trunk) Debt(p Policy) int64 {
	var sum int64
	t.root.Walk(func(n *Node, i int, lo, hi []byte) {
		if len(n.Pivots[i].Refs) == 0 || n.Level > 0 {
			return
		}
		if j, weight := t.bottom(&n.Pivots[i], hi, p); j != nil && weight >= 1 {
			sum += j.Bytes()
		}
	})
	return sum
}

// Runs is the largest number of references on a way from the root to the
// bottom.
func (t *Trunk) Runs() int { return runs(t.root) }

func runs(n *Node) int {
	most := 0
	for i := range n.Pivots {
		k := len(n.Pivots[i].Refs)
		if c := n.Pivots[i].Child; c != nil {
			k += runs(c)
		}
		most = max(most, k)
	}
	return most
}

// tombWeight is how many bytes of messages a range tombstone counts for: all
// tombstones of a pivot are in memory, and every iterator passes over them.
const tombWeight = 1 << 10

// tombBytes estimates the weight of the range tombstones in the pivot's range.
func (r *Ref) tombBytes() int64 {
	n := int64(r.Branch.tombstones) * tombWeight
	if all := int64(r.Branch.Meta.Bytes); r.Bytes < all {
		n = int64(float64(n) * float64(r.Bytes) / float64(all))
	}
	return n
}

// first is the weight of what saves other work.
const first = 1000

func (t *Trunk) above(n *Node, i int, hi []byte, policy Policy) (*Job, float64) {
	p := &n.Pivots[i]
	var held int64
	for _, r := range p.Refs {
		held += r.Bytes + r.tombBytes()
	}
	full := float64(held) / float64(t.leaf())
	if (policy.Idle || policy.ManyTombstones) && policy.tombs(p) {
		return &Job{Level: n.Level, Lo: p.Lo, Hi: hi, Flush: true}, first // before merges of what they hide
	}
	if full >= 1 {
		return &Job{Level: n.Level, Lo: p.Lo, Hi: hi, Flush: true}, 1 + full
	}
	return &Job{Level: n.Level, Lo: p.Lo, Hi: hi, Inputs: t.tier(p.Refs), Parts: 1}, float64(len(p.Refs)) / float64(t.shape.Runs)
}

func (t *Trunk) bottom(p *Pivot, hi []byte, policy Policy) (*Job, float64) {
	var newer, base int64
	bases := 0
	for _, r := range p.Refs {
		if r.Base {
			base += r.Bytes
			bases++
		} else {
			newer += r.Bytes
		}
	}
	all := &Job{Lo: p.Lo, Hi: hi, Inputs: p.Refs, Bottom: true, Apply: policy.ManyTombstones}
	if j := t.deleted(p, hi, all, policy); j != nil {
		return j, first
	}
	total := newer + base
	all.Parts = t.parts(total)
	small := t.leaf() / 4
	alpha := policy.Alpha
	if t.crowded() {
		alpha = min(alpha, crowdedAlpha)
	}
	ratio := float64(newer) / (alpha * float64(max(base, small)))
	if policy.tombs(p) {
		// A range tombstone makes every reader pass over what it hides, even where the
		// branches hold nothing else, and so no bytes.
		ratio = max(ratio, 1)
		if policy.ManyTombstones {
			return all, first + p.tombBytes()
		}
	}
	if newer > 0 && bases > 0 {
		// Unsuccessful reads have cost about as much as reading and writing that many
		// bytes would. While changes arrive, the merge would soon have to be repeated.
		heat := p.Refs[len(p.Refs)-1].Branch.heat.Load()
		paid := float64(heat) * probeBytes / float64(2*total)
		if !policy.Idle {
			paid = min(paid, float64(newer)/(paidShare*float64(max(base, small))))
		}
		ratio = max(ratio, paid)
	}
	if bases > 1 {
		// Neighbours that were joined are waiting to be one.
		ratio = max(ratio, float64(bases)/4)
		if t.crowded() {
			ratio = max(ratio, 1)
		}
	}
	many := float64(len(p.Refs)-bases) / float64(t.shape.Runs)
	if many >= 1 && bases > 0 && !policy.Tight && (ratio < 0.5 || policy.skips(all)) {
		deltas := 0
		for deltas < len(p.Refs) && !p.Refs[deltas].Base {
			deltas++
		}
		if deltas >= 2 {
			return &Job{Lo: p.Lo, Hi: hi, Inputs: t.tier(p.Refs[:deltas]), Parts: 1}, many
		}
	}
	return all, max(ratio, many)
}

// tombs reports whether the pivot has range tombstones that a merge at the bottom
// drops.
func (p *Policy) tombs(pivot *Pivot) bool {
	for _, r := range pivot.Refs {
		if r.Branch.tombstones > 0 && (p.ManyTombstones || p.seen(r.Branch.firstTombstone)) {
			return true
		}
	}
	return false
}

// tombBytes is what the range tombstones of the pivot's branches take, in mebibytes:
// the merge that ends most of them comes first.
func (p *Pivot) tombBytes() (mib float64) {
	for _, r := range p.Refs {
		mib += float64(r.Branch.tombBytes) / (1 << 20)
	}
	return mib
}

// seen reports whether all remaining readers see the change.
func (p *Policy) seen(seq message.Seq) bool { return !p.Snapshots || seq <= p.Oldest }

// deleted finds the case that a range tombstone covers the whole pivot: what
// is older needs not be read.
func (t *Trunk) deleted(p *Pivot, hi []byte, all *Job, policy Policy) *Job {
	for i, r := range p.Refs {
		seq := r.Branch.over(p.Lo, hi)
		if seq == 0 || !policy.seen(seq) || i+1 == len(p.Refs) {
			continue
		}
		for _, old := range p.Refs[i+1:] {
			if old.Branch.Meta.MaxSeq >= seq {
				return nil
			}
		}
		all.Inputs, all.Covered, all.Parts = p.Refs[:i+1], p.Refs[i+1:], 1
		return all
	}
	return nil
}

// over is the number of the newest range tombstone of b that covers all of [lo, hi).
func (b *Branch) over(lo, hi []byte) message.Seq {
	if b.tombstones == 0 || hi == nil {
		return 0
	}
	return b.keys.Over(lo, hi)
}

// Range is the work that merges everything in the pivots that overlap
// [lo, hi) at the bottom, or moves it there first; nil when nothing is left to
// do. It is for compactions that a user asks for: of the policy only Busy and Skip
// count.
func (t *Trunk) Range(lo, hi []byte, p Policy) *Job {
	var found *Job
	t.root.Walk(func(n *Node, i int, from, to []byte) {
		if found != nil || (to != nil && bytes.Compare(to, lo) <= 0) || (hi != nil && bytes.Compare(from, hi) >= 0) ||
			(p.Busy != nil && p.Busy(n.Level, from)) {
			return
		}
		refs := n.Pivots[i].Refs
		switch {
		case n.Level > 0 && len(refs) > 0:
			found = &Job{Level: n.Level, Lo: from, Hi: to, Flush: true}
		case n.Level == 0 && (len(refs) > 1 || len(refs) == 1 && !refs[0].Base):
			j := &Job{Lo: from, Hi: to, Inputs: refs, Bottom: true}
			j.Parts = t.parts(j.Bytes())
			if !p.skips(j) {
				found = j
			}
		}
	})
	return found
}
