// SPDX-License-Identifier: Apache-2.0

package repair

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"path"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/merge"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
	"github.com/ashlar-dev/ashlar/store"
)

// build is the new data file of a repair while it is written.
type build struct {
	out    env.File
	space  *pages
	nextID uint64
	made   []*trunk.Branch
	pivots []trunk.Pivot   // of the bottom, by key
	newer  []*trunk.Branch // of the journal, oldest first
	last   message.Seq     // of all messages

	// The piece that is being written: the keys from lo on.
	w       *branch.Writer
	lo      []byte
	tombs   []message.RangeTombstone
	lastKey []byte
	lastSeq message.Seq
	ref     [message.BlobRefSize]byte
}

func (r *repairer) next() uint64 {
	r.nextID++
	return r.nextID
}

// openOut begins the new data file; one that an earlier repair has left
// unfinished is begun again.
func (r *repairer) openOut(supers []table.Superblock) error {
	r.newIdentity(supers)
	out, err := r.openFile(path.Join(r.dir, datafile.Repaired), true)
	if err != nil {
		return err
	}
	r.out = out
	if err := cmp.Or(out.Truncate(0), out.Truncate(table.FirstPage*extent.PageSize)); err != nil {
		return err
	}
	if err := datafile.AllocateHead(out); err != nil {
		return err
	}
	r.space = &pages{file: out, alloc: extent.New(table.FirstPage, table.FirstPage)}
	return nil
}

func (r *repairer) closeBuild() {
	if r.w != nil {
		r.w.Abort()
		r.w = nil
	}
	for _, b := range r.made {
		b.Index.Close()
	}
	r.made = nil
}

func (r *repairer) writer() error {
	if r.w != nil {
		return nil
	}
	o := branch.Options{File: r.out, Alloc: r.space, Pool: r.pool, Coder: &r.coder, Last: true}
	if r.o.Compression == store.None {
		o.Compression = branch.None
	}
	if r.o.Tuning.MemtableBytes < 1<<20 {
		o.WriteBytes = 32 << 10
	}
	var err error
	r.w, err = branch.NewWriter(o, r.next(), r.super.Epoch, 1024)
	return err
}

// begin begins a piece at lo, which tombs cover.
func (r *repairer) begin(lo []byte, tombs []message.RangeTombstone) {
	r.lo, r.tombs = bytes.Clone(lo), tombs
	r.lastKey, r.lastSeq = r.lastKey[:0], message.MaxSeq
}

// add adds a message to the piece, with the value that it refers to if it does.
// It returns false when that is lost.
func (r *repairer) add(m message.Message, copied bool) (bool, error) {
	if m.Kind == message.Blob && !copied {
		ref, why, err := r.copyBlob(m.Value)
		if err != nil {
			return false, err
		}
		if why != "" {
			r.report.LostValues++
			r.report.lose(Loss{Lo: bytes.Clone(m.Key), Hi: bytes.Clone(m.Key), Older: true, Reason: why})
			return false, nil
		}
		m.Value = ref.Append(r.ref[:0])
		r.report.Values++
	}
	if err := r.writer(); err != nil {
		return false, err
	}
	r.last = max(r.last, m.Seq)
	r.report.Messages++
	if r.nameless && bytes.HasPrefix(m.Key, []byte(message.Reserved)) {
		r.super.Features |= table.Keyspaces
	}
	return true, r.w.Add(m)
}

// put is add in a stream of messages: what comes twice counts once, and a piece
// that has grown to its size ends.
func (r *repairer) put(s *oldBranch) error {
	m := s.m
	same := bytes.Equal(m.Key, r.lastKey) && r.lastSeq != message.MaxSeq
	if same && m.Seq >= r.lastSeq {
		return nil
	}
	if !same && r.w != nil && r.w.Bytes() >= r.o.Tuning.LeafBytes {
		if err := r.end(m.Key); err != nil {
			return err
		}
		r.begin(m.Key, r.tombs)
	}
	r.lastKey, r.lastSeq = append(r.lastKey[:0], m.Key...), m.Seq
	_, err := r.add(m, s.copied)
	return err
}

