// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/store/inspect"
	"github.com/ashlar-dev/ashlar/store"
)

const copyHelp = `Copy writes a store that no program has open to the file COPY, or to stdout if COPY
is "-". With --since it leaves out what an earlier copy contains, so that an increment
is only as large as the changes; it needs the file of that copy, or its mark (--mark).
Every block and every large value is checked as it is written. Restore makes a
store from a copy and the increments that follow it. A program that has a store open
copies it with DB.Copy.

Changes that are only in the journal are not copied. Copy refuses a store that has
such changes after a crash of its program: open and close it, or let copy do so with
--recover, for stores without a merger.

Exit codes: 0 copied; 150 the store or the earlier copy is damaged, or they do not
belong together; 130 interrupted; 1 files; 2 usage.`

type copyOptions struct {
	shared
	since, mark string
	recover     bool
}

func newCopyCommand(t *console.Terminal) *cobra.Command {
	var o copyOptions
	cmd := &cobra.Command{
		Use:   "copy DIR COPY",
		Short: "Copy a store to a file or to stdout, in whole or since an earlier copy",
		Long:  copyHelp,
		Example: `  ashlar store copy /var/lib/app/db monday.copy
  ashlar store copy --since monday.copy /var/lib/app/db tuesday.copy
  ashlar store copy db - | ssh host ashlar store restore db -`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCopy(cmd.Context(), t, o, args[0], args[1])
		},
	}
	o.runFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.since, "since", "", "leave out what the copy in `FILE` contains; its mark works as well")
	f.StringVar(&o.mark, "mark", "", "write a mark of this copy to `FILE`, for --since")
	f.BoolVar(&o.recover, "recover", false, "first move the changes of the journal into the tree")
	return cmd
}

func runCopy(ctx context.Context, t *console.Terminal, o copyOptions, dir, to string) error {
	if to == "-" && o.mark == "-" {
		return exit.With(exit.Usage, errors.New("the copy and its mark cannot both go to stdout"))
	}
	s, err := openDir(dir, false) // opening the store locks it
	if err != nil {
		return err
	}
	defer s.close()
	var mark *store.Mark
	start := time.Now()
	err = work(ctx, t, o.quiet, func() string { return s.disk.megabytes(start) }, func() error {
		var since *store.Mark
		if o.since != "" {
			err := reading(o.since, func(r io.Reader) (err error) {
				since, err = store.ReadMark(r)
				return err
			})
			if err != nil {
				return err
			}
		}
		db, err := s.copied(o)
		if err != nil {
			return err
		}
		err = writing(t, to, func(w io.Writer) (err error) {
			mark, err = db.Copy(ctx, w, since)
			return err
		})
		if err = errors.Join(err, db.Close()); err == nil && o.mark != "" {
			err = writing(t, o.mark, mark.Write)
		}
		return err
	})
	if err := streamError(ctx, err); err != nil {
		return err
	}
	if !o.quiet {
		fmt.Fprintf(t.Err, "%s: copied up to change %d\n", dir, mark.Number())
	}
	return nil
}

// copied opens a store in order to copy it.
func (s *opened) copied(o copyOptions) (*store.DB, error) {
	if !o.recover {
		return s.read(o.options())
	}
	super, err := inspect.Superblock(s.disk, s.name)
	if err != nil {
		return nil, err
	}
	if super.Merger != "" {
		return nil, fmt.Errorf("--recover: the store needs the merger %q of its program", super.Merger)
	}
	return store.Open(s.world, s.name, o.options())
}

// streamError returns the error of a command that reads or writes streams.
func streamError(ctx context.Context, err error) error {
	var stop *exit.Error
	switch {
	case err == nil || errors.As(err, &stop):
		return err
	case errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrBase), errors.Is(err, store.ErrTooOld):
		return exit.With(exit.Spec, err)
	case ctx.Err() != nil:
		return exit.Stopped(ctx)
	}
	return exit.Failed(err)
}

