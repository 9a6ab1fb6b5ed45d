// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
)

// step holds the state that only the step uses, the task that ticks.
type step struct {
	out rt.Out
	// work holds the boxes taken from the inbox; at is the index of the next
	// batch to process in each.
	work [2]box
	at   [2]int
	// taken lists the batches that arrived in this tick.
	taken []arrival
	// messages is the number of messages in taken.
	messages int
	fired    []int
	self     []byte // messages to itself
	touched  []*lane
	record   record
	begun    bool // the first tick is over
	// skip is for how many more ticks ahead does nothing. misses is the value of skip
	// after the last useless attempt, and 0 after a useful one.
	skip, misses int
	pace         pace
	counts       Counts
}

// tickWithin bounds the time of a tick, without its disk writes. Failure detectors have
// timeouts of a few hundred milliseconds, and a longer tick would delay the heartbeats.
const tickWithin = 50 * time.Millisecond

// tickMessagesMin is the lower limit of pace: a tick may always take this many
// messages, however long that lasts.
const tickMessagesMin = 64

// pace measures how many messages a tick can take within tickWithin. On a slow or busy
// machine these are fewer than Options.TickMessages. A program can send heartbeats
// only between two ticks.
type pace struct {
	most  int
	begun env.Instant // of the step
	disk  time.Duration
	goes  bool // the step before said that there is more to do
}

// next begins a step. took is the number of messages that the previous tick took, and
// most the upper limit for one tick. The previous step is measured only if this one
// follows without a pause.
func (p *pace) next(now env.Instant, took, most int) {
	spent := now.Sub(p.begun) - p.disk
	switch {
	case p.most == 0:
		p.most = most
	case !p.goes:
	case spent > tickWithin:
		p.most = max(p.most/2, tickMessagesMin)
	case spent < tickWithin/2 && took >= p.most:
		p.most = 2 * p.most
	}
	p.most = min(p.most, most)
	p.begun, p.disk = now, 0
}

// turn runs one step: one tick, if there is a reason for one. It reports
// whether another step must follow at once.
func (h *Host) turn() (more bool) {
	h.busy.Lock()
	defer h.busy.Unlock()
	s := &h.step
	s.pace.next(h.opt.Env.Clock.Now(), s.messages, h.opt.TickMessages)
	defer func() { s.pace.goes = more }()
	resend, ok := h.take()
	if !ok {
		return false
	}
	h.deliver()
	if len(s.taken)+len(s.fired) > 0 || !s.begun || h.comp.Pending() {
		s.begun = true
		if err := h.tick(); err != nil {
			what := "the disk"
			if endless := (*rt.EndlessError)(nil); errors.As(err, &endless) {
				what = "the program"
			}
			h.shut(fmt.Errorf("%s: %s: %w", h.opt.Who.Node, what, err))
			return false
		}
		h.inbox.finish(s.taken)
	} else if h.disk != nil && h.disk.Waiting() {
		if err := h.commit(false); err != nil {
			h.shut(fmt.Errorf("%s: the disk: %w", h.opt.Who.Node, err))
			return false
		}
	}
	if resend != nil {
		h.sendAgain(resend)
	}
	return h.settle() || h.comp.Pending() || h.disk != nil && h.disk.Waiting()
}

// tick runs one tick with the arrivals, and maybe more ticks without arrivals (see
// ahead).
func (h *Host) tick() error {
	s := &h.step
	s.out.Reset()
	if err := h.once(); err != nil {
		return err
	}
	h.route(s.out.Sent, nil)
	if h.disk == nil {
		s.out.Reset()
		return nil
	}
	logged := len(s.out.Changes) > 0
	err := h.log(s.out.Changes)
	s.out.Reset()
	if err == nil && logged {
		err = h.ahead()
	}
	if err == nil {
		err = h.commit(logged)
	}
	if err == nil && len(s.out.Sent) > 0 {
		h.route(s.out.Sent, nil)
	}
	return err
}

// once runs one tick of the component. A tick that does not end returns an
// *rt.EndlessError.
func (h *Host) once() (err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *rt.EndlessError:
			err = x
		default:
			panic(x)
		}
	}()
	h.step.counts.Ticks++
	h.comp.Tick(&h.step.out)
	return nil
}

// aheadMax is how many ticks may share the sync of the first. probeMax is the maximum
// number of ticks for which ahead is skipped after it was useless.
const (
	aheadMax = 64
	probeMax = 63
)