// end ends the piece before hi, nil for the end of all keys, as a pivot of its
// own.
func (r *repairer) end(hi []byte) error {
	b, err := r.endBranch(r.lo, hi)
	if err != nil {
		return err
	}
	p := trunk.Pivot{Lo: r.lo}
	if b != nil {
		m := &b.Meta
		// A base is what a compaction at the bottom leaves: anything else will
		// be merged before long.
		base := m.Keys == m.Records && m.Deletes+m.Merges+m.RangeDeletes == 0
		p.Refs = []trunk.Ref{{Branch: b, Bytes: int64(m.Bytes), Base: base}}
	}
	r.pivots = append(r.pivots, p)
	return nil
}

// endBranch completes the branch of the piece, with what of the tombstones is
// in [lo, hi). It is nil when there is nothing.
func (r *repairer) endBranch(lo, hi []byte) (*trunk.Branch, error) {
	var tombs []message.RangeTombstone
	for _, t := range r.tombs {
		tombs = merge.AppendClipped(tombs, t, lo, hi)
	}
	for _, t := range tombs {
		if err := r.writer(); err != nil {
			return nil, err
		}
		r.last = max(r.last, t.Seq)
		if err := r.w.AddTombstone(t); err != nil {
			return nil, err
		}
	}
	if r.w == nil {
		return nil, nil
	}
	meta, index, err := r.w.Finish()
	if err != nil {
		return nil, err
	}
	r.w = nil
	b := trunk.NewBranch(meta, index)
	r.made = append(r.made, b)
	r.report.Branches++
	r.report.Blocks += int64(meta.Blocks)
	return b, nil
}

// forget frees a branch that is not needed any more.
func (r *repairer) forget(b *trunk.Branch) {
	for i := range r.made {
		if r.made[i] == b {
			r.made = append(r.made[:i], r.made[i+1:]...)
			break
		}
	}
	for _, run := range append([]extent.Run{b.Meta.IndexRun()}, b.Meta.Runs...) {
		r.space.Free(run)
	}
	b.Index.Close()
	r.report.Branches--
	r.report.Blocks -= int64(b.Meta.Blocks)
}

// copyBlob copies a large value to the new file. Why says what is wrong with
// it, and then there is no copy.
func (r *repairer) copyBlob(value []byte) (ref message.BlobRef, why string, err error) {
	ref, ok := message.DecodeBlobRef(value)
	if !ok || ref.Len == 0 || ref.Addr < table.FirstPage*extent.PageSize || ref.Addr%extent.PageSize != 0 || ref.Addr > r.size-int64(ref.Len) {
		return ref, fmt.Sprintf("a reference to %d bytes at byte %d, where there is no large value", ref.Len, ref.Addr), nil
	}
	run, err := r.space.Alloc(extent.RunOf(0, int64(ref.Len)).Pages)
	if err != nil {
		return ref, "", err
	}
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	crc := uint32(0)
	for at := int64(0); at < run.Bytes() && why == ""; at += int64(len(r.piece)) {
		piece := r.piece[:min(int64(len(r.piece)), run.Bytes()-at)]
		if err := datafile.ReadFull(r.in, piece, ref.Addr+at); err != nil {
			why = fmt.Sprintf("large value at byte %d: %v", ref.Addr, err)
			break
		}
		crc = crc32.Update(crc, castagnoli, piece[:min(int64(len(piece)), int64(ref.Len)-at)])
		if _, err := r.out.WriteAt(piece, run.Addr()+at); err != nil {
			return ref, "", err
		}
	}
	if why == "" && crc != ref.CRC {
		why = fmt.Sprintf("large value at byte %d: want checksum %08x, found %08x", ref.Addr, ref.CRC, crc)
	}
	if why != "" {
		r.space.Free(run)
		return ref, why, nil
	}
	ref.Addr = run.Addr()
	return ref, "", nil
}

