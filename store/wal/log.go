// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sync"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
)

// Names in a log's directory, besides the journal's.
const (
	superName = "SUPER"
	superNew  = "SUPER.new"
	lockName  = "LOCK"
)

// What a caller decides on.
var (
	// ErrNone: the directory has no log.
	ErrNone = errors.New("no log")
	// ErrExists: the directory already has a log, or the remains of one.
	ErrExists = errors.New("log exists already")
	// ErrLocked: another process has the log open.
	ErrLocked = errors.New("log is in use")
	// ErrCorrupt: the log has lost or changed what was durable; it says where.
	ErrCorrupt = errors.New("log is damaged")
	// ErrFull: nothing was appended, since Options.Pending bytes wait for a
	// Commit.
	ErrFull = errors.New("log is full until the next commit")
	// ErrStopped: the log has ended. The cause is within; env.ErrNoSpace is
	// one.
	ErrStopped = errors.New("log has stopped")
	// ErrLimit: a record or an identity is too long.
	ErrLimit = errors.New("limit exceeded")

	errClosed = errors.New("closed")
)

// RecordMax is the longest record, in bytes.
const RecordMax = 8 << 20

// Options are a Log's. Zero values are the defaults.
type Options struct {
	// Segment is the size in bytes of a segment of the journal and of the memory
	// for the one being written. It must be a multiple of 4096. Default 8 MiB.
	Segment int
	// Pending is how many bytes of records may wait for a Commit. Default
	// 32 MiB.
	Pending int
	// Piece is the least number of bytes of a running checkpoint that one Commit
	// writes. Default 256 KiB.
	Piece int
	// CheckpointBytes and CheckpointFactor determine when Due is true: when the
	// segments since the end of the last checkpoint take more than CheckpointBytes,
	// and more than CheckpointFactor times the size of the segments of that
	// checkpoint. Default 64 MiB and 1.
	CheckpointBytes  int64
	CheckpointFactor int
}

func (o Options) complete() (Options, error) {
	set := func(x *int, to int) {
		if *x == 0 {
			*x = to
		}
	}
	set(&o.Segment, 8<<20)
	set(&o.Pending, 32<<20)
	set(&o.Piece, 256<<10)
	set(&o.CheckpointFactor, 1)
	if o.CheckpointBytes == 0 {
		o.CheckpointBytes = 64 << 20
	}
	if o.Segment < 2*journal.PageSize || o.Segment%journal.PageSize != 0 || o.Segment > 1<<30 {
		return o, fmt.Errorf("segment of %d bytes: want a multiple of %d, at most 1 GiB", o.Segment, journal.PageSize)
	}
	if o.Pending < 0 || o.Piece < 0 || o.CheckpointBytes < 0 || o.CheckpointFactor < 0 {
		return o, errors.New("negative limit")
	}
	return o, nil
}

// Position is a place in a log's history. Positions are ordered by Generation,
// then by Records, and both only grow.
type Position struct {
	// Generation counts how often the log was opened.
	Generation uint64
	// Records counts the records that are durable, since the log was made.
	Records uint64
}

// Log is an open log.
//
// Order of calls: Open, Replay once, then all others, Close. After Replay all
// methods except Close are safe for concurrent use, and none of them except
// Commit waits for a running Commit; one goroutine that commits while Waiting
// returns true is enough. Records have the order of the calls to Append, from
// whichever goroutine.
type Log struct {
	disk env.Disk
	dir  string
	opt  Options
	lock io.Closer
	top  superFile

	// committing is held by who writes; it is taken before mu. The writer is
	// guarded by it.
	committing sync.Mutex
	writer

	mu       sync.Mutex
	err      error // why the log has ended
	replayed bool
	// pending is what was appended and not taken by a Commit, of which waiting
	// bytes are records; spare is memory for the next.
	pending, spare []byte
	kept           work // what found no room
	waiting        int
	appended       uint64 // records
	durable        uint64 // records
	// Of the checkpoint under way, if any: what was saved and not taken by a
	// Commit, in pieces.
	checkpoint checkpoint
	saved      [][]byte
	// base is what the segments from the place of the last checkpoint to its
	// end take, and grown what those take that were begun since, in bytes.
	base, grown int64
	read        int64 // what the segments take that Replay has looked into
}

