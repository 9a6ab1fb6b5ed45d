// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/store/stream"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// stateAfter applies the first n changes to a map.
func stateAfter(all []event, n int) map[string]string {
	state := map[string]string{}
	for _, e := range all[:n] {
		switch e.kind {
		case store.ChangePut:
			state[e.key] = e.value
		case store.ChangeDelete:
			delete(state, e.key)
		case store.ChangeDeleteRange:
			maps.DeleteFunc(state, func(k, _ string) bool { return e.key <= k && k < e.value })
		case store.ChangeMerge:
			var was uint64
			if v := state[e.key]; len(v) == 8 {
				was = binary.LittleEndian.Uint64([]byte(v))
			}
			state[e.key] = string(binary.LittleEndian.AppendUint64(nil, was+binary.LittleEndian.Uint64([]byte(e.value))))
		}
	}
	return state
}

// restoreUntil restores to an empty disk, and loses the power.
func restoreUntil(t *testing.T, disk *sim.Disk, archive env.Disk, until uint64, at time.Time, copies ...[]byte) error {
	t.Helper()
	var in []io.Reader
	for _, c := range copies {
		in = append(in, bytes.NewReader(c))
	}
	_, err := store.Restore(t.Context(), world(disk, 3), "new", store.RestoreOptions{
		Memory: store.MemoryMin, Archive: archive, ArchiveDir: "archive", Until: until, UntilTime: at, Merger: sum{}}, in...)
	disk.Crash(sim.KeepUpTo(0))
	return err
}

// checkRestored compares a restored store with a map.
func checkRestored(t *testing.T, disk *sim.Disk, number int, want map[string]string) {
	t.Helper()
	o := tiny()
	o.Merger = sum{}
	db, err := store.Open(world(disk, 5), "new", o)
	must(t, err)
	check(t, db, want)
	if got := int(db.LastChange()); got != number {
		t.Fatalf("the restored store ends at change %d, want %d", got, number)
	}
	must(t, db.Close())
	if names, err := disk.List("new"); err != nil || slices.Contains(names, "RESTORE") {
		t.Errorf("%v, %v", names, err)
	}
}

// Each state between a copy and the end of the archive is restored, across crashes
// of the archived store.
func TestEveryPointInTime(t *testing.T) {
	for seed := range int64(3) {
		disk, archive, o := sim.NewDisk(), sim.NewDisk(), historic(1<<30)
		c := &historian{t: t, r: rand.New(rand.NewSource(seed)), db: open(t, disk, o)}
		for range 200 {
			c.commit()
		}
		whole, mark := copyOf(t, c.db, nil)
		first, has := int(mark.Number()), int(mark.Number())
		type archived struct {
			number int
			wall   time.Time
		}
		var calls []archived
		for round := range 12 {
			for range 30 + c.r.Intn(100) {
				c.commit()
			}
			if round%2 == 0 {
				must(t, c.db.Sync())
			}
			last, err := c.db.Archive(t.Context(), archive, "archive", mark.Number())
			must(t, err)
			if round%2 == 0 && int(last) != len(c.all) || int(last) < has {
				t.Fatalf("the archive ends at %d, %d were synced", last, len(c.all))
			}
			has = int(last)
			calls = append(calls, archived{has, time.Now()})
			if round%3 == 2 {
				disk.Crash(sim.KeepUpTo(0))
				c.db = open(t, disk, o)
				if n := int(c.db.LastChange()); n < has {
					t.Fatalf("a crash leaves %d changes, the archive has %d", n, has)
				}
				c.all = c.all[:c.db.LastChange()]
			}
		}
		archive.Crash(sim.KeepUpTo(0)) // it is durable
		for range 25 {
			until := first + c.r.Intn(has-first+1)
			whole_ := until
			for whole_ > 0 && c.all[whole_-1].more { // a batch is left out as a whole
				whole_--
			}
			to := sim.NewDisk()
			if whole_ < first {
				continue
			}
			must(t, restoreUntil(t, to, archive, uint64(until), time.Time{}, whole))
			checkRestored(t, to, whole_, stateAfter(c.all, whole_))
		}
		for _, call := range calls[:3] {
			to := sim.NewDisk()
			must(t, restoreUntil(t, to, archive, 0, call.wall, whole))
			checkRestored(t, to, call.number, stateAfter(c.all, call.number))
		}
		to := sim.NewDisk()
		must(t, restoreUntil(t, to, archive, 0, time.Time{}, whole))
		checkRestored(t, to, has, stateAfter(c.all, has))
		for name, err := range map[string]error{
			"before the copy":    restoreUntil(t, sim.NewDisk(), archive, uint64(first-1), time.Time{}, whole),
			"behind the archive": restoreUntil(t, sim.NewDisk(), archive, uint64(has+1), time.Time{}, whole),
			"a time before":      restoreUntil(t, sim.NewDisk(), archive, 0, time.Unix(1, 0), whole),
		} {
			if err == nil {
				t.Errorf("%s: restored", name)
			}
		}
		must(t, c.db.Close())
	}
}

