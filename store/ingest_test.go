// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// ingest brings the records of a map into the store.
func ingest(t *testing.T, db *store.DB, records map[string]string) {
	t.Helper()
	i, err := db.Ingest()
	must(t, err)
	for _, k := range slices.Sorted(maps.Keys(records)) {
		must(t, i.Put([]byte(k), []byte(records[k])))
	}
	must(t, i.Commit())
}

// some is a map of n random records among 2n keys, some of them large.
func some(r *rand.Rand, n int) map[string]string {
	m := map[string]string{}
	for range n {
		value := strings.Repeat(string(rune('a'+r.Intn(26))), r.Intn(300))
		if r.Intn(30) == 0 {
			value = strings.Repeat(value, 20)
		}
		m[fmt.Sprintf("key%04d", r.Intn(2*n))] = value
	}
	return m
}

// Ingests are changes like all others: the store agrees with a map with changes
// before, during and after them, snapshots, range deletes, and restarts.
func TestIngestAgainstAMap(t *testing.T) {
	for seed := range int64(2) {
		r := rand.New(rand.NewSource(seed))
		disk := sim.NewDisk()
		o := tiny()
		o.Merger = list{}
		db := open(t, disk, o)
		model := map[string]string{}
		change := func() {
			key := fmt.Sprintf("key%04d", r.Intn(800))
			switch r.Intn(12) {
			case 0:
				must(t, db.Delete([]byte(key)))
				delete(model, key)
			case 1:
				must(t, db.DeleteRange([]byte(key), []byte(key+"~")))
				maps.DeleteFunc(model, func(k, _ string) bool { return k >= key && k < key+"~" })
			case 2:
				must(t, db.Merge([]byte(key), []byte("+")))
				model[key] = string(list{}.Apply(nil, nil, []byte(model[key]), has(model, key), []byte("+")))
			default:
				value := strings.Repeat("v", r.Intn(400))
				must(t, db.Put([]byte(key), []byte(value)))
				model[key] = value
			}
		}
		for round := range 12 {
			for range r.Intn(300) {
				change()
			}
			records := some(r, 1+r.Intn(400))
			i, err := db.Ingest()
			must(t, err)
			if _, err := db.Ingest(); !errors.Is(err, store.ErrIngest) {
				t.Fatalf("a second ingest: %v", err)
			}
			for n, k := range slices.Sorted(maps.Keys(records)) {
				must(t, i.Put([]byte(k), []byte(records[k])))
				if n%5 == 0 {
					change()
				}
				if err := i.Put([]byte(k), nil); !errors.Is(err, store.ErrOrder) {
					t.Fatalf("the same key again: %v", err)
				}
			}
			check(t, db, model) // and fill the record cache
			s, before := db.Snapshot(), maps.Clone(model)
			if round%4 == 3 {
				i.Discard()
			} else {
				must(t, i.Commit())
				maps.Copy(model, records)
			}
			if err := i.Commit(); !errors.Is(err, store.ErrClosed) {
				t.Fatalf("a second end: %v", err)
			}
			for k := range records {
				v, err := s.Get([]byte(k), nil)
				if has(before, k) != (err == nil) || string(v) != before[k] {
					t.Fatalf("a snapshot from before an ingest sees %.20q at %q, %v; want %.20q", v, k, err, before[k])
				}
			}
			s.Close()
			check(t, db, model)
			report, err := db.Verify(context.Background())
			must(t, err)
			must(t, report.Err())
			if round%3 == 2 {
				if round%2 == 0 {
					left, err := db.Ingest() // open when the store is closed
					must(t, err)
					must(t, left.Put([]byte("left"), []byte(strings.Repeat("x", 5000))))
				}
				must(t, db.Close())
				db = open(t, disk, o)
				check(t, db, model)
			}
		}
		must(t, db.Compact(nil, nil))
		check(t, db, model)
		must(t, db.Close())
	}
}

func has(m map[string]string, key string) bool {
	_, in := m[key]
	return in
}

// crashDisk calls before ahead of each operation that changes files.
type crashDisk struct {
	*sim.Disk
	before func()
}

func (d *crashDisk) Open(name string, create bool) (env.File, error) {
	d.before()
	f, err := d.Disk.Open(name, create)
	if err != nil {
		return nil, err
	}
	return &crashFile{File: f, disk: d}, nil
}

func (d *crashDisk) OpenDirect(name string, create bool) (env.File, bool, error) {
	f, err := d.Open(name, create)
	return f, true, err
}

func (d *crashDisk) Rename(old, new string) error {
	d.before()
	return d.Disk.Rename(old, new)
}

