// SPDX-License-Identifier: Apache-2.0

package host

import (
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
)

// client is a node outside the deployment. The inbox's lock guards the source,
// the lane's lock everything else.
type client struct {
	lane
	h      *Host
	name   string
	source *source
	in     *inconn // its connection, or nil
	left   env.Instant
}

// meetClient admits the connection of a client, if the client may use its name.
func (c *inconn) meetClient() error {
	h, hello := c.h, &c.hello
	k, err := h.clients.meet(c.session.Peer().Node)
	if err != nil {
		return err
	}
	var counts Counts
	defer h.count(&counts)
	defer k.mu.Unlock()
	k.out.Max = h.opt.ClientQueueMax
	seen := hello.Last
	if hello.Seen != h.life {
		seen = 0
	}
	if err := k.out.Resume(seen); err != nil {
		return err
	}
	if h.ending.drains() {
		return &link.Refusal{Code: link.RefusalClosing, Text: "the server is shutting down"}
	}
	if anew := h.inbox.meetClient(c, k.source); anew {
		h.resends.want(k.name)
	}
	c.session.Welcome(wire.AppendWelcome(nil, &wire.Welcome{Last: c.last, Window: uint32(h.opt.ClientWindow)}))
	c.client = k
	k.in, k.conn, k.full, k.window = c, c.session, false, int(min(hello.Window, 1<<30))
	k.flush(&counts)
	return nil
}

func (k *client) ack(c *inconn, seq uint64) error {
	var counts Counts
	k.mu.Lock()
	if k.in != c {
		k.mu.Unlock()
		return nil
	}
	resend, err := k.acked(seq, &counts)
	k.h.weigh(&k.lane)
	k.mu.Unlock()
	k.h.count(&counts)
	if resend {
		k.h.resends.want(k.name)
	}
	return err
}

// resume resumes writing after the connection was full.
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

// leave records that the client has disconnected.
func (k *client) leave(c *inconn) {
	now := k.h.opt.Env.Clock.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.in == c {
		k.in, k.conn, k.full = nil, nil, false
		k.left = now
	}
}
