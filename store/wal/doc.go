// SPDX-License-Identifier: Apache-2.0

// Package wal is a server's write-ahead log. Records are durable when Commit
// returns, come back in order when the server restarts, and are replaced by a
// checkpoint when there are many of them.
//
// In: records, which are bytes of the caller's. Append and Commit may be called
// by different goroutines: the next Commit takes all records that arrive while
// one waits for the disk, which is group commit without a timer. Occasionally the
// caller passes its whole state as records. Out: after a restart, the state of
// the last completed checkpoint and the records since that checkpoint began; and
// a Position, which only grows, even across restarts.
//
// Promised: what Commit acknowledged comes back whole and in order; what comes
// back is a prefix of what was appended. Rot in committed records is an
// ErrCorrupt that names the place and is never mistaken for the end of the log,
// with one exception, which package journal explains: the frames of the very last
// Commit of a life that ended without Close, after which nothing was written. A
// superblock that is older than the log is an ErrCorrupt too. A directory without
// a log is never taken for an empty one: Format makes a log, Open does not. Two
// processes cannot have one log. A failed write or sync ends the log: it is never
// repeated, and every later call returns ErrStopped.
//
// After a failed sync the operating system may consider pages clean that it has
// not written. So the next life rewrites the end of the log that no record
// proves durable, before its Replay returns (tail.go).
//
// Refused: what records mean, when to commit, and when to begin a checkpoint
// (Due gives a hint).
//
// # Checkpoints
//
// A checkpoint begins at a place in the log: BeginCheckpoint. The caller passes
// its state at that place (Save, EndCheckpoint), all at once or in pieces, and
// Commits write it in bounded pieces between further records. When all of it is
// durable, a superblock says that recovery begins at that place: recovery first
// reads the state, which is interleaved with records, and then the records after
// the place, in order. The space before the place is freed. A crash before the
// superblock is durable leaves the previous checkpoint, with all records since.
//
// A state that is saved in pieces may be later than the place if the caller's
// records are idempotent: replaying records on a state that already has some of
// them must produce the state that all of them produce.
//
// # Full disk
//
// A segment allocates its space when it begins. If there is none, Commit returns an
// error that is env.ErrNoSpace and not ErrStopped: nothing is lost, the pending
// records are kept, and the next Commit that finds room makes them durable. The
// caller should refuse writes meanwhile. Opening a log needs no space.
//
// docs/format/worm.md describes the bytes.
package wal
