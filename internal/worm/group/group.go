// SPDX-License-Identifier: Apache-2.0

package group

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/worm/chain"
	"github.com/ashlar-dev/ashlar/internal/worm/paxos"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// MaxBytesDefault is the limit of a Group's memory unless Limit sets another.
const MaxBytesDefault = 4 << 30

// pinBytes is the size, in bytes, at which the protocol of a segment is
// counted.
const pinBytes = 48

// Group is a server's part in a partition. It is for one goroutine at a time.
//
// As with a wor.Server, a reply must not leave before all records appended up
// to then are durable.
type Group struct {
	self      wor.ServerID
	genesis   *wor.Genesis
	partition wor.Partition
	maxBytes  int64

	// known is the highest configuration that the server has learned, hint its
	// encoding.
	known wor.Config
	hint  []byte
	// held is the state that the server has: of the known epoch, or of an
	// earlier one while it waits for its stage. Nil if there is none.
	held *epoch
	// stages are in the order in which they began.
	stages []*stage
	// past has the witness registers of epochs that are over, nil if there are none.
	past *paxos.Acceptor
	age  uint64 // calls of Age

	log     wor.Log // what a server of a protocol appends
	scratch []byte
}

// epoch is the state of an epoch.
type epoch struct {
	number   wor.Epoch
	head     bool
	sealed   bool
	acceptor *paxos.Acceptor // Paxos and Fast
	replica  *chain.Replica
	// pins has the protocols of the segments whose data registers are stored
	// here.
	pins map[wor.Segment]wor.Protocol

	// For a sealed epoch: the digest, if it is known, and the beginnings of the
	// pieces that were cut so far.
	digest   uint64
	digested bool
	cuts     []key
}

func newEpoch(number wor.Epoch, head bool) *epoch {
	return &epoch{
		number: number, head: head, acceptor: &paxos.Acceptor{}, replica: chain.NewReplica(head),
		pins: map[wor.Segment]wor.Protocol{},
	}
}

// New returns the initial part of a server in a partition of the genesis. Its
// Limit is MaxBytesDefault.
func New(self wor.ServerID, genesis *wor.Genesis, p wor.Partition) *Group {
	g := &Group{self: self, genesis: genesis, partition: p, maxBytes: MaxBytesDefault}
	g.learn(genesis.Partitions[p])
	if i := g.known.Index(self); i >= 0 {
		g.held = newEpoch(0, i == 0)
	}
	return g
}

// Limit bounds the memory of the registers, approximately, and that of the
// stages to the same amount. Beyond it, requests are refused with "MaxBytes":
// ordinary writes from three quarters of it on, so that stored data can still
// be taken over and trimmed (room).
func (g *Group) Limit(maxBytes int64) { g.maxBytes = maxBytes }

// learn makes a configuration the known one.
func (g *Group) learn(c wor.Config) {
	hint, err := c.AppendBinary(nil)
	invariant.Check(err == nil, "configuration of partition %d: %v", c.Partition, err)
	g.known, g.hint = c, hint
}

// Partition is the partition's number.
func (g *Group) Partition() wor.Partition { return g.partition }

// Config is the highest configuration that the server knows. It must not be
// changed.
func (g *Group) Config() *wor.Config { return &g.known }

// Epoch is the epoch of Config.
func (g *Group) Epoch() wor.Epoch { return g.known.Epoch }

// Status is the server's status in the epoch of Config: StatusOK if it serves,
// StatusSealed, StatusMute if it lacks its stage, StatusForeign if it is not a
// member.
func (g *Group) Status() wor.Status { return g.standing(g.known.Epoch) }

// Bytes is approximately the memory use of the Group, and the length of the
// output of Save.
func (g *Group) Bytes() int64 {
	n := g.held.bytes() + g.staged() + int64(len(g.hint))
	if g.past != nil {
		n += g.past.Bytes()
	}
	return n
}

func (e *epoch) bytes() int64 {
	if e == nil {
		return 0
	}
	return e.acceptor.Bytes() + e.replica.Bytes() + int64(len(e.pins))*pinBytes
}

// standing is the server's status for requests of an epoch.
func (g *Group) standing(e wor.Epoch) wor.Status {
	switch {
	case e < g.known.Epoch:
		return wor.StatusStale
	case e > g.known.Epoch:
		return wor.StatusAhead
	case g.known.Index(g.self) < 0:
		return wor.StatusForeign
	case g.held == nil || g.held.number != e:
		return wor.StatusMute
	case g.held.sealed:
		return wor.StatusSealed
	}
	return wor.StatusOK
}

// Handle answers a request of any kind, with records of what it changed. It
// answers a KindListen like a KindRead, and a KindUnlisten with StatusOK:
// listeners are the caller's task. The Group may retain the Value of the
// request. The reply may refer to the Group's memory: the caller must encode it
// before the next call.
func (g *Group) Handle(q *wor.Request, r *wor.Reply, log *wor.Log) {
	*r = wor.Reply{Epoch: g.known.Epoch, Runs: r.Runs[:0]}
	if q.Partition != g.partition {
		r.Status = wor.StatusForeign
		return
	}
	switch q.Kind {
	case wor.KindCapture, wor.KindWrite, wor.KindRead, wor.KindTrim, wor.KindListen:
		g.registers(q, r, log)
	case wor.KindUnlisten:
	case wor.KindSeal:
		g.seal(q, r, log)
	case wor.KindFetch:
		g.fetch(q, r)
	case wor.KindStage:
		g.stage(q, r, log)
	case wor.KindActivate:
		g.activate(q, r, log)
	case wor.KindStatus:
		g.refuse(r, g.Status())
		r.Value = g.hint
		r.Cursor = uint64(100 * max(g.Bytes(), 0) / max(g.maxBytes, 1)) // how full it is, in percent
		if r.Status == wor.StatusSealed {
			r.Digest = g.Digest()
		}
	default:
		g.limit(r, "kind")
	}
}

