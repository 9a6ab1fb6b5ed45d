// SPDX-License-Identifier: Apache-2.0

package repair

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
	"github.com/ashlar-dev/ashlar/store"
)

// search is what a repair without a table knows.
type search struct {
	searched  bool
	found     places
	groups    []*oldBranch           // by their first keys
	starts    map[[2]uint64]*opening // of a branch and epoch
	names     [][16]byte             // of stores, as pages of tables have them
	ranges    oldBranch              // the range deletes of all branches
	temporary []*trunk.Branch        // made of the journal
	reached   message.Seq            // up to which change the journal was read
	kept      int                    // bytes on the Go heap
}

// opening is the block of a branch with the least number that was found.
type opening struct {
	block uint32
	key   []byte
}

// namesMax is how many stores' tables a search distinguishes.
const namesMax = 8

// fromPages writes what a search of all pages finds.
func (r *repairer) fromPages() error {
	r.searched, r.starts, r.ranges.r = true, map[[2]uint64]*opening{}, r
	r.report.From = "a search of all pages, without a table"
	r.report.lose(Loss{Older: true, Reason: "no superblock leads to a table: deleted keys may be back, changes that were never durable may show, and what was in damaged blocks is lost without a trace"})
	all := extent.RunOf(table.FirstPage*extent.PageSize, max(r.size-table.FirstPage*extent.PageSize, 0))
	err := r.scan(all, r.find, func(page []byte) {
		if uuid, ok := table.Probe(page); ok && len(r.names) < namesMax && !slices.Contains(r.names, uuid) {
			r.names = append(r.names, uuid)
		}
	})
	if err != nil {
		return err
	}
	r.group()
	for _, uuid := range r.names {
		if err := r.searchJournal(uuid); err != nil {
			return err
		}
	}
	if err := r.useJournal(); err != nil {
		return err
	}
	slices.SortFunc(r.groups, func(a, b *oldBranch) int { return bytes.Compare(a.start, b.start) })
	if err := r.newest(); err != nil {
		return err
	}
	for _, b := range r.temporary {
		r.forget(b)
	}
	return nil
}

// find takes in a block.
func (r *repairer) find(h block.Header, at extent.Run, b *block.Block) error {
	if h.Content == block.Tombstones {
		return r.ranges.takeTombstones(b)
	}
	id := [2]uint64{h.Branch, h.Epoch}
	o := r.starts[id]
	switch {
	case o == nil:
		o = &opening{block: h.Block, key: b.Message(0, nil).Key}
		r.starts[id] = o
		r.kept += len(o.key) + 100
	case h.Block < o.block:
		o.block, o.key = h.Block, b.Message(0, o.key).Key
	}
	r.super.Epoch = max(r.super.Epoch, h.Epoch+1)
	return cmp.Or(r.heap(r.kept), r.found.add(r.pool, h, at))
}

// group makes a source of the blocks of each branch.
func (r *repairer) group() {
	sort.Sort(&r.found)
	for from := 0; from < r.found.Len(); {
		p := r.found.at(from)
		to := from + 1
		for to < r.found.Len() && r.found.at(to).branch == p.branch && r.found.at(to).epoch == p.epoch {
			to++
		}
		s := &oldBranch{r: r, id: p.branch, epoch: p.epoch, places: r.found.part(from, to), start: r.starts[[2]uint64{p.branch, p.epoch}].key}
		r.groups = append(r.groups, s)
		from = to
	}
}

