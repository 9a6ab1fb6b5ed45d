// SPDX-License-Identifier: Apache-2.0

// Package repair makes a consistent store from a damaged one.
//
// In: the directory of a store that no process has open. Out: a new data file in
// place of the old one, which gets another name, and a Report of what was lost.
// Promised: only bytes with the right checksum are used; all keys that the report
// does not name keep their values; a crash leaves the old store or the new one.
// Refused: to guess, and to change an undamaged store.
package repair

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/inspect"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
	"github.com/ashlar-dev/ashlar/internal/store/memtable"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
	"github.com/ashlar-dev/ashlar/store"
)

// A repair writes a new data file beside the damaged one, out of everything
// that is whole, and then gives it the name. It never guesses: bytes count when
// their checksum says so, and of what is left out the report says which keys
// it may concern, and how.
//
// What is read is the tree of the newest superblock whose table is whole:
// partition by partition all messages of the branches that the trunk refers to
// there, block by block. A block that is damaged is left out; where the index of
// a branch is damaged, its blocks are found in its runs, since each says whose
// it is, and its range deletes in the blocks that hold them once more. Messages
// keep their numbers, and none that is whole is dropped. The journal is read
// as recovery does, up to where it is damaged.
//
// If no superblock leads to a table, all pages are searched for blocks. Then
// it is unknown which branches were in use: for each key the newest message that
// was found counts, and deleted keys may be back.
//
// Nothing is written over. The new file is DATA.repaired until it is complete
// and durable; then DATA becomes DATA.damaged-N, and DATA.repaired becomes DATA,
// each durable before the next. A crash leaves the old store, or the new one, or
// the moment between the two renames, which Open completes. The files of the
// journal are copied aside before, and removed afterwards. The new store has
// another identity, so that nothing of the old journal can be taken for its own.

// savedInfix is in the names of the files that a repair has replaced.
const savedInfix = ".damaged-"

// ErrAmbiguous reports that a repair would have to guess.
var ErrAmbiguous = errors.New("ambiguous")

// Store makes a sound store of a damaged one that no process has open, and
// keeps the old files beside it. It does not change a sound store. Options are
// those of Open; Memory bounds the memory of the repair, the Merger is not
// needed.
//
// After an error the store is unchanged, except after an error that wraps
// store.ErrStopped: then the new store is in place, but could not be made durable or
// the old journal could not be removed; the caller may call it again. It
// returns ErrAmbiguous if no superblock leads to a table and merge messages
// cannot be distinguished from copies that were merged before.
func Store(world env.Env, dir string, o store.Options) (Report, error) {
	o.ReadOnly = false
	o, err := o.Complete(world)
	if err != nil {
		return Report{}, fmt.Errorf("repair store %s: %w", dir, err)
	}
	r := &repairer{o: o, dir: dir, world: world, disk: world.Disk, log: o.Log, old: map[uint64]*oldBranch{}}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	err = r.run()
	r.close()
	if err != nil {
		err = fmt.Errorf("repair store %s: %w", dir, explain(err))
	}
	return r.report, err
}

// repairer is a repair at work. It is for one goroutine.
type repairer struct {
	o     store.Options
	dir   string
	world env.Env
	disk  env.Disk
	log   *slog.Logger
	lock  io.Closer

	report Report
	pool   *slab.Pool
	coder  block.Coder
	in     env.File
	size   int64  // of in, whole pages
	piece  []byte // to read and copy with

	// The tree that is read, nil when all pages are searched.
	root  *trunk.Node
	metas map[uint64]*meta
	old   map[uint64]*oldBranch

	super table.Superblock // of the new store
	// nameless reports that there is no old superblock that records the store's
	// features.
	nameless bool
	// promised is the number of the last change of which a superblock knows,
	// torn that a superblock cannot be read at all.
	promised message.Seq
	torn     string

	build
	search
}

func (r *repairer) run() error {
	if d, ok := r.disk.(env.LockDisk); ok {
		lock, err := d.Lock(path.Join(r.dir, datafile.Lock))
		if err != nil {
			return err
		}
		r.lock = lock
	}
	if err := datafile.CompleteRepair(r.disk, r.dir); err != nil {
		return err
	}
	if sound, err := r.examine(); err != nil || sound {
		return err
	}
	r.pool = slab.New(max(slab.Share(r.o.Memory, r.o.Memory >= store.MemoryMin), 4*int64(r.o.Tuning.MemtableBytes)))
	if err := r.openIn(); err != nil {
		return err
	}
	supers, err := r.readSupers()
	if err != nil {
		return err
	}
	if err := r.openOut(supers); err != nil {
		return err
	}
	if err := r.rebuild(supers); err != nil {
		return err
	}
	if err := r.finish(); err != nil {
		return err
	}
	return r.replace()
}

