// SPDX-License-Identifier: Apache-2.0

package host

import (
	"github.com/ashlar-dev/ashlar/env"
)

// beatLater schedules the periodic check of connections and clients.
func (h *Host) beatLater() {
	h.opt.Env.Clock.After(h.opt.PingAfter/2, env.WakeFunc(func() {
		now := h.opt.Env.Clock.Now()
		h.clients.forget(now)
		h.door.Look(now)
		if !h.ending.closed() {
			h.beatLater()
		}
	}))
}
