// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// run is a store's lives in one directory of one simulated disk.
type run struct {
	t      testing.TB
	seed   uint64
	r      *rand.Rand
	disk   *sim.Disk
	rec    Recorder
	o      store.Options
	db     *store.DB
	mortal *fallible
	// The changes, in order; change i has the number i+1. If a store reports a version,
	// its content must be that of the version.
	history []entry
	syncs   int // that were answered to the test, in this life
	tally   tally
}

// entry is a change. With an end it is a range delete, without a value a delete.
type entry struct{ key, end, value []byte }

// tally counts the cases that the runs covered: recoveries that lost changes, that found
// more than was known to be durable, that found the new superblock during its write or
// the previous one; syncs that were requested while others waited.
type tally struct {
	Traces, Events, Steps                    int
	Lives, Crashes, Kills, Stops, Fulls      int
	Lost, InPart, Unheard, Older             int
	Journals, Checkpoints, Answers, Together int
}

func (t *tally) add(o tally) {
	for _, p := range [][2]*int{
		{&t.Traces, &o.Traces}, {&t.Events, &o.Events}, {&t.Steps, &o.Steps}, {&t.Lives, &o.Lives}, {&t.Crashes, &o.Crashes},
		{&t.Kills, &o.Kills}, {&t.Stops, &o.Stops}, {&t.Fulls, &o.Fulls}, {&t.Lost, &o.Lost}, {&t.InPart, &o.InPart},
		{&t.Unheard, &o.Unheard}, {&t.Older, &o.Older}, {&t.Journals, &o.Journals},
		{&t.Checkpoints, &o.Checkpoints}, {&t.Answers, &o.Answers}, {&t.Together, &o.Together},
	} {
		*p[0] += *p[1]
	}
}

// count counts the rare events of a trace.
func (t *tally) count(events []Event) {
	t.Traces++
	t.Events += len(events)
	var ephemeral, persistent, super, sent uint64
	var ended Kind
	waiting := 0
	super, sent = 1, 1
	for _, e := range events {
		switch e.Kind {
		case Open:
			t.Lives++
			if e.Version < ephemeral {
				t.Lost++
			}
			if ended == Crash && e.Version > persistent {
				t.InPart++
			}
			if sent > super && e.Superblock == sent {
				t.Unheard++
			} else if sent > super {
				t.Older++
			}
			ephemeral, super, sent, waiting = e.Version, e.Superblock, e.Superblock, 0
			if ended == Crash {
				persistent = e.Version
			}
		case Change:
			ephemeral = e.Version
		case Freeze:
			sent = e.Superblock
		case Checkpoint:
			super = e.Superblock
			t.Checkpoints++
			persistent = max(persistent, e.Version)
		case Journal:
			t.Journals++
			persistent = max(persistent, e.Version)
		case SyncAsk:
			if waiting++; waiting > 1 {
				t.Together++
			}
		case SyncAnswer:
			waiting--
			t.Answers++
		case Crash:
			t.Crashes++
			ended = Crash
		case Kill:
			t.Kills++
			if ended != Crash {
				ended = Kill
			}
		}
		if e.Kind == Open {
			ended = ""
		}
	}
}

// still is a Clock that never advances.
type still struct{}

func (still) Now() env.Instant                         { return 0 }
func (still) Wall() time.Time                          { return time.Unix(0, 0) }
func (still) After(time.Duration, env.Waker) env.Timer { return still{} }
func (still) Stop() bool                               { return true }

func options(r *rand.Rand, d store.Durability) store.Options {
	o := store.Options{
		Memory: 8 << 20, Durability: d,
		Tuning: store.Tuning{MemtableBytes: 32 << 10, LeafBytes: 16 << 10, Fanout: 4, Runs: 2, BlobBytes: 1 << 10, CacheBytes: 64 << 10, Inline: true},
	}
	switch r.IntN(4) {
	case 0:
		o.Tuning.MemtableBytes = 64 << 10
	case 1: // frames are written while changes arrive
		o.Tuning.MemtableBytes = 1 << 20
		o.Memory = 16 << 20
	}
	return o
}

func newRun(t testing.TB, seed uint64) *run {
	x := &run{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 1)), disk: sim.NewDisk()}
	x.o = options(x.r, store.Durability(seed%3))
	return x
}

