// SPDX-License-Identifier: Apache-2.0

// Package smr is WormPaxos: a state machine replicated over the address space.
// The commands are the values of registers, in the order of their addresses; a
// replica is a client of the space that applies them.
//
// In: a wor.Space, a StateMachine, and policies; a wor.Messenger if replicas
// can be reached. Out: a Replica: Propose gets a command applied by all
// replicas, once, and returns its result; Read waits until the state may be
// read. A Replica is a step machine of one env.Serial: its calls return at
// once, and the functions they call run there.
//
// Promised:
//   - All replicas apply the same commands in the same order; one that is behind
//     has applied a prefix.
//   - All replicas apply an acknowledged command. A command is applied once,
//     however often it was sent.
//   - Propose and Read(Linearizable) are linearizable.
//   - The leader of StickyLeader proposes in one round trip: one write.
//   - As long as a majority of the space's servers and one replica live, every
//     operation finishes.
//
// Refused: commands longer than CommandMax; waiting without bounds.
//
// # How
//
// The commands are in segments, allocated one after the other. A register holds
// a batch of commands, junk, or the end of its segment; there is also an end
// after its last register. Nothing after the end is part of the log. A replica
// acknowledges a command only after applying it, and applies it only after all
// lower registers are decided and applied. So an acknowledged command is never
// after an end, whichever way the end was written, and a client that finds a
// register unwritten knows that no command above it had been acknowledged.
// Everything else follows from that:
//
//   - To take over from a leader, a replica allocates the next segment and then
//     closes the leader's: it captures the unknown part, completes the writes
//     begun there, and puts the end after them.
//   - A leader's tokens end with the epoch of the segment's partition. It notices
//     that they are void, and leads on in the next segment.
//   - A linearizable read looks for the first unwritten register, and waits until
//     all below is applied. A leader only checks that the next segment is not
//     allocated.
//   - A command may be sent again at any time: a session's commands are numbered,
//     and the applied numbers, with their results, are part of the state.
//
// Sources: WormSpace (SoCC 2019), section 4.1; sessions as in Raft (Ongaro's
// thesis, section 6.3); turns as in Mencius (OSDI 2008).
package smr
