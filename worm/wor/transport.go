package wor

import "time"

// Client makes the machines of a protocol for a configuration of n servers.
// Packages paxos, chain and fast each have one.
type Client interface {
	// Capture captures each register of the range at the ballot, which is not
	// zero and was never used by anybody else.
	Capture(n int, r Range, b Ballot) Machine
	// Write writes the value into each register of the range at the ballot. The
	// caller has captured them, and keeps to what must be adopted; or the ballot
	// is zero.
	Write(n int, r Range, b Ballot, value []byte) Machine
	// Read reads each register and completes what is written halfway.
	Read(n int, r Range) Machine
	// Trim puts the tombstone of a segment on enough servers that nobody misses
	// it.
	Trim(n int, s Segment) Machine
}

// Transport carries requests to servers and answers back. It belongs to the
// env.Serial that its answers run in.
type Transport interface {
	Messenger
	// Call asks a server. The request is encoded before Call returns. Answer runs
	// once, never from within Call: with nil when no reply will come (no
	// connection, lost, or not within that time; 0 is the transport's own bound),
	// and then the request may have been done or may still be.
	Call(to Member, q *Request, within time.Duration, answer func(*Reply))
	// Listen asks a server for notes, with a request of KindListen, again after
	// each loss of connection. Answer runs at each reply to it: the state from
	// which on notes count. Gap runs when notes may have been lost; the next
	// answer follows it. Stop ends it.
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

// Messenger asks services of servers.
type Messenger interface {
	// Invoke sends a payload to a service and answers with what that answers.
	// ErrUnknown: whether it arrived is not known. ErrClosed, ErrBusy: it did not.
	// Done runs on the Space's env.Serial, exactly once, and may be nil. The
	// payload belongs to the Messenger from then on.
	Invoke(to Member, service Service, payload []byte, within time.Duration, done func([]byte, error))
}

// Handler is a service on a server. It is called on the env.Serial that it was
// registered with; answer is called at most once, at any time. The payload and
// the answer belong to who is given them.
type Handler func(payload []byte, answer func([]byte))
