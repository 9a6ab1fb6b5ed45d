// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// call is an unanswered request or invocation. It is in the calls of its peer,
// and in the wheel.
type call struct {
	entry
	p      *peer
	id     uint64
	bytes  int
	answer func(*wor.Reply)
	done   func([]byte, error)
	free   *call
}

func (t *Transport) newCall() *call {
	c := t.free
	if c == nil {
		c = &call{}
		c.due = c.expire
		return c
	}
	t.free, c.free = c.free, nil
	return c
}

// request queues a request. With an error it is not queued.
func (p *peer) request(q *wor.Request, within time.Duration, answer func(*wor.Reply)) (*call, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	before, id := p.out.Len(), p.last+1
	if err := p.out.Request(id, within, q); err != nil {
		return nil, err
	}
	c, err := p.enter(before, id, within)
	if err == nil {
		c.answer = answer
	}
	return c, err
}

// invoke queues an invocation. With an error it is not queued.
func (p *peer) invoke(s wor.Service, payload []byte, within time.Duration, done func([]byte, error)) error {
	if err := p.ready(); err != nil {
		return err
	}
	before, id := p.out.Len(), p.last+1
	if err := p.out.Invoke(id, within, s, payload); err != nil {
		return err
	}
	c, err := p.enter(before, id, within)
	if err == nil {
		c.done = done
	}
	return err
}

// enter accounts for the last encoded frame, or removes it if there is no room.
func (p *peer) enter(before int, id uint64, within time.Duration) (*call, error) {
	n := p.out.Len() - before
	if used := max(p.inflight, before); used > 0 && used+n > p.t.opt.InflightMax {
		p.out.Truncate(before)
		return nil, &busyError{limit: p.t.opt.InflightMax, got: used + n}
	}
	p.last = id
	c := p.t.newCall()
	c.p, c.id, c.bytes = p, id, n
	p.inflight += n
	p.calls[id] = c
	now := p.t.opt.Env.Clock.Now()
	p.t.wheel.add(&c.entry, now.Add(within))
	p.watch()
	p.t.touch(p)
	return c, nil
}

// busyError is an ErrBusy that names its limit.
type busyError struct{ limit, got int }

func (e *busyError) Error() string {
	return fmt.Sprintf("%v: InflightMax is %d, got %d", wor.ErrBusy, e.limit, e.got)
}

func (e *busyError) Is(target error) bool { return target == wor.ErrBusy }

// leave ends a call and returns its functions, one of which must be called.
func (p *peer) leave(c *call) (answer func(*wor.Reply), done func([]byte, error)) {
	delete(p.calls, c.id)
	p.inflight -= c.bytes
	p.t.wheel.remove(&c.entry)
	answer, done = c.answer, c.done
	c.p, c.answer, c.done = nil, nil, nil
	c.free, p.t.free = p.t.free, c
	return answer, done
}

// lose ends a call without an answer.
func (p *peer) lose(c *call, err error) {
	answer, done := p.leave(c)
	if answer != nil {
		p.t.counts.Lost++
		answer(nil)
	} else {
		done(nil, err)
	}
}

func (c *call) expire() { c.p.lose(c, wor.ErrUnknown) }

// loseAll ends all calls of a connection that has ended. Err is for those that
// cannot have arrived.
func (p *peer) loseAll(err error) {
	lost := make([]*call, 0, len(p.calls))
	for _, c := range p.calls {
		lost = append(lost, c)
	}
	slices.SortFunc(lost, func(a, b *call) int { return cmp.Compare(a.id, b.id) })
	clear(p.calls)
	for _, c := range lost {
		if c.id <= p.written {
			p.lose(c, wor.ErrUnknown)
		} else {
			p.lose(c, err)
		}
	}
}

// answered converts the server's answer to an invocation into an error.
func answered(code wire.Code, payload []byte) error {
	switch code {
	case wire.CodeOK:
		return nil
	case wire.CodeBusy:
		return wor.ErrBusy
	case wire.CodeExpired:
		return wor.ErrDeadline
	case wire.CodeUnknown:
		return fmt.Errorf("no such service there: %w", wor.ErrClosed)
	case wire.CodeLimit:
		return fmt.Errorf("%w: %.200q", wor.ErrLimit, payload)
	}
	return fmt.Errorf("%w: %.200q", wor.ErrUnknown, payload)
}
