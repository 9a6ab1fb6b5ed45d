// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"fmt"
	"math"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// client does one operation after another: it proposes, reads and trims as package space
// would, without waiting.
type client struct {
	w       *world
	id      int
	life    int
	round   uint64
	machine wor.Machine
	then    func([]wor.Run)
	ops     []*op // those of the running operation
	out     wor.Outbox
}

func (c *client) begin() {
	w := c.w
	r := wor.Range{Segment: segment, Lo: base + uint32(w.rng.IntN(registers))}
	r.Hi = r.Lo + 1
	if w.chance(30) {
		r.Lo, r.Hi = base, base+registers
	}
	switch {
	case w.chance(w.rate.trim * 5):
		c.trim()
	case w.chance(40):
		c.read(r)
	case !w.o.Fast && r.Len() == 1 && w.chance(20):
		c.unsafe(r)
	default:
		w.values++
		c.propose(r, []byte(fmt.Sprintf("v%d", w.values)))
	}
}

// run starts a machine; then gets its result.
func (c *client) run(m wor.Machine, then func([]wor.Run)) {
	c.machine, c.then = m, then
	c.out.Reset()
	m.Start(&c.out)
	c.send()
}

func (c *client) send() {
	w, m := c.w, c.machine
	for i, to := range c.out.To {
		q := *c.out.Requests[i]
		if len(c.ops) > 0 && c.ops[0].kind == opRead && q.Kind == wor.KindWrite && c.then != nil {
			w.seen["write while reading"]++
		}
		w.ghost.sent(w, &q)
		w.messages = append(w.messages, message{to: to, request: q, client: c, machine: m, step: m.Step()})
	}
	c.out.Reset()
	if m.Done() {
		result, n := m.Result(), 0
		for _, run := range result {
			n += int(run.Count)
		}
		w.log("client %d: done:%s", c.id, show(result))
		c.machine = nil
		c.then(result)
	}
}

func (c *client) deliver(m message) {
	reply := *m.reply
	if m.machine != c.machine {
		var out wor.Outbox
		m.machine.Deliver(m.to, m.step, &reply, &out)
		return // of a machine that was given up; its further requests are lost
	}
	c.out.Reset()
	c.machine.Deliver(m.to, m.step, &reply, &c.out)
	c.send()
}

func (c *client) expire() {
	if c.machine != nil {
		c.out.Reset()
		c.machine.Expire(&c.out)
		c.send()
	}
}

// die gives up the running operation and restarts as another client.
func (c *client) die() {
	if c.machine != nil {
		c.w.log("client %d dies", c.id)
	}
	c.machine, c.ops = nil, nil // without an end, the outcome is unknown
	c.life++
}

// next returns a ballot above all that the client has seen.
func (c *client) next() wor.Ballot {
	c.round++
	return wor.Ballot{Round: c.round, Nonce: uint64(c.life*clientCount + c.id + 1)}
}

func (c *client) saw(run *wor.Run) { c.round = max(c.round, run.Promised.Round) }

func (c *client) note(kind opKind, r wor.Range, value []byte) {
	c.ops = nil
	for i := r.Lo; i < r.Hi; i++ {
		c.ops = append(c.ops, c.w.history.begin(c.w.now, i, kind, string(value)))
	}
}

// each calls f with the result of each register of the range.
func each(r wor.Range, result []wor.Run, f func(register uint32, run *wor.Run)) {
	register := r.Lo
	for i := range result {
		for range result[i].Count {
			f(register, &result[i])
			register++
		}
	}
	if register != r.Hi {
		panic(fmt.Sprintf("the result of %v ends at %d", r, register))
	}
}

func (c *client) end(o *op, outcome outcome, value []byte) {
	o.outcome, o.got, o.end = outcome, string(value), c.w.now
}

func (c *client) trim() {
	w := c.w
	w.trimmed = true // another client decides it now
	c.note(opTrim, wor.Range{Segment: segment, Lo: base, Hi: base + registers}, nil)
	ops := c.ops
	c.run(w.o.Client.Trim(w.o.Servers, segment), func([]wor.Run) {
		w.ghost.toldTrimmed(w)
		for _, o := range ops {
			c.end(o, ok, nil)
		}
	})
}

func (c *client) read(r wor.Range) {
	w := c.w
	c.note(opRead, r, nil)
	ops := c.ops
	c.run(w.o.Client.Read(w.o.Servers, r), func(result []wor.Run) {
		each(r, result, func(register uint32, run *wor.Run) {
			c.saw(run)
			o := ops[register-r.Lo]
			switch {
			case run.Status == wor.StatusTrimmed:
				w.ghost.toldTrimmed(w)
				c.end(o, trimmed, nil)
			case run.Status == wor.StatusOutbid && r.Len() == 1:
				c.capture(r, o, nil, proposeTrials)
			case run.Status == wor.StatusOutbid:
				o.end = math.MaxInt64 // nothing was learned
			case run.Written:
				w.ghost.told(w, register, run.Value)
				c.end(o, ok, run.Value)
			default:
				c.end(o, unwritten, nil)
			}
		})
	})
}