// searchJournal replays all segments of a store that are there, whether a tree
// has them or not.
func (r *repairer) searchJournal(uuid [16]byte) error {
	buffer, ok := r.pool.Alloc(pieceBytes)
	if !ok {
		return fmt.Errorf("%w: no buffer of %d bytes to read the journal", store.ErrMemory, pieceBytes)
	}
	log, err := journal.Open(r.disk, r.dir, journal.Options{Store: datafile.StoreID(uuid), Direct: true, Buffer: buffer})
	var files []journal.File
	if err == nil {
		files = log.Files()
		_ = log.Close() // it was only read
	} else {
		r.report.damage(err)
	}
	r.pool.Free(buffer)
	for len(files) > 0 {
		least := 0
		for i := range files {
			if !files[i].Flaw.OK() || files[least].Flaw.OK() && files[i].Info.Number < files[least].Info.Number {
				least = i
			}
		}
		f := files[least]
		files = append(files[:least], files[least+1:]...)
		if !f.Flaw.OK() || f.Info.First <= r.reached {
			continue // no segment, or one that the chain of another has reached
		}
		end, err := r.replay(datafile.StoreID(uuid), journal.ChainState{
			Segment: f.Info.Number, Prev: f.Info.Prev, Session: f.Info.Session, Next: f.Info.First,
		}, journal.Testimony{})
		if err != nil {
			return err
		}
		r.reached = max(r.reached, end.Next-1)
		r.super.Segment = max(r.super.Segment, end.Segment)
	}
	return nil
}

// useJournal makes sources of the branches that were made of the journal.
func (r *repairer) useJournal() error {
	r.temporary, r.newer = r.newer, nil
	for _, b := range r.temporary {
		s := &oldBranch{r: r, id: b.Meta.ID, epoch: ^uint64(0), index: b.Index, copied: true, start: b.Meta.Lo}
		r.groups = append(r.groups, s)
		for t := range b.Index.Ranges() {
			t.Lo, t.Hi = bytes.Clone(t.Lo), bytes.Clone(t.Hi)
			r.ranges.tombs = append(r.ranges.tombs, t)
			r.ranges.tombBytes += len(t.Lo) + len(t.Hi)
		}
	}
	return r.heap(len(r.ranges.tombs)*64 + r.ranges.tombBytes)
}

// newest writes of each key the newest message that was found.
func (r *repairer) newest() error {
	var active []*oldBranch
	pending := r.groups
	r.begin(nil, r.ranges.tombs)
	for {
		s := least(active)
		for len(pending) > 0 && (s == nil || bytes.Compare(pending[0].start, s.m.Key) <= 0) {
			fresh := pending[0]
			pending = pending[1:]
			if err := fresh.advance(); err != nil {
				return err
			}
			active = append(active, fresh)
			s = least(active)
		}
		if s == nil {
			return r.end(nil)
		}
		if err := r.newestOf(active, bytes.Clone(s.m.Key)); err != nil {
			return err
		}
		active = slices.DeleteFunc(active, func(s *oldBranch) bool {
			if !s.stands {
				s.close()
			}
			return !s.stands
		})
	}
}

// newestOf writes the newest message of a key, and passes over the others. An
// operand needs what it is applied to, and there may be copies of the same
// operands, alone and combined: they count only if one branch has all of them.
func (r *repairer) newestOf(active []*oldBranch, key []byte) error {
	var from *oldBranch // of the operands
	var last message.Message
	done := false
	for s := least(active); s != nil && bytes.Equal(s.m.Key, key); s = least(active) {
		m := s.m
		switch {
		case done:
		case from != nil && m.Seq == last.Seq && m.Kind == last.Kind && bytes.Equal(m.Value, last.Value):
			// The same again, of an earlier life of the message.
		case from != nil && from != s:
			return fmt.Errorf("%w: key %q has a merge message, number %d, in branch %d and a message, number %d, in branch %d: without a table it is unknown whether one includes the other",
				ErrAmbiguous, key, last.Seq, from.id, m.Seq, s.id)
		default:
			taken, err := r.putFound(s)
			if err != nil {
				return err
			}
			if m.Kind == message.Merge {
				from, last = s, message.Message{Seq: m.Seq, Kind: m.Kind, Value: bytes.Clone(m.Value)}
			} else {
				done = taken
			}
		}
		if err := s.advance(); err != nil {
			return err
		}
	}
	return nil
}

// putFound is put, which says whether the message's value is there.
func (r *repairer) putFound(s *oldBranch) (bool, error) {
	lost := r.report.LostValues
	err := r.put(s)
	return r.report.LostValues == lost, err
}
