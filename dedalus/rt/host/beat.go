package host

import (
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// refusalWithin is how long the other side of a refused connection has to read why.
func refusalWithin(h *Host) time.Duration { return min(h.opt.PingAfter, time.Second) }

// beatLater schedules the periodic check of connections and clients.
func (h *Host) beatLater() {
	h.opt.Env.Clock.After(h.opt.PingAfter/2, env.WakeFunc(func() {
		now := h.opt.Env.Clock.Now()
		h.peers.look(now)
		h.clients.forget(now)
		h.conns.look(now)
		if !h.ending.closed() {
			h.beatLater()
		}
	}))
}
