package host

import (
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
)

// client is a node from outside. Its source belongs to the Host's lock, all else to
// the link's.
type client struct {
	link
	h      *Host
	name   string
	source *source
	in     *inconn // that it is connected by, or nil
	left   env.Instant
}

// meetClient takes the connection of a client that may be called so.
func (c *inconn) meetClient() error {
	h, hello := c.h, &c.hello
	h.clientsMu.Lock()
	k := h.clients[hello.From]
	if k == nil {
		if len(h.clients) >= h.opt.ClientsMax && !h.forgetClient() {
			h.clientsMu.Unlock()
			return &wire.Refusal{Code: wire.RefusalFull, Text: "there is no room for another client"}
		}
		k = &client{h: h, name: hello.From, source: &source{node: hello.From, client: true}}
		k.link.out.Max = h.opt.ClientQueueMax
		h.clients[k.name] = k
	}
	var counts Counts
	defer h.count(&counts)
	k.mu.Lock()
	h.clientsMu.Unlock()
	defer k.mu.Unlock()
	seen := hello.Last
	if hello.Seen != h.life {
		seen = 0
	}
	if err := k.out.Resume(seen); err != nil {
		return err
	}
	h.mu.Lock()
	if h.drained {
		h.mu.Unlock()
		return &wire.Refusal{Code: wire.RefusalClosing, Text: "about to end"}
	}
	anew := k.source.life != hello.Life
	c.begin(k.source)
	c.welcome.Last = k.source.last
	if anew {
		h.wantResend(k.name)
	}
	h.mu.Unlock()
	if err := c.conn.Write(wire.AppendWelcome(nil, &c.welcome)); err != nil {
		return err
	}
	c.client = k
	k.in, k.conn, k.full, k.window = c, c.conn, false, int(hello.Window)
	k.flush(&counts)
	return nil
}

// forgetClient forgets the client that has left first, if any has. The clients' lock
// is held.
func (h *Host) forgetClient() bool {
	var first *client
	var left env.Instant
	for _, k := range h.clients {
		k.mu.Lock()
		if k.in == nil && (first == nil || k.left < left || k.left == left && k.name < first.name) {
			first, left = k, k.left
		}
		k.mu.Unlock()
	}
	if first == nil {
		return false
	}
	delete(h.clients, first.name)
	return true
}

// forgetClients forgets those that have left long ago.
func (h *Host) forgetClients(now env.Instant) {
	h.clientsMu.Lock()
	defer h.clientsMu.Unlock()
	for _, k := range h.clients {
		k.mu.Lock()
		gone := k.in == nil && now.Sub(k.left) > h.opt.ClientKeep
		k.mu.Unlock()
		if gone {
			delete(h.clients, k.name)
		}
	}
}

func (k *client) ack(c *inconn, seq uint64) error {
	var counts Counts
	k.mu.Lock()
	if k.in != c {
		k.mu.Unlock()
		return nil
	}
	resend, err := k.acked(seq, &counts)
	k.mu.Unlock()
	k.h.mu.Lock()
	defer k.h.mu.Unlock()
	k.h.counts.add(&counts)
	if resend {
		k.h.wantResend(k.name)
	}
	return err
}

// resume goes on after the connection was full.
func (k *client) resume(c *inconn) {
	var counts Counts
	k.mu.Lock()
	if k.in == c {
		k.full = false
		k.flush(&counts)
	}
	k.mu.Unlock()
	k.h.count(&counts)
}

// leave notes that the client is connected no more.
func (k *client) leave(c *inconn) {
	now := k.h.opt.Env.Clock.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.in == c {
		k.in, k.conn, k.full = nil, nil, false
		k.left = now
	}
}
