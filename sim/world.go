// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"runtime/debug"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// World is a simulation. It is for one goroutine.
//
// The loop takes the next event from the agenda, sets the time to the event's,
// and completes the event before it takes the next one. An event of a busy node
// is postponed until the node is free. Every random choice is drawn when it is
// needed, from the stream of its purpose.
type World struct {
	opt    Options
	now    env.Instant
	agenda agenda
	n      uint32 // of events scheduled
	done   uint64 // of events that happened
	hash   uint64

	nodes   []*Node
	named   map[string]*Node
	sched   env.Random // ties, and when tasks are stepped
	latency env.Random
	chance  [kinds]env.Random
	healed  bool // no faults any more

	invariants []check
	observers  []func(*Life, env.Event)
	struck     [kinds]uint64
	marks      map[string]uint64
	cuts       []*cut
	failure    *Failure
	running    *Life // whose code is being executed
	metering   *Life // whose code is being measured, since the clock of Hardware showed this
	since      time.Duration
}

// check is an invariant of the whole world.
type check struct {
	name  string
	holds func() error
}

// Failure describes why a run failed.
type Failure struct {
	Seed  uint64
	At    env.Instant
	Event uint64 // the number of the event after which it was found
	Check string // the invariant's name, or "panic", "boot", "liveness", "events"
	Err   error
}

