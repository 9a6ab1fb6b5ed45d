// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// A takeover takes as long as the machines need for it, which may exceed any
// fixed timeout. If the other servers took the partition over again meanwhile,
// each time with one more segment to decide, ownership would move back and
// forth forever; slower machines make that more likely. So a server that is
// taking over reports that, and its progress, to servers that ask whether it is
// alive. They leave the partition alone as long as there is progress. A
// takeover ends as soon as it learns that another server was faster. A server
// that loses a partition also waits longer each time before it takes the
// partition again, which ends any remaining oscillation.

const (
	// takeoversMax bounds the advancing takeovers of a server at one time: the
	// first ones finish sooner, and other servers may do the rest.
	takeoversMax = 4
	// asksMax bounds the unanswered questions to one server. askFor, in units
	// of FailAfter, is how long a question waits for its answer: late answers
	// count too.
	asksMax, askFor = 8, 8
	// strikesMax bounds how often the patience doubles. A strike is dropped
	// after strikeFor times FailAfter.
	strikesMax, strikeFor = 5, 16
	// slowMax bounds the expected time of answers, in units of FailAfter.
	slowMax = 8
)

// watch is what a server knows about the liveness of the others.
type watch struct {
	k *KV
	// asks counts the unanswered questions to each server; gone is when it last
	// reported that it is leaving.
	asks []int
	gone []env.Instant
	// took is about the longest recent response time.
	took time.Duration
	// For each partition, heard is the time when it was last known to have an
	// owner, and progress is the progress of its takeover then.
	heard    []env.Instant
	progress []mark
	strikes  []strike
}

// mark is the progress of a server's takeover.
type mark struct {
	by   wor.ServerID
	last uint64 // the segment that it is for
	at   uint64
}

// strike counts how often this server has lost a partition to another one.
type strike struct {
	n    int
	last env.Instant
}

func (w *watch) init(k *KV) {
	n := k.opt.Engine.RMs
	*w = watch{k: k, asks: make([]int, len(k.opt.Servers)), gone: make([]env.Instant, len(k.opt.Servers)),
		heard: make([]env.Instant, n), progress: make([]mark, n), strikes: make([]strike, n)}
}

// ask asks the other servers which RMs they own and are taking over.
func (w *watch) ask() {
	k := w.k
	for i, to := range k.opt.Servers {
		if to.ID == k.opt.Engine.Self.ID || w.asks[i] >= asksMax {
			continue
		}
		w.asks[i]++
		began := k.now()
		k.engine.Ask(to, askFor*k.opt.FailAfter, func(s *Standing, ok bool) {
			w.asks[i]--
			if ok {
				w.took = max(k.now().Sub(began), w.took-w.took/16)
				if w.gone[i] == 0 || began > w.gone[i] { // an answer may precede the notice of leaving
					w.learn(to, s)
				}
			}
		})
	}
}

// learn records a server's answer.
func (w *watch) learn(from wor.Member, s *Standing) {
	for _, rm := range s.Owned {
		if owner, _ := w.k.engine.Route(rm); owner.ID == from.ID {
			w.heard[rm] = w.k.now()
		}
	}
	for _, t := range s.Taking {
		m := mark{from.ID, t.Last, t.Progress}
		if owner, _ := w.k.engine.Route(t.RM); owner.ID == from.ID && w.progress[t.RM] != m {
			w.heard[t.RM], w.progress[t.RM] = w.k.now(), m
		}
	}
}

// alive records that a partition has an owner, or may well have one.
func (w *watch) alive(rm RM) { w.heard[rm] = w.k.now() }

// lost records that another server has taken a partition that this server owned
// or was taking over.
func (w *watch) lost(rm RM) {
	s := &w.strikes[rm]
	s.n, s.last = min(s.standing(w.k.now(), w.k.opt.FailAfter)+1, strikesMax), w.k.now()
	w.alive(rm)
}

// standing returns the number of strikes that still count.
func (s *strike) standing(now env.Instant, failAfter time.Duration) int {
	return max(0, s.n-int(now.Sub(s.last)/(strikeFor*failAfter)))
}

// abandoned reports whether a partition has been without an owner for so long
// that this server must take it.
func (w *watch) abandoned(rm RM) bool {
	return w.k.now().Sub(w.heard[rm]) > w.patience(rm)
}

// patience returns how long a partition may be without an owner before this
// server takes it. The servers take turns, so that only one acts. The patience
// is longer if answers take long, or if the partition has moved back and forth.
func (w *watch) patience(rm RM) time.Duration {
	base := w.base()
	turn := time.Duration(w.turn(rm, w.k.opt.Engine.Self.ID))
	return (base + turn*base/2) << w.strikes[rm].standing(w.k.now(), w.k.opt.FailAfter)
}

// base is the patience of the server whose turn is first.
func (w *watch) base() time.Duration {
	o := &w.k.opt
	return max(o.FailAfter, min(4*w.took, slowMax*o.FailAfter))
}

// turn returns how many servers come before the given one in the partition's
// order.
func (w *watch) turn(rm RM, id wor.ServerID) int {
	n := len(w.k.opt.Servers)
	return (w.server(id) - int(rm)%n + n) % n
}

// server is the index of a server, or -1.
func (w *watch) server(id wor.ServerID) int {
	return slices.IndexFunc(w.k.opt.Servers, func(m wor.Member) bool { return m.ID == id })
}

// leave records that a server is leaving, so that its partitions are abandoned.
// The first of the other servers in turn takes them at once; the next one takes
// them if it sees no takeover by the first.
func (w *watch) leave(id wor.ServerID) {
	i := w.server(id)
	if i < 0 {
		return
	}
	w.gone[i] = w.k.now()
	for n := range w.heard {
		rm := RM(n)
		if owner, _ := w.k.engine.Route(rm); owner.ID != id {
			continue
		}
		turn := w.turn(rm, w.k.opt.Engine.Self.ID)
		if w.turn(rm, id) < turn {
			turn--
		}
		w.heard[rm] = w.k.now().Add(time.Duration(turn)*w.base()/2 - w.patience(rm) - 1)
	}
}