func (d *crashDisk) SyncDir(name string) error {
	d.before()
	return d.Disk.SyncDir(name)
}

type crashFile struct {
	env.File
	disk *crashDisk
}

func (f *crashFile) WriteAt(b []byte, off int64) (int, error) {
	f.disk.before()
	return f.File.WriteAt(b, off)
}

func (f *crashFile) Truncate(size int64) error {
	f.disk.before()
	return f.File.Truncate(size)
}

func (f *crashFile) Sync() error {
	f.disk.before()
	return f.File.Sync()
}

// crashes runs f on a disk and calls after with the states that some losses of power
// leave before each operation of the disk: nothing unsynced, all, and random
// sectors.
func crashes(disk *sim.Disk, f func(env.Disk), after func(crashed *sim.Disk, moment int)) (states int) {
	moment := 0
	d := &crashDisk{Disk: disk}
	d.before = func() {
		r := rand.New(rand.NewSource(int64(moment)))
		for _, fate := range []sim.Fate{
			sim.KeepUpTo(0), sim.KeepAll(),
			sim.KeepFunc(func(_ sim.Piece, ops []uint64) int { return r.Intn(len(ops) + 1) }),
		} {
			c := disk.Clone()
			c.Crash(fate)
			after(c, moment)
			states++
		}
		moment++
	}
	f(d)
	d.before()
	return states
}

// A loss of power at any operation of the disk leaves all of an ingest or nothing,
// all once Commit has returned, and everything that was synced before and after it.
func TestIngestCrashes(t *testing.T) {
	for _, o := range []store.Options{tiny(), everyCommit()} {
		r := rand.New(rand.NewSource(3))
		disk := sim.NewDisk()
		db := open(t, disk, tiny())
		before := some(r, 150)
		for _, k := range slices.Sorted(maps.Keys(before)) {
			must(t, db.Put([]byte(k), []byte(before[k])))
		}
		must(t, db.Close())

		records := some(r, 120)
		with := maps.Clone(before)
		maps.Copy(with, records)
		var begun, ended, synced bool
		whole, none := 0, 0
		states := crashes(disk, func(d env.Disk) {
			db := open(t, d, o)
			must(t, db.Put([]byte("a"), []byte("synced before"))) // in the journal
			must(t, db.Sync())
			begun = true
			i, err := db.Ingest()
			must(t, err)
			for _, k := range slices.Sorted(maps.Keys(records)) {
				must(t, i.Put([]byte(k), []byte(records[k])))
			}
			must(t, i.Commit())
			ended = true
			must(t, db.Put([]byte("z"), []byte("synced after")))
			must(t, db.Sync())
			synced = true
			must(t, db.Put([]byte("z2"), []byte("after")))
			must(t, db.Close())
		}, func(crashed *sim.Disk, moment int) {
			db, err := store.Open(world(crashed, uint64(1000+moment)), "db", o)
			must(t, err)
			want := maps.Clone(before)
			first := slices.Min(slices.Collect(maps.Keys(records)))
			if got, err := db.Get([]byte(first), nil); err == nil && string(got) == records[first] && before[first] != records[first] {
				want = maps.Clone(with)
				whole++
			} else {
				none++
				if ended {
					t.Fatalf("moment %d: nothing is left of an ingest that was committed", moment)
				}
			}
			for _, k := range []string{"a", "z", "z2"} {
				if v, err := db.Get([]byte(k), nil); err == nil {
					want[k] = string(v)
				}
			}
			if begun && !has(want, "a") || synced && !has(want, "z") {
				t.Fatalf("moment %d: a synced change is lost", moment)
			}
			check(t, db, want)
			// The next life works.
			must(t, db.Put([]byte("zz"), []byte("next life")))
			must(t, db.Sync())
			want["zz"] = "next life"
			check(t, db, want)
			crashed.Crash(sim.KeepUpTo(0))
			db, err = store.Open(world(crashed, uint64(2000+moment)), "db", o)
			must(t, err)
			check(t, db, want)
			report, err := db.Verify(context.Background())
			must(t, err)
			must(t, report.Err())
			must(t, db.Close())
		})
		if whole == 0 || none == 0 || states < 90 {
			t.Fatalf("%d states, %d with the ingest and %d without: the test is empty", states, whole, none)
		}
		t.Logf("%d states: %d with the ingest, %d without", states, whole, none)
	}
}

