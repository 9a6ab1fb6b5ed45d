package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// NoMerger is a Merger with only a name: tools that inspect the messages of a
// store without merging them open it with that.
type NoMerger string

// Name implements message.Merger.
func (n NoMerger) Name() string { return string(n) }

// Combine keeps the newer operand, which is not a meaningful result.
func (n NoMerger) Combine(dst, _, _, newer []byte) []byte { return append(dst, newer...) }

// Apply turns the operand into a value, which is not a meaningful result.
func (n NoMerger) Apply(dst, _, _ []byte, _ bool, operand []byte) []byte {
	return append(dst, operand...)
}

// Anatomy describes the files of a store, except for the messages.
type Anatomy struct {
	Files []FileSize
	// Slots are the slots A and B of superblocks.
	Slots [2]SuperSlot
	// Used is the slot whose table this is: the newer one that leads to a
	// table.
	Used  int
	Table *table.Table // nil if no superblock leads to a table
	// Branches are all branches in the table, by id.
	Branches []branch.Meta
	// Root is the trunk, whose branches have no Index; nil if it is empty.
	Root *trunk.Node
	// Journal has the files of the journal.
	Journal []SegmentFile
	// Damage has the errors for the unreadable parts.
	Damage []error
}

// FileSize is a file in the store's directory.
type FileSize struct {
	Name  string
	Bytes int64
}

// SuperSlot is a superblock, if Err is nil.
type SuperSlot struct {
	Super table.Superblock
	Blank bool // nothing was ever written there
	Err   error
}

// SegmentFile is a file of the journal and the segment in it.
type SegmentFile struct {
	journal.File
	// Frames is the number of frames; they begin at the segment's first page
	// and are contiguous; they hold the changes from Info.First up to Last.
	Frames int
	Last   message.Seq
	Bytes  int64  // of the frames
	Stop   string // why there are no more
}

// anatomyMemory bounds the memory of Look, apart from its result, in bytes.
const anatomyMemory = 2 << 30

// Look reads the anatomy of a store that no process has open; of an open one it
// may combine two moments. It changes nothing. The error means that there is no
// store; damage is in the Anatomy.
func Look(disk env.Disk, dir string) (Anatomy, error) {
	var a Anatomy
	fail := func(err error) (Anatomy, error) { return a, fmt.Errorf("look at store %s: %w", dir, err) }
	if err := checkDisk(disk); err != nil {
		return fail(err)
	}
	names, err := disk.List(dir)
	if err != nil {
		return fail(err)
	}
	for _, name := range names {
		size, err := sizeOf(disk, path.Join(dir, name))
		if err != nil {
			continue // a directory, which is not the store's
		}
		a.Files = append(a.Files, FileSize{name, size})
	}
	first, second, err := slots(disk, dir)
	if err != nil {
		return fail(err)
	}
	for i, s := range []slot{first, second} {
		a.Slots[i] = SuperSlot{Super: s.super, Blank: s.blank, Err: s.err}
	}
	if err := a.readTable(disk, dir); err != nil {
		return fail(err)
	}
	if a.Table != nil {
		if err := a.readJournal(disk, dir); err != nil {
			a.Damage = append(a.Damage, err)
		}
	}
	return a, nil
}

func sizeOf(disk env.Disk, name string) (int64, error) {
	f, err := disk.Open(name, false)
	if err != nil {
		return 0, err
	}
	size, err := f.Size()
	return size, errors.Join(err, f.Close())
}

// readTable reads the table of the newer superblock that leads to one.
func (a *Anatomy) readTable(disk env.Disk, dir string) error {
	r := &repairer{dir: dir, disk: disk, pool: slab.New(anatomyMemory)}
	defer r.close()
	if err := r.openIn(); err != nil {
		return err
	}
	order := []int{0, 1}
	if a.Slots[1].Super.Seq > a.Slots[0].Super.Seq {
		order = []int{1, 0}
	}
	for _, i := range order {
		if a.Slots[i].Err != nil {
			continue
		}
		if err := r.loadTree(a.Slots[i].Super); err != nil {
			a.Damage = append(a.Damage, fmt.Errorf("superblock in slot %c: %w", 'A'+i, err))
			continue
		}
		a.Used, a.Table, a.Root = i, r.table, r.root
		for _, m := range r.metas {
			a.Branches = append(a.Branches, m.Meta)
		}
		slices.SortFunc(a.Branches, func(a, b branch.Meta) int { return int(int64(a.ID) - int64(b.ID)) })
		return nil
	}
	return nil
}

func (a *Anatomy) readJournal(disk env.Disk, dir string) error {
	id := storeOf(a.Slots[a.Used].Super.UUID)
	log, err := journal.Open(disk, dir, journal.Options{Store: id})
	if err != nil {
		return err
	}
	defer log.Close()
	for _, f := range log.Files() {
		s := SegmentFile{File: f, Last: f.Info.First - 1}
		if f.Flaw.OK() {
			if err := s.walk(disk, dir, id); err != nil {
				return err
			}
		}
		a.Journal = append(a.Journal, s)
	}
	return nil
}

