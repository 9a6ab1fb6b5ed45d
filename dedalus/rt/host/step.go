package host

import (
	"errors"
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
)

// step is what belongs to the step that ticks, and to nobody else.
type step struct {
	out rt.Out
	// work is what was taken of the inboxes; at is how far it is done.
	work [2]inbox
	at   [2]int
	// taken is what arrived in this tick.
	taken []arrival
	// messages is how many those are.
	messages int
	fired    []int
	self     []byte // messages to itself
	touched  []*link
	record   record
	begun    bool // the first tick is over
	// skip is how often not to run ahead, misses how often it will be left out when it
	// is of no use again.
	skip, misses int
	pace         pace
	counts       Counts
}

// tickWithin is how long a tick may take, but for its disk: timers that keep others from
// taking a node for dead are of a few hundred milliseconds.
const tickWithin = 50 * time.Millisecond

// tickMessagesMin is how many messages a tick takes at least, however long that takes.
const tickMessagesMin = 64

// pace finds how many messages a tick can take within tickWithin: on a machine that is
// slow or busy, fewer than Options.TickMessages. A program that must say now and then
// that it is there can do so between two ticks only.
type pace struct {
	most  int
	begun env.Instant // of the step
	disk  time.Duration
	goes  bool // the step before said that there is more to do
}

// next is told that a step begins, how many messages the one before took, and how many
// one may take at most. The time of a step is until the next one begins, where that is
// at once.
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

// turn is the step: one tick, if there is a reason for one.
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
		h.finish()
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

// tick is one tick with what has arrived, and maybe some in which nothing arrives.
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

// once has the component tick. A tick that does not end is an error.
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

// aheadMax is how many ticks a sync may serve besides the first, and probeMax how often
// running ahead is left out at most when it was of no use.
const (
	aheadMax = 64
	probeMax = 63
)

// ahead goes on with ticks in which nothing arrives, before what the first one has
// logged is on the disk: a program that logs in one tick after the other, as one that
// applies a log slot by slot, need not wait for a sync in each. What these ticks send may
// rest on what was logged before them; so it stays in the step's Out until it is
// durable. To everybody else it is as if they came after the sync; in a crash, as if
// they never were.
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

// sendAgain sends some nodes all that holds.
func (h *Host) sendAgain(to func(node string) bool) {
	s := &h.step
	begun := h.opt.Env.Clock.Now()
	s.counts.Resends++
	s.out.Reset()
	h.comp.Resend(&s.out)
	h.route(s.out.Sent, to)
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.opt.Env.Clock.Now()
	h.resendRest = now.Add((resendShare - 1) * now.Sub(begun))
}

// take takes over what has come, and answers whom all that holds is to be sent to
// again, if anybody; false when the instance has ended.
func (h *Host) take() (resend func(node string) bool, ok bool) {
	s := &h.step
	crowded := h.crowded()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, false
	}
	for i := range h.inbox {
		if i == 1 && (crowded || h.drained) {
			continue
		}
		if s.at[i] == len(s.work[i].list) {
			s.work[i].reset()
			s.at[i] = 0
			s.work[i], h.inbox[i] = h.inbox[i], s.work[i]
		}
	}
	s.fired = s.fired[:0]
	for i, f := range h.fired {
		if f {
			s.fired = append(s.fired, i)
			h.fired[i] = false
			every := h.typ.Timers[i].Every
			h.startTimer(i, every/2, every*3/4) // a hint: those that are out of step stay so
		}
	}
	if !h.due {
		return nil, true
	}
	h.due = false
	who, all := h.resend, h.everybody
	h.resend, h.everybody = map[string]bool{}, false
	return func(node string) bool { return all || who[node] }, true
}

// startTimer has a timer run out after a time from least to least + spread. The
// Host's lock is held.
func (h *Host) startTimer(i int, spread, least time.Duration) {
	d := least + time.Duration(h.random.Uint64()%uint64(max(spread, 1)))
	h.timers[i] = h.opt.Env.Clock.After(max(d, timerMin), env.WakeFunc(func() {
		h.mu.Lock()
		h.fired[i] = true
		h.mu.Unlock()
		h.waker.Wake()
	}))
}

// timerMin is the shortest time of a timer: a shorter one would be a loop.
const timerMin = 100 * time.Microsecond

// deliver gives the component what arrives in this tick.
func (h *Host) deliver() {
	s := &h.step
	s.taken = s.taken[:0]
	bytes := 0
	s.messages = 0
	for i := range s.work {
		if i == 1 && h.crowded() {
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
		return fmt.Errorf("relation %d of %d", relation, len(h.opt.Program.Relations))
	}
	r := &h.opt.Program.Relations[relation]
	want := rt.Message
	if src != nil && src.client {
		want = rt.Input
	}
	if r.Kind != want {
		return fmt.Errorf("%s does not come from there", r.Name)
	}
	if err := h.comp.Deliver(relation, row); err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	return nil
}

// reject ends the connection to somebody who has sent what is no message.
func (h *Host) reject(src *source, err error) {
	if src == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.trouble = fmt.Sprintf("from %q: %v", src.node, err)
	if src.in != nil {
		src.in.refuse(wire.RefusalMessage, err.Error())
	}
}

// finish says that what arrived in this tick is done with.
func (h *Host) finish() {
	s := &h.step
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range s.taken {
		if a.src == nil {
			continue
		}
		n := a.frame
		a.src.waiting -= n
		if a.src.client {
			h.inputs -= n
		}
		if a.src.life != a.life {
			continue // it has started anew since
		}
		a.src.done = max(a.src.done, a.seq)
		a.src.unacked += n
		h.owe(a.src)
	}
}

// owe has a source acknowledged, at once when much has come. The Host's lock is held.
func (h *Host) owe(src *source) {
	window := h.opt.Window
	if src.client {
		window = h.opt.ClientWindow
	}
	if src.unacked >= window/4 && h.ack(src) {
		return
	}
	if !src.queued {
		src.queued = true
		h.acking = append(h.acking, src)
	}
	if !h.ackArmed && !h.closed {
		h.ackArmed = true
		h.opt.Env.Clock.After(h.opt.AckAfter, env.WakeFunc(h.ackAll))
	}
}

// ack acknowledges what is done. It answers false when the connection takes nothing
// now. The Host's lock is held.
func (h *Host) ack(src *source) bool {
	if src.in == nil || src.done == src.acked {
		return true // who connects again is told then
	}
	if src.in.conn.Write(wire.AppendAck(nil, src.done)) != nil {
		return false
	}
	src.acked, src.unacked = src.done, 0
	return true
}

// ackAll is the clock's: it acknowledges what nobody has yet.
func (h *Host) ackAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ackArmed = false
	list := h.acking
	h.acking = nil
	for _, src := range list {
		src.queued = false
		if !h.ack(src) {
			h.owe(src)
		}
	}
}

// settle adds up what the step has counted, and says whether there is something for
// the next tick: what a limit has left, or what came since.
func (h *Host) settle() (more bool) {
	s := &h.step
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts.add(&s.counts)
	s.counts = Counts{}
	some := func(i int) bool { return s.at[i] < len(s.work[i].list) || len(h.inbox[i].list) > 0 }
	return some(0) || some(1) && !h.crowded() && !h.drained
}
