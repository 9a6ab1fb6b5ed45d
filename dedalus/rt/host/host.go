// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"fmt"
	"sync"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/store/wal"
)

// Host is one running instance. It is safe for concurrent use. It consists of parts,
// each in its own file, and most with their own lock.
//
// Take locks in this order; any of them may be skipped:
//
//	busy         of the step, held while it is running
//	clients      the set of clients
//	lane         of one node; only the step holds several
//	inbox        received input and its sources
//	door         accepted connections
//	resends      requests for resends
//	the rest     timers, incarnation, ending, tally, dice: at most one of them, last
//
// Nothing may block under any of them except busy. Only the step uses the component.
type Host struct {
	opt      Options
	link     link.Options
	typ      *rt.ComponentType
	comp     rt.Component
	life     uint64
	listener env.Listener
	waker    env.Waker
	disk     *wal.Log // nil: nothing is kept

	busy sync.Mutex // held while a step is running
	step step

	peers       peers
	clients     clients
	inbox       inbox
	door        *link.Door
	resends     resends
	timers      timers
	incarnation incarnation
	ending      ending
	tally       tally
	dice        dice
}

// Open starts an instance, which is listening when Open returns. An error
// concerns the options, the directory or the address.
func Open(o Options) (*Host, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	typ := &o.Program.Components[o.Component]
	random := o.Env.Random.Split("host")
	h := &Host{opt: o, typ: typ, life: random.Uint64() | 1, dice: dice{random: random},
		timers: timers{fired: make([]bool, len(typ.Timers)), running: make([]env.Timer, len(typ.Timers))}}
	h.clients = clients{h: h, byName: map[string]*client{}}
	h.inbox = inbox{h: h, sources: map[string]*source{}}
	if h.link, err = h.linkOptions(random); err != nil {
		return nil, err
	}
	h.door = link.NewDoor(&h.link)
	h.resends = resends{h: h, nodes: map[string]bool{}}
	h.incarnation = incarnation{h: h, number: o.Incarnation}
	if h.comp, err = typ.New(o.Who, o.Static); err != nil {
		return nil, fmt.Errorf("make %s: %w", o.Who.Node, err)
	}
	if o.Dir != "" && !o.Memory && typ.Durable {
		if err := h.openLog(); err != nil {
			return nil, err
		}
	}
	h.peers.open(h, random)
	h.waker = o.Tasks.Task(h.turn)
	listener, err := o.Env.Network.Listen(o.Listen, h.accept)
	if err != nil {
		h.ending.close(nil)
		if h.disk != nil {
			err = errors.Join(err, h.disk.Close())
		}
		return nil, err
	}
	h.listener = listener
	for i := range typ.Timers {
		// The first timeout is random, so that instances that start together do
		// not tick together.
		h.startTimer(i, typ.Timers[i].Every, 0)
	}
	h.peers.dial(o.Pieces) // pieces that have nothing to say to each other still have to meet
	h.beatLater()
	h.resends.later()
	h.waker.Wake()
	return h, nil
}

// Addr returns the address at which the instance listens.
func (h *Host) Addr() env.Addr { return h.listener.Addr() }

// Close ends the instance at once and waits for a running tick. Everything that
// the instance has acknowledged is durable. Close must be called exactly once.
func (h *Host) Close() error {
	h.shut(nil)
	err := h.listener.Close()
	h.busy.Lock()
	defer h.busy.Unlock()
	if h.disk != nil {
		err = errors.Join(err, h.disk.Close())
	}
	return err
}

// shut ends all connections and timers. If err is not nil, shut reports it to
// Options.Fatal.
func (h *Host) shut(err error) {
	done, first := h.ending.close(err)
	if !first {
		return
	}
	h.timers.stop()
	h.door.Close(env.ErrClosed)
	h.peers.stop()
	if done != nil {
		done()
	}
	if err != nil && h.opt.Fatal != nil {
		h.opt.Fatal(err)
	}
}

// Drain shuts the instance down in order. The instance accepts no more clients
// and inputs, and continues until no work is left and every connected node has
// acknowledged everything, or until DrainWithin has passed. Then it calls done,
// on any goroutine. The caller must still call Close.
func (h *Host) Drain(done func()) {
	if !h.ending.drain(done, h.opt.Env.Clock.Now().Add(h.opt.DrainWithin)) {
		done()
		return
	}
	h.waker.Wake()
	h.drainLook()
}

// drainLook checks whether a drain is over, and otherwise schedules the next
// check.
func (h *Host) drainLook() {
	rest := h.peers.waiting() + h.clients.waiting() + h.inbox.batches(0)
	done, due := h.ending.look(rest, h.opt.Env.Clock.Now())
	switch {
	case due:
		done()
	case done != nil:
		h.opt.Env.Clock.After(h.opt.AckAfter/2, env.WakeFunc(h.drainLook))
	}
}

func (h *Host) mark(m string) { h.opt.Env.Tracer.Trace(env.Mark(m)) }

// linkOptions returns the options of the links, without a Lock.
func (h *Host) linkOptions(random env.Random) (link.Options, error) {
	o := &h.opt
	world := o.Env
	world.Random = random
	return link.Options{
		Env: world, Service: wire.Service, System: wire.System(o.Program.Hash), Node: o.Who.Node, Life: h.life,
		Key: o.Key, Guests: true, FrameMax: wire.FrameMax,
		PingAfter: o.PingAfter, DeadAfter: o.DeadAfter, HelloWithin: o.HelloWithin, FrameWithin: o.FrameWithin,
		BackoffMin: o.BackoffMin, BackoffMax: o.BackoffMax,
		ConnsMax: o.ConnsMax, StrangersMax: o.StrangersMax, PartialMax: max(o.PartialsMax, wire.FrameMax),
	}.Complete()
}
