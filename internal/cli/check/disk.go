// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/search/program"
)

// A search may use a part of the memory for its knowledge of states and stores
// the rest on disk: the remaining memory is for the model and the garbage
// collector. A search that writes checkpoints stores its files in the checkpoint
// directory.

// statesShare is the divisor of the memory limit that gives the part for
// states.
const statesShare = 2

// memoryMin is the smallest memory limit that a search accepts.
const memoryMin = 1 << 20

// validDisk validates the flags about memory and checkpoints.
func (o *checkOptions) validDisk() error {
	usage := func(format string, args ...any) error { return exit.With(exit.Usage, fmt.Errorf(format, args...)) }
	switch {
	case o.every <= 0 && o.checkpoint+o.resume != "":
		return usage("--every %s: want a positive time", o.every)
	case o.checkpoint != "" && o.resume != "" && o.checkpoint != o.resume:
		return usage("--checkpoint and --resume name two directories: a resumed search keeps its checkpoints in the directory of --resume")
	case o.profile && o.reference:
		return usage("--profile counts what compiled code evaluates, and --reference compiles nothing: use only one of them")
	case o.por && o.reference:
		return usage("--por leaves states of an algorithm out, and --reference evaluates its translation: use only one of them")
	case o.deepen && o.por:
		return usage("--dfid N is about paths of N states, and --por leaves states out of paths: use only one of them")
	case o.deepen && (o.checkpoint != "" || o.resume != "" || o.memoryBytes != 0):
		return usage("--dfid has no states to save: --memory, --checkpoint and --resume are for the breadth-first search")
	}
	return nil
}

// disk manages the files of a search.
type disk struct {
	env.Disk
	keep    *check.Checkpoint
	dir     string
	closers []io.Closer
	stop    func()
}

// openDisk opens the disk that the flags select. It returns an error if the
// file system fails or the directory is in use.
func (o *checkOptions) openDisk(ctx context.Context, parts []check.IdentityPart) (*disk, error) {
	dir := o.checkpoint + o.resume
	if o.checkpoint == o.resume {
		dir = o.checkpoint
	}
	if dir == "" {
		d := &temporary{in: o.temp}
		return &disk{Disk: d, closers: []io.Closer{d}}, nil
	}
	if _, err := os.Stat(dir); o.resume != "" && err != nil {
		return nil, err
	}
	d, err := osenv.OpenDisk(dir)
	if err != nil {
		return nil, err
	}
	lock, err := d.Lock("lock")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), d.Close())
	}
	self, err := ownSum()
	if err != nil {
		return nil, errors.Join(err, lock.Close(), d.Close())
	}
	out := &disk{Disk: d, dir: dir, closers: []io.Closer{lock, d}}
	out.keep = &check.Checkpoint{Resume: o.resume != "", Identity: append([]check.IdentityPart{{Name: "this program", Sum: self}}, parts...)}
	out.keep.Due, out.stop = everySoOften(ctx, o.every)
	out.keep.Last, out.keep.Late = true, program.Late(ctx)
	return out, nil
}

// everySoOften returns due, which reports true once after each interval.
func everySoOften(ctx context.Context, every time.Duration) (due func() bool, stop func()) {
	var now atomic.Bool
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				now.Store(true)
			case <-ctx.Done():
				return
			}
		}
	})
	return func() bool { return now.CompareAndSwap(true, false) }, func() { cancel(); done.Wait() }
}

// kept returns the directory if it contains a checkpoint, and "" otherwise.
func (d *disk) kept() string {
	if d.keep == nil {
		return ""
	}
	if _, err := os.Stat(filepath.Join(d.dir, "checkpoint")); err != nil {
		return ""
	}
	return d.dir
}