func (x *run) fatal(format string, args ...any) {
	x.t.Helper()
	x.t.Fatalf("seed %d, life %d: %s", x.seed, x.tally.Lives, fmt.Sprintf(format, args...))
}

// play plays several lives.
func (x *run) play(lives int) {
	for range lives {
		x.life()
	}
}

// life opens the store, uses it, and ends.
func (x *run) life() {
	x.mortal = &fallible{disk: x.disk, r: x.r}
	switch plan := x.r.IntN(10); {
	case plan < 3: // within recovery too
		x.mortal.dies = 1 + x.r.IntN(1<<(2+x.r.IntN(8)))
	case plan < 5:
		x.mortal.within = 1 + x.r.IntN(1<<(2+x.r.IntN(6)))
	case plan < 7:
		x.mortal.fails = 4 + x.r.IntN(1<<(2+x.r.IntN(7)))
	case plan < 8:
		x.mortal.full = 20 + x.r.IntN(60)
	}
	if x.begin() {
		x.work()
		if ops := x.mortal.ops; x.mortal.full > 0 && ops >= x.mortal.full {
			x.tally.Fulls++
		}
		if x.mortal.struck {
			x.tally.Stops++
		}
	}
	x.end()
}

// begin opens the store, and reports whether it is open.
func (x *run) begin() bool {
	x.db, x.syncs = nil, 0
	seen := len(x.rec.Events())
	world := env.Env{Clock: still{}, Random: env.Seeded(x.r.Uint64()), Disk: x.mortal, Tracer: &x.rec}
	db, err := store.Open(world, "db", x.o)
	if err != nil {
		if mine, _ := x.mortal.trouble(err); !mine {
			x.fatal("open: %v", err)
		}
		return false
	}
	x.db = db
	events := x.rec.Events()
	if len(events) <= seen || events[seen].Kind != Open || events[seen].Version > uint64(len(x.history)) {
		x.fatal("opened with %d changes made, and traced %v", len(x.history), events[seen:])
	}
	x.history = x.history[:events[seen].Version]
	return x.compare()
}

// compare compares the store with the content of its version.
func (x *run) compare() bool {
	want := map[string][]byte{}
	for _, e := range x.history {
		switch {
		case e.end != nil:
			for k := range want {
				if k >= string(e.key) && k < string(e.end) {
					delete(want, k)
				}
			}
		case e.value == nil:
			delete(want, string(e.key))
		default:
			want[string(e.key)] = e.value
		}
	}
	it, err := x.db.Iter(nil, nil)
	if err != nil {
		x.fatal("iterate: %v", err)
	}
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if v, in := want[string(it.Key())]; !in || !bytes.Equal(v, it.Value()) {
			x.fatal("version %d has %q, %d bytes; want %d bytes, %v", len(x.history), it.Key(), len(it.Value()), len(v), in)
		}
		n++
	}
	err = it.Err()
	if e := it.Close(); err == nil {
		err = e
	}
	if err != nil {
		if mine, _ := x.mortal.trouble(err); !mine {
			x.fatal("iterate: %v", err)
		}
		return false
	}
	if n != len(want) {
		x.fatal("version %d has %d keys, want %d", len(x.history), n, len(want))
	}
	return true
}

func (x *run) key() []byte { return fmt.Appendf(nil, "key%02d", x.r.IntN(60)) }

func (x *run) value() []byte {
	n := x.r.IntN(300)
	if x.r.IntN(12) == 0 {
		n = 1000 + x.r.IntN(6000)
	}
	return bytes.Repeat([]byte{byte('a' + len(x.history)%26)}, n)
}

// work does operations until one fails permanently, or there are enough.
func (x *run) work() {
	for range 10 + x.r.IntN(70) {
		err := x.op()
		mine, over := x.mortal.trouble(err)
		if err != nil && !mine {
			x.fatal("%v", err)
		}
		if over {
			return
		}
		x.listen(err)
	}
}

