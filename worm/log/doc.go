// SPDX-License-Identifier: Apache-2.0

// Package log is WormLog: a shared log over the address space. Appenders get an
// address from a sequencer and write there themselves, so that the sequencer
// never sees the entries.
//
// In: a wor.Space and a wor.Messenger; a clock, only for time limits. Out: a
// Log for appenders and readers, a Sequencer for each server that may hand out
// addresses. Both are step machines of one env.Serial: their calls return at
// once, and the functions they call run there.
//
// Promised:
//   - An acknowledged append stays at its position until the position is
//     trimmed. Positions are unique, and respect real time: an append that began
//     after another one ended comes after it (not with Options.Prefetch).
//   - Tail returns a position above all appends that ended before Tail began,
//     and not above any that begins after Tail ended.
//   - All followers of the log get the same entries in the same order, each id
//     once.
//   - An append takes one request to the sequencer and one write.
//   - As long as a majority of the space's servers and one sequencer's server
//     answer, every operation finishes.
//
// Refused: entries longer than EntryMax; waiting without bounds.
//
// # How
//
// A log is a row of segments, allocated one after the other; each has one
// sequencer, whose address is in the segment's metadata. The sequencer captures
// the whole segment before it hands out the first address, and hands out parts
// of that capture: tokens. So a write with a token takes one round trip, and
// the token becomes void as soon as another client captures the segment.
//
// Register 0 of each segment is its mark. The sequencer writes it when no more
// writes are possible in the segments below the mark's Closed, which it ensures
// by deciding all their registers; it hands out addresses only after the mark is decided. If
// register 0 holds anything else, the segment is void.
//
// To take over, a sequencer allocates the next segment, in which the space lets
// only one succeed; captures the registers that may still be written, going
// down from the last segment to the Closed of the newest mark, and decides them,
// with the values that it saw or junk (rule f: fence before the first token);
// then writes the mark.
//
// A deposed sequencer does not know that it was deposed. An append with its
// token fails, and the appender looks for the next segment. A client that asks
// it for the tail checks that the next segment is not allocated (rule g).
//
// Tokens end with the epoch of the segment's partition, and sequencers are not
// notified of a new epoch. A client that gets only void tokens requests the
// election of another sequencer.
//
// A hole, an address that was handed out and not written, is filled with junk
// by any client that waits for it (Holes).
//
// Sources: WormSpace (SoCC 2019), section 4.2; CORFU (NSDI 2012) for holes.
package log
