// SPDX-License-Identifier: Apache-2.0

// Package crowd is the clients of a load, against a program that runs: each asks for
// its next command when it has the answer to the one before.
//
// In: an env.Env, a compiled program or its outline, where its instances listen, and
// what commands send and wait for, as a load says. Out: how many commands were
// answered, how long each took, and the first thing that was wrong.
//
// Promised: a command counts when all that answers it has come, and each answer is
// compared with what the load says of it: one that is another is an error of the run,
// and so is a command that was never answered. A command without an answer is asked
// for again if Options say so. What is waited for never blocks an output.
//
// Refused: when a run begins to count and when it ends; that is for who calls it. What
// the load does not say of an answer is not looked at, but by Options.Answer.
package crowd
