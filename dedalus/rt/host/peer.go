// SPDX-License-Identifier: Apache-2.0

package host

import (
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
)

// peer is the lane to another instance. The host dials the instance when there
// is first something to send, and from then on whenever the connection is lost.
// The lane's lock guards all of it. It is the link.ClientOwner of its client.
type peer struct {
	lane
	h       *Host
	node    string
	addr    env.Addr
	opt     link.Options
	client  *link.Client // nil until there was something to send
	stopped bool
	life    uint64 // that was met last; 0: none
	trouble string
}

func newPeer(h *Host, node string, addr env.Addr, random env.Random) *peer {
	p := &peer{h: h, node: node, addr: addr, opt: h.link}
	p.opt.Lock, p.opt.Env.Random = &p.mu, random
	p.out.Max = h.opt.QueueMax
	p.peer = p
	return p
}

// dial starts to connect, unless it was called before. The lock is held.
func (p *peer) dial() {
	if p.client == nil && !p.stopped {
		p.client = link.NewClient(&p.opt, link.Target{Addr: p.addr, Node: p.node, Body: p.hello}, p)
	}
}

// stop closes the connection permanently. The lock is held.
func (p *peer) stop() {
	p.stopped = true
	p.conn = nil
	if p.client != nil {
		p.client.Close()
	}
}

func (p *peer) hello() []byte {
	return wire.AppendHello(nil, &wire.Hello{Role: wire.Instance, Window: uint32(p.h.opt.Window), Incarnation: p.h.incarnation.towards(p.node)})
}

// Up implements link.ClientOwner: it resumes after the last batch that the
// other side has received.
func (p *peer) Up(from *link.Hello) error {
	w, err := wire.DecodeWelcome(from.Body)
	if err != nil {
		return err
	}
	if older, err := p.h.incarnation.meet(p.node, w.Incarnation); older || err != nil {
		// An older one believes the report when it has the proof, and ends.
		p.h.incarnation.yield(err)
		return err
	}
	if err := p.out.Resume(w.Last); err != nil {
		return err
	}
	p.trouble = ""
	p.conn, p.full, p.window = p.client, false, int(min(w.Window, 1<<30))
	if p.life != 0 && p.life != from.Life {
		p.h.mark("dedalus/host peer started anew")
		p.h.resends.want(p.node)
	}
	p.life = from.Life
	p.write(&Counts{Connected: 1})
	return nil
}

// write flushes the lane and updates the counts.
func (p *peer) write(counts *Counts) {
	p.flush(counts)
	p.h.weigh(&p.lane)
	p.h.count(counts)
}

// Frame implements link.ClientOwner.
func (p *peer) Frame(t link.Type, payload []byte) error {
	if t != wire.TypeAck || p.conn == nil {
		return link.Malformed("", "unexpected %v frame from the dialled side", t)
	}
	seq, err := wire.DecodeAck(payload)
	if err != nil {
		return err
	}
	var counts Counts
	resend, err := p.acked(seq, &counts)
	if resend {
		p.h.resends.want(p.node)
	}
	p.write(&counts)
	return err
}

// Room implements link.ClientOwner.
func (p *peer) Room() {
	p.full = false
	p.write(&Counts{})
}

// Down implements link.ClientOwner.
func (p *peer) Down(err error) {
	p.trouble = err.Error()
	p.conn, p.full = nil, false
	p.h.weigh(&p.lane)
}
