// Package group is one server's part in one partition: the epochs, in front of the
// servers of the protocols.
//
// In: requests, as they come from the wire; log records after a restart. Out:
// replies and log records; for who changes the members (package space): the form
// in which state is handed over, and which of several accepted values goes on
// (Merger).
//
// An epoch on a server is open, then sealed, then over. The next one begins when
// its configuration is decided, with the state that was staged under the
// configuration's tag:
//
//	KindSeal      open -> sealed. Nothing of the state changes any more.
//	KindFetch     the sealed state, in pieces.
//	KindStage     the state to begin with, in pieces, on a member to be. Many
//	              stages may stand side by side; none counts yet.
//	KindActivate  the configuration that was decided. The stage with its tag is
//	              the state; all others go, and so does the old one. A member
//	              without that stage is mute until it comes. A server that is no
//	              member keeps nothing but the configuration.
//
// Promised:
//
//   - A sealed server answers no request about registers, reads included (rule
//     h), but for the one register that decides the next configuration of
//     partition 0: its members are the witnesses of their own succession.
//   - Each member that answers in an epoch has begun with the same state, all of
//     it accepted at ballot 0. So whatever set of members a client asks, all of
//     them show an adopted value at ballot 0, or what was decided later; it is
//     decided for every reader, whatever the protocol. Promises end with their
//     epoch.
//   - A stage that was acknowledged as a whole is kept until a configuration of
//     its epoch, or of a later one, is known, as it may be what was decided; or,
//     where there is no room for another one, until it is StageAges old.
//   - The members of partition 0 answer for the register that decides the
//     configuration after theirs for ever: also when they have gone on to it, or
//     are no members any more.
//   - Nothing that a request may hold makes it panic. What it keeps is within
//     MaxBytes, and a stage as long as that; StagesMax stages. Tombstones come on
//     top: a trim gives room and is never refused for want of it.
//   - Save makes an equal Group; so does the log, up to any record.
//
// Required of who changes the members: seal a majority of them (Seals), fetch
// each, merge, stage the result on enough of the next members (Stages), write the
// configuration into its register, and activate.
//
// Refused: connections and listeners, time, storage. Whether a configuration, or a
// trim, was decided is not looked up here: the caller hands over only those that it
// knows to be decided (package node).
//
// Sources: WormSpace (SoCC 2019), section 3.1, "Reconfiguration"; Vertical Paxos
// (PODC 2009); docs/decisions/worm.md.
package group
