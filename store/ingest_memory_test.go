// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
	"github.com/ashlar-dev/ashlar/sim"
)

// onChange calls a function at the moment of changes.
type onChange struct{ f func() }

func (c *onChange) Trace(e env.Event) {
	if _, is := e.(Changed); is && c.f != nil {
		c.f()
	}
}

// If memory runs out when the records of an ingest are visible, its superblock is
// written nevertheless.
func TestIngestsWithoutMemory(t *testing.T) {
	disk, tracer := sim.NewDisk(), &onChange{}
	open := func() *DB {
		db, err := Open(env.Env{Disk: disk, Clock: osenv.NewClock(), Random: osenv.NewRandom(), Tracer: tracer}, "db",
			Options{Memory: 64 << 20, Tuning: Tuning{MemtableBytes: 32 << 10, LeafBytes: 16 << 10, Inline: true}})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := open()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(db.Put([]byte("before"), []byte("v")))
	i, err := db.Ingest()
	must(err)
	for n := range 3000 {
		must(i.Put(fmt.Appendf(nil, "key%05d", n), fmt.Appendf(nil, "%0100d", n)))
	}
	var held [][]byte
	tracer.f = func() {
		db.pool.OnShortage(func(int) slab.Answer { return slab.Refuse })
		for n := 1 << 20; n >= 64; n /= 2 {
			for b, ok := db.pool.Try(n); ok; b, ok = db.pool.Try(n) {
				held = append(held, b)
			}
		}
	}
	err = i.Commit()
	tracer.f = nil
	for _, b := range held {
		db.pool.Free(b)
	}
	db.pool.OnShortage(db.relieve)
	must(err)
	if len(held) == 0 {
		t.Fatal("there was memory all the time")
	}
	must(db.Put([]byte("after"), []byte("v")))
	must(db.Close())
	db = open()
	for _, key := range []string{"before", "after", "key00000", "key02999"} {
		if _, err := db.Get([]byte(key), nil); err != nil {
			t.Errorf("get %s: %v", key, err)
		}
	}
	must(db.Close())
}

// However many ingests there were, numbers are left for more.
func TestIngestsLeaveNumbers(t *testing.T) {
	last := message.Seq(0)
	if lead := ingestLead(last); lead < 1<<32-1 {
		t.Errorf("the first ingest is open for %d changes only", lead)
	}
	for range 100_000_000 {
		last += ingestLead(last)
	}
	if lead := ingestLead(last); lead < 10_000_000 {
		t.Errorf("after 100 million ingests one is open for %d changes only", lead)
	}
	for range 100_000_000 {
		last += ingestLead(last)
	}
	if lead := ingestLead(last); lead < 10_000 || last >= message.MaxSeq {
		t.Errorf("after 200 million ingests one is open for %d changes only, behind number %d", lead, last)
	}
}
