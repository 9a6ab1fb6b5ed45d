// SPDX-License-Identifier: Apache-2.0

// Package wal is a server's write-ahead log: records that are on disk when a
// Commit says so, come back in their order when the server starts again, and are
// replaced by a checkpoint when they have become many.
//
// In: records, which are bytes of the caller's, appended from one place and
// committed from another, so that all that comes while a Commit waits for the
// disk is the next Commit's: group commit without a timer. Now and then the whole
// state as records. Out: after a restart, the state of the last checkpoint that
// was completed and the records since it began. A Position, which only grows,
// also over restarts.
//
// Promised: what Commit acknowledged comes back whole and in order; what comes
// back is the beginning of what was appended. Rot in what was committed is an
// ErrCorrupt that names the place, and never passes for the end of the log, with
// the exception that package journal explains: the frames of the very last Commit
// of a life that ended without Close, after which nothing was written. A
// superblock that is older than the log is an ErrCorrupt too. A directory without
// a log is never taken for an empty one: Format makes a log, Open does not. Two
// processes cannot have one log. A write or a sync that failed ends the log: it
// is never repeated, and everything answers ErrStopped from then on.
//
// A machine may take for clean what a failed sync has not written. So the end of
// the log that nothing calls durable is written again by the next life, before
// its Replay returns (tail.go).
//
// Refused: what records mean, when to commit, and when to begin a checkpoint
// (Due gives a hint).
//
// # Checkpoints
//
// A checkpoint begins at a place in the log: BeginCheckpoint. The caller gives
// its state as it is there (Save, EndCheckpoint), all at once or in pieces, and
// Commits write it in bounded pieces between the records that go on coming. When
// all of it is durable, a superblock says that recovery begins at that place: it
// reads the state first, from wherever it is between the records, and then
// the records behind the place, in order. What was before the place is given
// back. A crash before the superblock is durable leaves the checkpoint before,
// with all records since.
//
// A state that is saved in pieces may be later than the place, if the caller's
// records allow it: repeating records on a state that has some of them already
// must give the state that all of them give.
//
// # Full disk
//
// Segments take their space when they begin. Where there is none, Commit answers an
// error that is env.ErrNoSpace and not ErrStopped: nothing is harmed, what was to be
// durable is kept, and the next Commit that finds room makes it so. The caller
// refuses to write meanwhile. Opening a log needs no space.
//
// docs/format/worm.md describes the bytes.
package wal
