package node

import (
	"cmp"
	"errors"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/group"
	"github.com/ashlar-dev/ashlar/worm/space"
	"github.com/ashlar-dev/ashlar/worm/wal"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Server is one server of a cluster. It is safe for concurrent use.
//
// One lock guards all of it. Input of a connection is handled in the network's
// call, a whole piece of bytes at a time; nothing that blocks is done under the
// lock. The step that commits holds it only to find out what to commit and to
// release what was committed.
type Server struct {
	opt        Options
	key        Key
	id         wor.ServerID // the key's
	name       string
	generation uint64
	life       uint64 // drawn for this run: tells two of one generation apart
	start      place  // where the disk was when it was opened
	listener   env.Listener
	transport  *Transport // to peers
	serial     env.Serial // the transport's and the space's
	space      *space.Space
	waker      env.Waker  // of commits
	disk       *wal.Log   // nil in memory
	busy       sync.Mutex // held while a commit is running

	mu     sync.Mutex
	parts  []*part
	query  wor.Request
	reply  wor.Reply
	log    wor.Log
	staged batch // records of this turn

	// Records are numbered. Those up to appended are staged or in the log;
	// those up to committed are durable; those up to committing will be when
	// the running commit is done. Pending is the number of bytes that are not
	// durable, of which the running commit takes flew.
	appended, committing, committed uint64
	pending, flew                   int64
	flying, holding                 []*conn

	conns     []*conn
	touched   []*conn
	hosts     map[string]int // connections of each
	load      int
	partial   int // bytes of unfinished frames
	bytes     int64
	listens   map[wor.Segment][]*listen
	listening int
	services  map[wor.Service]service
	invokes   int // under way
	wheel     *wheel
	cluster   uint64 // as the log has it, 0: it was never started
	seen      map[wor.ServerID]sighting
	asks      []*ask
	before    sighting // of the life before
	begun     uint64   // number of the record that this life has begun
	tell      entry    // in the wheel: peers are to be told
	judging   entry    // in the wheel: WitnessWait is over for a partition
	told      uint64
	claims    map[claim]verdictOfClaim
	caring    entry // in the wheel
	cares     int
	pause     time.Duration // between attempts to reach peers
	later     []func()      // to be called when the lock is free

	rolledBack string // why the disk is not the newest, as a member has said; "" if none has
	failed     error
	full       bool  // the disk has no room for the log
	retry      entry // in the wheel: to look whether it has
	trouble    string
	draining   bool
	drainDone  []func()
	drainWait  entry
	closed     bool
	counts     Counts
	kinds      [kindsMax][statusesMax]uint64
}

// part is this server's share of a partition.
type part struct {
	number wor.Partition
	group  *group.Group
	bytes  int64
	// mute: not enough peers have confirmed yet that the disk is up to date. That
	// is asked anew in each epoch: judged is the last one, and since when it began.
	mute   bool
	judged wor.Epoch
	since  env.Instant
	// claimed is the highest epoch that any client has claimed has begun.
	claimed wor.Epoch
	// seeking reports that a look for it is queued.
	seeking bool
	sealed  env.Instant // since when it was seen to be, 0 if it is not
}

// OpenServer starts a server. When it returns, the server is listening. An
// error is about the options, the directory or the address.
func OpenServer(o Options) (*Server, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	s := &Server{opt: o, hosts: map[string]int{}, listens: map[wor.Segment][]*listen{}, services: map[wor.Service]service{},
		seen: map[wor.ServerID]sighting{}, claims: map[claim]verdictOfClaim{}, generation: 1, pause: askMin}
	random := o.Env.Random.Split("server")
	s.life = random.Uint64()
	if err := s.open(random); err != nil {
		_ = s.shut()
		return nil, err
	}
	s.wheel = newWheel(o.Env.Clock, env.WakeFunc(s.turn))
	s.tell.due, s.judging.due, s.drainWait.due, s.caring.due = s.tellPeers, s.judge, s.drainOver, s.care
	s.transport = NewTransport(TransportOptions{Env: o.Env, Serial: &s.serial, Cluster: o.Genesis.Cluster,
		From: uint64(s.id), Peer: true})
	s.waker = o.Tasks.Task(s.commit)
	s.retry.due = s.waker.Wake
	s.mu.Lock()
	err = s.belong()
	if err == nil {
		err = s.trust()
	}
	if err != nil {
		s.mu.Unlock()
		_ = s.shut()
		return nil, err
	}
	s.wheel.add(&s.caring, o.Env.Clock.Now().Add(careEvery))
	s.begin()
	s.regroup()
	s.unlock()
	listener, err := o.Env.Network.Listen(o.Listen, s.accept)
	s.mu.Lock()
	s.listener = listener
	err = cmp.Or(err, s.failed)
	s.unlock()
	if err != nil {
		_ = s.shut()
		return nil, err
	}
	return s, nil
}

// open opens the log and rebuilds the state.
func (s *Server) open(random env.Random) error {
	o := &s.opt
	if o.Memory {
		if s.key = o.Key; s.key.private == nil {
			s.key = NewKey(random)
		}
		s.id = s.key.ID()
	} else if err := s.openLog(); err != nil {
		return err
	}
	for i := range o.Genesis.Partitions {
		g := group.New(s.id, o.Genesis, wor.Partition(i))
		s.parts = append(s.parts, &part{number: wor.Partition(i), group: g, mute: !o.Alone,
			since: o.Env.Clock.Now()})
	}
	if o.Memory {
		return nil
	}
	return s.replay()
}

// ID is the server's identity.
func (s *Server) ID() wor.ServerID { return s.id }

// Addr is the address at which it listens.
func (s *Server) Addr() env.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr()
}

