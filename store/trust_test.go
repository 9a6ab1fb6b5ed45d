// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// A store without keyspaces may have keys of any bytes, and range deletes that end
// anywhere: its archive has them all.
func TestArchiveOfKeysThatOthersReserve(t *testing.T) {
	db := open(t, sim.NewDisk(), historic(1<<30))
	whole, mark := copyOf(t, db, nil)
	high := string(bytes.Repeat([]byte{0xff}, 16))
	must(t, db.Put([]byte("b"), []byte("1")))
	must(t, db.Put([]byte(high[:14]), []byte("2")))
	must(t, db.DeleteRange([]byte("b"), []byte(high)))
	must(t, db.Put([]byte(high), []byte("3")))
	must(t, db.Sync())
	archive := sim.NewDisk()
	last, err := db.Archive(t.Context(), archive, "archive", mark.Number())
	must(t, err)
	must(t, db.Close())
	to := sim.NewDisk()
	must(t, restoreUntil(t, to, archive, 0, time.Time{}, whole))
	checkRestored(t, to, int(last), map[string]string{high: "3"})
}

// An archive without files of the store is not taken for one without changes, and
// the error names the files of other stores.
func TestArchiveOfAnotherStore(t *testing.T) {
	db := open(t, sim.NewDisk(), historic(1<<30))
	must(t, db.Put([]byte("k"), []byte("v")))
	whole, mark := copyOf(t, db, nil)
	other, err := store.Open(world(sim.NewDisk(), 99), "db", historic(1<<30))
	must(t, err)
	must(t, other.Put([]byte("k"), []byte("foreign")))
	must(t, other.Sync())
	empty, shared := sim.NewDisk(), sim.NewDisk()
	must(t, empty.MakeDir("archive"))
	_, err = other.Archive(t.Context(), shared, "archive", 0)
	must(t, err)
	names, err := shared.List("archive")
	must(t, err)
	for name, archive := range map[string]*sim.Disk{"an empty archive": empty, "another store's": shared} {
		to := sim.NewDisk()
		if err := restoreUntil(t, to, archive, 0, time.Time{}, whole); !errors.Is(err, store.ErrTooOld) {
			t.Errorf("%s: %v, want ErrTooOld", name, err)
		}
		noStore(t, to)
	}
	must(t, db.Put([]byte("k"), []byte("own")))
	must(t, db.Sync())
	_, err = db.Archive(t.Context(), shared, "archive", mark.Number())
	must(t, err)
	to := sim.NewDisk()
	done, err := store.Restore(t.Context(), world(to, 3), "new", store.RestoreOptions{
		Memory: store.MemoryMin, Archive: shared, ArchiveDir: "archive", Merger: sum{}}, bytes.NewReader(whole))
	must(t, err)
	if done.LastChange != db.LastChange() || len(done.Others) != 1 || !strings.HasPrefix(done.Others[0], "HISTORY-") || !strings.Contains(strings.Join(names, " "), done.Others[0]) {
		t.Errorf("restored %+v, want change %d and the other one's file of %q", done, db.LastChange(), names)
	}
	checkRestored(t, to, int(done.LastChange), map[string]string{"k": "own"})
	must(t, db.Close())
	must(t, other.Close())
}

// A store that is open for reading only gets no changes: its feed ends.
func TestFeedOfAReader(t *testing.T) {
	disk := sim.NewDisk()
	c := &historian{t: t, r: rand.New(rand.NewSource(8)), db: open(t, disk, historic(1<<30))}
	for range 300 {
		c.commit()
	}
	must(t, c.db.Flush())
	durable := len(c.all)
	must(t, c.db.Put([]byte("in the journal"), []byte("alone")))
	must(t, c.db.Sync())
	disk.Crash(sim.KeepUpTo(0))
	o := readOnly()
	o.Merger = sum{}
	db, err := store.Open(world(disk, 9), "db", o)
	must(t, err)
	feed, err := db.Changes(0)
	must(t, err)
	n := 0
	within(t, time.Minute, func() {
		for ; ; n++ {
			got, err := feed.Next(t.Context())
			if err == io.EOF {
				return
			}
			if err != nil || int(got.Number) != n+1 || got.Kind != c.all[n].kind || string(got.Key) != c.all[n].key {
				t.Fatalf("change %d: %v, %v", n+1, got, err)
			}
		}
	})
	if n != durable {
		t.Errorf("the feed ends at change %d, want %d", n, durable)
	}
	must(t, feed.Close())
	must(t, db.Close())
}

// historyDisk does not open files of the history while failing is set.
type historyDisk struct {
	env.Disk
	failing error
}

