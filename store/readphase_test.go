// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
)

const settledKeys = 4000

// settledStore is a store whose partitions have a base and a few newer messages, and whose
// background does no work yet.
func settledStore(t *testing.T, disk env.Disk) *DB {
	t.Helper()
	o := Options{Memory: 64 << 20, Compression: None, Tuning: Tuning{MemtableBytes: 512 << 10, LeafBytes: 128 << 10, Fanout: 8, Runs: 4, Inline: true}}
	db, err := Open(env.Env{Disk: disk, Clock: osenv.NewClock(), Random: env.Seeded(1), Tracer: env.NoTrace{}}, "db", o)
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	try(err)
	for i := range settledKeys {
		try(db.Put(fmt.Appendf(nil, "key%05d", i), fmt.Appendf(nil, "old %0100d", i)))
	}
	try(db.Compact(nil, nil))
	for i := 0; i < settledKeys; i += 20 {
		try(db.Put(fmt.Appendf(nil, "key%05d", i), fmt.Appendf(nil, "new %0100d", i)))
	}
	try(db.flushMems(false))
	db.mu.Lock()
	defer db.mu.Unlock()
	for n := 0; ; n++ { // references are moved down; nothing is merged
		j := db.tree.trunk.Next(db.policy(changing))
		if j == nil {
			break
		}
		if !j.Flush || n > 1000 {
			t.Fatalf("there is a merge to do already: %+v", j)
		}
		db.tree.flush(j)
		db.publish(db.current.Load().mems)
	}
	return db
}

// settledFresh is how many new values readSome finds.
const settledFresh = settledKeys / 80

// readSome reads keys of all partitions, and returns how many values are new ones.
func readSome(t *testing.T, db *DB) (fresh int) {
	for i := 0; i < settledKeys; i += 16 {
		v, err := db.Get(fmt.Appendf(nil, "key%05d", i), nil)
		if err != nil {
			t.Error(err)
			return fresh
		}
		if string(v[:3]) == "new" {
			fresh++
		}
	}
	return fresh
}

func scanAll(t *testing.T, db *DB) (n int) {
	it, err := db.Iter(nil, nil)
	if err != nil {
		t.Error(err)
		return 0
	}
	for ok := it.First(); ok; ok = it.Next() {
		n++
	}
	if err := it.Close(); err != nil {
		t.Error(err)
	}
	return n
}

// While a store is only read, nothing is rewritten that reads have not paid for: not when
// the store has been idle for long, and not by one scan of everything. Repeated scans
// cause the partitions to be merged in the end, once.
func TestPhasesThatOnlyReadWriteNothing(t *testing.T) {
	db := settledStore(t, &fullDisk{Disk: sim.NewDisk()})
	db.opt.Tuning.Inline = false
	compactors(db, 1)
	tick := func() {
		db.work.tick()
		eventually(t, db, func() bool { return db.work.working == 0 && !db.tree.merging() })
	}
	written := func() int64 { return db.metrics.branchBytes.Load() }
	before := written()
	for range 4 {
		tick() // an idle store
	}
	if n := written() - before; n != 0 {
		t.Errorf("an idle store has written %d bytes", n)
	}
	for range 3 {
		if fresh := readSome(t, db); fresh != settledFresh {
			t.Fatalf("%d new values", fresh)
		}
		if n := scanAll(t, db); n != settledKeys {
			t.Fatalf("a scan of %d keys", n)
		}
		tick()
	}
	if n := written() - before; n != 0 {
		t.Errorf("after 3 scans and some hundred reads of a settled store %d bytes were written", n)
	}
	held := db.tree.trunk.Space().Held
	for range 200 {
		scanAll(t, db)
		tick()
	}
	n := written() - before
	if n == 0 {
		t.Error("200 scans that search more branches than they must have not paid for a merge")
	}
	if n > held+held/4 {
		t.Errorf("200 scans had %d bytes written, of a store of %d", n, held)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// gate is a disk whose writes to files wait while it is shut.
type gate struct {
	env.Disk
	mu   sync.Mutex
	shut chan struct{} // nil: open
	held chan struct{} // receives when a write waits
}

func (g *gate) Open(name string, create bool) (env.File, error) {
	f, err := g.Disk.Open(name, create)
	if err != nil {
		return nil, err
	}
	return gatedFile{f.(env.SpaceFile), g}, nil
}

func (g *gate) set(shut chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = shut
}

type gatedFile struct {
	env.SpaceFile
	gate *gate
}

func (f gatedFile) WriteAt(p []byte, off int64) (int, error) {
	f.gate.mu.Lock()
	shut := f.gate.shut
	f.gate.mu.Unlock()
	if shut != nil {
		select {
		case f.gate.held <- struct{}{}:
		default:
		}
		<-shut
	}
	return f.SpaceFile.WriteAt(p, off)
}

// Reads of all kinds end while a merge waits for the disk, however long.
func TestReadsDoNotWaitForAMerge(t *testing.T) {
	g := &gate{Disk: &fullDisk{Disk: sim.NewDisk()}, held: make(chan struct{}, 1)}
	db := settledStore(t, g)
	db.opt.Tuning.Inline = false
	shut := make(chan struct{})
	g.set(shut)
	compactors(db, 1)
	waited := make(chan error, 1)
	go func() { waited <- db.Wait() }() // asks for merges
	<-g.held
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2 { // from branches, and from the cache
			if fresh := readSome(t, db); fresh != settledFresh {
				t.Errorf("%d new values beside a merge", fresh)
			}
		}
		if n := scanAll(t, db); n != settledKeys {
			t.Errorf("a scan of %d keys beside a merge", n)
		}
		s := db.Snapshot()
		defer s.Close()
		if _, err := s.Get([]byte("key00000"), nil); err != nil {
			t.Error(err)
		}
		_ = db.Metrics()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("reads wait for a merge")
	}
	db.mu.Lock()
	merging := db.tree.merging()
	db.mu.Unlock()
	if !merging {
		t.Error("the merge did not wait")
	}
	g.set(nil)
	close(shut)
	if err := <-waited; err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
