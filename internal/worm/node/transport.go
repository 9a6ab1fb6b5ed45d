// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Defaults of TransportOptions.
const (
	InflightMaxDefault = 16 << 20
	PeersMaxDefault    = 256
	WithinDefault      = 10 * time.Second
	PingAfterDefault   = time.Second
	DeadAfterDefault   = 4 * time.Second
	backoffMinDefault  = 10 * time.Millisecond
	backoffMaxDefault  = 2 * time.Second
)

// TransportOptions are the options of a Transport. Env, Serial and Cluster are
// required.
type TransportOptions struct {
	// Env provides Clock, Random and Network.
	Env env.Env
	// Serial owns the Transport: all calls must be made there, and all answers
	// run there.
	Serial *env.Serial
	// Cluster is that of the wor.Genesis.
	Cluster uint64
	// From identifies the client: its nonce or, with Peer, a server's identity.
	From uint64
	Peer bool
	// InflightMax bounds the bytes of unanswered calls to one server. Default:
	// InflightMaxDefault.
	InflightMax int
	// PeersMax bounds the servers with a connection.
	PeersMax int
	// Within bounds calls that have no bound of their own.
	Within time.Duration
	// A connection that was silent for PingAfter while a call waits is pinged;
	// after DeadAfter it is ended.
	PingAfter, DeadAfter time.Duration
	// BackoffMin and BackoffMax bound the wait before a server is dialled again.
	BackoffMin, BackoffMax time.Duration
	// Restored is called once, in the Serial, when most servers report that the
	// cluster was restored from a backup and has another identity now. It may
	// be nil.
	Restored func()
}

func (o TransportOptions) complete() TransportOptions {
	o.InflightMax = cmp.Or(max(o.InflightMax, 0), InflightMaxDefault)
	o.PeersMax = cmp.Or(max(o.PeersMax, 0), PeersMaxDefault)
	o.Within = cmp.Or(max(o.Within, 0), WithinDefault)
	o.PingAfter = cmp.Or(max(o.PingAfter, 0), PingAfterDefault)
	o.DeadAfter = cmp.Or(max(o.DeadAfter, 0), DeadAfterDefault)
	o.BackoffMin = cmp.Or(max(o.BackoffMin, 0), backoffMinDefault)
	o.BackoffMax = max(cmp.Or(max(o.BackoffMax, 0), backoffMaxDefault), o.BackoffMin)
	return o
}

// Transport is a wor.Transport over an env.Network. It belongs to its
// env.Serial; only Close may be called from anywhere.
type Transport struct {
	opt    TransportOptions
	random env.Random
	peers  []*peer // in the order in which they were first asked
	byKey  map[peerKey]*peer
	wheel  *wheel
	dirty  []*peer // have something to write in this turn
	flushF func()
	// flushing reports that flushF is scheduled.
	flushing bool
	closed   bool
	free     *call
	counts   TransportCounts
}

var _ wor.Transport = (*Transport)(nil)

// TransportCounts are counters since the Transport was made.
type TransportCounts struct {
	Calls, Answers, Lost   uint64 // requests; those answered, and those answered with nil
	Invokes                uint64
	Notes, Gaps            uint64
	Dials, Welcomes, Drops uint64 // connections begun, welcomed, ended
	Writes, BytesWritten   uint64 // pieces given to connections
}

type peerKey struct {
	id   wor.ServerID
	addr string
}

// NewTransport returns a Transport without connections.
func NewTransport(o TransportOptions) *Transport {
	t := &Transport{opt: o.complete(), byKey: map[peerKey]*peer{}}
	t.random = o.Env.Random.Split("transport")
	t.wheel = newWheel(o.Env.Clock, o.Serial.Waker(t.turn))
	t.flushF = t.flush
	return t
}

func (t *Transport) turn() {
	if !t.closed {
		t.wheel.turn()
	}
}

// later runs f in the Serial, after the current function.
func (t *Transport) later(f func()) { t.opt.Serial.Do(f) }

// Call implements wor.Transport.
func (t *Transport) Call(to wor.Member, q *wor.Request, within time.Duration, answer func(*wor.Reply)) {
	t.counts.Calls++
	p := t.peer(to)
	if p == nil {
		t.counts.Lost++
		t.later(func() { answer(nil) })
		return
	}
	if within <= 0 {
		within = t.opt.Within
	}
	if _, err := p.request(q, within, answer); err != nil {
		t.counts.Lost++
		t.later(func() { answer(nil) })
	}
}

// Invoke implements wor.Messenger.
func (t *Transport) Invoke(to wor.Member, s wor.Service, payload []byte, within time.Duration, done func([]byte, error)) {
	t.counts.Invokes++
	if done == nil {
		done = func([]byte, error) {}
	}
	p := t.peer(to)
	if p == nil {
		t.later(func() { done(nil, wor.ErrClosed) })
		return
	}
	if within <= 0 {
		within = t.opt.Within
	}
	if err := p.invoke(s, payload, within, done); err != nil {
		t.later(func() { done(nil, err) })
	}
}

