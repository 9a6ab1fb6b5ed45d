// Package smr is WormPaxos: a state machine that is replicated by the address
// space. The commands are the values of registers, in the order of their
// addresses; a replica is a client of the space that applies them.
//
// In: a wor.Space, a StateMachine, and policies; a wor.Messenger where replicas
// can be reached. Out: a Replica: Propose has a command applied by all, once, and
// answers its result; Read says when the state may be looked at. A Replica is a
// step machine of one env.Serial: its calls return at once, and what they call
// runs there.
//
// Promised:
//   - All replicas apply the same commands in the same order; one that is behind
//     has applied a prefix.
//   - A command that was acknowledged is applied by all. A command is applied
//     once, however often it was sent.
//   - Propose and Read(Linearizable) are linearizable.
//   - The leader of StickyLeader proposes in one round trip: one write.
//   - With a majority of the space's servers and one replica that live,
//     everything finishes.
//
// Refused: commands longer than CommandMax; waiting without bounds.
//
// # How
//
// The commands are in segments, allocated one after the other. A register holds a
// batch of commands, junk, or the end of its segment, which is also behind its
// last register. What is behind the end is not part of the log. Nothing is
// acknowledged before it is applied, and nothing is applied before all registers
// below it are decided and applied; so an acknowledged command is never behind an
// end, however the end came about, and whoever finds a register unwritten knows
// that no command above it had been acknowledged. All else follows from that:
//
//   - To take over from a leader is to allocate the next segment, and then to
//     close the one that it was in: capture what is not known of it, complete what
//     was begun, and put the end behind that.
//   - A leader's tokens end with the epoch of the segment's partition. It notices by
//     their being void, and leads on by the next segment.
//   - A linearizable read looks for the first register that is unwritten, and
//     waits until all below is applied. A leader only makes sure that the next
//     segment is not allocated.
//   - A command may be sent again at any time: a session's commands are numbered,
//     and which ones were applied, with what results, is part of the state.
//
// Sources: WormSpace (SoCC 2019), section 4.1; sessions as in Raft (Ongaro's
// thesis, section 6.3); turns as in Mencius (OSDI 2008).
package smr
