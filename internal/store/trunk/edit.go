// SPDX-License-Identifier: Apache-2.0

package trunk

import (
	"bytes"

	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// An edit walks down from the root, copies the nodes on its way, and puts the
// copy of the root in the place of the old one. Copies keep the number of what
// they are copies of: a number is a node's name for the table of the store,
// in which its newest content is.

// Attach adds a branch all of whose messages are newer than those that the
// tree has.
func (t *Trunk) Attach(b *Branch) {
	t.root = t.attach(t.root, []Ref{{Branch: b}}, nil)
	t.grow()
	if t.refs[b.Meta.ID] == 0 {
		t.gone = append(t.gone, b) // it had nothing for any range
	}
}

// attach puts references, newest first, before those of the node's pivots.
// End is the end of the node's range.
func (t *Trunk) attach(n *Node, refs []Ref, end []byte) *Node {
	n = n.clone()
	for i := 0; i < len(n.Pivots); i++ {
		lo, hi := n.bounds(i, end)
		clipped := clip(refs, lo, hi)
		if len(clipped) == 0 {
			continue
		}
		t.retain(clipped)
		p := &n.Pivots[i]
		if n.Level == 0 && len(clipped) == 1 && t.apart(p, clipped[0], lo, hi) {
			i += n.setApart(i, clipped[0])
			continue
		}
		p.Refs = append(clipped, p.Refs...)
	}
	return n
}

// clip keeps the references that have something in [lo, hi).
func clip(refs []Ref, lo, hi []byte) []Ref {
	var in []Ref
	for _, r := range refs {
		if !r.Branch.keys.Overlaps(lo, hi) {
			continue
		}
		size, _ := r.Branch.keys.Span(lo, hi)
		in = append(in, Ref{Branch: r.Branch, Bytes: size})
	}
	return in
}

// apart reports whether a branch can be the base of a pivot of its own: when it
// is wholly within p, above all that p has, and is large enough. That is how
// keys that arrive in their order are written once only.
func (t *Trunk) apart(p *Pivot, r Ref, lo, hi []byte) bool {
	b := r.Branch
	if b.tombstones > 0 || 2*r.Bytes < t.shape.LeafBytes ||
		bytes.Compare(b.Meta.Lo, lo) < 0 || (hi != nil && bytes.Compare(b.Meta.Hi, hi) >= 0) {
		return false
	}
	for _, old := range p.Refs {
		if old.Branch.keys.Overlaps(b.Meta.Lo, hi) {
			return false
		}
	}
	return true
}

// setApart gives the branch its own pivot and returns how many pivots are new.
func (n *Node) setApart(i int, r Ref) int {
	r.Base = true
	if len(n.Pivots[i].Refs) == 0 {
		n.Pivots[i].Refs = []Ref{r}
		return 0
	}
	n.insert(i+1, Pivot{Lo: bytes.Clone(r.Branch.Meta.Lo), Refs: []Ref{r}})
	return 1
}

func (n *Node) insert(i int, pivots ...Pivot) {
	n.Pivots = append(n.Pivots[:i:i], append(pivots, n.Pivots[i:]...)...)
}

func (n *Node) clone() *Node {
	return &Node{ID: n.ID, Level: n.Level, Pivots: append([]Pivot(nil), n.Pivots...)}
}

func (n *Node) bounds(i int, end []byte) (lo, hi []byte) {
	if i+1 < len(n.Pivots) {
		end = n.Pivots[i+1].Lo
	}
	return n.Pivots[i].Lo, end
}

// grow splits what has too many pivots, up to a new root.
func (t *Trunk) grow() {
	t.root = t.split(t.root, nil)
	if len(t.root.Pivots) <= t.shape.Fanout {
		return
	}
	old := t.root
	root := &Node{ID: t.next(), Level: old.Level + 1}
	for _, half := range t.halves(old) {
		root.Pivots = append(root.Pivots, Pivot{Lo: half.Pivots[0].Lo, Child: half})
	}
	t.root = root
	t.grow()
}

// split splits the children of n that are too large, and theirs. It returns n
// itself when there are none.
func (t *Trunk) split(n *Node, end []byte) *Node {
	copied := false
	for i := 0; i < len(n.Pivots); i++ {
		_, hi := n.bounds(i, end)
		child := n.Pivots[i].Child
		if child == nil {
			return n
		}
		c := t.split(child, hi)
		if c == child && len(c.Pivots) <= t.shape.Fanout {
			continue
		}
		if !copied {
			n, copied = n.clone(), true
		}
		n.Pivots[i].Child = c
		if len(c.Pivots) <= t.shape.Fanout {
			continue
		}
		parts := t.halves(c)
		old := n.Pivots[i]
		var pivots []Pivot
		for j, part := range parts {
			p := Pivot{Lo: part.Pivots[0].Lo, Child: part}
			if j == 0 {
				p.Lo = old.Lo
			}
			pivots = append(pivots, p)
		}
		for j := range pivots {
			partHi := hi
			if j+1 < len(pivots) {
				partHi = pivots[j+1].Lo
			}
			pivots[j].Refs = clip(old.Refs, pivots[j].Lo, partHi)
			t.retain(pivots[j].Refs)
		}
		t.release(old.Refs)
		n.Pivots = append(n.Pivots[:i:i], append(pivots, n.Pivots[i+1:]...)...)
		i += len(pivots) - 1
	}
	return n
}

// halves cuts a node into nodes of about half the fanout. The first keeps the
// number.
func (t *Trunk) halves(n *Node) []*Node {
	size := max(t.shape.Fanout/2, 2)
	var parts []*Node
	for from := 0; from < len(n.Pivots); {
		to := from + size
		if len(n.Pivots)-to < size {
			to = len(n.Pivots)
		}
		id := n.ID
		if from > 0 {
			id = t.next()
		}
		parts = append(parts, &Node{ID: id, Level: n.Level, Pivots: append([]Pivot(nil), n.Pivots[from:to]...)})
		from = to
	}
	return parts
}

// Job is a piece of work on the pivot of that level that begins at Lo.
type Job struct {
	Level  int
	Lo, Hi []byte
	// Inputs are to be merged, newest first. They are adjacent in the pivot.
	Inputs []Ref
	// Covered are the oldest references of the pivot, below Inputs: all
	// they have is deleted by a range tombstone in Inputs, and they need not
	// be read.
	Covered []Ref
	// Bottom reports that nothing older is below Inputs and Covered.
	Bottom bool
	// Apply asks for the range tombstones to become deletes of the keys that they
	// cover, where open snapshots do not let the merge drop them: at the bottom, if
	// there are too many tombstones.
	Apply bool
	// Parts is into how many pieces of about equal size the output is cut at the
	// bottom.
	Parts int
	// Flush reports that there is nothing to merge: the references are to be moved
	// down, or with Join, partitions next to each other are to become one.
	Flush, Join bool
}

// Bytes is what the job reads, about.
func (j *Job) Bytes() int64 {
	var sum int64
	for _, r := range j.Inputs {
		sum += r.Bytes
	}
	return sum
}

// Flush moves the references of the job's pivot to its child, or joins the pivots of the
// job's range. It returns false when the pivot is not as it was when the job was made.
func (t *Trunk) Flush(j *Job) bool {
	if j.Join {
		return t.joinAll(j)
	}
	return t.edit(j, func(n *Node, i int, hi, _ []byte) {
		p := &n.Pivots[i]
		moved := p.Refs
		p.Refs = nil
		p.Child = t.attach(p.Child, moved, hi)
		t.release(moved)
	})
}

// Commit puts the outputs of a merge in the place of its inputs. The outputs
// are in the order of their keys; only at the bottom there may be more than
// one. It returns false, and changes nothing, when the pivot is not as it was
// when the job was made: then the outputs are worth nothing.
func (t *Trunk) Commit(j *Job, outputs []*Branch) bool {
	done := t.edit(j, func(n *Node, i int, hi, end []byte) {
		p := n.Pivots[i]
		at := index(p.Refs, j.Inputs[0])
		newer := p.Refs[:at]
		older := p.Refs[at+len(j.Inputs)+len(j.Covered):]
		if j.Bottom {
			n.Pivots = append(n.Pivots[:i:i], append(t.cut(p, newer, outputs, hi), n.Pivots[i+1:]...)...)
		} else {
			refs := append([]Ref(nil), newer...)
			for _, out := range outputs {
				refs = append(refs, clip([]Ref{{Branch: out}}, p.Lo, hi)...)
			}
			n.Pivots[i].Refs = append(refs, older...)
			t.retain(n.Pivots[i].Refs)
		}
		t.release(p.Refs)
		if j.Bottom && len(outputs) <= 1 {
			t.join(n, i, end)
		}
	})
	if !done {
		return false
	}
	t.learn(j, outputs)
	t.grow()
	return true
}

// cut makes pivots of the outputs, and divides the newer references among them.
func (t *Trunk) cut(p Pivot, newer []Ref, outputs []*Branch, hi []byte) []Pivot {
	pivots := []Pivot{{Lo: p.Lo}}
	for i := 1; i < len(outputs); i++ {
		pivots = append(pivots, Pivot{Lo: bytes.Clone(outputs[i].Meta.Lo)})
	}
	for i := range pivots {
		partHi := hi
		if i+1 < len(pivots) {
			partHi = pivots[i+1].Lo
		}
		refs := clip(newer, pivots[i].Lo, partHi)
		if i < len(outputs) {
			size, _ := outputs[i].keys.Span(pivots[i].Lo, partHi)
			refs = append(refs, Ref{Branch: outputs[i], Bytes: size, Base: true})
		}
		pivots[i].Refs = refs
		t.retain(refs)
	}
	return pivots
}

// join lets a pivot that became small be taken over by its neighbour on the
// left, or the right: by reference, since their keys do not overlap. End is the
// end of the node's range.
func (t *Trunk) join(n *Node, i int, end []byte) {
	if len(n.Pivots) < 2 || !t.small(n.Pivots[i], t.leaf()/4) {
		return
	}
	left := i - 1
	if left < 0 || !t.small(n.Pivots[left], t.leaf()/2) {
		left = i
		if i+1 >= len(n.Pivots) || !t.small(n.Pivots[i+1], t.leaf()/2) {
			return
		}
	}
	a, b := n.Pivots[left], n.Pivots[left+1]
	_, hi := n.bounds(left+1, end)
	// Refs keep an order by age among those of each side. The sides share no
	// keys except through branches that both refer to, which become one.
	var refs []Ref
	for _, r := range append(append([]Ref(nil), a.Refs...), b.Refs...) {
		if index(refs, r) < 0 {
			refs = append(refs, r)
		}
	}
	refs = byAge(refs)
	joined := Pivot{Lo: a.Lo, Refs: refs}
	for k := range joined.Refs {
		joined.Refs[k].Bytes, _ = refs[k].Branch.keys.Span(a.Lo, hi)
	}
	t.retain(joined.Refs)
	t.release(a.Refs)
	t.release(b.Refs)
	n.Pivots = append(n.Pivots[:left:left], append([]Pivot{joined}, n.Pivots[left+2:]...)...)
}

// small reports whether a pivot's references are bases of less than size in all.
// Only such are joined: deltas hold branches together that reach further.
func (t *Trunk) small(p Pivot, size int64) bool {
	var sum int64
	for _, r := range p.Refs {
		if !r.Base {
			return false
		}
		sum += r.Bytes
	}
	return sum < size
}

// byAge sorts references from the newest to the oldest. Bases of neighbours
// share no keys, so that any order of them is right.
func byAge(refs []Ref) []Ref {
	for i := 1; i < len(refs); i++ {
		for j := i; j > 0 && refs[j].Branch.Meta.MaxSeq > refs[j-1].Branch.Meta.MaxSeq; j-- {
			refs[j], refs[j-1] = refs[j-1], refs[j]
		}
	}
	return refs
}

// edit finds the job's pivot, checks that it still has what the job read, and
// lets change change it in a copied path: pivot i of n, which ends at hi; n ends
// at end.
func (t *Trunk) edit(j *Job, change func(n *Node, i int, hi, end []byte)) bool {
	if t.root.Level < j.Level {
		return false
	}
	root := t.root.clone()
	n := root
	var end []byte
	for {
		i := n.pivot(j.Lo)
		_, hi := n.bounds(i, end)
		if n.Level == j.Level {
			if !current(n.Pivots[i], hi, j) {
				return false
			}
			change(n, i, hi, end)
			t.root = root
			return true
		}
		child := n.Pivots[i].Child.clone()
		n.Pivots[i].Child = child
		n, end = child, hi
	}
}

// current reports whether the pivot still has the job's range and inputs.
func current(p Pivot, hi []byte, j *Job) bool {
	if j.Join {
		return bytes.Equal(p.Lo, j.Lo)
	}
	if !bytes.Equal(p.Lo, j.Lo) || !bytes.Equal(hi, j.Hi) || (hi == nil) != (j.Hi == nil) {
		return false
	}
	if j.Flush {
		return p.Child != nil
	}
	all := append(append([]Ref(nil), j.Inputs...), j.Covered...)
	at := index(p.Refs, all[0])
	if at < 0 || at+len(all) > len(p.Refs) {
		return false
	}
	for k, r := range all {
		if p.Refs[at+k].Branch != r.Branch {
			return false
		}
	}
	if j.Bottom {
		invariant.Check(at+len(all) == len(p.Refs), "trunk: something is below the bottom of the pivot at %q", p.Lo)
	}
	return true
}

func index(refs []Ref, r Ref) int {
	for i := range refs {
		if refs[i].Branch == r.Branch {
			return i
		}
	}
	return -1
}
