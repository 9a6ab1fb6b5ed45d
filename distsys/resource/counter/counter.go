// SPDX-License-Identifier: Apache-2.0

// Package counter provides a replicated counter that only grows: the resource of the
// mapping macro GrowCounter. Each node has a replica. What a process adds is counted
// there at once, and elsewhere when the replicas have asked each other, which they do
// every Interval. No section ever waits.
//
// In: the processes and the addresses of their nodes. Out: a distsys.Resource for each
// process of the node. Promised: a process reads at least what it has read or added
// before, and at most what all processes have added together; once a process has added
// nothing for a while and its node can be reached, others read all of it. Not
// promised: that others have what a node added before it failed. A replica is in
// memory; a node that survives crashes may not have one.
//
// A replica answers for the processes of its own node, and believes a peer about
// those of the peer's node only. A count that a peer sends never lowers a known one.
//
// Source: the state-based grow-only counter of Shapiro and others, "Conflict-Free
// Replicated Data Types" (2011); PGo (ASPLOS 2023), section 5.
package counter

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// IntervalDefault is the default of Options.Interval.
const IntervalDefault = 100 * time.Millisecond

const (
	service = "counter"
	keyMax  = 1 << 12
)

// The frames: ask has the version of the last answer on this connection, or 0; counts
// has a version, and the key and the count of each process of the answering node. There
// is no answer while the version is the same.
const (
	frameAsk = link.Service + iota
	frameCounts
)

// Options of a Replica.
type Options struct {
	// Link configures the links; Open sets its Lock.
	Link link.Options
	// Listen is where the replica answers its peers.
	Listen env.Addr
	// Local are the processes of this node, Peers the other nodes.
	Local []value.Value
	Peers []Peer
	// Interval is the time between two questions to a peer.
	Interval time.Duration
}

// Peer is another node with a replica.
type Peer struct {
	Addr      env.Addr
	Processes []value.Value
}

// Replica is the counter on one node.
type Replica struct {
	opt    Options
	server *link.Server

	mu       sync.Mutex
	closed   bool
	counts   map[string]uint64 // by the key of each process of the system
	own      []string          // the keys of the local processes
	shares   map[string]*share // by those
	total    uint64            // of all counts
	version  uint64            // counts the changes of the local processes
	asked    []*asker
	have     map[*link.Conn]uint64 // the version that a connected peer has
	ups      int                   // how often a peer has connected
	idle     []func()              // of Linger
	timer    env.Timer
	watchers []env.Waker
}

// asker asks one peer.
type asker struct {
	r      *Replica
	of     map[string]bool // its processes
	client *link.Client
	up     bool
	have   uint64 // the version of the last answer
}

func key(v value.Value) string { return string(value.AppendWire(nil, v)) }

// Open starts answering and asking.
func Open(o Options) (*Replica, error) {
	if o.Interval == 0 {
		o.Interval = IntervalDefault
	}
	if o.Interval < 0 {
		return nil, fmt.Errorf("counter: Interval %v must be positive", o.Interval)
	}
	r := &Replica{counts: map[string]uint64{}, shares: map[string]*share{}, have: map[*link.Conn]uint64{}}
	o.Link.Lock, o.Link.Service = &r.mu, service
	o.Link.Env.Random = o.Link.Env.Random.Split("counter")
	var err error
	if o.Link, err = o.Link.Complete(); err != nil {
		return nil, err
	}
	r.opt = o
	for _, v := range o.Local {
		k, err := r.know(v)
		if err != nil {
			return nil, err
		}
		r.own, r.shares[k] = append(r.own, k), &share{r: r, key: k}
	}
	for _, p := range o.Peers {
		a := &asker{r: r, of: map[string]bool{}}
		for _, v := range p.Processes {
			k, err := r.know(v)
			if err != nil {
				return nil, err
			}
			a.of[k] = true
		}
		r.asked = append(r.asked, a)
	}
	if r.server, err = link.NewServer(&r.opt.Link, o.Listen, (*answers)(r)); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, a := range r.asked {
		a.client = link.NewClient(&r.opt.Link, link.Target{Addr: o.Peers[i].Addr}, a)
	}
	r.timer = o.Link.Env.Clock.After(o.Interval, env.WakeFunc(r.tick))
	return r, nil
}

// know adds a process, and returns its key.
func (r *Replica) know(v value.Value) (k string, err error) {
	if err := value.Catch(func() { k = key(v) }); err != nil {
		return "", err
	}
	if _, twice := r.counts[k]; twice || len(k) > keyMax {
		return "", fmt.Errorf("counter: process %s is given twice, or its name is too long", value.Brief(v))
	}
	r.counts[k] = 0
	return k, nil
}

// Addr is where the replica listens.
func (r *Replica) Addr() env.Addr { return r.server.Addr() }

// Close stops answering and asking.
func (r *Replica) Close() error {
	r.mu.Lock()
	r.closed = true
	r.timer.Stop()
	for _, a := range r.asked {
		a.client.Close()
	}
	r.server.Shut()
	r.mu.Unlock()
	return r.server.Close()
}

func (r *Replica) tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	for _, a := range r.asked {
		a.ask()
	}
	r.timer = r.opt.Link.Env.Clock.After(r.opt.Interval, env.WakeFunc(r.tick))
}

// ask asks a peer. If the question does not fit into the connection's buffer, the next
// tick asks again.
func (a *asker) ask() {
	if a.up {
		_ = a.client.Send(link.Seal(binary.LittleEndian.AppendUint64(link.Begin(nil, frameAsk), a.have), 0))
	}
}

