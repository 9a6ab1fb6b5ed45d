// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"errors"
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// segmentPlan is a segment that clients work on.
type segmentPlan struct {
	number wor.Segment
	meta   wor.Meta
}

// gift is a token that its owner has passed to another client, for one register.
type gift struct {
	token  *wor.Token
	offset uint32
}

// workload is clients that do all kinds of operations on a few registers.
type workload struct {
	c        *cluster
	segments []segmentPlan
	stop     bool
	pending  int // running operations of living clients
	clients  []*client
	gifts    []gift
	allocs   map[wor.Segment]int // calls whose answer was that the Meta is theirs
	trimming bool
	pause    time.Duration
}

// client is a node that works until it is stopped.
type client struct {
	*agent
	load *workload
	node *sim.Node
	busy int // running operations
	// heard has the values that listeners reported, by register.
	heard  map[wor.Addr]bool
	buried map[wor.Segment]bool
}

func (x *workload) start(number int) {
	cl := &client{load: x}
	x.clients = append(x.clients, cl)
	cl.node = x.c.w.Node(fmt.Sprint("c", number), func(l *sim.Life) error {
		a, err := x.c.agent(l, number, nil)
		if err != nil {
			return err
		}
		x.pending -= cl.busy // those of the previous life
		*cl = client{agent: a, load: x, node: l.Node(), heard: map[wor.Addr]bool{}, buried: map[wor.Segment]bool{}}
		a.serial.Do(func() {
			for _, s := range x.segments {
				cl.listen(s)
			}
			for range 2 {
				cl.loop(nil)
			}
		})
		return nil
	})
}

func (cl *client) listen(s segmentPlan) {
	cl.Listen(wor.Range{Segment: s.number, Hi: s.meta.Size}, func(cell wor.Cell) {
		switch {
		case cell.Err == nil:
			cl.load.c.ghost.told("a listener", cell.Addr, string(cell.Value))
			cl.heard[cell.Addr] = true
		case errors.Is(cell.Err, wor.ErrTrimmed):
			cl.buried[s.number] = true
		default:
			cl.load.c.ghost.wrong("listeners", "%v: %v", cell.Addr, cell.Err)
		}
	})
}

// loop does one operation after another; it has at most one token.
func (cl *client) loop(token *wor.Token) {
	cl.after(cl.load.pause, func() {
		if cl.load.stop {
			return
		}
		cl.busy++
		cl.load.pending++
		cl.transport.repaired, cl.transport.outbid, cl.transport.sealed = false, false, false
		cl.step(token, func(token *wor.Token) {
			cl.busy--
			cl.load.pending--
			cl.loop(token)
		})
	})
}

// bound returns how long an operation may take; a third of them have no bound.
func (cl *client) bound() time.Duration {
	if cl.chance(1, 3) {
		return 0
	}
	return 1 + time.Duration(env.IntN(cl.random, int(300*time.Millisecond)))
}

func (cl *client) value() string {
	return fmt.Sprintf("%d.%d.%d", cl.number, cl.l.Number(), cl.random.Uint64()%1e6)
}

// ends records an operation's answers as acts of the history, and shows them to the
// ghost.
func (cl *client) ends(x *act, got []byte, err error) {
	c := cl.load.c
	var w *wor.WrittenError
	switch {
	case errors.As(err, &w):
		c.ghost.told("written", x.addr, string(w.Value))
	case err == nil && x.deed == writes:
		c.ghost.told("wrote", x.addr, x.value)
	case err == nil && x.deed == reads:
		c.ghost.told("read", x.addr, string(got))
	}
	if t := cl.transport; err == nil {
		switch {
		case x.deed == reads && t.repaired:
			c.w.Mark("half-written read repaired")
		case x.deed == writes && t.outbid:
			c.w.Mark("outbid then resolved")
		}
		if x.deed == writes && t.sealed {
			c.w.Mark("seal during write")
		}
	}
	if errors.Is(err, wor.ErrTrimmed) && x.deed != trims && cl.load.trimming {
		c.w.Mark(env.Mark("trim races " + x.deed.String()))
	}
	c.history.end(x, string(got), err)
}

func (cl *client) begin(d deed, a wor.Addr, value string) *act {
	return cl.load.c.history.begin(cl.number, d, a, value)
}

func (cl *client) beginAll(d deed, r wor.Range, value string) []*act {
	var list []*act
	for off := r.Lo; off < r.Hi; off++ {
		list = append(list, cl.begin(d, wor.Addr{Segment: r.Segment, Offset: off}, value))
	}
	return list
}

// step does one operation and calls next with the token to continue with.
func (cl *client) step(token *wor.Token, next func(*wor.Token)) {
	plan := cl.load.segments[env.IntN(cl.random, len(cl.load.segments))]
	a := wor.Addr{Segment: plan.number, Offset: uint32(env.IntN(cl.random, int(plan.meta.Size)))}
	within := cl.bound()
	keep := func() { next(token) }
	switch env.IntN(cl.random, 16) {
	case 0:
		cl.alloc(plan, within, keep)
	case 1, 2, 3:
		x := cl.begin(writes, a, cl.value())
		cl.Propose(a, []byte(x.value), within, func(err error) {
			cl.ends(x, nil, err)
			keep()
		})
	case 4, 5, 6:
		x := cl.begin(reads, a, "")
		cl.Read(a, within, func(v []byte, err error) {
			cl.ends(x, v, err)
			keep()
		})
	case 7:
		cl.readAll(plan, within, keep)
	case 8, 9:
		r := wor.Range{Segment: plan.number, Lo: a.Offset, Hi: a.Offset + 1 + uint32(env.IntN(cl.random, int(plan.meta.Size-a.Offset)))}
		cl.Capture(r, within, func(t *wor.Token, _ error) { next(t) })
	case 10, 11:
		cl.write(token, within, keep)
	case 12:
		cl.writeRange(token, within, keep)
	case 13:
		cl.unsafe(plan, a, within, keep)
	case 14:
		cl.give(token, within, next)
	case 15:
		cl.trim(plan, within, keep)
	}
}

