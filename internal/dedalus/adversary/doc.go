// SPDX-License-Identifier: Apache-2.0

// Package adversary runs Dedalus programs under a hostile scheduler: it delays,
// reorders and repeats messages, fires timers at any time, crashes nodes between
// ticks and in them, and stops machines forever. It is for inputs and deployments
// that are too large for package explore.
//
// In: a program, messages from outside, and a seed or a schedule. Out: a Run, with
// the outputs and the schedule that reproduces them; whether the program before
// the rewrites can have the same outputs (Oracle); and a shorter schedule that fails in
// the same way (Shrink). A schedule is a line of text.
//
// Promised: the same seed, and the same schedule, give the same run. In the first
// phase, with faults, a message arrives at some time or never. In the second, without
// faults, all messages in transit arrive and timers fire in turn; stopped machines
// stay stopped. A run has come to rest when each timer has fired several times
// without a new output. A node crashes as a whole, as in package explore: all its
// machines lose what is not durable, and the messages between them are lost.
//
// Refused: any claim about runs that were not tried. A run that the oracle cannot
// explain need not be wrong: the oracle searches within a bound, and reports it.
package adversary
