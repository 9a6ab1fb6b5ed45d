// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// heard keeps the events that Options.Notify received.
type heard struct {
	mu     sync.Mutex
	events []env.Event
	inside int // calls that are running
}

func (h *heard) hear(e env.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

func (h *heard) count() (n map[string]int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n = map[string]int64{}
	for _, e := range h.events {
		n[e.EventName()]++
	}
	return n
}

// callEverything calls everything that a program may call in Options.Notify: if the store
// held a lock then, some call would wait forever.
func callEverything(t *testing.T, db *store.DB) {
	key := []byte("from the event")
	noErr := func(err error) {
		if err != nil && !errors.Is(err, store.ErrClosed) && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrStopped) {
			t.Error(err)
		}
	}
	noErr(db.Put(key, key))
	_, err := db.Get(key, nil)
	noErr(err)
	s := db.Snapshot()
	it, err := s.Iter(nil, nil)
	noErr(err)
	if err == nil {
		it.First()
		noErr(it.Close())
	}
	s.Close()
	noErr(db.Sync())
	noErr(db.Flush())
	noErr(db.Compact(nil, nil))
	_, err = db.Keyspace("made in an event")
	noErr(err)
	_, err = db.EstimateSize(nil, nil)
	noErr(err)
	db.Metrics()
	db.Histograms()
}

// TestNotify compares the events with the counters, and calls the store from the
// first of each kind.
func TestNotify(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, inline := range []bool{false, true} {
		t.Run(fmt.Sprint("inline=", inline), func(t *testing.T) {
			disk, err := osenv.OpenDisk(t.TempDir())
			must(t, err)
			defer disk.Close()
			o := tiny()
			o.Tuning.Inline = inline
			var h heard
			var db *store.DB
			opened := make(chan struct{})
			called := map[string]bool{}
			o.Notify = func(e env.Event) {
				<-opened
				h.mu.Lock()
				if h.inside++; h.inside > 1 {
					t.Error("two calls at once")
				}
				h.mu.Unlock()
				if name := e.EventName(); !called[name] {
					called[name] = true
					callEverything(t, db)
				}
				h.hear(e)
				h.mu.Lock()
				h.inside--
				h.mu.Unlock()
			}
			db, err = store.Open(world(disk, 1), "db", o)
			must(t, err)
			close(opened)
			for i := range 1200 {
				must(t, db.Put(fmt.Appendf(nil, "key%05d", i*7919%3000), make([]byte, 200)))
				if i%200 == 0 {
					must(t, db.Sync()) // with Inline, an event's turn
				}
			}
			must(t, db.Flush())
			must(t, db.Compact(nil, nil))
			_, err = db.Scrub(t.Context(), 1<<40)
			must(t, err)
			must(t, db.Close())
			m, n := db.Metrics(), h.count()
			// Otherwise the counters include an empty memtable and a merge that was given
			// up.
			if db.EventsLost() != 0 || n["EventsLost"] != 0 {
				t.Fatalf("%d events lost", db.EventsLost())
			}
			if n["CompactionEnded"] != m.Compactions || n["CompactionBegan"] != m.Compactions || m.Compactions == 0 {
				t.Errorf("%d compactions began, %d ended, want %d", n["CompactionBegan"], n["CompactionEnded"], m.Compactions)
			}
			if n["CheckpointEnded"] != m.Checkpoints || n["FlushEnded"] < m.Memtables || m.Memtables == 0 || n["ScrubEnded"] != 1 || n["Stopped"] != 0 {
				t.Errorf("%v; the metrics are %+v", n, m)
			}
			var changes, flushed, written, read, done int64
			for _, e := range h.events {
				switch e := e.(type) {
				case store.FlushEnded:
					changes += int64(e.Changes)
					flushed += e.Bytes
				case store.CompactionEnded:
					written += e.Written
					read += e.Bytes
					if e.Err == nil {
						done += e.Bytes
					}
				case store.ScrubEnded:
					must(t, errors.Join(e.Err, e.Report.Err()))
				}
			}
			// Changes that Notify has put during Close may be only in the journal.
			if changes < 1200 || changes > m.Puts || flushed+written != m.BranchBytes || read != m.CompactionBytes {
				t.Errorf("%d changes flushed of 1200 to %d; %d+%d bytes of branches, want %d; %d read, want %d", changes, m.Puts, flushed, written, m.BranchBytes, read, m.CompactionBytes)
			}
			g := db.Histograms()
			if g.Flush.Latency.Count() != n["FlushEnded"] || g.Flush.Size.Sum() != flushed || g.Compaction.Size.Sum() != done || g.Checkpoint.Latency.Count() != m.Checkpoints {
				t.Errorf("histograms disagree with the events: %d flushes of %d bytes, %d read for merges", g.Flush.Latency.Count(), g.Flush.Size.Sum(), g.Compaction.Size.Sum())
			}
		})
	}
}