func (r *repairer) close() {
	for _, s := range r.old {
		s.close()
	}
	for _, s := range r.groups {
		s.close()
	}
	r.closeBuild()
	if r.pool != nil {
		r.found.close(r.pool)
		if r.piece != nil {
			r.pool.Free(r.piece)
		}
		r.pool.Close()
	}
	// What was written is synced, or given up.
	if r.in != nil {
		_ = r.in.Close()
	}
	if r.out != nil {
		_ = r.out.Close()
	}
	if r.lock != nil {
		_ = r.lock.Close()
	}
}

// examine says whether the store is sound, or notes what is wrong with it.
func (r *repairer) examine() (sound bool, err error) {
	o := r.o
	o.ReadOnly = true
	world := r.world
	world.Disk = unlocked(r.disk)
	db, err := store.Open(world, r.dir, o)
	if errors.Is(err, store.ErrMerger) {
		// Any merger will do, since nothing is merged.
		var super table.Superblock
		if super, err = inspect.Superblock(r.disk, r.dir); err == nil {
			o.Merger = inspect.NoMerger(super.Merger)
			db, err = store.Open(world, r.dir, o)
		}
	}
	var newer *table.VersionError
	switch {
	case errors.Is(err, store.ErrMemory), errors.Is(err, store.ErrMerger), errors.Is(err, fs.ErrNotExist), errors.As(err, &newer):
		return false, err
	case err != nil:
		r.report.damage(err)
		return false, nil
	}
	report, err := db.Verify(context.Background())
	err = errors.Join(err, db.Close())
	if errors.Is(err, store.ErrMemory) {
		return false, err
	}
	if err != nil {
		r.report.damage(err)
	}
	for _, p := range report.Problems {
		var at *store.CorruptError
		if errors.As(p, &at) && strings.HasPrefix(path.Base(at.File), datafile.HistoryPrefix) {
			continue // the data are sound, and a new store would have no history at all
		}
		r.report.damage(p)
	}
	r.report.MoreDamage += report.More
	if len(r.report.Damage) > 0 {
		return false, nil
	}
	return r.supersSound()
}

// unlocked is a disk whose locks cannot be taken: the repair has the store's.
func unlocked(disk env.Disk) env.Disk {
	if d, ok := disk.(env.DirectDisk); ok {
		return struct{ env.DirectDisk }{d}
	}
	return struct{ env.Disk }{disk}
}

// supersSound says whether both superblocks can be read, or there is one only.
func (r *repairer) supersSound() (bool, error) {
	slots, err := datafile.Slots(r.disk, r.dir)
	if err != nil {
		return false, err
	}
	for i, s := range slots {
		other := slots[1-i]
		if s.Err != nil && !(s.Blank && other.Err == nil && other.Super.Seq == 1) {
			r.report.damage(fmt.Errorf("%s: superblock in slot %c: %w", datafile.Name, 'A'+i, s.Err))
		}
	}
	return len(r.report.Damage) == 0, nil
}

func (r *repairer) openFile(name string, create bool) (env.File, error) {
	if d, ok := r.disk.(env.DirectDisk); ok {
		f, _, err := d.OpenDirect(name, create)
		return f, err
	}
	return r.disk.Open(name, create)
}

func (r *repairer) openIn() error {
	in, err := r.openFile(path.Join(r.dir, datafile.Name), false)
	if err != nil {
		return err
	}
	r.in = in
	size, err := in.Size()
	if err != nil {
		return err
	}
	r.size = min(size/extent.PageSize, 1<<32-2) * extent.PageSize
	var ok bool
	if r.piece, ok = r.pool.Alloc(pieceBytes); !ok {
		return fmt.Errorf("%w: no buffer of %d bytes", store.ErrMemory, pieceBytes)
	}
	return nil
}

// pieceBytes is how much is read or copied at once.
const pieceBytes = 256 << 10

// readSupers returns the superblocks that are whole, the newer first.
func (r *repairer) readSupers() ([]table.Superblock, error) {
	slots, err := datafile.Slots(r.disk, r.dir)
	if err != nil {
		return nil, err
	}
	var supers []table.Superblock
	for i, s := range slots {
		var newer *table.VersionError
		switch {
		case errors.As(s.Err, &newer):
			return nil, s.Err
		case s.Err == nil:
			supers = append(supers, s.Super)
			r.promised = max(r.promised, message.Seq(s.Super.Cut))
		default:
			r.torn = fmt.Sprintf("superblock in slot %c: %v", 'A'+i, s.Err)
		}
	}
	switch {
	case len(supers) == 1 && supers[0].Seq == 1 && (slots[0].Blank || slots[1].Blank):
		r.torn = "" // the second was not written yet
	case len(supers) == 2 && supers[0].UUID != supers[1].UUID:
		return nil, fmt.Errorf("%w: the superblocks belong to two stores, %x and %x", ErrAmbiguous, supers[0].UUID, supers[1].UUID)
	case len(supers) == 2 && supers[0].Seq == supers[1].Seq:
		supers = supers[:1]
	case len(supers) == 2 && supers[0].Seq < supers[1].Seq:
		supers[0], supers[1] = supers[1], supers[0]
	}
	return supers, nil
}

