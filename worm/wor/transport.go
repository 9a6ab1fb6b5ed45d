// SPDX-License-Identifier: Apache-2.0

package wor

import "time"

// Client makes the machines of a protocol for a configuration of n servers.
// Packages paxos, chain and fast each have one.
type Client interface {
	// Capture captures each register of the range at the ballot, which must not
	// be zero nor used by any other client.
	Capture(n int, r Range, b Ballot) Machine
	// Write writes the value into each register of the range at the ballot. The
	// caller must have captured them and must respect adopted values; or the
	// ballot is zero.
	Write(n int, r Range, b Ballot, value []byte) Machine
	// Read reads each register and completes values written halfway.
	Read(n int, r Range) Machine
	// Trim puts the tombstone of a segment on so many servers that no operation
	// can miss it.
	Trim(n int, s Segment) Machine
}

// Transport carries requests to servers and replies back. It belongs to the
// env.Serial in which it calls answer.
type Transport interface {
	Messenger
	// Call sends a request to a server. The request is encoded before Call
	// returns. Answer runs once, never from within Call: with nil if no reply
	// will come (no connection, a loss, or the time limit; 0 is the transport's
	// own bound). In that case the server may have performed the request, or
	// may still.
	Call(to Member, q *Request, within time.Duration, answer func(*Reply))
	// Listen subscribes to a server's notes, with a request of KindListen that
	// it repeats after each loss of connection. It calls answer for each reply:
	// the state from which on notes count. It calls gap when notes may have
	// been lost; the next answer follows it. Stop ends the subscription.
	Listen(to Member, q *Request, note func(*Note), answer func(*Reply), gap func()) (stop func())
}

// Service is the number of a service that a server offers besides registers.
type Service uint16

// The services.
const (
	ServiceSequencer Service = iota + 1 // package log
	ServiceTx                           // package tx, between participants
	ServiceKV                           // package tx, for clients
	ServiceSMR                          // package smr, for clients
	ServiceWitness                      // package node, between servers
)

// Messenger sends requests to the services of servers.
type Messenger interface {
	// Invoke sends a payload to a service and passes its answer to done.
	// ErrUnknown: whether the payload arrived is not known. ErrClosed, ErrBusy:
	// it did not. Done runs on the Space's env.Serial, exactly once, and may be
	// nil. The payload belongs to the Messenger from then on.
	Invoke(to Member, service Service, payload []byte, within time.Duration, done func([]byte, error))
}

// Handler is a service on a server. The server calls it on the env.Serial that
// it was registered with; it may call answer at most once, at any time. The
// receiver of the payload, and of the answer, owns it.
type Handler func(payload []byte, answer func([]byte))
