package tx

import (
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// A takeover takes as long as the machines need for it, and that may be longer than
// anybody's patience. If the others took the partition over again meanwhile, each
// time with one more segment to decide, it would go to and fro for ever, and all
// the more the slower the machines are. So whoever takes over says so, and how far
// it is, to those who ask whether it lives; they leave it alone as long as it gets
// on. A takeover that others were faster at ends as soon as it hears of that. And
// who loses a partition is the more patient with it the more often that happens,
// which ends what the rest does not.

const (
	// takeoversMax is how many takeovers that get on a server has at one time: the
	// sooner the first ones are through, and others may do the rest.
	takeoversMax = 4
	// asksMax is how many questions to one server may wait for their answers, and
	// askFor, in FailAfters, how long each does: late answers are answers, too.
	asksMax, askFor = 8, 8
	// strikesMax bounds how often the patience doubles. A strike is forgotten after
	// strikeFor FailAfters.
	strikesMax, strikeFor = 5, 16
	// slowMax bounds, in FailAfters, how long answers are expected to take.
	slowMax = 8
)

// watch is what a server knows about the others' lives.
type watch struct {
	k *KV
	// asks counts the questions to each server that have no answer yet, gone is
	// when it said last that it leaves.
	asks []int
	gone []env.Instant
	// took is about the longest that an answer took lately.
	took time.Duration
	// Of each partition: heard is when it was last known to be in somebody's
	// hands, progress what its takeover had come to then.
	heard    []env.Instant
	progress []mark
	strikes  []strike
}

// mark is how far somebody's takeover is.
type mark struct {
	by   wor.ServerID
	last uint64 // the segment that it is for
	at   uint64
}

// strike counts how often a partition was lost to another server.
type strike struct {
	n    int
	last env.Instant
}

func (w *watch) init(k *KV) {
	n := k.opt.Engine.RMs
	*w = watch{k: k, asks: make([]int, len(k.opt.Servers)), gone: make([]env.Instant, len(k.opt.Servers)),
		heard: make([]env.Instant, n), progress: make([]mark, n), strikes: make([]strike, n)}
}

// ask asks the other servers what they own, and what they are taking over.
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
				if w.gone[i] == 0 || began > w.gone[i] { // it may have said so before it left
					w.learn(to, s)
				}
			}
		})
	}
}

// learn takes a server's answer.
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

// alive says that a partition is, or may well be, in somebody's hands.
func (w *watch) alive(rm RM) { w.heard[rm] = w.k.now() }

// lost is told that another server has a partition that this one had, or was taking
// over.
func (w *watch) lost(rm RM) {
	s := &w.strikes[rm]
	s.n, s.last = min(s.standing(w.k.now(), w.k.opt.FailAfter)+1, strikesMax), w.k.now()
	w.alive(rm)
}

// standing is how many strikes count still.
func (s *strike) standing(now env.Instant, failAfter time.Duration) int {
	return max(0, s.n-int(now.Sub(s.last)/(strikeFor*failAfter)))
}

// abandoned says that a partition has been in nobody's hands for so long that this
// server is to take it.
func (w *watch) abandoned(rm RM) bool {
	return w.k.now().Sub(w.heard[rm]) > w.patience(rm)
}

// patience is how long a partition may be without an owner before this server takes
// it: the servers take turns, so that one of them is enough. Where answers take
// long, or the partition has gone to and fro, it is longer.
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

// turn is how many servers come before that one.
func (w *watch) turn(rm RM, id wor.ServerID) int {
	n := len(w.k.opt.Servers)
	return (w.server(id) - int(rm)%n + n) % n
}

// server is the place of a server among all, or -1.
func (w *watch) server(id wor.ServerID) int {
	return slices.IndexFunc(w.k.opt.Servers, func(m wor.Member) bool { return m.ID == id })
}

// leave is told that a server leaves: those that it has are abandoned. The first of
// the others whose turn it is takes them at once, the next one if that is not seen
// to do so.
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