// writing calls do with a new file, or with stdout. When writing returns nil, the
// file and its name are durable; otherwise it removes the file.
func writing(t *console.Terminal, name string, do func(io.Writer) error) error {
	if name == "-" {
		w := bufio.NewWriterSize(t.Out, 1<<20)
		return errors.Join(do(w), w.Flush())
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err = do(w); err == nil {
		err = errors.Join(w.Flush(), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = syncDir(filepath.Dir(name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// syncDir makes the names in a directory durable.
func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// reading calls do with a file, or with stdin.
func reading(name string, do func(io.Reader) error) error {
	if name == "-" {
		return do(bufio.NewReaderSize(os.Stdin, 1<<20))
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(do(bufio.NewReaderSize(f, 1<<20)), f.Close())
}

const restoreHelp = `Restore makes a store in the directory DIR, which must be empty or absent, from a copy
that "ashlar store copy" or DB.Copy has made, and any number of increments, each
since the one before it; "-" is stdin. It reads everything again and checks it
before the store gets its name: DIR contains a sound store, or none.

With --archive it then applies the changes in a directory that DB.Archive has filled:
to the end, or, with --until, to the last batch up to a change, or to what was
archived by a time. It reports the last change, and the files of other stores, which
it leaves out; an archive without any file of the copied store is refused. Archives of
stores with a merger need their program (store.Restore), and --memory must be what the
store had.

Exit codes: 0 restored; 150 a copy or the archive is cut or damaged, or does not
follow what is before it; 130 interrupted; 1 files; 2 usage.`

func newRestoreCommand(t *console.Terminal) *cobra.Command {
	var o restoreOptions
	cmd := &cobra.Command{
		Use:   "restore DIR COPY...",
		Short: "Make a store from a copy and its increments",
		Long:  restoreHelp,
		Example: `  ashlar store restore db monday.copy tuesday.copy
  ssh host cat monday.copy | ashlar store restore db -
  ashlar store restore db monday.copy --archive changes --until 2026-11-23T12:00:00Z
  ashlar store restore db monday.copy --archive changes --until 48213`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRestore(cmd.Context(), t, o, args[0], args[1:])
		},
	}
	o.runFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.archive, "archive", "", "apply the changes that are archived in `DIR`")
	f.StringVar(&o.until, "until", "", "end after a `CHANGE` or at a time such as 2026-11-23T12:00:00Z")
	return cmd
}

type restoreOptions struct {
	shared
	archive, until string
}

// options returns the options of store.Restore, and what to close after it.
func (o *restoreOptions) options() (store.RestoreOptions, io.Closer, error) {
	r := store.RestoreOptions{Memory: o.memory.Bytes}
	if o.archive == "" {
		if o.until != "" {
			return r, nil, exit.With(exit.Usage, errors.New("--until without --archive"))
		}
		return r, io.NopCloser(nil), nil
	}
	if n, err := strconv.ParseUint(o.until, 10, 64); err == nil && n > 0 {
		r.Until = n
	} else if at, err := time.Parse(time.RFC3339Nano, o.until); err == nil {
		r.UntilTime = at
	} else if o.until != "" {
		return r, nil, exit.With(exit.Usage, fmt.Errorf("--until %q: want the number of a change, or a time such as 2026-11-23T12:00:00Z", o.until))
	}
	abs, err := filepath.Abs(o.archive)
	if err != nil {
		return r, nil, exit.Failed(err)
	}
	disk, err := osenv.OpenDisk(filepath.Dir(abs))
	if err != nil {
		return r, nil, exit.Failed(err)
	}
	r.Archive, r.ArchiveDir = disk, filepath.Base(abs)
	return r, disk, nil
}

func runRestore(ctx context.Context, t *console.Terminal, o restoreOptions, dir string, copies []string) error {
	if i := slices.Index(copies, "-"); i >= 0 && slices.Contains(copies[i+1:], "-") {
		return exit.With(exit.Usage, errors.New("at most one copy can come from stdin"))
	}
	opt, archive, err := o.options()
	if err != nil {
		return err
	}
	defer archive.Close()
	abs, err := filepath.Abs(dir)
	if err != nil {
		return exit.Failed(err)
	}
	disk, err := osenv.OpenDisk(filepath.Dir(abs))
	if err != nil {
		return exit.Failed(err)
	}
	metered := &meteredDisk{Disk: disk}
	defer disk.Close()
	world := osenv.New()
	world.Disk = metered
	start := time.Now()
	var done store.Restored
	err = work(ctx, t, o.quiet, func() string { return metered.megabytes(start) }, func() error {
		return withAll(copies, nil, func(in []io.Reader) (err error) {
			done, err = store.Restore(ctx, world, filepath.Base(abs), opt, in...)
			return err
		})
	})
	if err := streamError(ctx, err); err != nil {
		return err
	}
	if !o.quiet {
		fmt.Fprintf(t.Err, "%s: restored up to change %d, read again, and sound\n", dir, done.LastChange)
		for _, name := range done.Others {
			fmt.Fprintf(t.Err, "%s: left out, it belongs to another store\n", filepath.Join(o.archive, name))
		}
	}
	return nil
}

// withAll calls do with all files.
func withAll(names []string, open []io.Reader, do func([]io.Reader) error) error {
	if len(names) == 0 {
		return do(open)
	}
	return reading(names[0], func(r io.Reader) error { return withAll(names[1:], append(open, r), do) })
}