// finish writes the table and the superblock of the new file, and makes all of
// it durable but for its name.
func (r *repairer) finish() error {
	t := trunk.Load(trunk.Shape{Fanout: r.o.Tuning.Fanout, LeafBytes: r.o.Tuning.LeafBytes, Runs: r.o.Tuning.Runs}, r.next, r.tree())
	for _, b := range r.newer {
		t.Attach(b)
	}
	for _, b := range t.Gone() {
		r.forget(b)
	}
	tab := table.New(r.super.UUID)
	t.Root().Branches(func(b *trunk.Branch) {
		tab.Put(table.Object{ID: b.Meta.ID, Kind: table.Branch, Epoch: r.super.Epoch, Body: b.Meta.Append(nil)})
	})
	t.Root().Nodes(func(n *trunk.Node) {
		kind := table.Node
		if n == t.Root() {
			kind = table.Root
		}
		tab.Put(table.Object{ID: n.ID, Kind: kind, Epoch: r.super.Epoch, Body: n.Append(nil)})
	})
	run, err := r.space.Alloc(uint32(tab.Size() / extent.PageSize))
	if err != nil {
		return err
	}
	buf, ok := r.pool.Alloc(tab.Size() + table.SuperSize)
	if !ok {
		return fmt.Errorf("%w: no buffer of %d bytes for the table", store.ErrMemory, tab.Size())
	}
	defer r.pool.Free(buf)
	chunk := tab.Full(buf[:0:tab.Size()], 1)
	if _, err := r.out.WriteAt(chunk, run.Addr()); err != nil {
		return err
	}
	r.super.Chunks = []table.Chunk{{Loc: table.Loc{Addr: run.Addr(), Len: uint32(len(chunk)), CRC: table.Checksum(chunk)}, Full: true, Seq: 1}}
	r.super.Cut, r.super.NextID = uint64(max(r.last, message.Seq(r.super.Cut))), r.nextID
	r.super.Pages = r.space.alloc.End()
	r.report.LastChange = r.super.Cut
	if err := r.out.Sync(); err != nil {
		return err
	}
	page := buf[len(chunk):]
	table.EncodeSuper(page, r.super)
	if _, err := r.out.WriteAt(page, table.SuperAddr(0)); err != nil {
		return err
	}
	return r.out.Sync()
}

// tree builds the upper nodes over the pivots of the bottom.
func (r *repairer) tree() *trunk.Node {
	pivots := r.pivots
	if len(pivots) == 0 {
		pivots = []trunk.Pivot{{}}
	}
	for level := 0; ; level++ {
		var above []trunk.Pivot
		for len(pivots) > 0 {
			n := min(len(pivots), r.o.Tuning.Fanout)
			node := &trunk.Node{ID: r.next(), Level: level, Pivots: append([]trunk.Pivot(nil), pivots[:n]...)}
			above = append(above, trunk.Pivot{Lo: pivots[0].Lo, Child: node})
			pivots = pivots[n:]
		}
		if len(above) == 1 {
			return above[0].Child
		}
		pivots = above
	}
}

// rebuild writes everything that can be had.
func (r *repairer) rebuild(supers []table.Superblock) error {
	for _, s := range supers {
		err := r.loadTree(s)
		if err == nil {
			return r.fromTree(s)
		}
		if errors.Is(err, store.ErrMemory) {
			return err
		}
		r.report.damage(fmt.Errorf("superblock %d: %w", s.Seq, err))
	}
	return r.fromPages()
}

// loadTree reads the table of a superblock, and the trunk, without branches.
func (r *repairer) loadTree(s table.Superblock) error {
	t, err := datafile.LoadTable(r.in, s, r.pool)
	if err != nil {
		return explain(err)
	}
	tree, err := datafile.TreeOf(t)
	if err != nil {
		return err
	}
	r.root, r.metas = tree.Root, map[uint64]*meta{}
	for id, m := range tree.Metas {
		r.metas[id] = &meta{Meta: m}
	}
	return nil
}

