package space

import (
	"errors"
	"math/bits"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// call runs wor.Machines for one task on the servers of a partition: it sends
// what they want sent, hands over the answers, sends again what was not answered,
// and when the epoch ends makes the machine anew in the next one, unless the task
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
	began   bool   // servers of an epoch before were asked
	limit   string // what they said
	live    bool
	waits   bool // for the next configuration
	alarm   alarm
}

// task is what a call is to do.
type task struct {
	kind      wor.Kind // capture, write, read or trim
	partition wor.Partition
	protocol  wor.Protocol
	r         wor.Range
	ballot    wor.Ballot
	value     []byte
	// pinned tasks make sense in that epoch only.
	pinned bool
	epoch  wor.Epoch
	// fixed, when not nil, is the configuration to ask, whichever is the newest:
	// that of the witnesses of partition 0.
	fixed *wor.Config
	until env.Instant // when the answer is of no use any more; 0: never
}

// caller is told that a call is over. With a nil error the result is in c.m; what
// is there may be kept.
type caller interface{ answered(c *call, err error) }

// errMoved says that a pinned or fixed task cannot be done any more: its epoch is
// over.
var errMoved = errors.New("the epoch is over")

// run starts the call. The owner is not told from within.
func (c *call) run(s *Space, owner caller, t task) {
	c.s, c.owner, c.task = s, owner, t
	c.tries, c.got, c.refused, c.live, c.waits, c.began = 0, 0, 0, true, false, false
	c.start()
}

// start makes a machine for the newest configuration that is known.
func (c *call) start() {
	s := c.s
	c.cfg = c.fixed
	if c.cfg == nil {
		c.cfg = s.views[c.partition].cfg
	}
	c.number++
	c.refused, c.got = 0, 0
	if c.pinned && c.epoch != c.cfg.Epoch {
		// Learned meanwhile, or not yet.
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

// rest waits for answers.
func (c *call) rest() {
	d := c.s.resend(&c.s.views[c.partition].latencies, c.tries)
	c.s.agenda.set(&c.alarm, c.s.clock.Now().Add(d), c)
}

// ring: they did not come.
func (c *call) ring(*alarm) {
	c.tries++
	if c.s.views[c.partition].cfg.Epoch > c.cfg.Epoch {
		c.moved()
		return
	}
	if c.fixed == nil && c.tries >= learnTries {
		// Those who could say that the epoch is over may be gone.
		c.s.learn(c.partition)
	}
	if c.tries%anewTries == 0 {
		// The machine may wait for servers that will never say more. To ask
		// all of them again harms nobody.
		c.start()
		return
	}
	c.m.Expire(&c.s.out)
	c.flush()
	c.rest()
	c.look()
}

// anewTries is after how many attempts the machine is made anew.
const anewTries = 6

// learnTries is after how many attempts a call asks whether there is a later epoch.
const learnTries = 3

// flush sends what is in the box.
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

// callMin is the least bound of time that a request is given: a late answer is
// still an answer.
const callMin = 250 * time.Millisecond

// slot is a request that was sent. Slots are used again, since each is one
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

// answered hands an answer to the machine that asked.
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

// heed notes what an answer of the whole says besides what the machine sees.
func (c *call) heed(to int, r *wor.Reply) {
	switch r.Status {
	case wor.StatusOK: // of a witness that has gone on
		c.s.hint(c.partition, r.Epoch)
		c.s.suggest(c.partition, r.Value)
	case wor.StatusSealed, wor.StatusStale, wor.StatusForeign:
		if r.Epoch > c.cfg.Epoch {
			c.s.hint(c.partition, r.Epoch)
			c.s.suggest(c.partition, r.Value)
			// Also for a call to witnesses: too few of them may be left to be
			// asked, and the learner has another way.
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

// limitTextMax bounds the name of a limit that a server says, in bytes.
const limitTextMax = 200

// look sees whether the machine is through.
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

// spare is how many of n servers the task can do without.
func (c *call) spare(n int) int {
	if c.protocol == wor.Chain {
		return 0 // it asks nobody else
	}
	return n - wor.Majority(n)
}

// all says that whoever was asked has refused. A chain is captured and written from
// its head on, which is the only one that was asked about a single register then.
func (c *call) all(n int) bool {
	return bits.OnesCount16(c.refused) == n || c.protocol == wor.Chain && c.refused == 1 && c.r.Len() == 1
}

// refusedError is a limit of servers. Whole: none of them did anything.
type refusedError struct {
	limit wor.LimitError
	whole bool
}

func (e *refusedError) Error() string { return "refused by servers: " + e.limit.Name }

// Unwrap gives the limit.
func (e *refusedError) Unwrap() error { return &e.limit }

// finish ends the call and tells the owner.
func (c *call) finish(err error) {
	if c.live {
		c.stop()
		c.owner.answered(c, err)
	}
}

// stop ends it and tells nobody.
func (c *call) stop() {
	if c.live {
		c.live = false
		c.number++
		c.s.agenda.drop(&c.alarm)
	}
}

// machine makes the machine of a task.
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
