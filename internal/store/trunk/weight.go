// SPDX-License-Identifier: Apache-2.0

package trunk

// Weight is what a tree has to merge until each partition is one base.
type Weight struct {
	Partitions int
	// Base are the bytes of all bases, Largest those of the largest partition's,
	// and Records their messages, about.
	Base, Largest int64
	Records       float64
	// Newer are the bytes of all other branches, as far as partitions refer to
	// them, and Pieces how many partitions these are, counted for each branch.
	Newer  int64
	Pieces int
}

// Weight is that of the tree below a root.
func (n *Node) Weight() Weight {
	var w Weight
	newer := map[*Branch]*piece{}
	n.weigh(&w, newer)
	for b, p := range newer {
		w.Newer += min(p.bytes, int64(b.Meta.Bytes))
		w.Pieces += min(p.partitions, int(b.Meta.Records+b.Meta.RangeDeletes))
	}
	return w
}

type piece struct {
	bytes      int64
	partitions int
}

func (n *Node) weigh(w *Weight, newer map[*Branch]*piece) {
	for i := range n.Pivots {
		p := &n.Pivots[i]
		before := w.Partitions
		if p.Child != nil {
			p.Child.weigh(w, newer)
		} else {
			w.Partitions++
		}
		var base int64
		for _, r := range p.Refs {
			if r.Base {
				base += r.Bytes
				w.Records += r.records()
				continue
			}
			all := newer[r.Branch]
			if all == nil {
				all = &piece{}
				newer[r.Branch] = all
			}
			all.bytes += r.Bytes
			all.partitions += w.Partitions - before
		}
		w.Base += base
		w.Largest = max(w.Largest, base)
	}
}

// records estimates the messages of the branch in the pivot's range.
func (r *Ref) records() float64 {
	return float64(r.Branch.Meta.Records) * min(float64(r.Bytes)/float64(max(r.Branch.Meta.Bytes, 1)), 1)
}

// Worth states which merges are worth their reading and writing when space is
// needed, since how much each newer message gives back is not known before.
type Worth struct {
	// Any: all that leave less than there was.
	Any bool
	// BytesPerDelete is how much may be merged for each delete, in bytes.
	BytesPerDelete float64
}

// worthShare is the least part of the records that are worth a merge whatever
// it costs.
const worthShare = 1.0 / 64

// Merge reports whether a merge of that many bytes is worth its cost, in which
// that many newer messages, with that many deletes, meet that many records.
func (w Worth) Merge(newer, deletes, records float64, bytes int64) bool {
	return newer > 0 && (w.Any || deletes > 0 && deletes*w.BytesPerDelete >= float64(bytes) || newer >= records*worthShare)
}

// Shrink is the work that frees the most space, or nil when none is worth it.
// What is above the bottom is moved there first, which costs nothing.
func (t *Trunk) Shrink(worth Worth, p Policy) *Job {
	var best *Job
	var most float64
	t.root.Walk(func(n *Node, i int, lo, hi []byte) {
		v := &n.Pivots[i]
		if best != nil && best.Flush || len(v.Refs) == 0 || p.Busy != nil && p.Busy(n.Level, lo) {
			return
		}
		var newer, deletes, records float64
		var bytes int64
		for _, r := range v.Refs {
			bytes += r.Bytes
			if r.Base {
				records += r.records()
			} else {
				n := r.records()
				newer += n
				deletes += n * float64(r.Branch.Meta.Deletes) / float64(max(r.Branch.Meta.Records, 1))
			}
		}
		if n.Level > 0 {
			below := v.Child.Weight()
			if p.tombs(v) || worth.Merge(newer, deletes, below.Records, below.Base+below.Newer) {
				best = &Job{Level: n.Level, Lo: lo, Hi: hi, Flush: true}
			}
			return
		}
		if newer == 0 && !p.tombs(v) && !(worth.Any && len(v.Refs) > 1) {
			return
		}
		j := &Job{Lo: lo, Hi: hi, Inputs: v.Refs, Bottom: true, Apply: p.ManyTombstones, Parts: t.parts(bytes)}
		ratio := newer / max(records, 1)
		if d := t.deleted(v, hi, j, p); d != nil {
			j, ratio = d, 1e9 // it needs not be read
		} else if !p.tombs(v) && !worth.Any && !worth.Merge(newer, deletes, records, bytes) {
			return
		}
		if (best == nil || ratio > most) && !p.skips(j) {
			best, most = j, ratio
		}
	})
	return best
}

// parts returns into how many pieces the merge of a partition with that many
// bytes is cut.
func (t *Trunk) parts(total int64) int {
	leaf := t.leaf()
	most := 2 * leaf
	if leaf > t.shape.LeafBytes {
		most -= leaf / 2 // the index of a large partition has to fit into memory while it is written
	}
	if total < most {
		return 1
	}
	return int((total + leaf/2) / leaf)
}