// fromTree writes what a superblock leads to, and what the journal has beyond.
func (r *repairer) fromTree(s table.Superblock) error {
	r.report.From = fmt.Sprintf("the tree of superblock %d, and the journal", s.Seq)
	r.super.Cut = s.Cut
	end, err := r.replay(datafile.StoreID(s.UUID), chainOf(s), r.witness(s.UUID))
	if err != nil {
		return err
	}
	r.super.Segment = max(end.Segment, s.Segment, 1)
	switch last := max(r.last, message.Seq(s.Cut)); {
	case r.torn != "":
		r.report.lose(Loss{Older: true, Reason: fmt.Sprintf("%s: unless a crash tore it while it was written, it was the newer superblock, and changes after number %d that the journal does not have are lost", r.torn, last)})
	case last < r.promised:
		r.report.lose(Loss{Older: true, Reason: fmt.Sprintf("changes %d to %d: the table of the newer superblock is damaged, and the journal does not have them", last+1, r.promised)})
	}
	if r.root == nil {
		return nil
	}
	_ = partitions(r.root, func(p trunk.Partition) error {
		for _, ref := range p.Refs {
			r.metas[ref.Branch.Meta.ID].uses++
		}
		return nil
	})
	return partitions(r.root, r.partition)
}

// partitions calls visit with each partition of a tree, by key.
func partitions(root *trunk.Node, visit func(trunk.Partition) error) error {
	for lo := []byte(nil); ; {
		p := root.At(lo)
		if err := visit(p); err != nil || p.Hi == nil {
			return err
		}
		lo = p.Hi
	}
}

// partition writes one partition of the old tree.
func (r *repairer) partition(p trunk.Partition) error {
	var active []*oldBranch
	var tombs []message.RangeTombstone
	for _, ref := range p.Refs {
		id := ref.Branch.Meta.ID
		s := r.old[id]
		if s == nil {
			var err error
			if s, err = r.openOld(&r.metas[id].Meta); err != nil {
				return err
			}
			r.old[id] = s
		}
		for s.stands && bytes.Compare(s.m.Key, p.Lo) < 0 {
			if err := s.advance(); err != nil {
				return err
			}
		}
		for _, t := range s.tombs {
			tombs = merge.AppendClipped(tombs, t, p.Lo, p.Hi)
		}
		active = append(active, s)
	}
	r.begin(p.Lo, tombs)
	for s := least(active); s != nil && (p.Hi == nil || bytes.Compare(s.m.Key, p.Hi) < 0); s = least(active) {
		if err := cmp.Or(r.put(s), s.advance()); err != nil {
			return err
		}
	}
	if err := r.end(p.Hi); err != nil {
		return err
	}
	for i, s := range active {
		for _, l := range s.clipped(p.Lo, p.Hi, i+1 < len(active)) {
			r.report.lose(l)
		}
		if m := r.metas[s.id]; m.uses > 1 {
			m.uses--
		} else {
			s.close()
			delete(r.old, s.id)
		}
	}
	return nil
}

// least is the source whose message comes first; of equal ones a value before
// an operand, and then the newer source. Nil: all are at their ends.
func least(sources []*oldBranch) *oldBranch {
	var best *oldBranch
	for _, s := range sources {
		if s.stands && (best == nil || s.before(best)) {
			best = s
		}
	}
	return best
}

func (s *oldBranch) before(t *oldBranch) bool {
	if c := message.Compare(s.m, t.m); c != 0 {
		return c < 0
	}
	if a, b := s.m.Kind == message.Merge, t.m.Kind == message.Merge; a != b {
		return b
	}
	return s.epoch > t.epoch || s.epoch == t.epoch && s.id > t.id
}
