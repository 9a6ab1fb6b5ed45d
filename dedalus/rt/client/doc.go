// SPDX-License-Identifier: Apache-2.0

// Package client connects to a running program from outside the deployment. It sends
// inputs to the program's instances and receives outputs from them.
//
// In: an env.Env, the program, the client's name, and the addresses of the instances
// that accept its inputs or send it outputs. Out: a Client, for plain inputs and
// outputs; or a Caller, which matches outputs to inputs, and asks another instance if
// no answer comes.
//
// Promised: the client keeps an input until the instance acknowledges that a tick took
// it. If the connection breaks, the client sends the input again over another one, as
// long as that instance does not fail. Each output is delivered once for each time
// that a life of an instance sent it. The inputs under way are limited only by
// QueueMax. Inputs sent while outputs are delivered are written together.
//
// Refused: the meaning of inputs and outputs, except for a Caller's key.
package client
