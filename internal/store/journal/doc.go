// SPDX-License-Identifier: Apache-2.0

// Package journal stores on disk the messages that no checkpoint has yet: those
// of each memtable, as the image of its arena, in a separate segment.
//
// In: frames, pieces of an image that are sealed with a header and written at
// their place in the image. Out: after a crash, the images again, up to the
// last frame that can be trusted.
//
// Promised: what a Sync has acknowledged comes back whole and in order; what
// comes back is a prefix of what was sealed, and never has a frame that an
// earlier life of the store had discarded; rot among synced frames is
// distinguished from the torn end that a crash leaves, and is an error that
// says where (replay.go has the argument, and why the last Sync needs a witness
// outside of the journal).
//
// Refused: to interpret messages, and to decide when to write and which
// segments a checkpoint has made unnecessary. The caller decides.
//
// frame.go, segment.go and scanner.go are pure. Log does the input and output,
// through env.Disk.
//
// The journal is logical and lazy as in VeriBetrKV (OSDI 2020, section 4.3);
// frames that say how much was durable when they were sealed are ours.
package journal
