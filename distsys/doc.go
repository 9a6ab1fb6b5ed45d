// SPDX-License-Identifier: Apache-2.0

// Package distsys runs compiled systems: archetypes of Modular PlusCal as Go
// processes whose steps are critical sections over resources.
//
// In: an Archetype, which generated code provides as one Go function per label
// over a struct of the archetype's variables; the resources that its parameters
// refer to; an env.Env. Out: an Instance that executes one section after the
// other until it is done, and the errors by which it can end.
//
// A section runs on a copy of the struct and reads and writes resources through
// a Tx. It ends in one of four ways:
//
//   - it returns a label: every touched resource pre-commits, then all commit
//     and the copy becomes the state;
//   - it is blocked (an await is false, a mailbox is empty, a set to choose
//     from is empty): all resources abort and the instance tries the next
//     combination of either and with choices; once every combination is
//     blocked, it waits until a resource that it has read changes;
//   - a resource refuses (a peer is unreachable, a lock is taken): all abort,
//     and the instance tries the section again after a jittered wait;
//   - it fails (an assertion is false, an expression has no value): all abort
//     and the run ends with the error.
//
// Promised: resources see a section completely or not at all; nothing spins
// while blocked and no wake-up is lost; each branch that stays enabled is taken
// sooner or later.
//
// An Instance is a step machine: Step does a bounded amount of work and never
// blocks, so that a simulator can run many on one thread; Run is the loop
// around it for a goroutine.
//
// Source: PGo (ASPLOS 2023), sections 4.2 and 4.4.
package distsys
