// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// count passes to done the number of keys of the partition, including
// everything that was committed and acknowledged to any client before the call.
// A coordinator may acknowledge a transaction before its outcome is known here,
// so count waits for all transactions that are prepared now.
func (s *shard) count(done func(keys int, err error)) {
	waiting := slices.DeleteFunc(slices.Collect(maps.Values(s.prepared)), func(p *prepared) bool { return len(p.writes) == 0 })
	slices.SortFunc(waiting, func(a, b *prepared) int { return cmp.Compare(a.order, b.order) })
	var next func()
	next = func() {
		for len(waiting) > 0 && !s.holds(waiting[0]) {
			waiting = waiting[1:]
		}
		switch {
		case !s.open:
			done(0, ErrNoOwner)
		case len(waiting) == 0:
			keys := s.state.keys
			s.kv.engine.Confirm(s.rm, func(err error) { done(keys, err) })
		case !s.locks.wait(waiting[0].writes[0], next):
			done(0, ErrBusy)
		}
	}
	next()
}

// holds reports whether a prepared transaction has no outcome yet.
func (s *shard) holds(p *prepared) bool {
	for _, x := range s.prepared {
		if x == p {
			return true
		}
	}
	return false
}

// Counted is the result of a Count.
type Counted struct {
	// Keys is the number of keys in the Partitions that have answered. Err is
	// the reason why the other partitions have not; it is nil if all have.
	Keys       int64
	Partitions int
	Err        error
}

// Count counts the keys of the whole store. Each partition reports its number
// of keys at some moment of the call at which no other process can have owned
// the partition. After within, Count gives up on the partitions that have not
// answered, with wor.ErrDeadline. It never calls done from within Count.
func (c *Client) Count(within time.Duration, done func(Counted)) {
	left, sum := len(c.routes), Counted{}
	until := c.opt.Env.Clock.Now().Add(within)
	for rm := range c.routes {
		n := &counting{c: c, rm: RM(rm), until: until, wait: env.Backoff{Min: 2 * time.Millisecond, Max: 250 * time.Millisecond}}
		n.done = func(keys int64, err error) {
			if err == nil {
				sum.Keys += keys
				sum.Partitions++
			}
			sum.Err = cmp.Or(sum.Err, err)
			if left--; left == 0 {
				done(sum)
			}
		}
		c.later(n.ask)
	}
}

// counting is the request to one partition.
type counting struct {
	c     *Client
	rm    RM
	until env.Instant
	wait  env.Backoff
	done  func(int64, error)
}

func (n *counting) ask() {
	c := n.c
	left := n.until.Sub(c.opt.Env.Clock.Now())
	switch {
	case c.closed:
		n.done(0, wor.ErrClosed)
		return
	case left <= 0:
		n.done(0, wor.ErrDeadline)
		return
	}
	var m encoder
	m.u8(msgCount)
	m.uint(uint64(n.rm))
	asked := c.routes[n.rm].member
	c.opt.Messenger.Invoke(asked, wor.ServiceTx, m.b, min(left, tryWithin), func(b []byte, err error) { n.answered(asked, b, err) })
}

func (n *counting) answered(asked wor.Member, b []byte, err error) {
	d := &decoder{b: b}
	if err != nil || len(b) == 0 {
		n.c.silent(n.rm, asked)
	} else {
		switch d.u8() {
		case answerOK:
			if keys := d.uint(); d.done() {
				n.done(int64(keys), nil)
				return
			}
		case answerNotOwner:
			n.c.redirected(n.rm, d)
		}
	}
	n.c.opt.Env.Clock.After(n.wait.Next(n.c.random), n.c.opt.Serial.Waker(n.ask))
}
