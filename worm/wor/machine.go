// SPDX-License-Identifier: Apache-2.0

package wor

// Outbox collects the requests that a Machine wants to send. To has indices of
// the members of the configuration that the Machine was made for. The machine
// owns the requests: its caller must encode them before the next call and must
// not retain them.
type Outbox struct {
	To       []int
	Requests []*Request
}

// Send adds a request to a server.
func (o *Outbox) Send(to int, r *Request) {
	o.To = append(o.To, to)
	o.Requests = append(o.Requests, r)
}

// Reset empties the box and keeps its memory.
func (o *Outbox) Reset() { o.To, o.Requests = o.To[:0], o.Requests[:0] }

// Machine is one operation of a client on the servers of one configuration: a
// step machine without clock and without I/O. Its owner calls it from one
// goroutine at a time: Start once, then Deliver for each reply and Expire
// whenever it has waited long enough, until Done. Requests and replies may be
// lost, duplicated and reordered.
type Machine interface {
	Start(out *Outbox)
	// Deliver takes a server's reply to one of the machine's requests. Step is
	// the Machine's own number of the round that sent the request. The caller
	// delivers replies of earlier rounds as well, and the machine handles them.
	// The machine owns the reply from then on.
	Deliver(from int, step uint32, r *Reply, out *Outbox)
	// Expire sends unanswered requests again.
	Expire(out *Outbox)
	// Step is the number of the current round: replies to requests sent from
	// now on must be delivered with it.
	Step() uint32
	// Done reports whether there is a Result. Nothing is sent afterwards.
	Done() bool
	// Result covers exactly the range, once Done. A run means:
	//
	//	capture  OK: captured; if Written, Value must be adopted. Outbid: by
	//	         Promised. Trimmed.
	//	write    OK: the value is decided. Outbid: by Promised; the outcome is
	//	         unknown. Conflict: another value was accepted at this ballot;
	//	         the outcome is unknown. Trimmed.
	//	read     OK, Written: Value is decided. OK, not Written: unwritten at some
	//	         moment since Start. Outbid: written halfway, and the repair at
	//	         its own ballot was outbid by Promised. Trimmed.
	//	trim     OK: enough servers carry the tombstone (one run of count 1).
	Result() []Run
	// Moved returns why the machine cannot continue in this configuration:
	// StatusSealed, StatusStale or StatusForeign from so many servers that the
	// operation cannot succeed here. Its owner must then learn the next
	// configuration and make a new Machine. Until then it returns StatusOK.
	Moved() Status
}

// Server stores the registers of one protocol, in one epoch of one partition,
// on one server. It has no clock and does no I/O. It is for one goroutine at a
// time.
//
// A Server appends what a request changed to log as records. The reply must not
// leave before these records, and all earlier ones, are durable: even a reply
// to a request that changed nothing may show what an earlier request changed,
// so it must not overtake those records either (rule b).
type Server interface {
	// Handle performs a request of one of the register kinds; the group has
	// checked partition, epoch and limits. The server may retain the request's
	// Value. Runs of the reply may refer to the server's memory: the caller
	// must encode them before the next call.
	Handle(q *Request, r *Reply, log *Log)
	// Redo repeats a record of a log, after a restart. It returns an error for
	// a record that is not this server's.
	Redo(record []byte) error
	// Save calls yield with records that recreate the state on an empty server,
	// in the order of addresses, until yield returns false.
	Save(yield func(record []byte) bool)
	// States calls yield with every register that is promised or written and
	// every trimmed segment, in the order of addresses from a on, until yield
	// returns false.
	States(a Addr, yield func(State) bool)
	// Adopt takes over a state of the previous epoch: a Written value counts as
	// accepted at ballot 0.
	Adopt(s State, log *Log) error
	// Bytes is the approximate memory use of the state.
	Bytes() int64
}

// State is what a server stores of a register, or that its segment is trimmed.
type State struct {
	Addr Addr
	// Trimmed reports that the whole segment Addr.Segment is trimmed.
	Trimmed  bool
	Promised Ballot
	Written  bool
	Accepted Ballot
	Value    []byte
}

// Log collects copies of records.
type Log struct {
	buf  []byte
	ends []int
}

// Append adds a record.
func (l *Log) Append(record []byte) {
	l.buf = append(l.buf, record...)
	l.ends = append(l.ends, len(l.buf))
}

// Len is the number of records.
func (l *Log) Len() int { return len(l.ends) }

// Record returns record number i, valid until Reset.
func (l *Log) Record(i int) []byte {
	start := 0
	if i > 0 {
		start = l.ends[i-1]
	}
	return l.buf[start:l.ends[i]]
}

// Bytes is the total length of all records.
func (l *Log) Bytes() int { return len(l.buf) }

// Reset empties the log and keeps its memory.
func (l *Log) Reset() { l.buf, l.ends = l.buf[:0], l.ends[:0] }
