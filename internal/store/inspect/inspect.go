// SPDX-License-Identifier: Apache-2.0

// Package inspect looks into the files of a store without opening it: its
// superblocks, its table and trunk, and the segments of its journal.
//
// In: a disk and the directory of a store, sound or damaged. Out: an Anatomy, which
// has what can be read and the errors for what cannot. Promised: nothing is
// changed, and bytes count only with the right checksum. Refused: the messages in
// branches, which store.DB.Messages lists, and repair.
package inspect

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
	"github.com/ashlar-dev/ashlar/store"
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
	Slots [2]datafile.Slot
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
	// Durable is the change up to which everything was durable, as the witness says; 0
	// if there is no witness.
	Durable message.Seq
	// History has the files of the history, by name.
	History []HistoryFile
	// Damage has the errors for the unreadable parts.
	Damage []error
}

// FileSize is a file in the store's directory.
type FileSize struct {
	Name  string
	Bytes int64
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

// HistoryFile is a file of the history with the changes First to Last.
type HistoryFile struct {
	FileSize
	First, Last message.Seq
	// Foreign reports that the file belongs to another store, and Stale that a crash left
	// it behind: its changes do not count, because no superblock has them.
	Foreign, Stale bool
}

// memoryMax bounds the memory of Look, apart from its result, in bytes.
const memoryMax = 2 << 30

// Look reads the anatomy of a store that no process has open; for an open one
// it may combine two moments. It changes nothing. It returns an error if there
// is no store; damage is in the Anatomy.
func Look(disk env.Disk, dir string) (Anatomy, error) {
	var a Anatomy
	fail := func(err error) (Anatomy, error) { return a, fmt.Errorf("inspect store %s: %w", dir, err) }
	if err := datafile.CheckDisk(disk); err != nil {
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
	if a.Slots, err = datafile.Slots(disk, dir); err != nil {
		return fail(err)
	}
	if err := a.readTable(disk, dir); err != nil {
		return fail(err)
	}
	if a.Table != nil {
		if err := a.readJournal(disk, dir); err != nil {
			a.Damage = append(a.Damage, err)
		}
		a.readHistory()
	}
	return a, nil
}

// readHistory looks at the names of the files.
func (a *Anatomy) readHistory() {
	super := a.Slots[a.Used].Super
	for _, f := range a.Files {
		id, first, last, ok := datafile.ParseHistoryName(f.Name)
		if !ok {
			continue
		}
		a.History = append(a.History, HistoryFile{
			FileSize: f, First: first, Last: last, Foreign: id != datafile.StoreID(super.UUID), Stale: last > message.Seq(super.Cut),
		})
	}
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
	f, err := disk.Open(path.Join(dir, datafile.Name), false)
	if err != nil {
		return err
	}
	defer f.Close()
	pool := slab.New(memoryMax)
	defer pool.Close()
	order := []int{0, 1}
	if a.Slots[1].Super.Seq > a.Slots[0].Super.Seq {
		order = []int{1, 0}
	}
	for _, i := range order {
		if a.Slots[i].Err != nil {
			continue
		}
		var tree datafile.Tree
		t, err := datafile.LoadTable(f, a.Slots[i].Super, pool)
		if err == nil {
			tree, err = datafile.TreeOf(t)
		}
		if err != nil {
			a.Damage = append(a.Damage, fmt.Errorf("superblock in slot %c: %w", 'A'+i, err))
			continue
		}
		a.Used, a.Table, a.Root = i, t, tree.Root
		durable, err := datafile.ReadWitness(f, make([]byte, datafile.WitnessSize), a.Slots[i].Super.UUID)
		if err != nil {
			a.Damage = append(a.Damage, err)
		}
		a.Durable = message.Seq(durable)
		for _, m := range tree.Metas {
			a.Branches = append(a.Branches, m)
		}
		slices.SortFunc(a.Branches, func(a, b branch.Meta) int { return int(int64(a.ID) - int64(b.ID)) })
		return nil
	}
	return nil
}

func (a *Anatomy) readJournal(disk env.Disk, dir string) error {
	id := datafile.StoreID(a.Slots[a.Used].Super.UUID)
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

// pieceBytes is how much is read at once.
const pieceBytes = 256 << 10

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

// Superblock reads the current superblock of a store, which may be open.
func Superblock(disk env.Disk, dir string) (table.Superblock, error) {
	var s [2]datafile.Slot
	err := datafile.CheckDisk(disk)
	if err == nil {
		s, err = datafile.Slots(disk, dir)
	}
	a, b := s[0], s[1]
	switch {
	case err != nil:
		return table.Superblock{}, fmt.Errorf("inspect store %s: %w", dir, err)
	case a.Err != nil && b.Err != nil:
		return table.Superblock{}, fmt.Errorf("inspect store %s: %w", dir, &store.CorruptError{
			File: datafile.Name, Want: "a superblock", Found: fmt.Sprintf("slot A: %v; slot B: %v", a.Err, b.Err)})
	case a.Err == nil && (b.Err != nil || a.Super.Seq >= b.Super.Seq):
		return a.Super, nil
	}
	return b.Super, nil
}