func (cl *client) alloc(plan segmentPlan, within time.Duration, done func()) {
	m := plan.meta
	m.Owner = cl.random.Uint64()
	cl.Alloc(plan.number, m, within, func(got wor.Meta, err error) {
		if err == nil {
			if cl.load.allocs[plan.number]++; cl.load.allocs[plan.number] > 1 {
				cl.load.c.ghost.wrong("alloc", "segment %d was allocated twice", plan.number)
			}
		}
		if err == nil || errors.Is(err, wor.ErrWritten) {
			text, _ := got.MarshalBinary()
			cl.load.c.ghost.told("alloc", wor.Addr{Segment: plan.number, Offset: wor.MetaOffset}, string(text))
		}
		done()
	})
}

func (cl *client) readAll(plan segmentPlan, within time.Duration, done func()) {
	r := wor.Range{Segment: plan.number, Hi: plan.meta.Size}
	list := cl.beginAll(reads, r, "")
	cl.ReadRange(r, within, func(cells []wor.Cell, err error) {
		for i, x := range list {
			if err != nil {
				cl.ends(x, nil, err)
			} else {
				cl.ends(x, cells[i].Value, cells[i].Err)
			}
		}
		done()
	})
}

// write writes with the token; now and then it proposes if the outcome is unknown.
func (cl *client) write(token *wor.Token, within time.Duration, done func()) {
	if token == nil {
		done()
		return
	}
	off := token.Range.Lo + uint32(env.IntN(cl.random, token.Range.Len()))
	a := wor.Addr{Segment: token.Range.Segment, Offset: off}
	x := cl.begin(writes, a, cl.value())
	cl.Write(token, off, []byte(x.value), within, func(err error) {
		cl.ends(x, nil, err)
		if !errors.Is(err, wor.ErrOutbid) || cl.chance(1, 2) {
			done()
			return
		}
		again := cl.begin(writes, a, x.value)
		cl.Propose(a, []byte(x.value), within, func(err error) {
			cl.ends(again, nil, err)
			done()
		})
	})
}

func (cl *client) writeRange(token *wor.Token, within time.Duration, done func()) {
	if token == nil {
		done()
		return
	}
	value := cl.value()
	list := cl.beginAll(writes, token.Range, value)
	cl.WriteRange(token, token.Range, []byte(value), within, func(errs []error) {
		for i, x := range list {
			cl.ends(x, nil, errs[i])
		}
		done()
	})
}

// unsafe writes without a capture: with Paxos and Chain, into the one register that no
// other client writes this way, always the same value.
func (cl *client) unsafe(plan segmentPlan, a wor.Addr, within time.Duration, done func()) {
	value := cl.value()
	if plan.meta.Protocol != wor.Fast {
		if a.Offset, value = uint32(cl.number), fmt.Sprint(cl.number, ".unsafe"); a.Offset >= plan.meta.Size {
			done()
			return
		}
	}
	x := cl.begin(writes, a, value)
	cl.WriteUnsafe(a, []byte(value), within, func(err error) {
		cl.ends(x, nil, err)
		done()
	})
}

// give passes a token to a client that wants one, or accepts one and writes with it.
func (cl *client) give(token *wor.Token, within time.Duration, next func(*wor.Token)) {
	load := cl.load
	if len(load.gifts) > 0 {
		g := load.gifts[0]
		load.gifts = load.gifts[1:]
		x := cl.begin(writes, wor.Addr{Segment: g.token.Range.Segment, Offset: g.offset}, cl.value())
		cl.Write(g.token, g.offset, []byte(x.value), within, func(err error) {
			if err == nil {
				load.c.w.Mark("written with another's token")
			}
			cl.ends(x, nil, err)
			next(token)
		})
		return
	}
	plan := load.segments[env.IntN(cl.random, len(load.segments))]
	r := wor.Range{Segment: plan.number, Hi: plan.meta.Size}
	cl.Capture(r, within, func(t *wor.Token, err error) {
		if err == nil {
			for off := r.Lo; off < r.Hi; off++ {
				load.gifts = append(load.gifts, gift{t.Part(wor.One(wor.Addr{Segment: r.Segment, Offset: off})), off})
			}
		}
		next(token)
	})
}

func (cl *client) trim(plan segmentPlan, within time.Duration, done func()) {
	if !cl.load.trimming || !cl.chance(1, 3) {
		done()
		return
	}
	list := cl.beginAll(trims, wor.Range{Segment: plan.number, Hi: plan.meta.Size}, "")
	cl.Trim(plan.number, within, func(err error) {
		for _, x := range list {
			cl.ends(x, nil, err)
		}
		done()
	})
}
