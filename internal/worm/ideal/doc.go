// SPDX-License-Identifier: Apache-2.0

// Package ideal is the address space of write-once registers as it should be: the
// specification that package space implements on servers, as a program. What
// is built on wor.Space is tested here first, against an adversary that does
// whatever the contract leaves open, without servers, networks and disks.
//
// In: Options with a seed and rates. Out: a World with virtual time and as many
// Processes as a test wants; each has an env.Env, an env.Serial, a wor.Space and
// a wor.Messenger, and may be killed.
//
// What the adversary does, and a real space may do as well: operations and their
// answers are late, in any order; a write with a bound of time answers Unknown,
// and takes effect, now or later, or never; a write that was outbid is kept
// halfway, and the next capture or read finds it or not; a capture or a read of a
// range is not atomic; notes come late, doubled, in any order; a message is lost,
// doubled, or its answer is; all tokens are made useless at once, as by a change
// of the epoch. What it never does: to change what was decided, to lose what was
// acknowledged, to let two holders of one register succeed.
//
// With Fixed, each message takes exactly one unit of time and nothing is lost: for
// counting message delays.
//
// Sources: WormSpace (SoCC 2019), section 3; the layers L1 to L3 of
// docs/decisions/worm.md.
package ideal