// Keyspaces are archived like everything else, also after a copy that is older than the
// first keyspace.
func TestArchivedKeyspaces(t *testing.T) {
	archive := sim.NewDisk()
	db := open(t, sim.NewDisk(), historic(1<<30))
	early, mark := copyOf(t, db, nil)
	must(t, db.Put([]byte("k"), []byte("u")))
	must(t, db.DeleteRange([]byte("b"), bytes.Repeat([]byte{0xff}, 16)))
	one, err := db.Keyspace("one")
	must(t, err)
	whole, _ := copyOf(t, db, nil)
	must(t, one.Put([]byte("k"), []byte("v")))
	two, err := db.Keyspace("two")
	must(t, err)
	must(t, two.Put([]byte("k"), []byte("w")))
	must(t, db.Put([]byte("k"), []byte("x")))
	must(t, db.Sync())
	_, err = db.Archive(t.Context(), archive, "archive", mark.Number())
	must(t, err)
	for _, base := range [][]byte{whole, early} {
		to := sim.NewDisk()
		must(t, restoreUntil(t, to, archive, 0, time.Time{}, base))
		o := tiny()
		o.Merger = sum{}
		restored, err := store.Open(world(to, 5), "new", o)
		must(t, err)
		if names, err := restored.Keyspaces(); err != nil || !slices.Equal(names, []string{"one", "two"}) {
			t.Errorf("keyspaces %q, %v", names, err)
		}
		for name, want := range map[string]string{"one": "v", "two": "w"} {
			k, err := restored.Keyspace(name)
			must(t, err)
			if v, err := k.Get([]byte("k"), nil); err != nil || string(v) != want {
				t.Errorf("%s has %q, %v, want %q", name, v, err, want)
			}
		}
		check(t, restored, map[string]string{"k": "x"})
		must(t, restored.Close())
	}
	must(t, db.Close())
}

// smallArchive is a copy and an archive of a few files.
func smallArchive(t *testing.T) (whole []byte, archive *sim.Disk, all []event) {
	archive = sim.NewDisk()
	c := &historian{t: t, r: rand.New(rand.NewSource(4)), db: open(t, sim.NewDisk(), historic(1<<30))}
	c.commit()
	whole, mark := copyOf(t, c.db, nil)
	for range 3 {
		for range 40 {
			c.commit()
		}
		must(t, c.db.Sync())
		_, err := c.db.Archive(t.Context(), archive, "archive", mark.Number())
		must(t, err)
	}
	must(t, c.db.Close())
	return whole, archive, c.all
}

