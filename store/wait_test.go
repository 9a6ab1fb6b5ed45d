// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
)

// compactors starts workers in a store of tightStore.
func compactors(db *DB, n int) {
	db.mu.Lock()
	db.work.working = n
	db.mu.Unlock()
	db.work.workers.Add(n)
	for range n {
		go db.work.compactor(0)
	}
}

// eventually waits until f, which is called under DB.mu, is true.
func eventually(t *testing.T, db *DB, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		db.mu.Lock()
		ok := f()
		db.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
	}
}

// Workers that find no room rest, and do not wake each other.
func TestRefusedMergesAreNotTriedForEver(t *testing.T) {
	db := tightStore(t)
	for err := error(nil); err == nil; { // no room at the bottom either
		_, err = db.space.take(1, forTable)
	}
	from := db.metrics.compactions.Load()
	compactors(db, 2)
	eventually(t, db, func() bool { return db.work.working == 0 || db.metrics.compactions.Load()-from > 20 })
	// They stay idle: neither tries a merge that was refused to the other.
	if tried := settled(func() int64 { return int64(db.metrics.compactions.Load() - from) }, 20); tried > 20 {
		t.Errorf("without room %d merges were tried", tried)
	}
	if err := db.Wait(); !errors.Is(err, env.ErrNoSpace) {
		t.Errorf("Wait returns %v", err)
	}
	if err := db.shut(nil); err != nil {
		t.Fatal(err)
	}
}

// Wait returns, whatever a worker is doing when it begins.
func TestWaitDuringTheLastMergeWithRoom(t *testing.T) {
	db := tightStore(t)
	db.room.tight.Lock()
	compactors(db, 1)
	// The most urgent merge was refused, and the worker is running one at the bottom.
	eventually(t, db, func() bool { return len(db.tree.jobs) == 1 && db.tree.jobs[0].Bottom })
	done := make(chan error, 1)
	go func() { done <- db.Wait() }()
	eventually(t, db, func() bool { return db.work.waiting == 1 })
	db.room.tight.Unlock()
	select {
	case err := <-done:
		if err != nil && !errors.Is(err, env.ErrNoSpace) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("Wait does not return")
	}
	if err := db.shut(nil); err != nil {
		t.Fatal(err)
	}
}

