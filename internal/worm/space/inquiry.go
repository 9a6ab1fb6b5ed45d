// SPDX-License-Identifier: Apache-2.0

package space

import (
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// inquiry is a request to one server. It is repeated until its owner accepts an
// answer or stops it, or until the maximum number of attempts is reached.
type inquiry struct {
	s     *Space
	to    wor.Member
	q     wor.Request
	most  int // attempts; 0: no bound
	tries int
	alarm alarm
	live  bool
	sent  uint32 // the awaited attempt; late answers to others count too
	heard func(r *wor.Reply) (enough bool)
	gone  func() // no answer after the last attempt; may be nil
}

// inquiryWait is how long one attempt waits for its answer, apart from its
// size.
const inquiryWait = time.Second

func (s *Space) inquire(to wor.Member, q wor.Request, most int, heard func(*wor.Reply) bool, gone func()) *inquiry {
	i := &inquiry{s: s, to: to, q: q, most: most, live: true, heard: heard, gone: gone}
	i.send()
	return i
}

func (i *inquiry) send() {
	s := i.s
	i.tries++
	i.sent++
	number := i.sent
	s.transport.Call(i.to, &i.q, inquiryWait, func(r *wor.Reply) {
		switch {
		case !i.live || s.closed:
		case r != nil && i.heard(r):
			i.stop()
		case i.live && number == i.sent:
			i.again()
		}
	})
}

// again waits and sends once more.
func (i *inquiry) again() {
	if i.most != 0 && i.tries >= i.most {
		i.stop()
		if i.gone != nil {
			i.gone()
		}
		return
	}
	d := min(10*time.Millisecond<<min(i.tries, 6), inquiryWait)
	i.s.agenda.set(&i.alarm, i.s.clock.Now().Add(d/2+i.s.jitter(d/2)), i)
}

func (i *inquiry) ring(*alarm) { i.send() }

func (i *inquiry) stop() {
	if i != nil && i.live {
		i.live = false
		i.s.agenda.drop(&i.alarm)
	}
}
