// SPDX-License-Identifier: Apache-2.0

package ideal

import (
	"container/heap"
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Options of a World. The zero Options has delays and no other faults.
type Options struct {
	Seed uint64
	// DelayMin and DelayMax bound the time that a message takes without faults. Default:
	// 50 us and 1 ms.
	DelayMin, DelayMax time.Duration
	// Fixed, if not zero, is the exact time that each message takes. The rates below must
	// then be zero.
	Fixed time.Duration
	// Late is the share of messages that take up to a hundred times as long.
	Late float64
	// Lose is the share of the messages of a Messenger that are lost, and of the
	// operations with a time bound that are lost: before or after they took effect.
	Lose float64
	// Double is the share of the messages of a Messenger, and of the notes, that arrive
	// twice.
	Double float64
	// Half is the share of failing writes that leave their value halfway.
	Half float64
	// Partitions is how many partitions segments can be placed on; default 2.
	Partitions int
}

// World is virtual time, the registers, and the processes. It is for one
// goroutine: Run calls everything.
type World struct {
	opt    Options
	random env.Random
	now    env.Instant
	agenda agenda
	serial uint64
	space  *registers
	procs  map[wor.ServerID]*Process
	lives  uint64
	calm   bool
}

// New makes a World without processes.
func New(o Options) *World {
	if o.DelayMax == 0 {
		o.DelayMin, o.DelayMax = 50*time.Microsecond, time.Millisecond
	}
	if o.Partitions == 0 {
		o.Partitions = 2
	}
	return &World{
		opt: o, random: env.Seeded(o.Seed).Split("ideal"),
		space: newRegisters(), procs: map[wor.ServerID]*Process{},
	}
}

// Now is the time.
func (w *World) Now() env.Instant { return w.now }

// Random is the World's random source; tests may use it for their choices too.
func (w *World) Random() env.Random { return w.random }

// Run runs all events of the next d.
func (w *World) Run(d time.Duration) {
	w.RunUntil(d, func() bool { return false })
}

// RunUntil runs until reached returns true, and reports whether it did within d. It calls
// reached after each event.
func (w *World) RunUntil(d time.Duration, reached func() bool) bool {
	end := w.now.Add(d)
	for !reached() {
		if len(w.agenda) == 0 || w.agenda[0].at > end {
			w.now = end
			return reached()
		}
		e := heap.Pop(&w.agenda).(*event)
		w.now = max(w.now, e.at)
		if !e.stopped && (e.owner == nil || !e.owner.dead) {
			e.stopped = true
			e.happen()
		}
	}
	return true
}

// Heal ends all faults but delays: from now on nothing is lost.
func (w *World) Heal() { w.calm = true }

// NewEpoch makes all tokens useless, like a reconfiguration of every partition.
func (w *World) NewEpoch() { w.space.epoch++ }

// Register returns the current state of a register, for tests.
func (w *World) Register(a wor.Addr) wor.Register { return w.space.look(a) }

// chance reports whether an event of that rate happens.
func (w *World) chance(rate float64) bool {
	return rate > 0 && !w.calm && float64(w.random.Uint64()>>11)/(1<<53) < rate
}

// delay is the time that a message takes.
func (w *World) delay() time.Duration {
	if w.opt.Fixed != 0 {
		return w.opt.Fixed
	}
	d := w.opt.DelayMin + time.Duration(w.random.Uint64()%uint64(w.opt.DelayMax-w.opt.DelayMin+1))
	if w.chance(w.opt.Late) {
		d *= time.Duration(1 + w.random.Uint64()%100)
	}
	return d
}

// at calls f after d, if owner (which may be nil) is alive then.
func (w *World) at(d time.Duration, owner *Process, f func()) *event {
	w.serial++
	e := &event{at: w.now.Add(max(d, 0)), tie: w.random.Uint64(), serial: w.serial, owner: owner, happen: f}
	if w.opt.Fixed != 0 {
		e.tie = 0
	}
	heap.Push(&w.agenda, e)
	return e
}

type event struct {
	at      env.Instant
	tie     uint64 // the order of events at one time is arbitrary
	serial  uint64
	owner   *Process
	stopped bool
	happen  func()
}

// Stop implements env.Timer.
func (e *event) Stop() bool {
	was := !e.stopped
	e.stopped = true
	return was
}

type agenda []*event

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	x, y := a[i], a[j]
	if x.at != y.at {
		return x.at < y.at
	}
	if x.tie != y.tie {
		return x.tie < y.tie
	}
	return x.serial < y.serial
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(*event)) }
func (a *agenda) Pop() any {
	old := *a
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*a = old[:len(old)-1]
	return e
}

