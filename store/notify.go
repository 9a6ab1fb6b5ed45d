// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// The events of a store's operation, which Options.Notify receives. The events for
// a tracer are the steps of the protocol, in their exact order, and are traced
// under locks. These events report the work of the background, its cost, and
// failures, and are passed on when no lock is held.

// FlushEnded: a memtable with that many changes was written as a branch of that
// many bytes, or the write failed.
type FlushEnded struct {
	Changes int
	Bytes   int64
	Took    time.Duration
	Err     error
}

// EventName implements env.Event.
func (FlushEnded) EventName() string { return "FlushEnded" }

// CompactionBegan: a merge of that many branches, which reads Bytes of them, has
// begun. Level is the trunk's level, 0 being the lowest; Bottom means that deleted
// data are dropped.
type CompactionBegan struct {
	Level    int
	Bottom   bool
	Branches int
	Bytes    int64
}

// EventName implements env.Event.
func (CompactionBegan) EventName() string { return "CompactionBegan" }

// CompactionEnded: that compaction has written that many bytes. With Err its
// output was discarded, and the store is as before.
type CompactionEnded struct {
	CompactionBegan
	Written int64
	Took    time.Duration
	Err     error
}

// EventName implements env.Event.
func (CompactionEnded) EventName() string { return "CompactionEnded" }

// CheckpointEnded: the superblock with that number is durable, or could not be
// written.
type CheckpointEnded struct {
	Superblock uint64
	Took       time.Duration
	Err        error
}

// EventName implements env.Event.
func (CheckpointEnded) EventName() string { return "CheckpointEnded" }

// WritesStalled: Count changes had to wait for a memtable to be written, for Took in
// all. Stalls that follow each other without another event are one event.
type WritesStalled struct {
	Count int
	Took  time.Duration
}

// EventName implements env.Event.
func (WritesStalled) EventName() string { return "WritesStalled" }

// WritesPaced: Count changes were slowed down, for Took in all, so that the
// background keeps up. As with WritesStalled, several may be one event.
type WritesPaced struct {
	Count int
	Took  time.Duration
}

// EventName implements env.Event.
func (WritesPaced) EventName() string { return "WritesPaced" }

// DiskFull: a put was refused for want of room, the first one since the store was
// opened or since DiskHasRoom.
type DiskFull struct{ Err error }

// EventName implements env.Event.
func (DiskFull) EventName() string { return "DiskFull" }

// DiskHasRoom: a put has found room again.
type DiskHasRoom struct{}

// EventName implements env.Event.
func (DiskHasRoom) EventName() string { return "DiskHasRoom" }

// Stopped: the store takes no more changes, because of a write or a sync that failed.
type Stopped struct{ Err error }

// EventName implements env.Event.
func (Stopped) EventName() string { return "Stopped" }

// ScrubEnded: a call of Scrub has returned.
type ScrubEnded struct {
	Report Report
	Took   time.Duration
	Err    error
}

// EventName implements env.Event.
func (ScrubEnded) EventName() string { return "ScrubEnded" }

// EventsLost: Count events before the next one were dropped, because Options.Notify
// was too slow.
type EventsLost struct{ Count int64 }

// EventName implements env.Event.
func (EventsLost) EventName() string { return "EventsLost" }

// NotifyQueueMax is how many events wait for Options.Notify at most.
const NotifyQueueMax = 256

// notifyWait is how long Close waits for Options.Notify to return.
const notifyWait = 500 * time.Millisecond

// notices passes events to Options.Notify: in a goroutine of its own, so that nothing
// waits for the function, or with Tuning.Inline at the end of calls.
type notices struct {
	db     *DB
	notify func(env.Event) // nil: no events are wanted

	mu      invariant.Mutex // a leaf
	queue   []env.Event
	lost    int64 // since the last event in the queue
	all     int64 // that were lost
	calling bool
	off     bool          // no more events come
	news    chan struct{} // of length 1; nil without a goroutine
	ended   chan struct{} // closed by the goroutine
}

func (n *notices) init(db *DB) {
	n.db, n.notify = db, db.opt.Notify
	n.mu.SetRank(rankLeaf, "notices")
}