// close stops the checkpoint timer and closes all files.
func (d *disk) close() error {
	if d.stop != nil {
		d.stop()
	}
	var errs []error
	for _, c := range d.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// explain adds to an error of a search what the user can do about it.
func (d *disk) explain(err error) error {
	var other *check.MismatchError
	var volatile *check.NotDurableError
	switch {
	case d.keep == nil && errors.Is(err, check.ErrNoCheckpoint):
		// The search was using temporary files when another process took it over.
		return exit.Failed(fmt.Errorf("the temporary files have disappeared: %w", err))
	case errors.As(err, &volatile):
		return exit.With(exit.Usage, err)
	case errors.As(err, &other):
		return exit.With(exit.Usage, fmt.Errorf("--resume %s: %w; run without --resume, with another directory, to start over", d.dir, err))
	case errors.Is(err, check.ErrCheckpoint):
		return exit.With(exit.Usage, fmt.Errorf("--checkpoint %s: %w: --resume %s continues it", d.dir, err, d.dir))
	case errors.Is(err, check.ErrNoCheckpoint):
		return exit.With(exit.Usage, fmt.Errorf("--resume %s: %w", d.dir, err))
	}
	return exit.Failed(err)
}

// temporary is a directory that is created with its first file and removed at
// the end.
type temporary struct {
	in   string // the directory that it is made in
	mu   sync.Mutex
	disk *osenv.Disk
	dir  string
}

// place returns the directory of the files, or "" if it does not exist yet.
func (d *disk) place() string {
	if t, ok := d.Disk.(*temporary); ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.dir
	}
	return d.dir
}

// empty removes temporary files.
func (d *disk) empty() error {
	if t, ok := d.Disk.(*temporary); ok {
		return t.Close()
	}
	return nil
}

func (t *temporary) open() (*osenv.Disk, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.disk != nil {
		return t.disk, nil
	}
	dir, err := os.MkdirTemp(t.in, "ashlar-check-")
	if err != nil {
		return nil, err
	}
	d, err := osenv.OpenDisk(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	t.disk, t.dir = d, dir
	return d, nil
}

// Open implements env.Disk.
func (t *temporary) Open(name string, create bool) (env.File, error) {
	if !create && !t.there() {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	d, err := t.open()
	if err != nil {
		return nil, err
	}
	f, err := d.Open(name, create)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.dir, err)
	}
	return temporaryFile{f}, nil
}

// there reports whether the directory was created.
func (t *temporary) there() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.disk != nil
}

// temporaryFile is a file that need not survive a crash of the machine.
type temporaryFile struct{ env.File }

func (temporaryFile) Sync() error { return nil }

// with calls do with the directory, which it creates if necessary.
func (t *temporary) with(do func(*osenv.Disk) error) error {
	d, err := t.open()
	if err != nil {
		return err
	}
	return do(d)
}

// Rename implements env.Disk.
func (t *temporary) Rename(old, new string) error {
	return t.with(func(d *osenv.Disk) error { return d.Rename(old, new) })
}

// Remove implements env.Disk.
func (t *temporary) Remove(name string) error {
	return t.with(func(d *osenv.Disk) error { return d.Remove(name) })
}

// MakeDir implements env.Disk.
func (t *temporary) MakeDir(name string) error {
	return t.with(func(d *osenv.Disk) error { return d.MakeDir(name) })
}

// List implements env.Disk.
func (t *temporary) List(dir string) (names []string, err error) {
	if !t.there() {
		return nil, nil
	}
	err = t.with(func(d *osenv.Disk) error { names, err = d.List(dir); return err })
	return names, err
}

// SyncDir implements env.Disk.
func (t *temporary) SyncDir(string) error { return nil }

// Close removes the directory.
func (t *temporary) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.disk == nil {
		return nil
	}
	err := errors.Join(t.disk.Close(), os.RemoveAll(t.dir))
	t.disk, t.dir = nil, ""
	return err
}

// sum is the digest of a text.
func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:8])
}

// ownSum returns the digest of this program. A checkpoint is valid only for the
// program that wrote it, because the encoding of states may change.
var ownSum = sync.OnceValues(func() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
})