func (s *Server) addr() env.Addr {
	if s.listener == nil {
		return "" // it is being opened, and has failed
	}
	return s.listener.Addr()
}

// accept accepts a connection.
func (s *Server) accept(nc env.Conn) env.Handler {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := host(nc.Remote())
	if s.closed || s.draining || s.failed != nil || !s.room(from) {
		s.counts.TurnedAway++
		return nil
	}
	s.hosts[from]++
	c := &conn{s: s, conn: nc, place: len(s.conns), host: from, active: s.opt.Env.Clock.Now()}
	c.slow.due = c.late
	c.greet.due = func() { c.end(errors.New("no hello came")) }
	s.conns = append(s.conns, c)
	s.counts.Accepted++
	s.wheel.add(&c.greet, s.opt.Env.Clock.Now().Add(s.opt.HelloWithin))
	return c
}

// turn is called by the wheel.
func (s *Server) turn() {
	s.mu.Lock()
	defer s.unlock()
	if !s.closed {
		s.wheel.turn()
	}
}

// unlock ends a turn: records go to the log, permitted output leaves, and
// functions that must not be called under the lock are called.
func (s *Server) unlock() {
	s.finish()
	run := s.later
	s.later = nil
	s.mu.Unlock()
	for _, f := range run {
		f()
	}
}

// record takes over the records of a request.
func (s *Server) record(n wor.Partition) {
	if s.log.Len() == 0 {
		return
	}
	for i := range s.log.Len() {
		s.stage(recordGroup, n, s.log.Record(i))
	}
	s.log.Reset()
	p := s.parts[n]
	b := p.group.Bytes()
	s.bytes += b - p.bytes
	p.bytes = b
}

// stage makes a record. In memory, the record counts as durable at once.
func (s *Server) stage(kind byte, n wor.Partition, record []byte) {
	s.appended++
	if s.disk == nil {
		s.counts.Records++
		s.committing, s.committed = s.appended, s.appended
		return
	}
	s.staged.add(kind, n, record)
}

// finish passes the records of a turn to the log, and permitted output to the
// network.
func (s *Server) finish() {
	if s.staged.Len() > 0 && s.failed == nil && !s.closed {
		s.append()
	}
	for i := 0; i < len(s.touched); i++ {
		c := s.touched[i]
		s.touched[i] = nil
		c.touched = false
		c.flush()
	}
	s.touched = s.touched[:0]
	s.shed()
	if !s.closed {
		s.regular()
	}
}

func (s *Server) endAll(err error) {
	for len(s.conns) > 0 {
		s.conns[len(s.conns)-1].end(err)
	}
}

// fail ends the server, because its disk has failed. Uncommitted records may be
// lost, so no output that depends on them may leave.
func (s *Server) fail(err error) {
	if s.failed != nil {
		return
	}
	s.failed = err
	s.endAll(err)
	if s.opt.Fatal != nil {
		s.later = append(s.later, func() { s.opt.Fatal(err) })
	}
	s.drained()
}

// Close ends the server at once, whatever it is doing, and waits for a running
// commit. Everything acknowledged is durable. It must be called once.
func (s *Server) Close() error { return s.shut() }

func (s *Server) shut() error {
	s.mu.Lock()
	s.endAll(errLeft)
	s.closed = true
	if s.wheel != nil {
		s.wheel.stop()
	}
	s.unlock()
	var errs []error
	if s.listener != nil {
		errs = append(errs, s.listener.Close())
	}
	if s.space != nil {
		s.serial.Do(s.space.Close)
	}
	if s.transport != nil {
		s.transport.Close()
	}
	if s.disk != nil {
		s.busy.Lock()
		defer s.busy.Unlock()
		errs = append(errs, s.disk.Close())
	}
	return errors.Join(errs...)
}

func (s *Server) mark(m string) { s.opt.Env.Tracer.Trace(env.Mark(m)) }
