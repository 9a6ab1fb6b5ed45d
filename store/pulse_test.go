// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// fullStore is a store with many merges due, with room for checkpoints and for part
// of a merge, but for no whole one. The test must start its workers.
func fullStore(t *testing.T) (db *DB, woken *countedLock, held []extent.Run) {
	t.Helper()
	db = tightStoreWith(t, 0, 120, true)
	db.freeRetired()
	for db.space.has(12, forWork) {
		run, err := db.space.take(1, forTable)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, run)
	}
	woken = &countedLock{Locker: &db.mu}
	db.work.work = sync.NewCond(woken)
	return db, woken, held
}

// pulse wakes the workers, as the timer does after reads, and waits until all have
// looked for work and are idle.
func pulse(t *testing.T, db *DB, woken *countedLock, workers int64) {
	t.Helper()
	from := woken.taken.Load()
	eventually(t, db, func() bool {
		if woken.taken.Load() >= from+workers && db.work.working == 0 {
			return true
		}
		db.work.wake() // again: a worker that another one has just woken is not waiting yet
		return false
	})
}

// On a full disk, with repeated reads and refused puts, each merge is tried once for
// its inputs and the present room, and again when there is more room.
func TestRefusedMergesAreTriedOnceForTheirRoom(t *testing.T) {
	const workers = 2
	db, woken, held := fullStore(t)
	disk := db.files.disk.(*fullDisk)
	type counts struct{ merges, checkpoints, bytes int64 }
	count := func() counts {
		m := db.Metrics()
		return counts{m.Compactions, m.Checkpoints, disk.written.Load()}
	}
	pulses := func(from counts, n int) counts {
		for i := range n {
			pulse(t, db, woken, workers)
			if err := db.Put(fmt.Appendf(nil, "refused%d", i), make([]byte, 500)); !errors.Is(err, env.ErrNoSpace) {
				t.Fatal(err)
			}
		}
		to := count()
		return counts{to.merges - from.merges, to.checkpoints - from.checkpoints, to.bytes - from.bytes}
	}
	db.mu.Lock()
	due := 0
	for _, p := range db.tree.trunk.Root().Pivots {
		due += len(p.Refs)
	}
	db.mu.Unlock()
	from := count()
	compactors(db, workers)
	eventually(t, db, func() bool { return db.work.working == 0 })
	first := pulses(from, 30)
	if most := int64(4 * due); first.merges > most || first.checkpoints > 8 || first.bytes > most*16*extent.PageSize || first.merges == 0 {
		t.Errorf("30 pulses make %+v, with %d branches that wait", first, due)
	}
	if again := pulses(count(), 100); again != (counts{}) {
		t.Errorf("100 more pulses make %+v", again)
	}
	if err := db.Wait(); !errors.Is(err, env.ErrNoSpace) {
		t.Errorf("Wait returns %v", err)
	}
	if last := pulses(count(), 10); last != (counts{}) {
		t.Errorf("after Wait, 10 pulses make %+v", last)
	}
	from = count() // before there is room: a worker that wakes by itself may begin at once
	for _, run := range held {
		db.space.Free(run)
	}
	pulse(t, db, woken, workers)
	if err := db.Wait(); err != nil || count().merges == from.merges {
		t.Errorf("with room again, %d merges are made: %v", count().merges-from.merges, err)
	}
	t.Logf("%d branches wait; first %+v", due, first)
	if err := db.shut(nil); err != nil {
		t.Fatal(err)
	}
}

// When the disk has room again, the workers find out by themselves.
func TestWorkersAskForRoom(t *testing.T) {
	db, woken, _ := fullStore(t)
	compactors(db, 1)
	eventually(t, db, func() bool { return db.work.working == 0 })
	pulse(t, db, woken, 1)
	db.files.disk.(*fullDisk).full.Store(false)
	from := db.metrics.compactions.Load()
	for n := 0; db.metrics.compactions.Load() == from; n++ {
		if n == 10 {
			t.Fatal("10 pulses make no merge although there is room")
		}
		pulse(t, db, woken, 1)
	}
	if err := db.Wait(); err != nil {
		t.Error(err)
	}
	if err := db.shut(nil); err != nil {
		t.Fatal(err)
	}
}

// When the disk has room again and the refused work is done, the store asks for no
// more: the file grows for the needs of puts, not for refusals that are still listed.
func TestWhatWasRefusedAsksForNoMore(t *testing.T) {
	db, _, held := fullStore(t)
	db.opt.Tuning.Inline = true
	if err := db.inline(); err != nil {
		t.Fatal(err)
	}
	if len(db.tree.refused) == 0 {
		t.Fatal("no merge was refused")
	}
	db.files.disk.(*fullDisk).full.Store(false)
	for _, run := range held {
		db.space.Free(run)
	}
	if err := db.Compact(nil, nil); err != nil {
		t.Fatal(err)
	}
	from, _, _ := db.space.pages()
	for i := range 1000 {
		if err := db.Put(fmt.Appendf(nil, "small%04d", i), make([]byte, 20)); err != nil {
			t.Fatal(err)
		}
		// Puts ask for a sixteenth of the file, once.
		if end, free, _ := db.space.pages(); end > from+from/16+growMin {
			t.Fatalf("%d small puts make %d pages %d, of which %d are free", i+1, from, end, free)
		}
	}
	if n := db.tree.lacking(forWork) + db.tree.lacking(forSpeed); n > 0 || len(db.tree.refused) > 0 {
		t.Errorf("merges at %d pivots are still listed, and ask for %d pages", len(db.tree.refused), n)
	}
	if err := db.shut(nil); err != nil {
		t.Fatal(err)
	}
}