// listen compares the trace of the store with what it returns to its callers.
func (x *run) listen(err error) {
	events := x.rec.Events()
	answers, version := 0, uint64(0)
	for _, e := range slices.Backward(events) {
		switch {
		case e.Kind == SyncAnswer:
			answers++
		case version == 0 && (e.Kind == Change || e.Kind == Open):
			version = e.Version
		}
		if e.Kind == Open {
			break
		}
	}
	if version != uint64(len(x.history)) {
		x.fatal("after %d changes the trace is at version %d (%v)", len(x.history), version, err)
	}
	if answers != x.syncs {
		x.fatal("%d syncs were answered, %d by the trace (%v)", x.syncs, answers, err)
	}
}

// op does one operation.
func (x *run) op() error {
	switch p := x.r.IntN(100); {
	case p < 48:
		e := entry{key: x.key(), value: x.value()}
		return x.changed(x.db.Put(e.key, e.value), store.NoSync, e)
	case p < 56:
		e := entry{key: x.key()}
		return x.changed(x.db.Delete(e.key), store.NoSync, e)
	case p < 58:
		a, b := x.key(), x.key()
		if bytes.Compare(a, b) > 0 {
			a, b = b, a
		}
		if bytes.Equal(a, b) {
			return nil
		}
		e := entry{key: a, end: b}
		return x.changed(x.db.DeleteRange(a, b), store.NoSync, e)
	case p < 74:
		return x.batch()
	case p < 87:
		return x.synced(x.db.Sync())
	case p < 92:
		return x.db.Flush()
	case p < 95:
		return x.db.Compact(nil, nil)
	case p < 97:
		return x.db.Wait()
	}
	_, err := x.db.Get(x.key(), nil)
	if err == store.ErrNotFound {
		return nil
	}
	return err
}

func (x *run) batch() error {
	b := x.db.NewBatch()
	var entries []entry
	for range 1 + x.r.IntN(6) {
		e := entry{key: x.key()}
		if x.r.IntN(4) > 0 {
			e.value = x.value()
			b.Put(e.key, e.value)
		} else {
			b.Delete(e.key)
		}
		entries = append(entries, e)
	}
	w := store.Write(x.r.IntN(2))
	return x.changed(x.db.Commit(b, w), w, entries...)
}

// changed records changes that were made. The trace shows whether they were made: an
// error may be from other work of the same call.
func (x *run) changed(err error, w store.Write, entries ...entry) error {
	upTo := uint64(len(x.history) + len(entries))
	events := x.rec.Events()
	made := false
	for _, e := range slices.Backward(events) {
		if e.Kind == Open {
			break
		}
		if e.Kind == Change {
			made = e.Version == upTo
			break
		}
	}
	if made {
		x.history = append(x.history, entries...)
	} else if err == nil {
		x.fatal("changes up to %d were made, and not traced", upTo)
	}
	if w == store.Sync || x.o.Durability == store.EveryCommit {
		return x.synced(err)
	}
	return err
}

// synced records that a sync was answered. If it returned an error, it may have succeeded
// all the same, and other work failed.
func (x *run) synced(err error) error {
	if err == nil {
		x.syncs++
	}
	return err
}

// end ends the life: by a close, a loss of power or the end of the program.
func (x *run) end() {
	how := x.r.IntN(3)
	if how > 0 || x.mortal.struck {
		x.mortal.end()
	}
	if x.db != nil {
		err := x.db.Close()
		if mine, _ := x.mortal.trouble(err); err != nil && !mine {
			x.fatal("close: %v", err)
		}
	}
	if how == 1 {
		x.disk.Crash(fate(x.r, x.disk))
		x.rec.End(Crash)
		return
	}
	x.disk = x.disk.Clone()
	x.rec.End(Kill)
}

// fate is what a loss of power leaves.
func fate(r *rand.Rand, disk *sim.Disk) sim.Fate {
	switch r.IntN(5) {
	case 0:
		return sim.KeepAll()
	case 1:
		return sim.KeepUpTo(0)
	case 2:
		ops := disk.Ops()
		return sim.KeepUpTo(ops - min(ops, r.Uint64N(12)))
	}
	lost := 1 + r.IntN(8)
	return sim.KeepFunc(func(_ sim.Piece, ops []uint64) int {
		if r.IntN(lost) > 0 {
			return len(ops)
		}
		return r.IntN(len(ops) + 1)
	})
}