// witness is what the old store's says; one that cannot be read says nothing.
func (r *repairer) witness(uuid [16]byte) journal.Testimony {
	durable, _ := datafile.ReadWitness(r.in, r.piece, uuid)
	return journal.Testimony{File: datafile.Name, Offset: datafile.WitnessAddr, Durable: message.Seq(durable)}
}

// newIdentity is the superblock of the new store, as far as it is known before
// anything is read.
func (r *repairer) newIdentity(supers []table.Superblock) {
	r.super = table.Superblock{Seq: 1, Segment: 1, Epoch: 1, Clean: true, Life: r.world.Random.Uint64() & table.LifeMax}
	binary.LittleEndian.PutUint64(r.super.UUID[:], r.world.Random.Uint64())
	binary.LittleEndian.PutUint64(r.super.UUID[8:], r.world.Random.Uint64())
	r.nameless = len(supers) == 0
	for _, s := range supers {
		r.super.Merger = s.Merger
		r.super.Features |= s.Features
		r.super.Epoch = max(r.super.Epoch, s.Epoch+1)
	}
	if r.super.Merger == "" && r.o.Merger != nil {
		r.super.Merger = r.o.Merger.Name()
	}
}

// replace puts the new data file in the place of the old one, which gets
// another name.
func (r *repairer) replace() error {
	names, err := r.disk.List(r.dir)
	if err != nil {
		return err
	}
	suffix := ""
	for n := 1; suffix == "" || slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, suffix) }); n++ {
		suffix = fmt.Sprintf("%s%d", savedInfix, n)
	}
	for _, name := range names {
		if !journal.IsName(name) {
			continue
		}
		if err := r.copyFile(name, name+suffix); err != nil {
			return fmt.Errorf("copy %s aside: %w", name, err)
		}
		r.report.Saved = append(r.report.Saved, name+suffix)
	}
	if err := r.disk.SyncDir(r.dir); err != nil {
		return err
	}
	if err := r.disk.Rename(path.Join(r.dir, datafile.Name), path.Join(r.dir, datafile.Name+suffix)); err != nil {
		return err
	}
	r.report.Saved = append([]string{datafile.Name + suffix}, r.report.Saved...)
	if err := r.disk.SyncDir(r.dir); err != nil {
		return fmt.Errorf("%w: %w", store.ErrStopped, err)
	}
	if err := datafile.CompleteRepair(r.disk, r.dir); err != nil {
		return fmt.Errorf("%w: %w", store.ErrStopped, err)
	}
	if err := journal.Remove(r.disk, r.dir); err != nil {
		return fmt.Errorf("%w: %w", store.ErrStopped, err)
	}
	r.report.Repaired = true
	return nil
}

// copyFile copies a file of the directory, and makes the copy durable but for
// its name.
func (r *repairer) copyFile(from, to string) (err error) {
	in, err := r.openFile(path.Join(r.dir, from), false)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, in.Close()) }()
	out, err := r.openFile(path.Join(r.dir, to), true)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, out.Close()) }()
	size, err := in.Size()
	if err != nil {
		return err
	}
	for at := int64(0); at < size; at += int64(len(r.piece)) {
		n := min(int64(len(r.piece)), size-at)
		piece := r.piece[:(n+extent.PageSize-1)/extent.PageSize*extent.PageSize]
		r.readPages(in, from, piece, at)
		if _, err := out.WriteAt(piece, at); err != nil {
			return err
		}
	}
	return out.Sync()
}

// explain turns the errors of branches into the store's.
func explain(err error) error {
	var c *branch.Corrupt
	switch {
	case errors.As(err, &c):
		return &store.CorruptError{File: datafile.Name, Offset: c.Addr, Branch: c.Branch, Block: c.Block, Lo: c.Lo, Hi: c.Hi, Want: c.Want, Found: c.Found}
	case errors.Is(err, branch.ErrMemory), errors.Is(err, memtable.ErrMemory), errors.Is(err, datafile.ErrMemory):
		return fmt.Errorf("%w: %w", store.ErrMemory, err)
	}
	return err
}
