package wor

// Outbox collects what a Machine wants sent. Servers are places in the members of
// the configuration that the Machine was made for. Requests are the machine's:
// they are encoded before the next call to it and not kept.
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
// goroutine at a time: Start once, then Deliver for each answer and Expire
// whenever it has waited long enough, until Done. Requests may be lost, doubled
// and overtake each other, and so may replies.
type Machine interface {
	Start(out *Outbox)
	// Deliver takes a server's reply to one of the machine's requests. The
	// request is told by step, which is the Machine's own number of the round
	// that sent it (Request order within the machine): a reply of an earlier
	// round is handed over all the same, and the machine knows what to do.
	// The reply is the machine's from then on.
	Deliver(from int, step uint32, r *Reply, out *Outbox)
	// Expire sends again what was not answered.
	Expire(out *Outbox)
	// Step is the number of the current round: what is sent from now on is
	// answered to Deliver with it.
	Step() uint32
	// Done says that there is a Result. Nothing is sent afterwards.
	Done() bool
	// Result covers exactly the range, when Done. What a run says:
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
	// Moved answers why the machine cannot go on in this configuration:
	// StatusSealed, StatusStale or StatusForeign from enough servers that the
	// operation cannot succeed here; its owner learns the next configuration and
	// makes a new Machine. StatusOK as long as it can.
	Moved() Status
}

// Server keeps the registers of one protocol, in one epoch of one partition, on
// one server. It has no clock and does no I/O. It is for one goroutine at a time.
//
// What a request changed is appended to log as records. The reply may leave when
// these, and all records before, are durable: also a reply that changed nothing
// may show what an earlier request changed, so it must not overtake those records
// either (rule b).
type Server interface {
	// Handle does what a request of one of the register kinds asks; the group
	// has checked partition, epoch and limits. Value of the request is the
	// server's to keep. Runs of the reply may refer to the server's memory: they
	// are encoded before the next call.
	Handle(q *Request, r *Reply, log *Log)
	// Redo repeats a record of a log, after a restart. An error says that it is
	// not a record of this server.
	Redo(record []byte) error
	// Save calls yield with records that make the same state on an empty server,
	// in the order of addresses, until it answers false.
	Save(yield func(record []byte) bool)
	// States calls yield with every register that is promised or written and
	// every trimmed segment, in the order of addresses from a on, until it
	// answers false.
	States(a Addr, yield func(State) bool)
	// Adopt makes a state of the epoch before this one's: what is Written counts
	// as accepted at ballot 0.
	Adopt(s State, log *Log) error
	// Bytes is about how much memory the state takes.
	Bytes() int64
}

// State is what a server holds of a register, or that its segment is trimmed.
type State struct {
	Addr Addr
	// Trimmed says that the whole segment Addr.Segment is.
	Trimmed  bool
	Promised Ballot
	Written  bool
	Accepted Ballot
	Value    []byte
}

// Log collects records. Each is a copy.
type Log struct {
	buf  []byte
	ends []int
}

// Append adds a record.
func (l *Log) Append(record []byte) {
	l.buf = append(l.buf, record...)
	l.ends = append(l.ends, len(l.buf))
}

// Len is how many records there are.
func (l *Log) Len() int { return len(l.ends) }

// Record is the record of that number, valid until Reset.
func (l *Log) Record(i int) []byte {
	start := 0
	if i > 0 {
		start = l.ends[i-1]
	}
	return l.buf[start:l.ends[i]]
}

// Bytes is the length of all records.
func (l *Log) Bytes() int { return len(l.buf) }

// Reset empties the log and keeps its memory.
func (l *Log) Reset() { l.buf, l.ends = l.buf[:0], l.ends[:0] }