// Damage of any bit of an archive is found, and so is a missing file.
func TestDamagedArchive(t *testing.T) {
	whole, archive, _ := smallArchive(t)
	names, err := archive.List("archive")
	must(t, err)
	names = slices.DeleteFunc(names, func(n string) bool { return n == "LOCK" })
	r := rand.New(rand.NewSource(3))
	for i, name := range names {
		f, err := archive.Open("archive/"+name, false)
		must(t, err)
		size, err := f.Size()
		must(t, err)
		for at := int64(0); at < size; at += 512 {
			damaged := archive.Clone()
			f, err := damaged.Open("archive/"+name, false)
			must(t, err)
			place, b := at+r.Int63n(min(512, size-at)), make([]byte, 1)
			_, err = f.ReadAt(b, place)
			must(t, err)
			b[0] ^= 1 << r.Intn(8)
			_, err = f.WriteAt(b, place)
			must(t, err)
			to := sim.NewDisk()
			err = restoreUntil(t, to, damaged, 0, time.Time{}, whole)
			var bad *store.CorruptError
			if !errors.As(err, &bad) || bad.File != name || bad.Offset > place {
				t.Fatalf("damage at byte %d of %s: %v", place, name, err)
			}
			if names, _ := to.List("new"); len(names) > 0 {
				t.Fatalf("a restore that failed leaves %v", names)
			}
		}
		if i+1 < len(names) {
			missing := archive.Clone()
			must(t, missing.Remove("archive/"+name))
			if err := restoreUntil(t, sim.NewDisk(), missing, 0, time.Time{}, whole); !errors.Is(err, store.ErrTooOld) {
				t.Errorf("without %s: %v", name, err)
			}
		}
	}
}

// A crash at any operation of a restore leaves no store, or the whole one, and a
// crash at any operation of Archive leaves an archive that the next call continues.
func TestCrashesOfArchives(t *testing.T) {
	whole, archive, all := smallArchive(t)
	r := rand.New(rand.NewSource(5))
	disk := sim.NewDisk()
	hook := &hookDisk{Disk: disk}
	crashes, done := 0, 0
	hook.after = func(string) {
		for _, fate := range fates(r) {
			after := disk.Clone()
			after.Crash(fate)
			crashes++
			names, _ := after.List("new")
			if !slices.Contains(names, "DATA") {
				if crashes%9 != 0 {
					continue
				}
				must(t, restoreUntil(t, after, archive, 0, time.Time{}, whole))
			}
			done++
			o := tiny()
			o.Merger = sum{}
			db, err := store.Open(world(after, 5), "new", o)
			must(t, err)
			check(t, db, stateAfter(all, len(all)))
			must(t, db.Close())
		}
	}
	_, err := store.Restore(t.Context(), world(hook, 3), "new", store.RestoreOptions{
		Memory: store.MemoryMin, Archive: archive, ArchiveDir: "archive", Merger: sum{}}, bytes.NewReader(whole))
	must(t, err)
	if crashes < 100 || done < 10 {
		t.Errorf("%d crashes, %d with a store", crashes, done)
	}
	t.Logf("%d crashes, %d with a store", crashes, done)

	c := &historian{t: t, r: rand.New(rand.NewSource(6)), db: open(t, sim.NewDisk(), historic(1<<30))}
	c.commit()
	base, mark := copyOf(t, c.db, nil)
	for range 60 {
		c.commit()
	}
	must(t, c.db.Sync())
	to := sim.NewDisk()
	target := &hookDisk{Disk: to, after: func(string) {}}
	n := 0
	target.after = func(string) {
		for _, fate := range fates(r) {
			n++
			after := to.Clone()
			after.Crash(fate)
			last, err := c.db.Archive(t.Context(), after, "archive", mark.Number())
			if must(t, err); int(last) != len(c.all) {
				t.Fatalf("the archive ends at %d of %d", last, len(c.all))
			}
			restored := sim.NewDisk()
			must(t, restoreUntil(t, restored, after, 0, time.Time{}, base))
			checkRestored(t, restored, len(c.all), stateAfter(c.all, len(c.all)))
		}
	}
	_, err = c.db.Archive(t.Context(), target, "archive", mark.Number())
	must(t, err)
	must(t, c.db.Close())
	if n < 20 {
		t.Errorf("%d crashes of an archive", n)
	}
}

