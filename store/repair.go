package store

import (
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
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
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
// nobody knows which branches were in use: of each key the newest message that
// was found counts, and what had been deleted may be back.
//
// Nothing is written over. The new file is DATA.repaired until it is complete
// and durable; then DATA becomes DATA.damaged-N, and DATA.repaired becomes DATA,
// each durable before the next. A crash leaves the old store, or the new one, or
// the moment between the two renames, which Open completes. The files of the
// journal are copied aside before, and removed afterwards. The new store has
// another identity, so that nothing of the old journal can be taken for its own.

const (
	dataRepaired = "DATA.repaired"
	savedInfix   = ".damaged-"
)

// ErrAmbiguous reports that a repair would have to guess.
var ErrAmbiguous = errors.New("ambiguous")

// Repair makes a sound store of a damaged one that no process has open, and
// keeps the old files beside it. It does not change a sound store. Options are
// those of Open; Memory bounds the memory of the repair, the Merger is not
// needed.
//
// After an error the store is unchanged, except after an error that wraps
// ErrStopped: then the new store is in place, but could not be made durable or
// the old journal could not be removed; the caller may call Repair again. It
// returns ErrAmbiguous if no superblock leads to a table and merge messages
// cannot be distinguished from copies that were merged before.
func Repair(world env.Env, dir string, o Options) (RepairReport, error) {
	o, err := o.complete()
	if err == nil {
		o.ReadOnly = false
		err = checkWorld(world, o)
	}
	if err != nil {
		return RepairReport{}, fmt.Errorf("repair store %s: %w", dir, err)
	}
	r := &repairer{o: o, dir: dir, world: world, disk: world.Disk, log: o.Log, relics: map[uint64]*relic{}}
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
	o     Options
	dir   string
	world env.Env
	disk  env.Disk
	log   *slog.Logger
	lock  io.Closer

	report RepairReport
	pool   *slab.Pool
	coder  block.Coder
	in     env.File
	size   int64  // of in, whole pages
	piece  []byte // to read and copy with

	// The tree that is read, nil when all pages are searched.
	root   *trunk.Node
	table  *table.Table
	metas  map[uint64]*meta
	relics map[uint64]*relic

	super table.Superblock // of the new store
	// promised is the number of the last change of which a superblock knows,
	// torn that a superblock cannot be read at all.
	promised message.Seq
	torn     string

	build
	search
}

func (r *repairer) run() error {
	if d, ok := r.disk.(env.LockDisk); ok {
		lock, err := d.Lock(path.Join(r.dir, lockFile))
		if err != nil {
			return err
		}
		r.lock = lock
	}
	if err := completeRepair(r.disk, r.dir); err != nil {
		return err
	}
	if sound, err := r.examine(); err != nil || sound {
		return err
	}
	r.pool = slab.New(r.o.poolBytes())
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
	for _, s := range r.relics {
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

// completeRepair does the second rename of a repair that a crash has kept from
// it: the directory has no DATA, but one that was complete before the first.
func completeRepair(disk env.Disk, dir string) error {
	names, err := disk.List(dir)
	if err != nil || slices.Contains(names, dataFile) || !slices.Contains(names, dataRepaired) {
		return err
	}
	if err := disk.Rename(path.Join(dir, dataRepaired), path.Join(dir, dataFile)); err != nil {
		return err
	}
	return disk.SyncDir(dir)
}

// examine says whether the store is sound, or notes what is wrong with it.
func (r *repairer) examine() (sound bool, err error) {
	o := r.o
	o.ReadOnly, o.locked = true, true
	db, err := Open(r.world, r.dir, o)
	if errors.Is(err, ErrMerger) {
		// Any merger will do, since nothing is merged.
		var super table.Superblock
		if super, err = Inspect(r.disk, r.dir); err == nil {
			o.Merger = NoMerger(super.Merger)
			db, err = Open(r.world, r.dir, o)
		}
	}
	var newer *table.VersionError
	switch {
	case errors.Is(err, ErrMemory), errors.Is(err, ErrMerger), errors.Is(err, fs.ErrNotExist), errors.As(err, &newer):
		return false, err
	case err != nil:
		r.report.damage(err)
		return false, nil
	}
	report, err := db.Verify(context.Background())
	err = errors.Join(err, db.Close())
	if errors.Is(err, ErrMemory) {
		return false, err
	}
	if err != nil {
		r.report.damage(err)
	}
	for _, p := range report.Problems {
		r.report.damage(p)
	}
	r.report.MoreDamage += report.More
	if len(r.report.Damage) > 0 {
		return false, nil
	}
	return r.supersSound()
}

// supersSound says whether both superblocks can be read, or there is one only.
func (r *repairer) supersSound() (bool, error) {
	a, b, err := slots(r.disk, r.dir)
	if err != nil {
		return false, err
	}
	for i, s := range []slot{a, b} {
		other := []slot{b, a}[i]
		if s.err != nil && !(s.blank && other.err == nil && other.super.Seq == 1) {
			r.report.damage(fmt.Errorf("%s: superblock in slot %c: %w", dataFile, 'A'+i, s.err))
		}
	}
	return len(r.report.Damage) == 0, nil
}

// slot is what one of the two places of superblocks holds.
type slot struct {
	super table.Superblock
	blank bool
	err   error
}

// slots reads both superblocks of a store. The error is that there is no file.
func slots(disk env.Disk, dir string) (a, b slot, err error) {
	f, err := disk.Open(path.Join(dir, dataFile), false)
	if err != nil {
		return a, b, err
	}
	page := make([]byte, table.SuperSize)
	for i, s := range []*slot{&a, &b} {
		if n, err := f.ReadAt(page, superAddr(i)); n < len(page) && err != nil && !errors.Is(err, io.EOF) {
			s.err = err
			continue
		} else if clear(page[n:]); !slices.ContainsFunc(page, func(c byte) bool { return c != 0 }) {
			s.blank = true
		}
		s.super, s.err = table.DecodeSuper(page)
	}
	return a, b, f.Close()
}

// Inspect reads the current superblock of a store, which may be open.
func Inspect(disk env.Disk, dir string) (table.Superblock, error) {
	var a, b slot
	err := checkDisk(disk)
	if err == nil {
		a, b, err = slots(disk, dir)
	}
	switch {
	case err != nil:
		return table.Superblock{}, fmt.Errorf("inspect store %s: %w", dir, err)
	case a.err != nil && b.err != nil:
		return table.Superblock{}, fmt.Errorf("inspect store %s: %w", dir, &CorruptError{
			File: dataFile, Want: "a superblock", Found: fmt.Sprintf("slot A: %v; slot B: %v", a.err, b.err)})
	case a.err == nil && (b.err != nil || a.super.Seq >= b.super.Seq):
		return a.super, nil
	}
	return b.super, nil
}

func (r *repairer) openFile(name string, create bool) (env.File, error) {
	if d, ok := r.disk.(env.DirectDisk); ok {
		f, _, err := d.OpenDirect(name, create)
		return f, err
	}
	return r.disk.Open(name, create)
}

func (r *repairer) openIn() error {
	in, err := r.openFile(path.Join(r.dir, dataFile), false)
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
		return fmt.Errorf("%w: no buffer of %d bytes", ErrMemory, pieceBytes)
	}
	return nil
}

// pieceBytes is how much is read or copied at once.
const pieceBytes = 256 << 10

// readSupers returns the superblocks that are whole, the newer first.
func (r *repairer) readSupers() ([]table.Superblock, error) {
	a, b, err := slots(r.disk, r.dir)
	if err != nil {
		return nil, err
	}
	var supers []table.Superblock
	for i, s := range []slot{a, b} {
		var newer *table.VersionError
		switch {
		case errors.As(s.err, &newer):
			return nil, s.err
		case s.err == nil:
			supers = append(supers, s.super)
			r.promised = max(r.promised, message.Seq(s.super.Cut))
		default:
			r.torn = fmt.Sprintf("superblock in slot %c: %v", 'A'+i, s.err)
		}
	}
	switch {
	case len(supers) == 1 && supers[0].Seq == 1 && (a.blank || b.blank):
		r.torn = "" // the second was not written yet
	case len(supers) == 2 && supers[0].UUID != supers[1].UUID:
		return nil, fmt.Errorf("%w: the superblocks are of two stores, %x and %x", ErrAmbiguous, supers[0].UUID, supers[1].UUID)
	case len(supers) == 2 && supers[0].Seq == supers[1].Seq:
		supers = supers[:1]
	case len(supers) == 2 && supers[0].Seq < supers[1].Seq:
		supers[0], supers[1] = supers[1], supers[0]
	}
	return supers, nil
}

// newIdentity is the superblock of the new store, as far as it is known before
// anything is read.
func (r *repairer) newIdentity(supers []table.Superblock) {
	r.super = table.Superblock{Seq: 1, Segment: 1, Epoch: 1, Clean: true, Life: r.world.Random.Uint64() & table.LifeMax}
	binary.LittleEndian.PutUint64(r.super.UUID[:], r.world.Random.Uint64())
	binary.LittleEndian.PutUint64(r.super.UUID[8:], r.world.Random.Uint64())
	for _, s := range supers {
		r.super.Merger = s.Merger
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
	if err := r.disk.Rename(path.Join(r.dir, dataFile), path.Join(r.dir, dataFile+suffix)); err != nil {
		return err
	}
	r.report.Saved = append([]string{dataFile + suffix}, r.report.Saved...)
	if err := r.disk.SyncDir(r.dir); err != nil {
		return fmt.Errorf("%w: %w", ErrStopped, err)
	}
	if err := completeRepair(r.disk, r.dir); err != nil {
		return fmt.Errorf("%w: %w", ErrStopped, err)
	}
	if err := journal.Remove(r.disk, r.dir); err != nil {
		return fmt.Errorf("%w: %w", ErrStopped, err)
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
	defer func() { err = first(err, in.Close()) }()
	out, err := r.openFile(path.Join(r.dir, to), true)
	if err != nil {
		return err
	}
	defer func() { err = first(err, out.Close()) }()
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