// walk reads the frames of a segment.
func (s *SegmentFile) walk(disk env.Disk, dir string, id uint64) error {
	f, err := disk.Open(path.Join(dir, s.Name), false)
	if err != nil {
		return err
	}
	defer f.Close()
	scan := journal.NewScanner(id, journal.ChainState{Segment: s.Info.Number, Prev: s.Info.Prev, Session: s.Info.Session, Next: s.Info.First})
	size := int(min(s.Size, int64(s.Info.Size))) &^ (journal.PageSize - 1)
	if flaw := scan.Enter(s.Info, size); !flaw.OK() {
		s.Stop = flaw.Found()
		return nil
	}
	image := make([]byte, size)
	for have := 0; ; {
		step := scan.Step(image[:have])
		switch step.Kind {
		case journal.More:
			upTo := min(max(step.End, have+pieceBytes), size)
			if n, err := f.ReadAt(image[have:upTo], int64(have)); err != nil && !errors.Is(err, io.EOF) {
				return err
			} else if n == 0 {
				s.Stop = "the end of the file"
				return nil
			}
			have = upTo
		case journal.Next:
			s.Frames++
			s.Last, s.Bytes = step.Header.Last(), s.Bytes+int64(step.End-step.Off)
		default:
			s.Stop = fmt.Sprintf("want %s, found %s", step.Flaw.Want(), step.Flaw.Found())
			return nil
		}
	}
}

// Messages calls visit with the messages of keys in [lo, hi), nil bounds being
// open, that count in the present store: those of memtables, newest first, and
// then partition by partition those of its branches, newest first. Where names
// the memtable or branch. Range deletes that reach into the range are included.
// A message is valid until visit returns; Messages ends when visit returns
// false.
//
// Messages skips damaged parts, up to the next branch; the error then has the
// damaged places.
func (db *DB) Messages(lo, hi []byte, visit func(where string, m message.Message) (more bool)) error {
	if lo != nil && hi != nil && bytes.Compare(lo, hi) > 0 {
		return fmt.Errorf("%w: from %q to %q", ErrBounds, lo, hi)
	}
	s := db.acquire()
	defer db.release(s)
	if err := db.open(); err != nil {
		return err
	}
	for _, m := range s.mems {
		if more, err := memMessages(m, lo, hi, visit); err != nil || !more {
			return err
		}
	}
	var bad []error
	for at := lo; ; {
		p := s.root.At(at)
		from, to := p.Lo, p.Hi
		if bytes.Compare(from, lo) < 0 {
			from = lo
		}
		if hi != nil && (to == nil || bytes.Compare(hi, to) < 0) {
			to = hi
		}
		for _, r := range p.Refs {
			more, err := branchMessages(r.Branch, from, to, visit)
			if err = explain(err); errors.Is(err, ErrCorrupt) {
				bad = append(bad, err)
			} else if err != nil {
				return err
			}
			if !more {
				return errors.Join(bad...)
			}
		}
		if p.Hi == nil || hi != nil && bytes.Compare(p.Hi, hi) >= 0 {
			return errors.Join(bad...)
		}
		at = p.Hi
	}
}

func memMessages(m *mem, lo, hi []byte, visit func(string, message.Message) bool) (more bool, err error) {
	view, ok := m.table.View()
	if !ok {
		return false, fmt.Errorf("%w: no room to sort a memtable", ErrMemory)
	}
	defer view.Release()
	it := view.Iter()
	defer it.Close()
	where := fmt.Sprintf("memtable %d", m.number)
	for ok := it.First(); ok; ok = it.Next() {
		e := it.Message()
		end := e.Key
		if e.Kind == message.RangeDelete {
			end = e.Value
		}
		if hi != nil && bytes.Compare(e.Key, hi) >= 0 {
			break
		}
		if bytes.Compare(end, lo) < 0 || e.Kind == message.RangeDelete && bytes.Equal(end, lo) {
			continue
		}
		if !visit(where, e) {
			return false, nil
		}
	}
	return true, it.Err()
}

func branchMessages(b *trunk.Branch, lo, hi []byte, visit func(string, message.Message) bool) (more bool, err error) {
	where := fmt.Sprintf("branch %d", b.Meta.ID)
	for _, t := range b.Tombstones() {
		if (hi == nil || bytes.Compare(t.Lo, hi) < 0) && bytes.Compare(lo, t.Hi) < 0 {
			if !visit(where, message.Message{Key: t.Lo, Value: t.Hi, Seq: t.Seq, Kind: message.RangeDelete}) {
				return false, nil
			}
		}
	}
	it := b.Index.Iter(branch.IterOptions{Lo: lo, Hi: hi})
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		if !visit(where, it.Message()) {
			return false, nil
		}
	}
	return true, it.Err()
}
