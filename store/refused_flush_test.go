// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
	"github.com/ashlar-dev/ashlar/sim"
)

// waitingFlush is a store with a full memtable, and room for checkpoints and a part of
// its branch.
func waitingFlush(t *testing.T) (db *DB, held []extent.Run) {
	t.Helper()
	db = tightStore(t)
	disk := db.files.disk.(*fullDisk)
	disk.full.Store(false)
	for i := range 150 {
		if err := db.Put(fmt.Appendf(nil, "waiting%03d", i), make([]byte, 500)); err != nil {
			t.Fatal(err)
		}
	}
	db.mu.Lock()
	err := db.rotate()
	db.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	disk.full.Store(true)
	db.freeRetired()
	for db.space.has(12, forWork) {
		run, err := db.space.take(1, forTable)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, run)
	}
	return db, held
}

// On a full disk the flusher is woken again and again. It tries a memtable once for the
// present room, and again when there is more.
func TestARefusedFlushIsTriedOnceForItsRoom(t *testing.T) {
	for name, lift := range map[string]func(*DB, []extent.Run){
		"pages are free again": func(db *DB, held []extent.Run) {
			for _, run := range held {
				db.space.Free(run)
			}
		},
		"the disk has room again": func(db *DB, _ []extent.Run) { db.files.disk.(*fullDisk).full.Store(false) },
	} {
		t.Run(name, func(t *testing.T) {
			db, held := waitingFlush(t)
			disk := db.files.disk.(*fullDisk)
			answered := func() { // once by the flusher
				db.mu.Lock()
				defer db.mu.Unlock()
				db.work.flushErr = nil
				db.work.wake()
				for db.work.flushErr == nil && len(db.current.Load().mems) > 1 {
					db.work.flushed.Wait()
					db.work.wake()
				}
			}
			db.work.workers.Add(1)
			go db.work.flusher()
			answered()
			if db.work.flushErr == nil {
				t.Fatal("there is room to flush")
			}
			first := disk.written.Load()
			for range 20 {
				answered()
			}
			if n := disk.written.Load() - first; n != 0 {
				t.Errorf("20 pulses write %d bytes", n)
			}
			if err := db.flushMems(false); !errors.Is(err, env.ErrNoSpace) || disk.written.Load() == first {
				t.Errorf("a caller who wants to know gets %v, and %d bytes were written for it", err, disk.written.Load()-first)
			}
			answered() // the flusher may have tried as well
			lift(db, held)
			answered()
			if n := len(db.current.Load().mems); n != 1 {
				t.Errorf("with room again, %d memtables are left", n)
			}
			if err := db.shut(nil); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A caller of Flush gets an attempt with the present room, even if it must wait for the
// flusher because too many memtables are waiting.
func TestACallerInsists(t *testing.T) {
	db, _ := waitingFlush(t)
	put := func(key string) {
		if err := db.Put([]byte(key), nil); err != nil {
			t.Fatal(err)
		}
	}
	db.files.disk.(*fullDisk).full.Store(false)
	for len(db.current.Load().mems) <= memsMax {
		put(fmt.Sprint("more", len(db.current.Load().mems)))
		db.mu.Lock()
		err := db.rotate()
		db.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
	}
	put("last")
	db.mu.Lock()
	mems := db.current.Load().mems
	db.tree.unflushed = unflushed{mems[len(mems)-1].number, want{need: 1 << 40, room: 1 << 39, err: env.ErrNoSpace}}
	db.mu.Unlock()
	db.files.disk.(*fullDisk).full.Store(true)
	for err := error(nil); err == nil; { // so that asking the disk is no more room
		err = db.space.grow(db.space.grown, 1, 1)
	}
	db.work.workers.Add(1)
	go db.work.flusher()
	if err := db.flushMems(false); err != nil {
		t.Error(err)
	}
	if err := db.shut(nil); err != nil {
		t.Fatal(err)
	}
}

// A search for work checks for each pivot whether its merge was refused. The cost of
// that does not grow with the merge, or with the number of refusals.
func TestAskingForRefusalsIsCheap(t *testing.T) {
	db := tightStore(t)
	j := due(t, db)
	db.mu.Lock()
	defer db.mu.Unlock()
	for i := range 1000 {
		other := *j
		other.Lo = fmt.Appendf(nil, "key%04d", i)
		other.Hi = fmt.Appendf(nil, "key%04d", i+1)
		db.tree.refuse(&other, env.ErrNoSpace)
	}
	db.tree.refuse(j, env.ErrNoSpace)
	listed(db, j).room = 1 << 30
	if db.tree.refusalOf(j) == nil {
		t.Error("a merge that was refused is not found among others")
	}
	far := *j
	far.Lo = []byte("nowhere")
	for name, job := range map[string]*trunk.Job{"refused": j, "not refused": &far} {
		if n := testing.AllocsPerRun(10, func() { _ = db.tree.refusalOf(job) }); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		if compared := len(db.tree.refused[pivot{job.Level, string(job.Lo)}]); compared > 1 {
			t.Errorf("%s: compared with %d", name, compared)
		}
	}
}

// slowDisk is a disk that takes long to answer whether it has room.
type slowDisk struct {
	*fullDisk
	asked, answer chan struct{}
}

func (d *slowDisk) Open(name string, create bool) (env.File, error) {
	f, err := d.fullDisk.Open(name, create)
	if err != nil {
		return nil, err
	}
	return slowFile{f.(fullFile), d}, nil
}

type slowFile struct {
	fullFile
	slow *slowDisk
}

func (f slowFile) wait() {
	select {
	case f.slow.asked <- struct{}{}:
		<-f.slow.answer
	default:
	}
}

func (f slowFile) Allocate(off, n int64) error {
	f.wait()
	return f.fullFile.Allocate(off, n)
}

func (f slowFile) Discard(off, n int64) error {
	f.wait()
	return f.fullFile.Discard(off, n)
}

// While the disk takes long to provide room, or to take it back, the store holds no
// lock that other calls need.
func TestNobodyWaitsForRoomWithALock(t *testing.T) {
	disk := &slowDisk{fullDisk: &fullDisk{Disk: sim.NewDisk()}, asked: make(chan struct{}), answer: make(chan struct{})}
	o := Options{Memory: 64 << 20, Compression: None, Tuning: Tuning{MemtableBytes: 128 << 10, LeafBytes: 32 << 10, BlobBytes: 1 << 10, Inline: true}}
	db, err := Open(env.Env{Disk: disk, Clock: osenv.NewClock(), Random: osenv.NewRandom()}, "db", o)
	if err != nil {
		t.Fatal(err)
	}
	calls := []struct {
		name string
		do   func() error
	}{
		{"puts", func() error {
			for i := range 3000 {
				if err := db.Put(fmt.Appendf(nil, "key%04d", i), make([]byte, 500)); err != nil {
					return err
				}
			}
			return nil
		}},
		{"large values", func() error {
			for i := range 100 {
				if err := db.Put(fmt.Appendf(nil, "large%04d", i), make([]byte, 50000)); err != nil {
					return err
				}
			}
			return nil
		}},
		{"giving back", func() error {
			if err := db.DeleteRange([]byte("a"), []byte("z")); err != nil {
				return err
			}
			return errors.Join(db.Compact(nil, nil), db.Wait())
		}},
	}
	for _, call := range calls {
		ended := make(chan error, 1)
		go func() { ended <- call.do() }()
		asked := 0
		for done := false; !done; {
			select {
			case <-disk.asked:
				asked++
				free := make(chan struct{})
				go func() {
					db.mu.Lock()
					_ = db.current.Load()
					db.mu.Unlock()
					db.space.pages()
					close(free)
				}()
				select {
				case <-free:
				case <-time.After(20 * time.Second):
					t.Fatalf("%s: a lock is held while the disk is asked", call.name)
				}
				disk.answer <- struct{}{}
			case err := <-ended:
				if done = true; err != nil {
					t.Fatalf("%s: %v", call.name, err)
				}
			}
		}
		if asked == 0 {
			t.Errorf("%s: the disk is never asked", call.name)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// While the disk is asked for room for a put, Close does not return: the file is open,
// and its lock held, until the disk has answered.
func TestCloseWaitsForTheDisk(t *testing.T) {
	disk := &slowDisk{fullDisk: &fullDisk{Disk: sim.NewDisk()}, asked: make(chan struct{}), answer: make(chan struct{})}
	o := Options{Memory: 64 << 20, Compression: None, Tuning: Tuning{MemtableBytes: 128 << 10, LeafBytes: 32 << 10, BlobBytes: 1 << 10, Inline: true}}
	db, err := Open(env.Env{Disk: disk, Clock: osenv.NewClock(), Random: osenv.NewRandom()}, "db", o)
	if err != nil {
		t.Fatal(err)
	}
	put := make(chan error, 1)
	go func() {
		var err error
		for i := 0; err == nil; i++ {
			err = db.Put(fmt.Appendf(nil, "key%06d", i), make([]byte, 500))
		}
		put <- err
	}()
	<-disk.asked // the first asks for the reserve
	closed := make(chan error, 1)
	go func() { closed <- db.shut(nil) }()
	eventually(t, db, func() bool { return db.closing.Load() })
	if n := settled(func() int64 { return int64(len(closed)) }, 0); n != 0 {
		t.Error("the store is closed while the disk makes its file longer")
	}
	disk.answer <- struct{}{}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := <-put; !errors.Is(err, ErrClosed) {
		t.Errorf("the put ends with %v", err)
	}
}
