package store

import "github.com/ashlar-dev/ashlar/env"

// The events that a store traces, in the words of specs/store. Numbers are
// those of changes, counted from 1 over the life of the store: a version of
// the store is the number of its last change.

// Opened says that recovery has found a superblock, in the slot 0 or 1, which
// leads to the tree at Cut, and the journal up to Version, which is ephemeral
// now. It is persistent as well if the power has failed; what a program has left
// that ended alone becomes so by the first sync.
type Opened struct {
	Superblock   uint64
	Slot         int
	Cut, Version uint64
}

// EventName is env.Event's.
func (Opened) EventName() string { return "Open" }

// Changed says that the ephemeral version is now Version.
type Changed struct{ Version uint64 }

// EventName is env.Event's.
func (Changed) EventName() string { return "Change" }

// Frozen says that the superblock of that number will lead to Version.
type Frozen struct{ Superblock, Version uint64 }

// EventName is env.Event's.
func (Frozen) EventName() string { return "Freeze" }

// Checkpointed says that the frozen version is persistent in the tree, by a
// superblock in that slot.
type Checkpointed struct {
	Superblock uint64
	Slot       int
	Version    uint64
}

// EventName is env.Event's.
func (Checkpointed) EventName() string { return "Checkpoint" }

// Journaled says that Version is persistent in the journal.
type Journaled struct{ Version uint64 }

// EventName is env.Event's.
func (Journaled) EventName() string { return "Journal" }

// SyncAsked and SyncAnswered are the two ends of a sync of Version, which is
// the ephemeral one when it is asked for.
type SyncAsked struct{ Version uint64 }

// EventName is env.Event's.
func (SyncAsked) EventName() string { return "SyncAsk" }

// SyncAnswered is said before the caller is told.
type SyncAnswered struct{ Version uint64 }

// EventName is env.Event's.
func (SyncAnswered) EventName() string { return "SyncAnswer" }

// trace tells the tracer, if there is one that listens. Events are made only
// then: most stores have none, and writers would pay for it.
func (db *DB) trace(event func() env.Event) {
	if db.traced {
		db.tracer.Trace(event())
	}
}