// unsafe writes without a capture: the same client always writes the same value.
func (c *client) unsafe(r wor.Range) {
	w := c.w
	if int(r.Lo)%clientCount != c.id || c.life > 0 {
		c.read(r)
		return
	}
	value := []byte(fmt.Sprintf("u%d", r.Lo))
	c.note(opWrite, r, value)
	o := c.ops[0]
	c.run(w.o.Client.Write(w.o.Servers, r, wor.Ballot{}, value), func(result []wor.Run) {
		c.wrote(o, r.Lo, &result[0], value)
	})
}

// wrote records the outcome of a write: with OK the register has value.
func (c *client) wrote(o *op, register uint32, run *wor.Run, value []byte) bool {
	c.saw(run)
	switch run.Status {
	case wor.StatusOK:
		c.w.ghost.told(c.w, register, value)
		if o.kind == opWrite && o.value != string(value) {
			c.end(o, written, value)
		} else {
			c.end(o, ok, value)
		}
	case wor.StatusTrimmed:
		c.w.ghost.toldTrimmed(c.w)
		c.end(o, trimmed, nil)
	default:
		return false
	}
	return true
}

// propose writes a value to each register of the range.
func (c *client) propose(r wor.Range, value []byte) {
	w := c.w
	c.note(opWrite, r, value)
	ops := c.ops
	if r.Len() > 1 {
		c.proposeRange(r, ops, value)
		return
	}
	if !w.o.Fast || w.chance(20) {
		c.capture(r, ops[0], value, proposeTrials)
		return
	}
	c.run(w.o.Client.Write(w.o.Servers, r, wor.Ballot{}, value), func(result []wor.Run) {
		if !c.wrote(ops[0], r.Lo, &result[0], value) {
			c.capture(r, ops[0], value, proposeTrials)
		}
	})
}

// capture captures a register and writes the value that must be adopted, or value. A read
// has no value: if the register is free, it was unwritten.
func (c *client) capture(r wor.Range, o *op, value []byte, trials int) {
	w := c.w
	if trials == 0 {
		return // unknown
	}
	b := c.next()
	c.run(w.o.Client.Capture(w.o.Servers, r, b), func(result []wor.Run) {
		run, v := &result[0], value
		c.saw(run)
		switch {
		case run.Status == wor.StatusTrimmed:
			w.ghost.toldTrimmed(w)
			c.end(o, trimmed, nil)
			return
		case run.Status != wor.StatusOK:
			c.capture(r, o, value, trials-1)
			return
		case run.Written:
			v = run.Value
			w.seen["adopt"]++
		case o.kind == opRead:
			w.seen["free to a reader"]++
			c.end(o, unwritten, nil)
			return
		}
		c.run(w.o.Client.Write(w.o.Servers, r, b, v), func(result []wor.Run) {
			if !c.wrote(o, r.Lo, &result[0], v) {
				c.capture(r, o, value, trials-1)
			}
		})
	})
}

// proposeRange captures a range and writes one value where it is free.
func (c *client) proposeRange(r wor.Range, ops []*op, value []byte) {
	w, b := c.w, c.next()
	c.run(w.o.Client.Capture(w.o.Servers, r, b), func(result []wor.Run) {
		free := wor.Range{Segment: segment}
		var adopted []wor.Run
		var at []uint32
		each(r, result, func(register uint32, run *wor.Run) {
			c.saw(run)
			switch {
			case run.Status == wor.StatusTrimmed:
				w.ghost.toldTrimmed(w)
				c.end(ops[register-r.Lo], trimmed, nil)
			case run.Status != wor.StatusOK: // unknown
			case run.Written:
				adopted, at = append(adopted, *run), append(at, register)
			case free.Hi == 0:
				free.Lo, free.Hi = register, register+1
			case free.Hi == register:
				free.Hi++
			}
		})
		var rest func()
		rest = func() {
			if len(at) == 0 {
				return
			}
			register, v := at[0], adopted[0].Value
			adopted, at = adopted[1:], at[1:]
			c.run(w.o.Client.Write(w.o.Servers, wor.Range{Segment: segment, Lo: register, Hi: register + 1}, b, v),
				func(result []wor.Run) {
					c.wrote(ops[register-r.Lo], register, &result[0], v)
					rest()
				})
		}
		if free.Hi == 0 {
			rest()
			return
		}
		c.run(w.o.Client.Write(w.o.Servers, free, b, value), func(result []wor.Run) {
			each(free, result, func(register uint32, run *wor.Run) {
				c.wrote(ops[register-r.Lo], register, run, value)
			})
			rest()
		})
	})
}
