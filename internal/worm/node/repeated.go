// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Any peer that has received a member's report can send it again, on many
// connections, and would have a signature verified and one made for each. So a
// server keeps the last report of each member with the verdict on it, and
// answers the same report with that. Other reports that bring nothing new, such as
// old ones that are sent again, are limited for each life of each member. Only
// reports that the member has really signed count, so no stranger can suppress the
// report of a life: a server whose disk was put back must learn that.

// repeated is the last report of a member.
type repeated struct {
	payload, verdict []byte
	stale            map[uint64]*bucket // for each life, reports that bring nothing new
}

// staleLives bounds the lives of a member for which such reports are counted.
const staleLives = 16

// repeat returns the verdict on a member's report if it is the last one again,
// and otherwise whether the report is to be refused for now.
func (w *witness) repeat(from wor.ServerID, payload []byte, now env.Instant) (verdict []byte, refuse bool) {
	last := w.last[from]
	if last == nil {
		return nil, false
	}
	if bytes.Equal(last.payload, payload) {
		return last.verdict, false
	}
	r, err := decodeReport(payload[:len(payload)-proofLen]) // not verified: it may only be refused
	if seen := w.seen[from]; err != nil || r.replaces(seen) || r.continues(seen) {
		return nil, false
	}
	b := last.stale[r.now.life]
	return nil, b != nil && !b.has(now, reportEvery, reportBurst)
}

// answered keeps a report that a member has signed, and the verdict on it.
func (w *witness) answered(from wor.ServerID, r report, fresh bool, payload, verdict []byte) {
	for id := range w.last {
		if !w.s.registers.isPeer(id) {
			delete(w.last, id)
		}
	}
	last := w.last[from]
	if last == nil {
		last = &repeated{stale: map[uint64]*bucket{}}
		w.last[from] = last
	}
	last.payload, last.verdict = bytes.Clone(payload), verdict
	if fresh {
		return
	}
	b := last.stale[r.now.life]
	if b == nil {
		for life := range last.stale { // removing any entry makes room
			if len(last.stale) < staleLives {
				break
			}
			delete(last.stale, life)
		}
		b = &bucket{}
		last.stale[r.now.life] = b
	}
	b.take(w.s.opt.Env.Clock.Now(), reportEvery, reportBurst)
}
