// SPDX-License-Identifier: Apache-2.0

// Package group is one server's part in one partition: it manages the epochs,
// in front of the servers of the protocols.
//
// In: requests, as they come from the wire; log records after a restart. Out:
// replies and log records; for the client that changes the members (package
// space): the form in which state is handed over, and which of several accepted
// values survives (Merger).
//
// An epoch on a server is open, then sealed, then ended. The next one begins
// when its configuration is decided, with the state that was staged under the
// configuration's tag:
//
//	KindSeal      open -> sealed. Nothing of the state changes any more.
//	KindFetch     the sealed state, in pieces.
//	KindStage     the initial state, in pieces, on a future member. A server may
//	              hold several stages; none counts yet.
//	KindActivate  the configuration that was decided. The stage with its tag
//	              becomes the state; all others are dropped, and so is the old
//	              state. A member without that stage is mute until it comes. A
//	              server that is not a member keeps only the configuration.
//
// Promised:
//
//   - A sealed server answers no request about registers, reads included (rule
//     h), except for the one register that decides the next configuration of
//     partition 0: its members are the witnesses of their own succession.
//   - Each member that answers in an epoch has begun with the same state, all of
//     it accepted at ballot 0. So whatever set of members a client asks, all of
//     them show an adopted value at ballot 0, or what was decided later; it is
//     decided for every reader, whatever the protocol. Promises end with their
//     epoch.
//   - A stage that was acknowledged as a whole is kept until a configuration of
//     its epoch, or of a later one, is known, because it may be the decided one;
//     or, if there is no room for another one, until it is StageAges old.
//   - The members of partition 0 permanently answer for the register that decides
//     the configuration after theirs: even when they have begun that one, or are
//     no longer members.
//   - No content of a request makes it panic. Its memory is within MaxBytes, and
//     as much again for stages, of which there are at most StagesMax. Tombstones
//     are extra: a trim frees room and is never refused for lack of it.
//   - Save makes an equal Group; so does the log, up to any record.
//
// Required of a client that changes the members: seal a majority of them
// (Seals), fetch from each, merge, stage the result on enough of the next
// members (Stages), write the configuration into its register, and activate.
//
// Refused: connections and listeners, time, storage. The Group does not check
// whether a configuration, or a trim, was decided: the caller must pass on only
// those that it knows to be decided (package node).
//
// Sources: WormSpace (SoCC 2019), section 3.1, "Reconfiguration"; Vertical
// Paxos (PODC 2009); docs/decisions/worm.md.
package group
