// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// peer is a Transport's side of the connection to one server.
type peer struct {
	t     *Transport
	key   peerKey
	state linkState
	link  *dialled
	conn  env.Conn

	out     wire.Encoder
	dirty   bool
	full    bool   // the connection takes no more until it is drained
	last    uint64 // id of the last call
	written uint64 // id of the last call that was given to the connection

	calls    map[uint64]*call
	inflight int
	listens  []*listening
	notes    map[uint64]*listening // by the id of the request

	challenge wire.Challenge // for this connection

	backoff env.Backoff
	began   env.Instant // when the last dial began
	since   env.Instant // when the welcome arrived
	redial  entry       // in the wheel: when it may be dialled again
	beat    entry       // in the wheel: the next check that the connection is alive
	heard   env.Instant
	pings   uint64

	generation, position uint64 // the furthest it was seen
	restored             bool   // it has reported that the cluster has another number now
	trouble              string
}

type linkState uint8

const (
	down     linkState = iota
	dialling           // no connection yet
	greeted            // hello was sent
	welcomed
)

// outKeep is the memory that an empty buffer retains.
const outKeep = 256 << 10

// see records the server's position.
func (p *peer) see(generation, position uint64) {
	if generation > p.generation {
		p.generation, p.position = generation, position
	} else if generation == p.generation {
		p.position = max(p.position, position)
	}
}

// ready returns nil if calls may be put into the buffer: there is a connection,
// or there will be one.
func (p *peer) ready() error {
	if p.state != down {
		return nil
	}
	if p.redial.linked() {
		return fmt.Errorf("%w: %s", wor.ErrClosed, p.trouble)
	}
	p.dial()
	return nil
}

func (p *peer) dial() {
	p.t.counts.Dials++
	p.state = dialling
	p.link = &dialled{p: p}
	p.link.runF = p.link.run
	p.began = p.t.opt.Env.Clock.Now()
	p.heard = p.began
	p.conn = p.t.opt.Env.Network.Dial(env.Addr(p.key.addr), p.link)
	p.watch()
}

// opened starts the connection: hello, and the waiting calls.
func (p *peer) opened() {
	p.state = greeted
	p.heard = p.t.opt.Env.Clock.Now()
	binary.LittleEndian.PutUint64(p.challenge[:], p.t.random.Uint64()|1)
	binary.LittleEndian.PutUint64(p.challenge[8:], p.t.random.Uint64())
	var hello wire.Encoder
	hello.Hello(&wire.Hello{Version: wire.Version, Peer: p.t.opt.Peer, Cluster: p.t.opt.Cluster, From: p.t.opt.From,
		To: p.key.id, Generation: p.generation, Position: p.position, Challenge: p.challenge})
	if err := p.conn.Write(hello.Bytes()); err != nil {
		p.fail(err)
		return
	}
	for _, l := range p.listens {
		if !l.retry.linked() {
			l.begin()
		}
	}
	p.write()
}

// write passes the buffer to the connection.
func (p *peer) write() {
	if p.state < greeted || p.full || p.out.Len() == 0 {
		return
	}
	switch err := p.conn.Write(p.out.Bytes()); {
	case err == nil:
		p.t.counts.Writes++
		p.t.counts.BytesWritten += uint64(p.out.Len())
		p.written = p.last
		p.out.Reset(outKeep)
	case errors.Is(err, env.ErrFull):
		p.full = true
	default:
		p.fail(err)
	}
}

// watch monitors the connection as long as any call or subscription waits.
func (p *peer) watch() {
	if p.beat.linked() || p.state == down {
		return
	}
	now := p.t.opt.Env.Clock.Now()
	p.heard = max(p.heard, now)
	p.t.wheel.add(&p.beat, now.Add(p.t.opt.PingAfter))
}

// check is the periodic check of watch.
func (p *peer) check() {
	if p.state == down || len(p.calls) == 0 && len(p.listens) == 0 {
		return
	}
	now := p.t.opt.Env.Clock.Now()
	silent := now.Sub(p.heard)
	if silent >= p.t.opt.DeadAfter && p.state != dialling { // the network bounds a dial
		p.fail(fmt.Errorf("nothing heard for %v", silent))
		return
	}
	if silent >= p.t.opt.PingAfter && p.state == welcomed {
		p.pings++
		p.out.Ping(p.pings)
		p.t.touch(p)
	}
	p.t.wheel.add(&p.beat, now.Add(p.t.opt.PingAfter))
}

