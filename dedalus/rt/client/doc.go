// SPDX-License-Identifier: Apache-2.0

// Package client is a node from outside of a running program: it sends inputs to the
// program's instances and is sent outputs by them.
//
// In: an env.Env, the program, the client's name, and where the instances listen that
// it has to do with: those that take its inputs, and those that send it outputs. Out:
// a Client, for inputs and outputs as such; a Caller, which knows which output answers
// which input, and asks another instance when none does.
//
// Promised: an input is kept until the instance says that a tick took it, and sent
// again over another connection when one breaks, as long as that instance does not
// fail. An output is given once for each time that an instance's life sent it. As many
// inputs as QueueMax has room for may be under way; what is sent while outputs are
// given leaves together.
//
// Refused: what inputs and outputs mean, but for a Caller's key.
package client
