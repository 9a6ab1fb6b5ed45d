// Package log is WormLog: a shared log over the address space. Appenders get an
// address from a sequencer and write there themselves, so that the sequencer
// never sees what is appended.
//
// In: a wor.Space and a wor.Messenger; a clock for bounds of time alone. Out: a
// Log for who appends and reads, a Sequencer for each server that may hand out
// addresses. Both are step machines of one env.Serial: their calls return at
// once, and what they call runs there.
//
// Promised:
//   - An append that was acknowledged is at its position for good, until that is
//     trimmed. Positions are unique, and respect real time: an append that began
//     after another one ended comes after it (not with Options.Prefetch).
//   - Tail answers a position above all appends that ended before it began, and
//     not above any that begins after it ended.
//   - All who follow the log get the same entries in the same order, each id
//     once.
//   - An append takes one request to the sequencer and one write.
//   - With a majority of the space's servers and one sequencer's server that
//     answer, everything finishes.
//
// Refused: entries longer than EntryMax; waiting without bounds.
//
// # How
//
// A log is a row of segments, allocated one after the other; each has one
// sequencer, whose address is in the segment's metadata. The sequencer captures
// the whole segment before it hands out the first address, and what it hands out
// is the part of that capture: a token. So a write with a token takes one round
// trip, and is void as soon as somebody else captures the segment.
//
// Register 0 of each segment is its mark. The sequencer writes it when nothing
// can be written any more to the segments below the mark's Closed, which it makes
// sure of by capturing them; and it hands out addresses only after the mark is
// decided. If register 0 holds anything else the segment is void.
//
// To take over is to allocate the next segment, of which the space lets only one
// succeed; to capture what may still be written, going down from the last
// segment to the Closed of the newest mark (rule f: fence before the first
// token); to complete or to junk what was begun there; then to write the mark.
//
// A sequencer that was deposed does not know that. Who appends with its token
// fails, and looks for the next segment. Who asks it for the tail checks that the
// next segment is not allocated (rule g).
//
// Tokens end with the epoch of the segment's partition, and no sequencer hears of a
// new one. Who gets void tokens only has another sequencer elected.
//
// A hole, an address that was handed out and not written, is filled with junk by
// whoever waits for it (Holes).
//
// Sources: WormSpace (SoCC 2019), section 4.2; CORFU (NSDI 2012) for holes.
package log
