// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// conn is a Server's side of a connection. All of it is guarded by the server's
// lock.
//
// Output is in one of three buffers: now may leave at once; flying after the
// running commit; held after the next one.
type conn struct {
	s     *Server
	conn  env.Conn
	place int // in conns.all
	scan  wire.Scanner
	hello wire.Hello
	said  bool // hello was received and accepted
	// refused: the refusal was sent, and further input is ignored; the connection ends
	// when the other side has read the refusal, or the time for the hello is over.
	refused bool
	closed  bool
	greet   entry // in the wheel: hello must come by then
	slow    entry // in the wheel: an unfinished frame must be complete by then
	began   env.Instant
	active  env.Instant // when the last input arrived
	host    string      // its remote address without the port
	network string      // around the host
	partial int         // bytes of an unfinished frame, as counted in conns.partial

	now, flying, held wire.Encoder
	queued            [2]bool // is in commits.flying, commits.holding
	touched           bool    // is in conns.touched
	backlog           []byte  // output that the network did not take
	stash             []byte  // input that arrived while there was a backlog
	stashed           env.Instant
	noteBytes         [2]int // of notes in flying, held
	load              int    // as counted in conns.load

	listens []*listen
	reports bucket
	invokes int
	bytes   int // of running invocations

	leaving bool // drained: to close when the pong comes
}

// Opened implements env.Handler; a server dials no connections.
func (c *conn) Opened(env.Conn) {}

// Data implements env.Handler: it handles all frames of a piece, then sends all
// permitted output in one piece.
func (c *conn) Data(_ env.Conn, b []byte) {
	s := c.s
	s.mu.Lock()
	defer s.unlock()
	c.input(b)
}

// Drained implements env.Handler.
func (c *conn) Drained(env.Conn) {
	s := c.s
	s.mu.Lock()
	defer s.unlock()
	c.resume()
}

// Closed implements env.Handler.
func (c *conn) Closed(env.Conn, error) {
	s := c.s
	s.mu.Lock()
	defer s.unlock()
	c.gone()
}

func (c *conn) input(b []byte) {
	if c.closed || c.refused {
		return
	}
	c.active = c.s.opt.Env.Clock.Now()
	if len(c.backlog) > 0 {
		// The server does not read from a client that does not read its
		// answers.
		if len(c.stash) == 0 {
			c.stashed = c.s.opt.Env.Clock.Now()
		}
		if len(c.stash)+len(b) > c.s.opt.ConnInflightMax {
			c.end(&wor.LimitError{Name: "ConnInflightMax", Limit: int64(c.s.opt.ConnInflightMax), Got: int64(len(c.stash) + len(b))})
			return
		}
		c.stash = append(c.stash, b...)
		c.account()
		return
	}
	c.frames(b, 0)
}

// frames handles all complete frames. Waited is the longest time that they may
// have been here.
func (c *conn) frames(b []byte, waited waiting) {
	if !c.said {
		c.scan.Max = wire.HelloMax
	}
	c.scan.Feed(b)
	another := false
	for !c.closed && !c.refused {
		f, ok, err := c.scan.Next()
		if err == nil && ok {
			another = true
			err = c.frame(f, waited)
		}
		if err != nil {
			c.end(err)
			return
		}
		if !ok {
			break
		}
	}
	c.unfinished(another)
	c.touch()
}

func (c *conn) frame(f wire.Frame, waited waiting) error {
	if !c.said && f.Type != wire.TypeHello {
		return fmt.Errorf("a %v frame instead of a hello", f.Type)
	}
	switch f.Type {
	case wire.TypeRequest:
		return c.request(f.Payload, waited)
	case wire.TypeInvoke:
		return c.invoke(f.Payload, waited)
	case wire.TypeHello:
		return c.greeting(f.Payload)
	case wire.TypePing:
		token, err := wire.DecodePing(f.Payload)
		if err == nil {
			c.now.Pong(token)
		}
		return err
	case wire.TypePong:
		_, err := wire.DecodePing(f.Payload)
		if err == nil && c.leaving {
			err = errLeft
		}
		return err
	}
	return fmt.Errorf("a %v frame from a client", f.Type)
}

var errLeft = errors.New("drained")