func (f *Failure) Error() string {
	return fmt.Sprintf("%s: seed %d, event %d, at %v: %v", f.Check, f.Seed, f.Event, time.Duration(f.At), f.Err)
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// New makes a world without nodes, at instant 0.
func New(o Options) (*World, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	w := &World{opt: o, hash: o.Seed, named: map[string]*Node{}, marks: map[string]uint64{},
		sched: stream(o.Seed, "schedule"), latency: stream(o.Seed, "latency")}
	for k := range w.chance {
		w.chance[k] = stream(o.Seed, "fault/"+Kind(k).String())
	}
	for _, k := range o.Faults.On() {
		if k.timed() {
			w.nextStrike(k)
		}
	}
	return w, nil
}

// Now is the time.
func (w *World) Now() env.Instant { return w.now }

// Seed is the seed.
func (w *World) Seed() uint64 { return w.opt.Seed }

// Faults returns the rates.
func (w *World) Faults() Faults { return w.opt.Faults }

// Events is the number of events that have happened.
func (w *World) Events() uint64 { return w.done }

// Hash is a hash of everything that has happened, in order.
func (w *World) Hash() uint64 { return w.hash }

// Err is the failure that ended the run, or nil.
func (w *World) Err() error {
	if w.failure == nil {
		return nil
	}
	return w.failure
}

// Random returns a source for the test's own choices, one per purpose.
func (w *World) Random(purpose string) env.Random { return stream(w.opt.Seed, "test/"+purpose) }

// Invariant calls holds after every event. Holds must only look, and must
// depend on nothing but the simulation. Its error ends the run.
func (w *World) Invariant(name string, holds func() error) {
	w.invariants = append(w.invariants, check{name, holds})
}

// Observe calls f for every protocol event that a node traces, at the time it
// happens: for histories and ghost state.
func (w *World) Observe(f func(l *Life, e env.Event)) { w.observers = append(w.observers, f) }

// Fail ends the run after the current event.
func (w *World) Fail(check string, err error) {
	if w.failure == nil {
		w.failure = &Failure{Seed: w.opt.Seed, At: w.now, Event: w.done, Check: check, Err: err}
	}
}

// After calls f after d, in the world and outside of every node: for a test's
// script.
func (w *World) After(d time.Duration, f func()) { w.at(w.now.Add(max(d, 0)), nil, &scripted{w, f}) }

type scripted struct {
	w *World
	f func()
}

func (s *scripted) idle() bool { return s.f == nil }
func (s *scripted) happen() {
	f := s.f
	s.f = nil
	s.w.note(evScript, nil, 0, 0, "")
	f()
}

// at schedules an event. T must not be before now.
func (w *World) at(t env.Instant, l *Life, what happening) {
	w.n++
	w.agenda.push(event{at: t, tie: uint32(w.sched.Uint64() >> 32), n: w.n, life: l, what: what})
}

// Step performs the next event; it returns false at the end and after a
// failure.
func (w *World) Step() bool { return w.step(1<<63 - 1) }

func (w *World) step(limit env.Instant) bool {
	for w.failure == nil && len(w.agenda) > 0 && w.agenda[0].at <= limit {
		e := w.agenda.pop()
		if e.what.idle() {
			continue
		}
		if l := e.life; l != nil {
			if l.dead {
				continue
			}
			if l.busy > e.at {
				w.at(l.busy, l, e.what)
				continue
			}
		}
		invariant.Check(e.at >= w.now, "an event at %v, after %v", e.at, w.now)
		w.now = e.at
		w.done++
		w.perform(e)
		w.inspect()
		return w.failure == nil
	}
	return false
}

// perform performs an event and catches the node's panics.
func (w *World) perform(e event) {
	defer func() {
		if w.metering != nil {
			w.metering.suspend()
		}
		w.running = nil
		switch r := recover().(type) {
		case nil:
		case death:
			r.life.end(r.power, r.why)
		default:
			w.Fail("panic", fmt.Errorf("%v\n%s", r, debug.Stack()))
		}
	}()
	w.running = e.life
	e.what.happen()
}

func (w *World) inspect() {
	for i := range w.invariants {
		if err := w.invariants[i].holds(); err != nil {
			w.Fail(w.invariants[i].name, err)
			return
		}
	}
	if w.done >= w.opt.EventsMax {
		w.Fail("events", fmt.Errorf("there were %d, and no end", w.done))
	}
}

// Run performs the events of the next d. The error is the Failure.
func (w *World) Run(d time.Duration) error {
	limit := w.now.Add(d)
	for w.step(limit) {
	}
	if w.failure != nil {
		return w.failure
	}
	w.now = limit
	return nil
}

// errLate is the cause when RunUntil does not reach its condition.
var errLate = errors.New("what was awaited has not come about")

// RunUntil runs until reached returns true; it calls reached after each event.
// If that does not happen within d, the run fails with the check "liveness".
func (w *World) RunUntil(d time.Duration, reached func() bool) error {
	limit := w.now.Add(d)
	for !reached() {
		if !w.step(limit) {
			if w.failure == nil {
				w.now = limit
				w.Fail("liveness", fmt.Errorf("%w in %v", errLate, d))
			}
			return w.failure
		}
	}
	return nil
}

// Heal permanently ends all faults: partitions, clogs, full and slow disks end,
// and no further fault strikes. Nodes that are down start again soon. What
// disks have lost stays lost.
func (w *World) Heal() {
	w.note(evHeal, nil, 0, 0, "")
	w.healed = true
	for _, c := range w.cuts {
		c.heal()
	}
	for _, n := range w.nodes {
		n.slow, n.full = 0, 0
		for _, l := range n.to {
			if l != nil {
				l.clogged = 0
			}
		}
	}
}

// strikes reports whether a fault happens at this opportunity, and counts it.
func (w *World) strikes(k Kind, n *Node) bool {
	rate := w.opt.Faults.rate[k]
	if rate == 0 || w.healed || !chance(w.chance[k], rate) {
		return false
	}
	w.strike(k, n, 0, 0)
	return true
}

// strike counts and logs a fault.
func (w *World) strike(k Kind, n *Node, a, b uint64) {
	w.struck[k]++
	w.note(evFault, n, a, b, k.String())
}

// between draws a time from the stream of a kind.
func between(r env.Random, least, most time.Duration) time.Duration {
	if most <= least {
		return least
	}
	return least + time.Duration(env.IntN(r, int(most-least)))
}

// The kinds of lines in the log.
type evKind uint8

const (
	evScript evKind = iota
	evHeal
	evFault
	evStart
	evEnd
	evTimer
	evTask
	evTrace
	evDial
	evOpened
	evData
	evDrained
	evClosed
	evPacket
	evRead
	evWrite
	evSync
	evName
)

func (k evKind) String() string {
	return [...]string{"script", "heal", "fault", "start", "end", "timer", "task", "trace", "dial", "opened", "data",
		"drained", "closed", "packet", "read", "write", "sync", "name"}[k]
}

// note adds an entry to the hash and to the log.
func (w *World) note(k evKind, n *Node, a, b uint64, text string) {
	id, name := uint64(0), "-"
	if n != nil {
		id, name = uint64(n.id)+1, n.name
	}
	h := mix(w.hash, uint64(w.now))
	h = mix(h, uint64(k)<<32|id)
	h = mix(h, a)
	h = mix(h, b)
	w.hash = mixText(h, text)
	if w.opt.Log != nil {
		w.line(k, name, a, b, text)
	}
}

func (w *World) line(k evKind, name string, a, b uint64, text string) {
	if _, err := fmt.Fprintf(w.opt.Log, "%15d %9d %-10s %-8s %12d %16x %s\n", w.now, w.done, name, k, a, b, text); err != nil {
		w.Fail("log", err)
		w.opt.Log = io.Discard
	}
}

// mix adds a number to a hash.
func mix(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x^0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9^bits.RotateLeft64(h, 32))
	return hi ^ lo ^ h
}

func mixText(h uint64, s string) uint64 {
	for len(s) >= 8 {
		h = mix(h, uint64(s[0])|uint64(s[1])<<8|uint64(s[2])<<16|uint64(s[3])<<24|uint64(s[4])<<32|uint64(s[5])<<40|uint64(s[6])<<48|uint64(s[7])<<56)
		s = s[8:]
	}
	x := uint64(len(s))
	for i := range len(s) {
		x = x<<8 | uint64(s[i])
	}
	return mix(h, x)
}

// digest is the hash of bytes, for the log.
func digest(b []byte) uint64 {
	h := uint64(len(b))
	for len(b) >= 8 {
		h = mix(h, uint64(b[0])|uint64(b[1])<<8|uint64(b[2])<<16|uint64(b[3])<<24|uint64(b[4])<<32|uint64(b[5])<<40|uint64(b[6])<<48|uint64(b[7])<<56)
		b = b[8:]
	}
	x := uint64(0)
	for i := range b {
		x = x<<8 | uint64(b[i])
	}
	return mix(h, x)
}
