// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// Options are a Log's. Zero values are the defaults, but Store should be the
// store's own.
type Options struct {
	// Store is the store's identity, as in Header.
	Store uint64
	// Spare is how many files are kept for reuse. Default 2; a negative number
	// means none.
	Spare int
	// Direct goes around the machine's page cache, where the disk is an
	// env.DirectDisk and can. Images and Buffer must then begin at multiples of
	// env.DirectUnit.
	Direct bool
	// Witness is what another file of the store says.
	Witness Testimony
	// Buffer is memory for reading, the Log's until Close: a multiple of
	// PageSize, best 1 MiB. Default: 64 KiB of the heap.
	Buffer []byte
}

const (
	spareDefault  = 2
	bufferDefault = 64 << 10
	namePrefix    = "JOURNAL-"
)

func (o Options) complete() (Options, error) {
	if o.Spare == 0 {
		o.Spare = spareDefault
	}
	if o.Buffer == nil {
		if o.Direct {
			return o, errors.New("journal: direct access needs a buffer")
		}
		o.Buffer = make([]byte, bufferDefault)
	}
	if len(o.Buffer) == 0 || len(o.Buffer)%PageSize != 0 {
		return o, fmt.Errorf("journal: a buffer of %d bytes; want a multiple of %d", len(o.Buffer), PageSize)
	}
	return o, nil
}

// Log is the journal's files in a directory. Each holds one segment at a time,
// and is used again for another when that is retired; the first page says which
// one it is, the file's name says nothing.
//
// Order of calls: Open, Replay once, then Begin, Write, Sync and Retire, then
// Close. After Replay it is safe for concurrent use; a Segment's Write is for
// one goroutine at a time. After a Write or Sync that failed the Log is over:
// every later call answers the same error, and nothing is written any more.
type Log struct {
	disk env.Disk
	dir  string
	opt  Options

	// syncing is held while files are synced, so that none is removed then. It
	// is taken before mu.
	syncing sync.Mutex

	mu       sync.Mutex
	slots    []*slot
	err      error // the first that failed
	replayed bool
	next     uint64 // the least number that Begin may take
	// named is false while a file may be lost with its name.
	named bool
	// zeroed reports that Options.Buffer has nothing but zeros.
	zeroed bool
}

// slot is a file.
type slot struct {
	name  string
	file  env.File
	size  int64
	info  SegmentInfo // of the first page, or of what was begun
	flaw  Flaw        // of the first page
	state slotState
	// unsynced is whether it may have something that is not durable and on which
	// a caller relies.
	unsynced bool
	// backed reports that the disk has room for all of it, which is not known of a
	// file that was found.
	backed bool
	// blank is from where on the file has space that was never written, when
	// it is below size.
	blank int64
}

type slotState uint8

const (
	// spare holds nothing that recovery would look at. Before Replay a file has
	// no state.
	spare slotState = iota + 1
	// dead holds a segment that recovery looks at, and in which it has found
	// nothing that continues the chain.
	dead
	// live holds a segment of the chain.
	live
)

// Open finds the journal's files in a directory, which exists, and reads their
// first pages. It changes nothing.
func Open(disk env.Disk, dir string, o Options) (*Log, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	names, err := disk.List(dir)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	l := &Log{disk: disk, dir: dir, opt: o}
	for _, name := range names {
		if _, ok := nameNumber(name); !ok {
			continue
		}
		s, err := l.openSlot(name, false)
		if err == nil {
			l.slots = append(l.slots, s)
			err = l.readFirstPage(s)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open journal: %w", err), l.Close())
		}
	}
	return l, nil
}

// Remove removes all of a journal's files in a directory, for a repair. The
// store's superblock must name a Segment above all of them, since a crash may
// bring them back until it returns.
func Remove(disk env.Disk, dir string) error {
	names, err := disk.List(dir)
	if err != nil {
		return fmt.Errorf("remove journal: %w", err)
	}
	for _, name := range names {
		if _, ok := nameNumber(name); !ok {
			continue
		}
		if err := disk.Remove(path.Join(dir, name)); err != nil {
			return fmt.Errorf("remove journal: %w", err)
		}
	}
	if err := disk.SyncDir(dir); err != nil {
		return fmt.Errorf("remove journal: %w", err)
	}
	return nil
}

var errClosed = errors.New("journal: closed")

// nameNumber is the number in a file's name.
func nameNumber(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, namePrefix)
	if !ok || len(digits) < 2 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	return n, err == nil
}

