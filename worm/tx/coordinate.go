// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"errors"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// The answers to a client, besides those of the engine.
const (
	answerRefused = iota + 16 // an error text follows
	answerStale               // the request is older than what its client has acknowledged
	answerFull
	answerLimit
	answerLate // not done within its time limit
)

// call is a client's request that this server coordinates.
type call struct {
	k        *KV
	q        *Request
	parts    []part
	answer   func([]byte)
	began    env.Instant
	deadline env.Instant
	restarts int
	ended    bool
}

// CallsMax is the number of requests that a server coordinates at one time.
const CallsMax = 1 << 16

// withinDefault bounds a request that has no bound.
const withinDefault = 5 * time.Second

// HandleKV is the wor.Handler of wor.ServiceKV.
func (k *KV) HandleKV(b []byte, answer func([]byte)) {
	if k.stopped {
		answer(nil) // an empty answer makes the client ask elsewhere
		return
	}
	q := &Request{}
	if err := q.decode(b); err != nil {
		answer(append([]byte{answerRefused}, err.Error()...))
		return
	}
	within := time.Duration(min(q.Within, 1<<20)) * time.Millisecond
	if within == 0 {
		within = withinDefault
	}
	c := &call{k: k, q: q, parts: q.split(k.opt.Engine.RMs), answer: answer, began: k.now(), deadline: k.now().Add(within)}
	if k.calls >= CallsMax {
		answer([]byte{answerBusy})
		return
	}
	k.calls++
	if len(c.parts) > SlotsMax {
		c.end([]byte{answerLimit})
		return
	}
	c.run()
}

func (c *call) end(b []byte) {
	if !c.ended {
		c.ended = true
		c.k.calls--
		c.answer(b)
	}
}

// run begins an attempt.
func (c *call) run() {
	k := c.k
	if c.ended || k.stopped {
		return
	}
	home := c.parts[0].rm
	s := k.shards[home]
	if s == nil || !s.open {
		c.end(k.engine.notOwner(home))
		return
	}
	if k.now() > c.deadline {
		c.end([]byte{answerLate})
		return
	}
	if c.q.ReadOnly() && len(c.q.Conds) == 0 && c.restarts < lockAfter {
		c.read()
		return
	}
	if len(c.parts) == 1 && !c.fresh(s) || !c.free(s) {
		return
	}
	parts := make([]Part, len(c.parts))
	for i := range c.parts {
		parts[i] = Part{c.parts[i].rm, c.q.encodePart(&c.parts[i])}
	}
	k.engine.Start(parts, c.outcome)
}

// fresh checks whether a request to one partition is new. The owner can decide this
// without a vote.
func (c *call) fresh(s *shard) bool {
	if c.q.Seq == 0 {
		return true
	}
	switch s.known(c.q) {
	case reasonDuplicate:
		a := s.state.sessions.find(c.q.Client).answers[c.q.Seq]
		c.finish([][]byte{a.brief}, a.held)
		return false
	case reasonStale:
		c.end([]byte{answerStale})
		return false
	}
	return true
}

// free checks whether the keys of the first partition are free. The call may
// wait for a lock here, because it holds none and has begun nothing.
func (c *call) free(s *shard) bool {
	key, blocked := s.locks.blocked(keysOf(&Request{Conds: c.parts[0].conds, Ops: c.parts[0].ops}))
	if blocked && !s.locks.wait(key, c.run) {
		c.restart()
	}
	return !blocked
}

// outcome handles the outcome of an attempt.
func (c *call) outcome(_ Tx, o *Outcome, err error) {
	switch {
	case c.k.stopped:
	case errors.Is(err, wor.ErrLimit):
		c.end([]byte{answerLimit})
	case err != nil || o.Unknown:
		c.restart()
	case o.Commit:
		c.k.took(c.k.now().Sub(c.began))
		c.finish(o.Briefs, allHeld(o.Briefs))
	default:
		c.aborted(o)
	}
}

// aborted picks the most informative reason.
func (c *call) aborted(o *Outcome) {
	has := func(reason string) bool {
		return slices.ContainsFunc(o.Briefs, func(b []byte) bool { return string(b) == reason })
	}
	switch {
	case has(reasonStale):
		c.end([]byte{answerStale})
	case has(reasonDuplicate):
		c.gather()
	case has(ReasonLimit):
		c.end([]byte{answerLimit})
	case has(reasonFull):
		c.end([]byte{answerFull})
	default:
		c.restart()
	}
}

// finish answers with the results of the parts.
func (c *call) finish(briefs [][]byte, held bool) {
	r := &Result{}
	if held {
		var ok bool
		if r, ok = join(c.parts, briefs, len(c.q.Ops)); !ok {
			c.end(append([]byte{answerRefused}, "invalid results"...))
			return
		}
	}
	e := encoder{[]byte{answerOK}}
	e.bool(r.Held)
	encodeResults(&e, r.Ops)
	c.end(e.b)
}

// restart tries again after about the duration of a transaction. The wait grows
// with the number of restarts.
func (c *call) restart() {
	k := c.k
	c.restarts++
	d := k.mean << min(c.restarts/2, 5)
	d = d/2 + time.Duration(env.IntN(k.random, int(d)+1))
	if k.now().Add(d) > c.deadline {
		c.end([]byte{answerLate})
		return
	}
	k.engine.after(d, c.run)
}

// took updates the mean duration of transactions; the newest has a weight of
// one eighth.
func (k *KV) took(d time.Duration) {
	d = min(d, k.opt.Engine.ResolveAfter)
	k.mean += (d - k.mean) / 8
	k.mean = max(k.mean, 50*time.Microsecond)
}

// gather collects the earlier answers of all partitions to a request that one
// of them has already performed.
func (c *call) gather() {
	k := c.k
	briefs := make([][]byte, len(c.parts))
	left, held, missing := len(c.parts), true, false
	for i := range c.parts {
		k.askSession(c.parts[i].rm, c.q, func(a answered, ok bool) {
			briefs[i] = a.brief
			held = held && a.held
			missing = missing || !ok
			if left--; left > 0 {
				return
			}
			if missing {
				c.restart() // a partition has not learned the outcome yet
				return
			}
			c.finish(briefs, held)
		})
	}
}