// refuse answers for the whole request, and names a newer epoch if the client
// does not know it.
func (g *Group) refuse(r *wor.Reply, s wor.Status) {
	r.Status = s
	if s == wor.StatusStale {
		r.Value = g.hint
	}
}

func (g *Group) limit(r *wor.Reply, why string) { r.Status, r.Value = wor.StatusLimit, []byte(why) }

// registers passes a request about registers to the server of its protocol.
func (g *Group) registers(q *wor.Request, r *wor.Reply, log *wor.Log) {
	if g.witnesses(q) && q.Epoch < g.known.Epoch {
		g.testify(q, r, log)
		return
	}
	status := g.standing(q.Epoch)
	if status == wor.StatusSealed && g.witnesses(q) {
		status = wor.StatusOK
	}
	if status != wor.StatusOK {
		g.refuse(r, status)
		return
	}
	if why := g.senseless(q); why != "" {
		g.limit(r, why)
		return
	}
	e, changes := g.held, q.Kind == wor.KindCapture || q.Kind == wor.KindWrite
	if changes && !g.room(q) {
		g.limit(r, "MaxBytes")
		return
	}
	if data(q.Range) && q.Kind != wor.KindTrim {
		if p, pinned := e.pins[q.Range.Segment]; pinned && p != q.Protocol {
			g.limit(r, "segment is stored with "+p.String())
			return
		} else if p, known := g.named(q.Range.Segment); !pinned && known && p != q.Protocol {
			g.limit(r, "segment is stored with "+p.String()+", as its metadata say")
			return
		} else if !pinned && changes {
			g.scratch = appendPin(g.scratch[:0], e.number, q.Range.Segment, q.Protocol)
			log.Append(g.scratch)
			e.pins[q.Range.Segment] = q.Protocol
		}
	}
	own := *q
	if q.Kind == wor.KindListen {
		own.Kind = wor.KindRead
	}
	if q.Kind == wor.KindWrite {
		if own.Value == nil {
			own.Value = []byte{}
		}
		// A value that fills a whole range: the rest is asked for again.
		if most := 1 + wor.ReplyMax/(1+len(own.Value)); own.Range.Len() > most {
			own.Range.Hi = own.Range.Lo + uint32(most)
		}
	}
	g.log.Reset()
	e.server(q.Protocol).Handle(&own, r, &g.log)
	r.Epoch = g.known.Epoch
	for i := range g.log.Len() {
		g.scratch = appendInner(g.scratch[:0], e.number, q.Protocol, g.log.Record(i))
		log.Append(g.scratch)
	}
	if q.Kind == wor.KindTrim {
		g.unpin(q, log)
	}
	if q.Kind == wor.KindWrite && g.witnesses(q) && r.Runs[0].Status == wor.StatusOK {
		// So when a configuration is decided a majority is sealed, whichever client wrote it.
		g.close(log)
	}
}

// Trimmed reports whether the server has a tombstone of a segment, in the
// server of the protocol that stores its registers.
func (g *Group) Trimmed(seg wor.Segment, p wor.Protocol) bool {
	if g.held == nil {
		return false
	}
	var r wor.Reply
	g.held.server(p).Handle(&wor.Request{Kind: wor.KindRead, Protocol: p, Range: wor.One(wor.Addr{Segment: seg})}, &r, &wor.Log{})
	return len(r.Runs) == 1 && r.Runs[0].Status == wor.StatusTrimmed
}

// named returns the protocol in a segment's metadata, as far as they are here:
// the segment has its home here, has not moved, and this server has accepted
// metadata.
func (g *Group) named(seg wor.Segment) (p wor.Protocol, known bool) {
	if g.genesis.Home(seg) != g.partition {
		return 0, false
	}
	q := wor.Request{Kind: wor.KindRead, Range: wor.Range{Segment: seg, Lo: wor.PlacementOffset, Hi: wor.MetaOffset + 1}}
	var r wor.Reply
	g.held.acceptor.Handle(&q, &r, &wor.Log{})
	at := q.Range.Lo
	for i := range r.Runs {
		run := &r.Runs[i]
		at += run.Count
		var m wor.Meta
		switch {
		case !run.Written:
		case at <= wor.MetaOffset:
			return 0, false // it may have moved
		case m.UnmarshalBinary(run.Value) == nil && m.Partition == g.partition:
			p, known = m.Protocol, true
		}
	}
	return p, known
}

// unpin drops the protocol of a trimmed segment.
func (g *Group) unpin(q *wor.Request, log *wor.Log) {
	p, pinned := g.held.pins[q.Range.Segment]
	if !pinned || (p == wor.Chain) != (q.Protocol == wor.Chain) {
		return
	}
	g.scratch = appendUnpin(g.scratch[:0], g.held.number, q.Range.Segment)
	log.Append(g.scratch)
	delete(g.held.pins, q.Range.Segment)
}

// server returns the server that stores the registers of a protocol.
func (e *epoch) server(p wor.Protocol) wor.Server {
	if p == wor.Chain {
		return e.replica
	}
	return e.acceptor
}