func (l *Log) openSlot(name string, create bool) (*slot, error) {
	at := path.Join(l.dir, name)
	s := &slot{name: name}
	var err error
	if d, ok := l.disk.(env.DirectDisk); ok && l.opt.Direct {
		s.file, _, err = d.OpenDirect(at, create)
	} else {
		s.file, err = l.disk.Open(at, create)
	}
	if err != nil {
		return nil, err
	}
	if s.size, err = s.file.Size(); err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	s.blank = s.size
	return s, nil
}

func (l *Log) readFirstPage(s *slot) error {
	page := l.opt.Buffer[:PageSize]
	n, err := s.file.ReadAt(page, 0)
	if err != nil && err != io.EOF {
		return fmt.Errorf("read %s: %w", s.name, err)
	}
	s.info, s.flaw = readSegmentHeader(page[:n], l.opt.Store)
	return nil
}

// Close closes the files and makes nothing durable.
func (l *Log) Close() error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, s := range l.slots {
		errs = append(errs, s.file.Close())
	}
	l.slots = nil
	if l.err == nil {
		l.err = errClosed
	}
	return errors.Join(errs...)
}

// fail makes err the end of the log, unless it has ended, and returns the
// first.
func (l *Log) fail(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
	return l.err
}

// Segment is a segment that is being written.
type Segment struct {
	log    *Log
	slot   *slot
	info   SegmentInfo
	image  []byte
	headed bool // the first page is written
}

// Begin assigns a file to a segment. Image is the segment's image, of info.Size
// bytes; it must stay valid until the segment is retired or the Log closed.
// Begin writes its first page. Info.Store must be the Log's. Info.Number must
// be at least the Segment that Replay returned and above all numbers begun
// before.
//
// Nothing of the segment is on disk yet. After an error that does not end the
// Log, such as a full disk, the Log is unchanged.
func (l *Log) Begin(info SegmentInfo, image []byte) (*Segment, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, l.err
	}
	invariant.Check(l.replayed, "journal: Begin before the replay")
	invariant.Check(info.Number >= l.next, "journal: segment %d begins after segment %d", info.Number, l.next)
	invariant.Check(len(image) == int(info.Size), "journal: an image of %d bytes for a segment of %d bytes", len(image), info.Size)
	info.Store = l.opt.Store
	PutSegmentHeader(image[:SegmentHeader], info)
	s, err := l.take(int64(info.Size))
	if err != nil {
		return nil, fmt.Errorf("begin journal segment %d: %w", info.Number, err)
	}
	g := &Segment{log: l, slot: s, info: info, image: image}
	if s.state == dead {
		// What was given up in it must not come to life under what is written
		// over it (replay.go).
		if err := g.putHeader(); err != nil {
			l.err = fmt.Errorf("begin journal segment %d: %w", info.Number, err)
			return nil, l.err
		}
	}
	s.info, s.flaw, s.state = info, Flaw{}, live
	l.next = info.Number + 1
	return g, nil
}

// Err answers why the Log has ended, nil while it has not.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (g *Segment) putHeader() error {
	if err := writeAt(g.slot, g.image[:SegmentHeader], 0); err != nil {
		return err
	}
	if err := g.slot.file.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", g.slot.name, err)
	}
	g.headed = true
	return nil
}

func writeAt(s *slot, b []byte, off int64) error {
	n, err := s.file.WriteAt(b, off)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", s.name, err)
	}
	return nil
}

// take finds a file for a segment, and makes it long enough: one that holds
// nothing, or one that is dead, or a new one.
func (l *Log) take(size int64) (*slot, error) {
	var best *slot
	for _, s := range l.slots {
		switch {
		case s.state != spare && s.state != dead:
		case best == nil, s.state < best.state, s.state == best.state && s.size > best.size:
			best = s
		}
	}
	if best != nil {
		return best, l.lengthen(best, size)
	}
	s, err := l.openSlot(l.freeName(), true)
	if err != nil {
		return nil, err
	}
	// From here on the file may be found by a recovery.
	l.named = false
	s.state = spare
	l.slots = append(l.slots, s)
	if err := l.lengthen(s, size); err != nil {
		return nil, errors.Join(err, l.drop(s))
	}
	return s, nil
}

func (l *Log) lengthen(s *slot, size int64) error {
	if s.size >= size && s.backed {
		return nil
	}
	var err error
	if f, ok := s.file.(env.SpaceFile); ok {
		err = f.Allocate(0, max(size, s.size))
	} else if s.size < size {
		err = s.file.Truncate(size)
	}
	if err != nil {
		return fmt.Errorf("lengthen %s: %w", s.name, err)
	}
	s.backed = true
	if s.size < size {
		s.blank, s.size = min(s.size, s.blank), size
	}
	return nil
}

// What small frames are, and how much a file must have for it to pay to write
// zeros ahead of them, in bytes.
const (
	smallFrame   = 64 << 10
	aheadFileMin = 1 << 20
)

