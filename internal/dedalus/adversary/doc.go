// SPDX-License-Identifier: Apache-2.0

// Package adversary runs Dedalus programs under a scheduler that means harm: it
// delays, reorders and repeats messages, lets timers run out when it likes, crashes
// nodes between ticks and in them, and stops machines forever. It is for inputs and
// deployments that are too large for package explore.
//
// In: a program, messages from outside, and a seed or a schedule. Out: a Run, with
// the outputs and the schedule that leads to them again; whether a program before
// rewrites can have the same outputs (Oracle); and a shorter schedule that goes wrong in the
// same way (Shrink). A schedule is a line of text.
//
// Promised: the same seed, and the same schedule, give the same run. In the trouble
// whatever was sent arrives at some time or never. After it there is peace: all that
// is under way arrives, timers run out in turn, nothing fails anew; what was stopped
// stays so. A run has come to rest when there was no new output for so long that each
// timer ran out several times. Crashes are of nodes, as in package explore: all
// machines of a node lose what is not durable, and what was under way between them
// is lost.
//
// Refused: that a run which was not tried goes well; and that a run which the oracle
// does not explain is wrong: it looks within a bound, which it says.
package adversary