// start starts the goroutine, which ends by close.
func (n *notices) start() {
	if n.notify == nil || n.db.opt.Tuning.Inline {
		return
	}
	news, ended := make(chan struct{}, 1), make(chan struct{})
	news <- struct{}{} // for what recovery has queued
	n.mu.Lock()
	n.news, n.ended = news, ended
	n.mu.Unlock()
	go n.run(news, ended)
}

// run passes on events until news is closed. If the function ends the goroutine
// that called it (runtime.Goexit), another goroutine continues.
func (n *notices) run(news <-chan struct{}, ended chan<- struct{}) {
	over := false
	defer func() {
		if !over {
			go n.run(news, ended)
			return
		}
		close(ended)
	}()
	n.deliver() // events that an ended goroutine has left
	for range news {
		n.deliver()
	}
	over = true
}

// add queues an event. It never waits. The caller may hold any lock that is no leaf.
func (n *notices) add(e env.Event) {
	if n.notify == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.off || n.joined(e):
		return
	case len(n.queue) >= NotifyQueueMax:
		n.lost++
		n.all++
		return
	case n.lost > 0:
		n.queue = append(n.queue, EventsLost{n.lost})
		n.lost = 0
	}
	n.queue = append(n.queue, e)
	select {
	case n.news <- struct{}{}:
	default:
	}
}

// joined adds a stall to the one that was queued last, and reports whether it did.
func (n *notices) joined(e env.Event) bool {
	if len(n.queue) == 0 || n.lost > 0 {
		return false
	}
	last := &n.queue[len(n.queue)-1]
	switch e := e.(type) {
	case WritesStalled:
		if l, same := (*last).(WritesStalled); same {
			*last = WritesStalled{l.Count + e.Count, l.Took + e.Took}
			return true
		}
	case WritesPaced:
		if l, same := (*last).(WritesPaced); same {
			*last = WritesPaced{l.Count + e.Count, l.Took + e.Took}
			return true
		}
	}
	return false
}

// deliver passes on what is queued. The caller holds no lock.
func (n *notices) deliver() {
	for n.notify != nil {
		e := n.next()
		if e == nil {
			return
		}
		n.call(e)
	}
}

// next takes the next event, and with it the right to call the function; nil: there is
// none, or a call is running.
func (n *notices) next() env.Event {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.calling {
		return nil
	}
	if len(n.queue) == 0 {
		if n.lost == 0 {
			return nil
		}
		n.queue = append(n.queue, EventsLost{n.lost})
		n.lost = 0
	}
	e := n.queue[0]
	n.queue[0] = nil
	if n.queue = n.queue[1:]; len(n.queue) == 0 {
		n.queue = nil
	}
	n.calling = true
	return e
}

// call passes on one event. A panic of the function is logged, and costs that event only.
func (n *notices) call(e env.Event) {
	defer func() {
		if p := recover(); p != nil {
			n.db.log.Error("Options.Notify panicked", "event", e.EventName(), "panic", fmt.Sprint(p))
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		n.calling = false
	}()
	n.notify(e)
}

// EventsLost is the number of events since the store was opened that were dropped
// because Options.Notify was too slow.
func (db *DB) EventsLost() int64 { return db.notices.lostEvents() }

func (n *notices) lostEvents() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all
}

// inline passes on what is queued, when there is no goroutine. The caller holds no lock.
func (n *notices) inline() {
	if n.db.opt.Tuning.Inline {
		n.deliver()
	}
}

// close passes on what is queued and ends the goroutine. A function that does not
// return is left alone.
func (n *notices) close() {
	n.mu.Lock()
	if !n.off && n.news != nil {
		close(n.news) // a token that is in it is received before the end
	}
	n.off = true
	ended := n.ended
	n.mu.Unlock()
	n.inline()
	if ended == nil {
		return
	}
	late := make(chan struct{})
	timer := n.db.clock.After(notifyWait, env.WakeFunc(func() { close(late) }))
	defer timer.Stop()
	select {
	case <-ended:
	case <-late:
	}
}
