// SPDX-License-Identifier: Apache-2.0

package node

import (
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// ask is a peer to which this server reports its position. Until the peer has
// written this life down, the server repeats the report, even while an earlier
// one is unanswered: that one may be waiting for a dial that the peer never
// answers.
type ask struct {
	member   wor.Member
	waiting  int           // reports that are not answered
	again    env.Instant   // when to ask again, though such a report waits
	patience time.Duration // how old a dial may become
	knows    sighting      // its sighting of an earlier life, which is in this server's past
	sure     bool          // it has written this life down
	told     uint64        // position
	heard    env.Instant   // when it last reported something new of itself
}

// patienceMax bounds the patience with a dial. After that time the network
// gives up the dial itself.
const patienceMax = 5 * time.Second

// hurry makes the server ask at once the peers that have not written this life
// down, or one of them. It dials a new connection if there is none.
func (w *witness) hurry(such func(a *ask) bool) {
	s := w.s
	now := s.opt.Env.Clock.Now()
	for _, a := range w.asks {
		if !a.sure && such(a) {
			a.again, a.patience = now, s.retryMax()
			s.wheel.remove(&w.tell)
			s.wheel.add(&w.tell, now)
		}
	}
}

// returned handles a peer that has reported something new about itself. If the peer
// was silent before, the server asks it at once, because it is reachable now. If the
// peer reports all the time, the server does not interrupt a running dial.
func (w *witness) returned(from wor.ServerID, now env.Instant) {
	for _, a := range w.asks {
		if a.member.ID != from {
			continue
		}
		if a.heard == 0 || now.Sub(a.heard) > 2*w.s.opt.TellEvery {
			w.hurry(func(b *ask) bool { return a == b })
		}
		a.heard = now
	}
}

// Waits between attempts to reach peers that have not answered yet.
const askMin = 20 * time.Millisecond

// retryMax bounds the wait between two attempts to reach a peer that has not
// answered, so that in WitnessWait each is tried several times.
func (s *Server) retryMax() time.Duration { return max(s.opt.WitnessWait/4, askMin) }