// greeting checks that the client reached the intended server.
func (c *conn) greeting(payload []byte) error {
	if c.said {
		return errors.New("a second hello")
	}
	s := c.s
	if err := wire.DecodeHello(payload, &c.hello); err != nil {
		return err
	}
	w := wire.Welcome{Version: wire.Version, Cluster: s.opt.Genesis.Cluster, Server: s.id,
		Generation: s.generation, Position: s.commits.durable()}
	switch h := &c.hello; {
	case h.Version < wire.Version:
		w.Refusal, w.Text = wire.RefusalVersion, fmt.Sprintf("this server speaks version %d", wire.Version)
	case slices.Contains(s.opt.Genesis.Restored, h.Cluster):
		w.Refusal, w.Text = wire.RefusalRestored, fmt.Sprintf("the cluster was restored from a backup and is %016x now: use its new description", s.opt.Genesis.Cluster)
		w.Cluster, w.Server, w.Generation, w.Position = 0, 0, 0, 0
	case h.Cluster != s.opt.Genesis.Cluster:
		w.Refusal, w.Text = wire.RefusalCluster, "another cluster"
		w.Cluster, w.Server, w.Generation, w.Position = 0, 0, 0, 0
	case h.To != s.id:
		w.Refusal, w.Text = wire.RefusalServer, fmt.Sprintf("this is server %v", s.id)
	case s.drain.underway() || s.failed != nil:
		w.Refusal, w.Text = wire.RefusalClosing, "the server is shutting down"
	case (place{s.generation, s.commits.durable()}).less(place{h.Generation, h.Position}):
		// The client's claim may be wrong, so it decides only about the
		// client's own connection. Whether the disk is old is for the peers to
		// decide.
		s.trouble = fmt.Sprintf("client %016x claims to have seen this server at %v, but it is at %v", h.From,
			place{h.Generation, h.Position}, place{s.generation, s.commits.durable()})
		w.Refusal, w.Text = wire.RefusalBehind, s.trouble
	case s.witness.denial() != "":
		w.Refusal, w.Text = wire.RefusalBehind, s.witness.denial()
	}
	if w.Refusal == wire.RefusalNone && c.hello.Challenge != (wire.Challenge{}) {
		w.Proof = s.key.prove(welcomePurpose, w.Cluster, welcomeText(&c.hello.Challenge, &w))
	}
	c.now.Welcome(&w)
	if w.Refusal != wire.RefusalNone {
		s.counts.Refused++
		s.mark("worm/node refused: " + w.Refusal.String())
		c.refused = true
		return nil
	}
	c.said = true
	c.scan.Max = 0
	s.wheel.remove(&c.greet)
	return nil
}

// touch schedules a flush of the connection at the end of the server's turn.
func (c *conn) touch() { c.s.conns.touch(c) }

// flush passes permitted output to the network.
func (c *conn) flush() {
	if c.closed {
		return
	}
	if c.now.Len() > 0 {
		c.send(&c.now)
	}
	c.account()
}

func (c *conn) send(e *wire.Encoder) {
	s := c.s
	if len(c.backlog) == 0 {
		err := c.conn.Write(e.Bytes())
		if err == nil {
			s.counts.Writes++
			s.counts.BytesWritten += uint64(e.Len())
			e.Reset(outKeep)
			return
		}
		if !errors.Is(err, env.ErrFull) {
			e.Reset(outKeep)
			c.end(err)
			return
		}
		s.counts.Full++
		s.mark("worm/node connection full")
	}
	c.backlog = append(c.backlog, e.Bytes()...)
	e.Reset(outKeep)
	// Output for admitted requests is bounded by those requests; a reply is up
	// to FrameMax longer than its request.
	if len(c.backlog) > 2*s.opt.ConnInflightMax {
		c.end(&wor.LimitError{Name: "ConnInflightMax", Limit: int64(s.opt.ConnInflightMax), Got: int64(len(c.backlog))})
	}
}

// resume continues after the network was full.
func (c *conn) resume() {
	if c.closed || len(c.backlog) == 0 {
		return
	}
	err := c.conn.Write(c.backlog)
	if errors.Is(err, env.ErrFull) {
		return // Drained comes again
	}
	if err != nil {
		c.end(err)
		return
	}
	c.backlog = nil
	if in := c.stash; len(in) > 0 {
		c.stash = nil
		c.frames(in, waiting(c.s.opt.Env.Clock.Now().Sub(c.stashed)))
	}
	c.touch()
}

// account updates the server's sum of waiting bytes.
func (c *conn) account() {
	load, partial := 0, 0
	if !c.closed {
		partial = c.scan.Buffered()
		load = c.now.Len() + c.flying.Len() + c.held.Len() + len(c.backlog) + len(c.stash) + c.bytes + partial
	}
	c.s.conns.account(c, load, partial)
}

// end ends the connection, because of an error on either side.
func (c *conn) end(err error) {
	if c.closed {
		return
	}
	if !errors.Is(err, errLeft) {
		c.s.counts.Dropped++
		c.s.trouble = err.Error()
	}
	c.conn.Close()
	c.gone()
}

// gone drops the connection.
func (c *conn) gone() {
	if c.closed {
		return
	}
	c.closed = true
	s := c.s
	s.wheel.remove(&c.greet)
	s.wheel.remove(&c.slow)
	for _, l := range c.listens {
		s.listeners.remove(l)
	}
	c.listens = nil
	c.backlog, c.stash = nil, nil
	c.now, c.flying, c.held = wire.Encoder{}, wire.Encoder{}, wire.Encoder{}
	c.account()
	s.conns.remove(c)
	s.drain.proceed()
}
