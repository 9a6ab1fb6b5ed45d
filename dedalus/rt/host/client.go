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
		k = h.newClient(hello.From)
	}
	var counts Counts
	defer h.count(&counts)
	k.mu.Lock()
	if k.stranger {
		k.stranger = false
		h.strangers--
	}
	h.clientsMu.Unlock()
	defer k.mu.Unlock()
	k.out.Max = h.opt.ClientQueueMax
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
	k.in, k.conn, k.full, k.window = c, c.conn, false, int(min(hello.Window, 1<<30))
	k.flush(&counts)
	return nil
}

func (h *Host) newClient(name string) *client {
	k := &client{h: h, name: name, source: &source{node: name, client: true}}
	h.clients[name] = k
	return k
}

// strangerQueueMax is how many bytes are kept for somebody who has not come yet.
const strangerQueueMax = 64 << 10

// expectClient makes room for a client that an output goes to and that has not come:
// it may be on its way here, with an answer that was faster. Nil: there is no room, or
// it would be an instance. Half of all clients may be such: whoever sends inputs can
// make names up. It is called by the step, with the clients' lock.
func (h *Host) expectClient(name string) *client {
	if name == "" || len(name) > wire.NodeMax || h.opt.instanceName(name) {
		return nil
	}
	if h.strangers >= max(h.opt.ClientsMax/2, 1) || len(h.clients) >= h.opt.ClientsMax && !h.forgetClient() {
		return nil
	}
	k := h.newClient(name)
	h.strangers++
	k.stranger, k.out.Max = true, min(strangerQueueMax, h.opt.ClientQueueMax)
	k.left = h.opt.Env.Clock.Now()
	return k
}

// forgetClient forgets the client that has left first, if any has. The clients' lock
// is held.
func (h *Host) forgetClient() bool {
	var first *client
	var left env.Instant
	for _, k := range h.clients {
		if k.held {
			continue // the step has something for it
		}
		k.mu.Lock()
		if k.in == nil && (first == nil || k.left < left || k.left == left && k.name < first.name) {
			first, left = k, k.left
		}
		k.mu.Unlock()
	}
	if first == nil {
		return false
	}
	h.remove(first)
	return true
}

// remove forgets a client. The clients' lock is held.
func (h *Host) remove(k *client) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(h.clients, k.name)
	h.outputs.Add(int64(-k.counted))
	k.counted = 0
	if k.stranger {
		h.strangers--
	}
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
			h.remove(k)
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
	k.h.weigh(&k.link)
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