// Process is one life of a program.
type Process struct {
	// Member is the address at which other processes reach it.
	Member wor.Member
	// Env has a Clock, a Random and a Tracer.
	Env    env.Env
	Serial *env.Serial
	// Space and Messenger belong to Serial.
	Space     *Space
	Messenger wor.Messenger

	w        *World
	dead     bool
	services map[wor.Service]wor.Handler
}

// Start starts a process under a name. A living process of that name must be killed
// first. The same name gives the same Member.
func (w *World) Start(name string) *Process {
	var id wor.ServerID
	for _, c := range []byte(name) {
		id = id*257 + wor.ServerID(c) + 1
	}
	if old := w.procs[id]; old != nil && !old.dead {
		panic(fmt.Sprintf("ideal: process %q is running", name))
	}
	w.lives++
	p := &Process{
		Member: wor.Member{ID: id, Name: name, Addr: name}, w: w, Serial: &env.Serial{},
		services: map[wor.Service]wor.Handler{},
	}
	p.Env = env.Env{Clock: clock{p}, Random: w.random.Split(name), Tracer: env.NoTrace{}}
	p.Space = &Space{p: p, nonce: w.lives<<32 | w.random.Uint64()>>32}
	p.Messenger = messenger{p}
	w.procs[id] = p
	return p
}

// Kill ends the process: none of its functions is called any more. Messages that it has
// sent may still arrive.
func (p *Process) Kill() { p.dead = true }

// Dead reports whether it was killed.
func (p *Process) Dead() bool { return p.dead }

// Serve registers a service.
func (p *Process) Serve(s wor.Service, h wor.Handler) { p.services[s] = h }

// After calls f on the Serial after d, if the process is alive then.
func (p *Process) After(d time.Duration, f func()) { p.w.at(d, p, func() { p.Serial.Do(f) }) }

type clock struct{ p *Process }

func (c clock) Now() env.Instant { return c.p.w.now }
func (c clock) Wall() time.Time  { return time.Unix(0, int64(c.p.w.now)).UTC() }
func (c clock) After(d time.Duration, k env.Waker) env.Timer {
	return c.p.w.at(d, c.p, k.Wake)
}

// messenger is lossy: a lost message returns ErrUnknown at its bound, 5 s unless
// set otherwise.
type messenger struct{ p *Process }

const invokeBound = 5 * time.Second

// Invoke implements wor.Messenger.
func (m messenger) Invoke(to wor.Member, s wor.Service, payload []byte, within time.Duration, done func([]byte, error)) {
	w, p := m.p.w, m.p
	if within == 0 {
		within = invokeBound
	}
	p.Space.Count.Invokes++
	settled := false
	settle := func(b []byte, err error) {
		if settled {
			return
		}
		settled = true
		if done != nil {
			p.Serial.Do(func() { done(b, err) })
		}
	}
	w.at(within, p, func() { settle(nil, wor.ErrUnknown) })
	arrive := func() {
		target := w.procs[to.ID]
		if target == nil || target.dead || target.services[s] == nil {
			return
		}
		target.Serial.Do(func() {
			target.services[s](payload, func(b []byte) {
				if !w.chance(w.opt.Lose) {
					w.at(w.delay(), p, func() { settle(b, nil) })
				}
			})
		})
	}
	if !w.chance(w.opt.Lose) {
		w.at(w.delay(), nil, arrive)
	}
	if w.chance(w.opt.Double) {
		w.at(w.delay(), nil, arrive)
	}
}