// fail ends the connection and waits before the next dial.
func (p *peer) fail(err error) {
	if p.state == down {
		return
	}
	p.trouble = err.Error()
	now := p.t.opt.Env.Clock.Now()
	if p.state == welcomed && now.Sub(p.since) >= p.t.opt.BackoffMax {
		p.backoff.Reset() // a server that welcomes and hangs up is not dialled all the time
	}
	p.t.wheel.remove(&p.redial)
	p.t.wheel.add(&p.redial, now.Add(p.backoff.Next(p.t.random)))
	p.end()
}

// drop ends the connection permanently.
func (p *peer) drop() {
	p.t.wheel.remove(&p.redial)
	p.end()
}

// end ends the connection and notifies what waits.
func (p *peer) end() {
	if p.state != down {
		p.t.counts.Drops++
		p.conn.Close()
	}
	p.t.wheel.remove(&p.beat)
	p.state, p.link, p.conn, p.full = down, nil, nil, false
	p.out.Reset(outKeep)
	clear(p.notes)
	listens := append([]*listening(nil), p.listens...)
	p.loseAll(wor.ErrClosed)
	p.written = p.last
	for _, l := range listens {
		l.lost()
	}
}

// rested dials again if there is a subscription.
func (p *peer) rested() {
	if p.state == down && len(p.listens) > 0 {
		p.dial()
	}
}

// take handles a frame from the server.
func (p *peer) take(e *event) {
	switch e.frame {
	case wire.TypeReply:
		p.see(p.generation, e.token)
		c := p.calls[e.id]
		if c == nil {
			return // its time was over
		}
		if c.answer == nil {
			p.fail(fmt.Errorf("a reply frame for an invocation"))
			return
		}
		answer, _ := p.leave(c)
		p.t.counts.Answers++
		answer(e.reply)
	case wire.TypeAnswer:
		c := p.calls[e.id]
		if c == nil {
			return
		}
		if c.done == nil {
			p.fail(fmt.Errorf("an answer frame for a request"))
			return
		}
		_, done := p.leave(c)
		if err := answered(e.code, e.payload); err != nil {
			done(nil, err)
		} else {
			done(e.payload, nil)
		}
	case wire.TypeNote:
		if l := p.notes[e.id]; l != nil {
			l.take(e.note)
		}
	case wire.TypePing:
		p.out.Pong(e.token)
		p.t.touch(p)
	case wire.TypePong:
	case wire.TypeWelcome:
		p.welcome(&e.welcome)
	default:
		p.fail(fmt.Errorf("a %v frame from a server", e.frame))
	}
}

func (p *peer) welcome(w *wire.Welcome) {
	switch {
	case w.Refusal != wire.RefusalNone:
		p.restored = w.Refusal == wire.RefusalRestored
		p.fail(fmt.Errorf("refused: %v: %.200q", w.Refusal, w.Text))
		p.t.restored()
	case w.Cluster != p.t.opt.Cluster:
		p.fail(fmt.Errorf("it belongs to cluster %016x", w.Cluster))
	case w.Server != p.key.id:
		p.fail(fmt.Errorf("it is server %v", w.Server))
	case !p.proven(w):
		p.fail(fmt.Errorf("the process at %s does not prove that it is server %v", p.key.addr, p.key.id))
	case w.Generation < p.generation:
		p.fail(fmt.Errorf("it is at generation %d, but was at generation %d before", w.Generation, p.generation))
	default:
		p.t.counts.Welcomes++
		p.state, p.trouble, p.restored, p.since = welcomed, "", false, p.t.opt.Env.Clock.Now()
		p.see(w.Generation, w.Position)
	}
}

// proven reports whether the welcome is the server's own, and for this
// connection.
func (p *peer) proven(w *wire.Welcome) bool {
	from, _, err := signed(welcomePurpose, p.t.opt.Cluster, append(welcomeText(&p.challenge, w), w.Proof...))
	return err == nil && from == p.key.id
}