// An archive whose disk fails is an error of Archive alone.
func TestAFailingArchive(t *testing.T) {
	c := &historian{t: t, r: rand.New(rand.NewSource(6)), db: open(t, sim.NewDisk(), historic(1<<30))}
	for range 60 {
		c.commit()
	}
	must(t, c.db.Sync())
	broken := &lyingDisk{Disk: sim.NewDisk(), lieAbout: 1 << 30}
	if _, err := c.db.Archive(t.Context(), failingDisk{broken}, "archive", 0); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a failing archive: %v", err)
	}
	c.commit()
	must(t, c.db.Flush())
	must(t, c.db.Close())
}

var errBroken = errors.New("broken")

// failingDisk renames nothing.
type failingDisk struct{ env.Disk }

func (failingDisk) Rename(_, _ string) error { return errBroken }

// fillDisk is a disk whose data file cannot grow any more once full is set.
type fillDisk struct {
	env.Disk
	full *bool
}

func (d fillDisk) Open(name string, create bool) (env.File, error) {
	f, err := d.Disk.Open(name, create)
	if path.Base(name) != "DATA" {
		return f, err
	}
	return fillFile{f, d.full}, err
}

type fillFile struct {
	env.File
	full *bool
}

func (f fillFile) WriteAt(b []byte, at int64) (int, error) {
	if *f.full && at >= 2<<20 {
		return 0, env.ErrNoSpace
	}
	return f.File.WriteAt(b, at)
}

// closingDisk sets closed when one of its files is closed.
type closingDisk struct {
	env.Disk
	closed *bool
}

func (d closingDisk) Open(name string, create bool) (env.File, error) {
	f, err := d.Disk.Open(name, create)
	return closingFile{f, d.closed}, err
}

type closingFile struct {
	env.File
	closed *bool
}

func (f closingFile) Close() error {
	*f.closed = true
	return f.File.Close()
}

// If the disk is full when all of an archive was applied, Restore returns an error:
// the journal, which may have room, is not part of the store that it makes.
func TestRestoreToADiskThatFills(t *testing.T) {
	db := open(t, sim.NewDisk(), historic(1<<22))
	must(t, db.Put([]byte("a"), []byte("1")))
	whole, mark := copyOf(t, db, nil)
	for i := range 300 {
		must(t, db.Put(fmt.Appendf(nil, "k%d", i), bytes.Repeat([]byte{'x'}, 300)))
	}
	must(t, db.Sync())
	archive := sim.NewDisk()
	last, err := db.Archive(t.Context(), archive, "archive", mark.Number())
	must(t, err)
	must(t, db.Close())

	full := false
	to := sim.NewDisk()
	w := world(fillDisk{to, &full}, 3)
	_, err = store.Restore(t.Context(), w, "new", store.RestoreOptions{
		Memory: store.MemoryMin, Archive: closingDisk{archive, &full}, ArchiveDir: "archive", Until: last, Merger: sum{}}, bytes.NewReader(whole))
	if !full || !errors.Is(err, env.ErrNoSpace) {
		t.Fatalf("full %v: %v", full, err)
	}
	if names, _ := to.List("new"); len(names) > 0 {
		t.Errorf("a restore that failed leaves %v", names)
	}
}

