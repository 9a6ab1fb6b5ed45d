// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"syscall"

	"github.com/ashlar-dev/ashlar/env"
)

// packets is a life's Packets.
type packets Life

var _ env.Packets = (*packets)(nil)

type port struct {
	life    *Life
	addr    env.Addr
	receive func(from env.Addr, b []byte)
}

// Bind implements env.Packets. The host must be the node's name or empty.
func (s *packets) Bind(asked env.Addr, receive func(from env.Addr, b []byte)) (env.Port, error) {
	l := (*Life)(s)
	if l.dead {
		return nil, fmt.Errorf("bind %s: %w", asked, env.ErrClosed)
	}
	addr, err := l.node.here(asked)
	if err != nil {
		return nil, err
	}
	if l.node.bound[addr] != nil {
		return nil, fmt.Errorf("bind %s: %w", addr, syscall.EADDRINUSE)
	}
	p := &port{l, addr, receive}
	l.node.bound[addr] = p
	return p, nil
}

// Addr implements Port.
func (p *port) Addr() env.Addr { return p.addr }

// Close implements Port.
func (p *port) Close() error {
	if n := p.life.node; n.bound[p.addr] == p {
		delete(n.bound, p.addr)
	}
	return nil
}

// Send implements Port.
func (p *port) Send(to env.Addr, b []byte) error {
	l := p.life
	w := l.node.w
	if len(b) > env.PacketMax {
		return fmt.Errorf("send %s: %d bytes: %w", to, len(b), env.ErrTooLong)
	}
	if l.dead || l.node.bound[p.addr] != p {
		return env.ErrClosed
	}
	name, _ := host(to)
	n := w.named[name]
	if n == nil {
		return nil // as lost as any other
	}
	way := w.link(l.node, n)
	if way.from != way.to && w.strikes(Drop, l.node) {
		return nil
	}
	k := &packet{w, n, p.addr, to, append([]byte(nil), b...)}
	k.send(way, l.now())
	if way.from != way.to && w.strikes(Duplicate, l.node) {
		twin := *k
		twin.send(way, l.now())
	}
	return nil
}

type packet struct {
	w        *World
	node     *Node
	from, to env.Addr
	b        []byte
}

func (k *packet) send(way *link, depart env.Instant) {
	due := k.w.transit(way, depart)
	if way.from != way.to && k.w.strikes(Reorder, way.from) {
		due = due.Add(between(k.w.chance[Reorder], 0, 10*k.w.opt.LatencyMax))
	}
	k.w.at(due, nil, &arrival{k, way})
}

// arrival is a packet that has reached the machine; the program receives it
// when it runs.
type arrival struct {
	k   *packet
	way *link
}

func (a *arrival) idle() bool { return a.way.blocked > 0 || a.k.node.bound[a.k.to] == nil }

func (a *arrival) happen() {
	w := a.k.w
	p := a.k.node.bound[a.k.to]
	if p.life.busy > w.now {
		w.at(p.life.busy, p.life, &taken{a.k, p})
		return
	}
	w.running = p.life
	(&taken{a.k, p}).happen()
}

// taken is a packet being delivered to the program.
type taken struct {
	k *packet
	p *port
}

func (t *taken) idle() bool { return t.k.node.bound[t.k.to] != t.p }

func (t *taken) happen() {
	t.k.w.note(evPacket, t.k.node, uint64(len(t.k.b)), digest(t.k.b), string(t.k.from))
	t.p.receive(t.k.from, t.k.b)
}