func (d *historyDisk) Open(name string, create bool) (env.File, error) {
	if d.failing != nil && strings.HasSuffix(name, "HISTORY.new") {
		return nil, d.failing
	}
	return d.Disk.Open(name, create)
}

// If a history must have all changes, and cannot, changes wait. That does not stop the
// store, lose a change, or let the journal grow without end.
func TestHistoryThatMustBeKept(t *testing.T) {
	for _, failure := range []error{errBroken, env.ErrNoSpace} {
		plain := sim.NewDisk()
		disk := &historyDisk{Disk: plain}
		o := historic(1 << 30)
		o.History.Must = true
		db, err := store.Open(world(disk, 7), "db", o)
		must(t, err)
		c := &historian{t: t, r: rand.New(rand.NewSource(2)), db: db}
		put := func(n int) error {
			e := event{kind: store.ChangePut, key: "key", value: strings.Repeat("v", n%300)}
			err := db.Put([]byte(e.key), []byte(e.value))
			if err == nil {
				c.all = append(c.all, e)
			}
			return err
		}
		for round := range 3 {
			for n := range 500 {
				must(t, put(n))
			}
			disk.failing = failure
			refused := 0
			for n := 0; refused < 20; n++ {
				if err := put(n); errors.Is(err, failure) {
					refused++
				} else if must(t, err); n > 100_000 {
					t.Fatalf("%v: %d changes, and none was refused", failure, n)
				}
				if int(db.LastChange()) != len(c.all) {
					t.Fatalf("%v: change %d is the last, %d were made", failure, db.LastChange(), len(c.all))
				}
			}
			if err := db.Flush(); !errors.Is(err, failure) {
				t.Errorf("%v: Flush: %v", failure, err)
			}
			must(t, db.Sync()) // what was accepted is durable all the same
			if round == 1 {
				must(t, db.Close())
				db, err = store.Open(world(disk, 8), "db", o)
				must(t, err)
				if int(db.LastChange()) != len(c.all) {
					t.Fatalf("%v: after Close there are %d changes of %d", failure, db.LastChange(), len(c.all))
				}
			}
			if journal := fileBytes(t, plain, "JOURNAL"); journal > 20*int64(o.Tuning.MemtableBytes) {
				t.Errorf("%v: the journal has %d bytes", failure, journal)
			}
			disk.failing = nil
			must(t, db.Flush())
		}
		if m := db.History(); m.Missing != 0 {
			t.Errorf("%v: %d changes are missing", failure, m.Missing)
		}
		drain(t, db, c.all, 0, nil)
		must(t, db.Close())
	}
}

// fileBytes is the length of the files whose names begin so.
func fileBytes(t *testing.T, disk *sim.Disk, prefix string) (sum int64) {
	t.Helper()
	names, err := disk.List("db")
	must(t, err)
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			f, err := disk.Open("db/"+name, false)
			must(t, err)
			n, err := f.Size()
			must(t, err)
			must(t, f.Close())
			sum += n
		}
	}
	return sum
}

// Texts of errors appear in logs, and keys may be secret.
func TestErrorsOfDamageShowNoKeys(t *testing.T) {
	const secret = "social-security-number"
	disk := sim.NewDisk()
	db := open(t, disk, tiny())
	for i := range 400 {
		must(t, db.Put([]byte(secret+string(rune('a'+i%26))+strings.Repeat("x", i/26)), []byte(strings.Repeat(secret, 40))))
	}
	must(t, db.Close())
	f, err := disk.Open("db/DATA", false)
	must(t, err)
	size, err := f.Size()
	must(t, err)
	shown := 0
	for at := int64(2 << 20); at < size; at += 4096 {
		damaged := disk.Clone()
		f, err := damaged.Open("db/DATA", false)
		must(t, err)
		_, err = f.WriteAt([]byte{1, 2, 3, 4}, at+20)
		must(t, err)
		db, err := store.Open(world(damaged, 5), "db", readOnly())
		if err != nil {
			continue
		}
		report, err := db.Verify(t.Context())
		must(t, err)
		for _, problem := range report.Problems {
			shown++
			var bad *store.CorruptError
			if text := problem.Error(); strings.Contains(text, secret[:8]) || !errors.As(problem, &bad) {
				t.Fatalf("byte %d: %s", at, text)
			}
			if !strings.HasPrefix(string(bad.Lo), secret) || !strings.HasPrefix(string(bad.Hi), secret) {
				t.Errorf("byte %d: the error has no keys", at)
			}
		}
		must(t, db.Close())
	}
	if shown == 0 {
		t.Error("no damage was found")
	}
}
