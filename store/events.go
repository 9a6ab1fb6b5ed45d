// SPDX-License-Identifier: Apache-2.0

package store

import "github.com/ashlar-dev/ashlar/env"

// The events that a store traces, in the terms of specs/store. Numbers are
// those of changes, counted from 1 over the life of the store: a version of the
// store is the number of its last change.

// Opened: recovery has found a superblock, in slot 0 or 1, which leads to the tree
// at Cut, and the journal up to Version, which is ephemeral now. Version is also
// persistent if the power had failed; if only the program had ended, it becomes
// persistent with the first sync.
type Opened struct {
	Superblock   uint64
	Slot         int
	Cut, Version uint64
}

// EventName implements env.Event.
func (Opened) EventName() string { return "Open" }

// Changed: the ephemeral version is now Version.
type Changed struct{ Version uint64 }

// EventName implements env.Event.
func (Changed) EventName() string { return "Change" }

// Frozen: the superblock of that number will lead to Version.
type Frozen struct{ Superblock, Version uint64 }

// EventName implements env.Event.
func (Frozen) EventName() string { return "Freeze" }

// Checkpointed: the frozen version is persistent in the tree, through a
// superblock in that slot.
type Checkpointed struct {
	Superblock uint64
	Slot       int
	Version    uint64
}

// EventName implements env.Event.
func (Checkpointed) EventName() string { return "Checkpoint" }

// Journaled: Version is persistent in the journal.
type Journaled struct{ Version uint64 }

// EventName implements env.Event.
func (Journaled) EventName() string { return "Journal" }

// SyncAsked and SyncAnswered are the start and the end of a sync of Version,
// which is the ephemeral version at the start.
type SyncAsked struct{ Version uint64 }

// EventName implements env.Event.
func (SyncAsked) EventName() string { return "SyncAsk" }

// SyncAnswered is traced before the call returns.
type SyncAnswered struct{ Version uint64 }

// EventName implements env.Event.
func (SyncAnswered) EventName() string { return "SyncAnswer" }

// trace passes an event to the tracer, if there is one. The event is made only
// then: most stores have no tracer, and writers would pay for it.
func (db *DB) trace(event func() env.Event) {
	if db.traced {
		db.tracer.Trace(event())
	}
}