// writeAhead writes zeros to blank space where small frames will come next.
// Each of them will be synced, and a sync of bytes that the file system has
// never seen written costs about twice as much as one of others.
func (g *Segment) writeAhead(lo, hi int64) error {
	s, zeros := g.slot, g.log.opt.Buffer
	if hi <= s.blank || s.blank >= s.size {
		return nil
	}
	s.blank = hi
	if hi-lo > smallFrame || s.size < aheadFileMin || hi == s.size {
		return nil
	}
	if !g.log.zeroed {
		clear(zeros) // nobody reads any more
		g.log.zeroed = true
	}
	n := min(int64(len(zeros)), s.size-hi)
	if err := writeAt(s, zeros[:n], hi); err != nil {
		return err
	}
	s.blank = hi + n
	return nil
}

// freeName is the first name that no file has.
func (l *Log) freeName() string {
	taken := map[string]bool{}
	for _, s := range l.slots {
		taken[s.name] = true
	}
	for n := 0; ; n++ {
		if name := fmt.Sprintf("%s%02d", namePrefix, n); !taken[name] {
			return name
		}
	}
}

// drop removes a file.
func (l *Log) drop(s *slot) error {
	for i := range l.slots {
		if l.slots[i] == s {
			l.slots = append(l.slots[:i], l.slots[i+1:]...)
			break
		}
	}
	err := s.file.Close()
	return errors.Join(err, l.disk.Remove(path.Join(l.dir, s.name)))
}

// Write writes image[lo:hi] where it belongs: whole sealed frames, lo and hi
// multiples of PageSize, lo not below SegmentHeader. It is not durable before
// Sync. The first Write of a segment begins at SegmentHeader.
func (g *Segment) Write(lo, hi int) error {
	l := g.log
	l.mu.Lock()
	err, retired := l.err, g.slot.state != live || g.slot.info.Number != g.info.Number
	l.mu.Unlock()
	if err != nil {
		return err
	}
	aligned := SegmentHeader <= lo && lo < hi && lo%PageSize == 0 && hi%PageSize == 0
	if retired || !aligned || !g.headed && lo != SegmentHeader {
		invariant.Check(false, "bytes %d to %d of segment %d are written; retired: %v, first page written: %v", lo, hi, g.info.Number, retired, g.headed)
	}
	if !g.headed {
		lo = 0
	}
	if err := writeAt(g.slot, g.image[lo:hi], int64(lo)); err != nil {
		return l.fail(err)
	}
	if err := g.writeAhead(int64(lo), int64(hi)); err != nil {
		return l.fail(err)
	}
	l.mu.Lock()
	g.headed, g.slot.unsynced = true, true
	l.mu.Unlock()
	return nil
}

// Sync makes durable everything written to this segment and all earlier ones,
// everything that Replay returned, and the names of the files. Bytes written
// while it runs may or may not become durable.
func (g *Segment) Sync() error { return g.log.sync(g.info.Number) }

// Sync makes durable everything written to all segments, and everything that
// Replay returned, even if this life has written nothing yet.
func (l *Log) Sync() error { return l.sync(math.MaxUint64) }

// sync is Sync for the segments up to a number.
func (l *Log) sync(upTo uint64) error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		return l.err
	}
	var files []*slot
	for _, s := range l.slots {
		if s.unsynced && s.info.Number <= upTo {
			files = append(files, s)
			s.unsynced = false
		}
	}
	named := l.named
	l.named = true
	l.mu.Unlock()
	for _, s := range files {
		if err := s.file.Sync(); err != nil {
			return l.fail(fmt.Errorf("sync %s: %w", s.name, err))
		}
	}
	if !named {
		if err := l.disk.SyncDir(l.dir); err != nil {
			return l.fail(fmt.Errorf("sync the journal's directory: %w", err))
		}
	}
	return nil
}

// Retire means that no segment up to number is needed any more: a durable
// superblock makes recovery begin after it, and no older superblock will be
// used. Files beyond Options.Spare are removed.
func (l *Log) Retire(number uint64) error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	for _, s := range l.slots {
		if (s.state == live || s.state == dead) && s.info.Number <= number {
			s.state, s.unsynced = spare, false
		}
	}
	return l.removeSpares()
}

func (l *Log) removeSpares() error {
	for {
		var least *slot
		n := 0
		for _, s := range l.slots {
			if s.state == spare {
				n++
				if least == nil || s.size < least.size {
					least = s
				}
			}
		}
		if n <= max(l.opt.Spare, 0) {
			return nil
		}
		if err := l.drop(least); err != nil {
			return fmt.Errorf("remove %s: %w", least.name, err)
		}
	}
}