// Format makes a log in a directory, which it creates if it is absent.
// Log.Identity returns the identity, which has at most IdentityMax bytes. When
// Format returns nil the log is durable; after an error or a crash there is a
// log or none. If the directory already has a log, or the journal of one,
// Format changes nothing and returns ErrExists.
func Format(world env.Env, dir string, identity []byte) (err error) {
	fail := func(err error) error { return fmt.Errorf("make log %s: %w", dir, err) }
	if len(identity) > IdentityMax {
		return fail(fmt.Errorf("%w: IdentityMax is %d, got %d", ErrLimit, IdentityMax, len(identity)))
	}
	if err := world.Disk.MakeDir(dir); err != nil {
		return fail(err)
	}
	lock, err := takeLock(world.Disk, dir)
	if err != nil {
		return fail(err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	names, err := world.Disk.List(dir)
	if err != nil {
		return fail(err)
	}
	for _, name := range names {
		if name == superName || journal.IsName(name) {
			return fail(fmt.Errorf("%w: the directory has a file %s", ErrExists, name))
		}
	}
	fresh := path.Join(dir, superNew)
	f, err := world.Disk.Open(fresh, true)
	if err != nil {
		return fail(err)
	}
	first := super{log: world.Random.Uint64(), number: 1, chain: journal.ChainState{Segment: 1, Next: 1}}
	if err := errors.Join(writeNew(f, first, identity), f.Close()); err != nil {
		return fail(err)
	}
	if err := world.Disk.Rename(fresh, path.Join(dir, superName)); err != nil {
		return fail(err)
	}
	if err := syncNames(world.Disk, dir); err != nil {
		return fail(err)
	}
	return nil
}

func takeLock(disk env.Disk, dir string) (io.Closer, error) {
	d, ok := disk.(env.LockDisk)
	if !ok {
		return nil, errors.New("the disk cannot lock files")
	}
	lock, err := d.Lock(path.Join(dir, lockName))
	if errors.Is(err, env.ErrLocked) {
		return nil, fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return lock, err
}

// syncNames makes the names in a directory durable, and its own, and those of
// the directories that it is in.
func syncNames(disk env.Disk, dir string) error {
	for {
		if err := disk.SyncDir(dir); err != nil {
			return err
		}
		if dir = path.Clean(dir); dir == "." || dir == "/" {
			return nil
		}
		dir = path.Dir(dir)
	}
}

// Open opens the log in a directory. When it returns, the new generation is
// durable, and Identity and Position().Generation are known; the records are
// unknown until Replay. Errors are ErrNone, ErrLocked, ErrCorrupt,
// *VersionError, and those of the disk.
func Open(world env.Env, dir string, o Options) (*Log, error) {
	l := &Log{disk: world.Disk, dir: dir}
	err := l.open(world, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open log %s: %w", dir, err), l.release())
	}
	return l, nil
}

func (l *Log) open(world env.Env, o Options) (err error) {
	if l.opt, err = o.complete(); err != nil {
		return err
	}
	name := path.Join(l.dir, superName)
	if _, err := l.disk.List(l.dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrNone, err)
	}
	if l.lock, err = takeLock(l.disk, l.dir); err != nil {
		return err
	}
	l.top.file, err = l.disk.Open(name, false)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrNone, err)
	}
	if err != nil {
		return err
	}
	if err := l.top.read(); err != nil {
		return err
	}
	found := l.top.super
	if l.journal, err = l.openJournal(); err != nil {
		return err
	}
	for _, f := range l.journal.Files() {
		if g := f.Info.Session >> sessionRandom; f.Flaw.OK() && g > found.generation {
			return fmt.Errorf("%w: %s is of generation %d but %s is of generation %d: the latter is an older copy", ErrCorrupt, f.Name, g, superName, found.generation)
		}
	}
	if err := syncNames(l.disk, l.dir); err != nil {
		return err
	}
	next := found
	next.generation++
	if next.generation > generationMax {
		return fmt.Errorf("%w: it was opened %d times", ErrLimit, generationMax)
	}
	if err := l.top.put(next); err != nil {
		return err
	}
	l.session = next.generation<<sessionRandom | world.Random.Uint64()>>(64-sessionRandom)
	l.appended, l.durable = found.records, found.records
	return nil
}

// sessionRandom is how many bits of a session of the journal are random. Those
// above are the generation.
const sessionRandom = 32

func (l *Log) openJournal() (*journal.Log, error) {
	j, err := journal.Open(l.disk, l.dir, journal.Options{Store: l.top.super.log})
	if err != nil {
		return nil, err
	}
	return j, nil
}

// Identity returns the identity given to Format. The caller must not change it.
func (l *Log) Identity() []byte { return l.top.identity }

// Position returns how far the log is durable. Before and during Replay,
// Records is that of the last checkpoint.
func (l *Log) Position() Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Position{l.generation(), l.durable}
}

func (l *Log) generation() uint64 { return l.session >> sessionRandom }

// Close closes the log. Uncommitted records are lost. Unless an error has ended
// the log, Close records how far it is durable, so that the loss of its end can be
// detected. No other call may be running.
func (l *Log) Close() error {
	l.committing.Lock()
	defer l.committing.Unlock()
	l.mu.Lock()
	closed, note := l.err == errClosed, l.err == nil && l.replayed
	l.err = errClosed
	l.mu.Unlock()
	if closed {
		return nil
	}
	var err error
	if note {
		err = l.noteSafe()
	}
	if err = errors.Join(err, l.release()); err != nil {
		return fmt.Errorf("close log %s: %w", l.dir, err)
	}
	return nil
}

// noteSafe has the superblock say what is safe, unless it does.
func (l *Log) noteSafe() error {
	next := l.top.super
	if next.safe == l.safe {
		return nil
	}
	next.safe = l.safe
	return l.top.put(next)
}

// release releases the log's files and lock.
func (l *Log) release() error {
	var errs []error
	if l.journal != nil {
		errs = append(errs, l.journal.Close())
	}
	if l.top.file != nil {
		errs = append(errs, l.top.file.Close())
	}
	if l.lock != nil {
		errs = append(errs, l.lock.Close())
	}
	return errors.Join(errs...)
}

// stop ends the log, unless it has ended, and answers why it has.
func (l *Log) stop(cause error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = fmt.Errorf("%w: %w", ErrStopped, cause)
	}
	return l.ended()
}

// ended answers why the log has ended, if it has. The caller holds mu.
func (l *Log) ended() error {
	if l.err == errClosed {
		return fmt.Errorf("%w: %w", ErrStopped, errClosed)
	}
	invariant.Check(l.err != nil || l.replayed, "log used before its replay")
	return l.err
}

// Err returns why the log has ended, or nil if it has not.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
