// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
	"github.com/ashlar-dev/ashlar/sim"
)

// shortStore is a store on which a merge is due: some branches of the same keys.
func shortStore(t *testing.T, disk env.Disk) *DB {
	t.Helper()
	o := Options{Memory: 64 << 20, Tuning: Tuning{MemtableBytes: 32 << 10, LeafBytes: 16 << 10, Fanout: 4, Runs: 3, BlobBytes: 1 << 10, Inline: true}}
	db, err := Open(env.Env{Disk: disk, Clock: osenv.NewClock(), Random: osenv.NewRandom()}, "db", o)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		for i := range 100 {
			if err := db.Put(fmt.Appendf(nil, "key%03d", i), fmt.Appendf(nil, "%d %0100d", round, i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.flushMems(false); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// A merge that finds no memory to read its inputs returns an error to the caller
// that wants it, and is made as soon as there is memory: it is not taken for
// damage, and not tried again and again.
func TestMergesWithoutMemory(t *testing.T) {
	disk, err := osenv.OpenDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	db := shortStore(t, disk)
	wants := map[string]error{"wait": ErrMemory, "make room": ErrMemory} // the change of inline is made
	for name, call := range map[string]func() error{
		"wait":   db.Wait,
		"inline": db.inline,
		"make room": func() error {
			for {
				if did, err := db.makeRoom(forDeletes); err != nil || !did {
					return err
				}
			}
		},
	} {
		// The system has no memory: no limit may be exceeded. A call that waits
		// gets its memory in the end.
		const shortagesMax = 1000
		shortages := 0
		db.pool.OnShortage(func(int) slab.Answer {
			if shortages++; shortages > shortagesMax {
				return slab.Exceed
			}
			return slab.Refuse
		})
		var held [][]byte
		for n := 1 << 20; n >= 64; n /= 2 {
			for {
				b, ok := db.pool.Try(n)
				if !ok {
					break
				}
				held = append(held, b)
			}
		}
		err := call()
		for _, b := range held {
			db.pool.Free(b)
		}
		db.pool.OnShortage(db.relieve)
		if shortages > shortagesMax {
			t.Fatalf("%s does not end without memory", name)
		}
		if !errors.Is(err, wants[name]) {
			t.Errorf("%s: %v, want %v", name, err, wants[name])
		}
		if shortages == 0 {
			t.Errorf("%s asks for no memory", name)
		}
	}
	if err := db.Wait(); err != nil {
		t.Fatal(err)
	}
	if runs := db.tree.runs(); runs != 1 || db.Metrics().Compactions == 0 {
		t.Errorf("%d runs are left when there is memory again", runs)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// An input that cannot be read is not read again, whatever error the disk returns:
// even that it has no room.
func TestReadsWithoutRoom(t *testing.T) {
	disk, err := osenv.OpenDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	db := shortStore(t, disk)
	j := db.nextJob(asked, &refusals{})
	if j == nil {
		t.Fatal("no merge is due")
	}
	for cause, spoiled := range map[error]bool{env.ErrNoSpace: true, fs.ErrInvalid: true} {
		db.tree.spoiled = nil
		err := db.mergeError(j, fmt.Errorf("merge: %w", readError{cause}))
		var unreadable readError
		if !errors.As(err, &unreadable) || !errors.Is(err, cause) || !strings.HasPrefix(err.Error(), "compaction: ") || db.tree.isSpoiled(j) != spoiled {
			t.Errorf("%v: %v, spoiled %v", cause, err, db.tree.isSpoiled(j))
		}
	}
	if err := db.err(); err != nil {
		t.Error(err)
	}
	db.tree.end(j, false)
	for _, r := range j.Inputs {
		db.unrefBranch(r.Branch)
	}
	db.tree.spoiled = []*trunk.Job{}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// The same through a merge, on a disk that returns that error.
func TestMergesReadWithoutRoom(t *testing.T) {
	disk := &fullDisk{Disk: sim.NewDisk()}
	db := shortStore(t, disk)
	j := db.nextJob(asked, &refusals{})
	if j == nil {
		t.Fatal("no merge is due")
	}
	j.Bottom = false // else it may use the reserve, and has a second way to fail
	disk.unread.Store(true)
	err := db.run(j)
	disk.unread.Store(false)
	var unreadable readError
	if !errors.As(err, &unreadable) || !errors.Is(err, env.ErrNoSpace) || !db.tree.isSpoiled(j) || db.err() != nil {
		t.Errorf("%v, spoiled %v; %v", err, db.tree.isSpoiled(j), db.err())
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// fullDisk is a disk on which no file can become longer while it is full, and no
// file can be read while it is unread. Unlike those of a simulated disk, its files
// are safe for concurrent use.
type fullDisk struct {
	env.Disk
	mu           sync.Mutex
	full, unread atomic.Bool  // tests change them while workers run
	written      atomic.Int64 // bytes
}

func (d *fullDisk) Open(name string, create bool) (env.File, error) {
	f, err := d.Disk.Open(name, create)
	if err != nil {
		return nil, err
	}
	return fullFile{f.(env.SpaceFile), d}, nil
}

type fullFile struct {
	env.SpaceFile
	disk *fullDisk
}

func (f fullFile) Allocate(off, n int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if size, err := f.SpaceFile.Size(); err != nil || f.disk.full.Load() && off+n > size {
		return cmp.Or(err, env.ErrNoSpace)
	}
	return f.SpaceFile.Allocate(off, n)
}

func (f fullFile) WriteAt(b []byte, off int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.written.Add(int64(len(b)))
	return f.SpaceFile.WriteAt(b, off)
}

func (f fullFile) Size() (int64, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.SpaceFile.Size()
}

func (f fullFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.SpaceFile.Sync()
}

func (f fullFile) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.SpaceFile.Truncate(size)
}

func (f fullFile) Discard(off, n int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.SpaceFile.Discard(off, n)
}

func (f fullFile) ReadAt(b []byte, off int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.unread.Load() {
		return 0, env.ErrNoSpace
	}
	return f.SpaceFile.ReadAt(b, off)
}

// tightStore is a store without free pages beside its reserve, in which the most
// urgent merge is one of short runs, and one at the bottom is due as well. It has
// no goroutines.
func tightStore(t *testing.T) *DB { return tightStoreWith(t, 150, 0, false) }

// tightStoreWith is a tightStore with much to merge in the 50 keys from the one, and
// short runs in the two keys from the other. Each round of much has the same keys,
// or new ones.
func tightStoreWith(t *testing.T, much, short int, fresh bool) *DB {
	t.Helper()
	disk := &fullDisk{Disk: sim.NewDisk()}
	o := Options{Memory: 64 << 20, Compression: None, Tuning: Tuning{MemtableBytes: 128 << 10, LeafBytes: 32 << 10, Fanout: 8, Runs: 2, BlobBytes: 1 << 10, Inline: true}}
	db, err := Open(env.Env{Disk: disk, Clock: osenv.NewClock(), Random: osenv.NewRandom()}, "db", o)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	put := func(from, to, round int, fresh bool) {
		for i := from; i < to; i++ {
			key := fmt.Sprintf("key%03d", i)
			if fresh {
				key += fmt.Sprint(round)
			}
			must(db.Put([]byte(key), fmt.Appendf(nil, "%d %0500d", round, i)))
		}
		must(db.flushMems(false))
	}
	put(0, 200, 0, false)
	put(0, 200, 1, false) // sorted runs alone become one partition
	must(db.Compact(nil, nil))
	db.opt.Tuning.Inline = false // or the puts would merge
	for round := range 4 {
		put(much, much+50, round, fresh)
	}
	for round := range 7 {
		put(short, short+2, round, false)
	}
	disk.full.Store(true)
	db.keepNow()
	for err == nil {
		_, err = db.space.take(1, forSpeed)
	}
	if !errors.Is(err, env.ErrNoSpace) {
		t.Fatal(err)
	}
	p := db.policy(changing)
	if j := db.tree.trunk.Next(p); j == nil || j.Bottom {
		t.Fatalf("the most urgent job is %+v", j)
	}
	if !bottomDue(db) {
		t.Fatal("no merge at the bottom is due")
	}
	return db
}

func bottomDue(db *DB) bool {
	db.mu.Lock()
	defer db.mu.Unlock()
	p := db.policy(changing)
	p.Tight = true
	return db.tree.due(p)
}

// If there is no room for the most urgent merge, callers and workers make the
// merges that free space.
func TestMergesThatGiveBackSpaceGoOn(t *testing.T) {
	db := tightStore(t)
	db.opt.Tuning.Inline = true
	if err := db.inline(); err != nil {
		t.Fatal(err)
	}
	if bottomDue(db) {
		t.Error("callers leave a merge that gives back space")
	}
	if loose := db.policy(changing); db.tree.due(loose) {
		t.Error("callers leave a merge for which others have made room")
	}
	if err := db.shut(nil); err != nil {
		t.Fatal(err)
	}

	db = tightStore(t)
	db.mu.Lock()
	db.work.working = 1
	db.mu.Unlock()
	db.work.workers.Add(1)
	go db.work.compactor(0)
	db.mu.Lock()
	for db.work.working > 0 { // it rests when it has nothing more to do
		db.work.idle.Wait()
	}
	db.mu.Unlock()
	if bottomDue(db) {
		t.Error("a worker leaves a merge that gives back space")
	}
	if loose := db.policy(changing); db.tree.due(loose) || db.work.failed != nil {
		t.Errorf("a worker leaves a merge for which others have made room: %v", db.work.failed)
	}
	if err := db.shut(nil); err != nil {
		t.Fatal(err)
	}
}

// A merge for which there was no room hides no other one, and is tried again when
// another one has succeeded.
func TestRefusalsHideNoOtherMerge(t *testing.T) {
	db := tightStore(t)
	var r refusals
	refuseAll := func() (all []*trunk.Job) {
		for len(all) <= 100 {
			j := db.nextJob(asked, &r)
			if j == nil {
				return all
			}
			all = append(all, j)
			for _, in := range j.Inputs {
				db.unrefBranch(in.Branch)
			}
			db.mu.Lock()
			db.tree.end(j, false)
			db.mu.Unlock()
			if !r.add(db, j, fmt.Errorf("merge: %w", env.ErrNoSpace)) {
				t.Fatal("no refusal")
			}
		}
		t.Fatal("refused merges are tried for ever")
		return nil
	}
	var held []extent.Run
	for n := db.space.checkpoints(); n > 0; n-- { // for later
		run, err := db.space.take(1, forTable)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, run)
	}
	all := refuseAll()
	bottom := 0
	for _, j := range all {
		if j.Bottom {
			bottom++
		}
	}
	if bottom < 2 {
		t.Fatalf("%d merges at the bottom are tried of %d, want 2", bottom, len(all))
	}
	for i, j := range all {
		for _, k := range all[:i] {
			if string(k.Lo) == string(j.Lo) && k.Bottom == j.Bottom {
				t.Errorf("the merge of %q is tried again", j.Lo)
			}
		}
	}
	db.tree.merged++
	for _, j := range refuseAll() {
		if room := db.space.room(purposeOfMerge(j)); room < outputPages(j) {
			t.Errorf("the merge of %q is tried again with %d pages when another has given back nothing", j.Lo, room)
		}
	}
	for _, run := range held {
		db.space.Free(run)
	}
	db.tree.merged++
	if again := refuseAll(); len(again) != len(all) {
		t.Errorf("%d merges are tried when one has given back space, want %d", len(again), len(all))
	}
	// Without a free page, the first merge at the bottom is the last.
	for err := error(nil); err == nil; {
		_, err = db.space.take(1, forTable)
	}
	db.tree.merged++
	clear(db.tree.refused)
	few := refuseAll()
	for i, j := range few {
		if j.Bottom && i != len(few)-1 {
			t.Errorf("without a page %d merges are tried after one at the bottom", len(few)-1-i)
		}
	}
	if err := db.shut(nil); err != nil {
		t.Fatal(err)
	}
}

// A change is refused when no merge is left that could make room: none that the
// background would make, at any level, and none before a flush without room.
func TestChangesAreRefusedWhenNothingIsDue(t *testing.T) {
	db := tightStore(t)
	for did := true; did; {
		var err error
		if did, err = db.makeRoom(forPuts); err != nil {
			t.Fatal(err)
		}
	}
	if db.tree.due(db.policy(asked)) {
		t.Error("a put leaves a merge that is due")
	}
	if err := db.shut(nil); err != nil {
		t.Fatal(err)
	}

	db = tightStore(t)
	if err := db.Put([]byte("key"), nil); err != nil {
		t.Fatal(err)
	}
	db.freeRetired()
	for err := error(nil); err == nil; { // nothing to write a memtable
		_, err = db.space.take(1, forTable)
	}
	from := db.metrics.compactions.Load()
	if did, err := db.makeRoom(forDeletes); did || err != nil || db.metrics.compactions.Load() == from {
		t.Errorf("without room to flush, a delete tries %d merges: %v, %v", db.metrics.compactions.Load()-from, did, err)
	}
	if err := db.shut(nil); err != nil {
		t.Fatal(err)
	}
}

// A compaction that finds no room for one merge makes the others, and returns the
// error.
func TestCompactGoesOnAfterAMergeWithoutRoom(t *testing.T) {
	db := tightStoreWith(t, 0, 120, true)
	due := func(lo, hi string) *trunk.Job {
		db.mu.Lock()
		defer db.mu.Unlock()
		return db.tree.trunk.Range([]byte(lo), []byte(hi), trunk.Policy{})
	}
	first, last := due("", "key001"), due("key120", "key121")
	if first == nil || last == nil || outputPages(first) <= outputPages(last) {
		t.Fatalf("first %+v, last %+v", first, last)
	}
	db.freeRetired()
	for db.space.has(outputPages(last)+1, forWork) { // just room for the last
		if _, err := db.space.take(1, forTable); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Compact(nil, nil); !errors.Is(err, env.ErrNoSpace) {
		t.Errorf("with a merge without room Compact returns %v", err)
	}
	if j := due("key120", "key121"); j != nil {
		t.Errorf("a merge with room is left: %d bytes of %d branches", j.Bytes(), len(j.Inputs))
	}
	if due("", "key001") == nil {
		t.Error("the merge without room was made")
	}
	if err := db.shut(nil); err != nil {
		t.Fatal(err)
	}
}

// A merge of a worker that succeeds while a caller looks for room counts: the
// change is tried again.
func TestAWorkersMergeIsRoom(t *testing.T) {
	db := tightStore(t)
	db.freeRetired()
	for err := error(nil); err == nil; {
		_, err = db.space.take(1, forTable)
	}
	db.keepNow()
	if did, err := db.makeRoom(forDeletes); did || err != nil {
		t.Fatalf("without a page there is room: %v, %v", did, err)
	}
	db.room.tight.Lock()
	clear(db.tree.refused)
	var did bool
	done := make(chan error, 1)
	go func() {
		var err error
		did, err = db.makeRoom(forDeletes)
		done <- err
	}()
	eventually(t, db, func() bool { return len(db.tree.jobs) == 1 && db.tree.jobs[0].Bottom })
	db.mu.Lock()
	db.tree.merged++ // that of a worker
	db.mu.Unlock()
	db.room.tight.Unlock()
	if err := <-done; !did || err != nil {
		t.Errorf("a caller has room: %v, %v, want true", did, err)
	}
	if err := db.shut(nil); err != nil {
		t.Fatal(err)
	}
}

// A full memtable keeps pages for its contents, not for what it was granted.
func TestFullMemtablesKeepWhatTheyNeed(t *testing.T) {
	o := Options{Memory: 64 << 20, Durability: EveryCommit, Tuning: Tuning{MemtableBytes: 32 << 10, LeafBytes: 4 << 10, Inline: true}}
	db, err := Open(env.Env{Disk: sim.NewDisk(), Clock: osenv.NewClock(), Random: osenv.NewRandom()}, "db", o)
	if err != nil {
		t.Fatal(err)
	}
	put := func(i int) {
		if err := db.Put(fmt.Appendf(nil, "key%04d", i), make([]byte, 400)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 500 {
		put(i)
	}
	if err := db.Compact(nil, nil); err != nil {
		t.Fatal(err)
	}
	db.opt.Tuning.Inline = false // or the memtable would be flushed
	for i := 500; len(db.current.Load().mems) == 1; i++ {
		put(i)
	}
	m := db.current.Load().mems[1]
	// Each record: a message, and two pages of a partition's merge; each byte, with
	// the padding of its frame: twice, and what a branch needs beside its blocks.
	if most := uint64(2*m.table.Len() + 3*len(m.arena)/4096 + 10); m.keep > most {
		t.Errorf("%d pages are kept for %d records in %d bytes, want at most %d", m.keep, m.table.Len(), m.table.Pos(), most)
	}
	if err := db.shut(nil); err != nil {
		t.Fatal(err)
	}
}