// Listen implements wor.Transport. It also subscribes again when a server had
// no room or was mute.
func (t *Transport) Listen(to wor.Member, q *wor.Request, note func(*wor.Note), answer func(*wor.Reply), gap func()) (stop func()) {
	p := t.peer(to)
	if p == nil {
		return func() {}
	}
	l := &listening{p: p, q: *q, note: note, answer: answer, gap: gap}
	l.q.Value = slices.Clone(q.Value)
	l.q.Kind = wor.KindListen
	l.backoff = env.Backoff{Min: t.opt.BackoffMin, Max: t.opt.BackoffMax}
	l.retry.due = l.begin
	p.listens = append(p.listens, l)
	l.begin()
	return l.stop
}

// peer finds or makes the connection to a server; nil if that is impossible.
func (t *Transport) peer(to wor.Member) *peer {
	if t.closed {
		return nil
	}
	key := peerKey{to.ID, to.Addr}
	if p := t.byKey[key]; p != nil {
		return p
	}
	if len(t.peers) >= t.opt.PeersMax && !t.evict() {
		return nil
	}
	p := &peer{t: t, key: key, calls: map[uint64]*call{}, notes: map[uint64]*listening{}}
	for _, o := range t.peers {
		if o.key.id == to.ID { // the same server, elsewhere
			p.see(o.generation, o.position)
		}
	}
	p.backoff = env.Backoff{Min: t.opt.BackoffMin, Max: t.opt.BackoffMax}
	p.beat.due = p.check
	p.redial.due = p.rested
	t.byKey[key] = p
	t.peers = append(t.peers, p)
	return p
}

// hurry has the next call to a server dial it at once: it gives up a dial that
// has been under way for longer than patience, which it reports, and ends the
// wait after a dial that has failed.
func (t *Transport) hurry(to wor.Member, patience time.Duration) (gaveUp bool) {
	p := t.byKey[peerKey{to.ID, to.Addr}]
	if p == nil {
		return false
	}
	if p.state == dialling && t.opt.Env.Clock.Now().Sub(p.began) >= patience {
		p.end()
		gaveUp = true
	}
	t.wheel.remove(&p.redial)
	return gaveUp
}

// evict ends the first unused connection.
func (t *Transport) evict() bool {
	for i, p := range t.peers {
		if len(p.calls) == 0 && len(p.listens) == 0 {
			t.peers = slices.Delete(t.peers, i, i+1)
			delete(t.byKey, p.key)
			p.drop()
			return true
		}
	}
	return false
}

// touch schedules a write of a peer's buffer at the end of the turn: requests
// that others add in this turn leave with it.
func (t *Transport) touch(p *peer) {
	if p.dirty {
		return
	}
	p.dirty = true
	t.dirty = append(t.dirty, p)
	if !t.flushing {
		t.flushing = true
		t.later(t.flushF)
	}
}

func (t *Transport) flush() {
	t.flushing = false
	for i, p := range t.dirty {
		t.dirty[i] = nil
		p.dirty = false
		p.write()
	}
	t.dirty = t.dirty[:0]
}

// restored notifies the owner when most servers report that the cluster was
// restored from a backup: a single one may be an impostor at a server's
// address.
func (t *Transport) restored() {
	n := 0
	for _, p := range t.peers {
		if p.restored {
			n++
		}
	}
	if f := t.opt.Restored; f != nil && 2*n > len(t.peers) {
		t.opt.Restored = nil
		t.later(f)
	}
}

// Seen returns the furthest generation and log position at which this Transport
// has seen a server; zeros if it has not.
func (t *Transport) Seen(id wor.ServerID) (generation, position uint64) {
	for _, p := range t.peers {
		if p.key.id == id && (p.generation > generation || p.generation == generation && p.position > position) {
			generation, position = p.generation, p.position
		}
	}
	return generation, position
}

// Counts returns the counters. It must be called in the Serial.
func (t *Transport) Counts() TransportCounts { return t.counts }

// PeerStatus is the state of the connection to one server.
type PeerStatus struct {
	ID                   wor.ServerID
	Addr                 string
	Connected            bool
	Generation, Position uint64
	Calls, Inflight      int
	Listens              int
	// Trouble is why there was last no connection, "" if there was no failure.
	Trouble string
}

// Peers returns the state for each server. It must be called in the Serial.
func (t *Transport) Peers() []PeerStatus {
	var all []PeerStatus
	for _, p := range t.peers {
		all = append(all, PeerStatus{ID: p.key.id, Addr: p.key.addr, Connected: p.state == welcomed,
			Generation: p.generation, Position: p.position, Calls: len(p.calls), Inflight: p.inflight,
			Listens: len(p.listens), Trouble: p.trouble})
	}
	return all
}

// Close ends all connections. Pending calls are answered as lost.
func (t *Transport) Close() { t.opt.Serial.Do(t.close) }

func (t *Transport) close() {
	if t.closed {
		return
	}
	t.closed = true
	for _, p := range t.peers {
		for _, l := range p.listens {
			l.stopped = true
		}
		p.listens = nil
		p.drop()
	}
	t.wheel.stop()
}