func (a *asker) Up(*link.Hello) error {
	a.up, a.have = true, 0
	if a.client != nil {
		a.ask()
	}
	return nil
}

func (a *asker) Down(error) { a.up = false }
func (a *asker) Room()      {}

// Frame merges what a peer says of its own processes.
func (a *asker) Frame(kind link.Type, payload []byte) error {
	if kind != frameCounts {
		return link.Malformed("counter", "type %d is not expected by a replica that asks", kind)
	}
	in := link.NewReader("counter", payload)
	version := in.U64("version")
	for n := in.Count("processes", len(a.of)); n > 0; n-- {
		k, count := in.String("process", keyMax), in.U64("count")
		if !a.of[k] || count > math.MaxInt32 {
			return link.Malformed("counter", "a count of a process of another node, or too large a one")
		}
		a.r.raise(k, count)
	}
	if err := in.End(); err != nil {
		return err
	}
	if a.have != version {
		a.have = version
		a.ask() // so that the peer knows
	}
	return nil
}

// raise makes a process's count at least n.
func (r *Replica) raise(k string, n uint64) {
	if n <= r.counts[k] {
		return
	}
	r.total += n - r.counts[k]
	r.counts[k] = n
	for _, w := range r.watchers {
		w.Wake()
	}
}

// answers is the Replica as the owner of its server.
type answers Replica

func (a *answers) Up(p *link.Conn) {
	a.have[p] = 0
	a.ups++
}

func (a *answers) Down(p *link.Conn, _ error) {
	delete(a.have, p)
	(*Replica)(a).settle()
}

func (a *answers) Frame(p *link.Conn, kind link.Type, payload []byte) error {
	if kind != frameAsk {
		return link.Malformed("counter", "type %d is not expected by a replica that answers", kind)
	}
	in := link.NewReader("counter", payload)
	version := in.U64("version")
	if err := in.End(); err != nil {
		return err
	}
	if version == a.version {
		a.have[p] = version
		(*Replica)(a).settle()
		return nil
	}
	out := binary.LittleEndian.AppendUint64(link.Begin(nil, frameCounts), a.version)
	out = binary.AppendUvarint(out, uint64(len(a.own)))
	for _, k := range a.own {
		out = link.AppendString(out, k)
		out = binary.LittleEndian.AppendUint64(out, a.counts[k])
	}
	p.Send(link.Seal(out, 0))
	return nil
}

// settled reports whether each peer has connected, and those that are connected have
// what the local processes have added.
func (r *Replica) settled() bool {
	for _, version := range r.have {
		if version != r.version {
			return false
		}
	}
	return r.version == 0 || r.ups >= len(r.asked)
}

func (r *Replica) settle() {
	if r.settled() {
		for _, done := range r.idle {
			done()
		}
		r.idle = nil
	}
}

// Linger waits until the peers have what the processes of this node have added, or
// until ctx ends. It waits for a peer to connect, but not for it to connect again.
func (r *Replica) Linger(ctx context.Context) {
	waits, done := context.WithCancel(ctx)
	defer done()
	r.mu.Lock()
	r.idle = append(r.idle, done)
	r.settle()
	r.mu.Unlock()
	<-waits.Done()
}

// Process returns the counter as a process of this node has it. It is for the sections
// of that process only.
func (r *Replica) Process(self value.Value) (distsys.Resource, error) {
	if s := r.shares[key(self)]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("counter: process %s is not one of this node's", value.Brief(self))
}

// share is the counter of one process. Added is what the current section has added.
type share struct {
	r     *Replica
	key   string
	added uint64
}

var _ distsys.Watched = (*share)(nil)

var (
	errIndexed = errors.New("a counter has no index")
	errNatural = errors.New("a counter that only grows: want a natural number")
	errLarge   = fmt.Errorf("the counter would exceed %d", math.MaxInt32)
)

// Read implements Resource.
func (s *share) Read(_ *distsys.Tx, idx []value.Value) (value.Value, error) {
	if len(idx) > 0 {
		return value.Value{}, errIndexed
	}
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	n := s.r.total + s.added
	if n > math.MaxInt32 {
		return value.Value{}, errLarge
	}
	return value.Int(int32(n)), nil
}

// Write implements Resource: it adds the value.
func (s *share) Write(_ *distsys.Tx, idx []value.Value, v value.Value) error {
	switch {
	case len(idx) > 0:
		return errIndexed
	case v.Kind() != value.KindInt || v.AsInt() < 0:
		return fmt.Errorf("%w, got %s", errNatural, value.Brief(v))
	}
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.added += uint64(v.AsInt()); s.r.counts[s.key]+s.added > math.MaxInt32 {
		return errLarge
	}
	return nil
}

// PreCommit implements Resource.
func (s *share) PreCommit(*distsys.Tx) error { return nil }

// Commit implements Resource.
func (s *share) Commit(*distsys.Tx) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.added > 0 {
		s.r.version++
		s.r.raise(s.key, s.r.counts[s.key]+s.added)
		s.added = 0
	}
}

// Abort implements Resource.
func (s *share) Abort(*distsys.Tx) { s.added = 0 }

// Watch implements Watched.
func (s *share) Watch(w env.Waker) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.r.watchers = append(s.r.watchers, w)
}

// Unwatch implements Watched.
func (s *share) Unwatch(w env.Waker) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if i := slices.Index(s.r.watchers, w); i >= 0 {
		s.r.watchers = slices.Delete(s.r.watchers, i, i+1)
	}
}