// A function that does not return delays nothing; the events that it misses are counted.
func TestNotifyThatBlocks(t *testing.T) {
	defer goleak.VerifyNone(t)
	disk, err := osenv.OpenDisk(t.TempDir())
	must(t, err)
	defer disk.Close()
	o := tiny()
	o.Tuning.Inline = false
	o.Tuning.MemtableBytes = store.MemtableMin
	var h heard
	release, last := make(chan struct{}), make(chan struct{})
	o.Notify = func(e env.Event) {
		<-release
		h.hear(e)
		if _, lost := e.(store.EventsLost); lost {
			close(last)
		}
	}
	db, err := store.Open(world(disk, 1), "db", o)
	must(t, err)
	for i := 0; db.EventsLost() == 0; i++ {
		if i > 20_000 {
			close(release)
			t.Fatalf("no event lost after %d changes", i)
		}
		must(t, db.Put(fmt.Appendf(nil, "key%d", i), make([]byte, 500)))
		if i%20 == 0 {
			must(t, db.Flush())
		}
	}
	must(t, db.Close())
	lost := db.EventsLost()
	close(release)
	select {
	case <-last:
	case <-time.After(20 * time.Second):
		t.Fatal("no event says that events were lost")
	}
	if n := len(h.events); n != 1+store.NotifyQueueMax+1 {
		t.Errorf("%d events, want the one that blocked, %d and the one of what was lost", n, store.NotifyQueueMax)
	}
	if e := h.events[len(h.events)-1].(store.EventsLost); e.Count != lost {
		t.Errorf("%d lost by the event, %d by the metrics", e.Count, lost)
	}
}

// A function that ends its goroutine costs no event.
func TestNotifyThatExits(t *testing.T) {
	defer goleak.VerifyNone(t)
	disk, err := osenv.OpenDisk(t.TempDir())
	must(t, err)
	defer disk.Close()
	o := tiny()
	o.Tuning.Inline = false
	var h heard
	o.Notify = func(e env.Event) {
		h.hear(e)
		runtime.Goexit()
	}
	db, err := store.Open(world(disk, 1), "db", o)
	must(t, err)
	for range 5 {
		must(t, db.Put([]byte("k"), []byte("v")))
		must(t, db.Flush())
	}
	must(t, db.Close())
	m, n := db.Metrics(), h.count()
	if n["FlushEnded"] < 5 || n["CheckpointEnded"] != m.Checkpoints || db.EventsLost() != 0 {
		t.Errorf("events %v, %d lost; %d checkpoints", n, db.EventsLost(), m.Checkpoints)
	}
}

// A function that panics stops nothing.
func TestNotifyThatPanics(t *testing.T) {
	disk, err := osenv.OpenDisk(t.TempDir())
	must(t, err)
	defer disk.Close()
	for _, inline := range []bool{false, true} {
		var log strings.Builder
		o := tiny()
		o.Tuning.Inline = inline
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		o.Notify = func(e env.Event) { panic("a mistake of the program") }
		db, err := store.Open(world(disk, 1), fmt.Sprint(inline), o)
		must(t, err)
		must(t, db.Put([]byte("k"), []byte("v")))
		must(t, db.Flush())
		must(t, db.Compact(nil, nil))
		check(t, db, map[string]string{"k": "v"})
		must(t, db.Close())
		if n := strings.Count(log.String(), "a mistake of the program"); n < 3 {
			t.Errorf("inline %v: %d panics in the log:\n%s", inline, n, log.String())
		}
	}
}

// Trouble is reported by events: that the disk is full, that it has room again, and
// that the store has stopped.
func TestNotifyOfTrouble(t *testing.T) {
	disk := newSmallDisk(1000)
	o := tiny()
	o.Compression = store.None
	var h heard
	o.Notify = h.hear
	db, err := store.Open(world(disk, 1), "db", o)
	must(t, err)
	for range 2 {
		i := 0
		for ; ; i++ {
			if err = db.Put(fmt.Appendf(nil, "key%05d", i), make([]byte, 700)); err != nil {
				break
			}
			if i%50 == 0 {
				must(t, db.Sync()) // an event's turn
			}
		}
		if !errors.Is(err, env.ErrNoSpace) {
			t.Fatal(err)
		}
		for range 3 { // refused again: no further event
			if err := db.Put([]byte("key"), make([]byte, 700)); !errors.Is(err, env.ErrNoSpace) {
				t.Fatal(err)
			}
		}
		must(t, db.DeleteRange([]byte("key"), []byte("kez")))
		for part := 0; part < i; part += 200 { // in each call more merges than events may wait
			must(t, db.Compact(nil, fmt.Appendf(nil, "key%05d", part)))
		}
		must(t, db.Compact(nil, nil))
		must(t, db.Put([]byte("room"), make([]byte, 700)))
		must(t, db.Wait())
	}
	must(t, db.Close())
	if n := db.EventsLost(); n > 0 {
		t.Fatalf("%d events lost", n)
	}
	var order []string
	for _, e := range h.events {
		switch e := e.(type) {
		case store.DiskFull:
			if !errors.Is(e.Err, env.ErrNoSpace) {
				t.Error(e.Err)
			}
			order = append(order, "full")
		case store.DiskHasRoom:
			order = append(order, "room")
		}
	}
	if got := strings.Join(order, " "); got != "full room full room" {
		t.Errorf("the events were %q", got)
	}
}

func TestNotifyOfTheEnd(t *testing.T) {
	disk := &syncDisk{Disk: sim.NewDisk(), name: "DATA"}
	o := tiny()
	var h heard
	o.Notify = h.hear
	db, err := store.Open(world(disk, 1), "db", o)
	must(t, err)
	must(t, db.Put([]byte("k"), []byte("v")))
	disk.armed = true
	if err := db.Flush(); !errors.Is(err, store.ErrStopped) {
		t.Fatal(err)
	}
	if err := db.Close(); !errors.Is(err, store.ErrStopped) {
		t.Fatal(err)
	}
	var stopped []store.Stopped
	for _, e := range h.events {
		if e, is := e.(store.Stopped); is {
			stopped = append(stopped, e)
		}
	}
	if len(stopped) != 1 || !errors.Is(stopped[0].Err, errIO) {
		t.Errorf("stopped %v in %v", stopped, h.events)
	}
}
