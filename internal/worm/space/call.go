// SPDX-License-Identifier: Apache-2.0

package space

import (
	"errors"
	"math/bits"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// call runs wor.Machines for one task on the servers of a partition: it sends
// their requests, delivers the answers, repeats unanswered requests, and when
// the epoch ends makes the machine anew in the next one, unless the task
// belongs to its epoch. It ends with one call of its owner's answered, or with
// stop.
type call struct {
	s     *Space
	owner caller
	task

	m       wor.Machine
	cfg     *wor.Config // what m was made for
	number  uint32      // of the machine; answers to an earlier one are dropped
	tries   int
	got     int64  // bytes in answers to the machine
	refused uint16 // servers that answered StatusLimit
	began   bool   // servers of an earlier epoch were asked
	limit   string // the limit that they named
	live    bool
	waits   bool // for the next configuration
	alarm   alarm
}

// task is the work of a call.
type task struct {
	kind      wor.Kind // capture, write, read or trim
	partition wor.Partition
	protocol  wor.Protocol
	r         wor.Range
	ballot    wor.Ballot
	value     []byte
	// pinned tasks are valid only in that epoch.
	pinned bool
	epoch  wor.Epoch
	// fixed, if not nil, is the configuration to ask regardless of newer ones:
	// that of the witnesses of partition 0.
	fixed *wor.Config
	until env.Instant // when the answer becomes useless; 0: never
}

// caller is notified when a call is over. With a nil error the result is in
// c.m; the caller may retain it.
type caller interface{ answered(c *call, err error) }

// errMoved reports that a pinned or fixed task can no longer be done, because
// its epoch is over.
var errMoved = errors.New("the epoch has ended")

// run starts the call. It does not notify the owner before it returns.
func (c *call) run(s *Space, owner caller, t task) {
	c.s, c.owner, c.task = s, owner, t
	c.tries, c.got, c.refused, c.live, c.waits, c.began = 0, 0, 0, true, false, false
	c.start()
}

// start makes a machine for the newest known configuration.
func (c *call) start() {
	s := c.s
	c.cfg = c.fixed
	if c.cfg == nil {
		c.cfg = s.views[c.partition].cfg
	}
	c.number++
	c.refused, c.got = 0, 0
	if c.pinned && c.epoch != c.cfg.Epoch {
		// The newer configuration was learned meanwhile, or is not known yet.
		number := c.number
		s.later(func() {
			if c.live && c.number == number {
				c.moved()
			}
		})
		return
	}
	c.m = s.machine(&c.task, len(c.cfg.Members))
	c.m.Start(&s.out)
	c.flush()
	c.rest()
}

// moved leaves the configuration.
func (c *call) moved() {
	s := c.s
	c.number++
	c.began = true
	s.agenda.drop(&c.alarm)
	s.views[c.partition].refused = s.clock.Now()
	if c.pinned && c.epoch > c.cfg.Epoch {
		// A token from a client that is ahead.
		s.hint(c.partition, c.epoch)
		s.await(c)
		return
	}
	if c.pinned || c.fixed != nil {
		if c.fixed == nil {
			s.learn(c.partition)
		}
		c.finish(errMoved)
		return
	}
	s.await(c)
}

// rest sets the time to wait for answers.
func (c *call) rest() {
	d := c.s.resend(&c.s.views[c.partition].latencies, c.tries)
	c.s.agenda.set(&c.alarm, c.s.clock.Now().Add(d), c)
}

// ring runs when the answers did not arrive in time.
func (c *call) ring(*alarm) {
	c.tries++
	if c.s.views[c.partition].cfg.Epoch > c.cfg.Epoch {
		c.moved()
		return
	}
	if c.fixed == nil && c.tries >= learnTries {
		// The servers that could report the end of the epoch may be gone.
		c.s.learn(c.partition)
	}
	if c.tries%anewTries == 0 {
		// The machine may wait for servers that will never answer. Asking all
		// of them again does no harm.
		c.start()
		return
	}
	c.m.Expire(&c.s.out)
	c.flush()
	c.rest()
	c.look()
}

// anewTries is the number of attempts after which the machine is made anew.
const anewTries = 6

// learnTries is the number of attempts after which a call asks for a later
// epoch.
const learnTries = 3

// flush sends the requests in the box.
func (c *call) flush() {
	s, out := c.s, &c.s.out
	if len(out.To) == 0 {
		return
	}
	now, step := s.clock.Now(), c.m.Step()
	within := max(4*s.resend(&s.views[c.partition].latencies, c.tries), callMin)
	if c.until != 0 {
		within = min(within, max(c.until.Sub(now), time.Microsecond))
	}
	for i, to := range out.To {
		q := out.Requests[i]
		q.Partition, q.Epoch, q.Protocol = c.partition, c.cfg.Epoch, c.protocol
		sl := s.slot()
		sl.c, sl.number, sl.to, sl.step, sl.sent = c, c.number, to, step, now
		s.transport.Call(c.cfg.Members[to], q, within, sl.answer)
	}
	out.Reset()
}

// callMin is the shortest time limit of a request: a late answer is still
// useful.
const callMin = 250 * time.Millisecond

// slot is a request that was sent. Slots are reused, because each holds a
// closure.
type slot struct {
	c      *call
	number uint32
	to     int
	step   uint32
	sent   env.Instant
	answer func(*wor.Reply)
	next   *slot
}

func (s *Space) slot() *slot {
	sl := s.slots
	if sl == nil {
		sl = &slot{}
		sl.answer = func(r *wor.Reply) { s.answered(sl, r) }
		return sl
	}
	s.slots, sl.next = sl.next, nil
	return sl
}

// answered delivers an answer to the machine that asked.
func (s *Space) answered(sl *slot, r *wor.Reply) {
	c, to, step, sent := sl.c, sl.to, sl.step, sl.sent
	current := c.live && !c.waits && c.number == sl.number
	sl.c, sl.next, s.slots = nil, s.slots, sl
	if r == nil || s.closed {
		return
	}
	s.views[c.partition].latencies.add(s.clock.Now().Sub(sent))
	if !current {
		return
	}
	if r.Status != wor.StatusOK || r.Epoch > c.cfg.Epoch {
		c.heed(to, r)
	}
	for i := range r.Runs {
		c.got += int64(len(r.Runs[i].Value))
	}
	c.m.Deliver(to, step, r, &s.out)
	c.flush()
	c.look()
}

// heed records the information in an answer's status that the machine does not
// see.
func (c *call) heed(to int, r *wor.Reply) {
	switch r.Status {
	case wor.StatusOK: // from a witness that is in a later epoch
		c.s.hint(c.partition, r.Epoch)
		c.s.suggest(c.partition, r.Value)
	case wor.StatusSealed, wor.StatusStale, wor.StatusForeign:
		if r.Epoch > c.cfg.Epoch {
			c.s.hint(c.partition, r.Epoch)
			c.s.suggest(c.partition, r.Value)
			// Also for a call to witnesses: too few of them may be left to
			// answer, and the learner has another way.
			c.s.learn(c.partition)
		}
	case wor.StatusAhead, wor.StatusMute:
		if c.fixed == nil {
			c.s.nudge(c.cfg, to)
		}
	case wor.StatusLimit:
		c.refused |= 1 << to
		c.limit = string(r.Value[:min(len(r.Value), limitTextMax)])
	}
}

// limitTextMax bounds the name of a limit that a server sends, in bytes.
const limitTextMax = 200

// look checks whether the machine is done.
func (c *call) look() {
	n := len(c.cfg.Members)
	switch {
	case c.m.Done():
		c.finish(nil)
	case c.m.Moved() != wor.StatusOK && c.m.Moved() != wor.StatusLimit:
		c.moved()
	case c.got > c.s.o.ResultMax:
		c.finish(&wor.LimitError{Name: "Options.ResultMax", Limit: c.s.o.ResultMax, Got: c.got})
	case c.m.Moved() != wor.StatusOK || bits.OnesCount16(c.refused) > c.spare(n):
		c.finish(&refusedError{wor.LimitError{Name: c.limit}, c.tries == 0 && !c.began && c.all(n)})
	}
}

// spare is the number of servers, of n, that the task can do without.
func (c *call) spare(n int) int {
	if c.protocol == wor.Chain {
		return 0 // it asks no other server
	}
	return n - wor.Majority(n)
}

// all reports whether all servers that were asked have refused. For a single register on
// a chain, only the head is asked, because captures and writes begin there.
func (c *call) all(n int) bool {
	return bits.OnesCount16(c.refused) == n || c.protocol == wor.Chain && c.refused == 1 && c.r.Len() == 1
}

// refusedError is a limit of servers. Whole: none of them did anything.
type refusedError struct {
	limit wor.LimitError
	whole bool
}

func (e *refusedError) Error() string { return "refused by servers: " + e.limit.Name }

// Unwrap returns the limit.
func (e *refusedError) Unwrap() error { return &e.limit }

// finish ends the call and notifies the owner.
func (c *call) finish(err error) {
	if c.live {
		c.stop()
		c.owner.answered(c, err)
	}
}

// stop ends the call without notice.
func (c *call) stop() {
	if c.live {
		c.live = false
		c.number++
		c.s.agenda.drop(&c.alarm)
	}
}

// machine returns the machine of a task.
func (s *Space) machine(t *task, n int) wor.Machine {
	client := s.clients[t.protocol]
	switch t.kind {
	case wor.KindCapture:
		return client.Capture(n, t.r, t.ballot)
	case wor.KindWrite:
		return client.Write(n, t.r, t.ballot, t.value)
	case wor.KindRead:
		return client.Read(n, t.r)
	}
	return client.Trim(n, t.r.Segment)
}
