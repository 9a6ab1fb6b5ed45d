// SPDX-License-Identifier: Apache-2.0

//go:build unix

package store_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
	"github.com/ashlar-dev/ashlar/store"
)

// Processes that only read, beside one that writes. All keys get a new value at
// once, the number of the round: a reader must find the same round in all of them,
// and no earlier one than the last before the store was opened. A reader may be
// refused, but its results are right, and it never calls a sound store damaged.

// readerVar holds the directory of the store, in such a process.
const readerVar = "ASHLAR_READER"

const (
	readerKeys  = 150
	readerValue = 700
)

func readerKey(i int) []byte { return fmt.Appendf(nil, "key%03d", i) }

func readerWrite(db *store.DB, round int) error {
	b := db.NewBatch()
	for i := range readerKeys {
		b.Put(readerKey(i), fmt.Appendf(nil, "%d %0*d", round, readerValue, i))
	}
	if err := db.Commit(b, store.Sync); err != nil {
		return err
	}
	return errors.Join(db.Flush(), db.Compact(nil, nil))
}

// readerOptions have memory for such a batch.
func readerOptions() store.Options {
	o := tiny()
	o.Compression, o.Tuning.MemtableBytes = store.None, 256<<10
	return o
}

// readerChild obeys orders, one on each line, and answers each with a line.
func readerChild(dir string) error {
	disk, err := osenv.OpenDisk(dir)
	if err != nil {
		return err
	}
	o := readerOptions()
	o.ReadOnly = true
	var db *store.DB
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		var err error
		switch order := orders.Text(); order {
		case "nobody": // permissions do not hold for root
			if os.Geteuid() == 0 {
				err = errors.Join(syscall.Setgroups(nil), syscall.Setgid(65534), syscall.Setuid(65534))
			}
			if f, failed := os.OpenFile(filepath.Join(dir, "db", "DATA"), os.O_RDWR, 0); failed == nil {
				err = errors.Join(err, f.Close(), errors.New("the file can be written"))
			}
		case "open":
			if db, err = store.Open(world(disk, 2), "db", o); errors.Is(err, env.ErrLocked) {
				fmt.Println("refused")
				continue
			}
		case "close":
			err = db.Close()
		default:
			var round int
			if _, err = fmt.Sscanf(order, "read %d", &round); err == nil {
				err = readerRead(db, round)
			}
		}
		if err != nil {
			fmt.Println("failed:", strings.ReplaceAll(err.Error(), "\n", "; "))
			continue
		}
		fmt.Println("done")
	}
	return orders.Err()
}

// readerRead reads the keys of that round, or of one later round.
func readerRead(db *store.DB, least int) error {
	found := -1
	for i := range readerKeys {
		v, err := db.Get(readerKey(i), nil)
		if err != nil {
			return err
		}
		var round, key int
		if _, err := fmt.Sscanf(string(v), "%d %d", &round, &key); err != nil || key != i {
			return fmt.Errorf("key %d has the value %.20q", i, v)
		}
		if found < 0 {
			found = round
		}
		if round != found || round < least {
			return fmt.Errorf("key %d is of round %d, key 0 of round %d, want %d at least", i, round, found, least)
		}
	}
	return nil
}

// reader is such a process.
type reader struct {
	*procs.Process
	t  *testing.T
	in io.WriteCloser
}

func newReader(t *testing.T, dir string) *reader {
	t.Helper()
	command := procs.Self(t, readerVar+"="+dir)
	in, err := command.StdinPipe()
	must(t, err)
	return &reader{procs.Start(t, command), t, in}
}

func (r *reader) order(order string) string {
	r.t.Helper()
	if _, err := fmt.Fprintln(r.in, order); err != nil {
		r.t.Fatal(err)
	}
	return r.Await("")
}

// want gives an order that must succeed.
func (r *reader) want(order string) {
	r.t.Helper()
	if answer := r.order(order); answer != "done" {
		r.t.Errorf("%s: %s", order, answer)
	}
}

func TestReadersBesideAWriter(t *testing.T) {
	dir := t.TempDir()
	disk, err := osenv.OpenDisk(dir)
	must(t, err)
	db, err := store.Open(world(disk, 1), "db", readerOptions())
	must(t, err)
	must(t, readerWrite(db, 1))

	// The writer is first, and reuses pages.
	one, two := newReader(t, dir), newReader(t, dir)
	if answer := one.order("open"); answer != "refused" {
		for round := range 8 {
			must(t, readerWrite(db, 2+round))
		}
		t.Errorf("a reader beside a writer: open: %s, read: %s", answer, one.order("read 1"))
		one.order("close")
	}
	must(t, readerWrite(db, 10))
	must(t, db.Close())

	// Readers are first: both read, and no writer is let in.
	one.want("open")
	two.want("open")
	two.want("read 10")
	two.want("close")
	if db, err = store.Open(world(disk, 3), "db", readerOptions()); err == nil {
		for round := range 8 {
			must(t, readerWrite(db, 11+round))
		}
		t.Errorf("a writer is let in beside a reader, which reads: %s", one.order("read 10"))
		must(t, db.Close())
	} else if !errors.Is(err, env.ErrLocked) {
		t.Errorf("a writer beside a reader: %v, want %v", err, env.ErrLocked)
	}
	one.want("read 10")
	one.want("close")
	db, err = store.Open(world(disk, 4), "db", readerOptions())
	must(t, err)
	must(t, readerWrite(db, 20))
	must(t, db.Close())

	// Only root could still write.
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	must(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(name, 0o555)
		}
		return os.Chmod(name, 0o444)
	}))
	t.Cleanup(func() {
		for _, name := range []string{dir, filepath.Join(dir, "db")} {
			_ = os.Chmod(name, 0o755)
		}
	})
	for _, r := range []*reader{one, two} {
		r.want("nobody")
		r.want("open")
		r.want("read 20")
	}
}
