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

// TransportOptions configure a Transport. Env, Serial and Cluster are needed.
type TransportOptions struct {
	// Env gives Clock, Random and Network.
	Env env.Env
	// Serial is what the Transport belongs to: all calls of it are made there,
	// and all answers run there.
	Serial *env.Serial
	// Cluster is that of the wor.Genesis.
	Cluster uint64
	// From is who asks: a client's nonce, or, with Peer, a server's identity.
	From uint64
	Peer bool
	// InflightMax bounds the bytes of calls to one server that are not answered.
	// Default: InflightMaxDefault.
	InflightMax int
	// PeersMax bounds how many servers there are connections to.
	PeersMax int
	// Within is the time for calls that bring none.
	Within time.Duration
	// A connection on which nothing was heard for PingAfter while somebody waits
	// is asked whether it lives; after DeadAfter it is given up.
	PingAfter, DeadAfter time.Duration
	// BackoffMin and BackoffMax bound the wait before a server is dialled again.
	BackoffMin, BackoffMax time.Duration
	// Restored is called once, in the Serial, when most servers say that the
	// cluster was restored from a backup and has another number now. It may be nil.
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
	// flushing says that flushF is on its way.
	flushing bool
	closed   bool
	free     *call
	counts   TransportCounts
}

var _ wor.Transport = (*Transport)(nil)

// TransportCounts count what a Transport did since it was made.
type TransportCounts struct {
	Calls, Answers, Lost   uint64 // requests; those answered, and answered nil
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

// later runs f in the Serial, after what is running.
func (t *Transport) later(f func()) { t.opt.Serial.Do(f) }

// Call is wor.Transport's.
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

// Invoke is wor.Messenger's.
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

// Listen is wor.Transport's. It listens again, too, when a server had no room or
// was mute.
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

// peer finds the connection to a server or makes one; nil when that cannot be.
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

// evict gives up the first connection that nobody uses.
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

// touch has what is in a peer's buffer written at the end of the turn: what
// others of this turn add to it leaves with it.
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

// restored notifies the owner when most servers say that the cluster was restored
// from a backup: one of them alone may be anybody who listens at its address.
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

// Seen is the furthest that a server was seen at by this Transport: its
// generation and its position in its log. Zeros where it was not.
func (t *Transport) Seen(id wor.ServerID) (generation, position uint64) {
	for _, p := range t.peers {
		if p.key.id == id && (p.generation > generation || p.generation == generation && p.position > position) {
			generation, position = p.generation, p.position
		}
	}
	return generation, position
}

// Counts are what was done so far. It is called in the Serial.
func (t *Transport) Counts() TransportCounts { return t.counts }

// PeerStatus says how it stands with one server.
type PeerStatus struct {
	ID                   wor.ServerID
	Addr                 string
	Connected            bool
	Generation, Position uint64
	Calls, Inflight      int
	Listens              int
	// Trouble is why there was no connection last, "" if nothing was.
	Trouble string
}

// Peers says how it stands with each server. It is called in the Serial.
func (t *Transport) Peers() []PeerStatus {
	var all []PeerStatus
	for _, p := range t.peers {
		all = append(all, PeerStatus{ID: p.key.id, Addr: p.key.addr, Connected: p.state == welcomed,
			Generation: p.generation, Position: p.position, Calls: len(p.calls), Inflight: p.inflight,
			Listens: len(p.listens), Trouble: p.trouble})
	}
	return all
}

// Close ends all connections. Calls that are under way are answered as lost.
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