// ofVersionOne makes all segments in a directory those of another version.
func ofVersionOne(t *testing.T, disk env.Disk, dir string) {
	t.Helper()
	names, err := disk.List(dir)
	must(t, err)
	n := 0
	for _, name := range names {
		if !strings.HasPrefix(name, "HISTORY-") {
			continue
		}
		n++
		f, err := disk.Open(path.Join(dir, name), false)
		must(t, err)
		size, err := f.Size()
		must(t, err)
		in := stream.NewReader(io.NewSectionReader(f, 0, size))
		var buf bytes.Buffer
		out := stream.NewWriter(&buf)
		for {
			kind, b, err := in.Next()
			if err == io.EOF {
				break
			}
			must(t, err)
			if kind == 16 { // the beginning
				binary.LittleEndian.PutUint32(b, 1)
			}
			must(t, out.Section(kind, b))
		}
		_, err = f.WriteAt(buf.Bytes(), 0)
		must(t, err)
		must(t, f.Close())
	}
	if n == 0 {
		t.Fatalf("no segment in %v", names)
	}
}

// Files of another version do not exist for a feed, and an archive that has some does not
// grow: it could not be restored.
func TestOtherVersions(t *testing.T) {
	disk, archive := sim.NewDisk(), sim.NewDisk()
	db := open(t, disk, historic(1<<22))
	add := func() {
		must(t, db.Put([]byte("k"), []byte("v")))
		must(t, db.Flush())
	}
	add()
	_, err := db.Archive(t.Context(), archive, "archive", 0)
	must(t, err)
	ofVersionOne(t, archive, "archive")
	add()
	before, err := archive.List("archive")
	must(t, err)
	if _, err := db.Archive(t.Context(), archive, "archive", 0); err == nil || !strings.Contains(err.Error(), "format version 1") {
		t.Errorf("an archive of version 1: %v", err)
	}
	if after, err := archive.List("archive"); err != nil || !slices.Equal(after, before) {
		t.Errorf("the archive had %v, has %v, %v", before, after, err)
	}
	must(t, db.Close())
	ofVersionOne(t, disk, "db")
	db = open(t, disk, historic(1<<22))
	if _, err := db.Archive(t.Context(), archive, "new", 0); !errors.Is(err, store.ErrTooOld) {
		t.Errorf("a history of version 1: %v", err)
	}
	add()
	number := db.LastChange()
	feed, err := db.Changes(number - 1)
	must(t, err)
	if c, err := feed.Next(t.Context()); err != nil || c.Number != number {
		t.Errorf("behind it: %+v, %v, want change %d", c, err, number)
	}
	must(t, feed.Close())
	must(t, db.Close())
}

// While a call of Archive writes to a directory, all others are refused.
func TestArchivesAtTheSameTime(t *testing.T) {
	db := open(t, sim.NewDisk(), historic(1<<22))
	whole, mark := copyOf(t, db, nil)
	for i := range 1000 {
		must(t, db.Put(fmt.Appendf(nil, "k%d", i), bytes.Repeat([]byte{'x'}, 300)))
	}
	must(t, db.Sync())
	archive, err := osenv.OpenDisk(t.TempDir())
	must(t, err)
	other, err := store.Open(world(sim.NewDisk(), 9), "db", historic(1<<22)) // with an identity of its own
	must(t, err)
	must(t, other.Put([]byte("k"), nil))
	must(t, other.Sync())

	begun := false // the first call is within its file
	slow := &hookDisk{Disk: archive, after: func(op string) {
		if op == "open" && !begun {
			begun = true
			for of, by := range map[string]*store.DB{"the same store": db, "another one": other} {
				if _, err := by.Archive(t.Context(), archive, "archive", mark.Number()); !errors.Is(err, env.ErrLocked) {
					t.Errorf("%s: %v", of, err)
				}
			}
		}
	}}
	last, err := db.Archive(t.Context(), lockable{slow, archive}, "archive", mark.Number())
	must(t, err)
	if !begun {
		t.Error("no call was made beside another")
	}
	to := sim.NewDisk()
	must(t, restoreUntil(t, to, archive, last, time.Time{}, whole))
	must(t, other.Close())
	must(t, db.Close())
}

// lockable is a disk with the locks of another one.
type lockable struct {
	env.Disk
	locks env.LockDisk
}

func (d lockable) Lock(name string) (io.Closer, error) { return d.locks.Lock(name) }