// due takes a merge that is due, and gives it back.
func due(t *testing.T, db *DB) *trunk.Job {
	t.Helper()
	j := db.nextJob(changing, &refusals{insist: true})
	if j == nil {
		t.Fatal("no merge is due")
	}
	for _, in := range j.Inputs {
		db.unrefBranch(in.Branch)
	}
	db.mu.Lock()
	db.tree.end(j, false)
	db.mu.Unlock()
	return j
}

// listed returns the one refusal at the pivot of a merge.
func listed(db *DB, j *trunk.Job) *refusal { return &db.tree.refused[pivot{j.Level, string(j.Lo)}][0] }

// A refused merge with other inputs counts as a new merge.
func TestOtherInputsAreAnotherMerge(t *testing.T) {
	db := tightStore(t)
	j := due(t, db)
	var r refusals
	if !r.add(db, j, fmt.Errorf("merge: %w", env.ErrNoSpace)) {
		t.Fatal("no refusal")
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	listed(db, j).room = 1 << 30
	fewer := *j
	fewer.Inputs = j.Inputs[1:]
	if db.tree.refusalOf(j) == nil || db.tree.refusalOf(&fewer) != nil {
		t.Errorf("refused: the same %v, with other inputs %v", db.tree.refusalOf(j), db.tree.refusalOf(&fewer))
	}
}

// The pages that checkpoints take and free are no reason to try a merge again, as long
// as they do not suffice.
func TestCheckpointsAreNoRoom(t *testing.T) {
	db := tightStore(t)
	j := due(t, db)
	j.Bottom = true // so that there is the reserve
	room, floor := db.space.room(purposeOfMerge(j)), db.space.checkpoints()
	if room <= floor {
		t.Fatalf("%d pages, of which checkpoints take %d", room, floor)
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, c := range []struct {
		had, need uint64
		again     bool
	}{
		{room, room + 3*floor, false},
		{room - 1, room + 3*floor, false},
		{room - floor + 1, room + 3*floor, false},
		{room - floor, room + 3*floor, true},
		{room - 1, room, true}, // it suffices
		{room, room, false},
	} {
		db.tree.refuse(j, env.ErrNoSpace)
		listed(db, j).room, listed(db, j).need = c.had, c.need
		if again := db.tree.refusalOf(j) == nil; again != c.again {
			t.Errorf("with %d pages, %d before, %d needed: tried again %v", room, c.had, c.need, again)
		}
	}
}

// A merge that was refused has changed nothing, and wakes no worker.
func TestARefusedMergeWakesNobody(t *testing.T) {
	db, woken, _ := fullStore(t)
	compactors(db, 1)
	eventually(t, db, func() bool { return db.work.working == 0 })
	from := woken.taken.Load()
	j := db.nextJob(asked, &refusals{insist: true})
	if j == nil {
		t.Fatal("no merge is due")
	}
	if err := db.run(j); !errors.Is(err, env.ErrNoSpace) {
		t.Fatal(err)
	}
	if n := settled(func() int64 { return woken.taken.Load() - from }, 0); n > 0 {
		t.Errorf("a refused merge wakes a worker %d times", n)
	}
	if err := db.shut(nil); err != nil {
		t.Fatal(err)
	}
}

// Wait returns the error of a merge that was refused before it was called.
func TestWaitReturnsKnownRefusals(t *testing.T) {
	db, _, _ := fullStore(t)
	compactors(db, 1)
	eventually(t, db, func() bool { return db.work.working == 0 })
	for range 2 {
		done := make(chan error, 1)
		go func() { done <- db.Wait() }()
		select {
		case err := <-done:
			if !errors.Is(err, env.ErrNoSpace) {
				t.Errorf("Wait returns %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("Wait does not return")
		}
	}
	if err := db.shut(nil); err != nil {
		t.Fatal(err)
	}
}

// A merge that only makes reads shorter makes no checkpoints that cannot help it.
func TestHopelessMergesMakeNoCheckpoints(t *testing.T) {
	db := tightStore(t)
	j := due(t, db)
	if j.Bottom {
		t.Fatal("a merge at the bottom is most urgent")
	}
	run, err := db.space.take(1, forTable)
	if err != nil {
		t.Fatal(err)
	}
	db.space.retire(run) // something that checkpoints would free
	from := db.metrics.checkpoints.Load()
	if _, err := db.mergeWithin(j); !errors.Is(err, env.ErrNoSpace) {
		t.Fatal(err)
	}
	if n := db.metrics.checkpoints.Load() - from; n != 0 {
		t.Errorf("a refused merge makes %d checkpoints", n)
	}
}
