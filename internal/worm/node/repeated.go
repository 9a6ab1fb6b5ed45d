// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Anybody who has received a member's report can send it again, on many
// connections, and would have a signature verified and one made for each. So a
// server keeps the last report of each member with the verdict on it, and
// answers the same report with that. Other reports that bring nothing new, as
// old ones that are sent again, are limited for each member. A report of a
// later generation is always looked at, so that such a stranger does not keep
// a member that has restarted waiting.

// repeated is the last report of a member.
type repeated struct {
	payload, verdict []byte
	stale            bucket // reports that bring nothing new
}

// repeat returns the verdict on a member's report if it is the last one again,
// and otherwise whether the report is to be refused for now.
func (w *witness) repeat(from wor.ServerID, payload []byte, now env.Instant) (verdict []byte, refuse bool) {
	last, seen := w.last[from], w.seen[from]
	if last == nil || seen == (sighting{}) {
		return nil, false
	}
	if bytes.Equal(last.payload, payload) {
		return last.verdict, false
	}
	r, err := decodeReport(payload[:len(payload)-proofLen]) // not verified: it may only be refused
	if err != nil || seen.generation < r.now.generation || r.replaces(seen) || r.sameLife(seen) && seen.less(r.now.place) {
		return nil, false
	}
	return nil, !last.stale.take(now, reportEvery, reportBurst)
}

// answered keeps a report of a member and the verdict on it.
func (w *witness) answered(from wor.ServerID, payload, verdict []byte) {
	for id := range w.last {
		if !w.s.registers.isPeer(id) {
			delete(w.last, id)
		}
	}
	last := w.last[from]
	if last == nil {
		last = &repeated{}
		w.last[from] = last
	}
	last.payload, last.verdict = bytes.Clone(payload), verdict
}