// ahead runs ticks without arrivals before the changes of the first tick are on the disk.
// A program that logs in one tick after another, for example one that applies a log slot
// by slot, then needs one sync instead of one for each tick. The messages of these ticks
// may depend on changes that are not durable yet, so they stay in the step's Out until
// the commit. Other nodes see these ticks as if they ran after the sync. After a crash,
// it is as if they never ran.
func (h *Host) ahead() error {
	s := &h.step
	if s.skip > 0 {
		s.skip--
		return nil
	}
	useful, bytes := false, 0
	for n := 0; n < aheadMax && bytes < h.opt.TickBytes && h.comp.Pending(); n++ {
		sent, changes := len(s.out.Sent), len(s.out.Changes)
		if err := h.once(); err != nil {
			return err
		}
		for i := range s.out.Sent[sent:] {
			bytes += len(s.out.Sent[sent+i].Row)
		}
		if len(s.out.Changes) == changes {
			break
		}
		useful = true
		for i := range s.out.Changes[changes:] {
			bytes += len(s.out.Changes[changes+i].Row)
		}
		if err := h.log(s.out.Changes[changes:]); err != nil {
			return err
		}
	}
	if s.misses = min(2*s.misses+1, probeMax); useful {
		s.misses = 0
	}
	s.skip = s.misses
	return nil
}

// sendAgain sends everything that holds to the selected nodes.
func (h *Host) sendAgain(to func(node string) bool) {
	s := &h.step
	begun := h.opt.Env.Clock.Now()
	s.counts.Resends++
	s.out.Reset()
	h.comp.Resend(&s.out)
	h.route(s.out.Sent, to)
	now := h.opt.Env.Clock.Now()
	h.resends.took(now, now.Sub(begun))
}

// take takes the arrivals from the inbox and the timers that have fired. resend
// selects the nodes to which everything that holds must be sent again; it is nil if
// there are none. ok is false if the instance has ended.
func (h *Host) take() (resend func(node string) bool, ok bool) {
	s := &h.step
	if h.ending.closed() {
		return nil, false
	}
	for i := range s.work {
		if i == 1 && (h.peers.crowded() || h.ending.drains()) {
			continue
		}
		if s.at[i] == len(s.work[i].list) {
			s.work[i].reset()
			s.at[i] = 0
			h.inbox.swap(i, &s.work[i])
		}
	}
	s.fired = h.timers.take(s.fired[:0])
	for _, i := range s.fired {
		every := h.typ.Timers[i].Every
		h.startTimer(i, every/2, every*3/4) // a hint: those that are out of step stay so
	}
	return h.resends.take(), true
}

// startTimer starts a timer with a random timeout between least and least +
// spread.
func (h *Host) startTimer(i int, spread, least time.Duration) {
	d := least + time.Duration(h.dice.number()%uint64(max(spread, 1)))
	h.timers.start(h.opt.Env.Clock, i, d, h.waker.Wake)
}

// deliver passes the messages and timers of this tick to the component.
func (h *Host) deliver() {
	s := &h.step
	s.taken = s.taken[:0]
	bytes := 0
	s.messages = 0
	for i := range s.work {
		if i == 1 && h.peers.crowded() {
			break
		}
		w := &s.work[i]
		for s.at[i] < len(w.list) && s.messages < s.pace.most && bytes < h.opt.TickBytes {
			a := w.list[s.at[i]]
			s.at[i]++
			s.taken = append(s.taken, a)
			bytes += a.to - a.from
			s.messages += h.deliverBatch(a, wire.Messages(w.buf[a.from:a.to]))
		}
	}
	s.counts.Delivered += uint64(s.messages)
	s.counts.DeliveredBytes += uint64(bytes)
	for _, i := range s.fired {
		h.comp.Timer(i)
	}
}

func (h *Host) deliverBatch(a arrival, m wire.Messages) (n int) {
	for {
		relation, row, ok := m.Next()
		if !ok {
			return n
		}
		n++
		if err := h.deliverOne(a.src, relation, row); err != nil {
			h.step.counts.Rejected++
			h.reject(a.src, err)
			if a.src != nil {
				return n // what else it says is not worth a look
			}
		}
	}
}

func (h *Host) deliverOne(src *source, relation int, row []byte) error {
	if relation >= len(h.opt.Program.Relations) {
		return fmt.Errorf("a message names relation %d of %d", relation, len(h.opt.Program.Relations))
	}
	r := &h.opt.Program.Relations[relation]
	want := rt.Message
	if src != nil && src.client {
		want = rt.Input
	}
	if r.Kind != want {
		return fmt.Errorf("this sender may not send %s", r.Name)
	}
	if err := h.comp.Deliver(relation, row); err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	return nil
}

// reject ends the connection to a node that has sent an invalid message.
func (h *Host) reject(src *source, err error) {
	if src == nil {
		return
	}
	h.tally.note(fmt.Sprintf("from %q: %v", src.node, err))
	h.inbox.refuse(src, err)
}

// settle adds the step's counts to the tally, and reports whether there is input
// for the next tick: batches that a limit has left over, or new ones.
func (h *Host) settle() (more bool) {
	s := &h.step
	h.count(&s.counts)
	s.counts = Counts{}
	some := func(i int) bool { return s.at[i] < len(s.work[i].list) || h.inbox.batches(i) > 0 }
	return some(0) || some(1) && !h.peers.crowded() && !h.ending.drains()
}
