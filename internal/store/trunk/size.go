// SPDX-License-Identifier: Apache-2.0

package trunk

import "bytes"

// A partition takes some kilobytes of memory, however much it holds: the description of
// its base, what is kept of its index, its pivot, its entry in the table. So a tree that grows
// without bound in bounded memory has partitions that grow: beyond Shape.Partitions of
// them they are larger than Shape.LeafBytes, and all sizes of the tree are
// larger with them. Partitions from earlier, which nothing merges because their
// keys are not changed, are joined with their neighbours when there are too many branches.

// leaf is what a partition at the bottom is meant to hold now, in bytes.
func (t *Trunk) leaf() int64 { return t.shape.Leaf(t.held) }

// Leaf is what a partition at the bottom is meant to hold in a tree whose branches
// hold so many bytes.
func (s Shape) Leaf(held int64) int64 {
	if s.Partitions == 0 {
		return s.LeafBytes
	}
	return max(s.LeafBytes, held/int64(s.Partitions))
}

// Leaf is what a partition at the bottom is meant to hold when so many bytes more are in
// the tree.
func (t *Trunk) Leaf(more int64) int64 { return t.shape.Leaf(t.held + more) }

// crowded reports that there are more branches than there is meant to be memory for.
func (t *Trunk) crowded() bool {
	return t.shape.Partitions > 0 && len(t.refs) > t.shape.Partitions+t.shape.Partitions/4
}

// neighbours is the job that joins the most partitions that are adjacent, have only bases, and hold
// no more together than one is meant to; nil: there are none, or too few to be worth the merge that
// follows. Every byte is merged again only when four times as many fit into a partition, or half as
// many where memory is really short.
func (t *Trunk) neighbours(policy Policy) *Job {
	least, leaf := 4, t.leaf()
	if len(t.refs) > 2*t.shape.Partitions {
		least = 2
	}
	var best *Job
	consider := func(n *Node, from, to int, end []byte) {
		if to-from >= least {
			_, hi := n.bounds(to-1, end)
			best, least = &Job{Lo: n.Pivots[from].Lo, Hi: hi, Flush: true, Join: true}, to-from+1
		}
	}
	t.root.leaves(nil, func(n *Node, end []byte) {
		from, sum := 0, int64(0)
		for i := range n.Pivots {
			size, ok := n.Pivots[i].bases()
			if !ok || policy.Busy != nil && policy.Busy(0, n.Pivots[i].Lo) {
				consider(n, from, i, end)
				from, sum = i+1, 0
				continue
			}
			if sum += size; sum > leaf {
				consider(n, from, i, end)
				for ; from <= i && sum > leaf; from++ {
					first, _ := n.Pivots[from].bases()
					sum -= first
				}
			}
		}
		consider(n, from, len(n.Pivots), end)
	})
	return best
}

// bases is how many bytes the pivot has, when it has nothing but bases.
func (p *Pivot) bases() (sum int64, only bool) {
	for _, r := range p.Refs {
		if !r.Base {
			return 0, false
		}
		sum += r.Bytes
	}
	return sum, true
}

// leaves calls visit with the nodes of level 0, and with the ends of their ranges.
func (n *Node) leaves(end []byte, visit func(n *Node, end []byte)) {
	if n.Level == 0 {
		visit(n, end)
		return
	}
	for i := range n.Pivots {
		_, hi := n.bounds(i, end)
		n.Pivots[i].Child.leaves(hi, visit)
	}
}

// joinAll makes one pivot of those in the job's range, by reference. It returns false,
// and changes nothing, when they are not as they were when the job was made.
func (t *Trunk) joinAll(j *Job) (done bool) {
	before := t.root
	t.edit(j, func(n *Node, i int, _, end []byte) {
		to := i
		var refs []Ref
		for ; to < len(n.Pivots); to++ {
			p := &n.Pivots[to]
			if _, only := p.bases(); !only {
				return
			}
			for _, r := range p.Refs {
				if index(refs, r) < 0 {
					refs = append(refs, r)
				}
			}
			if _, hi := n.bounds(to, end); bytes.Equal(hi, j.Hi) && (hi == nil) == (j.Hi == nil) {
				done = true
				break
			}
		}
		if !done {
			return
		}
		for k := range refs {
			refs[k].Bytes, _ = refs[k].Branch.keys.Span(j.Lo, j.Hi)
		}
		t.retain(refs)
		for _, p := range n.Pivots[i : to+1] {
			t.release(p.Refs)
		}
		n.Pivots = append(n.Pivots[:i:i], append([]Pivot{{Lo: n.Pivots[i].Lo, Refs: byAge(refs)}}, n.Pivots[to+1:]...)...)
	})
	if !done {
		t.root = before
	}
	return done
}

// tier is the newest of the references that are worth merging by themselves: those
// before the first that is larger than all of them together. So each byte is merged again
// only with as much as it lies in, and not each time that some more has come. Where partitions
// are as small as they can be, a pivot is moved down before that would matter, and all are merged.
func (t *Trunk) tier(refs []Ref) []Ref {
	if t.leaf() == t.shape.LeafBytes {
		return refs
	}
	var sum int64
	for i, r := range refs {
		if i >= 2 && r.Bytes > sum {
			return refs[:i:i]
		}
		sum += r.Bytes
	}
	return refs
}
