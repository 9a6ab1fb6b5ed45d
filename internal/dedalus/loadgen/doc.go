// SPDX-License-Identifier: Apache-2.0

// Package loadgen is a load generator for running Dedalus programs: each of its clients
// sends its next command when the one before is answered.
//
// In: an env.Env, a compiled program or its outline, the addresses of its instances, and
// the messages that commands send and wait for, from a load. Out: how many commands were
// answered, how long each took, and the first error.
//
// Promised: a command counts when every answer that it waits for has come. Each answer is
// compared with the load: a different one is an error of the run, and so is a command that
// is never answered. A command without an answer is sent again if Options say so. Waiting
// never blocks an output.
//
// Refused: deciding when a run begins and ends to count, which is the caller's. Parts of an
// answer that the load does not mention are only passed to Options.Answer.
package loadgen
