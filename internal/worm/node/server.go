// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Server is one server of a cluster. It is safe for concurrent use.
//
// One lock, mu, guards all of it and all its parts. Input of a connection is
// handled in the network's call, a whole piece of bytes at a time; nothing that
// blocks is done under the lock. The step that commits holds it only to find out
// what to commit and to release what was committed.
//
// Lock order: mu is the last. What takes another lock, of the serial, of a service
// or of the world, is called when mu is free (later). Each part has a file, its
// fields, and methods through which the others reach it.
type Server struct {
	opt        Options
	key        Key
	id         wor.ServerID // from the key
	name       string
	generation uint64
	listener   env.Listener
	transport  *Transport // to peers
	serial     env.Serial // shared by the transport and the space

	mu      sync.Mutex
	wheel   *wheel
	later   []func() // to be called when the lock is free
	cluster uint64   // from the log; 0: the server was never started
	failed  error
	trouble string
	closed  bool
	counts  Counts
	kinds   [kindsMax][statusesMax]uint64

	registers registers
	commits   commits
	witness   witness
	beliefs   beliefs
	conns     conns
	listeners listeners
	services  services
	drain     drain
}

// OpenServer starts a server. When it returns, the server is listening. An
// error is about the options, the directory or the address.
func OpenServer(o Options) (*Server, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	s := &Server{opt: o, generation: 1}
	random := o.Env.Random.Split("server")
	s.registers, s.commits, s.drain = registers{s: s}, commits{s: s}, drain{s: s}
	s.witness = newWitness(s, random.Uint64())
	s.beliefs = beliefs{s: s, claims: map[claim]verdictOfClaim{}}
	s.conns = conns{s: s, networks: map[string]int{}}
	s.listeners = listeners{s: s, by: map[wor.Segment][]*listen{}}
	s.services = services{by: map[wor.Service]service{}}
	if err := s.open(random); err != nil {
		_ = s.shut()
		return nil, err
	}
	s.wheel = newWheel(o.Env.Clock, env.WakeFunc(s.turn))
	s.transport = NewTransport(TransportOptions{Env: o.Env, Serial: &s.serial, Cluster: o.Genesis.Cluster,
		From: uint64(s.id), Peer: true, BackoffMax: s.retryMax()})
	s.commits.run(o.Tasks)
	s.mu.Lock()
	err = s.belong()
	if err == nil {
		err = s.beliefs.trust()
	}
	if err != nil {
		s.mu.Unlock()
		_ = s.shut()
		return nil, err
	}
	s.witness.begin()
	s.unlock()
	listener, err := o.Env.Network.Listen(o.Listen, s.conns.accept)
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
	s.registers.add()
	if o.Memory {
		return nil
	}
	n, err := s.commits.replay(s.redo)
	s.witness.from(place{s.generation - 1, n})
	s.registers.weigh()
	return err
}

// openLog opens the log and learns the server's identity.
func (s *Server) openLog() error {
	text, generation, err := s.commits.open()
	if err == nil {
		s.key, s.name, err = identity(text)
	}
	if err != nil {
		return fmt.Errorf("open the log in %s: %w", s.opt.Dir, err)
	}
	s.id, s.generation = s.key.ID(), generation
	return nil
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

// finish passes the records of a turn to the log, and permitted output to the
// network.
func (s *Server) finish() {
	s.commits.append()
	s.conns.flush()
	if !s.closed {
		s.witness.regular()
	}
}

// fail ends the server, because its disk has failed. Uncommitted records may be
// lost, so no output that depends on them may leave.
func (s *Server) fail(err error) {
	if s.failed != nil {
		return
	}
	s.failed = err
	s.conns.endAll(err)
	if s.opt.Fatal != nil {
		s.later = append(s.later, func() { s.opt.Fatal(err) })
	}
	s.drain.proceed()
}

// Close ends the server at once, whatever it is doing, and waits for a running
// commit. Everything acknowledged is durable. It must be called once.
func (s *Server) Close() error { return s.shut() }

func (s *Server) shut() error {
	s.mu.Lock()
	s.conns.endAll(errLeft)
	s.closed = true
	if s.wheel != nil {
		s.wheel.stop()
	}
	s.unlock()
	var errs []error
	if s.listener != nil {
		errs = append(errs, s.listener.Close())
	}
	s.beliefs.close()
	if s.transport != nil {
		s.transport.Close()
	}
	return errors.Join(append(errs, s.commits.close())...)
}

func (s *Server) mark(m string) { s.opt.Env.Tracer.Trace(env.Mark(m)) }
