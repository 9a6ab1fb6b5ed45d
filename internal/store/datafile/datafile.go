// SPDX-License-Identifier: Apache-2.0

// Package datafile knows the files of a store: their names, where the data file
// has its superblocks, and how a repair replaces it.
//
// In: a disk and a directory. Out: superblocks, and the tree to which one leads,
// without the contents of its branches. Promised: reading changes nothing.
// Refused: to interpret the parts of the tree, and to decide which of two
// superblocks counts.
package datafile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// The names in the directory of a store.
const (
	Name     = "DATA"
	New      = "DATA.new" // until it is complete
	Repaired = "DATA.repaired"
	Lock     = "LOCK"
)

// CheckDisk returns an error if the world of a program has no disk.
func CheckDisk(disk env.Disk) error {
	if disk == nil {
		return errors.New("the env.Env has no Disk: set it to the one that osenv.OpenDisk(directory) returns")
	}
	return nil
}

// CompleteRepair does the second rename of a repair that a crash has kept from
// it: the directory has no DATA, but one that was complete before the first.
func CompleteRepair(disk env.Disk, dir string) error {
	names, err := disk.List(dir)
	if err != nil || slices.Contains(names, Name) || !slices.Contains(names, Repaired) {
		return err
	}
	if err := disk.Rename(path.Join(dir, Repaired), path.Join(dir, Name)); err != nil {
		return err
	}
	return disk.SyncDir(dir)
}

// Slot is what one of the two places of superblocks holds.
type Slot struct {
	Super table.Superblock
	Blank bool // nothing was ever written there
	Err   error
}

// Slots reads both superblocks of a store. It returns an error if there is no
// file.
func Slots(disk env.Disk, dir string) (s [2]Slot, err error) {
	f, err := disk.Open(path.Join(dir, Name), false)
	if err != nil {
		return s, err
	}
	page := make([]byte, table.SuperSize)
	for i := range s {
		s := &s[i]
		if n, err := f.ReadAt(page, table.SuperAddr(i)); n < len(page) && err != nil && !errors.Is(err, io.EOF) {
			s.Err = err
			continue
		} else if clear(page[n:]); !slices.ContainsFunc(page, func(c byte) bool { return c != 0 }) {
			s.Blank = true
		}
		s.Super, s.Err = table.DecodeSuper(page)
	}
	return s, f.Close()
}

// StoreID is a store's name for its journal.
func StoreID(uuid [16]byte) uint64 { return binary.LittleEndian.Uint64(uuid[:]) }

// ReadFull fills b from the file, or returns an error if it is shorter.
func ReadFull(f interface {
	ReadAt([]byte, int64) (int, error)
}, b []byte, off int64) error {
	if n, err := f.ReadAt(b, off); n < len(b) {
		if err == nil {
			err = fmt.Errorf("%d bytes instead of %d", n, len(b))
		}
		return fmt.Errorf("read %s at %d: %w", Name, off, err)
	}
	return nil
}

// AllocateHead makes room for the first checkpoint's superblock, which must not
// find that the disk has none, and for the witness.
func AllocateHead(f env.File) error {
	if s, ok := f.(env.SpaceFile); ok {
		return cmp.Or(s.Allocate(table.SuperAddr(1), table.SuperSize), s.Allocate(WitnessAddr, WitnessSize))
	}
	return nil
}

// Tree is the trunk in a table, and the table's metadata of its branches.
type Tree struct {
	Root  *trunk.Node // nil: the tree is empty; its branches have no Index
	Metas map[uint64]branch.Meta
}

// TreeOf decodes the tree of a table.
func TreeOf(t *table.Table) (Tree, error) {
	from := bare{t, map[uint64]*trunk.Branch{}}
	tree := Tree{Metas: map[uint64]branch.Meta{}}
	var root uint64
	for _, o := range t.Objects() {
		switch o.Kind {
		case table.Root:
			root = o.ID
		case table.Branch:
			m, err := branch.DecodeMeta(o.Body)
			if err != nil {
				return tree, fmt.Errorf("branch %d: %w", o.ID, err)
			}
			tree.Metas[o.ID] = m
			m.RangeDeletes = 0 // those are in the index
			from.branches[o.ID] = trunk.NewBranch(m, nil)
		}
	}
	var err error
	if root != 0 {
		tree.Root, err = trunk.Decode(root, from)
	}
	return tree, err
}

// LoadTable reads the table to which a superblock leads, in chunks that chunk reads.
func LoadTable(f io.ReaderAt, super table.Superblock, pool *slab.Pool) (*table.Table, error) {
	return table.Load(super, func(l table.Loc) ([]byte, error) { return Chunk(f, l, pool) })
}

// Chunk reads a chunk of the table into heap memory: tables are small compared
// to the data that they list. The pool lends the buffer that direct access
// needs.
func Chunk(f io.ReaderAt, l table.Loc, pool *slab.Pool) ([]byte, error) {
	buf, ok := pool.Alloc(int(l.Len))
	if !ok {
		return nil, fmt.Errorf("%w of %d bytes for the table", ErrMemory, l.Len)
	}
	defer pool.Free(buf)
	if err := ReadFull(f, buf, l.Addr); err != nil {
		return nil, err
	}
	return bytes.Clone(buf), nil
}

// ErrMemory reports that the pool has no buffer.
var ErrMemory = errors.New("no buffer")

// bare gives the trunk branches that cannot be read.
type bare struct {
	table    *table.Table
	branches map[uint64]*trunk.Branch
}

func (s bare) Node(id uint64) ([]byte, bool) {
	o, ok := s.table.Get(id)
	return o.Body, ok && (o.Kind == table.Node || o.Kind == table.Root)
}

func (s bare) Branch(id uint64) (*trunk.Branch, bool) {
	b, ok := s.branches[id]
	return b, ok
}
