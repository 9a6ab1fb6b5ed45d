package host

import (
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// refusalWithin is how long somebody who is refused has to read why.
func refusalWithin(h *Host) time.Duration { return min(h.opt.PingAfter, time.Second) }

// beatLater looks after connections and clients, again and again.
func (h *Host) beatLater() {
	h.opt.Env.Clock.After(h.opt.PingAfter/2, env.WakeFunc(func() {
		now := h.opt.Env.Clock.Now()
		for _, p := range h.order {
			p.look(now)
		}
		h.forgetClients(now)
		h.mu.Lock()
		for _, c := range h.conns {
			// Who dials asks whether it is heard, so that it is heard.
			silent := now.Sub(env.Instant(c.heard.Load()))
			begun := c.begun.Load()
			if c.nobody != nil && now.Sub(c.since) > h.opt.HelloWithin || silent > 2*h.opt.DeadAfter ||
				begun != 0 && now.Sub(env.Instant(begun)) > h.opt.FrameWithin {
				c.over.Store(true)
				c.conn.Close()
			}
		}
		closed := h.closed
		h.mu.Unlock()
		if !closed {
			h.beatLater()
		}
	}))
}