// Wait returns no refusal before the merge of a caller has ended, which may make
// room; meanwhile the workers are idle.
func TestWaitDuringTheMergeOfACaller(t *testing.T) {
	db := tightStore(t)
	for err := error(nil); err == nil; {
		_, err = db.space.take(1, forTable)
	}
	j := db.nextJob(asked, &refusals{})
	if j == nil {
		t.Fatal("no merge is due")
	}
	woken := &countedLock{Locker: &db.mu}
	db.work.work = sync.NewCond(woken)
	compactors(db, 1)
	eventually(t, db, func() bool { return db.work.working == 0 })
	db.mu.Lock()
	clear(db.tree.refused)
	db.mu.Unlock()
	from := db.metrics.compactions.Load()
	tried := func() int64 { return db.metrics.compactions.Load() - from }
	done := make(chan error, 1)
	go func() { done <- db.Wait() }()
	eventually(t, db, func() bool { return db.work.waiting == 1 || len(done) == 1 })
	eventually(t, db, func() bool { return tried() > 0 && db.work.working == 0 || len(done) == 1 })
	if n := settled(tried, 20); n > 20 {
		t.Errorf("%d merges were tried while a caller merges", n)
	}
	from = woken.taken.Load()
	if n := settled(func() int64 { return woken.taken.Load() - from }, 20); n > 20 {
		t.Errorf("a worker was woken %d times while a caller merges", n)
	}
	select {
	case err := <-done:
		t.Errorf("Wait returns while a caller merges: %v", err)
		done <- env.ErrNoSpace
	default:
	}
	for _, r := range j.Inputs {
		db.unrefBranch(r.Branch)
	}
	db.mu.Lock()
	db.tree.end(j, false)
	db.work.jobDone()
	db.mu.Unlock()
	select {
	case err := <-done:
		if !errors.Is(err, env.ErrNoSpace) {
			t.Errorf("Wait returns %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("Wait does not return")
	}
	if err := db.shut(nil); err != nil {
		t.Fatal(err)
	}
}

// A change that waits for range deletes to be merged leaves the workers at rest that
// find nothing to do meanwhile.
func TestWaitingForTombstonesSleeps(t *testing.T) {
	o := Options{Memory: 64 << 20, Tuning: Tuning{MemtableBytes: 128 << 10, Inline: true}}
	db, err := Open(env.Env{Disk: sim.NewDisk(), Clock: osenv.NewClock(), Random: env.Seeded(1), Tracer: env.NoTrace{}}, "db", o)
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	try(err)
	try(db.Put([]byte("key"), nil))
	try(db.Flush())
	db.opt.Tuning.Inline, db.opt.Memory = false, 0 // a range delete is too many
	try(db.DeleteRange([]byte("a"), []byte("b")))
	try(db.Flush())
	j := db.nextJob(changing, &refusals{})
	if j == nil {
		t.Fatal("no merge is due")
	}
	woken := &countedLock{Locker: &db.mu}
	db.work.work = sync.NewCond(woken)
	compactors(db, 2)
	eventually(t, db, func() bool { return db.work.working == 0 })
	from, done := woken.taken.Load(), make(chan struct{})
	go func() {
		db.mu.Lock()
		defer db.mu.Unlock()
		db.work.awaitTombstones()
		close(done)
	}()
	eventually(t, db, func() bool { return woken.taken.Load() >= from+2 && db.work.working == 0 })
	if n := settled(func() int64 { return woken.taken.Load() - from }, 20); n > 20 {
		t.Errorf("the workers are woken %d times during a merge", n)
	}
	select {
	case <-done:
		t.Error("a change does not wait for a merge")
	default:
	}
	for _, r := range j.Inputs {
		db.unrefBranch(r.Branch)
	}
	db.mu.Lock()
	db.tree.end(j, false)
	db.work.jobDone()
	db.mu.Unlock()
	select { // the workers make the merge
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the change waits for ever")
	}
	if n := db.Metrics().TombstoneBytes; n != 0 {
		t.Errorf("the tombstones take %d bytes after the merge", n)
	}
	try(db.shut(nil))
}

// countedLock counts how often it is taken: with the lock of a sync.Cond, how often
// a goroutine that waits there is woken.
type countedLock struct {
	sync.Locker
	taken atomic.Int64
}

func (l *countedLock) Lock() {
	l.taken.Add(1)
	l.Locker.Lock()
}

// settled waits for a while whether a count becomes more than most, and returns it.
// There is no event to wait for if nothing happens.
func settled(count func() int64, most int64) int64 {
	for n := 0; n < 50 && count() <= most; n++ {
		time.Sleep(2 * time.Millisecond)
	}
	return count()
}

// Wait sleeps while a memtable is written, and returns when that has ended.
func TestWaitSleepsDuringAFlush(t *testing.T) {
	db := shortStore(t, sim.NewDisk())
	if err := db.Wait(); err != nil {
		t.Fatal(err)
	}
	db.opt.Tuning.Inline = false
	woken := &countedLock{Locker: db.work.work.L}
	db.work.work.L = woken
	compactors(db, 1)
	db.work.workers.Add(1)
	go db.work.flusher()
	if err := db.Wait(); err != nil { // and there is nothing to give back
		t.Fatal(err)
	}
	db.checkpoints.lock() // a flush that takes long
	for i := 0; len(db.current.Load().mems) == 1; i++ {
		if err := db.Put(fmt.Appendf(nil, "key%03d", i), make([]byte, 400)); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() { done <- db.Wait() }()
	eventually(t, db, func() bool { return db.work.waiting == 1 && db.work.working == 0 })
	if n := settled(woken.taken.Load, 20); n > 20 {
		t.Errorf("the goroutines are woken %d times during a flush", n)
	}
	select {
	case err := <-done:
		t.Errorf("Wait returns during a flush: %v", err)
	default:
	}
	db.checkpoints.unlock()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("Wait does not return")
	}
	if n := len(db.current.Load().mems); n != 1 {
		t.Errorf("Wait leaves %d memtables", n)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