// Readers see an ingest from one moment on, writers continue beside it, and after
// Commit has returned its records stay.
func TestIngestBesideOthers(t *testing.T) {
	o := tiny()
	o.Tuning.Inline = false
	disk, err := osenv.OpenDisk(t.TempDir())
	must(t, err)
	defer disk.Close()
	db := open(t, disk, o)
	const keys, rounds = 300, 40
	key := func(i int) []byte { return fmt.Appendf(nil, "key%03d", i) }
	fill := func(round int) error {
		i, err := db.Ingest()
		if err != nil {
			return err
		}
		for k := range keys {
			if err := i.Put(key(k), fmt.Appendf(nil, "%06d", round)); err != nil {
				return err
			}
		}
		return i.Commit()
	}
	must(t, fill(100))
	var group sync.WaitGroup
	stop := make(chan struct{})
	var steps atomic.Int64
	beside := func(f func(r *rand.Rand) error) {
		group.Add(1)
		go func() {
			defer group.Done()
			for r := rand.New(rand.NewSource(1)); ; {
				select {
				case <-stop:
					return
				default:
				}
				steps.Add(1)
				if err := f(r); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	last := ""
	beside(func(r *rand.Rand) error { // one client reads keys one by one, and never sees an older round
		v, err := db.Get(key(r.Intn(keys)), nil)
		if err == nil && string(v) < last {
			err = fmt.Errorf("round %q after round %q", v, last)
		}
		last = string(v)
		return err
	})
	beside(func(*rand.Rand) error { // an iterator sees one round
		it, err := db.Iter([]byte("key"), []byte("kez"))
		if err != nil {
			return err
		}
		seen := map[string]int{}
		for ok := it.First(); ok; ok = it.Next() {
			seen[string(it.Value())]++
		}
		if err := it.Close(); err != nil {
			return err
		}
		if len(seen) != 1 {
			return fmt.Errorf("an iterator sees %v", seen)
		}
		return nil
	})
	n := 0
	beside(func(*rand.Rand) error { // a writer goes on, and syncs
		n++
		if err := db.Put(fmt.Appendf(nil, "other%06d", n), make([]byte, 200)); err != nil {
			return err
		}
		if n%50 == 0 {
			return db.Sync()
		}
		return nil
	})
	for round := 101; round <= 100+rounds || steps.Load() < 3000 && !t.Failed(); round++ {
		if err := fill(round); err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	group.Wait()
	for i := 1; i <= n; i++ {
		if _, err := db.Get(fmt.Appendf(nil, "other%06d", i), nil); err != nil {
			t.Fatalf("change %d of %d beside ingests: %v", i, n, err)
		}
	}
	must(t, db.Close())
}

// An ingest that the disk has no room for leaves nothing behind.
func TestIngestOnAFullDisk(t *testing.T) {
	disk := newSmallDisk(2048)
	db := open(t, disk, tiny())
	want := map[string]string{"k": "v"}
	must(t, db.Put([]byte("k"), []byte("v")))
	i, err := db.Ingest()
	must(t, err)
	n := 0
	for ; err == nil; n++ {
		err = i.Put(fmt.Appendf(nil, "key%06d", n), make([]byte, 400))
	}
	if !errors.Is(err, env.ErrNoSpace) || n < 1000 {
		t.Fatalf("record %d: %v", n, err)
	}
	if again := i.Commit(); !errors.Is(again, env.ErrNoSpace) {
		t.Fatalf("an ingest that failed is committed: %v", again)
	}
	check(t, db, want)
	small := map[string]string{"a": "1", "b": strings.Repeat("2", 5000)}
	ingest(t, db, small) // the pages are free again
	maps.Copy(want, small)
	check(t, db, want)
	must(t, db.Close())
	db = open(t, disk, tiny())
	check(t, db, want)
	must(t, db.Close())
}

// An ingest is a change for transactions that began before it.
func TestIngestConflicts(t *testing.T) {
	db := open(t, sim.NewDisk(), tiny())
	must(t, db.Put([]byte("k"), []byte("old")))
	touched, beside := db.Begin(), db.Begin()
	_, err := touched.Get([]byte("k"), nil)
	must(t, err)
	must(t, touched.Put([]byte("seen"), []byte("old")))
	if _, err := beside.Get([]byte("other"), nil); !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	must(t, beside.Put([]byte("beside"), nil))
	ingest(t, db, map[string]string{"k": "new"})
	if err := touched.Commit(store.NoSync); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a transaction that read what an ingest has replaced: %v", err)
	}
	must(t, beside.Commit(store.NoSync))
	check(t, db, map[string]string{"k": "new", "beside": ""})
	must(t, db.Close())
}
