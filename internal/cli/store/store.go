// SPDX-License-Identifier: Apache-2.0

// Package store implements the command store for operators of a store: it checks, repairs,
// copies, shows and measures the store's files.
//
// In: a store's directory. Out: its contents and state. All commands except repair, restore
// and copy --recover leave the store unchanged. Refused: a store that another program has
// open.
package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/size"
	"github.com/ashlar-dev/ashlar/internal/store/inspect"
	"github.com/ashlar-dev/ashlar/store"
)

// New makes the command store.
func New(t *console.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Maintain a store: check, repair, copy, show, measure",
		Long: `A store is a directory with the files DATA, LOCK and JOURNAL-NN, made by package
store (docs/format/store.md). These commands work without the program that wrote
it. Only repair and copy --recover change it.`,
		Example: `  ashlar store verify /var/lib/app/db
  ashlar store repair /var/lib/app/db
  ashlar store copy /var/lib/app/db db.copy
  ashlar store crash-explore --seed 1 --states 100000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newVerifyCommand(t), newScrubCommand(t), newRepairCommand(t), newCopyCommand(t), newRestoreCommand(t), newDumpCommand(t), newKeyspacesCommand(t),
		newStatsCommand(t), newBenchCommand(t), newExploreCommand(t))
	return cmd
}

// shared are the flags that commands on a store share.
type shared struct {
	json   bool
	quiet  bool
	memory size.Value
}

func (o *shared) flags(cmd *cobra.Command, schema string) {
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&o.json, "json", false, "write the result as JSON ("+schema+")")
	o.runFlags(cmd)
}

// runFlags are the flags of commands that have no result but files.
func (o *shared) runFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	o.memory = size.Value{Bytes: 512 << 20, Min: store.MemoryMin}
	f.Var(&o.memory, "memory", "use at most `SIZE` of memory, such as 256M or 2G")
}

func (o *shared) options() store.Options { return store.Options{Memory: o.memory.Bytes} }

// opened is a store's directory, locked against other processes.
type opened struct {
	dir   string // as the user wrote it
	name  string // in disk
	disk  *meteredDisk
	world env.Env
	lock  interface{ Close() error }
}

// openDir opens the directory of a store. If hold is set, it keeps writers out
// until close.
func openDir(dir string, hold bool) (*opened, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, exit.Failed(err)
	}
	if info, err := os.Stat(filepath.Join(abs, "DATA")); err != nil || info.IsDir() {
		if other, err := os.Stat(filepath.Join(abs, "DATA.repaired")); err != nil || other.IsDir() {
			return nil, exit.Failed(fmt.Errorf("%s: not a store: it has no file DATA", dir))
		}
	}
	disk, err := osenv.OpenDisk(filepath.Dir(abs))
	if err != nil {
		return nil, exit.Failed(err)
	}
	s := &opened{dir: dir, name: filepath.Base(abs), disk: &meteredDisk{Disk: disk}, world: osenv.New()}
	s.world.Disk = s.disk
	if !hold {
		return s, nil
	}
	s.lock, err = disk.LockShared(s.name + "/LOCK")
	if errors.Is(err, fs.ErrNotExist) {
		s.lock, err = nil, nil // a copy that no program has opened yet
	}
	if errors.Is(err, env.ErrLocked) {
		err = fmt.Errorf("%s: a program has the store open", dir)
	}
	if err != nil {
		s.close()
		return nil, exit.Failed(err)
	}
	return s, nil
}

func (s *opened) close() {
	if s.lock != nil {
		_ = s.lock.Close() // nothing was written to it
	}
	_ = s.disk.Close() // likewise
}

// read opens the store for reading, with any merger.
func (s *opened) read(o store.Options) (*store.DB, error) {
	super, err := inspect.Superblock(s.disk, s.name)
	if err != nil {
		return nil, err
	}
	o.ReadOnly = true
	if super.Merger != "" {
		o.Merger = inspect.NoMerger(super.Merger)
	}
	return store.Open(s.world, s.name, o)
}

// meteredDisk counts what is read and written.
type meteredDisk struct {
	*osenv.Disk
	bytes atomic.Int64
}

func (d *meteredDisk) Open(name string, create bool) (env.File, error) {
	f, err := d.Disk.Open(name, create)
	if err != nil {
		return nil, err
	}
	return d.meter(f), nil
}

func (d *meteredDisk) OpenDirect(name string, create bool) (env.File, bool, error) {
	f, direct, err := d.Disk.OpenDirect(name, create)
	if err != nil {
		return nil, false, err
	}
	return d.meter(f), direct, nil
}

func (d *meteredDisk) meter(f env.File) env.File {
	m := meteredFile{File: f, disk: d}
	if s, ok := f.(env.SpaceFile); ok {
		return &meteredSpaceFile{meteredFile: m, space: s}
	}
	return &m
}

type meteredFile struct {
	env.File
	disk *meteredDisk
}

func (f *meteredFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	f.disk.bytes.Add(int64(n))
	return n, err
}

func (f *meteredFile) WriteAt(b []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(b, off)
	f.disk.bytes.Add(int64(n))
	return n, err
}

type meteredSpaceFile struct {
	meteredFile
	space env.SpaceFile
}

func (f *meteredSpaceFile) Allocate(off, n int64) error { return f.space.Allocate(off, n) }
func (f *meteredSpaceFile) Discard(off, n int64) error  { return f.space.Discard(off, n) }

// work runs a long operation, with a line of progress, until it is done or the
// user interrupts. An operation that ignores the context continues in the
// background until the process ends: the caller must accept that.
func work(ctx context.Context, t *console.Terminal, quiet bool, tell func() string, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	tick := time.NewTicker(console.ProgressEvery)
	defer tick.Stop()
	p := console.NewPalette(t.ErrTTY)
	draw := t.ErrTTY && !quiet
	if draw {
		defer fmt.Fprint(t.Err, "\r\x1b[K")
	}
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			if draw {
				fmt.Fprintf(t.Err, "\r\x1b[K%s", p.Dim(tell()))
			}
		case <-ctx.Done():
			select {
			case err := <-done:
				return err
			case <-time.After(interruptWait):
				return exit.Stopped(ctx)
			}
		}
	}
}

// interruptWait is how long interrupted work may take to report its results so
// far.
const interruptWait = 2 * time.Second

// megabytes formats the amounts read and written.
func (d *meteredDisk) megabytes(start time.Time) string {
	n, elapsed := d.bytes.Load(), time.Since(start)
	return fmt.Sprintf("%s MB read and written  %s MB/s  %s", console.Count(n/1e6), console.Count(int64(float64(n)/1e6/max(elapsed.Seconds(), 1e-3))), console.Duration(elapsed))
}
